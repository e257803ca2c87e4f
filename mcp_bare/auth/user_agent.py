"""Who carries the authorization URL to the person, and brings back where the browser ended.

    with loopback_redirect() as agent:                   # a real browser
        authorizer = Authorizer(server, agent, ClientMetadata(agent.redirect_uri))

    here = ClientMetadata("http://127.0.0.1/callback")   # no browser
    authorizer = Authorizer(server, follow, here)

`follow` works with an authorization server that asks nobody anything: a toy, a test.

Spec: security-considerations ("Communication Security", "Open Redirection"); RFC 8252, section 7.3.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from mcp_bare.auth import fetch as fetching
from mcp_bare.auth.errors import AuthorizationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcp_bare.auth.fetch import Fetch

PATH = "/callback"
_PAGE = b"<!doctype html><title>Done</title><p>You may close this window.\n"
_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}


def follow(url: str, fetch: Fetch = fetching.fetch) -> str:
    """Where an authorization server that asks nobody sends the browser: the redirect's URL."""
    status, headers, _ = fetch("GET", url, {"Accept": "text/html"}, None)
    if "location" not in headers:
        raise AuthorizationFailed(
            f"{fetching.without_query(url)} answered {status} and no redirect: it wants a person"
        )
    return headers["location"]


class LoopbackRedirect:
    """Opens a browser, and waits on 127.0.0.1 for it to come back. `redirect_uri` is where."""

    def __init__(self, server: _Listener, show: Callable[[str], object], timeout_s: float):
        self.redirect_uri = f"http://127.0.0.1:{server.server_port}{PATH}"
        self._server, self._show, self._timeout = server, show, timeout_s

    def __call__(self, url: str) -> str:
        """The URL of the answer to this very request. Raises AuthorizationFailed after a while."""
        (self._server.state,) = parse_qs(urlsplit(url).query)["state"]
        self._show(url)
        try:
            path = self._server.arrived.get(timeout=self._timeout)
        except queue.Empty:
            raise AuthorizationFailed(f"nobody came back within {self._timeout:g} s") from None
        finally:
            self._server.state = None
        return self.redirect_uri.removesuffix(PATH) + path


@contextlib.contextmanager
def loopback_redirect(
    show: Callable[[str], object] = webbrowser.open, timeout_s: float = 300.0, port: int = 0
) -> Iterator[LoopbackRedirect]:
    """A redirect listener for as long as the block lasts; `show(url)` opens the browser."""
    server = _Listener(("127.0.0.1", port), _Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield LoopbackRedirect(server, show, timeout_s)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Listener(ThreadingHTTPServer):
    """Takes one answer to the request that is under way, and nothing from anybody else."""

    daemon_threads = False
    state: str | None = None

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]):
        self.arrived: queue.Queue[str] = queue.Queue()
        super().__init__(address, handler)

    def take(self, path: str) -> bool:
        """Is this the answer that somebody waits for? Then hand it over, once."""
        parts = urlsplit(path)
        if parts.path != PATH or parse_qs(parts.query).get("state") != [self.state]:
            return False  # a page that guesses our port cannot end the wait
        self.state = None
        self.arrived.put(path)
        return True


class _Handler(BaseHTTPRequestHandler):
    server: _Listener
    timeout = 2.0  # browsers open connections that they never use

    def do_GET(self) -> None:
        taken = self.server.take(self.path)
        page = _PAGE if taken else b"Nobody waits for this.\n"
        self.send_response(200 if taken else 404)
        for name, value in {**_HEADERS, "Content-Length": str(len(page))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the request line holds the code."""
