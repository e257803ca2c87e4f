"""A server with a tool that prints: `sdk_prints.py python` on the official SDK, `bare` on ours."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))  # run as a script, from anywhere

BANNER = "incidents server starting"


def prints() -> str:
    print(BANNER, flush=True)
    return "done"


if sys.argv[1] == "python":
    from mcp.server import MCPServer

    server = MCPServer("prints", version="1.0.0")
    server.tool()(prints)
    server.run()
else:
    from mcp_bare.server import Server
    from mcp_bare.stdio import serve

    ours = Server("prints", "1.0.0")
    ours.tool({"name": "prints", "inputSchema": {"type": "object"}})(lambda call: prints())
    serve(ours)
