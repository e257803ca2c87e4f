"""The listening socket: it accepts, knows every open connection, and knows how to stop.

Each connection has a thread, and there is room for so many. To stop means: accept nothing more, end
the subscriptions with their response, give the requests in flight a moment, close what is left, and
wait until the threads are gone.

Does not handle: what happens on a connection (`http_connection`).

Spec: basic/patterns/subscriptions, "Graceful Closure".
"""

from __future__ import annotations

import contextlib
import os
import socket
import socketserver
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_bare.http_connection import HttpConnection
from mcp_bare.watch import Watch

if TYPE_CHECKING:
    from typing import Any

    from mcp_bare.http_rules import Rules
    from mcp_bare.server import Server

TICK = 0.1  # seconds between two looks at whether to stop
JOIN_S = 1.0  # seconds for the threads to go; one with a handler that does not end stays behind


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


class Listener(socketserver.ThreadingTCPServer):
    """Holds no reference to the HttpServer before it, so that one can be dropped."""

    daemon_threads = True
    request_queue_size = 128
    allow_reuse_address = os.name != "nt"

    def __init__(self, server: Server, address: tuple[str, int], rules: Rules, limits: Limits):
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.mcp, self.rules, self.limits = server, rules, limits
        self.watch = Watch()
        self.stopping = False
        self._open: dict[HttpConnection, threading.Thread] = {}
        self._changed = threading.Condition()
        super().__init__(address, HttpConnection)
        self._accepting = threading.Thread(
            target=self.serve_forever, args=(TICK,), name="mcp-http-accept", daemon=True
        )

    def start(self) -> None:
        """Accept from now on. Raises RuntimeError where no thread can be had."""
        try:
            self._accepting.start()
        except RuntimeError:
            self.server_close()
            raise

    def enter(self, connection: HttpConnection) -> bool:
        """A connection was accepted; False where there is no room, or no more service."""
        with self._changed:
            welcome = len(self._open) < self.limits.connections and not self.stopping
            if welcome:
                self._open[connection] = threading.current_thread()
            return welcome

    def leave(self, connection: HttpConnection) -> None:
        """A connection is over."""
        with self._changed:
            self._open.pop(connection, None)

    def request_done(self) -> None:
        """A connection has answered."""
        with self._changed:
            self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A thread failed: a client that went away is no news, a mistake of ours is."""
        if not isinstance(sys.exception(), OSError):
            traceback.print_exc(file=sys.stderr)

    def stop(self) -> None:
        """As said above; a second call does nothing."""
        with self._changed:
            if self.stopping:
                return
            self.stopping = True
        with contextlib.suppress(OSError):  # wakes the accepting thread, but not on every system
            self.socket.shutdown(socket.SHUT_RDWR)
        self.shutdown()
        self.server_close()
        with self._changed:
            connections = dict(self._open)
        for connection in connections:
            connection.finish_soon()
        with self._changed:
            self._changed.wait_for(lambda: not self._busy(), self.limits.patience)
        for connection in connections:
            connection.end()
        until = time.monotonic() + JOIN_S
        for thread in (self._accepting, *connections.values()):
            if thread is not threading.current_thread():
                thread.join(max(until - time.monotonic(), 0.01))

    def _busy(self) -> bool:
        return any(connection.outbox is not None for connection in self._open)
