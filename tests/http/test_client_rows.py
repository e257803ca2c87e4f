"""What a server may answer, row by row, and what a caller sees of it.

Every row runs on the toolkit's client and must hold, and on a tutorial's (`naive`), which fails on
all but those that say so.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse, McpError, ProtocolViolation, RequestLost
from mcp_bare.http_client import HttpTransport
from mcp_bare.tape import NOTE
from tests.http import lab, naive
from tests.http.scripted import (
    Scripted,
    as_json,
    error,
    event,
    progress,
    response,
    result,
    stream,
)
from tests.protocol.asking import examples

PATIENCE = 10.0
QUICK = 5.0  # what fails at once is here long before the patience is over

Answer = Callable[[Any], Any]


@dataclass(frozen=True)
class Row:
    """An answer to a tool's call, what a caller gets (a text, or an error's text), and for whom."""

    why: str
    answer: Answer
    seen: str | tuple[type[McpError], str]
    naive: bool = False


def lost(says: str) -> tuple[type[McpError], str]:
    return RequestLost, says


HEARTBEAT = b'data: {"heartbeat":1}\n\n'

TABLE = [
    Row("JSON", lambda m: as_json(result(m)), "hé", naive=True),
    Row("a stream", lambda m: stream(event(result(m))), "hé", naive=True),
    # Media types compared as strings
    Row("capitals and a charset",
        lambda m: as_json(result(m), Content_Type="Application/JSON; charset=UTF-8"), "hé"),
    Row("a stream with a charset",
        lambda m: stream(event(result(m)), Content_Type="text/event-stream;charset=utf-8"), "hé"),
    # A keep-alive or a priming event
    Row("a comment", lambda m: stream(b": ping\n\n", event(result(m))), "hé", naive=True),
    Row("an empty event", lambda m: stream(b"id: 1\ndata:\n\n", event(result(m))), "hé"),
    Row("a heartbeat that is no message", lambda m: stream(HEARTBEAT, event(result(m))), "hé",
        naive=True),
    Row("a heartbeat that is no JSON", lambda m: stream(b"data: ping\n\n", event(result(m))), "hé"),
    Row("an event of another type",
        lambda m: stream(b"event: ping\n" + event(result(m, "no")), event(result(m))), "hé"),
    # Events lost or garbled
    Row("a byte order mark", lambda m: stream(b"\xef\xbb\xbf" + event(result(m))), "hé"),
    Row("no space", lambda m: stream(event(result(m), b"data:")), "hé", naive=True),
    Row("CR", lambda m: stream((event(progress(m)) + event(result(m))).replace(b"\n", b"\r")),
        "hé"),
    Row("two data lines", lambda m: stream(event(result(m)).replace(b', "', b',\ndata: "')), "hé"),
    Row("byte by byte", lambda m: stream(*[bytes([b]) for b in event(result(m))]), "hé",
        naive=True),
    # A hang when the stream ends early
    Row("progress, then the end", lambda m: stream(event(progress(m))),
        lost("the stream ended before the answer")),
    Row("nothing, then the end", lambda m: stream(), lost("the stream ended before the answer")),
    Row("an answer without its blank line", lambda m: stream(event(result(m))[:-1]),
        lost("in the middle of an event")),
    Row("half an answer", lambda m: stream(event(result(m))[:40]),
        lost("in the middle of an event")),
    Row("a connection that breaks", lambda m: stream(event(progress(m)), end=False),
        lost("IncompleteRead")),
    Row("no response at all", lambda m: None, lost("Gone: closed before the first byte")),
    Row("half a body", lambda m: [as_json(result(m))[:-20], None], lost("half of it")),
    # Ids
    Row("another's id, then ours", lambda m: stream(event(result({"id": 99}, "no")),
                                                    event(result(m))), "hé", naive=True),
    Row("an id of another type", lambda m: as_json(result({"id": str(m["id"])})),
        lost("but not this request")),
    Row("another's id", lambda m: as_json(result({"id": 99})), lost("but not this request")),
    Row("a notification for an answer", lambda m: as_json(progress(m)),
        lost("but not this request")),
    Row("a batch", lambda m: as_json([result(m)]), lost("but not this request")),
    # Codes and statuses mixed up
    Row("an error with its id", lambda m: as_json(error(-32602, id=m["id"]), "400 Bad Request"),
        (ErrorResponse, "-32602 no")),
    Row("an error whose id is null", lambda m: as_json(error(-32020, id=None), "400 Bad Request"),
        (ErrorResponse, "-32020 no")),
    Row("an error without an id", lambda m: as_json(error(-32600), "400 Bad Request"),
        (ErrorResponse, "-32600 no")),
    Row("an error with an id of its own", lambda m: as_json(error(-32600, id="server-error"),
                                                            "404 Not Found"),
        (ErrorResponse, "-32600 no")),
    Row("an error in a stream", lambda m: stream(event(error(-32603, id=m["id"]))),
        (ErrorResponse, "-32603 no")),
    Row("an error that is 200", lambda m: as_json(error(7, id=m["id"])), (ErrorResponse, "7 no")),
    Row("a page", lambda m: response("502 Bad Gateway", b"<h1>nginx</h1>",
                                     Content_Type="text/html"), lost("502 Bad Gateway.*nginx")),
    Row("JSON of another kind", lambda m: as_json({"detail": "Not Found"}, "404 Not Found"),
        lost("404 Not Found.*Not Found")),
    Row("a refusal without a body", lambda m: response("403 Forbidden"), lost("403 Forbidden")),
    Row("a page that is 200", lambda m: response(body=b"<html>", Content_Type="text/html"),
        lost("200 OK, Content-Type 'text/html'")),
    Row("202", lambda m: response("202 Accepted"), lost("202 Accepted")),
    Row("an empty 200", lambda m: as_json(b""), lost("but not this request")),
    Row("a redirect", lambda m: response("307 Temporary Redirect", Location="http://evil.example/"),
        lost("307.*evil.example.*not followed")),
    Row("no HTTP", lambda m: [b"SSH-2.0-OpenSSH_9.6\r\n", None], lost("BadStatusLine")),
    # An answer that has come is not waited for again
    Row("a stream that stays open after its answer",
        lambda m: [*list(stream(event(result(m))))[:-1], lambda: time.sleep(0.3)], "hé",
        naive=True),
    Row("two answers", lambda m: stream(event(result(m)), event(result(m, "no"))), "hé",
        naive=True),
    Row("no end of the body but the end of the connection",
        lambda m: [as_json(result(m), Content_Length="", Connection="close"), None], "hé",
        naive=True),
]  # fmt: skip

MESSAGE = lab.call("echo", text="hé")
HEADERS = lab.due(MESSAGE)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.why)
def test_row(row):
    began = time.monotonic()
    with (
        Scripted(lambda m, _: row.answer(m)) as server,
        Client(HttpTransport(server.url), timeout=PATIENCE) as client,
    ):
        if isinstance(row.seen, str):
            assert lab.said(client.call_tool("echo")) == row.seen
        else:
            kind, says = row.seen
            with pytest.raises(kind, match=f"(?s){says}") as caught:
                client.call_tool("echo")
            assert type(caught.value) is kind
        assert client.exchange.in_flight == 0
    assert time.monotonic() - began < QUICK


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.why)
def test_where_a_naive_client_fails(row):
    """It fails: with a wrong answer, or with an exception that says nothing."""
    with Scripted(lambda m, _: row.answer(m)) as server:
        try:
            answer = naive.post(server.url, MESSAGE, HEADERS)
            fine = lab.said(answer["result"]) == row.seen
        except Exception:
            fine = False
    assert fine == row.naive


TAKEN = [
    ("202 with no length", [response("202 Accepted", Content_Length=""), None], True),
    ("202", response("202 Accepted"), True),
    ("204", response("204 No Content", Content_Length=""), False),
    ("an empty 200", response("200 OK"), False),
    ("a 200 that says something", response("200 OK", b"ok", Content_Type="text/plain"), False),
]


@pytest.mark.off_the_record("a notification that no specification has")
@pytest.mark.parametrize(("why", "answer", "naively"), TAKEN, ids=lambda v: v if v else "")
def test_any_2xx_takes_a_notification(why, answer, naively):
    note = {"jsonrpc": "2.0", "method": "notifications/x"}
    with Scripted(lambda m, _: answer if "id" not in m else as_json(result(m))) as server:
        with Client(HttpTransport(server.url), timeout=PATIENCE) as client:
            client.notify("notifications/x")
            assert lab.said(client.call_tool("echo")) == "hé"
        assert server.methods == ["notifications/x", "tools/call"]
        try:
            fine = naive.post(server.url, note, HEADERS) is None
        except Exception:
            fine = False
        assert fine == naively


@pytest.mark.off_the_record("a notification that no specification has")
@pytest.mark.parametrize(
    ("answer", "says"),
    [(as_json(error(-32600), "400 Bad Request"), "400"), (response("503 Later"), "503")],
)
def test_a_notification_that_is_not_taken(answer, says):
    with Scripted(lambda m, _: answer) as server, Client(HttpTransport(server.url)) as client:
        with pytest.raises(RequestLost, match=says):
            client.notify("notifications/x")
        assert client.exchange.in_flight == 0


def test_what_is_noise_is_noted():
    """A person who looks at the tape sees that something came, and what."""
    noise = stream(b"data:\n\n", HEARTBEAT, b": ping\n\n")

    def script(message, _):
        yield from list(noise)[:-1]
        yield from list(stream(event(result(message))))[1:]

    with Scripted(script) as server, Client(HttpTransport(server.url)) as client:
        client.call_tool("echo")
        notes = [entry.show() for entry in client.tape if entry.direction == NOTE]
    assert notes == ["! an event without data", '! not a message: {"heartbeat":1}']
    assert client.exchange.skipped == 1


def test_a_character_that_is_cut_in_half_between_two_packets():
    def script(message, _):
        whole = event(result(message))
        cut = whole.index("é".encode()) + 1
        for piece in stream(whole[:cut], whole[cut:]):
            yield piece
            yield lambda: time.sleep(0.05)

    with Scripted(script) as server, Client(HttpTransport(server.url)) as client:
        assert lab.said(client.call_tool("echo")) == "hé"


@pytest.mark.parametrize("kind", ["stream", "json"])
def test_sizes_are_bounded(kind, monkeypatch):
    monkeypatch.setattr("mcp_bare.http_post.MAX_BYTES", 10_000)
    monkeypatch.setattr("mcp_bare.sse.EventParser.__init__.__defaults__", (10_000,))
    large = "x" * 20_000

    def script(message, _):
        answer = result(message, large)
        return stream(event(answer)) if kind == "stream" else as_json(answer)

    with Scripted(script) as server, Client(HttpTransport(server.url)) as client:
        with pytest.raises(RequestLost, match="more than 10000 bytes"):
            client.call_tool("echo")
        assert client.exchange.in_flight == 0


def test_a_naive_client_believes_in_every_redirect():
    """Why ours does not: the second server gets what was meant for the first."""
    seen = []

    def second(message, request):
        seen.append(request.method)
        return as_json(result({"id": 1}))

    with Scripted(second) as other, Scripted(lambda m, _: response(
        "302 Found", Location=other.url)) as server:  # fmt: skip
        naive.post(server.url, MESSAGE, HEADERS)
        assert seen == ["GET"]
        with Client(HttpTransport(server.url)) as client, pytest.raises(RequestLost):
            client.call_tool("echo")
        assert seen == ["GET"]


HEADS = st.sampled_from([
    b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 400 Bad Request\r\n", b"HTTP/1.1 302 Found\r\n", b"HTTP/",
    b"Content-Type: application/json\r\n", b"Content-Type: text/event-stream\r\n", b"\r\n",
    b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"data: {", b"5\r\n", b"0\r\n\r\n",
    b'{"jsonrpc":"2.0","id":1,"result":{}}', b'{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}',
])  # fmt: skip


@examples(300)
@given(st.lists(HEADS | st.binary(max_size=20), max_size=10))
def test_whatever_a_server_says_the_call_comes_to_an_end(pieces):
    with (
        Scripted(lambda m, _: [b"".join(pieces), None]) as server,
        Client(HttpTransport(server.url), timeout=PATIENCE) as client,
    ):
        with contextlib.suppress(ErrorResponse, ProtocolViolation, RequestLost):
            client.start("tools/list").result()
        assert client.exchange.in_flight == 0
