"""Both ends of the stdio transport: serve one server, start another as a child process.

The serving end moves standard output away before it reads its first byte: what a tool prints goes
to stderr, and only whole messages reach the pipe. The client's end drains both pipes all the time,
bounds every write, and leaves no process behind: close, wait, terminate, kill, the whole group.

Does not handle: what the bytes mean (`connection` for a server, `exchange` for a client).

Spec: basic/transports/stdio.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading

from mcp_bare import framing
from mcp_bare.connection import Connection
from mcp_bare.errors import TransportClosed

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from mcp_bare.server import Server

CHUNK = 65536


# --- the server's end ---


def serve(server: Server, principal: str | None = None, patience: float = 5.0) -> None:
    """Answer on standard input and output until the input ends.

    `principal` is whom this process works for: on stdio that comes from the environment, never
    from a message (basic/index, "Auth"). Requests in flight at the end get `patience` seconds.
    """
    wire_in, wire_out = _take_over_standard_streams()
    connection = Connection(server, lambda line: _write_all(wire_out, line), principal, _in_thread)
    try:
        while chunk := os.read(wire_in, CHUNK):
            connection.receive(chunk)
        connection.end(patience)
    except (BrokenPipeError, KeyboardInterrupt):
        pass  # the client is gone, or the person at the terminal wants us gone


def _take_over_standard_streams() -> tuple[int, int]:
    """Keep the pipes for the wire; from now on print() goes to stderr and input() finds nothing."""
    wire_in, wire_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    if sys.platform == "win32":
        import msvcrt

        for end in (wire_in, wire_out):
            msvcrt.setmode(end, os.O_BINARY)
    return wire_in, wire_out


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _in_thread(work: Callable[[], None]) -> None:
    def quietly() -> None:
        with contextlib.suppress(BrokenPipeError):  # nobody reads: the reading loop ends us
            work()

    threading.Thread(target=quietly, daemon=True).start()


# --- the client's end ---


class StdioTransport:
    """A server as a child process; `open` starts it.

    transport = StdioTransport(["python", "toy_servers/calendar_by_hand.py"])

    `grace` is how long a server may take to leave after its input ends, and again after SIGTERM.
    `write_timeout` bounds a send to a server that does not read. When the object is dropped, or
    the interpreter exits, the process is closed; when the interpreter is killed, `reaper` does it.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        grace: float = 2.0,
        write_timeout: float = 10.0,
    ):
        self.command = list(command)
        self._options: dict[str, Any] = {"env": None if env is None else dict(env), "cwd": cwd}
        self._grace, self._write_timeout = grace, write_timeout
        self._child: _Child | None = None

    def open(
        self,
        on_payload: Callable[[bytes], None],
        on_close: Callable[[TransportClosed], None],
    ) -> None:
        """Start the process. Each line goes to `on_payload`; the end of output to `on_close`.

        Raises TransportClosed where the command cannot be started.
        """
        import weakref

        self._child = _Child(self.command, self._options, self._grace, on_payload, on_close)
        self._finalizer = weakref.finalize(self, self._child.close)

    def send(self, payload: bytes) -> None:
        """Write one message. Raises TransportClosed where the server is gone or does not read."""
        if self._child is None:
            raise TransportClosed("the transport was never opened")
        self._child.write(framing.to_line(payload), self._write_timeout)

    def close(self) -> None:
        """End the process and reap it; safe to call twice."""
        if self._child is not None:
            self._finalizer()

    @property
    def exit_code(self) -> int | None:
        """The exit code, or None while it runs."""
        return None if self._child is None else self._child.process.poll()

    @property
    def stderr_tail(self) -> str:
        """The last 64 kB that the server wrote to stderr."""
        return "" if self._child is None else self._child.stderr_tail()


