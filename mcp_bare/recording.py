"""A tape that is written while the bytes go by: in the file before they are passed on.

A recording is complete however its writer ends, so each piece is written at once, and half a
message is there before its other half. A file that exists is appended to, because a host starts
its servers again and again; one that another process records into is left alone, and a number is
added to the name. Only its owner may read the file: whatever went over the wire is in it.

A disk that is full must not stop the wire: the recording ends, stderr says so, the bytes go on.

Does not handle: Windows, where two processes may write into one file; a file that grows too large.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_bare import tape_file
from mcp_bare.errors import McpError
from mcp_bare.tape_file import NOTE, Row

if TYPE_CHECKING:
    from mcp_bare.revision import JsonObject

MAX_NAMES = 100


class NoRecording(McpError):
    """The file cannot be recorded into."""


class Recording:
    """recording = Recording("wire.jsonl", {"command": ["python", "server.py"]})

    recording.heard("→", b'{"jsonrpc":"2.0","id":1,"meth')
    recording.heard("→", b'od":"tools/list"}\\n')
    recording.remark("the host closed its end")

    Raises NoRecording for a file that cannot be written, or that holds something else.
    """

    def __init__(self, path: str | Path, about: JsonObject):
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self.path, self._file = _open(Path(path))
        self._broken = False
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._write(tape_file.head({"recorded": when, **about}))

    def heard(self, direction: str, chunk: bytes) -> None:
        """Keep what went this way: each line that it completes, and the line that it begins."""
        at = time.monotonic() - self._began
        *ended, rest = chunk.split(b"\n")
        rows = [tape_file.row(Row(direction, piece, at)) for piece in ended]
        rows += [tape_file.row(Row(direction, rest, at), more=True)] if rest else []
        self._write(b"".join(rows))

    def remark(self, text: str) -> None:
        """Keep what no byte tells."""
        self._write(tape_file.row(Row(NOTE, b"", time.monotonic() - self._began, text)))

    def _write(self, data: bytes) -> None:
        with self._lock:
            try:
                while data and not self._broken:
                    data = data[os.write(self._file, data) :]
            except OSError as trouble:
                self._broken = True
                print(f"! the recording ends here: {self.path}: {trouble}", file=sys.stderr)

    def close(self) -> None:
        """No more is written."""
        with self._lock:
            self._broken = True
            os.close(self._file)


def _open(path: Path) -> tuple[Path, int]:
    """The file to append to, with a number in its name where another process holds the first."""
    for number in range(1, MAX_NAMES):
        name = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
        try:
            file = os.open(name, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        except OSError as trouble:
            raise NoRecording(f"cannot record into {name}: {trouble}") from None
        if _is_free(file):
            _check(name, file)
            return name, file
        os.close(file)
    raise NoRecording(f"{MAX_NAMES} processes record into {path} and its numbered copies")


def _is_free(file: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _check(name: Path, file: int) -> None:
    """Append to recordings only; and begin a line of our own after one that was cut off."""
    size = os.fstat(file).st_size
    if not size:
        return
    begins = os.read(file, len(tape_file.MARK))
    if begins != tape_file.MARK:
        os.close(file)
        raise NoRecording(f"{name} holds something else than a recording; name another file")
    os.lseek(file, size - 1, os.SEEK_SET)
    if os.read(file, 1) != b"\n":
        os.write(file, b"\n")
