// The benchmark's server on the official TypeScript SDK, v2 line; run as `ours` is.

import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const [wire, fillers = '0'] = process.argv.slice(2);
const text = (said) => ({ content: [{ type: 'text', text: said }] });
const inputSchema = z.object({ text: z.string() });
let announce = () => {};

function build() {
  const server = new McpServer({ name: 'ts', version: '1.0.0' });
  const echo = async ({ text: said }) => text(said);
  server.registerTool('echo', { description: 'Give the text back.', inputSchema }, echo);
  server.registerTool('change', { description: 'Tell who listens.' }, async () => {
    if (wire === 'http') announce();
    else server.sendToolListChanged();
    return text('changed');
  });
  for (let number = 0; number < Number(fillers); number++) {
    const description = `Give the text back, as number ${number} does.`;
    server.registerTool(`tool_${number}`, { description, inputSchema }, echo);
  }
  return server;
}

if (wire === 'http') {
  const { createServer } = await import('node:http');
  const { toNodeHandler } = await import('@modelcontextprotocol/node');
  const { createMcpHandler } = await import('@modelcontextprotocol/server');
  const handler = createMcpHandler(build);
  announce = () => handler.notify.toolsChanged();
  const http = createServer(toNodeHandler(handler));
  http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
  process.stdin.on('end', () => process.exit(0)).resume();
} else {
  serveStdio(build);
}
