// The incident log on the official TypeScript SDK, today's line (2.x): what incidents.py offers by
// hand. Node runs this file as it is, and drops the types.
//
//     node toy_servers/incidents_ts/incidents.ts                  over stdio
//     node toy_servers/incidents_ts/incidents.ts --http 8931      over HTTP, on this machine only
//
// As in the chapter, the log is an array in the module: a handle dies with its process, and two
// processes mint the same one. Over HTTP the SDK makes a server for each request; all share it.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';

type Incident = { id: string; title: string; severity: string };

const OPEN: Incident[] = [
  { id: 'INC-1', title: 'Checkout failing in Frankfurt', severity: 'sev2' },
  { id: 'INC-2', title: 'Search unavailable', severity: 'sev3' },
];
let minted = OPEN.length;

const say = (value: unknown) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(value) }],
});

export function build(): McpServer {
  const server = new McpServer({ name: 'incidents', version: '1.0.0' });

  server.registerTool(
    'search_incidents',
    {
      description: 'Search the open incidents by words in their title.',
      inputSchema: z.object({ query: z.string().optional() }),
      annotations: { readOnlyHint: true },
    },
    async ({ query = '' }) =>
      say({ incidents: OPEN.filter((i) => i.title.toLowerCase().includes(query.toLowerCase())) }),
  );

  server.registerTool(
    'open_incident',
    {
      description: 'Open an incident and return its handle.',
      inputSchema: z.object({ title: z.string(), severity: z.enum(['sev1', 'sev2', 'sev3']) }),
      annotations: { readOnlyHint: false, destructiveHint: false },
    },
    async ({ title, severity }) => {
      const id = `INC-${++minted}`;
      OPEN.push({ id, title, severity });
      return say({ id });
    },
  );

  server.registerTool(
    'resolve_incident',
    {
      description: 'Close an incident by handle and record its cause.',
      inputSchema: z.object({
        id: z.string().describe('The handle returned by open_incident.'),
        cause: z.string().describe('One sentence. What actually broke.'),
      }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    },
    async ({ id, cause }) => {
      const at = OPEN.findIndex((i) => i.id === id);
      if (at < 0) {
        const text = `No open incident ${id}. Call search_incidents first.`;
        return { isError: true, content: [{ type: 'text', text }] };
      }
      const [done] = OPEN.splice(at, 1);
      return say({ ...done, cause });
    },
  );

  server.registerResource('open', 'incidents://open', { mimeType: 'application/json' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify(OPEN) }],
  }));

  server.registerPrompt(
    'postmortem',
    {
      description: 'Write the postmortem of an incident.',
      argsSchema: z.object({ id: z.string() }),
    },
    ({ id }) => {
      const text =
        `Write a postmortem of ${id}. Read incidents://open first. Say what ` +
        'happened, what it did to users, what broke, and what we change.';
      return { messages: [{ role: 'user', content: { type: 'text', text } }] };
    },
  );

  return server;
}

export async function run(make: () => McpServer): Promise<void> {
  const asked = process.argv.indexOf('--http');
  if (asked < 0) {
    const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
    serveStdio(make);
    return;
  }
  const { createMcpHandler } = await import('@modelcontextprotocol/server');
  const { toNodeHandler } = await import('@modelcontextprotocol/node');
  const http = createServer(toNodeHandler(createMcpHandler(make)));
  http.listen(Number(process.argv[asked + 1]), '127.0.0.1', () => {
    const { port } = http.address() as AddressInfo;
    console.error(`serving MCP at http://127.0.0.1:${port}/mcp; Ctrl-C ends it`);
  });
}

if (import.meta.main) await run(build);
