"""One message and what is said to it: the handler fills an outbox, a thread writes what is in it.

The handler runs on the thread that read the request, which writes when it is done. Should it last
(`watch`), another thread writes what there is, sees that the client has hung up, which cancels the
request, and keeps the line alive where nothing is said for long.

    the first message is the response     JSON, with the status that its code has
    anything comes before, or nothing     a stream: each message an event, a comment in between
    for `keep_alive` seconds

Does not handle: how a response looks (`http_answer`), or the next request (`http_connection`).

Spec: basic/transports/streamable-http, "Receiving Messages", "Cancellation".
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from mcp_bare import jsonrpc
from mcp_bare.call import Caller
from mcp_bare.errors import InternalError
from mcp_bare.http_rules import STATUS
from mcp_bare.outbox import Ended, Outbox, fill, is_response
from mcp_bare.revision import LISTEN

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_bare.http_answer import Answer
    from mcp_bare.http_listener import Listener
    from mcp_bare.http_wire import Wire
    from mcp_bare.revision import JsonObject

TICK = 0.1  # seconds between two looks at whether the client is still there


class Reply:
    """`over` is called where the connection ends while the handler still runs."""

    def __init__(
        self,
        listener: Listener,
        wire: Wire,
        answer: Answer,
        message: JsonObject,
        principal: str | None,
        over: Callable[[], None],
    ):
        self._listener, self._wire, self._answer = listener, wire, answer
        self._message, self._over = message, over
        self._outbox = Outbox()
        self._caller = Caller(principal, self._outbox.offer)
        self._aside: threading.Thread | None = None  # most need none
        self._trouble: BaseException | None = None  # what came of it there

    def run(self) -> None:
        """Have it answered. Raises EOFError, OSError where the client is gone."""
        try:
            if self._listener.watch.run(self._fill, self._write_aside):
                self._wait_for_aside()
            else:
                self._write()
        finally:
            self._outbox.cancel()
            if self._message["method"] == LISTEN:
                self._listener.mcp.subscriptions.cancel(self._message["id"], self._caller)

    def finish_soon(self) -> None:
        """End what has no end of its own, with its response; called by whoever stops the server."""
        self._listener.mcp.subscriptions.close(self._caller)

    def cancel(self) -> None:
        """Say no more; from any thread."""
        self._outbox.cancel()

    def _fill(self) -> None:
        fill(self._outbox, self._listener.mcp, self._message, self._caller)

    def _write_aside(self) -> None:
        """Have another thread write. Raises RuntimeError where none can be had."""
        thread = threading.Thread(target=self._keep_writing, name="mcp-http-write", daemon=True)
        thread.start()
        self._aside = thread

    def _wait_for_aside(self) -> None:
        assert self._aside
        self._aside.join()
        if self._trouble is not None:
            raise self._trouble

    def _keep_writing(self) -> None:
        try:
            self._write()
        except BaseException as trouble:
            self._answer.stays_open, self._trouble = False, trouble
        if not self._answer.stays_open:  # the handler may take its time to notice
            self._outbox.cancel()
            self._over()

    def _write(self) -> None:
        """Write all that is said; where that is no response, the connection cannot go on."""
        try:
            self._forward()
        except Ended:
            self._answer.stays_open = False
            if not self._answer.streaming and self._listener.stopping:
                problem = jsonrpc.error(
                    InternalError("the server is stopping"), self._message["id"]
                )
                self._answer.send_json(503, jsonrpc.dumps(problem))

    def _forward(self) -> None:
        """Write what the outbox gives, up to the response. Raises Ended where there is none."""
        answer, spoke, last = self._answer, time.monotonic(), False
        while not last:
            if self._outbox.is_empty():
                self._wire.step_aside()
            said = self._outbox.take(TICK)
            if said is not None:
                message, payload = said
                last = is_response(message)
                if last and not answer.streaming:
                    answer.send_json(_status(message), payload)
                else:
                    answer.send_event(payload, last=last)
            elif self._wire.has_hung_up():
                raise EOFError("the client closed the connection")
            elif time.monotonic() - spoke < self._listener.limits.keep_alive:
                continue
            else:
                answer.keep_alive()
            spoke = time.monotonic()


def _status(response: JsonObject) -> int:
    return STATUS.get(response["error"]["code"], 200) if "error" in response else 200
