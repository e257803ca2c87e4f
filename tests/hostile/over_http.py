"""Both ends of Streamable HTTP, over real sockets."""

import contextlib
import json
import socket
import subprocess
import sys
import time

from hypothesis import given
from hypothesis import strategies as st

from mcp_bare.auth.tokens import encode, sign
from mcp_bare.client import Client
from mcp_bare.errors import McpError, RequestLost
from mcp_bare.streamable_http import HttpTransport
from tests.hostile.bounds import check_answer, memory, what_was_sent, within
from tests.hostile.material import (
    GOOD,
    HEADERS,
    IN_BYTES,
    IN_JSON,
    MESSAGES,
    SAID,
    changed,
    events,
    spoiled,
    with_id,
)
from tests.hostile.over_stdio import GROWTH_MB, PEERS, VERBS
from tests.hostile.peers import servers
from tests.http import lab
from tests.http.scripted import Scripted, as_json, result
from tests.protocol.asking import examples
from tests.wire.helpers import PATIENCE, environment

STATUSES = (200, 202, 400, 401, 403, 404, 405, 406, 413, 415, 417, 431, 501, 505)


@contextlib.contextmanager
def attacked():
    """(the process, the port that is open to all, the guarded one)"""
    command = [sys.executable, str(PEERS / "servers.py"), "http"]
    pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
    with subprocess.Popen(command, **pipes, stderr=subprocess.DEVNULL, env=environment()) as server:
        try:
            free, guarded = map(int, server.stdout.readline().split())
            yield server, free, guarded
        finally:
            server.stdin.close()
            server.wait(PATIENCE)


