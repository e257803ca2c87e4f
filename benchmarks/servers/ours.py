"""The benchmark's server on this toolkit.

    python ours.py stdio [N]        over pipes, with N more tools than it needs
    python ours.py http [N]         on a free port of loopback until its input ends; says its url

Each server here has the same tools: `echo` gives its text back, `change` tells every subscriber
that the list of tools changed, and `tool_0`, `tool_1`, ... fill the catalogue. Each is written in
the quickest form that its library has: handlers of the SDKs are async, results plain text.
"""

from __future__ import annotations

import sys

from mcp_bare.server import Server

WIRE, FILLERS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

server = Server("ours", "1.0.0")


@server.tool({"name": "echo", "description": "Give the text back.", "inputSchema": TEXT})
def echo(call):
    return call.arguments["text"]


@server.tool(
    {"name": "change", "description": "Tell who listens.", "inputSchema": {"type": "object"}}
)
def change(call):
    server.changed("tools")
    return "changed"


for number in range(FILLERS):
    about = f"Give the text back, as number {number} does."
    server.tool({"name": f"tool_{number}", "description": about, "inputSchema": TEXT})(echo)

if WIRE == "http":
    from mcp_bare.streamable_http import HttpServer

    with HttpServer(server) as http:
        print(http.url, flush=True)
        sys.stdin.read()
else:
    from mcp_bare.stdio import serve

    serve(server)
