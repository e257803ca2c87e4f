// The client of the matrix on the TypeScript SDK, v1 line: the era before; run as sdk.py is.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitRequestSchema,
  SUPPORTED_PROTOCOL_VERSIONS,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

const TEXTS = [
  'plain',
  '✓ 日本 🎉 "quoted"\nsecond line\u2028third',
  '=?base64?eA==?=', // what a header's encoded value looks like
  ' padded ',
  '',
];
const ANSWER = { at: '2030-01-31T09:00:00Z', guests: 3, room: 'blue', remind: false };
const ACTIONS = ['accept', 'decline', 'cancel'];

const asked = [];
const notified = [];
let came = () => {};

const client = new Client(
  { name: 'ts v1', version: '1.30.0' },
  { capabilities: { elicitation: {} } },
);
client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
  asked.push(params);
  const action = params.message.match(/\((.*)\)/)[1];
  return action === 'accept' ? { action, content: ANSWER } : { action };
});
client.setNotificationHandler(ToolListChangedNotificationSchema, ({ method }) => {
  notified.push(method);
  came();
});

const say = (feature, what) => console.log(JSON.stringify({ feature, ...what }));
const told = ({ name, code, message, data }) => ({ kind: name, code, message, data });
const heard = (ms) =>
  new Promise((resolve) => {
    if (notified.length > 0) return resolve();
    const late = setTimeout(resolve, ms);
    came = () => (clearTimeout(late), resolve());
  });

function said(result) {
  if (result.isError) throw new Error(JSON.stringify(result));
  return result.content[0].text;
}

async function hasNewcomer() {
  return (await client.listTools()).tools.some(({ name }) => name === 'newcomer');
}

const FEATURES = {
  async list() {
    const { tools } = await client.listTools();
    const echo = tools.find(({ name }) => name === 'echo');
    return {
      tools: tools.map(({ name }) => name).filter((name) => name !== 'newcomer').sort(),
      header: echo.inputSchema.properties.text['x-mcp-header'] ?? null,
      resources: (await client.listResources()).resources.map(({ uri }) => uri),
      prompts: (await client.listPrompts()).prompts.map(({ name }) => name),
    };
  },
  async call() {
    const results = [];
    for (const text of TEXTS) {
      results.push(said(await client.callTool({ name: 'echo', arguments: { text } })));
    }
    return results;
  },
  async read() {
    const [{ uri, mimeType, text }] = (await client.readResource({ uri: 'memo://one' })).contents;
    return { uri, mimeType, text };
  },
  async prompt() {
    const found = await client.getPrompt({ name: 'grüße', arguments: { who: 'Zoë' } });
    return found.messages.map(({ role, content }) => [role, content.text]);
  },
  async elicit() {
    const answers = [];
    for (const title of ACTIONS) {
      answers.push(said(await client.callTool({ name: 'book', arguments: { title } })));
    }
    const { required, properties } = asked[0].requestedSchema;
    return { asked: asked.map(({ message }) => message), form: { required, properties }, answers };
  },
  async progress() {
    const steps = [];
    const onprogress = ({ progress, total, message }) => steps.push([progress, total, message]);
    const call = { name: 'count', arguments: { to: 3 } };
    const end = said(await client.callTool(call, undefined, { onprogress }));
    return [...steps, end];
  },
  async changed() {
    const before = await hasNewcomer();
    await client.callTool({ name: 'change', arguments: {} });
    await heard(1_000);
    const after = await hasNewcomer();
    return { via: 'unsolicited', heard: notified, appeared: after !== before };
  },
};

const [kind, ...where] = process.argv.slice(2);
const transport =
  kind === 'http'
    ? new StreamableHTTPClientTransport(new URL(where[0]))
    : new StdioClientTransport({ command: where[0], args: where.slice(1), env: process.env });
try {
  await client.connect(transport);
  const version = transport.protocolVersion ?? null; // which only the HTTP transport remembers
  say('open', { saw: { server: client.getServerVersion().name, version, how: 'initialize' } });
} catch (trouble) {
  say('open', { error: { ...told(trouble), speaks: SUPPORTED_PROTOCOL_VERSIONS } });
}
for (const [feature, use] of Object.entries(FEATURES)) {
  try {
    say(feature, { saw: await use() });
  } catch (trouble) {
    say(feature, { error: told(trouble) });
  }
}
await client.close();
