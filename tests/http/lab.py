"""A server with tools that a test can hold and let go, and a client that writes raw HTTP."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from mcp_bare import headers, jsonrpc, revision
from mcp_bare.server import Server
from tests.oracle import plugin
from tests.oracle.servers import toolkit_server

PATIENCE = 30.0  # far more than anything here takes: what waits that long, hangs
ACCEPT = "application/json, text/event-stream"
ROUTED = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "priority": {"type": "integer", "x-mcp-header": "Priority"},
        "loud": {"type": "boolean", "x-mcp-header": "Loud"},
        "where": {
            "type": "object",
            "properties": {"city": {"type": "string", "x-mcp-header": "City"}},
        },
        "query": {"type": "string"},
    },
}


def build(**options: Any) -> Server:
    """The oracle's server of everything, and tools for this folder. Its gates are its own."""
    server = toolkit_server.build(**options)
    gates: dict[str, threading.Event] = defaultdict(threading.Event)
    seen: list[str] = []

    def tool(handler: Callable[..., Any]) -> None:
        server.tool({"name": handler.__name__, "inputSchema": {"type": "object"}})(handler)

    @server.tool({"name": "route", "inputSchema": ROUTED})
    def route(call):
        return json.dumps(call.arguments, sort_keys=True)

    @tool
    def who(call):
        return str(call.caller.principal)

    @tool
    def hold(call):
        """Answer once `release` was called; say so first where progress is asked for."""
        yield call.progress(1)
        gates[call.arguments["gate"]].wait(PATIENCE)
        return call.arguments["gate"]

    @tool
    def release(call):
        gates[call.arguments["gate"]].set()
        return "released"

    @tool
    def work(call):
        """Work in silence until cancelled; `confess` tells that it was."""
        seen.append("began")
        while not call.cancelled():
            time.sleep(0.005)
        seen.append("cancelled")
        yield call.progress(2)
        return "never sent"

    @tool
    def confess(call):
        return ",".join(seen)

    return server


# --- messages ---


def request(method: str, params: Any = None, id: Any = 1, **meta: Any) -> dict[str, Any]:
    """A whole request, `_meta` and all."""
    whole = {**(params or {}), "_meta": {**revision.request_meta({}), **meta}}
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": whole}


def call(name: str, id: Any = 1, **arguments: Any) -> dict[str, Any]:
    return request("tools/call", {"name": name, "arguments": arguments}, id)


def due(message: Any) -> dict[str, str]:
    """The headers that go with a message; a change of None takes one away."""
    found = {"Host": "127.0.0.1", "Content-Type": "application/json", "Accept": ACCEPT}
    if isinstance(message, dict) and isinstance(message.get("method"), str):
        found.update(headers.standard(message, revision.CURRENT))
    return found


# --- raw HTTP ---


class Reply:
    """A response as it came: status, headers by lower-case name, body without chunks."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> Any:
        """The body; an error response is held against the official types."""
        message = jsonrpc.loads(self.body)
        if "error" in message:
            plugin.error(message)
        return message

    @property
    def error(self) -> tuple[int, int | None, Any]:
        """(status, the error's code, its id), what a table of refusals compares."""
        if not self.body:
            return self.status, None, None
        return self.status, self.json["error"]["code"], self.json.get("id")

    @property
    def events(self) -> list[Any]:
        """The messages of a stream that is over."""
        lines = self.body.decode().split("\n")
        return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


class Wire:
    """One connection, kept open over any number of requests."""

    def __init__(self, port: int):
        self.sock = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.stream = self.sock.makefile("rb")

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def post(self, message: Any, changes: dict[str, str | None] | None = None) -> Reply:
        """POST a message (or raw bytes) to /mcp, with its headers but for the changes."""
        self.send(written(message, changes))
        return self.reply()

    def reply(self, *, bodiless: bool = False) -> Reply:
        """The next response, read to its end."""
        status, found = self.head()
        if bodiless:
            return Reply(status, found, b"")
        if found.get("transfer-encoding") == "chunked":
            return Reply(status, found, b"".join(iter(self.chunk, b"")))
        if "content-length" not in found and status not in (202, 204):
            return Reply(status, found, self.stream.read())
        return Reply(status, found, self.stream.read(int(found.get("content-length", 0))))

    def head(self) -> tuple[int, dict[str, str]]:
        version, status, _ = self.stream.readline().decode().split(" ", 2)
        assert version == "HTTP/1.1"
        found: dict[str, str] = {}
        while line := self.stream.readline().decode("latin-1").rstrip("\r\n"):
            name, _, value = line.partition(": ")
            assert name.lower() not in found, f"{name} came twice"
            found[name.lower()] = value
        return int(status), found

    def chunk(self) -> bytes:
        size = int(self.stream.readline(), 16)
        data = self.stream.read(size)
        assert self.stream.readline() == b"\r\n"
        return data

    def at_end(self) -> bool:
        """Has the server closed the connection?"""
        return self.stream.read(1) == b""

    def close(self) -> None:
        self.stream.close()
        self.sock.close()

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def written(
    message: Any,
    changes: dict[str, str | None] | None = None,
    *,
    line: str = "POST /mcp HTTP/1.1",
) -> bytes:
    """A request as bytes. A header that is changed to None is left out; the length is right."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    found: dict[str, str | None] = {**due(message), "Content-Length": str(len(body))}
    lower = {name.lower(): name for name in found}
    for name, value in (changes or {}).items():
        found[lower.get(name.lower(), name)] = value
    rows = [f"{name}: {value}" for name, value in found.items() if value is not None]
    return "\r\n".join([line, *rows, "", ""]).encode("latin-1") + body


def eventually(true: Callable[[], Any], patience: float = PATIENCE) -> bool:
    """Wait until it is true; False where it never is."""
    deadline = time.monotonic() + patience
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def said(result: dict[str, Any]) -> str:
    """The text of a tool's result."""
    return result["content"][0]["text"]
