"""A request off the wire, without a socket: what is read, what is refused, and how much of it.

The connection may carry on only after a request that was read whole.
"""

from __future__ import annotations

import http.client
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_bare import http_request
from mcp_bare.errors import Refused
from mcp_bare.http_request import MAX_HEAD
from tests.protocol.asking import examples

LIMIT = 100
HOST = b"Host: h\r\n"


def read(data: bytes, limit: int = LIMIT):
    told: list[bool] = []
    found = http_request.read(io.BytesIO(data), limit, lambda: told.append(True))
    return found, bool(told)


def post(*lines: bytes, body: bytes = b"") -> bytes:
    return b"\r\n".join([b"POST /mcp HTTP/1.1", b"Host: h", *lines, b"", b""]) + body


BODIES = [
    (post(), b""),
    (post(b"Content-Length: 2", body=b"{}"), b"{}"),
    (post(b"content-length: 2", b"Content-Length: 2", body=b"{}"), b"{}"),
    (post(b"Transfer-Encoding: chunked", body=b"2\r\n{}\r\n0\r\n\r\n"), b"{}"),
    (
        post(b"transfer-encoding: Chunked", body=b"1\r\n{\r\n01;x=y\r\n}\r\n0\r\nA: b\r\n\r\n"),
        b"{}",
    ),
    (post(b"Transfer-Encoding: chunked", body=b"A\r\n0123456789\r\n0\r\n\r\n"), b"0123456789"),
    (b"POST /mcp HTTP/1.1\nHost: h\nContent-Length: 2\n\n{}", b"{}"),  # typed by hand
    (b"\r\n" + post(b"Content-Length: 2", body=b"{}"), b"{}"),
]


@pytest.mark.parametrize(("data", "body"), BODIES)
def test_a_body_is_read(data, body):
    found, _ = read(data + b"GET / HTTP/1.1\r\n\r\n")
    assert (found.method, found.target, found.body) == ("POST", "/mcp", body)
    assert found.keeps_alive


