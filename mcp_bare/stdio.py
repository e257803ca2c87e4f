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

from mcp_bare import framing, pipe_io
from mcp_bare.connection import Connection
from mcp_bare.errors import TransportClosed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from mcp_bare.child import Child
    from mcp_bare.server import Server


# --- the server's end ---


def serve(server: Server, principal: str | None = None, patience: float = 5.0) -> None:
    """Answer on standard input and output until the input ends.

    `principal` is whom this process works for: on stdio that comes from the environment, never
    from a message (basic/index, "Auth"). Requests in flight at the end get `patience` seconds.
    """
    wire_in, wire_out = _take_over_standard_streams()
    connection = Connection(
        server, lambda line: pipe_io.write_all(wire_out, line), principal, _in_thread
    )
    try:
        while chunk := os.read(wire_in, pipe_io.CHUNK):
            connection.receive(chunk)
        connection.end(patience)
    except (ConnectionError, KeyboardInterrupt):
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
