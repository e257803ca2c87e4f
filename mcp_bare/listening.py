"""The client's end of `subscriptions/listen`: a request whose answer is kept open.

    with client.listen({"toolsListChanged": True}, print) as open_stream:
        open_stream.agreed                      # what the server will send
        ...

It is open from the acknowledgement on, and ends when we close it, when the server tears it down
(a cancellation, and mostly a response too), or when the connection goes.

Does not handle: opening it again after a lost connection, which the client must do.

Spec: basic/patterns/subscriptions, basic/patterns/cancellation.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from mcp_bare import revision
from mcp_bare.errors import ProtocolViolation, RequestTimeout

if TYPE_CHECKING:
    from mcp_bare.client import Client
    from mcp_bare.exchange import Listener
    from mcp_bare.revision import JsonObject


class Subscription:
    """An open `subscriptions/listen`. `agreed` is what the server will send; `close()` ends it.

    `on_event` is called by whoever reads: it must not wait for an answer of the same server.
    """

    def __init__(self, client: Client, notifications: JsonObject, on_event: Listener):
        self._acknowledged, self._torn_down = threading.Event(), threading.Event()
        self._on_event, self._invalidate = on_event, client.cache.invalidate
        self.agreed: JsonObject = {}
        self.pending = client.start(
            revision.LISTEN, {"notifications": notifications}, on_notification=self._hear
        )
        self._await_acknowledgement(client.exchange.timeout)

    def _await_acknowledgement(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        try:
            while not self._acknowledged.wait(0.01) and not self.pending.done():
                if time.monotonic() > deadline:
                    raise RequestTimeout(revision.LISTEN, self.pending.id, seconds)
        except BaseException:
            self.close()
            raise
        if not self._acknowledged.is_set():
            self.pending.result()  # the error that came in place of the acknowledgement
            raise ProtocolViolation("a subscription ended unacknowledged (patterns/subscriptions)")

    def _hear(self, message: JsonObject) -> None:
        if message["method"] == revision.ACKNOWLEDGED:
            agreed = message["params"].get("notifications")
            self.agreed = agreed if isinstance(agreed, dict) else {}
            self._acknowledged.set()
        elif message["method"] == revision.CANCELLED:  # the only thing a server may cancel
            self._torn_down.set()
        else:
            self._invalidate(message)  # first, so that a listener that asks again gets news
            self._on_event(message)

    @property
    def ended(self) -> bool:
        """Has the server ended it (or the connection gone)?"""
        return self._torn_down.is_set() or self.pending.done()

    def close(self) -> None:
        """Stop listening."""
        self.pending.cancel("not listening any more")

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
