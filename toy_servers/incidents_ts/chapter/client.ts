// A client of any stdio server, on the SDK that the chapter measured:
//
//     node client.ts python ../../incidents.py
//
// It does not ask what the server is written in. Without the last line it never ends: the transport
// holds the process, and the process holds the server.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'incident-cli', version: '1.0.0' });
client.onerror = (trouble) => console.error(`${trouble.name}: ${trouble.message}`);
await client.connect(new StdioClientTransport({ command, args, env: process.env }));

const { tools } = await client.listTools();
console.log('tools:', tools.map((tool) => tool.name).join(', '));
const incident = { title: 'Queue backed up', severity: 'sev2' };
const opened = await client.callTool({ name: 'open_incident', arguments: incident });
console.log('open_incident ->', JSON.stringify(opened.content));

await client.close();
