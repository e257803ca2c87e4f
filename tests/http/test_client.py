"""The client's transport: what it sends, how its connections live, what it learns, how it ends."""

from __future__ import annotations

import gc
import socket
import threading
import time
from typing import Any

import pytest

from mcp_bare import revision
from mcp_bare.client import Client
from mcp_bare.errors import (
    ErrorResponse,
    McpError,
    RequestLost,
    RequestTimeout,
    TransportClosed,
)
from mcp_bare.http_client import HttpTransport
from mcp_bare.http_server import HttpServer
from mcp_bare.tape import CAME, NOTE, SENT
from tests.http import lab, naive
from tests.http.scripted import Scripted, as_json, error, event, progress, response, result, stream

ECHO = lab.call("echo", text="hé")


def open_client(url: str, **options: Any) -> Client:
    names = ("authorizer", "headers")
    how = {name: options.pop(name) for name in names if name in options}
    return Client(HttpTransport(url, **how), **{"timeout": lab.PATIENCE, **options})


# --- what it sends ---


def test_the_headers_of_every_post():
    with Scripted(lambda m, _: as_json(result(m))) as server, open_client(server.url) as client:
        client.call_tool("ëcho")
        client.start("subscriptions/listen", {"notifications": {}}).result()
        ((message, request), (_, other)) = server.asked
    assert (request.method, request.target) == ("POST", "/mcp")
    assert request.single("Accept") == "application/json, text/event-stream"
    assert request.single("Content-Type") == "application/json"
    assert request.single("MCP-Protocol-Version") == revision.CURRENT
    assert request.single("Mcp-Method") == "tools/call"
    assert request.single("Mcp-Name") == "=?base64?w6tjaG8=?="
    assert message["params"]["_meta"][revision.PROTOCOL_VERSION] == revision.CURRENT
    assert other.single("Mcp-Name") is None
    assert request.single("Mcp-Session-Id") is None


def test_headers_of_one_s_own_never_replace_what_is_due():
    mine = {"X-Api-Key": "k", "accept": "text/html", "MCP-METHOD": "x", "Authorization": "Basic y"}
    with (
        Scripted(lambda m, _: as_json(result(m))) as server,
        open_client(server.url, headers=mine) as client,
    ):
        client.call_tool("echo")
        ((_, request),) = server.asked
    assert request.single("X-Api-Key") == "k"
    assert request.single("Authorization") == "Basic y"
    assert request.single("Accept") == "application/json, text/event-stream"
    assert request.single("Mcp-Method") == "tools/call"


@pytest.mark.parametrize(
    "url",
    ["", "mcp", "ftp://h/", "http://", "http:///mcp", "http://user:secret@h/mcp", "http://h/a b",
     "http://h/é", "http://h/\r\nX: y", "http://h:port/", "http://h:99999/"],
)  # fmt: skip
def test_what_is_no_address(url):
    with pytest.raises(ValueError):
        HttpTransport(url)


@pytest.mark.parametrize(("path", "target"), [("", "/"), ("/a/b", "/a/b"), ("/a?b=c#d", "/a?b=c")])
def test_addresses(path, target):
    with Scripted(lambda m, _: as_json(result(m))) as server:
        with open_client(f"http://localhost:{server.port}{path}") as client:
            client.call_tool("echo")
        assert server.asked[0][1].target == target


def test_no_proxy_answers_for_loopback(monkeypatch):
    """A tutorial's client asks the proxy of the environment; there may be none on this machine."""
    with Scripted(lambda m, _: response("502 Bad Gateway", b"proxy")) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        with Scripted(lambda m, _: as_json(result(m))) as server:
            with open_client(server.url) as client:
                assert lab.said(client.call_tool("echo")) == "hé"
            with pytest.raises(OSError, match="502"):
                naive.post(server.url, ECHO, lab.due(ECHO))
        assert len(proxy.asked) == 1


