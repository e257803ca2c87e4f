"""One HTTP/1.x request off a connection: head and body, strictly, and never more than allowed.

    POST /mcp HTTP/1.1
    Host: 127.0.0.1:8000
    Content-Type: application/json
    Content-Length: 58

The server stands on `socketserver`, as http.server does, and reads the head itself: http.server
lets through a bare CR, folded lines and two lengths, so that it and a proxy before it can see two
different requests; it also reads no chunked body, and asks the network for its own name.

What cannot be read is answered and the connection closed, because nobody knows where the next
request begins. Whatever was read whole leaves the connection usable, also when it is refused.

Does not handle: what a request may say (`http_rules`), or how long it may take (`http_server`).

Spec: RFC 9112.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_bare import jsonrpc
from mcp_bare.errors import InvalidRequest, Refused, RpcError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import IO

    from mcp_bare.revision import RequestId

MAX_HEAD = 32 * 1024
MAX_CHUNK_LINE = 1024
_REQUEST_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([\x21-\x7e]+) HTTP/(\d)\.(\d)")
_FIELD = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*")
_LENGTH = re.compile(r"[0-9]{1,15}")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(;.*)?")


@dataclass
class Request:
    """A request that was read whole; `target` is what stood in its first line."""

    method: str
    target: str
    version: tuple[int, int]
    fields: Mapping[str, list[str]]  # by names in lower case
    body: bytes = b""

    def all(self, name: str) -> list[str]:
        """Every value of a header, by its name in any case."""
        return self.fields.get(name.lower(), [])

    def listed(self, name: str) -> str:
        """A header that is a list, as one text: Accept, Connection."""
        return ", ".join(self.all(name)).lower()

    def single(self, name: str) -> str | None:
        """A header that may be given once. Raises Refused (400) where it is given twice."""
        found = self.all(name)
        if len(found) > 1:
            raise refused(400, f"the header {name} is given {len(found)} times; one is due")
        return found[0] if found else None

    @property
    def keeps_alive(self) -> bool:
        """May the connection carry another request after this one?"""
        return self.version >= (1, 1) and "close" not in self.listed("Connection")


def refused(
    status: int,
    problem: str | RpcError,
    headers: Mapping[str, str] | None = None,
    id: RequestId | None = None,
) -> Refused:
    """A refusal with a JSON-RPC error as its body; without an id where none could be read."""
    error = InvalidRequest(problem) if isinstance(problem, str) else problem
    body = jsonrpc.dumps(jsonrpc.error(error, id))
    always = {"Content-Type": "application/json", "Cache-Control": "no-store"}
    return Refused(status, {**always, **(headers or {})}, body)


def read(stream: IO[bytes], max_body: int, go_on: Callable[[], None]) -> Request | None:
    """The next request, None where the connection ended between two of them.

    `go_on` tells a client that waits for it (Expect: 100-continue) to send the body. Raises
    Refused, with `Connection: close`, for what is no request; EOFError for half of one.
    """
    line = _line(stream, MAX_HEAD) or _line(stream, MAX_HEAD)  # one blank line may come first
    if line is None:
        return None
    head = _REQUEST_LINE.fullmatch(line)
    if head is None:
        raise _unreadable(400, f"{jsonrpc.brief(line)} is no request line")
    method, target = head[1].decode("ascii"), head[2].decode("ascii")
    version = (int(head[3]), int(head[4]))
    if version[0] != 1:
        raise _unreadable(505, "HTTP/1.1 is spoken here")
    request = Request(method, target, version, _fields(stream))
    request.body = _body(request, stream, max_body, go_on)
    return request


def _fields(stream: IO[bytes]) -> dict[str, list[str]]:
    """The header lines, up to the blank one, as values by their names in lower case."""
    room = MAX_HEAD
    fields: dict[str, list[str]] = {}
    while line := _line(stream, room):
        room -= len(line)
        field = _FIELD.fullmatch(line)
        if field is None:
            raise _unreadable(400, f"{jsonrpc.brief(line)} is no header line")
        name, value = line.decode("latin-1").split(":", 1)
        fields.setdefault(name.lower(), []).append(value.strip(" \t"))
    if line is None:
        raise EOFError("the connection ended within a head")
    return fields


def _line(stream: IO[bytes], room: int) -> bytes | None:
    """One line without its end, None where the connection ended. Raises Refused where too long."""
    line = stream.readline(room + 2 if room > 0 else 2)
    if line.endswith(b"\n"):
        return line[:-2] if line.endswith(b"\r\n") else line[:-1]
    if len(line) > room:
        raise _unreadable(431, f"a head of more than {MAX_HEAD} bytes")
    if line:
        raise EOFError("the connection ended within a line")
    return None


def _body(request: Request, stream: IO[bytes], limit: int, go_on: Callable[[], None]) -> bytes:
    encodings, lengths = request.all("Transfer-Encoding"), request.all("Content-Length")
    if encodings and (lengths or request.version < (1, 1)):
        raise _unreadable(400, "a body of two lengths")  # whose end a proxy may see elsewhere
    if len(set(lengths)) > 1 or not all(_LENGTH.fullmatch(length) for length in lengths):
        raise _unreadable(400, f"Content-Length is {jsonrpc.brief(lengths)}; a number is due")
    if encodings and request.listed("Transfer-Encoding") != "chunked":
        raise _unreadable(501, f"Transfer-Encoding is {jsonrpc.brief(encodings)}; chunked is read")
    size = int(lengths[0]) if lengths else 0
    if size > limit:
        raise _too_large(limit)
    expected = request.listed("Expect")
    if expected and expected != "100-continue":
        raise _unreadable(417, f"Expect is {jsonrpc.brief(expected)}")
    if expected and (size or encodings):
        go_on()
    return _chunks(stream, limit) if encodings else _exactly(stream, size)


def _chunks(stream: IO[bytes], limit: int) -> bytes:
    """A chunked body: sizes in hex, a chunk of none at the end, then trailers that nobody reads."""
    body = bytearray()
    while True:
        line = _line(stream, MAX_CHUNK_LINE)
        size = _CHUNK.fullmatch(line) if line is not None else None
        if size is None:
            raise _unreadable(400, f"{jsonrpc.brief(line)} is no chunk size")
        count = int(size[1], 16)
        if count == 0:
            break
        if len(body) + count > limit:
            raise _too_large(limit)
        body += _exactly(stream, count)
        if stream.readline(2) not in (b"\r\n", b"\n"):
            raise _unreadable(400, "a chunk that is longer than it says")
    room = MAX_HEAD
    while trailer := _line(stream, room):
        room -= len(trailer)
    return bytes(body)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError(f"the connection ended after {len(data)} of {size} bytes")
    return data


def _too_large(limit: int) -> Refused:
    return _unreadable(413, f"a body of more than {limit} bytes")


def _unreadable(status: int, problem: str) -> Refused:
    return refused(status, problem, {"Connection": "close"})
