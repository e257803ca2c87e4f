"""The rows of "HTTP and SSE" for a server, on the toolkit's, which must hold, and on a tutorial's.

Each row is a few bytes in and one thing seen; the tutorial's server fails on every one.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from mcp_bare.http_server import HttpServer
from tests.http import lab
from tests.http.lab import Wire, call, request, written
from tests.http.naive import NaiveServer

ECHO = call("echo", text="hé")


def posts(message: Any, changes: dict[str, str | None] | None, expected: Any) -> Callable:
    """POST this, and the status with the code (or the text) is that."""

    def seen(port: int) -> bool:
        with Wire(port) as wire:
            wire.sock.settimeout(2)
            reply = wire.post(message, changes)
            if reply.status == 200 and "result" in reply.json:
                return lab.said(reply.json["result"]) == expected
            return reply.error[:2] == expected

    return seen


def two_connections(port: int) -> bool:
    """The second one is answered while the first one is open."""
    with Wire(port) as one, Wire(port) as two:
        for wire in (one, two):
            wire.sock.settimeout(2)
        return one.post(ECHO).status == two.post(ECHO).status == 200


def chunked(port: int) -> bool:
    head = written(ECHO, {"Content-Length": None, "Transfer-Encoding": "chunked"})
    head, _, body = head.partition(b"\r\n\r\n")
    with Wire(port) as wire:
        wire.sock.settimeout(2)
        wire.send(head + b"\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
        return wire.reply().status == 200


def after_a_refusal(port: int) -> bool:
    """A refused request's body is not the next request."""
    with Wire(port) as wire:
        wire.sock.settimeout(2)
        assert wire.post(ECHO, {"Content-Type": "text/plain"}).status == 415
        return wire.post(ECHO).status == 200


def half_a_request(port: int) -> bool:
    """Somebody else's half a request does not stop mine."""
    with Wire(port) as half, Wire(port) as whole:
        half.send(written(ECHO)[:-5])
        whole.sock.settimeout(2)
        return whole.post(ECHO).status == 200


def get(port: int) -> bool:
    with Wire(port) as wire:
        wire.sock.settimeout(2)
        wire.send(written(b"", line="GET /mcp HTTP/1.1"))
        return wire.reply().status == 405


def notification(port: int) -> bool:
    with Wire(port) as wire:
        wire.sock.settimeout(2)
        reply = wire.post({"jsonrpc": "2.0", "method": "notifications/x"})
        return (reply.status, reply.body) == (202, b"")


NO_VERSION = request("tools/list")
del NO_VERSION["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"]
LISTED = request("tools/list")
LISTED["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = []
UNKNOWN = request("tools/list")
UNKNOWN["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "1900-01-01"

ROWS = [
    # Good clients refused, bad ones accepted, over headers
    ("a wrong padding", posts(ECHO, {"Mcp-Name": "=?base64?ZWNobw?="}, (400, -32020))),
    ("a form in capitals", posts(ECHO, {"Mcp-Name": "=?BASE64?ZWNobw==?="}, (400, -32020))),
    ("no name", posts(ECHO, {"Mcp-Name": None}, (400, -32020))),
    ("no method", posts(ECHO, {"Mcp-Method": None}, (400, -32020))),
    ("no version", posts(ECHO, {"MCP-Protocol-Version": None}, (400, -32020))),
    # Codes and statuses mixed up
    ("no version in _meta", posts(NO_VERSION, None, (400, -32602))),
    ("capabilities as an array", posts(LISTED, None, (400, -32602))),
    ("an unknown version", posts(UNKNOWN, None, (400, -32022))),
    ("an unknown method", posts(request("no/such"), None, (404, -32601))),
    ("GET", get),
    # Media types compared as strings
    ("a charset", posts(ECHO, {"Content-Type": "Application/JSON; charset=UTF-8"}, "hé")),
    ("a notification", notification),
    # A second request hangs
    ("two kept-alive connections", two_connections),
    ("a chunked body", chunked),
    ("a body that nobody read", after_a_refusal),
    ("half a request", half_a_request),
    # and of the other tables
    ("what is no JSON", posts(b"{", None, (400, -32700))),
    ("a batch", posts([ECHO], None, (400, -32600))),
    ("a page of another site", posts(ECHO, {"Origin": "http://evil.example"}, (403, -32600))),
    ("a name that points here", posts(ECHO, {"Host": "evil.example"}, (403, -32600))),
]


@pytest.mark.parametrize(("why", "seen"), ROWS, ids=[why for why, _ in ROWS])
def test_row(why, seen):
    with HttpServer(lab.build()) as http:
        assert seen(http.port)


@pytest.mark.parametrize(("why", "seen"), ROWS, ids=[why for why, _ in ROWS])
def test_a_naive_server_fails(why, seen):
    with NaiveServer() as server:
        try:
            held = seen(server.port)
        except (OSError, ValueError, AssertionError, LookupError):
            held = False
        assert not held


def test_a_naive_server_s_port_is_taken_on_rerun():
    with NaiveServer() as naive, pytest.raises(OSError):
        socket.create_server(("127.0.0.1", naive.port))
    first = HttpServer(lab.build())
    with HttpServer(lab.build(), port=first.port) as second:
        assert second.port == first.port


def test_the_naive_server_does_serve():
    """So that the rows do not fail for another reason."""
    plain = call("echo", text="plain")
    with NaiveServer() as server:
        assert posts(plain, None, "plain")(server.port)