def test_a_server_that_is_not_there():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/mcp"
        began = time.monotonic()
        with open_client(url) as client, pytest.raises(RequestLost, match="refused") as caught:
            client.discover()
        assert (caught.value.status, time.monotonic() - began < 5) == (None, True)


# --- connections ---


def test_one_connection_carries_one_call_after_the_other():
    with HttpServer(lab.build()) as http, open_client(http.url) as client:
        for _ in range(20):
            client.call_tool("echo", {"text": "x"})
            client.call_tool("count", {"to": 2}, on_progress=lambda note: None)  # a stream
        assert len(http._listener._open) <= 2, "its end was there already, or nearly"


def test_calls_at_the_same_time_have_connections_of_their_own(http):
    with open_client(http.url) as client:
        waiting = [client.start("tools/call", call("hold", gate=n)) for n in "abc"]
        assert lab.said(client.call_tool("echo", {"text": "x"})) == "x", "nobody waits for them"
        for n in "cba":
            client.call_tool("release", {"gate": n})
        assert [lab.said(pending.result()) for pending in waiting] == ["a", "b", "c"]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def test_a_connection_that_the_server_closed_is_not_used_again():
    with Scripted(lambda m, _: [as_json(result(m)), None]) as server:  # without saying so
        with open_client(server.url) as client:
            for _ in range(5):
                client.call_tool("echo")
                time.sleep(0.02)
        assert server.connections == 5


def test_a_connection_with_something_unasked_on_it_is_not_used_again():
    stray = as_json(result({"id": 2}, "not this"))
    pause = 0.05

    def script(message, _):
        return [as_json(result(message)), lambda: time.sleep(pause), stray]

    with Scripted(script) as server:
        with open_client(server.url) as client:
            client.call_tool("echo")
            time.sleep(3 * pause)
            assert lab.said(client.call_tool("echo")) == "hé"
        assert server.connections == 2


def test_an_idle_connection_grows_old(monkeypatch):
    monkeypatch.setattr("mcp_bare.http_pool.KEPT_S", 0.0)
    with Scripted(lambda m, _: as_json(result(m))) as server, open_client(server.url) as client:
        for _ in range(3):
            client.call_tool("echo")
        assert server.connections == 3


# --- cancelling ---


def test_cancelling_closes_the_stream_and_says_nothing_else():
    def script(message, _):
        yield from list(stream(event(progress(message))))[:-1]
        yield lambda: server.hung_up.wait(lab.PATIENCE)

    heard = []
    with Scripted(script) as server, open_client(server.url) as client:
        pending = client.start("tools/call", call("work"), on_progress=heard.append)
        assert lab.eventually(lambda: heard)
        assert pending.cancel("enough")
        with pytest.raises(McpError, match="enough"):
            pending.result()
        assert not pending.cancel()
        server.hung_up.set()
        assert server.methods == ["tools/call"]
        sent = [entry.message["method"] for entry in client.tape if entry.direction == SENT]
        assert sent == ["tools/call"], "nor does the tape say that anything was"
        assert "its stream was closed" in client.tape.lines()[-1]


def test_a_cancellation_is_never_posted(http):
    """Not even one that is written by hand: the stream is closed, and that says it."""
    with open_client(http.url) as client:
        pending = client.start("tools/call", call("work"))
        assert lab.eventually(lambda: lab.said(client.call_tool("confess")) == "began")
        client.notify(revision.CANCELLED, {"requestId": pending.id})
        assert lab.eventually(lambda: lab.said(client.call_tool("confess")) == "began,cancelled")
        client.notify(revision.CANCELLED, {"requestId": 99})


def test_a_call_that_takes_too_long_is_cancelled_on_the_server(http):
    with open_client(http.url) as client:
        with pytest.raises(RequestTimeout):
            client.call_tool("work", timeout=0.3)
        assert lab.eventually(lambda: lab.said(client.call_tool("confess")) == "began,cancelled")


