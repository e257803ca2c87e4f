"""Bytes to lines and back. A line ends at LF and nowhere else.

Handles chunks cut anywhere, CR before LF, blank lines, and a line that never ends: past the limit
it is dropped up to its LF and reported, so that one bad peer cannot fill the memory. It does not
decode: a line is bytes, and `jsonrpc` says whether they are a message.

Spec: basic/transports/stdio.
"""

from __future__ import annotations

import io

from mcp_bare.jsonrpc import MAX_BYTES


class LineTooLong:
    """Stands in for a line that passed the limit: its first bytes, and its full size."""

    __slots__ = ("head", "size")

    def __init__(self, head: bytes, size: int):
        self.head, self.size = head, size

    def __str__(self) -> str:
        return f"a line of {self.size} bytes"


class LineSplitter:
    """Feed it chunks, get the complete lines; what is not finished yet stays inside.

    splitter.feed(b'{"a"') -> []
    splitter.feed(b':1}\\r\\n\\n{') -> [b'{"a":1}']
    splitter.rest() -> b'{'
    """

    def __init__(self, limit: int = MAX_BYTES):
        self._limit = limit
        self._kept = io.BytesIO()  # of the unfinished line, never more than the limit
        self._size = 0  # of the unfinished line, kept or not

    def feed(self, chunk: bytes) -> list[bytes | LineTooLong]:
        """The lines that this chunk completes, without LF and one CR before it; no blank ones."""
        *ended, rest = chunk.split(b"\n")
        lines = []
        for piece in ended:
            line = self._whole(piece)
            if isinstance(line, bytes):
                line = line[:-1] if line.endswith(b"\r") else line
                if not line or line.isspace():
                    continue
            lines.append(line)
        if rest:
            self._keep(rest)
        return lines

    def rest(self) -> bytes:
        """What came after the last LF: half a message, if the stream ends here."""
        return self._kept.getvalue()

    def _keep(self, piece: bytes) -> None:
        self._kept.write(piece[: max(self._limit - self._size, 0)])
        self._size += len(piece)

    def _whole(self, piece: bytes) -> bytes | LineTooLong:
        """The line that ends with this piece, without its LF."""
        if not self._size and len(piece) <= self._limit:
            return piece  # most come in one
        self._keep(piece)
        line, size = self._kept.getvalue(), self._size
        self._kept, self._size = io.BytesIO(), 0
        return LineTooLong(line[:80], size) if size > self._limit else line


class WholeLines(LineSplitter):
    """Every line with all its bytes, its LF too, and the blank ones: what a judge has to see."""

    def feed(self, chunk: bytes) -> list[bytes | LineTooLong]:
        """WholeLines().feed(b'{}\\r\\n\\n{') -> [b'{}\\r\\n', b'\\n']"""
        *ended, rest = chunk.split(b"\n")
        lines: list[bytes | LineTooLong] = []
        for piece in ended:
            line = self._whole(piece)
            lines.append(line if isinstance(line, LineTooLong) else line + b"\n")
        self._keep(rest)
        return lines


def to_line(payload: bytes) -> bytes:
    """One message as one line. JSON written by `jsonrpc.dumps` has no LF inside."""
    if b"\n" in payload:
        raise ValueError("a message must not contain a newline (basic/transports/stdio)")
    return payload + b"\n"