REFUSED = [
    # a request line
    (b"hello\r\n\r\n", 400),
    (b"\r\n\r\n\r\n", 400),
    (b"POST /mcp\r\n\r\n", 400),
    (b"POST  /mcp HTTP/1.1\r\n\r\n", 400),
    (b"POST /m cp HTTP/1.1\r\n\r\n", 400),
    (b"POST /m\xc3\xa9 HTTP/1.1\r\n\r\n", 400),
    (b"P(ST /mcp HTTP/1.1\r\n\r\n", 400),
    (b"POST /mcp HTTP/2.0\r\n\r\n", 505),
    (b"POST /" + b"x" * MAX_HEAD + b" HTTP/1.1\r\n\r\n", 431),
    # headers
    (post(b"no colon"), 400),
    (post(b"Name : x"), 400),
    (post(b"N\xc3\xa9: x"), 400),
    (post(b": x"), 400),
    (post(b"A: b", b" folded"), 400),
    (post(b"A: b\rMcp-Method: tools/list"), 400),
    (post(b"A: b\0c"), 400),
    (post(b"A: " + b"x" * MAX_HEAD), 431),
    (post(*[b"A: b"] * 10_000), 431),
    # the length of a body
    (post(b"Content-Length: -1"), 400),
    (post(b"Content-Length: +2", body=b"{}"), 400),
    (post(b"Content-Length: 2, 2", body=b"{}"), 400),
    (post(b"Content-Length: 0x2", body=b"{}"), 400),
    (post(b"Content-Length:"), 400),
    (post(b"Content-Length: " + b"9" * 5000), 400),
    (post("Content-Length: ²".encode("latin-1"), body=b"{}"), 400),
    (post(b"Content-Length: 2", b"Content-Length: 3", body=b"{} "), 400),
    (post(b"Content-Length: 2", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"), 400),
    (b"POST /mcp HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    (post(b"Transfer-Encoding: gzip, chunked"), 501),
    (post(b"Transfer-Encoding: chunked, chunked"), 501),
    (post(b"Transfer-Encoding: identity"), 501),
    (post(b"Content-Length: 101"), 413),
    (post(b"Content-Length: 999999999999999"), 413),
    (post(b"Expect: a miracle", b"Content-Length: 2", body=b"{}"), 417),
    # chunks
    (post(b"Transfer-Encoding: chunked", body=b"x\r\n"), 400),
    (post(b"Transfer-Encoding: chunked", body=b"\r\n"), 400),
    (post(b"Transfer-Encoding: chunked", body=b"-1\r\n"), 400),
    (post(b"Transfer-Encoding: chunked", body=b"1\r\nab\r\n0\r\n\r\n"), 400),
    (post(b"Transfer-Encoding: chunked", body=b"fffffffff\r\n"), 400),
    (post(b"Transfer-Encoding: chunked", body=b"65\r\n" + b"x" * 101), 413),
    (post(b"Transfer-Encoding: chunked", body=b"a\r\n0123456789\r\n" * 11), 413),
    (post(b"Transfer-Encoding: chunked", body=b"1;" + b"x" * 5000), 431),
]


@pytest.mark.parametrize(("data", "status"), REFUSED, ids=lambda v: repr(v)[:60])
def test_what_cannot_be_read_is_refused_and_ends_the_connection(data, status):
    with pytest.raises(Refused) as caught:
        read(data)
    assert caught.value.status == status
    assert caught.value.headers["Connection"] == "close"
    assert b'"code":-32600' in caught.value.body and b'"id"' not in caught.value.body
    assert len(caught.value.body) < 400, "a refusal is not larger than what it refuses"


@pytest.mark.parametrize(
    "data",
    [
        post()[:-1],
        post()[:-2],
        b"POST",
        post(b"Content-Length: 5", body=b"{}"),
        post(b"Transfer-Encoding: chunked", body=b"5\r\n{}"),
        post(b"Transfer-Encoding: chunked", body=b"2\r\n{}\r\n0\r\nA: b"),
    ],
)
def test_half_a_request_is_none(data):
    with pytest.raises(EOFError):
        read(data)


def test_nothing_is_no_request():
    assert read(b"") == (None, False)


@pytest.mark.parametrize(
    ("expect", "body", "told"),
    [(b"100-continue", b"{}", True), (b"100-Continue", b"{}", True), (b"100-continue", b"", False)],
)
def test_a_client_that_waits_is_told_to_go_on(expect, body, told):
    found, was_told = read(post(b"Expect: " + expect, b"Content-Length: %d" % len(body), body=body))
    assert (found.body, was_told) == (body, told)


def test_a_client_that_waits_is_not_told_to_send_what_is_too_much():
    with pytest.raises(Refused) as caught:
        read(post(b"Expect: 100-continue", b"Content-Length: 101"))
    assert caught.value.status == 413


def test_headers():
    found, _ = read(post(b"A: 1", b"a:\t2 ", b"B: caf\xe9", b"Accept: X", b"accept: Y"))
    assert (found.all("A"), found.single("b")) == (["1", "2"], "café")
    assert (found.listed("Accept"), found.single("C"), found.all("C")) == ("x, y", None, [])
    with pytest.raises(Refused) as caught:
        found.single("a")
    assert (caught.value.status, "Connection" in caught.value.headers) == (400, False)


@pytest.mark.parametrize(
    ("data", "keeps"),
    [
        (post(), True),
        (post(b"Connection: keep-alive"), True),
        (post(b"Connection: Close"), False),
        (post(b"Connection: x, close"), False),
        (b"POST /mcp HTTP/1.0\r\n\r\n", False),
        (b"POST /mcp HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", False),
    ],
)
def test_when_a_connection_may_go_on(data, keeps):
    assert read(data)[0].keeps_alive == keeps


def test_where_the_standard_library_reads_two_requests_in_one():
    """Why the head is read here and not by http.server: a proxy would see one header, A."""
    smuggled = b"A: b\rMcp-Method: tools/list\r\n\r\n"
    theirs = http.client.parse_headers(io.BytesIO(smuggled))
    assert theirs["Mcp-Method"] == "tools/list"
    with pytest.raises(Refused):
        read(b"POST /mcp HTTP/1.1\r\n" + smuggled)


PIECES = st.sampled_from([
    b"POST /mcp HTTP/1.1", b"\r\n", b"\n", b"\r", b"Host: h", b"Content-Length: 2", b"{}", b": ",
    b"Transfer-Encoding: chunked", b"0\r\n\r\n", b"2\r\n", b"\0", b"\xff", b"GET / HTTP/1.0", b" ",
])  # fmt: skip


@examples(1000)
@given(st.lists(PIECES | st.binary(max_size=8), max_size=14).map(b"".join))
def test_any_bytes_are_a_request_a_refusal_or_half_of_one(data):
    stream = io.BytesIO(data)
    try:
        found = http_request.read(stream, LIMIT, lambda: None)
    except (Refused, EOFError):
        return
    assert found is None or len(found.body) <= LIMIT
