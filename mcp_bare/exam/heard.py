"""What one process says: its two pipes, read to their ends by two threads, and kept.

Whoever waits for something holds `came` and looks at `lines`, `answers`, `ended`.

Does not handle: what is waited for, and how long (`process`); what a line is (`lines`).
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from mcp_bare import child, framing, pipe_io
from mcp_bare.exam.lines import TOO_LONG, Line, LineReader
from mcp_bare.exam.record import is_answer, key_of

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

MAX_LINES, MAX_TOTAL = 20_000, 256 * 1024 * 1024


class Heard:
    """Reads from its start on. `sent` says how many lines had been sent by now."""

    def __init__(self, process: subprocess.Popen[bytes], sent: Callable[[], int]):
        self.lines: list[Line] = []
        self.answers: dict[tuple[type, Any], list[Line]] = {}  # by `key_of` their id
        self.came = threading.Condition()
        self.ended, self.too_much = False, False
        self.held_open = False  # the process is gone, and something else holds its output
        self.stderr_size, self._tail = 0, bytearray()
        self._process, self._sent, self._total = process, sent, 0
        self._threads = [
            threading.Thread(target=self._read_stdout, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def join(self, seconds: float, stdout: bool = True, stderr: bool = True) -> None:
        """Wait so long for the end of each of these pipes."""
        for thread, wanted in zip(self._threads, (stdout, stderr), strict=True):
            if wanted:
                thread.join(seconds)

    @property
    def tail(self) -> str:
        """The end of what it said on stderr."""
        return bytes(self._tail).decode("utf-8", "replace")

    @property
    def unreadable(self) -> str:
        """How what came last is too long to read, if it is: it may be what is waited for."""
        last = self.lines[-1] if self.lines else None
        return last.how if last and last.breaks == TOO_LONG else ""

    def _read_stdout(self) -> None:
        splitter, reader = framing.WholeLines(), LineReader()
        try:
            for chunk in self._chunks("stdout"):
                with self.came:
                    self._total += len(chunk)
                    self._take(splitter.feed(chunk), reader)
                    if len(self.lines) > MAX_LINES or self._total > MAX_TOTAL:
                        self.too_much = True
                        child.signal_group(self._process, "SIGKILL")
                    self.came.notify_all()
            half = splitter.rest()
            with self.came:
                self._take([half] if half else [], reader)
                self.lines += reader.flush(self._sent())
        finally:
            with self.came:
                self.ended = True
                self.came.notify_all()

    def _take(self, raws: Sequence[bytes | framing.LineTooLong], reader: LineReader) -> None:
        for raw in raws if not self.too_much else ():
            if isinstance(raw, framing.LineTooLong):
                self.lines.append(Line(raw.head, None, TOO_LONG, str(raw), self._sent()))
                continue
            for line in reader.feed(raw, self._sent()):
                self.lines.append(line)
                if is_answer(line):
                    self.answers.setdefault(key_of(line.message), []).append(line)

    def _read_stderr(self) -> None:
        for chunk in self._chunks("stderr"):
            self.stderr_size += len(chunk)
            self._tail += chunk
            del self._tail[: -pipe_io.CHUNK]

    def _chunks(self, name: str) -> Iterator[bytes]:
        """What arrives, until the end: of the pipe, or of a server whose child holds the pipe."""
        with getattr(self._process, name) as pipe:
            while True:
                dead = self._process.poll() is not None
                if pipe_io.ready(pipe.fileno(), "POLLIN"):
                    chunk = os.read(pipe.fileno(), pipe_io.CHUNK)
                    if not chunk:
                        return
                    yield chunk
                elif dead:
                    self.held_open = self.held_open or name == "stdout"
                    return