def test_cancelling_before_there_is_a_connection(monkeypatch):
    """It may be cancelled while it connects; then nothing is sent."""
    gate = threading.Event()
    with Scripted(lambda m, _: as_json(result(m))) as server, open_client(server.url) as client:
        connect = client.exchange.transport._address.connect

        def slowly() -> Any:
            gate.wait(lab.PATIENCE)
            return connect()

        monkeypatch.setattr(client.exchange.transport._address, "connect", slowly)
        pending = client.start("tools/call", call("echo"))
        pending.cancel()
        gate.set()
        assert lab.eventually(lambda: not client.exchange.transport._link._running)
        assert server.asked == []


def test_an_answer_that_comes_too_late_is_nobody_s():
    gate = threading.Event()

    def script(message, _):
        yield lambda: gate.wait(lab.PATIENCE) if message["id"] == 1 else None
        yield as_json(result(message, str(message["id"])))

    with Scripted(script) as server, open_client(server.url) as client:
        with pytest.raises(RequestTimeout):
            client.call_tool("echo", timeout=0.1)
        gate.set()
        assert lab.said(client.call_tool("echo")) == "2"


# --- subscriptions ---


def test_a_subscription_and_its_end(http):
    heard: list[Any] = []
    with open_client(http.url) as client:
        stream_ = client.listen({"toolsListChanged": True}, heard.append)
        assert stream_.agreed == {"toolsListChanged": True}
        client.call_tool("change")
        assert lab.eventually(lambda: heard)
        assert not stream_.ended
        client.call_tool("end_subscriptions")
        assert lab.eventually(lambda: stream_.ended)
        assert stream_.pending.result()["resultType"] == "complete"
        one = client.listen({"toolsListChanged": True}, heard.append)
        one.close()
        assert lab.said(client.call_tool("echo", {"text": "x"})) == "x"


def test_a_subscription_that_is_cut_off_is_lost_at_once():
    def script(message, _):
        params = {"_meta": {revision.SUBSCRIPTION_ID: message["id"]}, "notifications": {}}
        method = "notifications/subscriptions/acknowledged"
        acknowledged = event({"jsonrpc": "2.0", "method": method, "params": params})
        return stream(acknowledged, b": keep-alive\n\n", end=False)

    with Scripted(script) as server, open_client(server.url) as client:
        subscription = client.listen({}, print)
        assert lab.eventually(lambda: subscription.ended)
        with pytest.raises(RequestLost):
            subscription.pending.result()


def test_a_log_belongs_to_the_request_on_whose_stream_it_came(http):
    """A log message has no id; over HTTP its stream tells whose it is."""
    heard: list[Any] = []
    with open_client(http.url) as client:
        meta = {revision.LOG_LEVEL: "info"}
        params = {**call("count", to=1), "_meta": meta}
        client.start("tools/call", params, on_notification=heard.append).result()
    assert [note["method"] for note in heard] == ["notifications/message"]


# --- what it learns ---

BAD = {"name": "bad", "inputSchema": {"type": "object", "properties": {
    "a": {"type": "number", "x-mcp-header": "A"}}}}  # fmt: skip


def listing(*tools: Any) -> dict[str, Any]:
    return {"resultType": "complete", "tools": list(tools), "ttlMs": 0, "cacheScope": "private"}


def test_a_tool_that_breaks_the_rules_is_left_out_and_the_others_stay():
    good = {"name": "route", "inputSchema": lab.ROUTED}

    def script(message, _):
        return as_json(result(message, result=listing(BAD, good)))

    with Scripted(script) as server, open_client(server.url) as client:
        assert [tool["name"] for tool in client.list_tools()] == ["route"]
        client.list_tools()
        (note,) = [entry.show() for entry in client.tape if entry.direction == NOTE]
        assert "'bad' is left out" in note and "of type 'number'" in note


def test_arguments_are_mirrored_once_the_tool_is_known(http):
    arguments = {"region": "Iași", "priority": 42, "loud": False, "where": {"city": " Cluj"}}
    with open_client(http.url) as client:
        client.list_tools()
        mark = len(client.tape)
        assert "Cluj" in lab.said(client.call_tool("route", arguments))
        assert len(client.tape) - mark == 2, "one question, one answer"


