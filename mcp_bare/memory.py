"""A transport with nothing in between: the same server object, the same bytes, no process.

Used by tests, which then need no patience, and wherever there are no processes and no threads,
as in a browser. A request is answered before `send` returns.
"""

from __future__ import annotations

import weakref

from mcp_bare import framing
from mcp_bare.connection import Connection
from mcp_bare.errors import TransportClosed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_bare.server import Server


class MemoryTransport:
    """Client(MemoryTransport(server)) talks to a server in this very thread."""

    def __init__(self, server: Server, principal: str | None = None):
        self._server, self._principal = server, principal
        self._connection: Connection | None = None

    def open(
        self,
        on_payload: Callable[[bytes], None],
        on_close: Callable[[TransportClosed], None],
    ) -> None:
        """Connect. Nothing is ever lost here, so `on_close` is not called."""
        connection = Connection(
            self._server, lambda line: on_payload(line.rstrip(b"\n")), self._principal
        )
        self._connection = connection
        self._finalizer = weakref.finalize(self, connection.end, 0.0)  # dropped is closed

    def send(self, payload: bytes) -> None:
        """Hand one message over; the answers have arrived when this returns."""
        if self._connection is None:
            raise TransportClosed("the transport is closed")
        # A whole line, past the splitter: several threads may be here, and a handler that calls.
        self._connection.accept(framing.to_line(payload)[:-1])

    def close(self) -> None:
        """End the subscriptions; safe to call twice."""
        if self._connection is not None:
            self._finalizer()
            self._connection = None
