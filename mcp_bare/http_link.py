"""What the messages of one client have in common: headers, authorization, callbacks, an end.

A request goes on a thread of its own, a notification on the thread of whoever says it. What answers
teach is kept in `learned`, idle connections in `pool`.

Does not handle: one message (`http_post`), what is learned (`http_learned`).

Spec: basic/transports/streamable-http; of the revision before: "Session Management".
"""

from __future__ import annotations

import contextlib
import threading
from http.client import HTTPException
from typing import TYPE_CHECKING, Protocol

from mcp_bare import jsonrpc, revision
from mcp_bare.errors import McpError, RequestLost, TransportClosed
from mcp_bare.http_learned import SESSION, Learned
from mcp_bare.http_pool import Pool
from mcp_bare.http_post import Cancelled, Post

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from http.client import HTTPResponse

    from mcp_bare.exchange import OnPayload
    from mcp_bare.http_pool import Address
    from mcp_bare.revision import JsonObject, RequestId

GOODBYE_S = 1.0
ALWAYS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


class Authorizer(Protocol):
    """Where a client's tokens come from. `mcp_bare.auth.authorizer` has one."""

    def header(self) -> str | None:
        """The Authorization header to send, or None; asked once for each try, by any thread."""

    def refused(self, status: int, challenges: list[str]) -> bool:
        """A 401 or 403 came for what this thread sent. True: there is another header, try again.

        `challenges` are the WWW-Authenticate headers. One thread at a time asks; where another one
        was faster, there is another header already. Raises McpError where it is no use.
        """


class Link:
    """Has the threads and connections; holds no reference to the transport, so that it can go."""

    def __init__(
        self,
        address: Address,
        authorizer: Authorizer | None,
        more: Mapping[str, str],
        on_payload: OnPayload,
        on_close: Callable[[TransportClosed], None],
    ):
        self.address, self.pool, self.learned = address, Pool(address), Learned()
        self._authorizer, self._more = authorizer, dict(more)
        self._on_payload, self._on_close = on_payload, on_close
        self._lock, self._authorizing = threading.Lock(), threading.RLock()
        self._running: dict[Post, threading.Thread] = {}
        self._closed = False

    # --- messages ---

    def send(self, payload: bytes) -> None:
        """A request on its way, or a notification taken. Raises TransportClosed."""
        post = Post(self, payload, jsonrpc.parse(payload))
        if post.id is not None:
            self._start(post)
        elif self._closed:
            raise TransportClosed("the transport is closed")
        elif post.message.get("method") == revision.CANCELLED:
            self._send_cancellation(post)
        else:
            post.run()

    def _send_cancellation(self, post: Post) -> None:
        """To close the stream says it; in the era before, that said nothing, and a message did."""
        if self.learned.legacy is not None:
            post.run()
        params = post.message.get("params")
        if isinstance(params, dict) and jsonrpc.is_id(params.get("requestId")):
            self.cancel(params["requestId"])

    def _start(self, post: Post) -> None:
        thread = threading.Thread(target=self._run, args=(post,), name="mcp-http-post", daemon=True)
        with self._lock:
            if self._closed:
                raise TransportClosed("the transport is closed")
            self._running[post] = thread
            try:
                thread.start()
            except RuntimeError as trouble:
                del self._running[post]
                raise TransportClosed(f"no thread to wait for the answer: {trouble}") from None

    def _run(self, post: Post) -> None:
        try:
            post.run()
        except Cancelled:
            pass
        except RequestLost as why:
            self._on_close(why)
        finally:
            with self._lock:
                self._running.pop(post, None)

    def cancel(self, request_id: RequestId) -> None:
        """Close the stream of a request, where it still has one."""
        with self._lock:
            found = [post for post in self._running if post.id == request_id]
        for post in found:
            if type(post.id) is type(request_id):
                post.cancel()

    def arrived(self, post: Post, payload: bytes, response: HTTPResponse) -> None:
        """Something came for a request: learn from it, and pass it on."""
        self.learned.hear(post.message, payload, response.getheader(SESSION))
        self._on_payload(payload, post.id)

    def headers_for(self, message: JsonObject) -> dict[str, str]:
        """Every header of a message; what the caller added never replaces what is due."""
        due = {**ALWAYS, **self.learned.headers_for(message)}
        token = self._authorizer.header() if self._authorizer is not None else None
        if token is not None:
            due["Authorization"] = token
        names = {name.lower() for name in due}
        return {**{k: v for k, v in self._more.items() if k.lower() not in names}, **due}

    def authorize(self, status: int, challenges: list[str]) -> bool:
        """The header that this thread sent is refused. True where there is another one now."""
        if self._authorizer is None:
            return False
        with self._authorizing:  # one after the other: the second finds what the first one got
            return self._authorizer.refused(status, challenges)

    def close(self) -> None:
        """Cancel what runs, end a session, close every connection; a second call does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            running = dict(self._running)
        for post in running:
            post.cancel()
        self.pool.close()
        self._say_goodbye()
        for thread in running.values():
            if thread is not threading.current_thread():
                thread.join(GOODBYE_S)

    def _say_goodbye(self) -> None:
        """A server of the era before may have kept a session for us."""
        if SESSION not in (self.learned.legacy or {}):
            return
        with contextlib.suppress(OSError, HTTPException, ValueError, McpError):
            connection = self.address.connect()
            with contextlib.closing(connection):
                connection.sock.settimeout(GOODBYE_S)
                connection.request("DELETE", self.address.target, headers=self.headers_for({}))
                connection.getresponse().close()
