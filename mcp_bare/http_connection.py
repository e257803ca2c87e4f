"""One connection: read a request, answer it, and again, until one end has had enough.

A handler runs on the connection's thread and fills an outbox, which is written when it is done.
Should it last (`watch`), another thread writes what there is, sees that the client has hung up,
which cancels the request, and keeps the line alive where nothing is said for long. One thread at a
time touches the socket.

    the first message is the response     JSON, with the status that its code has
    anything comes before, or nothing     a stream: each message an event, a comment in between
    for `keep_alive` seconds
    a notification came                   202, without a body

Does not handle: what is allowed (`http_rules`), how a response looks (`http_answer`).

Spec: basic/transports/streamable-http, "Receiving Messages", "Cancellation".
"""

from __future__ import annotations

import contextlib
import io
import socket
import socketserver
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING

from mcp_bare import http_request, jsonrpc
from mcp_bare.call import Caller
from mcp_bare.errors import InternalError, Refused
from mcp_bare.http_answer import Answer, has_hung_up
from mcp_bare.http_rules import STATUS
from mcp_bare.outbox import Ended, Outbox, fill, is_response

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcp_bare.http_listener import Listener
    from mcp_bare.http_request import Request
    from mcp_bare.revision import JsonObject

TICK = 0.1  # seconds between two looks at whether the client is still there
LINGER = 1.0  # seconds for a client to finish saying what nobody reads


