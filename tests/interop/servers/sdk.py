"""The server of the matrix on the official Python SDK; run as ours is."""

from __future__ import annotations

import json
import socket
import sys
import threading
from typing import Annotated

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field

NAME, PAUSE = "py", 0.3
FORM = {
    "type": "object",
    "properties": {
        "at": {"type": "string", "title": "Starts at", "format": "date-time"},
        "guests": {"type": "integer", "title": "Guests", "minimum": 0, "maximum": 10, "default": 2},
        "room": {"type": "string", "title": "Room", "enum": ["red", "blue"], "default": "red"},
        "remind": {"type": "boolean", "title": "Remind", "default": True},
    },
    "required": ["at"],
}

server = MCPServer(NAME, version="2.3.0", instructions="Ask away.")


def saw(tool: str, ctx: Context) -> None:
    era = "modern" if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else "legacy"
    print(json.dumps({"server": NAME, "tool": tool, "era": era}), file=sys.stderr, flush=True)


@server.tool(structured_output=False)
def echo(
    text: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Text"})], ctx: Context
) -> str:
    saw("echo", ctx)
    return text


@server.tool(structured_output=False)
async def book(title: str, ctx: Context) -> str | InputRequiredResult:
    saw("book", ctx)
    message = f"When? ({title})"
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        if ctx.input_responses is None:
            asked = ElicitRequestFormParams(message=message, requested_schema=FORM)
            return InputRequiredResult(input_requests={"when": ElicitRequest(params=asked)})
        said = ctx.input_responses["when"]
    else:
        said = await ctx.session.elicit_form(message, FORM, related_request_id=ctx.request_id)
    return f"{said.action}: {json.dumps(said.content or {}, sort_keys=True)}"


@server.tool(structured_output=False)
async def count(to: int, ctx: Context) -> str:
    saw("count", ctx)
    for step in range(1, to + 1):
        await ctx.report_progress(step, to, f"step {step}")
    await anyio.sleep(PAUSE)
    return "counted"


@server.tool(structured_output=False)
async def change(ctx: Context) -> str:
    saw("change", ctx)
    if "newcomer" in [tool.name for tool in await server.list_tools()]:
        server.remove_tool("newcomer")
    else:
        server.add_tool(lambda: "here", name="newcomer")
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        await ctx.notify_tools_changed()
    else:
        await ctx.session.send_tool_list_changed()
    return "changed"


@server.resource("memo://one", mime_type="text/plain")
def one() -> str:
    return "the first memo ✓"


@server.prompt(name="grüße")
def greet(who: str) -> str:
    return f"Say hello to {who}."


def serve_http() -> None:
    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        server.streamable_http_app(), log_level="warning", timeout_graceful_shutdown=1
    )
    http = uvicorn.Server(config)

    def until_the_input_ends() -> None:
        sys.stdin.read()
        http.should_exit = True

    threading.Thread(target=until_the_input_ends, daemon=True).start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    print(json.dumps({"url": url}), flush=True)
    http.run(sockets=[listening])


if __name__ == "__main__":
    serve_http() if sys.argv[1:] == ["http"] else server.run()
