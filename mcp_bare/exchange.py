"""The client's desk: requests go out with an id, answers come back matched by exactly that id.

Several requests may be in flight. An answer that comes late, twice, or to nobody is noted on the
tape and dropped, so one timeout never shifts the answers of the next calls. When the other end
dies, everything in flight fails at once. Every wait is bounded.

Does not handle: what a request means (`client`), or moving bytes (a transport).

Spec: basic/index ("Messages"), basic/patterns/cancellation, basic/patterns/progress.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from typing import TYPE_CHECKING, Protocol

from mcp_bare import jsonrpc, revision
from mcp_bare.errors import ErrorResponse, McpError, RequestTimeout, RpcError, TransportClosed
from mcp_bare.tape import CAME, NOTE, SENT, Tape

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcp_bare.revision import JsonObject, RequestId

    Listener = Callable[[JsonObject], None]


class Transport(Protocol):
    """What a client needs of a wire: messages as bytes, one at a time, in order."""

    def open(
        self,
        on_payload: Callable[[bytes], None],
        on_close: Callable[[TransportClosed], None],
    ) -> None:
        """Connect; both callbacks may come from another thread."""

    def send(self, payload: bytes) -> None:
        """Send one message or raise TransportClosed."""

    def close(self) -> None:
        """Disconnect; safe to call twice."""


class Pending:
    """A request in flight. `result()` waits for it; `cancel()` gives it up."""

    def __init__(self, exchange: Exchange, message: JsonObject, listener: Listener | None):
        self.id: RequestId = message["id"]
        self.method: str = message["method"]
        self.listener = listener
        self._exchange = exchange
        self._done = threading.Event()
        self._result: JsonObject | None = None
        self._error: McpError | None = None

    def result(self, timeout: float | None = None) -> JsonObject:
        """The result object. Raises ErrorResponse, RequestTimeout or TransportClosed.

        An interrupt (Ctrl-C, or the stop button of a notebook) cancels the request and passes on;
        the connection stays usable.
        """
        seconds = self._exchange.timeout if timeout is None else timeout
        try:
            arrived = self._done.wait(seconds)
        except BaseException:
            self.cancel("interrupted")
            raise
        if not arrived:
            self.cancel(f"no answer within {seconds:g} s")
            if not self._done.is_set():
                raise RequestTimeout(self.method, self.id, seconds)
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def done(self) -> bool:
        """Has it been answered (or has it failed)?"""
        return self._done.is_set()

    def cancel(self, reason: str = "not wanted any more") -> None:
        """Tell the server to stop (basic/patterns/cancellation); a late answer is dropped."""
        self._exchange.cancel(self, reason)

    def settle(self, result: JsonObject | None = None, error: McpError | None = None) -> None:
        self._result, self._error = result, error
        self._done.set()


class Exchange:
    """Requests out and answers in, over one transport.

    `on_notification` hears what belongs to no request in flight; `on_request` may answer a
    request from a server of the legacy era (a modern server never sends one).
    """

    def __init__(self, transport: Transport, tape: Tape, timeout: float = 10.0):
        self.transport, self.tape, self.timeout = transport, tape, timeout
        self.on_notification: Listener | None = None
        self.on_request: Callable[[JsonObject], JsonObject] | None = None
        self._pending: dict[Any, Pending] = {}
        self._lock = threading.RLock()
        self._closed: TransportClosed | None = None
        # The transport's thread must not keep this object alive: dropped, it closes.
        myself = weakref.ref(self)
        transport.open(_forward(myself, "_received"), _forward(myself, "_lost"))

    def start(self, message: JsonObject, listener: Listener | None = None) -> Pending:
        """Send a request. `listener` hears the notifications that belong to it."""
        pending = Pending(self, message, listener)
        key = jsonrpc.id_key(pending.id)
        with self._lock:
            if self._closed is not None:
                raise self._closed
            if key in self._pending:
                raise ValueError(f"id {pending.id!r} is in flight already (basic/index)")
            self._pending[key] = pending
        try:
            self.send(message)
        except BaseException:
            with self._lock:
                self._pending.pop(key, None)
            raise
        return pending

    def send(self, message: JsonObject) -> None:
        """Send any message, and note it on the tape."""
        payload = jsonrpc.dumps(message)
        self.tape.record(SENT, payload)
        self.transport.send(payload)

    def cancel(self, pending: Pending, reason: str) -> None:
        with self._lock:
            if self._pending.pop(jsonrpc.id_key(pending.id), None) is None:
                return
        params = {"requestId": pending.id, "reason": reason}
        with contextlib.suppress(TransportClosed):  # then there is nothing left to cancel
            self.send(jsonrpc.notification(revision.CANCELLED, params))

    def close(self) -> None:
        """Close the transport; what is in flight fails."""
        self._lost(TransportClosed("the client was closed"))
        self.transport.close()

    @property
    def in_flight(self) -> int:
        return len(self._pending)

    # --- what arrives ---

    def _received(self, payload: bytes) -> None:
        try:
            message = jsonrpc.parse(payload)
        except RpcError as problem:
            self._unreadable(payload, problem)
            return
        self.tape.record(CAME, payload)
        kind = jsonrpc.kind(message)
        if kind == "notification":
            self._notified(message)
        elif kind == "request":
            self._asked(message)
        else:
            self._answered(message)

    def _unreadable(self, payload: bytes, problem: RpcError) -> None:
        """A line that is no message: skipped and counted; if it names a request, that one fails."""
        self.tape.record(NOTE, payload, "not a message")
        if problem.request_id is not None:
            self._settle(problem.request_id, error=problem)

    def _answered(self, message: JsonObject) -> None:
        answered = message.get("id")
        if answered is None:  # an error whose id the server could not read
            with self._lock:
                only = list(self._pending.values())
            answered = only[0].id if len(only) == 1 else None
        if "error" in message:
            known = self._settle(answered, error=ErrorResponse(message["error"], answered))
        else:
            known = self._settle(answered, result=message["result"])
        if not known:
            self.tape.record(NOTE, b"", f"nobody waits for the answer with id {answered!r}")

    def _settle(
        self,
        answered: RequestId | None,
        result: JsonObject | None = None,
        error: McpError | None = None,
    ) -> bool:
        if answered is None:
            return False
        with self._lock:
            pending = self._pending.pop(jsonrpc.id_key(answered), None)
        if pending is None:
            return False
        pending.settle(result, error)
        return True

    def _notified(self, message: JsonObject) -> None:
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        belongs = _belongs_to(message["method"], params)
        with self._lock:
            pending = self._pending.get(jsonrpc.id_key(belongs)) if belongs is not None else None
        for listener in (pending.listener if pending else None, self.on_notification):
            if listener is not None:
                self._tell(listener, message)

    def _tell(self, listener: Listener, message: JsonObject) -> None:
        try:
            listener(message)
        except Exception as trouble:  # a listener's mistake must not stop the reading
            self.tape.record(NOTE, b"", f"a listener failed: {trouble!r}")

    def _asked(self, message: JsonObject) -> None:
        if self.on_request is None:
            self.tape.record(NOTE, b"", "servers do not send requests (basic/transports/stdio)")
            return
        self.send(self.on_request(message))

    def _lost(self, why: TransportClosed) -> None:
        with self._lock:
            if self._closed is None:
                self._closed = why
            failing = list(self._pending.values())
            self._pending.clear()
        for pending in failing:
            pending.settle(error=why)


def _belongs_to(method: str, params: JsonObject) -> RequestId | None:
    """The id of the request a notification belongs to, where it says so.

    Our progress tokens are the ids of their requests.
    """
    meta = params.get("_meta")
    if method == revision.PROGRESS:
        found = params.get("progressToken")
    elif method == revision.CANCELLED:
        found = params.get("requestId")
    else:
        found = meta.get(revision.SUBSCRIPTION_ID) if isinstance(meta, dict) else None
    return found if jsonrpc.is_id(found) else None


def _forward(target: weakref.ref[Exchange], name: str) -> Callable[[Any], None]:
    def forward(what: Any) -> None:
        exchange = target()
        if exchange is not None:
            getattr(exchange, name)(what)

    return forward