class HttpConnection(socketserver.BaseRequestHandler):
    """`outbox` is that of the request being answered, None in between."""

    server: Listener
    request: socket.socket

    def setup(self) -> None:
        """Called by socketserver, in the connection's thread."""
        self.outbox: Outbox | None = None
        self._caller: Caller | None = None
        self._limits = self.server.limits
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        self._raw = _Clocked(self.request)
        self._stream = io.BufferedReader(self._raw)

    def handle(self) -> None:
        """Called by socketserver, then: until the connection is over."""
        with contextlib.suppress(EOFError, OSError):  # the client went away: no news
            if not self.server.enter(self):
                refusal = http_request.refused(503, InternalError("no room for more connections"))
                self._send(Answer(self.request, None, False), refusal)
                return
            try:
                while not self.server.stopping and self._serve_one():
                    pass
            finally:
                self.server.leave(self)

    def _serve_one(self) -> bool:
        """Answer the next request. False where the connection is to be closed."""
        self._raw.deadline = time.monotonic() + self._limits.idle
        if not self._stream.peek(1):
            return False
        self._raw.deadline = time.monotonic() + self._limits.request
        try:
            request = http_request.read(self._stream, self._limits.max_body, self._go_on)
        except Refused as refusal:
            return self._refuse(None, refusal)
        except TimeoutError:
            return self._refuse(None, http_request.refused(408, "the request took too long"))
        if request is None:
            return False
        try:
            message, principal = self.server.rules.admit(request, self.server.mcp)
        except Refused as refusal:
            return self._refuse(request, refusal)
        except Exception:  # a guard's mistake, or ours: not for the client to read
            traceback.print_exc(file=sys.stderr)
            return self._refuse(request, http_request.refused(500, InternalError("Internal error")))
        answer = Answer(self.request, request, request.keeps_alive)
        self.request.settimeout(self._limits.write)
        if jsonrpc.kind(message) == "notification":
            answer.send(202, {}, b"")
        else:
            self._answer(answer, message, principal)
        return answer.stays_open

    def _go_on(self) -> None:
        self.request.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _refuse(self, request: Request | None, refusal: Refused) -> bool:
        answer = Answer(self.request, request, request is not None and request.keeps_alive)
        self._send(answer, refusal)
        return answer.stays_open

    def _send(self, answer: Answer, refusal: Refused) -> None:
        """Send a refusal; before closing, let the rest of what the client says arrive.

        Closed at once, the connection would be reset, and the client might never see why.
        """
        self.request.settimeout(self._limits.write)
        answer.send(refusal.status, refusal.headers, refusal.body)
        if answer.stays_open:
            return
        self.request.shutdown(socket.SHUT_WR)
        until = time.monotonic() + LINGER
        while (left := until - time.monotonic()) > 0:
            self.request.settimeout(left)
            if not self.request.recv(65536):
                break

    # --- one message ---

    def _answer(self, answer: Answer, message: JsonObject, principal: str | None) -> None:
        outbox = Outbox()
        caller = Caller(principal, outbox.offer)
        self._caller, self.outbox = caller, outbox
        try:
            self._run(answer, outbox, message, caller)
        finally:
            outbox.cancel()
            self.server.mcp.subscriptions.cancel(message["id"], caller)
            self._caller = self.outbox = None
            self.server.request_done()

    def _run(self, answer: Answer, outbox: Outbox, message: JsonObject, caller: Caller) -> None:
        """Have it answered here; should that last, what it says is written by another thread."""

        def deliver() -> None:
            try:
                self._forward(answer, outbox)
            except Ended:
                answer.stays_open = False
                if not answer.streaming and self.server.stopping:
                    problem = InternalError("the server is stopping")
                    answer.send_json(503, jsonrpc.dumps(jsonrpc.error(problem, message["id"])))

        def deliver_aside() -> None:
            try:
                deliver()
            except BaseException:
                answer.stays_open = False
                raise
            finally:
                if not answer.stays_open:
                    self._over(outbox)

        aside = _Aside(deliver_aside)
        lasted = self.server.watch.run(
            lambda: fill(outbox, self.server.mcp, message, caller), aside.start
        )
        if lasted:
            aside.finish()
        else:
            deliver()

    def _over(self, outbox: Outbox) -> None:
        """The connection ends while a handler runs, which may take its time to notice."""
        outbox.cancel()
        self.server.leave(self)
        with contextlib.suppress(OSError):
            self.request.shutdown(socket.SHUT_WR)

    def _forward(self, answer: Answer, outbox: Outbox) -> None:
        """Write what the outbox gives, up to the response. Raises Ended where there is none."""
        spoke, last = time.monotonic(), False
        while not last:
            said = outbox.take(TICK)
            if said is not None:
                message, payload = said
                last = is_response(message)
                if last and not answer.streaming:
                    answer.send_json(_status(message), payload)
                else:
                    answer.send_event(payload, last=last)
            elif has_hung_up(self.request):
                raise EOFError("the client closed the connection")
            elif time.monotonic() - spoke < self._limits.keep_alive:
                continue
            else:
                answer.keep_alive()
            spoke = time.monotonic()

    # --- called by the thread that stops the server ---

    def finish_soon(self) -> None:
        """End what has no end of its own, with its response; close a connection that idles."""
        caller = self._caller
        if caller is None:
            self.end()
        else:
            self.server.mcp.subscriptions.close(caller)

    def end(self) -> None:
        """Now: cancel, or wake up from reading."""
        outbox = self.outbox
        if outbox is not None:
            outbox.cancel()
        else:
            with contextlib.suppress(OSError):
                self.request.shutdown(socket.SHUT_RD)


class _Aside:
    """Work on a thread of its own, and what came of it."""

    def __init__(self, work: Callable[[], None]):
        self._work = work
        self._trouble: BaseException | None = None
        self._thread: threading.Thread | None = None  # most requests need none

    def start(self) -> None:
        """Raises RuntimeError where no thread can be had."""
        thread = threading.Thread(target=self._run, name="mcp-http-write", daemon=True)
        thread.start()
        self._thread = thread

    def finish(self) -> None:
        """Wait for its end, and raise what it raised."""
        assert self._thread
        self._thread.join()
        if self._trouble is not None:
            raise self._trouble

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as trouble:
            self._trouble = trouble


class _Clocked(io.RawIOBase):
    """A socket that can be read until a point in time."""

    def __init__(self, sock: socket.socket):
        self._sock, self.deadline = sock, 0.0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(max(self.deadline - time.monotonic(), 0.001))
        return self._sock.recv_into(buffer)


def _status(response: JsonObject) -> int:
    return STATUS.get(response["error"]["code"], 200) if "error" in response else 200
