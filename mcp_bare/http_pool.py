"""The address of an endpoint, and the connections to it that carry one request after the other.

A connection that has carried a request is kept for the next one, but not for long: a server closes
an idle one when it likes, and not every POST that meets that end may be sent again (`http_again`).
One whose end has arrived is never used. No proxy is used, whatever the environment says, so that a
loopback address is one.

Does not handle: what goes over them (`http_post`); an end that is still on its way.
"""

from __future__ import annotations

import select
import threading
import time
from http.client import HTTPConnection, HTTPSConnection
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import socket

KEPT_S = 4.0  # idle: the servers of Node and of uvicorn close after five seconds


class Address:
    """Where the endpoint is. Raises ValueError for what is no http or https URL."""

    def __init__(self, url: str, timeout: float):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise ValueError(f"{url!r} is no endpoint; http://host:port/path is due")
        if not (url.isascii() and url.isprintable()) or " " in url:
            raise ValueError(f"{url!r} has characters that a URL has not")
        self.url, self.timeout = url, timeout
        self.target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._place = (parts.hostname, parts.port)

    def connect(self) -> HTTPConnection:
        """A fresh connection. Raises OSError."""
        connection = self._kind(*self._place, timeout=self.timeout)
        connection.connect()
        return connection


class Pool:
    """The idle connections to one address; safe to use from several threads."""

    def __init__(self, address: Address):
        self.address = address
        self._idle: list[tuple[float, HTTPConnection]] = []
        self._lock, self._closed = threading.Lock(), False

    def take(self) -> HTTPConnection | None:
        """One that idles and, as far as can be seen from here, is still there; or None."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                since, connection = self._idle.pop()
            if time.monotonic() - since < KEPT_S and _is_quiet(connection.sock):
                connection.sock.settimeout(self.address.timeout)
                return connection
            connection.close()

    def give_back(self, connection: HTTPConnection) -> None:
        """Its response was read whole."""
        now = time.monotonic()
        with self._lock:
            kept = [] if self._closed else [*self._idle, (now, connection)]
            self._idle = [(since, c) for since, c in kept if now - since < KEPT_S]
            stale = {c for _, c in kept} - {c for _, c in self._idle}
        for old in stale | ({connection} if not kept else set()):
            old.close()

    def close(self) -> None:
        """Close what idles; what is given back from now on is closed."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()


def _is_quiet(sock: socket.socket) -> bool:
    """Has nothing come on an idle connection? Neither its end, nor an answer that nobody asked."""
    if not hasattr(select, "poll"):  # Windows
        return not select.select([sock], [], [], 0)[0]
    waiting = select.poll()
    waiting.register(sock, select.POLLIN)
    return not waiting.poll(0)
