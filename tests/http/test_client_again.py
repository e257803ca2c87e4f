"""A kept connection is gone when the next request comes: what is sent again, and what never is.

The server is real sockets all the way; it ends a connection with a FIN, or with a RST, before or
after it has read the request, or with a few bytes of an answer said.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mcp_bare import http_again, revision
from mcp_bare.client import Client
from mcp_bare.errors import RequestLost
from mcp_bare.http_client import HttpTransport
from mcp_bare.http_pool import _is_quiet
from tests.http import lab
from tests.http.scripted import Scripted, as_json, event, progress, response, result, stream

WARM = "prompts/list"  # leaves a connection behind
CALL = "tools/call"
LARGE = 1 << 14
ASKING = sorted(set(revision.METHODS) - {CALL})
PARAMS: dict[str, Any] = {
    CALL: {"name": "a"},
    "prompts/get": {"name": "a"},
    "resources/read": {"uri": "file:///a"},
    "completion/complete": {
        "ref": {"type": "ref/prompt", "name": "a"},
        "argument": {"name": "b", "value": "c"},
    },
    "subscriptions/listen": {"notifications": {}},
}
TO_SERVER = {"notifications/initialized", revision.CANCELLED}


class Closing(Scripted):
    """Answers everything, but for what `after(count)` says of the first requests, from 1 on."""

    def __init__(self, after: Callable[[Closing, int, Any], Any]):
        super().__init__(lambda message, _: after(self, len(self.asked), message))

    def reset(self) -> None:
        """The end of the connection will be a RST."""
        self._open[-1].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def say_no_more(self) -> None:
        """The FIN is sent, and the server reads on."""
        self._open[-1].shutdown(socket.SHUT_WR)

    def wait_for_more(self) -> None:
        """Until the next request is there, whole or large; closed now, it is a RST."""
        sock = self._open[-1]
        assert lab.eventually(lambda: _is_whole(sock.recv(LARGE, socket.MSG_PEEK)))


def _is_whole(unread: bytes) -> bool:
    return len(unread) == LARGE or unread.endswith(b"}")


def fine(message: Any) -> bytes:
    return as_json(result(message)) if "id" in message else response("202 Accepted")


def unread(server: Closing, count: int, message: Any) -> Any:
    """As Node does after a busy moment: the idle timer is first, the request is never looked at."""
    return [fine(message), server.wait_for_more, None] if count == 1 else fine(message)


def read_and_reset(server: Closing, count: int, message: Any) -> Any:
    return [server.reset, None] if count == 2 else fine(message)


def read_and_closed(server: Closing, count: int, message: Any) -> Any:
    return None if count == 2 else fine(message)


@contextlib.contextmanager
def warmed(after: Callable[[Closing, int, Any], Any]) -> Iterator[tuple[Closing, Client]]:
    """A client that has a connection to such a server already."""
    with (
        Closing(after) as server,
        Client(HttpTransport(server.url), timeout=lab.PATIENCE) as client,
    ):
        client.start(WARM).result()
        yield server, client


def idle(client: Client) -> list[Any]:
    return client.exchange.transport._link.pool._idle


ENDS = [unread, read_and_reset, read_and_closed]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("method", ASKING)
def test_what_only_asks_is_sent_again(method, end):
    with warmed(end) as (server, client):
        assert lab.said(client.start(method, PARAMS.get(method)).result()) == "hé"
        copies = [method] if end is unread else [method] * 2
        assert server.methods == [WARM, *copies]
        assert server.connections == 2
        assert len({request.body for _, request in server.asked[1:]}) == 1, "with its id"
        assert client.exchange.in_flight == 0


@pytest.mark.parametrize("end", ENDS)
def test_a_call_that_was_sent_whole_is_never_sent_again(end):
    """It may have been done. The error says so, and the next call is fine."""
    with warmed(end) as (server, client):
        with pytest.raises(RequestLost, match="before the first byte of an answer"):
            client.call_tool("delete_event")
        assert server.methods == [WARM] + ([] if end is unread else [CALL])
        assert server.connections == 1
        assert lab.said(client.call_tool("delete_event")) == "hé"


def test_a_call_that_could_not_be_sent_whole_is_sent_again():
    """More than the buffers between here and there can hold: the rest was never sent."""
    large = "x" * (12 << 20)
    with warmed(unread) as (server, client):
        assert lab.said(client.call_tool("echo", {"text": large})) == "hé"
        assert server.methods == [WARM, CALL]
        assert server.asked[-1][0]["params"]["arguments"] == {"text": large}
        assert server.connections == 2


@pytest.mark.off_the_record("a notification of the era before")
@pytest.mark.parametrize("end", ENDS)
def test_a_notification_is_sent_again(end):
    method = "notifications/initialized"
    with warmed(end) as (server, client):
        client.notify(method)
        assert server.methods == [WARM] + [method] * (1 if end is unread else 2)


@pytest.mark.off_the_record("methods that no specification has, or not this one")
@pytest.mark.parametrize("method", ["tasks/cancel", "tools/Call", "resources/subscribe"])
def test_a_method_that_nobody_knows_may_do_anything(method):
    with warmed(read_and_closed) as (server, client):
        with pytest.raises(RequestLost, match="first byte"):
            client.start(method).result()
        assert server.methods == [WARM, method]


def test_the_harmless_are_all_but_one():
    assert {*ASKING, *TO_SERVER} == http_again.HARMLESS


HALVES = {
    "one byte": lambda m: [b"H"],
    "half a status line": lambda m: [b"HTTP/1.1 20"],
    "half a head": lambda m: [b"HTTP/1.1 200 OK\r\nContent-Type: app"],
    "a head": lambda m: [fine(m).split(b"\r\n\r\n")[0] + b"\r\n\r\n"],
    "half a body": lambda m: [fine(m)[:-9]],
    "half a stream": lambda m: list(stream(event(progress(m)), end=False))[:-1],
    "only 100 Continue": lambda m: [b"HTTP/1.1 100 Continue\r\n\r\n"],
}


@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
@pytest.mark.parametrize("said", HALVES)
@pytest.mark.parametrize("method", ["tools/list", CALL])
def test_after_a_byte_of_an_answer_nothing_is_sent_again(said, reset, method):
    def after(server: Closing, count: int, message: Any) -> Any:
        if count != 2:
            return fine(message)
        return [*HALVES[said](message), *([server.reset] if reset else []), None]

    with warmed(after) as (server, client):
        with pytest.raises(RequestLost):
            client.start(method, PARAMS.get(method)).result()
        assert (server.methods, server.connections) == ([WARM, method], 1)


def test_a_fresh_connection_that_dies_is_an_answer():
    """It says something about the server, and it is not idleness."""
    with (
        Closing(lambda *_: None) as server,
        Client(HttpTransport(server.url), timeout=lab.PATIENCE) as client,
    ):
        with pytest.raises(RequestLost, match="first byte"):
            client.list_tools()
        assert server.methods == ["tools/list"]


def test_once_more_is_once_more():
    """Not over the next idle connection, which may be as dead; and what fails then, has failed."""

    def after(server: Closing, count: int, message: Any) -> Any:
        return fine(message) if count == 1 else None

    with warmed(after) as (server, client):
        with pytest.raises(RequestLost, match="first byte"):
            client.list_tools()
        assert server.methods == [WARM, "tools/list", "tools/list"]


def test_it_goes_over_a_fresh_connection_though_another_one_idles(http, monkeypatch):
    """Where one is dead, those that were opened with it are too; their ends are under way."""
    monkeypatch.setattr("mcp_bare.http_pool._is_quiet", lambda sock: True)
    with Client(HttpTransport(http.url), timeout=lab.PATIENCE) as client:
        waiting = [client.start(CALL, {"name": "hold", "arguments": {"gate": n}}) for n in "ab"]
        for n in "ab":
            client.call_tool("release", {"gate": n})
        [pending.result() for pending in waiting]
        assert lab.eventually(lambda: len(idle(client)) >= 2)
        for _, connection in idle(client):
            connection.sock.shutdown(socket.SHUT_WR)
        assert {tool["name"] for tool in client.list_tools()} >= {"hold"}


def test_what_was_cancelled_is_not_sent_again():
    def after(server: Closing, count: int, message: Any) -> Any:
        return fine(message) if count == 1 else [lambda: server.hung_up.wait(lab.PATIENCE), None]

    with warmed(after) as (server, client):
        pending = client.start("tools/list")
        assert lab.eventually(lambda: server.methods == [WARM, "tools/list"])
        pending.cancel()
        assert lab.eventually(lambda: not client.exchange.transport._link._running)
        server.hung_up.set()
        assert (len(server.asked), server.connections) == (2, 1)


@pytest.mark.parametrize("end", ["closed", "reset", "half closed"])
@pytest.mark.parametrize("method", ["tools/list", CALL])
def test_an_end_that_has_arrived_is_seen_before_anything_is_written(method, end):
    """Half closed, the server still reads: whatever was written to it would be asked."""

    def after(server: Closing, count: int, message: Any) -> Any:
        if count != 1:
            return fine(message)
        ends = {
            "closed": [None],
            "reset": [server.reset, None],
            "half closed": [server.say_no_more],
        }
        return [fine(message), *ends[end]]

    with warmed(after) as (server, client):
        [(_, connection)] = idle(client)
        assert lab.eventually(lambda: not _is_quiet(connection.sock))
        assert lab.said(client.start(method, PARAMS.get(method)).result()) == "hé"
        assert (server.methods, server.connections) == ([WARM, method], 2)
