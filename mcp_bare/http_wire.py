"""The socket of one connection: what has come is taken, what fits is written, and waiting is said.

A thread that serves several connections must not be held up by one of them. So nothing here waits
before it has called `step_aside`, which lets another thread look after the rest (`poller`); but for
a moment, since a body often comes a little later than its head. No wait is without end: a read ends
at `deadline`, a write after `patience` seconds. One thread at a time uses it.

Does not handle: what the bytes say (`http_request`, `http_answer`).
"""

from __future__ import annotations

import contextlib
import io
import re
import socket
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHUNK = 64 * 1024
MOMENT = 0.002  # seconds: many times what it takes to start a thread
_BLANK_LINE = re.compile(rb"\n\r?\n")


class Wire:
    """Reads like a file; `step_aside` may be called more than once."""

    def __init__(self, sock: socket.socket, patience: float):
        sock.setblocking(False)
        with contextlib.suppress(OSError):  # some systems say here already that the client is gone
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        self._sock, self._patience = sock, patience
        self._came, self._held = b"", io.BytesIO()  # what came last, and that as a file to read
        self.deadline = 0.0
        self.step_aside: Callable[[], None] = lambda: None

    def fileno(self) -> int:
        """For a selector; -1 where it is closed."""
        return self._sock.fileno()

    # --- read ---

    def holds(self) -> bool:
        """Did more come than was read?"""
        return self._held.tell() < len(self._came)

    def head(self) -> bytes:
        """Read up to the first blank line, where it has come; else nothing, and read nothing."""
        begin = self._held.tell()
        end = _BLANK_LINE.search(self._came, begin)
        return self._held.read(end.end() - begin) if end else b""

    def look(self) -> bool:
        """Take what has come, where nothing is held; False at the end.

        Raises BlockingIOError where nothing has come.
        """
        return self._hold(self._sock.recv(CHUNK))

    def readline(self, size: int) -> bytes:
        """Up to LF, or so many bytes, or the end. Raises TimeoutError, OSError."""
        line = self._held.readline(size)
        while not line.endswith(b"\n") and len(line) < size and self._more():
            line += self._held.readline(size - len(line))
        return line

    def read(self, size: int) -> bytes:
        """So many bytes; fewer where the end comes first. Raises TimeoutError, OSError."""
        data = self._held.read(size)
        if len(data) == size:
            return data
        pieces, due = [data], size - len(data)
        while due and self._more():
            pieces.append(self._held.read(due))
            due -= len(pieces[-1])
        return b"".join(pieces)

    def _more(self) -> bool:
        """Wait for what comes next; False at the end."""
        with contextlib.suppress(BlockingIOError):
            return self.look()
        with contextlib.suppress(TimeoutError), self._waiting(MOMENT):
            return self.look()
        self.step_aside()
        with self._waiting(self.deadline - time.monotonic()):
            return self.look()

    def _hold(self, came: bytes) -> bool:
        self._came, self._held = came, io.BytesIO(came)
        return bool(came)

    @contextlib.contextmanager
    def _waiting(self, seconds: float) -> Iterator[None]:
        self._sock.settimeout(max(seconds, 0.001))
        try:
            yield
        finally:
            self._sock.settimeout(0)

    # --- write ---

    def send(self, data: bytes) -> None:
        """All of it. Raises TimeoutError where it is not taken, OSError where nobody is there."""
        try:
            sent = self._sock.send(data)
        except BlockingIOError:
            sent = 0
        if sent < len(data):
            self.step_aside()
            with self._waiting(self._patience):
                self._sock.sendall(memoryview(data)[sent:])

    # --- the end ---

    def has_hung_up(self) -> bool:
        """Has the other end closed? Looks without waiting and without taking anything away.

        Behind a next request that came too early, a hang-up is not seen; then the next write fails.
        """
        try:
            return self._sock.recv(1, socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def finish(self, linger: float) -> None:
        """Say no more, and let the rest of what the other end says arrive, for so many seconds.

        Closed at once, the connection would be reset, and the client might never see why.
        """
        self._sock.shutdown(socket.SHUT_WR)
        self.step_aside()
        until = time.monotonic() + linger
        while (left := until - time.monotonic()) > 0:
            with self._waiting(left):
                if not self._sock.recv(CHUNK):
                    break

    def shut(self, how: int) -> None:
        """Shut one direction from any thread, which wakes up who waits for it."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(how)

    def close(self) -> None:
        """Give the socket back."""
        self.shut(socket.SHUT_WR)
        self._sock.close()