def test_a_tool_that_is_called_unseen_is_looked_up(http):
    """The server says -32020; the client lists the tools, and asks again with the headers due."""
    with open_client(http.url) as client:
        assert lab.said(client.call_tool("route", {"region": "a"})) == '{"region": "a"}'
        sent = [entry.message for entry in client.tape if entry.direction == SENT]
    assert [message["method"] for message in sent] == ["tools/call", "tools/list", "tools/call"]
    assert sent[0]["id"] != sent[2]["id"]


def test_a_mismatch_that_stays_is_an_error():
    def script(message, _):
        if message["method"] == "tools/list":
            return as_json(result(message, result=listing()))
        return as_json(error(revision.HEADER_MISMATCH, id=message["id"]), "400 Bad Request")

    with Scripted(script) as server, open_client(server.url) as client:
        with pytest.raises(ErrorResponse):
            client.call_tool("route")
        assert server.methods == ["tools/call", "tools/list", "tools/call"]


@pytest.mark.parametrize("arguments", [{"priority": 2**60}, {"region": "\ud83d"}])
def test_an_argument_that_no_header_can_carry(http, arguments):
    with open_client(http.url) as client:
        client.list_tools()
        with pytest.raises(RequestLost, match=r"beyond|surrogates"):
            client.call_tool("route", arguments)
        assert lab.said(client.call_tool("echo", {"text": "x"})) == "x"


# --- authorization ---


class Wallet:
    """Has a list of tokens, and takes the next one when refused."""

    def __init__(self, *tokens: str | None):
        self.tokens, self.refusals = list(tokens), []
        self.lock, self.given = threading.Lock(), threading.local()

    def header(self) -> str | None:
        self.given.token = self.tokens[0]
        return self.given.token and f"Bearer {self.given.token}"

    def refused(self, status: int, challenges: list[str]) -> bool:
        if self.given.token != self.tokens[0]:
            return True  # another thread was faster
        assert self.lock.acquire(blocking=False), "one at a time"
        self.refusals.append((status, challenges))
        time.sleep(0.05)
        self.lock.release()
        if len(self.tokens) == 1:
            return False
        self.tokens.pop(0)
        return True


def door(message: Any, request: Any) -> bytes:
    """401 without a token, 403 with one that is too small."""
    token = request.single("Authorization")
    if token == "Bearer large":
        return as_json(result(message))
    if token == "Bearer small":
        return response("403 Forbidden", WWW_Authenticate='Bearer scope="x"')
    return response("401 Unauthorized", WWW_Authenticate="Bearer a=1\r\nWWW-Authenticate: Basic")


def test_a_token_then_a_larger_one():
    wallet = Wallet(None, "small", "large")
    with Scripted(door) as server, open_client(server.url, authorizer=wallet) as client:
        assert lab.said(client.call_tool("echo")) == "hé"
        assert wallet.refusals == [(401, ["Bearer a=1", "Basic"]), (403, ['Bearer scope="x"'])]
        client.call_tool("echo")
        assert len(server.asked) == 4, "the next call has it at once"


def test_a_refusal_that_stays():
    wallet = Wallet(None, "small")
    with Scripted(door) as server, open_client(server.url, authorizer=wallet) as client:
        with pytest.raises(RequestLost) as caught:
            client.call_tool("echo")
        assert caught.value.status == 403
        assert len(server.asked) == 2


def test_a_refusal_without_an_authorizer():
    with Scripted(door) as server, open_client(server.url) as client:
        with pytest.raises(RequestLost, match="401") as caught:
            client.call_tool("echo")
        assert caught.value.status == 401


def test_there_is_an_end_to_trying():
    wallet = Wallet(*"abcdefghij")
    with Scripted(door) as server, open_client(server.url, authorizer=wallet) as client:
        with pytest.raises(RequestLost, match="refused 6 times"):
            client.call_tool("echo")
        assert len(server.asked) == 6


