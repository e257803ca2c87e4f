// A reader that takes the rule at its word: every line of the output is a message. Seven lines:
//
//     node naive.ts python ../incidents_sdk.py

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [command, ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
const clientInfo = { name: 'naive', version: '1.0.0' };
const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
const say = (message: object) => server.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');

say({ id: 1, method: 'initialize', params });
for await (const line of createInterface(server.stdout)) {
  const message = JSON.parse(line);
  console.log('id', message.id);
  if (message.id === 1) {
    say({ method: 'notifications/initialized' });
    say({ id: 2, method: 'tools/list' });
  } else server.stdin.end();
}
console.log('the end');
