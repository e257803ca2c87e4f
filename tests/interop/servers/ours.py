"""The server of the matrix on this toolkit.

    python ours.py          over stdio
    python ours.py http     on a free port of loopback, until its input ends; says {"url": ...}

Each of the four servers here has the same tools, resource and prompt; what they saw goes to
stderr, one JSON object a line.
"""

from __future__ import annotations

import json
import sys
import time

from mcp_bare import elicitation
from mcp_bare.server import Server

NAME, MIME = "ours", "text/plain"
PAUSE = 0.3  # between progress and answer; why, see test_where_they_differ
TEXT = {"type": "string"}
FORM = {
    "at": {"type": "string", "title": "Starts at", "format": "date-time"},
    "guests": {"type": "integer", "title": "Guests", "minimum": 0, "maximum": 10, "default": 2},
    "room": {"type": "string", "title": "Room", "enum": ["red", "blue"], "default": "red"},
    "remind": {"type": "boolean", "title": "Remind", "default": True},
}


def saw(tool: str) -> None:
    print(json.dumps({"server": NAME, "tool": tool, "era": "modern"}), file=sys.stderr, flush=True)


def tool(name: str, **properties: dict) -> dict:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "inputSchema": schema}


def build() -> Server:
    """The server, before it has a wire."""
    server = Server(NAME, "1.0.0", instructions="Ask away.")

    @server.tool(tool("echo", text={**TEXT, "x-mcp-header": "Text"}))
    def echo(call):
        saw("echo")
        return call.arguments["text"]

    @server.tool(tool("book", title=TEXT))
    def book(call):
        saw("book")
        asked = elicitation.form(f"When? ({call.arguments['title']})", FORM, ["at"])
        said = elicitation.read(call.input_responses, "when", asked)
        if said.action == "missing":
            return call.ask({"when": asked})
        return f"{said.action}: {json.dumps(said.content or {}, sort_keys=True)}"

    @server.tool(tool("count", to={"type": "integer"}))
    def count(call):
        saw("count")
        for step in range(1, call.arguments["to"] + 1):
            yield call.progress(step, call.arguments["to"], f"step {step}")
        time.sleep(PAUSE)
        return "counted"

    @server.tool(tool("change"))
    def change(call):
        saw("change")
        if "newcomer" in server.defined["tools"]:
            server.remove("tools", "newcomer")
        else:
            server.tool(tool("newcomer"))(lambda call: "here")
        server.changed("tools")
        return "changed"

    @server.resource({"uri": "memo://one", "name": "one", "mimeType": MIME})
    def one(call):
        return "the first memo ✓"

    @server.prompt({"name": "grüße", "arguments": [{"name": "who", "required": True}]})
    def greet(call):
        return f"Say hello to {call.arguments['who']}."

    return server


if __name__ == "__main__":
    if sys.argv[1:] == ["http"]:
        from mcp_bare.streamable_http import HttpServer

        with HttpServer(build()) as http:
            print(json.dumps({"url": http.url}), flush=True)
            sys.stdin.read()
    else:
        from mcp_bare.stdio import serve

        serve(build())
