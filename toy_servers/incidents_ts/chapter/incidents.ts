// The incident log on the TypeScript SDK that chapter 27 measured (1.30.0, with zod 3.25.76): the
// line that knows no revision after 2025-11-25. Started as ../incidents.ts is.
//
// It differs from today's in its imports, in schemas that are plain objects of zod's, and in run().

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

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
      inputSchema: { query: z.string().optional() },
      annotations: { readOnlyHint: true },
    },
    async ({ query = '' }) =>
      say({ incidents: OPEN.filter((i) => i.title.toLowerCase().includes(query.toLowerCase())) }),
  );

  server.registerTool(
    'open_incident',
    {
      description: 'Open an incident and return its handle.',
      inputSchema: { title: z.string(), severity: z.enum(['sev1', 'sev2', 'sev3']) },
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
      inputSchema: {
        id: z.string().describe('The handle returned by open_incident.'),
        cause: z.string().describe('One sentence. What actually broke.'),
      },
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
      argsSchema: { id: z.string() },
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
    const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
    await make().connect(new StdioServerTransport());
    return;
  }
  const { StreamableHTTPServerTransport } = await import(
    '@modelcontextprotocol/sdk/server/streamableHttp.js'
  );
  const http = createServer(async (request, response) => {
    // No sessions: a server and a transport for each request.
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    response.on('close', () => transport.close());
    await make().connect(transport);
    await transport.handleRequest(request, response);
  });
  http.listen(Number(process.argv[asked + 1]), '127.0.0.1', () => {
    const { port } = http.address() as AddressInfo;
    console.error(`serving MCP at http://127.0.0.1:${port}/mcp; Ctrl-C ends it`);
  });
}

if (import.meta.main) await run(build);