def test_many_requests_that_are_refused_at_once_ask_for_one_token():
    wallet = Wallet(None, "large", "never")
    with Scripted(door) as server, open_client(server.url, authorizer=wallet) as client:
        calls = [client.start("tools/call", call("echo")) for _ in range(8)]
        assert [lab.said(pending.result()) for pending in calls] == ["hé"] * 8
    assert [status for status, _ in wallet.refusals] == [401]


def test_an_authorizer_that_fails_costs_its_request_only():
    class Broken(Wallet):
        def refused(self, status: int, challenges: list[str]) -> bool:
            raise self.trouble

    broken = Broken(None)
    with Scripted(door) as server, open_client(server.url, authorizer=broken) as client:
        for trouble, status in ((RuntimeError("no browser"), None), (McpError("no browser"), 401)):
            broken.trouble = trouble
            with pytest.raises(RequestLost, match="no browser") as caught:
                client.call_tool("echo")
            assert caught.value.status == status
        assert caught.value.__cause__ is trouble, "what the authorizer says is kept"
        broken.tokens = ["large"]
        assert lab.said(client.call_tool("echo")) == "hé"


@pytest.mark.off_the_record("a notification that no specification has")
def test_a_notification_is_authorized_too():
    wallet = Wallet(None, "large")

    def script(message, request):
        answer = door({"id": 1}, request)
        return response("202 Accepted") if b" 200 " in answer[:15] else answer

    with Scripted(script) as server, open_client(server.url, authorizer=wallet) as client:
        client.notify("notifications/x")
        assert server.methods == ["notifications/x"] * 2


# --- its end ---


def test_closing_ends_what_is_in_flight_at_once(http):
    client = open_client(http.url)
    calls = [client.start("tools/call", call("work")) for _ in range(3)]
    subscription = client.listen({}, print)
    began = time.monotonic()
    client.close()
    for pending in [*calls, subscription.pending]:
        with pytest.raises(TransportClosed):
            pending.result()
    assert time.monotonic() - began < 1
    with pytest.raises(TransportClosed):
        client.start("tools/list")
    client.close()


@pytest.mark.parametrize("what", ["start", "notify"])
def test_a_transport_that_is_closed(what):
    transport = HttpTransport("http://127.0.0.1:9/mcp")
    message = b'{"jsonrpc":"2.0","method":"notifications/cancelled"}'
    with pytest.raises(TransportClosed):
        transport.send(message)
    assert transport.cancel(1) is False
    transport.close()
    transport.open(print, print)
    transport.close()
    transport.close()
    with pytest.raises(TransportClosed):
        transport.send(message if what == "notify" else b'{"jsonrpc":"2.0","id":1,"method":"x"}')


def test_a_client_that_is_dropped_closes_its_connections(http):
    client = open_client(http.url)
    client.call_tool("echo", {"text": "x"})
    client.start("tools/call", call("work"))
    assert lab.eventually(lambda: threads("mcp-http-post"))
    del client
    gc.collect()
    assert lab.eventually(lambda: not threads("mcp-http-post"))
    assert lab.eventually(lambda: not http._listener._open)


def threads(name: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == name]


def test_an_interrupted_cell_leaves_the_client_usable(http, monkeypatch):
    with open_client(http.url) as client:
        pending = client.start("tools/call", call("work"))
        assert lab.eventually(lambda: lab.said(client.call_tool("confess")) == "began")

        def interrupted(seconds: float) -> bool:
            raise KeyboardInterrupt

        monkeypatch.setattr(pending._done, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pending.result()
        assert lab.eventually(lambda: lab.said(client.call_tool("confess")) == "began,cancelled")


def test_the_tape_has_every_message_both_ways(http):
    with open_client(http.url) as client:
        client.call_tool("count", {"to": 2}, on_progress=lambda note: None)
    assert [entry.direction for entry in client.tape] == [SENT, CAME, CAME, CAME]