class _Child:
    """The process and its threads; they hold no reference to the transport, so it can go."""

    def __init__(
        self,
        command: list[str],
        options: dict[str, Any],
        grace: float,
        on_payload: Callable[[bytes], None],
        on_close: Callable[[TransportClosed], None],
    ):
        self.process = _start(command, options)
        self._grace, self._on_payload, self._on_close = grace, on_payload, on_close
        self._closing = False
        self._writing = threading.Lock()
        self._tail = bytearray()
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self._stdin = self.process.stdin.fileno()
        os.set_blocking(self._stdin, os.name == "nt")
        self._drain = threading.Thread(target=self._read_stderr, daemon=True)
        self._reader = threading.Thread(target=self._read_stdout, daemon=True)
        self._drain.start()
        self._reader.start()

    def write(self, line: bytes, timeout: float) -> None:
        with self._writing:
            if self._closing:
                raise TransportClosed("the transport is closed")
            try:
                _write_within(self._stdin, line, timeout)
            except BaseException as trouble:
                # Half a line may be on the wire: the stream cannot be used any more.
                self.close()
                if not isinstance(trouble, OSError):
                    raise
                deaf = isinstance(trouble, TimeoutError)
                reason = "the server does not read its input" if deaf else "the server is gone"
                raise self._death(reason) from None

    def stderr_tail(self) -> str:
        return bytes(self._tail).decode("utf-8", "replace")

    def close(self) -> None:
        """Close its input, wait, terminate, kill; then whatever is left of its group."""
        if self._closing:
            return
        self._closing = True
        try:
            assert self.process.stdin
            self.process.stdin.close()
            for step in (None, "SIGTERM"):
                if step:
                    _signal_group(self.process, step)
                if _waits(self.process, self._grace):
                    break
        finally:
            _signal_group(self.process, "SIGKILL")
            self.process.wait()
            _forget(self.process.pid)
            for thread in (self._reader, self._drain):
                if thread is not threading.current_thread():
                    thread.join(self._grace)

    def _read_stdout(self) -> None:
        assert self.process.stdout
        splitter = framing.LineSplitter()
        with self.process.stdout as pipe:
            while chunk := _read(pipe.fileno()):
                for line in splitter.feed(chunk):
                    self._on_payload(line if isinstance(line, bytes) else line.head)
            if splitter.rest().strip():
                self._on_close(self._death("the server stopped in the middle of a message"))
            else:
                self._on_close(self._death("the server closed its output"))

    def _read_stderr(self) -> None:
        assert self.process.stderr
        with self.process.stderr as pipe:
            while chunk := _read(pipe.fileno()):
                self._tail += chunk
                del self._tail[:-CHUNK]

    def _death(self, reason: str) -> TransportClosed:
        """The end of output, with exit code and last words where they come within a moment."""
        _waits(self.process, 0.5)
        if threading.current_thread() is not self._drain:
            self._drain.join(0.5)
        return TransportClosed(reason, self.process.poll(), self.stderr_tail()[-2000:])


def _start(command: list[str], options: dict[str, Any]) -> subprocess.Popen[bytes]:
    import subprocess

    from mcp_bare import reaper

    try:
        process: subprocess.Popen[bytes] = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # its own group: ended as one, and spared our Ctrl-C
            **options,
        )
    except (OSError, ValueError) as trouble:
        raise TransportClosed(f"cannot start {command!r}: {trouble}") from None
    reaper.watch(process.pid)
    return process


def _forget(pid: int) -> None:
    from mcp_bare import reaper

    reaper.forget(pid)


def _waits(process: subprocess.Popen[bytes], seconds: float) -> bool:
    import subprocess

    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _signal_group(process: subprocess.Popen[bytes], name: str) -> None:
    """Signal the whole group, also when its leader is gone already."""
    import signal

    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, getattr(signal, name))
        else:
            process.kill()


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, CHUNK)
    except OSError:
        return b""


def _write_within(fd: int, data: bytes, timeout: float) -> None:
    """Write all of it, or raise OSError: the reader is gone, or does not read in time."""
    import selectors
    import time

    deadline = time.monotonic() + timeout
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            with selectors.DefaultSelector() as waiting:
                waiting.register(fd, selectors.EVENT_WRITE)
                if not waiting.select(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError(f"no room in the pipe for {timeout:g} s") from None
