"""The listening socket: it accepts, knows every open connection, and knows how to stop.

There is room for so many connections. To stop means: accept nothing more, close what is idle, end
the subscriptions with their response, give the requests in flight a moment, close what is left, and
wait until the threads are gone.

Does not handle: what happens on a connection (`http_connection`), or on which thread (`poller`).

Spec: basic/patterns/subscriptions, "Graceful Closure".
"""

from __future__ import annotations

import math
import os
import socket
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_bare.http_connection import HttpConnection
from mcp_bare.poller import ROOM, Poller
from mcp_bare.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_bare.http_rules import Rules
    from mcp_bare.server import Server

BACKLOG = 128  # connections that may wait to be accepted
JOIN_S = 1.0  # seconds for the threads to go
PAUSE_S = 0.2  # seconds until the next try, where a connection could not be accepted


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes, times in seconds."""

    max_body: int = 4 * 1024 * 1024
    request: float = 10.0  # to say a whole request
    write: float = 10.0  # to take what we write
    idle: float = 60.0  # between two requests
    keep_alive: float = 15.0  # of silence in a stream
    patience: float = 1.0  # for requests in flight when the server stops
    connections: int = 512


class Listener:
    """For the poller one more connection, on which others come.

    Holds no reference to the HttpServer before it, so that one can be dropped.
    """

    over, idle_until = False, math.inf

    def __init__(self, server: Server, address: tuple[str, int], rules: Rules, limits: Limits):
        self.mcp, self.rules, self.limits = server, rules, limits
        self.watch = Watch()
        self.stopping = False
        self._open: set[HttpConnection] = set()
        self._changed = threading.Condition()
        self._socket = _listening(address)
        self.address: tuple[str, int] = self._socket.getsockname()[:2]
        self._poller, self._room = Poller(self.watch), min(limits.connections, ROOM)

    def start(self) -> None:
        """Accept from now on. Raises RuntimeError where no thread can be had."""
        self._poller.add(self)
        self._poller.start()

    # --- called by the poller ---

    def fileno(self) -> int:
        """The listening socket's."""
        return self._socket.fileno()

    def serve(self, step_aside: Callable[[], None]) -> None:
        """Accept whoever has come; one that went away in the meantime is no news."""
        try:
            while True:
                self._welcome(HttpConnection(self, self._socket.accept()[0]))
        except (BlockingIOError, ConnectionError):  # that was all
            return
        except OSError as trouble:  # no more sockets to be had, perhaps: those who come wait
            if not self.stopping:
                print(f"cannot accept a connection: {trouble}", file=sys.stderr)
                step_aside()
                time.sleep(PAUSE_S)

    def close(self) -> None:
        """Accept nothing more."""
        self._socket.close()

    def _welcome(self, connection: HttpConnection) -> None:
        with self._changed:
            welcome = len(self._open) < self._room and not self.stopping
            if welcome:
                self._open.add(connection)
        if welcome:
            self._poller.add(connection)
            return
        try:
            self._poller.in_thread(connection.turn_away)
        except RuntimeError:  # nor is there room for a thread
            connection.close()

    # --- called by connections ---

    def leave(self, connection: HttpConnection) -> None:
        """A connection is over."""
        with self._changed:
            self._open.discard(connection)

    def request_done(self) -> None:
        """A connection has answered, and shows no reply any more."""
        if self.stopping:
            with self._changed:
                self._changed.notify_all()

    def stop(self) -> None:
        """As said above; a second call does nothing."""
        with self._changed:
            if self.stopping:
                return
            self.stopping = True
        self._poller.stop()
        self.close()
        with self._changed:
            connections = tuple(self._open)
        for connection in connections:
            connection.finish_soon()
        with self._changed:
            self._changed.wait_for(lambda: not self._busy(), self.limits.patience)
        for connection in connections:
            connection.end()
        self._poller.join(JOIN_S)

    def _busy(self) -> bool:
        return any(connection.reply is not None for connection in self._open)


def _listening(address: tuple[str, int]) -> socket.socket:
    sock = socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET)
    try:
        if os.name != "nt":  # where it would let another process listen on the same port
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, True)
        sock.bind(address)
        sock.listen(BACKLOG)
        sock.setblocking(False)
    except BaseException:
        sock.close()
        raise
    return sock
