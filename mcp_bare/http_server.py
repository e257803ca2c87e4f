"""A server at an address: many connections, one request after the other on each.

    with HttpServer(server, port=8000) as http:
        print(http.url)                          # http://127.0.0.1:8000/mcp
        ...

It serves from the moment it is made, and until `stop`, the end of the `with`, or until nobody holds
it any more. Made again on the same port, as by a notebook cell that runs twice, it takes over.

A request whose first message is its response gets JSON; one that has something to say before, or
takes long, gets a stream. When the client closes the connection, the request is cancelled.

Does not handle: TLS (a proxy before it does), and clients of the `initialize` era.

Spec: basic/transports/streamable-http.
"""

from __future__ import annotations

import contextlib
import time
import weakref
from typing import TYPE_CHECKING

from mcp_bare.addresses import is_loopback
from mcp_bare.http_listener import Limits, Listener
from mcp_bare.http_rules import Rules

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from mcp_bare.http_rules import Guard
    from mcp_bare.server import Server

_RUNNING: weakref.WeakValueDictionary[tuple[str, int], Listener] = weakref.WeakValueDictionary()
"""The listeners on a port that somebody chose: the next one there stops the one before."""


class HttpServer:
    """`server` at http://host:port/path; port 0 is any free one, and `url` says which.

    `guard` decides who may send what (`mcp_bare.auth.guard`). `allowed_hosts` are names that this
    server goes by, with a port or without: "mcp.example.com"; on loopback, localhost and its like
    need not be said, on any other address nothing goes without saying. `allowed_origins` are sites
    whose pages may call: "https://app.example.com". `limits` bound sizes and times. Raises OSError
    where the port is taken by another process.
    """

    def __init__(
        self,
        server: Server,
        host: str = "127.0.0.1",
        port: int = 0,
        path: str = "/mcp",
        guard: Guard | None = None,
        *,
        allowed_hosts: Collection[str] = (),
        allowed_origins: Collection[str] = (),
        limits: Limits | None = None,
    ):
        hosts = frozenset(name.lower() for name in (*allowed_hosts, host))
        origins = frozenset(site.lower().rstrip("/") for site in allowed_origins)
        rules = Rules(path, is_loopback(host), hosts, origins, guard)
        before = _RUNNING.get((host, port)) if port else None
        if before is not None:
            before.stop()
        self._listener = Listener(server, (host, port), rules, limits or Limits())
        self._listener.start()
        self._finalizer = weakref.finalize(self, self._listener.stop)
        self.host, self.path = host, path
        self.port: int = self._listener.address[1]
        _RUNNING[host, self.port] = self._listener

    @property
    def url(self) -> str:
        """The endpoint's address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}{self.path}"

    def stop(self) -> None:
        """Close subscriptions, let requests in flight finish for a moment, close everything."""
        self._finalizer()

    def __enter__(self) -> HttpServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def serve(server: Server, host: str = "127.0.0.1", port: int = 8000, **options: Any) -> None:
    """Serve until interrupted; says on stderr where. The options are those of HttpServer."""
    import sys

    with HttpServer(server, host, port, **options) as http:
        print(f"serving MCP at {http.url}; Ctrl-C ends it", file=sys.stderr, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                time.sleep(3600)
