// The TypeScript SDKs over HTTP, in one process: v1 plain and guarded on Express, v1 without a
// router, v2. Run as sdk_web.py is: free ports, one JSON object, gone when the input ends.

import { createServer } from 'node:http';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthMetadataRouter,
} from '@modelcontextprotocol/sdk/server/auth/router.js';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as v1 from '@modelcontextprotocol/sdk/types.js';
import * as v2 from '@modelcontextprotocol/server';
import * as z from 'zod';

const found = ({ query }) => ({ content: [{ type: 'text', text: `Nothing about ${query}` }] });

function addTool(server) {
  server.registerTool('search_incidents', { inputSchema: z.object({ query: z.string() }) }, found);
  return server;
}

// A server and a transport for each request: v1 without sessions.
async function serveV1(request, response) {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  response.on('close', () => transport.close());
  await addTool(new McpServer({ name: 'incidents', version: '1.0.0' })).connect(transport);
  await transport.handleRequest(request, response, request.body);
}

const verifier = (resource) => ({
  async verifyAccessToken(token) {
    const claims = JSON.parse(Buffer.from(token, 'base64url').toString());
    if (claims.throws) throw new Error('the verifier is out of order');
    if (resource && claims.aud !== resource) {
      throw new InvalidTokenError('token audience is not this server');
    }
    const scopes = (claims.scope ?? '').split(' ').filter(Boolean);
    return { token, clientId: 'client', scopes, expiresAt: claims.exp };
  },
});

function guard(app, url, looks) {
  const issuer = 'https://auth.example.com/';
  app.use(
    mcpAuthMetadataRouter({
      oauthMetadata: {
        issuer,
        authorization_endpoint: `${issuer}authorize`,
        token_endpoint: `${issuer}token`,
        response_types_supported: ['code'],
      },
      resourceServerUrl: new URL(url),
      scopesSupported: ['incidents:read', 'incidents:write'],
      resourceName: 'Incidents',
    }),
  );
  const bearer = requireBearerAuth({
    verifier: verifier(looks ? url : undefined),
    requiredScopes: ['incidents:read'],
    resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(new URL(url)),
  });
  app.post('/mcp', bearer, serveV1);
}

function listen(handler) {
  const http = createServer(handler);
  return new Promise((resolve) => {
    http.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${http.address().port}/mcp`));
  });
}

const apps = { plain: createMcpExpressApp(), guarded: createMcpExpressApp(), careless: createMcpExpressApp() };
const urls = {};
for (const [name, app] of Object.entries(apps)) urls[name] = await listen(app);
apps.plain.post('/mcp', serveV1);
guard(apps.guarded, urls.guarded, true);
guard(apps.careless, urls.careless, false);

const build = () => addTool(new v2.McpServer({ name: 'incidents', version: '1.0.0' }));
urls.v2 = await listen(toNodeHandler(v2.createMcpHandler(build)));

const constants = { v1: v1.LATEST_PROTOCOL_VERSION, v2: v2.LATEST_PROTOCOL_VERSION };
console.log(JSON.stringify({ ...urls, constants }));
process.stdin.on('end', () => process.exit(0)).resume();
