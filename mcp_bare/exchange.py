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
from mcp_bare.errors import (
    ErrorResponse,
    InternalError,
    McpError,
    ProtocolViolation,
    RequestLost,
    RequestTimeout,
    RpcError,
    TransportClosed,
)
from mcp_bare.tape import CAME, NOTE, SENT, Tape

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcp_bare.revision import JsonObject, RequestId

    Listener = Callable[[JsonObject], None]


class OnPayload(Protocol):
    """Takes what arrived; `asked` is the request on whose own stream it came, where it has one."""

    def __call__(self, payload: bytes, asked: RequestId | None = None) -> None: ...


class Transport(Protocol):
    """What a client needs of a wire: messages as bytes, one at a time, in order.

    A transport where requests do not share one stream may also have `cancel(id)`: True where it has
    cancelled in a way of its own, False where the message is due; and say RequestLost when closing
    concerns one request only. One with `silence_counts = False` is never taken for legacy because
    it says nothing (`era`).
    """

    def open(self, on_payload: OnPayload, on_close: Callable[[TransportClosed], None]) -> None:
        """Connect; both callbacks may come from another thread."""

    def send(self, payload: bytes) -> None:
        """Send one message or raise TransportClosed."""

    def close(self) -> None:
        """Disconnect; safe to call twice."""


class Pending:
    """A request in flight. `result()` waits for it; `cancel()` gives it up.

    It does not keep its exchange alive: when the client is dropped, the connection closes, also
    while requests are in flight.
    """

    def __init__(self, exchange: Exchange, message: JsonObject, listener: Listener | None):
        self.id: RequestId = message["id"]
        self.method: str = message["method"]
        self.listener = listener
        self._exchange = weakref.ref(exchange)
        self._done = threading.Event()
        self._outcome: Callable[[], JsonObject] = _raising(
            lambda: TransportClosed("the client was dropped")
        )

    def result(self, timeout: float | None = None) -> JsonObject:
        """The result object. Raises ErrorResponse, ProtocolViolation, RequestTimeout,
        TransportClosed, or McpError where the request was cancelled.

        An interrupt (Ctrl-C, or the stop button of a notebook) cancels the request and passes on;
        the connection stays usable.
        """
        exchange = self._exchange()
        if exchange is None or self._done.is_set():
            return self._outcome()
        seconds = exchange.timeout if timeout is None else timeout
        try:
            exchange.check_may_wait()
            arrived = self._done.wait(seconds)
        except BaseException:
            self.cancel("interrupted")
            raise
        if not arrived and self.cancel(f"no answer within {seconds:g} s"):
            raise RequestTimeout(self.method, self.id, seconds)
        return self._outcome()

    def done(self) -> bool:
        """Has it been answered, or failed, or been cancelled?"""
        return self._done.is_set()

    def cancel(self, reason: str = "not wanted any more") -> bool:
        """Tell the server to stop (basic/patterns/cancellation); a late answer is dropped.

        False where there was nothing left to cancel.
        """
        exchange = self._exchange()
        return exchange is not None and exchange.cancel(self, reason)

    def settle(self, outcome: Callable[[], JsonObject]) -> None:
        """`outcome` returns the result or raises; whoever waits goes on."""
        self._outcome = outcome
        self._done.set()


