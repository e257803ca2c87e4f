"""Both ends of the stdio transport: serve one server, start another as a child process.

The serving end moves standard output away before it reads its first byte: what a tool prints goes
to stderr, and only whole messages reach the pipe. The client's end is `child`, under a handle that
closes it when it is dropped.

Does not handle: what the bytes mean (`connection` for a server, `exchange` for a client).

Spec: basic/transports/stdio.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time

from mcp_bare import framing, pipe_io
from mcp_bare.connection import Connection
from mcp_bare.errors import TransportClosed
from mcp_bare.watch import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from mcp_bare.child import Child
    from mcp_bare.server import Server

SEVERAL_S = 0.1  # seconds: what waits in the pipe is read in less


# --- the server's end ---


def serve(server: Server, principal: str | None = None, patience: float = 5.0) -> None:
    """Answer on standard input and output until the input ends.

    `principal` is whom this process works for: on stdio that comes from the environment, never
    from a message (basic/index, "Auth"). Requests in flight at the end get `patience` seconds.
    """
    wire_in, wire_out = take_over_standard_streams()
    reading = _Reading(wire_in)
    connection = Connection(
        server, lambda line: pipe_io.write_all(wire_out, line), principal, reading.run
    )
    with contextlib.suppress(ConnectionError, KeyboardInterrupt):  # the client, or we, are to go
        if reading.until_the_end(connection):
            connection.end(patience)


class _Reading:
    """One thread at a time reads, and runs what it read; while that lasts, another one reads on.

    Where one call lasted, those that wait may: for a moment each gets a thread of its own at once.
    """

    def __init__(self, wire_in: int):
        self._chunks = iter(lambda: os.read(wire_in, pipe_io.CHUNK), b"")
        self._watch, self._over = Watch(), threading.Event()
        self._turn, self._several_until, self._gone = 0, 0.0, False

    def until_the_end(self, connection: Connection) -> bool:
        """Wait until the input ends; False where the client takes no answer any more."""
        self._lines, self._accept = connection.lines(self._chunks), connection.accept
        self._read_on()
        while not self._over.wait(3600.0):
            pass
        return not self._gone

    def run(self, work: Callable[[], None]) -> None:
        """Run a call here, or on another thread where the one before has lasted."""
        if time.monotonic() >= self._several_until:
            self._watch.run(work, self._read_on)
        else:
            _in_thread(work)

    def _read_on(self) -> None:
        """Another thread reads from now on. Raises RuntimeError where none can be had."""
        # Counted before it starts: it may be slow at once, and two readers must not share a turn.
        turn = self._turn = self._turn + 1
        reading = threading.Thread(target=self._read, args=(turn,), name="mcp-stdio", daemon=True)
        try:
            reading.start()
        except RuntimeError:
            self._turn = turn - 1
            raise
        self._several_until = time.monotonic() + SEVERAL_S * (turn > 1)

    def _read(self, turn: int) -> None:
        mine = True
        try:
            while mine and (line := next(self._lines, None)) is not None:
                self._accept(line)
                mine = turn >= self._turn
        except ConnectionError:
            self._gone = True
        finally:
            if mine:
                self._over.set()


def take_over_standard_streams() -> tuple[int, int]:
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


def _in_thread(work: Callable[[], None]) -> None:
    def quietly() -> None:
        with contextlib.suppress(ConnectionError):  # nobody reads: the reading loop ends us
            work()

    try:
        threading.Thread(target=quietly, daemon=True).start()
    except RuntimeError:  # no thread to be had: it runs here, and the next line waits
        quietly()


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
        self._child: Child | None = None

    def open(
        self,
        on_payload: Callable[[bytes], None],
        on_close: Callable[[TransportClosed], None],
    ) -> None:
        """Start the process. Each line goes to `on_payload`; the end of output to `on_close`.

        Raises TransportClosed where the command cannot be started.
        """
        import weakref

        from mcp_bare.child import Child  # a server needs none of it

        child = Child(self.command, self._options, self._grace, on_payload, on_close)
        self._finalizer = weakref.finalize(self, child.close)
        self._child = child
        child.start()

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
