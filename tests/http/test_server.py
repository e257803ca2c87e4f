"""The server at its address, byte for byte: statuses, codes, streams, and an end to everything.

Tables of (given, status, code, id), through real sockets. The connection of a refusal carries the
next request, too.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_bare import jsonrpc, revision
from mcp_bare.client import Client
from mcp_bare.errors import Refused
from mcp_bare.http_server import HttpServer, serve
from mcp_bare.server import Server
from mcp_bare.streamable_http import HttpTransport, Limits
from tests.http import lab
from tests.http.lab import ACCEPT, Wire, call, request, written
from tests.protocol.asking import examples

ECHO = call("echo", text="hé")
VERSION = revision.CURRENT


def works(wire: Wire) -> bool:
    """Does this connection still carry a request?"""
    reply = wire.post(ECHO)
    return reply.status == 200 and lab.said(reply.json["result"]) == "hé"


# --- one message ---


def test_an_answer_at_once_is_json(http):
    with Wire(http.port) as wire:
        reply = wire.post(ECHO)
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["date"].endswith(" GMT")
    assert lab.said(reply.json["result"]) == "hé"
    assert "mcp-session-id" not in reply.headers


def test_something_to_say_first_makes_it_a_stream(http):
    message = call("count", to=2)
    message["params"]["_meta"]["progressToken"] = "p"
    with Wire(http.port) as wire:
        reply = wire.post(message)
        assert works(wire), "its end is known, so the connection goes on"
    assert (reply.status, reply.headers["content-type"]) == (200, "text/event-stream")
    assert reply.headers["x-accel-buffering"] == "no"
    assert "no-store" in reply.headers["cache-control"]
    assert [event.get("method", event.get("id")) for event in reply.events] == [
        "notifications/progress",
        "notifications/progress",
        1,
    ]


def test_an_old_client_gets_its_stream_without_chunks(http):
    message = call("count", to=1)
    message["params"]["_meta"]["progressToken"] = "p"
    with Wire(http.port) as wire:
        wire.send(written(message, line="POST /mcp HTTP/1.0"))
        reply = wire.reply()
    assert "transfer-encoding" not in reply.headers
    assert len(reply.events) == 2


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/unheard_of"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
    ],
)
def test_a_notification_is_taken_without_a_word(http, message):
    plain = {"MCP-Protocol-Version": None, "Mcp-Method": None}
    with Wire(http.port) as wire:
        for changes in ({}, plain):  # the specification asks for no header here
            reply = wire.post(message, changes)
            assert (reply.status, reply.body) == (202, b"")
        assert works(wire)


# --- refusals: the request ---

HOSTS = [
    ({"Host": "127.0.0.1:9"}, 200),
    ({"Host": "LOCALHOST"}, 200),
    ({"Host": "[::1]:8000"}, 200),
    ({"Host": "app.localhost"}, 200),
    ({"Host": "evil.example"}, 403),
    ({"Host": "127.0.0.1.evil.example"}, 403),
    ({"Host": "127.0.0.1@evil.example"}, 403),
    ({"Host": "evil.example#127.0.0.1"}, 403),
    ({"Host": ""}, 403),
    ({"Host": None}, 400),
    ({"Host": "127.0.0.1\r\nHost: evil.example"}, 400),
    ({"Origin": "http://localhost:6274"}, 200),
    ({"Origin": "http://127.0.0.1"}, 200),
    ({"Origin": "https://[::1]:1"}, 200),
    ({"Origin": "http://evil.example"}, 403),
    ({"Origin": "http://localhost.evil.example"}, 403),
    ({"Origin": "http://evil.example/localhost"}, 403),
    ({"Origin": "http://localhost/path"}, 403),
    ({"Origin": "http://localhost@evil.example"}, 403),
    ({"Origin": "file://localhost"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": ""}, 403),
    ({"Origin": "http://localhost\r\nOrigin: http://evil.example"}, 400),
]


@pytest.mark.parametrize(("changes", "status"), HOSTS, ids=str)
def test_hosts_and_origins(http, changes, status):
    with Wire(http.port) as wire:
        reply = wire.post(ECHO, changes)
        assert reply.status == status
        assert reply.error == (status, -32600, None) if status >= 400 else True
        assert works(wire)


def test_names_that_were_allowed():
    allowed = {"allowed_hosts": ["MCP.example.com"], "allowed_origins": ["https://App.example/"]}
    with HttpServer(lab.build(), **allowed) as http, Wire(http.port) as wire:
        for changes, status in (
            ({"Host": "mcp.example.com"}, 200),
            ({"Host": "mcp.example.com:443", "Origin": "https://app.example"}, 200),
            ({"Host": "mcp.example.org"}, 403),
            ({"Origin": "https://other.example"}, 403),
            ({"Origin": "http://app.example"}, 403),
        ):
            assert wire.post(ECHO, changes).status == status


def test_beyond_loopback_only_names_that_were_allowed():
    """Whoever listens to the network is not protected by what browsers may not reach."""
    everywhere = HttpServer(lab.build(), host="0.0.0.0", allowed_hosts=["mcp.example"])
    with everywhere as http, Wire(http.port) as wire:
        assert wire.post(ECHO).status == 403
        assert wire.post(ECHO, {"Host": "mcp.example"}).status == 200
        rebound = {"Host": "mcp.example", "Origin": "http://localhost"}
        assert wire.post(ECHO, rebound).status == 403


LINES = [
    ("GET /mcp HTTP/1.1", 405),
    ("DELETE /mcp HTTP/1.1", 405),
    ("PUT /mcp HTTP/1.1", 405),
    ("OPTIONS /mcp HTTP/1.1", 405),
    ("HEAD /mcp HTTP/1.1", 405),
    ("BREW /mcp HTTP/1.1", 405),
    ("post /mcp HTTP/1.1", 405),
    ("POST / HTTP/1.1", 404),
    ("POST /mcp/ HTTP/1.1", 404),
    ("POST /MCP HTTP/1.1", 404),
    ("GET /.well-known/oauth-protected-resource HTTP/1.1", 404),
    ("POST * HTTP/1.1", 404),
    ("POST /mcp?x=/other HTTP/1.1", 200),
    ("POST http://localhost:1/mcp HTTP/1.1", 200),
    ("POST http://evil.example/mcp HTTP/1.1", 403),
    ("POST http://localhost HTTP/1.1", 404),
]


@pytest.mark.parametrize(("line", "status"), LINES)
def test_methods_and_paths(http, line, status):
    with Wire(http.port) as wire:
        wire.send(written(ECHO, line=line))
        reply = wire.reply(bodiless=line.startswith("HEAD"))
        assert reply.status == status
        assert (reply.headers.get("allow") == "POST") == (status == 405)
        assert works(wire)


MEDIA = [
    ({"Content-Type": "Application/JSON; charset=UTF-8"}, 200),
    ({"Content-Type": "application/json;"}, 200),
    ({"Content-Type": "application/json ; profile=x"}, 200),
    ({"Content-Type": "application/jsonp"}, 415),
    ({"Content-Type": "text/plain"}, 415),
    ({"Content-Type": "text/plain; application/json"}, 415),
    ({"Content-Type": ""}, 415),
    ({"Content-Type": None}, 415),
    ({"Content-Encoding": "identity"}, 200),
    ({"Content-Encoding": "gzip"}, 415),
    ({"Accept": "*/*"}, 200),
    ({"Accept": None}, 200),
    ({"Accept": "text/event-stream;q=0.5,APPLICATION/json ; q=1"}, 200),
    ({"Accept": "application/*, text/*"}, 200),
    ({"Accept": "application/json\r\nAccept: text/event-stream"}, 200),
    ({"Accept": "application/json"}, 406),
    ({"Accept": "text/event-stream"}, 406),
    ({"Accept": "application/json, text/event-stream;q=0"}, 406),
    ({"Accept": "application/json, text/event-stream; q=0.000"}, 406),
    ({"Accept": "text/html"}, 406),
    ({"Accept": ""}, 406),
]


@pytest.mark.parametrize(("changes", "status"), MEDIA, ids=str)
def test_media_types(http, changes, status):
    with Wire(http.port) as wire:
        assert wire.post(ECHO, changes).status == status
        assert works(wire)


# --- refusals: the message ---

LIST = request("tools/list")


def with_meta(**meta: Any) -> dict[str, Any]:
    """tools/list with a part of its `_meta` changed, or taken away by None."""
    names = {"version": revision.PROTOCOL_VERSION, "capabilities": revision.CLIENT_CAPABILITIES}
    message = request("tools/list", id="x")
    for name, value in meta.items():
        message["params"]["_meta"][names[name]] = value
        if value is None:
            del message["params"]["_meta"][names[name]]
    return message


MESSAGES = [
    # given, changed headers, status, code, id
    (b"", {}, 400, -32700, None),
    (b"{", {}, 400, -32700, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\xff"}}', {}, 400, -32700, None),
    (b'{"a":NaN}', {}, 400, -32700, None),
    (b'{"id":1,"id":2}', {}, 400, -32700, None),
    (b"[" * 100_000, {}, 400, -32700, None),
    (b"9" * 5000, {}, 400, -32700, None),
    (b"42", {}, 400, -32600, None),
    (b"null", {}, 400, -32600, None),
    ([LIST], {}, 400, -32600, None),
    ([], {}, 400, -32600, None),
    ({"id": 7, "method": "tools/list"}, {}, 400, -32600, 7),
    ({"jsonrpc": "2.0", "id": None, "method": "tools/list"}, {}, 400, -32600, None),
    ({"jsonrpc": "2.0", "id": True, "method": "tools/list"}, {}, 400, -32600, None),
    ({"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"}, {}, 400, -32600, None),
    ({"jsonrpc": "2.0", "id": 7, "method": 42}, {}, 400, -32600, 7),
    ({"jsonrpc": "2.0", "method": 42}, {}, 400, -32600, None),
    ({"jsonrpc": "2.0", "id": 7, "result": {}}, {}, 400, -32600, None),
    ({"jsonrpc": "2.0", "error": {"code": 1, "message": "x"}}, {}, 400, -32600, None),
    # the headers
    (LIST, {"MCP-Protocol-Version": None}, 400, -32020, 1),
    (LIST, {"MCP-Protocol-Version": "2025-11-25"}, 400, -32020, 1),
    (LIST, {"Mcp-Method": None}, 400, -32020, 1),
    (LIST, {"Mcp-Method": "tools/call"}, 400, -32020, 1),
    (LIST, {"Mcp-Method": f"tools/list\r\nMcp-Method: {'x'}"}, 400, -32020, 1),
    (ECHO, {"Mcp-Name": None}, 400, -32020, 1),
    (ECHO, {"Mcp-Name": "=?base64?ZWNobw?="}, 400, -32020, 1),
    (ECHO, {"Mcp-Name": "  echo\t"}, 200, None, 1),
    (call("route", "s", region="a"), {}, 400, -32020, "s"),
    (call("route", "s", region="a"), {"MCP-PARAM-REGION": "a"}, 200, None, "s"),
    (call("route", "s", region="a"), {"mcp-param-region": "=?base64?YQ==?="}, 200, None, "s"),
    (call("route", "s"), {"Mcp-Param-Region": "a"}, 400, -32020, "s"),
    (call("route", "s", priority=42), {"Mcp-Param-Priority": "42.0"}, 200, None, "s"),
    (call("nobody", "s"), {"Mcp-Param-Region": "a"}, 400, -32602, "s"),
    # `_meta`
    (with_meta(version=None), {}, 400, -32602, "x"),
    (with_meta(version=None), {"MCP-Protocol-Version": None}, 400, -32020, "x"),
    (with_meta(version=7), {}, 400, -32602, "x"),
    (with_meta(version="1900-01-01"), {}, 400, -32022, "x"),
    (with_meta(version="1900-01-01"), {"MCP-Protocol-Version": VERSION}, 400, -32020, "x"),
    (with_meta(capabilities=None), {}, 400, -32602, "x"),
    (with_meta(capabilities=[]), {}, 400, -32602, "x"),
    (with_meta(capabilities={"elicitation": []}), {}, 400, -32602, "x"),
    ({"jsonrpc": "2.0", "id": 7, "method": "tools/list"}, {}, 400, -32602, 7),
    ({"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": []}, {}, 400, -32602, 7),
    # what the server says
    (request("no/such/method", id=7), {}, 404, -32601, 7),
    (request("héllo", id=7), {"Mcp-Method": "h"}, 400, -32020, 7),
    (request("ping", id=7), {}, 404, -32601, 7),
    (request("initialize", id=7), {}, 404, -32601, 7),
    (call("nobody"), {}, 400, -32602, 1),
    (call("ask", what="form"), {}, 400, -32021, 1),
    (request("resources/read", {"uri": "memo://nobody"}), {}, 400, -32602, 1),
    (request("resources/read", {"uri": 7}), {}, 400, -32602, 1),
    (request("tools/list", {"cursor": "x"}), {}, 400, -32602, 1),
    (request("subscriptions/listen", {"notifications": []}), {}, 400, -32602, 1),
]  # fmt: skip


@pytest.mark.parametrize(("message", "changes", "status", "code", "id"), MESSAGES)
def test_messages(http, message, changes, status, code, id):
    with Wire(http.port) as wire:
        reply = wire.post(message, changes)
        if status == 200:
            assert (reply.status, reply.json["id"]) == (status, id)
        else:
            assert reply.error == (status, code, id)
            assert reply.headers["content-type"] == "application/json"
            assert ("id" in reply.json) == (id is not None)
        assert works(wire)


def test_the_data_of_an_unsupported_version(http):
    with Wire(http.port) as wire:
        reply = wire.post(with_meta(version="1900-01-01"))
    expected = {"supported": [VERSION], "requested": "1900-01-01"}
    assert reply.json["error"]["data"] == expected


OLD = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"MCP-Protocol-Version": None, "Mcp-Method": None}, -32020),
        ({"MCP-Protocol-Version": "2025-11-25", "Mcp-Method": None}, -32022),
        ({}, -32022),
    ],
)
def test_an_old_client_is_told_the_versions(http, changes, code):
    """It cannot use them, but the person before it can read them (basic/versioning)."""
    opening = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": OLD}
    with Wire(http.port) as wire:
        reply = wire.post(opening, changes)
        assert reply.error == (400, code, 0)
        assert VERSION in reply.json["error"]["message"]
        assert "mcp-session-id" not in reply.headers
        later = {"Mcp-Session-Id": "abc", "Last-Event-ID": "7"}  # of earlier revisions
        assert wire.post(ECHO, later).status == 200


def test_a_notification_that_is_not_taken(http):
    note = {"jsonrpc": "2.0", "method": "notifications/x"}
    with Wire(http.port) as wire:
        reply = wire.post(note, {"Mcp-Method": "notifications/y"})
        assert reply.error == (400, -32020, None)
        reply = wire.post(note, {"MCP-Protocol-Version": "2025-11-25"})
        assert reply.error == (400, -32022, None)
        assert works(wire)


def test_requests_that_do_not_wait(http):
    """Requests that do not wait for answers are answered in order."""
    with Wire(http.port) as wire:
        wire.send(b"".join(written(call("echo", n, text=str(n))) for n in range(20)))
        assert [wire.reply().json["id"] for _ in range(20)] == list(range(20))


# --- bodies ---


def test_a_chunked_body(http):
    body = json.dumps(ECHO, ensure_ascii=False).encode()
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(p), p) for p in (body[:7], body[7:8], body[8:]))
    head = written(ECHO, {"Content-Length": None, "Transfer-Encoding": "chunked"})
    head = head[: head.index(b"\r\n\r\n") + 4]
    with Wire(http.port) as wire:
        wire.send(head + chunks + b"0\r\nTrailer: x\r\n\r\n")
        assert lab.said(wire.reply().json["result"]) == "hé"
        assert works(wire)


def test_a_client_that_waits_to_be_told(http):
    data = written(ECHO, {"Expect": "100-continue"})
    head, body = data[: data.index(b"\r\n\r\n") + 4], data[data.index(b"\r\n\r\n") + 4 :]
    with Wire(http.port) as wire:
        wire.send(head)
        assert wire.head() == (100, {})
        wire.send(body)
        assert wire.reply().status == 200


def test_a_body_that_is_too_large_is_refused_before_it_has_come():
    with HttpServer(lab.build(), limits=Limits(max_body=1000)) as http:
        with Wire(http.port) as wire:
            wire.send(written(ECHO, {"Content-Length": "1001"}))
            reply = wire.reply()
            assert (reply.status, reply.headers["connection"]) == (413, "close")
        with Wire(http.port) as wire:  # nor does one that is on its way meet a reset
            wire.send(written(b"x" * 3_000_000))
            assert wire.reply().status == 413
            assert wire.at_end()
        with Wire(http.port) as wire:
            assert works(wire)


@pytest.mark.parametrize(
    "half",
    [
        written(ECHO)[:20],
        written(ECHO)[:-1],
        written(ECHO, {"Content-Length": None, "Transfer-Encoding": "chunked"})[:-200],
    ],
    ids=["half a head", "half a body", "half a chunk"],
)
def test_half_a_request_does_not_hold_the_server_for_long(half):
    with HttpServer(lab.build(), limits=Limits(request=0.3)) as http, Wire(http.port) as wire:
        wire.send(half)
        reply = wire.reply()
        assert (reply.status, reply.headers["connection"]) == (408, "close")
        assert wire.at_end()


def test_a_byte_now_and_then_is_not_patience_without_end():
    with HttpServer(lab.build(), limits=Limits(request=0.3)) as http, Wire(http.port) as wire:
        wire.sock.settimeout(0.1)
        with contextlib.suppress(OSError):
            for byte in written(ECHO):
                wire.send(bytes([byte]))
                time.sleep(0.02)
        wire.sock.settimeout(lab.PATIENCE)
        assert wire.reply().status == 408


def test_an_idle_connection_is_closed():
    with HttpServer(lab.build(), limits=Limits(idle=0.2)) as http, Wire(http.port) as wire:
        assert works(wire)
        assert wire.at_end()


def test_a_client_that_hangs_up_anywhere(http):
    """Half a head, half a body, and with a reset: the server goes on."""
    for size in (0, 1, 20, len(written(ECHO)) - 1, len(written(ECHO))):
        for reset in (False, True):
            with Wire(http.port) as wire:
                wire.send(written(ECHO)[:size])
                if reset:
                    linger = struct.pack("ii", 1, 0)
                    wire.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    with Wire(http.port) as wire:
        assert works(wire)


def test_there_is_room_for_so_many_connections():
    with HttpServer(lab.build(), limits=Limits(connections=2)) as http:
        with Wire(http.port) as one, Wire(http.port) as two:
            assert works(one) and works(two)
            with Wire(http.port) as three:
                assert three.reply().error == (503, -32603, None)
                assert three.at_end()
            assert works(one)
        assert lab.eventually(lambda: served(http)), "there is room again"


def served(http: HttpServer) -> bool:
    with Wire(http.port) as wire:
        return wire.post(ECHO).status == 200


# --- streams ---


def test_a_subscription_is_a_stream_that_stays(http):
    listen = request("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, "s")
    with Wire(http.port) as wire, Wire(http.port) as other:
        wire.send(written(listen))
        status, headers = wire.head()
        assert (status, headers["content-type"]) == (200, "text/event-stream")
        assert headers["x-accel-buffering"] == "no"
        assert b"notifications/subscriptions/acknowledged" in wire.chunk()
        other.post(call("change"))
        event = json.loads(wire.chunk().removeprefix(b"data: "))
        assert event["method"] == "notifications/tools/list_changed"
        assert event["params"]["_meta"] == {revision.SUBSCRIPTION_ID: "s"}
        other.post(call("end_subscriptions"))
        assert json.loads(wire.chunk().removeprefix(b"data: "))["id"] == "s"
        assert wire.chunk() == b"", "to end it, HTTP needs no cancellation: that is for stdio"
        assert works(wire), "a stream that was ended well leaves its connection usable"


def test_two_subscriptions_of_two_clients_with_one_id(http):
    listen = request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    with Wire(http.port) as one, Wire(http.port) as two:
        for wire in (one, two):
            wire.send(written(listen))
            assert wire.head()[0] == 200
            assert b"acknowledged" in wire.chunk()
        one.close()
        with Wire(http.port) as other:
            other.post(call("change"))
        assert b"list_changed" in two.chunk()


def test_a_long_silence_is_kept_alive():
    listen = request("subscriptions/listen", {"notifications": {}})
    with HttpServer(lab.build(), limits=Limits(keep_alive=0.2)) as http:
        with Wire(http.port) as wire:
            wire.send(written(listen))
            wire.head()
            wire.chunk()
            assert [wire.chunk() for _ in range(3)] == [b": keep-alive\n\n"] * 3
        with Wire(http.port) as wire, Wire(http.port) as other:
            wire.send(written(call("hold", gate="a")))
            assert wire.head()[1]["content-type"] == "text/event-stream", "it takes long"
            assert wire.chunk() == b": keep-alive\n\n"
            other.post(call("release", gate="a"))
            said = b"".join(iter(wire.chunk, b""))
            assert b'"id":1' in said and said.count(b"data:") == 1


def test_closing_the_stream_cancels(http):
    with Wire(http.port) as wire, Wire(http.port) as other:
        wire.send(written(call("work")))
        assert lab.eventually(lambda: confession(other) == "began")
        wire.close()
        assert lab.eventually(lambda: confession(other) == "began,cancelled")


def test_closing_the_stream_in_the_middle_stops_a_handler_at_its_next_yield(http):
    message = call("wait")
    message["params"]["_meta"]["progressToken"] = "p"
    with Wire(http.port) as wire, Wire(http.port) as other:
        wire.send(written(message))
        wire.head()
        assert b"progress" in wire.chunk()
        assert lab.said(other.post(call("waiting")).json["result"]) == "1"
        wire.close()
        assert lab.eventually(lambda: lab.said(other.post(call("waiting")).json["result"]) == "0")


def test_closing_the_stream_ends_a_subscription():
    server = lab.build()
    listen = request("subscriptions/listen", {"notifications": {}})
    with HttpServer(server) as http:
        with Wire(http.port) as wire:
            wire.send(written(listen))
            wire.head()
            wire.chunk()
            assert len(server.subscriptions._open) == 1
        assert lab.eventually(lambda: not server.subscriptions._open)


def confession(wire: Wire) -> str:
    return lab.said(wire.post(call("confess")).json["result"])


def test_a_posted_cancellation_stops_nobody(http):
    """It is taken and dropped: by an id alone, anyone could cancel what another one asked."""
    with Wire(http.port) as wire, Wire(http.port) as other:
        wire.send(written(call("work", 7)))
        assert lab.eventually(lambda: confession(other) == "began")
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
        assert other.post(cancel).status == 202
        time.sleep(0.3)
        assert confession(other) == "began"


def test_a_client_that_does_not_read_loses_its_stream_and_nobody_waits_for_it():
    server = lab.build()
    uri = "memo://" + "x" * 50_000
    wanted = {"notifications": {"resourceSubscriptions": [uri]}}
    heard: list[Any] = []
    with contextlib.ExitStack() as stack:
        http = stack.enter_context(HttpServer(server, limits=Limits(write=0.5)))
        deaf = stack.enter_context(Wire(http.port))
        client = stack.enter_context(Client(HttpTransport(http.url)))
        deaf.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.send(written(request("subscriptions/listen", wanted)))
        deaf.head()
        stack.enter_context(client.listen({"toolsListChanged": True}, heard.append))
        for _ in range(3000):
            server.updated(uri)
        assert lab.eventually(lambda: len(server.subscriptions._open) == 1)
        server.changed("tools")
        assert lab.eventually(lambda: heard)


# --- who is there, and what nobody may see ---


MISTAKES = {
    "break": RuntimeError("the key is hunter2"),
    "wait": TimeoutError("the keys of hunter2 took too long"),
    "hang up": ConnectionResetError("hunter2"),
}


class Doorman:
    """Admits whoever says a name; has a document; makes a mistake when asked to."""

    def admit(self, authorization: str | None, message: dict[str, Any]) -> str | None:
        if authorization in MISTAKES:
            raise MISTAKES[authorization]
        if authorization is None:
            challenge = {"WWW-Authenticate": 'Bearer realm="x"', "Content-Type": "text/plain"}
            raise Refused(401, challenge, b"who are you?")
        if message["method"] == "prompts/list":
            raise Refused(403, {"WWW-Authenticate": "Bearer a=\r\nX: y, b=✓"}, b"")
        return authorization.removeprefix("Bearer ")

    def well_known(self, path: str) -> bytes | None:
        return b'{"resource":"x"}' if path == "/.well-known/oauth-protected-resource/mcp" else None


@pytest.fixture
def guarded():
    with HttpServer(lab.build(), guard=Doorman()) as running:
        yield running


def test_a_guard_decides(guarded):
    who = call("who")
    with Wire(guarded.port) as wire:
        reply = wire.post(who)
        assert (reply.status, reply.body) == (401, b"who are you?")
        assert reply.headers["www-authenticate"] == 'Bearer realm="x"'
        reply = wire.post(who, {"Authorization": "Bearer ana"})
        assert lab.said(reply.json["result"]) == "ana"
        reply = wire.post(who, {"Authorization": "Bearer an\xe1"})
        assert lab.said(reply.json["result"]) == "an\xe1"
        reply = wire.post(request("prompts/list"), {"Authorization": "Bearer ana"})
        assert (reply.status, reply.body) == (403, b"")
        assert reply.headers["www-authenticate"] == "Bearer a=  X: y, b=?", "one header, whatever"
        reply = wire.post(who, {"Authorization": "a\r\nAuthorization: b"})
        assert reply.status == 400
        note = {"jsonrpc": "2.0", "method": "notifications/x"}
        assert wire.post(note).status == 401
        wrong = wire.post(who, {"Mcp-Name": "echo"})
        assert wrong.status == 401, "the guard comes before the headers"
        assert wire.post(who, {"Authorization": "Bearer ana"}).status == 200


def test_the_guard_s_document(guarded):
    with Wire(guarded.port) as wire:
        for method in ("GET", "HEAD"):
            line = f"{method} /.well-known/oauth-protected-resource/mcp HTTP/1.1"
            wire.send(written(b"", line=line))
            reply = wire.reply(bodiless=method == "HEAD")
            assert (reply.status, reply.headers["content-length"]) == (200, "16")
        wire.send(written(b"", {"Host": "evil.example"}, line=line.replace("HEAD", "GET")))
        assert wire.reply().status == 403
        wire.send(written(b"", line="GET /.well-known/other HTTP/1.1"))
        assert wire.reply().status == 404
        wire.send(written(b"", line=line.replace("HEAD", "POST")))
        assert wire.reply().status == 404


def test_a_mistake_is_not_for_the_client_to_read(guarded, capfd):
    with Wire(guarded.port) as wire:
        for mistake in MISTAKES:
            reply = wire.post(ECHO, {"Authorization": mistake})
            assert reply.error == (500, -32603, None)
            assert b"hunter2" not in reply.body and b"Traceback" not in reply.body
            assert "hunter2" in capfd.readouterr().err
        reply = wire.post(call("fail", how="exception"), {"Authorization": "Bearer ana"})
        assert b"hunter2" not in reply.body
        assert reply.status == 200


@pytest.mark.off_the_record("a result that is no JSON")
def test_what_json_cannot_say_is_an_error_of_the_server():
    server = Server("x", "1")
    server.tool({"name": "odd", "inputSchema": {"type": "object"}})(
        lambda call: {"content": [], "structuredContent": {1, 2}}
    )
    with HttpServer(server) as http, Wire(http.port) as wire:
        assert wire.post(call("odd")).error == (500, -32603, 1)


# --- its end ---


def test_a_stop_is_clean_and_quick():
    """Subscriptions get their response, a request that is nearly done its time, the rest a 503."""
    server = lab.build()
    listen = request("subscriptions/listen", {"notifications": {}})
    http = HttpServer(server, limits=Limits(patience=0.5))
    with contextlib.ExitStack() as stack:
        idle, listening, slow, stuck, cut = (stack.enter_context(Wire(http.port)) for _ in range(5))
        assert works(idle)
        listening.send(written(listen))
        listening.head()
        assert b"acknowledged" in listening.chunk()
        slow.send(written(call("hold", gate="a")))
        stuck.send(written(call("work")))
        streaming = call("hold", gate="b")
        streaming["params"]["_meta"]["progressToken"] = 1
        cut.send(written(streaming))
        cut.head()
        cut.chunk()
        assert lab.eventually(lambda: confession(idle) == "began")
        threading.Timer(0.1, release, (server, "a")).start()
        http.stop()
        assert b'"resultType":"complete"' in listening.chunk()
        assert listening.chunk() == b""
        assert lab.said(slow.reply().json["result"]) == "a"
        assert stuck.reply().error == (503, -32603, 1)
        assert cut.stream.read() == b"", "no answer, and no end that could be taken for one"
        for wire in (idle, listening, slow, stuck):
            assert wire.at_end()
        with pytest.raises(OSError):
            Wire(http.port)
        http.stop()  # a second time does nothing
        release(server, "b")


def release(server: Server, gate: str) -> None:
    list(server.handle(call("release", gate=gate)))


def test_a_server_that_is_dropped_is_stopped():
    http = HttpServer(lab.build())
    port = http.port
    with Wire(port) as wire:
        assert works(wire)
        del http
        assert wire.at_end()


def test_a_cell_that_is_run_again():
    """The same port, though the first server is still there, and its connections too."""
    first = HttpServer(lab.build())
    with Wire(first.port) as wire:
        assert works(wire)
        with HttpServer(lab.build(), port=first.port) as second:
            assert wire.at_end()
            assert second.port == first.port
            with Wire(second.port) as again:
                assert works(again)
            first.stop()
            with Wire(second.port) as again:
                assert works(again), "the first one's end is not the second one's"


def test_a_port_that_is_another_s():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(OSError):
            HttpServer(lab.build(), port=other.getsockname()[1])


def test_the_other_loopback():
    if not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6 here")
    with HttpServer(lab.build(), host="::1") as http, Client(HttpTransport(http.url)) as client:
        assert http.url == f"http://[::1]:{http.port}/mcp"
        assert lab.said(client.call_tool("echo", {"text": "x"})) == "x"


def test_addresses():
    with HttpServer(lab.build(), path="/a/b") as http:
        assert http.url == f"http://127.0.0.1:{http.port}/a/b"
        with Wire(http.port) as wire:
            wire.send(written(ECHO, line="POST /a/b HTTP/1.1"))
            assert wire.reply().status == 200


def test_serve_says_where_and_ends_when_interrupted(capsys, monkeypatch):
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    # The name in that module alone: others, on other threads, sleep too.
    monkeypatch.setattr("mcp_bare.http_server.time", SimpleNamespace(sleep=interrupt))
    serve(lab.build(), port=0)
    assert "http://127.0.0.1:" in capsys.readouterr().err


# --- anything at all ---

VALUES = st.sampled_from([VERSION, "tools/call", "echo", "", "=?base64?ZWNobw==?=", "=?base64?x?="])
NAMES = st.sampled_from([
    "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-Region", "Accept", "Content-Type",
    "Host", "Origin", "Authorization", "Mcp-Session-Id", "Last-Event-ID", "Connection", "X-Other",
])  # fmt: skip
PRINTABLE = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"))
BODY = st.sampled_from([ECHO, LIST, {"jsonrpc": "2.0", "method": "x"}, [LIST], {}, b"{", b""])


@examples(300)
@given(st.dictionaries(NAMES, VALUES | PRINTABLE | st.none(), max_size=6), BODY)
def test_any_headers_get_an_answer_and_the_next_request_works(shared, changes, body):
    with Wire(shared.port) as wire:
        reply = wire.post(body, changes)
        assert reply.status in (200, 202, 400, 403, 406, 415)
        if reply.status >= 400:
            assert reply.json["error"]["code"] in (-32700, -32600, -32602, -32020, -32022)
        if reply.headers.get("connection") != "close":
            assert works(wire)
    assert works_anew(shared)


@examples(200)
@given(st.binary(max_size=60), st.integers(0, 400))
def test_any_bytes_do_no_harm(shared, noise, at):
    data = written(ECHO)
    with Wire(shared.port) as wire:
        wire.send(data[:at] + noise + data[at:])
        wire.sock.shutdown(socket.SHUT_WR)
        answers = wire.stream.read()
        assert answers == b"" or answers.startswith(b"HTTP/1.1 ")
        assert b"Traceback" not in answers
    assert works_anew(shared)


def works_anew(http: HttpServer) -> bool:
    with Wire(http.port) as wire:
        return works(wire)


@pytest.fixture(scope="module")
def shared():
    with HttpServer(lab.build()) as running:
        yield running


def test_json_is_what_the_toolkit_writes_everywhere():
    """The bytes of an answer over HTTP are those of any other transport."""
    server = lab.build()
    (expected,) = server.handle(ECHO)
    with HttpServer(server) as http, Wire(http.port) as wire:
        assert wire.post(ECHO, {"Accept": ACCEPT}).body == jsonrpc.dumps(expected)
