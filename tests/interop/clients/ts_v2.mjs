// The client of the matrix on the TypeScript SDK, v2 line; run as sdk.py is, and does the same.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const TEXTS = [
  'plain',
  '✓ 日本 🎉 "quoted"\nsecond line\u2028third',
  '=?base64?eA==?=', // what a header's encoded value looks like
  ' padded ',
  '',
];
const ANSWER = { at: '2030-01-31T09:00:00Z', guests: 3, room: 'blue', remind: false };
const ACTIONS = ['accept', 'decline', 'cancel'];
const LIST_CHANGED = 'notifications/tools/list_changed';

const asked = [];
const notified = [];
let came = () => {};

const client = new Client(
  { name: 'ts v2', version: '2.4.0' },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
);
client.setRequestHandler('elicitation/create', async ({ params }) => {
  asked.push(params);
  const action = params.message.match(/\((.*)\)/)[1];
  return action === 'accept' ? { action, content: ANSWER } : { action };
});
client.setNotificationHandler(LIST_CHANGED, ({ method }) => {
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
    const end = said(await client.callTool(call, { onprogress }));
    return [...steps, end];
  },
  async changed() {
    const before = await hasNewcomer();
    const modern = client.getProtocolEra() === 'modern';
    const stream = modern ? await client.listen({ toolsListChanged: true }) : undefined;
    await client.callTool({ name: 'change', arguments: {} });
    await heard(modern ? 10_000 : 1_000);
    const after = await hasNewcomer();
    await stream?.close();
    const how = modern
      ? { via: 'subscriptions/listen', agreed: stream.honoredFilter }
      : { via: 'unsolicited' };
    return { ...how, heard: notified, appeared: after !== before };
  },
};

const [kind, ...where] = process.argv.slice(2);
const transport =
  kind === 'http'
    ? new StreamableHTTPClientTransport(new URL(where[0]))
    : new StdioClientTransport({ command: where[0], args: where.slice(1), env: process.env });
try {
  await client.connect(transport);
  const version = client.getNegotiatedProtocolVersion();
  const how = client.getProtocolEra() === 'modern' ? 'server/discover' : 'initialize';
  say('open', { saw: { server: client.getServerVersion().name, version, how } });
} catch (trouble) {
  say('open', { error: told(trouble) });
}
for (const [feature, use] of Object.entries(FEATURES)) {
  try {
    say(feature, { saw: await use() });
  } catch (trouble) {
    say(feature, { error: told(trouble) });
  }
}
await client.close();
