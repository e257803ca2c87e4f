// A server with a tool that prints, on either line of the TypeScript SDK: ts_prints.mjs v1|v2

const build = (McpServer) => {
  const server = new McpServer({ name: 'prints', version: '1.0.0' });
  server.registerTool('prints', {}, async () => {
    console.log('incidents server starting');
    return { content: [{ type: 'text', text: 'done' }] };
  });
  return server;
};

if (process.argv[2] === 'v1') {
  const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js');
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  await build(McpServer).connect(new StdioServerTransport());
} else {
  const { McpServer } = await import('@modelcontextprotocol/server');
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
  serveStdio(() => build(McpServer));
}
