"""A process of which nothing is believed: started in its own group, read with a limit on time and
on bytes, and ended as a group.

Does not handle: what the bytes mean (`judge`), or keeping the process from the machine (the
command may start a sandbox).
"""

import contextlib
import json
import os
import signal
import subprocess
import threading
import time

from mcp_bare import reaper

LIMIT = 4 * 1024 * 1024
"""Bytes of standard output that are read from one process, or for one answer of it."""
TAIL = 8192


class Ended(Exception):
    """The process closed its output: it ended, or it will write no more."""


class Flooded(Exception):
    """It wrote more than anybody wants to read."""


class Late(Exception):
    """It said nothing in time."""


def as_dict(line: bytes) -> dict:
    """A line as a JSON object; an empty dict where it is anything else."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


class Process:
    """One process with three pipes; two threads read, and whoever asks waits until a deadline."""

    def __init__(self, command, env=None, cwd=None, limit=LIMIT):
        self._changed = threading.Condition()
        self._came, self._total, self._over = bytearray(), 0, False
        self._flooded, self._killed, self._limit = False, False, limit
        self._stderr, self._written = bytearray(), 0
        self._popen = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=env,
            cwd=cwd,
            start_new_session=True,  # a group of its own: ended as one, and spared our Ctrl-C
        )
        reaper.watch(self._popen.pid)  # a kernel may be killed in the middle of a check
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._read, self._drain)
        ]
        for thread in self._threads:
            thread.start()

    def write(self, data: bytes, deadline: float) -> None:
        """Write all of it; raises Late where nobody reads, Ended where nobody is there."""
        # A thread: a pipe that is full blocks, and can be polled on some systems only.
        trouble: list[OSError | ValueError] = []

        def work() -> None:
            view = memoryview(data)
            try:
                while view:
                    view = view[self._popen.stdin.write(view) :]
            except (OSError, ValueError) as problem:
                trouble.append(problem)

        self._written += len(data)
        if self._written <= 4096:  # fits into any pipe, read or not
            work()
        else:
            writer = threading.Thread(target=work, daemon=True)
            writer.start()
            writer.join(max(0.0, deadline - time.monotonic()))
            if writer.is_alive():
                self.kill()
                writer.join()
                raise Late
        if trouble:
            raise Ended from None

    def line(self, deadline: float) -> bytes:
        """The next line without its LF. Raises Late, Ended or Flooded; `pending` has the rest."""
        with self._changed:
            while (end := self._came.find(b"\n")) < 0:
                self._wait(deadline)
            line = bytes(self._came[:end])
            del self._came[: end + 1]
            return line

    def chunk(self, deadline: float) -> bytes:
        """All that has come and was not taken yet, at least one byte."""
        with self._changed:
            while not self._came:
                self._wait(deadline)
            data = bytes(self._came)
            self._came.clear()
            return data

    def rest(self, deadline: float) -> bytes:
        """Everything up to the end of its output."""
        with self._changed, contextlib.suppress(Ended):
            while True:
                self._wait(deadline)
        return self.chunk(deadline) if self._came else b""

    def allow_more(self) -> None:
        """Count its bytes from here: each answer may be as long as the limit."""
        with self._changed:
            self._total = len(self._came)

    def pending(self) -> bytes:
        """What has come since the last whole line."""
        with self._changed:
            return bytes(self._came)

    def end_input(self) -> None:
        with contextlib.suppress(OSError):
            self._popen.stdin.close()

    def wait(self, deadline: float) -> int:
        """The exit code; raises Late."""
        try:
            return self._popen.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Late from None

    def stderr(self) -> str:
        """The end of what it wrote to stderr; of a process that has ended, all of that."""
        if self._popen.poll() is not None:
            self._threads[1].join(0.5)  # the last of it may still be on its way through the pipe
        return bytes(self._stderr).decode("utf-8", "replace")

    def kill(self) -> None:
        """End the whole group now, and reap; safe to call twice."""
        if self._killed:
            return
        self._killed = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._popen.pid, signal.SIGKILL)
            else:
                self._popen.kill()
        self._popen.wait()
        reaper.forget(self._popen.pid)
        self.end_input()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(1.0)

    def _wait(self, deadline: float) -> None:
        if self._flooded:
            raise Flooded
        if self._over:
            raise Ended
        left = deadline - time.monotonic()
        if left <= 0 or not (self._changed.wait(left) or time.monotonic() < deadline):
            raise Late

    def _read(self) -> None:
        for data in self._chunks(self._popen.stdout):
            with self._changed:
                self._total += len(data)
                if self._total > self._limit:
                    self._flooded = True
                else:
                    self._came += data
                self._changed.notify_all()
            if self._flooded:
                break
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _drain(self) -> None:
        for data in self._chunks(self._popen.stderr):
            self._stderr += data
            del self._stderr[:-TAIL]

    def _chunks(self, pipe):
        """What arrives, until the end of the pipe, or of us: a child that it left may hold it."""
        with pipe:
            while not self._killed:
                try:
                    data = os.read(pipe.fileno(), 65536) if self._ready(pipe) else None
                except OSError:
                    return
                if data == b"":
                    return
                if data:
                    yield data

    def _ready(self, pipe) -> bool:
        from mcp_bare import pipe_io

        return pipe_io.ready(pipe.fileno(), "POLLIN")
