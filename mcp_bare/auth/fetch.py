"""One careful HTTP request, for URLs that a stranger may have chosen.

A fetch is any function `fetch(method, url, headers, body) -> (status, headers, body)`, header names
in lower case; the rest of the client's end does its I/O through one, so that a test can play the
network. This one asks over https, or http on loopback; it takes a bounded time for a bounded body,
uses no proxy, follows a GET to another place on the same origin, and leaves every other redirect to
the caller: a form with a secret in it is never sent on.

Spec: security-considerations ("Communication Security"); RFC 9728, section 7.7.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from mcp_bare.auth import metadata
from mcp_bare.auth.errors import BadUri, FetchFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeAlias

    Response: TypeAlias = tuple[int, dict[str, str], bytes]
    Fetch: TypeAlias = Callable[[str, str, Mapping[str, str], bytes | None], Response]

TIMEOUT_S = 10.0
MAX_BYTES = 1024 * 1024
MAX_REDIRECTS = 3
_MOVED = (301, 302, 303, 307, 308)


def fetch(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None = None,
    *,
    timeout_s: float = TIMEOUT_S,
    limit: int = MAX_BYTES,
) -> Response:
    """One response, whatever its status. Raises FetchFailed.

    fetch("GET", "https://as/.well-known/openid-configuration", {}) -> (200, {...}, b"{...}")
    """
    for _ in range(MAX_REDIRECTS + 1):
        status, found, answer = _once(method, url, headers, body, timeout_s, limit)
        target = urljoin(url, found.get("location", ""))
        if method != "GET" or status not in _MOVED or not _same_origin(url, target):
            break
        url = target
    return status, found, answer


def without_query(url: str) -> str:
    """The URL in an error: its query may hold what nobody else should see."""
    return url.partition("?")[0]


def _once(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    timeout_s: float,
    limit: int,
) -> Response:
    asked = f"{method} {without_query(url)}"
    sent = {"Accept": "application/json", "Connection": "close", **headers}
    try:
        connection = _connection(metadata.secure(url), timeout_s)
        _, path, query = metadata.split(url)
        with contextlib.closing(connection):
            connection.connect()
            with _deadline(connection.sock, timeout_s) as late:
                connection.request(method, (path or "/") + query, body, sent)
                with connection.getresponse() as response:
                    answer = response.read(limit + 1)
                    missing = response.length or 0  # read() itself does not complain
                    found = response.status, _joined(response), answer
    except BadUri as trouble:
        raise FetchFailed(str(trouble)) from None
    except (OSError, http.client.HTTPException, ValueError) as trouble:
        raise FetchFailed(f"{asked}: {type(trouble).__name__} {str(trouble)[:200]}") from None
    if late.is_set():
        raise FetchFailed(f"{asked}: no whole answer within {timeout_s:g} s")
    if len(answer) > limit:
        raise FetchFailed(f"{asked}: an answer of more than {limit} bytes")
    if missing:
        raise FetchFailed(f"{asked}: the answer ends {missing} bytes too early")
    return found


def _connection(url: str, timeout_s: float) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    return kind(parts.hostname or "", parts.port, timeout=timeout_s)


@contextlib.contextmanager
def _deadline(sock: socket.socket, seconds: float) -> Iterator[threading.Event]:
    """End the connection after this time, also when it gives a byte now and then."""
    late = threading.Event()

    def end() -> None:
        late.set()
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()
        timer.join()


def _joined(response: http.client.HTTPResponse) -> dict[str, str]:
    """Names in lower case; what came several times is one list, as HTTP has it."""
    found: dict[str, str] = {}
    for name, value in response.getheaders():
        key = name.lower()
        found[key] = f"{found[key]}, {value}" if key in found else value
    return found


def _same_origin(url: str, target: str) -> bool:
    try:
        return metadata.split(url)[0] == metadata.split(target)[0]
    except BadUri:
        return False
