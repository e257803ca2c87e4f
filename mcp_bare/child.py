"""The server as our child process: both its pipes drained, every write bounded, no process left.

One thread reads its output and hands on each line, one keeps the tail of its stderr. Its end is
announced once, with exit code and last words. Closing it means: close its input, wait, terminate,
kill, the whole group, and reap.

Does not handle: what a line means (`exchange`), or ending it when we are killed (`reaper`).

Spec: basic/transports/stdio, "Shutdown".
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from subprocess import PIPE

from mcp_bare import framing, jsonrpc, pipe_io, reaper
from mcp_bare.errors import TransportClosed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO, Any


class Child:
    """The process and its threads; they hold no reference to the transport, so it can go."""

    def __init__(
        self,
        command: list[str],
        options: dict[str, Any],
        grace: float,
        on_payload: Callable[[bytes], None],
        on_close: Callable[[TransportClosed], None],
    ):
        self.process = start(command, options)
        self._grace, self._on_payload, self._on_close = grace, on_payload, on_close
        self._owner = os.getpid()
        self._usable, self._closed, self._group_ended = True, False, False
        self._writing, self._ending = threading.Lock(), threading.RLock()
        self._tail = bytearray()
        if os.name != "nt":
            os.set_blocking(self._stdin.fileno(), False)
        self._reader = threading.Thread(target=self._read_stdout, daemon=True)
        self._drain = threading.Thread(target=self._read_stderr, daemon=True)

    def start(self) -> None:
        """Read both pipes from now on."""
        self._drain.start()
        self._reader.start()

    def write(self, line: bytes, timeout: float) -> None:
        deadline = time.monotonic() + timeout

        def when_full() -> None:
            if not self._usable:
                raise TransportClosed("the transport was closed in the middle of a message")
            if time.monotonic() > deadline:
                raise TimeoutError

        try:
            with self._writing:
                if not self._usable:
                    raise TransportClosed("the transport is closed")
                try:
                    pipe_io.write_all(self._stdin.fileno(), line, when_full)
                except BaseException:
                    self._usable = False  # half a line may be on the wire
                    raise
        except BaseException as trouble:
            self.close()
            if not isinstance(trouble, OSError):
                raise
            deaf = isinstance(trouble, TimeoutError)
            reason = "the server does not read its input" if deaf else "the server is gone"
            raise self._death(reason) from None

    def stderr_tail(self) -> str:
        return bytes(self._tail).decode("utf-8", "replace")

    def close(self) -> None:
        """Close its input, wait, terminate, kill; then whatever is left of its group.

        Who comes second waits for the first; but not a thread that the first is waiting for.
        """
        ours = threading.current_thread() in (self._reader, self._drain)
        if self._owner != os.getpid() or not self._ending.acquire(blocking=not ours):
            return
        try:
            if not self._closed:
                self._closed = True
                self._end()
        finally:
            self._ending.release()

    def _end(self) -> None:
        try:
            self._usable = False
            if self._writing.acquire(timeout=self._grace):  # a write in progress gives up now
                try:
                    self._stdin.close()
                finally:
                    self._writing.release()
            if not waits(self.process, self._grace):
                signal_group(self.process, "SIGTERM")
                waits(self.process, self._grace)
        finally:
            self._end_group()
            self.process.wait()
            self._stdin.close()
            for thread in (self._reader, self._drain):
                if thread.is_alive() and thread is not threading.current_thread():
                    thread.join(self._grace)

    def _end_group(self) -> None:
        """Once: later, the number of a group that is gone may be a stranger's."""
        if not self._group_ended:
            self._group_ended = True
            signal_group(self.process, "SIGKILL")
            reaper.forget(self.process.pid)

    @property
    def _stdin(self) -> IO[bytes]:
        assert self.process.stdin
        return self.process.stdin

    def _read_stdout(self) -> None:
        reason = "this end stopped reading"
        splitter = framing.LineSplitter()
        try:
            for chunk in output(self.process, self.process.stdout):
                for line in splitter.feed(chunk):
                    self._on_payload(line if isinstance(line, bytes) else _shortened(line))
            half = splitter.rest()
            if half.strip():
                self._on_payload(half)
            reason = f"the server {'stopped within a line' if half else 'closed its output'}"
        finally:
            self._on_close(self._death(reason))

    def _read_stderr(self) -> None:
        for chunk in output(self.process, self.process.stderr):
            self._tail += chunk
            del self._tail[: -pipe_io.CHUNK]

    def _death(self, reason: str) -> TransportClosed:
        """The end of output, with exit code and last words where they come within a moment."""
        if waits(self.process, 0.5):
            self._end_group()
        if threading.current_thread() is not self._drain:
            self._drain.join(2 * pipe_io.TICK)
        return TransportClosed(reason, self.process.poll(), self.stderr_tail()[-2000:])


def start(command: list[str], options: dict[str, Any]) -> subprocess.Popen[bytes]:
    """The process, in a group of its own that the reaper watches. Raises TransportClosed."""
    try:
        process: subprocess.Popen[bytes] = subprocess.Popen(
            command,
            bufsize=0,
            start_new_session=True,  # its own group: ended as one, and spared our Ctrl-C
            **{"stdin": PIPE, "stdout": PIPE, "stderr": PIPE, **options},
        )
    except (OSError, ValueError) as trouble:
        raise TransportClosed(f"cannot start {command!r}: {trouble}") from None
    try:
        reaper.watch(process.pid)
    except BaseException:  # an interrupt: nobody knows of this process yet
        with process:  # closes its pipes and reaps it
            signal_group(process, "SIGKILL")
        raise
    return process


def output(process: subprocess.Popen[bytes], pipe: IO[bytes] | None) -> Iterator[bytes]:
    """What arrives, until the end: of the pipe, or of a server whose child holds the pipe."""
    assert pipe
    with pipe:
        while True:
            dead = process.poll() is not None
            if pipe_io.ready(pipe.fileno(), "POLLIN"):
                chunk = os.read(pipe.fileno(), pipe_io.CHUNK)
                if not chunk:
                    return
                yield chunk
            elif dead:
                return


def waits(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether it ends within the time."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def signal_group(process: subprocess.Popen[bytes], name: str) -> None:
    """Signal the whole group, also when its leader is gone already."""
    import signal

    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, getattr(signal, name))
        else:
            process.kill()


def _shortened(line: framing.LineTooLong) -> bytes:
    return line.head + f"… ({line}; the limit here is {jsonrpc.MAX_BYTES})".encode()
