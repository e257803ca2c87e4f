"""Where the official SDKs do otherwise than the specification, or than each other, on the wire.

Each row is what they do today, at the pinned versions. When one of these fails after an upgrade,
an SDK has changed its mind, mostly for the better: look, and take the row out.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest
from mcp.client import Client as PythonClient
from mcp.client.stdio import StdioServerParameters

from mcp_bare import era, jsonrpc, revision
from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse
from mcp_bare.stdio import StdioTransport
from mcp_bare.streamable_http import HttpTransport
from mcp_bare.tape import CAME
from tests.interop.lab import HERE, Lab, command
from workbench import node

MODERN = ("ours", "py", "ts v2")
UNKNOWN = {"name": "nobody"}
NO_ANSWERS = {revision.CLIENT_CAPABILITIES: {}}
LONG_AGO = {revision.PROTOCOL_VERSION: "1900-01-01"}
BOOK = {"name": "book", "arguments": {"title": "accept"}}

ASKED = {
    # what: (method, params, what is due; who does otherwise, and how)
    "an unknown method": ("no/such", {}, -32601, {}),
    # server/tools, "Error Handling": unknown tools are protocol errors
    "an unknown tool": ("tools/call", UNKNOWN, -32602, {"py": "isError"}),
    "an unknown resource": ("resources/read", {"uri": "memo://nobody"}, -32602, {}),
    # server/prompts, "Error Handling": -32602 for both
    "an unknown prompt": ("prompts/get", UNKNOWN, -32602, {"py": -32603}),
    "no argument": ("prompts/get", {"name": "grüße"}, -32602, {"py": -32603}),
    # server/utilities/pagination, "Error Handling": SHOULD be -32602
    "a cursor of nobody": (
        *("tools/list", {"cursor": "zzz"}, -32602),
        {"py": "complete", "ts v2": "complete"},
    ),
    # basic/patterns/mrtr: MUST NOT ask for what was not declared
    "a question to one who cannot answer": (
        *("tools/call", {**BOOK, "_meta": NO_ANSWERS}, -32021),
        {"py": "input_required"},
    ),
    # basic/versioning: MUST be -32022, on every request
    "a version of long ago": (
        *("tools/list", {"_meta": LONG_AGO}, -32022),
        {"ts v2, stdio": "complete"},
    ),
}


@pytest.fixture(params=[(server, wire) for wire in ("stdio", "http") for server in MODERN])
def met(lab: Lab, request: pytest.FixtureRequest) -> Iterator[tuple[str, str, Client]]:
    """Our client, with a connection to one of the servers, which is of today."""
    server, wire = request.param
    client, verdict = era.connect(
        lambda: (
            StdioTransport(command("servers", server))
            if wire == "stdio"
            else HttpTransport(lab.urls[server])
        ),
        handlers={"elicitation/create": lambda params: {"action": "decline"}},
        timeout=20,
        probe_timeout=20,
    )
    with client:
        assert verdict.era == era.MODERN
        yield server, wire, client


@pytest.mark.off_the_record("a version of long ago, a method that nobody has")
def test_what_servers_say_to_what_they_cannot_do(met: tuple[str, str, Client]) -> None:
    server, wire, client = met
    for what, (method, params, due, otherwise) in ASKED.items():
        known = otherwise.get(server, otherwise.get(f"{server}, {wire}", due))
        assert outcome(client, method, params) == known, what
        assert known == due or server != "ours"


def outcome(client: Client, method: str, params: dict[str, Any]) -> Any:
    """The code of an error, or the kind of a result."""
    try:
        result = client.start(method, params).result()
    except ErrorResponse as refusal:
        return refusal.code
    return "isError" if result.get("isError") else result["resultType"]


# --- how a server of the era before says that it is one ---


def test_what_the_old_server_answers_to_a_question_of_today(lab: Lab) -> None:
    """Both are no modern error, so both mean legacy; over HTTP it names its versions in words."""
    pipes = first_answer(StdioTransport(command("servers", "ts v1")))
    assert pipes == {"code": -32601, "message": "Method not found"}
    http = first_answer(HttpTransport(lab.urls["ts v1"]))
    assert http["code"] == -32000
    assert http["message"].startswith("Bad Request: ")


def first_answer(transport: StdioTransport | HttpTransport) -> dict[str, Any]:
    with Client(transport, timeout=20) as client:
        with pytest.raises(ErrorResponse) as refused:
            client.discover()
        (came,) = (entry for entry in client.tape if entry.direction == CAME)
    assert era.judge(refused.value).era == era.LEGACY
    return dict(jsonrpc.parse(came.payload)["error"])


def test_the_old_server_tells_of_changes_on_a_get_stream(lab: Lab) -> None:
    """Why one cell of the matrix is empty: a client MAY open that stream, and ours does not."""
    opening = {
        "protocolVersion": revision.LEGACY[0],
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    }
    where = urlsplit(lab.urls["ts v1"]).netloc
    opened = post(where, {}, {"id": 1, "method": "initialize", "params": opening})
    session = {"Mcp-Session-Id": str(opened.getheader("Mcp-Session-Id"))}
    post(where, session, {"method": "notifications/initialized"})
    listening = http.client.HTTPConnection(where, timeout=20)
    listening.request("GET", "/mcp", headers={"Accept": "text/event-stream", **session})
    stream = listening.getresponse()
    assert (stream.status, stream.getheader("Content-Type")) == (200, "text/event-stream")
    post(where, session, {"id": 2, "method": "tools/call", "params": {"name": "change"}})
    lines = iter(stream.readline, b"")
    heard = next(line for line in lines if line.startswith(b"data:") and b"method" in line)
    assert heard == (b'data: {"method":"notifications/tools/list_changed","jsonrpc":"2.0"}\n')
    stream.close()
    listening.close()


def post(where: str, headers: dict[str, str], message: dict[str, Any]) -> http.client.HTTPResponse:
    """One message of the era before, by hand; returns its response, read."""
    connection = http.client.HTTPConnection(where, timeout=20)
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    accept = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    connection.request("POST", "/mcp", body, {**accept, **headers})
    response = connection.getresponse()
    response.read()
    connection.close()
    return response


# --- progress and its answer in one read ---

ONE_WRITE = [sys.executable, str(HERE / "servers" / "one_write.py")]


def ours() -> list[Any]:
    steps: list[Any] = []
    with Client(StdioTransport(ONE_WRITE), timeout=20) as client:
        client.call_tool("count", on_progress=lambda params: steps.append(params["progress"]))
    return steps


def python() -> list[Any]:
    steps: list[Any] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    async def main() -> None:
        server = StdioServerParameters(command=ONE_WRITE[0], args=ONE_WRITE[1:])
        with anyio.fail_after(30):
            async with PythonClient(server) as client:
                await client.call_tool("count", progress_callback=hear)

    anyio.run(main)
    return steps


def typescript(line: str) -> dict[str, Any]:
    script = [node.find().node, str(HERE / "clients" / "ts_steps.mjs"), line, *ONE_WRITE]
    done = subprocess.run(script, capture_output=True, check=True, timeout=60)
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("listen", [ours, python])
def test_steps_that_come_with_their_answer_are_heard(listen: Callable[[], list[Any]]) -> None:
    assert listen() == [1, 2, 3]


@pytest.mark.parametrize("line", ["v1", "v2"])
def test_steps_that_come_with_their_answer_are_lost_on_typescript(
    node_parts: Path, line: str
) -> None:
    """It forgets the token with the answer, and hears the steps a tick later.

    typescript-sdk issue 2580. So the servers of the matrix pause before they answer.
    """
    heard = typescript(line)
    assert heard["steps"] == []
    assert len(heard["errors"]) == 3
    assert all("progress notification for an unknown token" in said for said in heard["errors"])
