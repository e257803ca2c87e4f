// Calls the tool `count` once and prints which steps were heard, and what went wrong meanwhile.
//
//     node ts_steps.mjs v1|v2 COMMAND...

const [line, command, ...args] = process.argv.slice(2);
const [{ Client }, { StdioClientTransport }] =
  line === 'v1'
    ? [
        await import('@modelcontextprotocol/sdk/client/index.js'),
        await import('@modelcontextprotocol/sdk/client/stdio.js'),
      ]
    : [
        await import('@modelcontextprotocol/client'),
        await import('@modelcontextprotocol/client/stdio'),
      ];

const client = new Client({ name: line, version: '1' }, { versionNegotiation: { mode: 'auto' } });
const steps = [];
const errors = [];
client.onerror = ({ message }) => errors.push(message);
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const options = { onprogress: ({ progress }) => steps.push(progress) };
const call = { name: 'count', arguments: {} };
await (line === 'v1' ? client.callTool(call, undefined, options) : client.callTool(call, options));
await client.close();
console.log(JSON.stringify({ steps, errors }));
