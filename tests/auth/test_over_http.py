"""The same over real sockets on loopback: the toy, the fetch with its bounds, the browser's way."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from mcp_bare import jsonrpc
from mcp_bare.auth.authorizer import Authorizer
from mcp_bare.auth.errors import AuthorizationFailed, FetchFailed
from mcp_bare.auth.fetch import fetch
from mcp_bare.auth.guard import Guard, per_tool
from mcp_bare.auth.registration import ClientMetadata
from mcp_bare.auth.user_agent import follow, loopback_redirect
from tests.auth.web import SCOPES, Caller, McpServer
from toy_servers import authorization_server

ROOT = Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def listening(answer):
    """An HTTP server on loopback: answer(handler) writes the response. Gives its origin."""

    class Handler(BaseHTTPRequestHandler):
        timeout = 3.0

        def do_GET(self):
            answer(self)

        do_POST = do_GET

        def log_message(self, format, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def replying(status, headers, body):
    def answer(handler):
        handler.send_response(status)
        for name, value in headers:
            handler.send_header(name, value)
        handler.end_headers()
        with contextlib.suppress(OSError):
            handler.wfile.write(body)

    return answer


@contextlib.contextmanager
def guarded(toy):
    """An MCP server on loopback whose guard trusts the toy. Gives (url, McpServer)."""
    mcp = McpServer(None)

    def answer(handler):
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        status, headers, sent = mcp.answer(
            handler.command, f"http://h{handler.path}", dict(handler.headers.items()), body
        )
        replying(status, headers.items(), sent)(handler)

    with listening(answer) as origin:
        mcp.guard = Guard(
            f"{origin}/mcp", [toy.issuer], toy.verify, per_tool(SCOPES),
            scopes_supported=["it:read", "it:write"],
        )  # fmt: skip
        yield f"{origin}/mcp", mcp


# --- the whole flow ---


@pytest.mark.parametrize("path", ["", "/tenant1"])
@pytest.mark.parametrize("quirk", [(), "openid-only"])
def test_from_a_refusal_to_a_step_up(path, quirk):
    with authorization_server.serve(path=path, misbehave=quirk) as toy, guarded(toy) as (url, mcp):
        authorizer = Authorizer(url, follow, ClientMetadata("http://127.0.0.1:7777/callback"))
        client = Caller(authorizer, fetch, url)
        assert client.call("read_it") == ("ana", "read_it")
        assert client.call("write_it") == ("ana", "write_it")
        assert mcp.served == [("ana", "read_it"), ("ana", "write_it")]
        assert toy.seen.count(("GET", f"{path}/authorize")) == 2


def test_a_document_on_this_machine_is_a_client_id():

    def answer(handler):
        replying(200, [], jsonrpc.dumps(client.document()))(handler)

    with (
        listening(answer) as origin,
        authorization_server.serve(registers=False) as toy,
        guarded(toy) as (server, _),
    ):
        client = ClientMetadata("http://127.0.0.1:7777/callback", "Mine", f"{origin}/client.json")
        authorizer = Authorizer(server, follow, client)
        assert Caller(authorizer, fetch, server).call() == ("ana", "read_it")
        assert ("POST", "/register") not in toy.seen


def browser(url):
    """What a browser does: it follows the redirect, whatever its origin."""

    def go():
        location = follow(url)
        fetch("GET", location, {})

    thread = threading.Thread(target=go)
    thread.start()


def test_a_browser_comes_back_to_a_loopback_redirect():
    with (
        authorization_server.serve() as toy,
        guarded(toy) as (url, _),
        loopback_redirect(browser, timeout_s=10) as agent,
    ):
        client = Caller(Authorizer(url, agent, ClientMetadata(agent.redirect_uri)), fetch, url)
        assert client.call("read_it") == ("ana", "read_it")
        assert client.call("write_it") == ("ana", "write_it")


def test_a_page_that_guesses_the_port_ends_nothing():
    def strangers(url):
        right = f"/elsewhere?{urlsplit(url).query}"
        for path in ("/callback?code=x&state=y", "/callback?code=x", "/", "/callback", right):
            status, headers, body = fetch("GET", f"{origin}{path}", {})
            assert (status, body) == (404, b"Nobody waits for this.\n")
            assert headers["cache-control"] == "no-store"
        browser(url)

    with authorization_server.serve() as toy, loopback_redirect(strangers, timeout_s=10) as agent:
        origin = agent.redirect_uri.removesuffix("/callback")
        with guarded(toy) as (url, _):
            client = Caller(Authorizer(url, agent, ClientMetadata(agent.redirect_uri)), fetch, url)
            assert client.call() == ("ana", "read_it")
        status, _, _ = fetch("GET", f"{origin}/callback?code=x&state=y", {})
        assert status == 404


def test_nobody_comes_back():
    with loopback_redirect(lambda url: None, timeout_s=0.2) as agent:
        began = time.monotonic()
        with pytest.raises(AuthorizationFailed, match=r"nobody came back within 0\.2 s"):
            agent("https://as/authorize?state=x")
        assert time.monotonic() - began < 5


def test_the_port_is_free_afterwards():
    with loopback_redirect() as agent:
        port = int(agent.redirect_uri.rpartition(":")[2].partition("/")[0])
    with loopback_redirect(port=port) as agent:
        assert f":{port}/" in agent.redirect_uri


def test_a_server_that_wants_a_person():
    with authorization_server.serve(user=None) as toy, guarded(toy) as (url, _):
        client = Caller(
            Authorizer(url, follow, ClientMetadata("http://127.0.0.1:1/cb")), fetch, url
        )
        with pytest.raises(AuthorizationFailed, match="wants a person") as caught:
            client.call()
        assert "state=" not in str(caught.value)


def test_the_toy_runs_as_a_script():
    command = [sys.executable, str(ROOT / "toy_servers/authorization_server.py"), "no-iss"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as ran:
        issuer = ran.stdout.readline().strip()
        status, _, body = fetch("GET", f"{issuer}/.well-known/oauth-authorization-server", {})
        ran.stdin.close()
        assert ran.wait(10) == 0
    assert (status, f'"issuer": "{issuer}"'.encode() in body) == (200, True)


# --- one careful request ---


def test_several_headers_of_one_name_are_one_list():
    headers = [("WWW-Authenticate", "Basic realm=x"), ("WWW-Authenticate", "Bearer")]
    with listening(replying(401, headers, b"no")) as origin:
        status, found, body = fetch("GET", origin, {})
    assert (status, found["www-authenticate"], body) == (401, "Basic realm=x, Bearer", b"no")


@pytest.mark.parametrize("with_length", [True, False])
def test_a_body_has_a_bound(with_length):
    body = b"x" * 5_000
    headers = [("Content-Length", "5000")] if with_length else []
    with listening(replying(200, headers, body)) as origin:
        assert fetch("GET", origin, {}, limit=5_000)[2] == body
        with pytest.raises(FetchFailed, match="more than 4999 bytes"):
            fetch("GET", origin, {}, limit=4_999)


def drip(handler):
    """A byte now and then: never silent, never done."""
    with contextlib.suppress(OSError):
        handler.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n")
        for _ in range(100):
            handler.wfile.write(b"x")
            time.sleep(0.05)


def drip_headers(handler):
    with contextlib.suppress(OSError):
        handler.wfile.write(b"HTTP/1.0 200 OK\r\n")
        for n in range(100):
            handler.wfile.write(b"X-%d: y\r\n" % n)
            time.sleep(0.05)


def silence(handler):
    time.sleep(0.8)


@pytest.mark.parametrize("answer", [drip, drip_headers, silence])
def test_an_answer_has_a_time(answer):
    with listening(answer) as origin:
        began = time.monotonic()
        with pytest.raises(FetchFailed):
            fetch("GET", f"{origin}/x?secret=1", {}, timeout_s=0.3)
        assert time.monotonic() - began < 3


@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"\r\n",
        b"hello\r\n\r\n",
        b"HTTP/9.9 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"a" * 99_999,
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf",
    ],
    ids=lambda garbage: ascii(garbage[:40]),
)
def test_garbage_is_our_error(garbage):
    def answer(handler):
        with contextlib.suppress(OSError):
            handler.wfile.write(garbage)

    with listening(answer) as origin, pytest.raises(FetchFailed) as caught:
        fetch("GET", f"{origin}/x?secret=1", {})
    assert "secret" not in str(caught.value)


def test_nobody_listens():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        with pytest.raises(FetchFailed, match="ConnectionRefusedError"):
            fetch("GET", f"http://127.0.0.1:{held.getsockname()[1]}/x", {})


@pytest.mark.parametrize(
    "url", ["http://example.com/", "ftp://127.0.0.1/", "file:///etc/passwd", "x", "", "https://u@h/",
            "http://127.0.0.1:1/\r\nX: y", "http://[::1"],
)  # fmt: skip
def test_a_url_that_must_not_be_asked(url):
    with pytest.raises(FetchFailed):
        fetch("GET", url, {})


def test_a_redirect_is_followed_on_the_same_origin_only(monkeypatch):
    seen = []

    def answer(handler):
        seen.append((handler.command, handler.path))
        target = {"/a": "/b", "/b": f"{elsewhere}/c", "/loop": "/loop"}.get(handler.path)
        replying(302 if target else 200, [("Location", target)] if target else [], b"")(handler)

    with listening(replying(200, [], b"elsewhere")) as elsewhere, listening(answer) as origin:
        status, headers, _ = fetch("GET", f"{origin}/a", {"Authorization": "Bearer x"})
        assert (status, headers["location"]) == (302, f"{elsewhere}/c")
        assert seen == [("GET", "/a"), ("GET", "/b")]
        assert fetch("POST", f"{origin}/a", {}, b"secret")[0] == 302
        assert seen[2:] == [("POST", "/a")]
        assert fetch("GET", f"{origin}/loop", {})[0] == 302
        assert len(seen) == 3 + 4


def test_a_query_without_a_path():
    def answer(handler):
        replying(200, [], handler.path.encode())(handler)

    with listening(answer) as origin:
        assert [fetch("GET", origin + rest, {})[2] for rest in ("", "?a=1", "/b?a=1")] == [
            *(b"/", b"/?a=1", b"/b?a=1")
        ]


def test_no_proxy_is_asked(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with listening(replying(200, [], b"here")) as origin:
        assert fetch("GET", origin, {})[2] == b"here"


def test_a_large_form_is_refused_by_the_toy():
    with authorization_server.serve() as toy:
        with contextlib.suppress(FetchFailed):
            assert fetch("POST", f"{toy.issuer}/token", {}, b"x" * 100_000)[0] == 413
        for odd in ("-1", "x", "1e9"):
            assert fetch("POST", f"{toy.issuer}/token", {"Content-Length": odd}, b"")[0] == 413
        assert fetch("GET", f"{toy.issuer}/jwks", {})[0] == 200
