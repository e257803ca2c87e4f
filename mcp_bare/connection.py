"""One pipe's worth of requests in flight: bytes in, bytes out, and no I/O of its own.

Feed it what was read; it writes whole lines through the callable it was given. It answers what is
no message, hands requests to the server, keeps track of which are in flight so that
`notifications/cancelled` finds them, and lets several run at once where `spawn` makes room.

Does not handle: opening pipes (`stdio`), or what a request means (`server`).

Spec: basic/transports/stdio, basic/patterns/cancellation.
"""

from __future__ import annotations

import sys
import threading

from mcp_bare import framing, jsonrpc, revision
from mcp_bare.call import Caller
from mcp_bare.errors import InternalError, InvalidRequest, ParseError, RpcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from mcp_bare.revision import JsonObject
    from mcp_bare.server import Server

    Spawn = Callable[[Callable[[], None]], None]

MAX_IN_FLIGHT = 256
MAY_BE_SLOW = revision.MULTI_ROUND_TRIP | {"completion/complete"}
"""What runs an author's code: not on the thread that reads, or no cancellation would be heard."""


def run_now(work: Callable[[], None]) -> None:
    """The spawn for a single thread: one request after the other."""
    work()


class Connection:
    """The server's end of one byte stream.

    connection = Connection(server, sys.stdout.buffer.write)
    connection.receive(b'{"jsonrpc":"2.0","id":1,"method":"server/discover",...}\\n')
    """

    def __init__(
        self,
        server: Server,
        write: Callable[[bytes], object],
        principal: str | None = None,
        spawn: Spawn = run_now,
    ):
        self._server, self._write, self._spawn = server, write, spawn
        self._caller = Caller(principal, self.send)
        self._lines = framing.LineSplitter()
        self._in_flight: dict[Any, list[bool]] = {}  # id -> [cancelled?]
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._ending = False
        self._writing = threading.RLock()

    def receive(self, chunk: bytes) -> None:
        """Take bytes as they come; every complete line is dealt with before this returns."""
        for line in self.lines([chunk]):
            self.accept(line)

    def lines(self, chunks: Iterable[bytes]) -> Iterator[bytes | framing.LineTooLong]:
        """The lines for `accept`, where one thread may take this one and another one the next."""
        for chunk in chunks:
            yield from self._lines.feed(chunk)

    def end(self, patience: float) -> bool:
        """End of input: wait for what is in flight, close subscriptions. False if work is left."""
        rest = self._lines.rest()
        if rest.strip():
            self.accept(rest)
        with self._idle:
            self._ending = True
            finished = self._idle.wait_for(lambda: not self._in_flight, patience)
        self._server.subscriptions.close(self._caller)
        return finished

    def send(self, message: JsonObject, cancelled: Sequence[bool] = (False,)) -> None:
        """Write one message as one line; whole, whichever thread it comes from."""
        said = encode(message)
        if said is None:
            return
        line = framing.to_line(said[1])
        with self._writing:
            # Looked at under the lock: after a cancellation nothing more is sent.
            if not cancelled[0]:
                self._write(line)

    def accept(self, line: bytes | framing.LineTooLong) -> None:
        """Take one line, without its newline."""
        try:
            if isinstance(line, framing.LineTooLong):
                raise ParseError(f"{line}; the limit here is {jsonrpc.MAX_BYTES}")
            message = jsonrpc.parse(line)
        except RpcError as problem:
            self.send(jsonrpc.error(problem))
            return
        kind = jsonrpc.kind(message)
        if kind == "request":
            self._start(message)
        elif kind == "notification" and message["method"] == revision.CANCELLED:
            self._cancel(message.get("params"))

    def _start(self, message: JsonObject) -> None:
        key, flag = jsonrpc.id_key(message["id"]), [False]
        with self._lock:
            refusal = self._no_room_for(key)
            if refusal is None:
                self._in_flight[key] = flag
        if refusal is not None:
            self.send(jsonrpc.error(refusal, message["id"]))
        elif message["method"] in MAY_BE_SLOW:
            self._spawn(lambda: self._run(message, key, flag))
        else:
            self._run(message, key, flag)

    def _no_room_for(self, key: Any) -> RpcError | None:
        if key in self._in_flight:
            return InvalidRequest(
                f"id {jsonrpc.brief(key[1])} belongs to a request in flight (basic/index)"
            )
        if len(self._in_flight) >= MAX_IN_FLIGHT:
            return InternalError(f"{MAX_IN_FLIGHT} requests are in flight already; try again")
        return None

    def _run(self, message: JsonObject, key: Any, flag: list[bool]) -> None:
        try:
            for answer in self._server.handle(message, self._caller, lambda: flag[0]):
                self.send(answer, flag)
        finally:
            with self._lock:
                self._in_flight.pop(key, None)
                if self._ending and not self._in_flight:
                    self._idle.notify_all()

    def _cancel(self, params: Any) -> None:
        """Invalid cancellations are ignored (basic/patterns/cancellation, "Error Handling")."""
        wanted = params.get("requestId") if isinstance(params, dict) else None
        if not jsonrpc.is_id(wanted) or self._server.subscriptions.cancel(wanted, self._caller):
            return
        flag = self._in_flight.get(jsonrpc.id_key(wanted))
        if flag is not None:
            with self._writing:
                flag[0] = True


def encode(message: JsonObject) -> tuple[JsonObject, bytes] | None:
    """The message and its bytes; where JSON cannot say it, an internal error's, or None.

    A notification has nobody who waits for it, and an error about it would be an answer without
    an id: it is left out, and stderr says so.
    """
    try:
        return message, jsonrpc.dumps(message)
    except (TypeError, ValueError) as trouble:
        if "id" not in message:
            print(f"left out {message.get('method')}: not JSON: {trouble}", file=sys.stderr)
            return None
        problem = InternalError(f"the result cannot be written as JSON: {trouble}")
        instead = jsonrpc.error(problem, message["id"])
        return instead, jsonrpc.dumps(instead)