class Exchange:
    """Requests out and answers in, over one transport.

    `on_notification` hears what belongs to no request in flight; `on_request` may answer a
    request from a server of the legacy era (a modern server never sends one). `skipped` counts
    what came and was no message.
    """

    def __init__(self, transport: Transport, tape: Tape, timeout: float = 10.0):
        self.transport, self.tape, self.timeout = transport, tape, timeout
        self.on_notification: Listener | None = None
        self.on_request: Callable[[JsonObject], JsonObject] | None = None
        self.skipped = 0
        self._pending: dict[Any, Pending] = {}
        self._lock = threading.RLock()
        self._closed: TransportClosed | None = None
        self._only_requests = True  # have we sent nothing else so far?
        self._telling = threading.local()
        # The transport's thread must not keep this object alive: dropped, it closes.
        myself = weakref.ref(self)
        transport.open(_forward(myself, "_received"), _forward(myself, "_lost"))

    def start(self, message: JsonObject, listener: Listener | None = None) -> Pending:
        """Send a request. `listener` hears the notifications that belong to it."""
        pending = Pending(self, message, listener)
        key = jsonrpc.id_key(pending.id)
        with self._lock:
            if self._closed is not None:
                raise _again(self._closed)
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
        if jsonrpc.kind(message) != "request":
            self._only_requests = False
        self.tape.record(SENT, payload)
        self.transport.send(payload)

    def cancel(self, pending: Pending, reason: str) -> bool:
        """Give a request up; False where it is not in flight."""
        with self._lock:
            if self._pending.pop(jsonrpc.id_key(pending.id), None) is None:
                return False
            what = f"{pending.method} (id {pending.id!r}) was cancelled: {reason}"
            pending.settle(_raising(lambda: McpError(what)))
        in_its_own_way = getattr(self.transport, "cancel", None)
        if in_its_own_way is not None and in_its_own_way(pending.id):
            self.tape.record(NOTE, b"", f"{what}; its stream was closed")
            return True
        if pending.method == "initialize":  # the one request that a client must not cancel
            return True
        params = {"requestId": pending.id, "reason": reason}
        with contextlib.suppress(TransportClosed):  # then there is nothing left to cancel
            self.send(jsonrpc.notification(revision.CANCELLED, params))
        return True

    def close(self) -> None:
        """Close the transport; what is in flight fails."""
        self._lost(TransportClosed("the client was closed"))
        self.transport.close()

    def check_may_wait(self) -> None:
        """Raise McpError on the thread that would have to read what is waited for."""
        if getattr(self._telling, "now", False):
            raise McpError(
                "a listener cannot wait for an answer, it runs on the thread that reads the "
                "answers; use start(), or do it after the listener has returned"
            )

    @property
    def in_flight(self) -> int:
        return len(self._pending)

    # --- what arrives ---

    def _received(self, payload: bytes, asked: RequestId | None = None) -> None:
        if not payload:  # an event that only primes a stream, or keeps it open
            self.tape.record(NOTE, b"", "an event without data")
            return
        try:
            message = jsonrpc.parse(payload)
        except RpcError as problem:
            self._unreadable(payload, problem)
            return
        self.tape.record(CAME, payload)
        kind = jsonrpc.kind(message)
        if kind == "notification":
            self._notified(message, asked)
        elif kind == "request":
            self._asked(message)
        else:
            self._answered(message, asked)

    def _unreadable(self, payload: bytes, problem: RpcError) -> None:
        """A line that is no message: skipped and counted; if it answers a request, that fails."""
        self.skipped += 1
        self.tape.record(NOTE, payload, "not a message")
        if problem.request_id is not None and "method" not in jsonrpc.loads(payload):
            id = jsonrpc.brief(problem.request_id)
            what = f"the answer to id {id} is no message: {problem.message}"
            self._settle(problem.request_id, _raising(lambda: ProtocolViolation(what)))

    def _answered(self, message: JsonObject, asked: RequestId | None) -> None:
        answered = message.get("id")
        if asked is not None:  # a stream of its own: an error there is about it, whatever its id
            fits = "error" in message or (type(answered), answered) == jsonrpc.id_key(asked)
            answered = asked if fits else None
        elif answered is None:  # an error whose id the server could not read
            answered = self._only_candidate()
        outcome = (
            _raising(lambda: ErrorResponse(message["error"], answered))
            if "error" in message
            else lambda: message["result"]
        )
        if answered is None or not self._settle(answered, outcome):
            what = f"nobody waits for the answer with id {jsonrpc.brief(message.get('id'))}"
            self.tape.record(NOTE, b"", what)

    def _only_candidate(self) -> RequestId | None:
        """The request that an error without an id must be about, where there is no doubt.

        There is doubt once a notification went out, and a cancellation is one: a guess would
        fail a call for what another message did.
        """
        with self._lock:
            ids = [pending.id for pending in self._pending.values()]
        return ids[0] if len(ids) == 1 and self._only_requests else None

    def _settle(self, answered: RequestId, outcome: Callable[[], JsonObject]) -> bool:
        with self._lock:  # so that who fails to cancel it finds it settled
            pending = self._pending.pop(jsonrpc.id_key(answered), None)
            if pending is not None:
                pending.settle(outcome)
        return pending is not None

    def _notified(self, message: JsonObject, asked: RequestId | None) -> None:
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        belongs = _belongs_to(message["method"], params) if asked is None else asked
        with self._lock:
            pending = self._pending.get(jsonrpc.id_key(belongs)) if belongs is not None else None
        for listener in (pending.listener if pending else None, self.on_notification):
            if listener is not None:
                self._tell(listener, message)

    def _tell(self, listener: Listener, message: JsonObject) -> None:
        before, self._telling.now = getattr(self._telling, "now", False), True
        try:
            listener(message)
        except Exception as trouble:  # a listener's mistake must not stop the reading
            self.tape.record(NOTE, b"", f"a listener failed: {trouble!r}")
        finally:
            self._telling.now = before

    def _asked(self, message: JsonObject) -> None:
        if self.on_request is None:
            self.tape.record(NOTE, b"", "servers do not send requests (basic/transports/stdio)")
            return
        # On a thread of its own: whoever answers may take a minute, and reading must go on.
        work = (self.on_request, message)
        threading.Thread(target=self._reply, args=work, daemon=True).start()

    def _reply(self, answer: Callable[[JsonObject], JsonObject], message: JsonObject) -> None:
        try:
            response = answer(message)
            jsonrpc.dumps(response)
        except Exception as trouble:
            self.tape.record(NOTE, b"", f"a handler failed: {trouble!r}")
            failure = InternalError("the client's handler failed")
            response = jsonrpc.error(failure, message["id"])
        with contextlib.suppress(TransportClosed):  # nobody is left to hear it
            self.send(response)

    def _lost(self, why: TransportClosed) -> None:
        if isinstance(why, RequestLost):
            if why.request_id is not None:
                self._settle(why.request_id, _raising(lambda: _again(why)))
            return
        with self._lock:
            if self._closed is None:
                self._closed = why
            failing = list(self._pending.values())
            self._pending.clear()
            for pending in failing:
                pending.settle(_raising(lambda: _again(why)))


def _raising(make: Callable[[], McpError]) -> Callable[[], JsonObject]:
    """An outcome that raises, a new exception each time.

    One that was kept would keep the frames it passed through, and with them a dropped client.
    """

    def outcome() -> JsonObject:
        raise make()

    return outcome


def _again(why: TransportClosed) -> TransportClosed:
    if isinstance(why, RequestLost):
        again = RequestLost(why.reason, why.request_id, why.status)
        again.__cause__ = why.__cause__
        return again
    return TransportClosed(why.reason, why.exit_code, why.stderr_tail)


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


def _forward(target: weakref.ref[Exchange], name: str) -> Callable[..., None]:
    def forward(*what: Any) -> None:
        exchange = target()
        if exchange is not None:
            getattr(exchange, name)(*what)

    return forward
