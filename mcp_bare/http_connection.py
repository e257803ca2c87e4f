"""One connection: read a request, answer it, and again, until one end has had enough.

It has no thread of its own: whoever waits for the connections (`poller`) has it serve what came.

Does not handle: what is allowed (`http_rules`), what is said (`http_reply`), and how to wait
(`http_wire`).

Spec: basic/transports/streamable-http, "Sending Messages".
"""

from __future__ import annotations

import contextlib
import socket
import sys
import time
import traceback
from typing import TYPE_CHECKING

from mcp_bare import http_request, jsonrpc
from mcp_bare.errors import InternalError, Refused
from mcp_bare.http_answer import Answer
from mcp_bare.http_reply import Reply
from mcp_bare.http_wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_bare.http_listener import Listener
    from mcp_bare.http_request import Request
    from mcp_bare.revision import JsonObject

LINGER = 1.0  # seconds for a client to finish saying what nobody reads


class HttpConnection:
    """`reply` is to the request being answered, None in between; `over` is for the poller."""

    def __init__(self, listener: Listener, sock: socket.socket):
        self._listener, self._limits = listener, listener.limits
        self._wire = Wire(sock, listener.limits.write)
        self.reply: Reply | None = None
        self.over, self.idle_until = False, time.monotonic() + self._limits.idle

    def fileno(self) -> int:
        """The socket's."""
        return self._wire.fileno()

    def serve(self, step_aside: Callable[[], None]) -> None:
        """Answer what has come, on this thread; `step_aside` is called before each wait."""
        self._wire.step_aside = step_aside
        try:
            self.over = not self._serve_all()
        except (EOFError, OSError):  # the client went away: no news
            self.over = True
        except BaseException:  # the thread has others to serve
            traceback.print_exc(file=sys.stderr)
            self.over = True
        self.idle_until = time.monotonic() + self._limits.idle

    def turn_away(self) -> None:
        """Say that there is no room, and close."""
        refusal = http_request.refused(503, InternalError("no room for more connections"))
        with contextlib.suppress(OSError):
            self._send(Answer(self._wire, None), refusal)
        self.close()

    def close(self) -> None:
        """The end, whoever wanted it."""
        self._listener.leave(self)
        self._wire.close()

    def _serve_all(self) -> bool:
        """Answer one request, and those that came with it. False where the end has come."""
        try:
            if not self._wire.look():
                return False
        except BlockingIOError:  # nothing has come after all
            return True
        while not self._listener.stopping and self._serve_one():
            if not self._wire.holds():
                return True
        return False

    def _serve_one(self) -> bool:
        """Answer the next request. False where the connection is to be closed."""
        self._wire.deadline = time.monotonic() + self._limits.request
        try:
            request = http_request.read(
                self._wire, self._limits.max_body, self._go_on, self._wire.head()
            )
        except Refused as refusal:
            return self._refuse(None, refusal)
        except TimeoutError:
            return self._refuse(None, http_request.refused(408, "the request took too long"))
        if request is None:
            return False
        try:
            message, principal = self._listener.rules.admit(request, self._listener.mcp)
        except Refused as refusal:
            return self._refuse(request, refusal)
        except Exception:  # a guard's mistake, or ours: not for the client to read
            traceback.print_exc(file=sys.stderr)
            return self._refuse(request, http_request.refused(500, InternalError("Internal error")))
        answer = Answer(self._wire, request)
        if jsonrpc.kind(message) == "notification":
            answer.send(202, {}, b"")
        else:
            self._answer(answer, message, principal)
        return answer.stays_open

    def _go_on(self) -> None:
        self._wire.send(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _refuse(self, request: Request | None, refusal: Refused) -> bool:
        answer = Answer(self._wire, request)
        self._send(answer, refusal)
        return answer.stays_open

    def _send(self, answer: Answer, refusal: Refused) -> None:
        """Send a refusal; before closing, let the rest of what the client says arrive."""
        answer.send(refusal.status, refusal.headers, refusal.body)
        if not answer.stays_open:
            self._wire.finish(LINGER)

    def _answer(self, answer: Answer, message: JsonObject, principal: str | None) -> None:
        reply = Reply(self._listener, self._wire, answer, message, principal, self._over)
        self.reply = reply
        try:
            reply.run()
        finally:
            self.reply = None
            self._listener.request_done()

    def _over(self) -> None:
        """The client is to see the end, and its place is free, though a handler still runs."""
        self._listener.leave(self)
        self._wire.shut(socket.SHUT_WR)

    # --- called by the thread that stops the server ---

    def finish_soon(self) -> None:
        """End what has no end of its own, with its response; close a connection that idles."""
        reply = self.reply
        if reply is None:
            self.end()
        else:
            reply.finish_soon()

    def end(self) -> None:
        """Now: cancel, or wake up from reading."""
        reply = self.reply
        if reply is None:
            self._wire.shut(socket.SHUT_RD)
        else:
            reply.cancel()
