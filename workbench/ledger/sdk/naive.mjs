// Seven lines that believe that every line is a message: naive.mjs COMMAND

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [command, ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const clientInfo = { name: 'naive', version: '1.0.0' };
send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
send({ method: 'notifications/initialized' });
send({ id: 2, method: 'tools/list' });

try {
  for await (const line of createInterface({ input: server.stdout })) {
    const message = JSON.parse(line);
    console.log('answer', message.id);
    if (message.id === 2) server.stdin.end();
  }
} catch (trouble) {
  console.log(`${trouble.name}: ${trouble.message}`);
  server.kill();
}
