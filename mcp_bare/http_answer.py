"""One HTTP response on a socket: a JSON body of known length, or a stream of events in chunks.

    HTTP/1.1 200 OK                          HTTP/1.1 200 OK
    Content-Type: application/json           Content-Type: text/event-stream
    Content-Length: 41                       X-Accel-Buffering: no
                                             Transfer-Encoding: chunked
    {"jsonrpc":"2.0","id":1,...}
                                             27
                                             data: {"jsonrpc":"2.0",...}

Each goes out in as few writes as it can, whole events at a time, and through nobody's buffer: a
proxy is told not to keep any back. An old client (HTTP/1.0) gets its stream without chunks.

Does not handle: which of the two it is to be (`http_reply`).

Spec: basic/transports/streamable-http, "Receiving Messages"; RFC 9112, "Chunked Transfer Coding".
"""

from __future__ import annotations

import time
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING

from mcp_bare import sse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_bare.http_request import Request
    from mcp_bare.http_wire import Wire

JSON_HEADERS = {"Content-Type": "application/json", "Cache-Control": "no-store"}
STREAM_HEADERS = {
    "Content-Type": sse.MEDIA_TYPE,
    "Cache-Control": "no-store, no-transform",
    "X-Accel-Buffering": "no",  # nginx, and others who learned it from nginx
}
_NOT_IN_A_LINE = str.maketrans("\r\n\0", "   ")
_PHRASES = {status.value: status.phrase for status in HTTPStatus}


class Answer:
    """The response to one request; `request` is None where what came was none."""

    def __init__(self, wire: Wire, request: Request | None):
        self._wire, self.stays_open = wire, request is not None and request.keeps_alive
        self._bodiless = request is not None and request.method == "HEAD"
        self._chunked = request is not None and request.version >= (1, 1)
        self.streaming = False

    def send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """The whole response at once. Raises OSError where nobody takes it."""
        head = self._head(status, headers, None if status == 204 else len(body))
        self._wire.send(head if self._bodiless else head + body)

    def send_json(self, status: int, payload: bytes) -> None:
        """One message as the whole response."""
        self.send(status, JSON_HEADERS, payload)

    def send_event(self, payload: bytes, *, last: bool) -> None:
        """One message of a stream, which the first one opens and the last one ends."""
        self._stream(sse.write_event(payload), last=last)

    def keep_alive(self) -> None:
        """A comment, in a stream that is opened if it is not yet."""
        self._stream(sse.KEEP_ALIVE, last=False)

    def _stream(self, data: bytes, *, last: bool) -> None:
        head = b""
        if not self.streaming:
            self.stays_open = self.stays_open and self._chunked
            chunked = {"Transfer-Encoding": "chunked"} if self._chunked else {}
            head, self.streaming = self._head(200, {**STREAM_HEADERS, **chunked}), True
        if self._chunked:
            data = b"%x\r\n%b\r\n" % (len(data), data) + (b"0\r\n\r\n" if last else b"")
        self._wire.send(head + data)

    def _head(self, status: int, headers: Mapping[str, str], length: int | None = None) -> bytes:
        closes = not self.stays_open and "Connection" not in headers
        more = {**headers, "Connection": "close"} if closes else headers
        # A server with a clock must say what it shows (RFC 9110).
        head = f"{_fixed(status, tuple(more.items()))}Date: {_date(int(time.time()))}\r\n"
        head += "\r\n" if length is None else f"Content-Length: {length}\r\n\r\n"
        return head.encode("latin-1", "replace")


@lru_cache(maxsize=64)
def _fixed(status: int, headers: tuple[tuple[str, str], ...]) -> str:
    """The lines that many answers have alike: the status, and the headers that were given."""
    lines = [f"HTTP/1.1 {status} {_PHRASES.get(status, '')}", *(f"{k}: {v}" for k, v in headers)]
    # A value may echo a stranger's, and must stay within its line.
    return "".join(f"{line.translate(_NOT_IN_A_LINE)}\r\n" for line in lines)


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    """The hour as HTTP writes it; many answers have the same."""
    return formatdate(second, usegmt=True)
