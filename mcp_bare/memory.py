"""A transport with nothing in between: the same server object, the same bytes, no process.

Used by tests, which then need no patience, and wherever there are no processes and no threads,
as in a browser. A request is answered before `send` returns.
"""

from __future__ import annotations

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
        self._connection = Connection(
            self._server, lambda line: on_payload(line.rstrip(b"\n")), self._principal
        )

    def send(self, payload: bytes) -> None:
        """Hand one message over; the answers have arrived when this returns."""
        if self._connection is None:
            raise TransportClosed("the transport is closed")
        self._connection.receive(framing.to_line(payload))

    def close(self) -> None:
        """End the subscriptions; safe to call twice."""
        if self._connection is not None:
            self._connection.end(0.0)
            self._connection = None
