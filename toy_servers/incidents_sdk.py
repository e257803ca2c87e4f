"""The incident log on the official Python SDK: what `incidents.py` offers by hand.

    python toy_servers/incidents_sdk.py                 over stdio
    python toy_servers/incidents_sdk.py --http 8931     over HTTP, on this machine only

Written as the SDK's users write it, and as chapter 27 printed it: the schemas come from type hints,
and the log is a list in the module. So a handle dies with its process, and two processes mint the
same one; `incidents.py` does not share that. Runs on mcp 2.1.1, the chapter's, and on 2.3.0.
"""

import argparse
import socket
import sys
from typing import Annotated, Literal

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field
from typing_extensions import TypedDict  # pydantic refuses typing's own before Python 3.12

Severity = Literal["sev1", "sev2", "sev3"]


class Incident(TypedDict):
    id: str
    title: str
    severity: Severity


class Found(TypedDict):
    incidents: list[Incident]


class Opened(TypedDict):
    id: str


class Resolved(Incident):
    cause: str


OPEN: list[Incident] = [
    {"id": "INC-1", "title": "Checkout failing in Frankfurt", "severity": "sev2"},
    {"id": "INC-2", "title": "Search unavailable", "severity": "sev3"},
]
minted = len(OPEN)
server = MCPServer("incidents", version="1.0.0")


@server.tool(
    description="Search the open incidents by words in their title.",
    annotations=ToolAnnotations(read_only_hint=True),
)
def search_incidents(query: str = "") -> Found:
    return {"incidents": [one for one in OPEN if query.lower() in one["title"].lower()]}


@server.tool(
    description="Open an incident and return its handle.",
    annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False),
)
def open_incident(title: str, severity: Severity) -> Opened:
    global minted
    minted += 1
    OPEN.append({"id": f"INC-{minted}", "title": title, "severity": severity})
    return {"id": f"INC-{minted}"}


@server.tool(
    description="Close an incident by handle and record its cause.",
    annotations=ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True),
)
def resolve_incident(
    id: Annotated[str, Field(description="The handle returned by open_incident.")],
    cause: Annotated[str, Field(description="One sentence. What actually broke.")],
) -> Resolved:
    for at, incident in enumerate(OPEN):
        if incident["id"] == id:
            return {**OPEN.pop(at), "cause": cause}
    # A ToolError's words reach the model; those of any other exception stay here.
    raise ToolError(f"No open incident {id}. Call search_incidents first.")


@server.resource("incidents://open", name="open", mime_type="application/json")
def open_incidents() -> list[Incident]:
    return OPEN


@server.prompt(description="Write the postmortem of an incident.")
def postmortem(id: str) -> str:
    return (
        f"Write a postmortem of {id}. Read incidents://open first. Say what "
        "happened, what it did to users, what broke, and what we change."
    )


def run() -> None:
    """Serve as the toys do: over stdio, or with `--http PORT` over HTTP; 0 takes any free port."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int, metavar="PORT")
    port = parser.parse_args().http
    server.run() if port is None else run_http(port)


def run_http(port: int) -> None:
    """As `server.run("streamable-http")`, but on a port that is known, and told on stderr."""
    listening = socket.create_server(("127.0.0.1", port))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    settings = {"log_level": "warning", "timeout_graceful_shutdown": 1}
    web = uvicorn.Server(uvicorn.Config(server.streamable_http_app(), **settings))
    print(f"serving MCP at {url}; Ctrl-C ends it", file=sys.stderr, flush=True)
    web.run(sockets=[listening])


if __name__ == "__main__":
    run()