def answers(port, data):
    """Everything that comes back for these bytes, after which nothing more was sent."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as wire:
        with contextlib.suppress(ConnectionError):  # it answered, and hung up, before it had all
            wire.sendall(data)
            wire.shutdown(socket.SHUT_WR)
        came = b""
        with contextlib.suppress(ConnectionError):
            while chunk := wire.recv(65536):
                came += chunk
    return came


def check_first(came, body):
    """The first response is whole, with a status of ours, and a clean error or an answer in it."""
    if not came:
        return
    head, _, rest = came.partition(b"\r\n\r\n")
    while head.startswith(b"HTTP/1.1 100"):
        head, _, rest = rest.partition(b"\r\n\r\n")
    line, *rows = head.decode("latin-1").split("\r\n")
    fields = dict(row.lower().split(": ", 1) for row in rows)
    status = int(line.split(" ")[1])
    assert line.startswith("HTTP/1.1 ") and status in STATUSES, line
    assert b"Traceback" not in came
    assert all(row.isprintable() for row in rows)
    if body is not None and fields.get("content-type") == "application/json":
        kind, id = what_was_sent(body)
        message = json.loads(rest[: int(fields["content-length"])])
        check_answer(message)
        assert message.get("id") is None or message["id"] == id, "the id of another"
        assert kind in ("request", "nothing", "answer") or status >= 400


def works(port):
    with lab.Wire(port) as wire:
        reply = wire.post(lab.call("echo", text="still here"))
        return lab.said(reply.json["result"]) == "still here"


CHUNKS = st.lists(
    st.sampled_from([b"5\r\n", b"0\r\n", b"\r\n", b"hello", b"ffffffff\r\n", b"-1\r\n",
                     b"5;a=b\r\n",
                     b"5\n", b"0x5\r\n", b" 5\r\n", b"5 \r\n", b"\n", b"00000000005\r\n",
                     b"5" * 2000,
                     b"Trailer: x\r\n", b"{", b"g\r\n"]),
    max_size=8,
).map(b"".join)  # fmt: skip
HEAD = lab.written(GOOD[2]).partition(b"\r\n\r\n")[0]
CHUNKED = HEAD.replace(b"Content-Length", b"X-Length") + b"\r\nTransfer-Encoding: chunked\r\n\r\n"
BODIES = MESSAGES.map(lambda body: (lab.written(GOOD[2]).partition(b"\r\n\r\n")[0], body)).map(
    lambda parts: (with_length(*parts), parts[1])
)


def with_length(head, body):
    lines = [line for line in head.split(b"\r\n") if not line.startswith(b"Content-Length")]
    return b"\r\n".join([*lines, b"Content-Length: %d" % len(body), b"", b""]) + body


REQUESTS = st.one_of(
    BODIES,
    st.builds(
        lambda message, headers: (_written(message, headers), None), st.sampled_from(GOOD), HEADERS
    ),
    st.builds(
        lambda message, mutations: (_spoiled(lab.written(message), mutations), None),
        st.sampled_from(GOOD),
        st.lists(IN_BYTES, min_size=1, max_size=3),
    ),
    CHUNKS.map(lambda chunks: (CHUNKED + chunks, None)),
    st.binary(max_size=60).map(lambda data: (data, None)),
)


def _written(message, headers):
    """Latin-1, with whatever a header must not have in it."""
    named = {name: value for name, value in headers.items() if name or value}
    return lab.written(message, named)


def _spoiled(data, mutations):
    for mutation in mutations:
        data = spoiled(data, mutation)
    return data


def http_server(count=1700):
    thrown, base = [0], []
    with attacked() as (server, free, _):

        @examples(count)
        @given(REQUESTS)
        def throw(request):
            data, body = request
            thrown[0] += 1
            check_first(answers(free, data), body)
            if thrown[0] % 5 == 0:
                assert works(free)
            base.append(memory(server.pid)) if len(base) < count // 3 else None

        throw()
        assert works(free)
        assert memory(server.pid) - base[-1] < GROWTH_MB
    return thrown[0]


NOW = int(time.time())
CLAIMS = {"iss": servers.ISSUER, "aud": servers.RESOURCE, "sub": "ana", "scope": "it:read",
          "exp": NOW + 100_000, "nbf": NOW - 5, "jti": "1"}  # fmt: skip
GOOD_TOKEN = sign(CLAIMS, servers.KEY, "k1")


def signed(mutations):
    """Any claims at all, rightly signed: the ladder must stand on its own."""
    claims = CLAIMS
    for mutation in mutations:
        claims = changed(claims, mutation)
    return sign(claims if isinstance(claims, dict) else {"claims": claims}, servers.KEY, "k1")


def other_head(mutations):
    head = {"alg": "HS256", "kid": "k1", "typ": "at+jwt"}
    for mutation in mutations:
        head = changed(head, mutation)
    return encode(json.dumps(head).encode()) + GOOD_TOKEN[GOOD_TOKEN.index(".") :]


MUTATIONS = st.lists(IN_JSON, min_size=1, max_size=3)
TOKENS = st.one_of(
    MUTATIONS.map(signed),
    MUTATIONS.map(other_head),
    st.lists(IN_BYTES, min_size=1, max_size=2).map(
        lambda mutations: _spoiled(GOOD_TOKEN.encode(), mutations).decode("latin-1")
    ),
    st.text(max_size=20),
)
SCHEMES = st.sampled_from(["Bearer ", "bearer  ", "Bearer", "Basic ", "Bearer a,", "", "DPoP "])


def http_guard(count=600):
    """Who comes without a good token is refused, in the words of RFC 6750, and nobody gets in."""
    thrown = [0]
    message = lab.call("who")
    with attacked() as (_, _, guarded):

        @examples(count)
        @given(SCHEMES, TOKENS)
        def throw(scheme, token):
            value = (scheme + token).encode("utf-8", "replace").decode("latin-1")
            thrown[0] += 1
            data = lab.written(message, {"Authorization": value, "Connection": "close"})
            came = answers(guarded, data)
            check_first(came, None)
            status = came.split(b" ")[1]
            assert status in (b"200", b"400", b"401", b"403", b"431"), came[:100]
            if status == b"200":
                assert b'"text":"ana"' in came or token != GOOD_TOKEN
            if status in (b"401", b"403"):
                assert b"\r\nWWW-Authenticate: Bearer " in came

        throw()
        good = lab.written(message, {"Authorization": f"Bearer {GOOD_TOKEN}"})
        assert b'"text":"ana"' in answers(guarded, good)
    return thrown[0]


# --- the client ---

RIGHT = {"Content-Type": "application/json"}
STREAM = {"Content-Type": "text/event-stream"}
STATUS_LINES = st.sampled_from(
    [b"HTTP/1.1 200 OK"] * 6
    + [b"HTTP/1.1 202 Accepted", b"HTTP/1.1 204 None", b"HTTP/1.1 301 Moved", b"HTTP/1.1 400 Bad",
       b"HTTP/1.1 401 No", b"HTTP/1.1 403 No", b"HTTP/1.1 404 None", b"HTTP/1.1 500 Oh",
       b"HTTP/1.0 200 OK",
       b"HTTP/1.1 999 X", b"HTTP/1.1 100 Go", b"HTTP/1.1 abc", b"HTTP/9.9 200 OK", b"ICY 200 OK",
       b"",
       b"HTTP/1.1 200", b"HTTP/1.1 " + b"2" * 5000, b"HTTP/1.1 101 Switch"]
)  # fmt: skip
FRAMINGS = st.sampled_from(["length", "length", "chunked", "close", "short", "long", "cut chunk",
                            "bad chunk",
                            "two lengths", "both"])  # fmt: skip
RESPONSES = st.tuples(
    STATUS_LINES,
    st.dictionaries(
        st.sampled_from(["Content-Type", "Mcp-Session-Id", "WWW-Authenticate", "Location",
                         "Content-Encoding",
                         "Set-Cookie", "X" * 70_000, "Connection"]),
        st.sampled_from(["application/json", "text/event-stream", "text/html", "gzip", "",
                         "Bearer \x7f", "é",
                         'Bearer scope="', "Bearer " * 3000, "a\r\n b", "http://127.0.0.1:1/",
                         "close"]),
        max_size=2,
    ),
    st.one_of(
        SAID.map(lambda body: (RIGHT, [body])),
        events(SAID).map(lambda pieces: (STREAM, pieces)),
        events(SAID).map(lambda pieces: (STREAM, pieces)),
        st.binary(max_size=40).map(lambda body: (RIGHT, [body])),
    ),
    FRAMINGS,
)  # fmt: skip


def as_bytes(response, id):
    """A response, framed rightly or not."""
    line, more, (kind, pieces), framing = response
    pieces = [with_id(piece, id) for piece in pieces]
    body = b"".join(pieces)
    rows = [f"{name}: {value}" for name, value in {**kind, **more}.items()]
    lengths = {"length": [len(body)], "short": [len(body) + 9], "long": [max(len(body) - 3, 0)],
               "two lengths": [1, len(body)], "both": [3]}  # fmt: skip
    rows += [f"Content-Length: {length}" for length in lengths.get(framing, [])]
    if "chunk" in framing or framing == "both":
        rows.append("Transfer-Encoding: chunked")
        body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces if piece)
        body = {"cut chunk": body[:-4], "bad chunk": b"zz\r\n" + body}.get(
            framing, body + b"0\r\n\r\n"
        )
    return line + b"\r\n" + "\r\n".join([*rows, "", ""]).encode("latin-1") + body


def once_more(client):
    """A good call. A server that hangs up without a word may take one request along."""
    try:
        return client.request("tools/call", {"name": "echo", "arguments": {}})
    except RequestLost:
        return client.request("tools/call", {"name": "echo", "arguments": {}})


def http_client(count=1000):
    thrown, base = [0], []
    waiting = []

    def script(message, request):
        if not waiting:
            return as_json(result(message, "sound"), Connection="close")
        id = message.get("id") if message else None
        return [as_bytes(waiting[0], id), None]

    with Scripted(script) as server, Client(HttpTransport(server.url), timeout=PATIENCE) as client:

        @examples(count)
        @given(RESPONSES, st.sampled_from(VERBS))
        def throw(response, verb):
            thrown[0] += 1
            waiting[:] = [response]
            began = time.monotonic()
            with contextlib.suppress(McpError), within(10):
                verb(client)
            assert time.monotonic() - began < PATIENCE, "a hang"
            waiting.clear()
            assert lab.said(once_more(client)) == "sound"
            assert client.exchange.in_flight == 0
            base.append(memory()) if len(base) < count // 3 else None

        throw()
        assert memory() - base[-1] < GROWTH_MB
    return thrown[0]
