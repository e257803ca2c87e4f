"""Any number of connections, and one thread that waits for all of them and serves who has come.

Most requests are answered in less time than it takes to wake a thread. So nobody is woken for them:
the thread that waits runs what it found. Before it waits for anything else it steps aside, and is
made to where a request lasts (`watch`): another thread then waits for the rest, and the connection
comes back when it has been served. For a moment after a request lasted, or two in a row were slow,
each one gets a thread of its own at once.

    one thread   waits - serves - waits - serves ........ - gives it back, and goes
    another                                      ^ waits - serves - waits

Does not handle: what a connection says (`http_connection`), or who may connect (`http_listener`).
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import sys
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Protocol

from mcp_bare.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ROOM = 500 if sys.platform == "win32" else sys.maxsize
"""Connections that can be waited for: the `select` of Windows takes 512 sockets."""

TICK = 0.1  # seconds between two looks at who has been idle for too long
PATIENCE = 1.0  # seconds for the one whose turn it is to see that all is over
SLOW_S = 0.003  # seconds: far more than a thread's start costs
SEVERAL_S = 0.03  # seconds: what has come in the meantime is found in less


class Connection(Protocol):
    """What can be waited for."""

    over: bool  # nothing more is to be served
    idle_until: float  # when to close it, unless something comes

    def fileno(self) -> int:
        """For a selector."""

    def serve(self, step_aside: Callable[[], None]) -> None:
        """Serve what has come; `step_aside` is called before each wait. Never raises."""

    def close(self) -> None:
        """Called once, when it is over or everything is."""


class Poller:
    """One thread waits at a time: the one whose turn it is. Only that one uses the selector."""

    def __init__(self, watch: Watch) -> None:
        self._watch, self._selector = watch, selectors.DefaultSelector()
        self._woken, self._waker = socket.socketpair()
        for end in (self._woken, self._waker):
            end.setblocking(False)
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._lock = (
            threading.RLock()
        )  # a server that is dropped is stopped by any thread, at any point
        self._coming: list[Connection] = []  # to be waited for from now on
        self._serving: Connection | None = None  # by the one whose turn it is
        self._turn, self._several_until, self._look_at, self._over = 0, 0.0, 0.0, False
        self._ended = threading.Event()
        self._threads: set[threading.Thread] = set()

    def start(self) -> None:
        """Wait from now on. Raises RuntimeError where no thread can be had."""
        try:
            self._pass_on(0)
        except RuntimeError:
            self._end()
            raise

    def add(self, connection: Connection) -> None:
        """Wait for this one, too, and close it when it is over."""
        with self._lock:
            over = self._over
            if not over:
                if not self._coming:
                    self._wake()
                self._coming.append(connection)
        if over:
            connection.close()

    def stop(self) -> None:
        """Close whatever is waited for. What is being served goes on, and is closed then."""
        with self._lock:
            self._wake()
            self._over = True
        if threading.current_thread() not in self._threads:
            self._ended.wait(PATIENCE)

    def join(self, seconds: float) -> None:
        """Wait for the threads to go; one with a handler that does not end stays behind."""
        until = time.monotonic() + seconds
        for thread in tuple(self._threads):
            if thread.is_alive() and thread is not threading.current_thread():
                thread.join(max(until - time.monotonic(), 0.01))

    def in_thread(self, work: Callable[..., None], *about: Any) -> None:
        """Do it on another thread. Raises RuntimeError where none can be had."""

        def run() -> None:
            try:
                work(*about)
            finally:
                self._threads.discard(thread)

        thread = threading.Thread(target=run, name="mcp-http", daemon=True)
        self._threads.add(thread)
        try:
            thread.start()
        except RuntimeError:
            self._threads.discard(thread)
            raise

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError):  # it has enough to wake up for
            self._waker.send(b"!")

    # --- a thread's turn ---

    def _lead(self, turn: int, served: Connection | None) -> None:
        """Wait and serve, while it is this thread's turn. `served` is with the one before."""
        if served is not None:
            self._selector.unregister(served)

        def step_aside() -> None:
            with contextlib.suppress(RuntimeError):  # then the others wait, too
                self._pass_on(turn)

        def lasted() -> None:
            if self._pass_on(turn):
                self._several_until = time.monotonic() + SEVERAL_S

        slow = 0
        while not self._over:
            for key, _ in self._selector.select(TICK):
                begun = time.monotonic()
                if key.data is None:
                    self._take_in()
                elif begun >= self._several_until or not self._send_aside(key.data):
                    connection = self._serving = key.data
                    self._watch.run(partial(connection.serve, step_aside), lasted)
                    if turn != self._turn:
                        self._done_with(connection)
                        return
                    if connection.over:
                        self._drop(connection)
                    slow = slow + 1 if time.monotonic() - begun > SLOW_S else 0
                    if slow >= 2:  # one alone may have had to wait for the processor
                        slow, self._several_until = 0, time.monotonic() + SEVERAL_S
            if time.monotonic() >= self._look_at:
                self._drop_idle()
        self._end()

    def _pass_on(self, turn: int) -> bool:
        """End this turn; False where it had ended. Raises RuntimeError where no thread is had."""
        with self._lock:
            if turn != self._turn:
                return False
            # Counted before it starts: it may be slow at once, and two must not share a turn.
            self._turn = turn + 1
            try:
                self.in_thread(self._lead, turn + 1, self._serving)
            except RuntimeError:
                self._turn = turn
                raise
            return True

    def _send_aside(self, connection: Connection) -> bool:
        """Have it served by a thread of its own; False where none can be had."""
        self._selector.unregister(connection)
        try:
            self.in_thread(self._serve_alone, connection)
        except RuntimeError:
            self._selector.register(connection, selectors.EVENT_READ, connection)
            return False
        return True

    def _serve_alone(self, connection: Connection) -> None:
        connection.serve(lambda: None)
        self._done_with(connection)

    def _done_with(self, connection: Connection) -> None:
        """After it was served by a thread whose turn it is not."""
        if connection.over:
            connection.close()
        else:
            self.add(connection)

    def _take_in(self) -> None:
        with self._lock:
            coming, self._coming = self._coming, []
            self._woken.recv(4096)
        for connection in coming:
            self._selector.register(connection, selectors.EVENT_READ, connection)

    def _waited_for(self) -> list[Connection]:
        return [key.data for key in self._selector.get_map().values() if key.data is not None]

    def _drop(self, connection: Connection) -> None:
        self._selector.unregister(connection)
        connection.close()

    def _drop_idle(self) -> None:
        now = time.monotonic()
        self._look_at = now + TICK
        for connection in self._waited_for():
            if connection.idle_until <= now:
                self._drop(connection)

    def _end(self) -> None:
        for connection in (*self._waited_for(), *self._coming):
            connection.close()
        self._selector.close()
        self._woken.close()
        self._waker.close()
        self._ended.set()
