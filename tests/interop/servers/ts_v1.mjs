// The server of the matrix on the TypeScript SDK, v1 line: the era before; run as ours is.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';

const NAME = 'ts v1';
const PAUSE = 300; // ms between progress and answer; why, see test_where_they_differ.py
const FORM = {
  type: 'object',
  properties: {
    at: { type: 'string', title: 'Starts at', format: 'date-time' },
    guests: { type: 'integer', title: 'Guests', minimum: 0, maximum: 10, default: 2 },
    room: { type: 'string', title: 'Room', enum: ['red', 'blue'], default: 'red' },
    remind: { type: 'boolean', title: 'Remind', default: true },
  },
  required: ['at'],
};

const text = (said) => ({ content: [{ type: 'text', text: said }] });
const sorted = (content) => Object.fromEntries(Object.entries(content).sort());
const json = (content) =>
  `{${Object.entries(sorted(content ?? {}))
    .map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`)
    .join(', ')}}`;
const saw = (tool) => console.error(JSON.stringify({ server: NAME, tool, era: 'legacy' }));

function build() {
  const server = new McpServer({ name: NAME, version: '1.30.0' }, { instructions: 'Ask away.' });

  server.registerTool(
    'echo',
    { inputSchema: { text: z.string().meta({ 'x-mcp-header': 'Text' }) } },
    async ({ text: said }) => {
      saw('echo');
      return text(said);
    },
  );

  server.registerTool('book', { inputSchema: { title: z.string() } }, async ({ title }, extra) => {
    saw('book');
    const params = { message: `When? (${title})`, requestedSchema: FORM };
    const said = await extra.sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema);
    return text(`${said.action}: ${json(said.content)}`);
  });

  server.registerTool('count', { inputSchema: { to: z.number().int() } }, async ({ to }, extra) => {
    saw('count');
    const progressToken = extra._meta?.progressToken;
    for (let step = 1; progressToken !== undefined && step <= to; step++) {
      const params = { progressToken, progress: step, total: to, message: `step ${step}` };
      await extra.sendNotification({ method: 'notifications/progress', params });
    }
    await setTimeout(PAUSE);
    return text('counted');
  });

  let newcomer;
  server.registerTool('change', {}, async () => {
    saw('change');
    if (newcomer) newcomer.remove(); // each tells the client by itself
    newcomer = newcomer ? undefined : server.registerTool('newcomer', {}, async () => text('here'));
    return text('changed');
  });

  server.registerResource('one', 'memo://one', { mimeType: 'text/plain' }, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'the first memo ✓' }],
  }));

  server.registerPrompt('grüße', { argsSchema: { who: z.string() } }, async ({ who }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Say hello to ${who}.` } }],
  }));

  return server;
}

const sessions = new Map();

async function transportOf(request) {
  const known = sessions.get(request.headers['mcp-session-id']);
  if (known) return known;
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
    onsessionclosed: (id) => sessions.delete(id),
  });
  await build().connect(transport);
  return transport;
}

if (process.argv[2] === 'http') {
  const http = createServer(async (request, response) => {
    await (await transportOf(request)).handleRequest(request, response);
  });
  http.listen(0, '127.0.0.1', () => {
    console.log(JSON.stringify({ url: `http://127.0.0.1:${http.address().port}/mcp` }));
  });
  process.stdin.on('end', () => process.exit(0)).resume();
} else {
  await build().connect(new StdioServerTransport());
}
