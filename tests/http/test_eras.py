"""Which era is this server of, over HTTP? What it says to a modern request, and where we land.

A naive client takes every 4xx for a sign of the era before; it falls back where it must not.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mcp_bare import era, revision
from mcp_bare.client import Client
from mcp_bare.errors import McpError, ProtocolViolation, RequestLost, RequestTimeout
from mcp_bare.http_client import HttpTransport
from mcp_bare.tape import SENT, Tape
from tests.http import lab
from tests.http.scripted import Scripted, as_json, error, event, response, stream
from workbench import node

OLD = revision.LEGACY[0]
SESSION = "Mcp-Session-Id"


def answer(message: Any, result: Any, **headers: str) -> bytes:
    return as_json({"jsonrpc": "2.0", "id": message["id"], "result": result}, **headers)


class Legacy:
    """A server of the era before: a session, a version header, and one way to refuse a stranger."""

    def __init__(self, refusal: Callable[[Any], Any], *, session: str | None = "s-1"):
        self.refusal, self.session = refusal, session
        self.deleted: list[str | None] = []

    def __call__(self, message: Any, request: Any) -> Any:
        if request.method == "DELETE":
            self.deleted.append(request.single(SESSION))
            return response("405 Method Not Allowed", Allow="POST")
        if message["method"] == "initialize":
            assert request.single("MCP-Protocol-Version") is None
            opened = {
                "protocolVersion": OLD,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "old", "version": "1"},
            }
            named = {} if self.session is None else {"Mcp_Session_Id": self.session}
            primed = b"id: 1\ndata:\n\n"  # for resuming, which is of that era
            whole = {"jsonrpc": "2.0", "id": message["id"], "result": opened}
            return stream(primed, event(whole), **named)
        if request.single("MCP-Protocol-Version") != OLD:
            return self.refusal(message)
        if request.single(SESSION) != self.session:
            return as_json(error(-32001, id=None), "404 Not Found")
        if "id" not in message:
            return response("202 Accepted")
        if message["method"] == "tools/list":
            return answer(message, {"tools": [{"name": "echo", "inputSchema": {}}]})
        return answer(message, {"content": [{"type": "text", "text": "hello"}]})


STRANGER = "Bad Request: Unsupported protocol version"
REFUSALS = [
    # how a legacy server refuses a modern request, and the evidence in words
    ("400 with an error of its own", lambda m: as_json(error(-32000, id=None), "400 Bad Request"),
     "-32000"),
    ("400 with its own id", lambda m: as_json(error(-32600, id="server-error"), "400 Bad Request"),
     "-32600"),
    ("400 and nothing", lambda m: response("400 Bad Request"), "HTTP status 400"),
    ("400 and a page", lambda m: response("400 Bad Request", b"<h1>no</h1>",
                                          Content_Type="text/html"), "HTTP status 400"),
    ("404", lambda m: response("404 Not Found", b"Cannot POST", Content_Type="text/html"),
     "HTTP status 404"),
    ("405", lambda m: response("405 Method Not Allowed"), "HTTP status 405"),
    ("406", lambda m: response("406 Not Acceptable"), "HTTP status 406"),
    ("200 and an unknown method", lambda m: as_json(error(-32601, id=m["id"])), "-32601"),
    ("404 and an unknown method", lambda m: as_json(error(-32601, id=m["id"]), "404 Not Found"),
     "-32601"),
    ("200 and something else", lambda m: answer(m, {}), "no DiscoverResult"),
    ("202", lambda m: response("202 Accepted"), "HTTP status 202"),
    ("a stream that ends", lambda m: stream(), "HTTP status 200"),
]  # fmt: skip


@pytest.mark.parametrize(("why", "refusal", "words"), REFUSALS, ids=[r[0] for r in REFUSALS])
@pytest.mark.parametrize("session", ["s-1", None])
def test_a_legacy_server_is_met_on_its_own_ground(why, refusal, words, session):
    legacy = Legacy(refusal, session=session)
    with Scripted(legacy) as server:
        client, verdict = era.connect(lambda: HttpTransport(server.url), timeout=10)
        with client:
            assert (verdict.era, client.version) == ("legacy", OLD)
            assert words in verdict.why
            assert [tool["name"] for tool in client.list_tools()] == ["echo"]
            assert lab.said(client.call_tool("echo", {"text": "x"})) == "hello"
        assert server.methods == [
            "server/discover",
            "initialize",
            "notifications/initialized",
            "tools/list",
            "tools/call",
        ]
        assert legacy.deleted == ([session] if session else [])
        late = [request for message, request in server.asked if message][2:]
        assert {request.single(SESSION) for request in late} == {session}
        assert {request.single("Mcp-Method") for request in late} == {None}


@pytest.mark.parametrize(
    ("refusal", "version"),
    [
        (lambda m: as_json({"jsonrpc": "2.0", "id": m["id"], "error": {
            "code": -32022, "message": "no", "data": {"supported": [revision.CURRENT]}}},
            "400 Bad Request"), revision.CURRENT),
        (lambda m: as_json(error(-32020, id=m["id"]), "400 Bad Request"), revision.CURRENT),
        (lambda m: as_json(error(-32021, id=None), "400 Bad Request"), revision.CURRENT),
        (lambda m: answer(m, {"resultType": "complete", "supportedVersions": [revision.CURRENT],
                              "capabilities": {}}), revision.CURRENT),
    ],
)  # fmt: skip
def test_a_modern_server_stays_modern(refusal, version):
    """A naive client falls back at any 400, and opens a session with a server that has none."""
    with Scripted(lambda m, _: refusal(m)) as server:
        client, verdict = era.connect(lambda: HttpTransport(server.url), timeout=10)
        client.close()
        assert (verdict.era, client.version) == ("modern", version)
        assert server.methods == ["server/discover"]


def test_no_version_in_common():
    data = {"supported": ["2099-01-01"], "requested": revision.CURRENT}
    body = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32022, "message": "no", "data": data}}
    with Scripted(lambda m, _: as_json(body, "400 Bad Request")) as server:
        with pytest.raises(ProtocolViolation, match="2099-01-01"):
            era.connect(lambda: HttpTransport(server.url))
        assert server.methods == ["server/discover"]


NO_EVIDENCE = [
    ("401 Unauthorized", 401),
    ("403 Forbidden", 403),
    ("407 Proxy Authentication Required", 407),
    ("429 Too Many Requests", 429),
    ("500 Internal Server Error", 500),
    ("502 Bad Gateway", 502),
    ("503 Service Unavailable", 503),
]


@pytest.mark.parametrize(("status", "code"), NO_EVIDENCE)
def test_what_says_nothing_about_the_era_is_an_error(status, code):
    with Scripted(lambda m, _: response(status)) as server:
        with pytest.raises(RequestLost) as caught:
            era.connect(lambda: HttpTransport(server.url))
        assert caught.value.status == code
        assert server.methods == ["server/discover"]


def test_a_server_that_is_not_there():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/mcp"
        with pytest.raises(RequestLost, match="refused"):
            era.connect(lambda: HttpTransport(url))


def test_silence_is_an_error_and_no_verdict():
    """A server of either era owes a POST a response; there is nothing here to fall back to."""
    with Scripted(lambda m, _: [lambda: server.hung_up.wait(lab.PATIENCE)]) as server:
        for patience in ({"timeout": 0.2}, {"timeout": lab.PATIENCE, "probe_timeout": 0.2}):
            tape = Tape()
            with pytest.raises(RequestTimeout, match=r"server/discover .* 0\.2 s"):
                era.connect(lambda: HttpTransport(server.url), tape=tape, **patience)
            sent = [entry.message["method"] for entry in tape if entry.direction == SENT]
            assert sent == ["server/discover"], "nor is it cancelled by a message"
        server.hung_up.set()


@pytest.mark.parametrize("modern", [True, False])
def test_a_slow_server_has_as_long_as_for_any_answer(monkeypatch, modern):
    """Over stdio this much silence is a verdict."""
    monkeypatch.setattr(era, "SILENT_S", 0.05)

    def script(message, request):
        if message and message["method"] == "server/discover":
            yield lambda: time.sleep(10 * era.SILENT_S)
        if modern:
            found = {"supportedVersions": [revision.CURRENT], "capabilities": {}}
            yield answer(message, {"resultType": "complete", **found})
        else:
            said = Legacy(lambda m: response("400 Bad Request"), session=None)(message, request)
            yield from [said] if isinstance(said, bytes) else said

    with Scripted(script) as server:
        client, verdict = era.connect(lambda: HttpTransport(server.url), timeout=lab.PATIENCE)
        client.close()
        assert verdict.era == ("modern" if modern else "legacy")
        assert (server.methods[1:2] == ["initialize"]) is not modern


def test_a_session_that_is_over():
    legacy = Legacy(lambda m: response("400 Bad Request"))
    with Scripted(legacy) as server:
        client, _ = era.connect(lambda: HttpTransport(server.url))
        with client:
            legacy.session = "s-2"
            with pytest.raises(McpError, match="-32001"):
                client.list_tools()


def test_a_legacy_request_is_cancelled_by_a_message():
    """A closed stream means nothing in that era; the message does, and then the stream goes too."""

    class Slow(Legacy):
        def __call__(self, message: Any, request: Any) -> Any:
            if message and message["method"] == "tools/call":
                return [*list(stream(b": wait\n\n"))[:-1], lambda: server.hung_up.wait(5)]
            return super().__call__(message, request)

    with Scripted(Slow(lambda m: response("400 Bad Request"))) as server:
        client, _ = era.connect(lambda: HttpTransport(server.url))
        with client:
            pending = client.start("tools/call", {"name": "echo"})
            assert lab.eventually(lambda: server.methods[-1] == "tools/call")
            pending.cancel("enough")
            assert server.methods[-1] == "notifications/cancelled"
            assert lab.eventually(lambda: not client.exchange.transport._link._running)
            server.hung_up.set()


# --- the real thing ---


@contextlib.contextmanager
def reference_server() -> Iterator[str]:
    """server-everything over HTTP: the TypeScript SDK of the era before. Gives its address."""
    script = node.ensure() / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [node.find().node, str(script), "streamableHttp"]
    process = subprocess.Popen(
        command,
        env={**node.env(), "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stderr
    try:
        with process.stderr:
            while b"listening on port" not in process.stderr.readline():
                assert process.poll() is None
            yield f"http://127.0.0.1:{port}/mcp"
            os.killpg(process.pid, signal.SIGTERM)
            process.stderr.read()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_the_reference_server_of_the_era_before(node_parts):
    asked: list[Any] = []
    progress: list[Any] = []

    def person(params: Any) -> Any:
        asked.append(params["message"])
        return {"action": "decline"}

    with reference_server() as url:
        client, verdict = era.connect(
            lambda: HttpTransport(url),
            handlers={"elicitation/create": person},
            timeout=lab.PATIENCE,
            probe_timeout=lab.PATIENCE,
        )
        with client:
            assert (verdict.era, client.version) == ("legacy", OLD)
            assert "echo" in [tool["name"] for tool in client.list_tools()]
            assert lab.said(client.call_tool("echo", {"message": "hé"})) == "Echo: hé"
            client.call_tool("trigger-long-running-operation", {"duration": 0.2, "steps": 2},
                             on_progress=progress.append)  # fmt: skip
            declined = client.call_tool("trigger-elicitation-request")
            assert "declined" in lab.said(declined)
    assert len(progress) == 2 and len(asked) == 1


def test_a_naive_client_falls_back_from_a_modern_server():
    """Any 400 means legacy, one hears; then the modern server is asked to initialize."""

    def naive(client: Client) -> str:
        try:
            client.discover()
        except McpError:
            return "legacy"
        return "modern"

    with Scripted(lambda m, _: as_json(error(-32020, id=m["id"]), "400 Bad Request")) as server:
        with Client(HttpTransport(server.url)) as client:
            assert naive(client) == "legacy"
        client, verdict = era.connect(lambda: HttpTransport(server.url))
        client.close()
        assert verdict.era == "modern"
