"""The benchmark's server on fastmcp; run as `ours` is, in an environment of its own."""

from __future__ import annotations

import sys

from fastmcp import FastMCP
from fastmcp.tools import Tool

WIRE, FILLERS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0

server = FastMCP("fast", version="1.0.0")


@server.tool(description="Give the text back.", output_schema=None)
async def echo(text: str) -> str:
    return text


async def again(text: str) -> str:
    return text


for number in range(FILLERS):
    about = f"Give the text back, as number {number} does."
    server.add_tool(
        Tool.from_function(again, name=f"tool_{number}", description=about, output_schema=None)
    )

if WIRE == "http":
    from web import serve

    serve(server.http_app(stateless_http=True, json_response=True))
else:
    server.run(show_banner=False, log_level="WARNING")
