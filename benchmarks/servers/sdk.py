"""The benchmark's server on the official Python SDK; run as `ours` is."""

from __future__ import annotations

import sys

from mcp.server import MCPServer
from mcp.server.mcpserver import Context

WIRE, FILLERS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0

server = MCPServer("sdk", version="1.0.0", log_level="WARNING")


@server.tool(description="Give the text back.", structured_output=False)
async def echo(text: str) -> str:
    return text


@server.tool(description="Tell who listens.", structured_output=False)
async def change(ctx: Context) -> str:
    await ctx.notify_tools_changed()
    return "changed"


for number in range(FILLERS):
    about = f"Give the text back, as number {number} does."
    server.add_tool(echo, name=f"tool_{number}", description=about, structured_output=False)

if WIRE == "http":
    from web import serve

    serve(server.streamable_http_app(json_response=True))
else:
    server.run()
