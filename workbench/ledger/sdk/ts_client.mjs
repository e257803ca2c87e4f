// The chapter's client on either line of the TypeScript SDK: ts_client.mjs v1|v2 close|open COMMAND
// With "open" it leaves out its last line, client.close().

const [line, end, command, ...args] = process.argv.slice(2);
const from = {
  v1: ['@modelcontextprotocol/sdk/client/index.js', '@modelcontextprotocol/sdk/client/stdio.js'],
  v2: ['@modelcontextprotocol/client', '@modelcontextprotocol/client/stdio'],
}[line];
const { Client } = await import(from[0]);
const { StdioClientTransport } = await import(from[1]);

const client = new Client({ name: 'incident-cli', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command, args }));

const { tools } = await client.listTools();
console.log('tools:', tools.map((tool) => tool.name).join(', '));

const incident = { title: 'Queue backed up', severity: 'sev2' };
const opened = await client.callTool({ name: 'open_incident', arguments: incident });
console.log('open_incident ->', opened.content[0].text.replaceAll('\n', ' '));
if (end === 'close') await client.close();
