// The server of the matrix on the TypeScript SDK, v2 line; run as ours is.

import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const NAME = 'ts v2';
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
// Python writes a space after each colon and comma; the four servers answer in the same bytes.
const json = (content) =>
  `{${Object.entries(sorted(content ?? {}))
    .map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`)
    .join(', ')}}`;

let grown = false; // over HTTP, each request has an instance of its own
let announce = () => {};

function build({ era }) {
  const server = new McpServer({ name: NAME, version: '2.4.0' }, { instructions: 'Ask away.' });
  const saw = (tool) => console.error(JSON.stringify({ server: NAME, tool, era }));

  server.registerTool(
    'echo',
    { inputSchema: z.object({ text: z.string().meta({ 'x-mcp-header': 'Text' }) }) },
    async ({ text: said }) => {
      saw('echo');
      return text(said);
    },
  );

  // Written once for both eras: in the old one the SDK asks with a request of its own.
  server.registerTool('book', { inputSchema: z.object({ title: z.string() }) }, async ({ title }, ctx) => {
    saw('book');
    const said = ctx.mcpReq.inputResponses?.when;
    if (said === undefined) {
      const when = inputRequired.elicit({ message: `When? (${title})`, requestedSchema: FORM });
      return inputRequired({ inputRequests: { when } });
    }
    return text(`${said.action}: ${json(said.content)}`);
  });

  server.registerTool('count', { inputSchema: z.object({ to: z.number().int() }) }, async ({ to }, ctx) => {
    saw('count');
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (let step = 1; progressToken !== undefined && step <= to; step++) {
      const params = { progressToken, progress: step, total: to, message: `step ${step}` };
      await ctx.mcpReq.notify({ method: 'notifications/progress', params });
    }
    await setTimeout(PAUSE);
    return text('counted');
  });

  let newcomer;
  const grow = () => (newcomer = server.registerTool('newcomer', {}, async () => text('here')));
  server.registerTool('change', {}, async () => {
    saw('change');
    grown = !grown;
    if (grown) grow();
    else newcomer.remove();
    announce();
    return text('changed');
  });
  if (grown) grow();

  server.registerResource('one', 'memo://one', { mimeType: 'text/plain' }, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'the first memo ✓' }],
  }));

  server.registerPrompt('grüße', { argsSchema: z.object({ who: z.string() }) }, async ({ who }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Say hello to ${who}.` } }],
  }));

  return server;
}

if (process.argv[2] === 'http') {
  const handler = createMcpHandler(build);
  announce = () => handler.notify.toolsChanged();
  const http = createServer(toNodeHandler(handler));
  http.listen(0, '127.0.0.1', () => {
    console.log(JSON.stringify({ url: `http://127.0.0.1:${http.address().port}/mcp` }));
  });
  process.stdin.on('end', () => process.exit(0)).resume();
} else {
  serveStdio(build);
}
