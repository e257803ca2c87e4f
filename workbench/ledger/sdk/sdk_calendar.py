"""A calendar on the official Python SDK: `sdk_calendar.py stdio | http [STATE_KEY]`.

It asks back in both ways that the SDK has: `create_event` returns the question by hand,
`plan_event` leaves it to a resolver. With a STATE_KEY, processes can open each other's
requestState; without one, the SDK makes up a key when it starts.

Over HTTP it takes a free port, prints it, and ends when its standard input does.
"""

import socket
import sys
import threading
from typing import Annotated

import uvicorn
from mcp.server.mcpserver import Context, Elicit, MCPServer, RequestStateSecurity, Resolve
from mcp_types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    TextContent,
)
from pydantic import BaseModel

STATE_KEY = sys.argv[2:]
SEAL = {"request_state_security": RequestStateSecurity(keys=STATE_KEY)} if STATE_KEY else {}
FORM = {
    "type": "object",
    "properties": {"startsAt": {"type": "string", "format": "date-time"}},
    "required": ["startsAt"],
}

server = MCPServer("calendar", version="1.0.0", **SEAL)


class Start(BaseModel):
    startsAt: str


@server.tool()
def create_event(title: str, ctx: Context) -> CallToolResult | InputRequiredResult:
    """Create a calendar event; the question is returned by hand."""
    answer = (ctx.input_responses or {}).get("when")
    if answer is None:
        form = ElicitRequestFormParams(message="When?", requested_schema=FORM)
        question = ElicitRequest(params=form)
        return InputRequiredResult(input_requests={"when": question}, request_state="asked")
    text = f"Created e3: {title} at {answer.content['startsAt']}"
    return CallToolResult(content=[TextContent(text=text)])


def ask_when() -> Elicit[Start]:
    return Elicit("When?", Start)


@server.tool()
def plan_event(title: str, start: Annotated[Start, Resolve(ask_when)]) -> str:
    """Plan a calendar event; the SDK asks the question."""
    return f"Planned {title} at {start.startsAt}"


def serve_http() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    web = uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="error"))

    def end_with_input() -> None:
        sys.stdin.read()
        web.should_exit = True

    threading.Thread(target=end_with_input, daemon=True).start()
    print(listening.getsockname()[1], flush=True)
    web.run(sockets=[listening])


if __name__ == "__main__":
    serve_http() if sys.argv[1] == "http" else server.run()
