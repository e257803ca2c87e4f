"""Server-Sent Events: bytes to events, however they are cut, and back.

    : a comment, to keep the line open
    id: 7
    data: {"jsonrpc":"2.0","id":1,
    data: "result":{}}

A line ends in LF, CR or CR LF; a blank one completes the event; several data lines are one text,
with LF between. (`framing` cuts at LF and nowhere else; a stdio server starts without this module.)
Data stays bytes to the end: whether they are UTF-8 and JSON is for `jsonrpc` to say, strictly.

Does not handle: connecting again. A stream of this revision cannot be resumed, so `last_id` and
`retry` are read, and nobody needs them.

Spec: WHATWG HTML, "Server-sent events"; basic/transports/streamable-http, "Receiving Messages".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mcp_bare.errors import ProtocolViolation
from mcp_bare.jsonrpc import MAX_BYTES

BOM = b"\xef\xbb\xbf"
MEDIA_TYPE = "text/event-stream"
_LINE_END = re.compile(rb"\r\n|\r|\n")
_MAX_RETRY_DIGITS = 12


@dataclass(frozen=True)
class Event:
    """One event: its data, its type, and the last id that the stream gave, here or before."""

    data: bytes
    type: str = "message"
    id: str = ""


class EventParser:
    """Feed it chunks, get the complete events; what is not finished yet stays inside.

    parser.feed(b'\\xef\\xbb\\xbfdata: {"a"\\r') -> []
    parser.feed(b'\\ndata::1}\\n\\n') -> [Event(b'{"a"\\n:1}')]
    Raises ProtocolViolation for an event of more than `limit` bytes; the stream is then lost.
    """

    def __init__(self, limit: int = MAX_BYTES):
        self.last_id = ""
        self.retry: int | None = None
        self._limit = limit
        self._line = bytearray()  # not finished yet
        self._data: list[bytes] = []
        self._type, self._size = b"", 0
        self._at_start, self._after_cr = True, False

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that this chunk completes."""
        if self._after_cr and chunk:  # CR LF is one end, also where it was cut in two
            chunk, self._after_cr = chunk.removeprefix(b"\n"), False
        if chunk:
            self._after_cr = chunk.endswith(b"\r")
        *ended, rest = _LINE_END.split(chunk)
        found = []
        for piece in ended:
            self._keep(piece)
            event = self._line_ends()
            if event is not None:
                found.append(event)
        self._keep(rest)
        return found

    @property
    def unfinished(self) -> bool:
        """Has an event begun that no blank line completed? Where a stream ends, it is lost."""
        return bool(self._line or self._data)

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            raise ProtocolViolation(f"an event of more than {self._limit} bytes")
        self._line += piece

    def _line_ends(self) -> Event | None:
        line, self._line = bytes(self._line), bytearray()
        if self._at_start:
            line, self._at_start = line.removeprefix(BOM), False
        if not line:
            return self._event_ends()
        name, _, value = line.partition(b":")
        if not name:  # a comment: nothing of it is kept
            self._size -= len(line)
            return None
        self._field(name, value.removeprefix(b" "))
        return None

    def _field(self, name: bytes, value: bytes) -> None:
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._type = value
        elif name == b"id" and b"\0" not in value:
            self.last_id = value.decode("utf-8", "replace")
        elif name == b"retry" and value.isdigit() and len(value) <= _MAX_RETRY_DIGITS:
            self.retry = int(value)

    def _event_ends(self) -> Event | None:
        data, type = self._data, self._type.decode("utf-8", "replace")
        self._data, self._type, self._size = [], b"", 0
        return Event(b"\n".join(data), type or "message", self.last_id) if data else None


def write_event(
    data: bytes, *, type: str = "", id: str | None = None, retry: int | None = None
) -> bytes:
    """One event as bytes; every line end within `data` becomes LF.

    write_event(b'{"a":1}') -> b'data: {"a":1}\\n\\n'
    Raises ValueError for a type or id that would break out of its line.
    """
    lines = []
    for name, text in (("event", type or None), ("id", id)):
        if text is not None:
            if re.search("[\r\n\0]", text):
                raise ValueError(f"the {name} of an event is one line: {text!r}")
            lines.append(f"{name}: {text}".encode())
    if retry is not None:
        lines.append(b"retry: %d" % retry)
    lines += [b"data: " + line for line in _LINE_END.split(data)]
    return b"\n".join(lines) + b"\n\n"


KEEP_ALIVE = b": keep-alive\n\n"
"""A comment: it says nothing, so that nobody on the way takes the silence for an end."""
