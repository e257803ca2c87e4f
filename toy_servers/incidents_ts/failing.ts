// incidents.ts with tools and a resource that go wrong, as those in ../failing/bare.py do.

import * as z from 'zod';

import { build, run } from './incidents.ts';

const TOLD = 'connect ECONNREFUSED 10.0.3.7:5432 (db-prod-eu, user=reporting)';
const HINT = 'Severity is sev1, sev2 or sev3.';

await run(() => {
  const server = build();
  server.registerTool('boom', {}, async () => {
    throw new Error(TOLD);
  });
  server.registerTool('hint', { inputSchema: z.object({ how: z.string() }) }, async ({ how }) => {
    if (how !== 'meant') throw new Error(HINT);
    return { isError: true, content: [{ type: 'text', text: HINT }] };
  });
  server.registerTool('mutter', {}, async () => {
    console.log('looking');
    return { content: [{ type: 'text', text: 'found' }] };
  });
  server.registerResource('boom', 'incidents://boom', {}, async () => {
    throw new Error(TOLD);
  });
  return server;
});
