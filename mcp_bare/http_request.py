"""One HTTP/1.x request off a connection: head and body, strictly, and never more than allowed.

    POST /mcp HTTP/1.1
    Host: 127.0.0.1:8000
    Content-Type: application/json
    Content-Length: 58

The head is not read by http.server, which lets through a bare CR, folded lines and two lengths, so
that it and a proxy before it can see two different requests; it also reads no chunked body, and
asks the network for its own name.

What cannot be read is answered and the connection closed, because nobody knows where the next
request begins. Whatever was read whole leaves the connection usable, also when it is refused.

Does not handle: what a request may say (`http_rules`), or how long it may take (`http_wire`).

Spec: RFC 9112.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mcp_bare import jsonrpc
from mcp_bare.errors import InvalidRequest, Refused, RpcError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Protocol

    from mcp_bare.revision import RequestId

    class Stream(Protocol):
        """A file, or what reads like one: less comes only at the end."""

        def readline(self, size: int, /) -> bytes: ...
        def read(self, size: int, /) -> bytes: ...


MAX_HEAD = 32 * 1024
MAX_CHUNK_LINE = 1024
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_REQUEST_LINE = re.compile(rf"({_TOKEN}) ([\x21-\x7e]+) HTTP/(\d)\.(\d)\r?\n?".encode())
_FIELD = re.compile(rf"({_TOKEN}):([\t\x20-\x7e\x80-\xff]*)\r?\n")
_FIELDS = re.compile(rf"(?:{_TOKEN}:[\t\x20-\x7e\x80-\xff]*\r?\n)*\r?\n")
_BLANK = (b"\r\n", b"\n")
_LENGTH = re.compile(r"[0-9]{1,15}")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(;.*)?")


@dataclass
class Request:
    """A request that was read whole; `target` is what stood in its first line."""

    method: str
    target: str
    version: tuple[int, int]
    fields: dict[str, list[str]]  # by names in lower case
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


def read(
    stream: Stream, max_body: int, go_on: Callable[[], None], head: bytes = b""
) -> Request | None:
    """The next request, None where the connection ended between two of them.

    `head` is its first part, up to the blank line and with it, where that was read already. `go_on`
    tells a client that waits for it (Expect: 100-continue) to send the body. Raises Refused, with
    `Connection: close`, for what is no request; EOFError for half of one.
    """
    head = head or _head(stream)
    if not head:
        return None
    request = _parse(head)
    request.body = _body(request, stream, max_body, go_on)
    return request


def _head(stream: Stream) -> bytes:
    """The lines up to the blank one and with it, nothing where the connection ended before them."""
    line = stream.readline(MAX_HEAD)
    if line in _BLANK:  # one may come first
        line = stream.readline(MAX_HEAD)
    head = line
    if line.endswith(b"\n") and line not in _BLANK:
        _request_line(line)  # where it is none, what follows is not waited for
    while head and line not in _BLANK:
        if len(head) >= MAX_HEAD:
            raise _unreadable(431, f"a head of more than {MAX_HEAD} bytes")
        if not line.endswith(b"\n"):
            raise EOFError("the connection ended within a head")
        line = stream.readline(MAX_HEAD - len(head))
        head += line
    return head


def _parse(head: bytes) -> Request:
    """parse(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n").fields -> {"host": ["x"]}"""
    if len(head) >= MAX_HEAD:
        raise _unreadable(431, f"a head of more than {MAX_HEAD} bytes")
    first, _, rest = head.partition(b"\n")
    if first in (b"", b"\r"):
        first, _, rest = rest.partition(b"\n")
    request = Request(*_request_line(first), {})
    lines = rest.decode("latin-1")
    if not _FIELDS.fullmatch(lines):
        bad = next(line for line in lines.split("\n") if not _FIELD.fullmatch(line + "\n"))
        raise _unreadable(400, f"{jsonrpc.brief(bad.rstrip())} is no header line")
    for name, value in _FIELD.findall(lines):
        request.fields.setdefault(name.lower(), []).append(value.strip(" \t"))
    return request


@lru_cache(maxsize=64)
def _request_line(line: bytes) -> tuple[str, str, tuple[int, int]]:
    """The method, the target and the version. A client sends the same line every time."""
    head = _REQUEST_LINE.fullmatch(line)
    if head is None:
        raise _unreadable(400, f"{jsonrpc.brief(line.rstrip())} is no request line")
    version = (int(head[3]), int(head[4]))
    if version[0] != 1:
        raise _unreadable(505, "HTTP/1.1 is spoken here")
    return head[1].decode("ascii"), head[2].decode("ascii"), version


def _line(stream: Stream, room: int) -> bytes | None:
    """One line without its end, None where the connection ended. Raises Refused where too long."""
    line = stream.readline(room + 2 if room > 0 else 2)
    if line.endswith(b"\n"):
        return line[:-2] if line.endswith(b"\r\n") else line[:-1]
    if len(line) > room:
        raise _unreadable(431, "a line that is too long")
    if line:
        raise EOFError("the connection ended within a line")
    return None


def _body(request: Request, stream: Stream, limit: int, go_on: Callable[[], None]) -> bytes:
    encodings, lengths = request.all("Transfer-Encoding"), request.all("Content-Length")
    if encodings and (lengths or request.version < (1, 1)):
        raise _unreadable(400, "a body of two lengths")  # whose end a proxy may see elsewhere
    if len(set(lengths)) > 1 or (lengths and not _LENGTH.fullmatch(lengths[0])):
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


def _chunks(stream: Stream, limit: int) -> bytes:
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


def _exactly(stream: Stream, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError(f"the connection ended after {len(data)} of {size} bytes")
    return data


def _too_large(limit: int) -> Refused:
    return _unreadable(413, f"a body of more than {limit} bytes")


def _unreadable(status: int, problem: str) -> Refused:
    return refused(status, problem, {"Connection": "close"})
