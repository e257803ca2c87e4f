"""One message on its way over HTTP: a POST, and whatever comes back for it.

    200 application/json         the answer
    200 text/event-stream        what belongs to the request, then its answer, each an event
    any 2xx to a notification    taken
    4xx, 5xx with an error       the answer: the JSON-RPC error, whatever id it has
    anything else                the request is lost, and the error says why, with the status

A request has a thread; a notification is sent by whoever says it. To cancel a request is to close
its connection. A response that ends before its answer, or in the middle of it, ends the request.
Where a kept connection ends before the first byte, the request may be sent again (`http_again`).

Does not handle: redirects, which are not followed; resuming a stream.

Spec: basic/transports/streamable-http, "Sending Messages", "Receiving Messages", "Cancellation".
"""

from __future__ import annotations

import contextlib
import socket
import threading
from http.client import HTTPException, HTTPResponse
from typing import TYPE_CHECKING

from mcp_bare import http_again, jsonrpc, sse
from mcp_bare.errors import McpError, RequestLost, RpcError
from mcp_bare.http_rules import JSON, media_type
from mcp_bare.jsonrpc import MAX_BYTES, brief

if TYPE_CHECKING:
    from http.client import HTTPConnection

    from mcp_bare.http_link import Link
    from mcp_bare.revision import JsonObject

MAX_TRIES = 6  # each with another Authorization header; an authorizer gives up before
CHUNK = 65536
GRACE = 0.02  # seconds for the end of a stream whose answer is here, to use its connection again


class Cancelled(Exception):
    """Nobody waits for it any more."""


class Post:
    """One message, the connection that carries it, and its end."""

    def __init__(self, link: Link, payload: bytes, message: JsonObject):
        self._link, self._payload, self.message = link, payload, message
        self.id = message["id"] if jsonrpc.kind(message) == "request" else None
        self._lock = threading.Lock()
        self._cancelled = False
        self._connection: HTTPConnection | None = None
        self._socket: socket.socket | None = None
        self._response: HTTPResponse | None = None

    def run(self) -> None:
        """Send it and see it through. Raises RequestLost, or Cancelled."""
        try:
            response = self._exchange()
            if self.id is None:
                self._taken(response)
            elif _ok(response) and _type(response) == sse.MEDIA_TYPE:
                self._read_stream(response)
            else:
                self._read_body(response)
        except (RequestLost, Cancelled):
            raise
        except Exception as trouble:  # the network's, the server's, or an authorizer's
            if self._cancelled:
                raise Cancelled from None
            what = f"no answer from {self._link.address.url}: {_told(trouble)}"
            raise RequestLost(what, self.id) from None
        finally:
            self._drop()

    def cancel(self) -> None:
        """Close its connection, from any thread: that wakes up whoever reads."""
        with self._lock:
            self._cancelled = True
            if self._socket is not None:
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)

    # --- sending ---

    def _exchange(self) -> HTTPResponse:
        """The response; where another Authorization is asked for and can be had, that to it."""
        for _ in range(MAX_TRIES):
            headers = self._link.headers_for(self.message)
            response = self._once(headers)
            if response.status not in (401, 403):
                break
            challenges = response.headers.get_all("WWW-Authenticate") or []
            try:
                if not self._link.authorize(response.status, challenges):
                    break
            except McpError as why:  # asking again will not help
                raise RequestLost(f"{response.status}: {why}", self.id, response.status) from why
            self._drop()
        else:
            raise RequestLost(f"refused {MAX_TRIES} times", self.id, response.status)
        return response

    def _once(self, headers: dict[str, str]) -> HTTPResponse:
        """Over a connection that idled; where that was gone and it may be, over a fresh one."""
        kept = self._link.pool.take()
        if kept is not None:
            try:
                return self._over(kept, headers)
            except http_again.Gone as gone:
                if self._cancelled or not http_again.may(self.message, gone):
                    raise
            self._drop()
        return self._over(self._link.address.connect(), headers)

    def _over(self, connection: HTTPConnection, headers: dict[str, str]) -> HTTPResponse:
        with self._lock:
            self._connection, self._socket = connection, connection.sock
            if self._cancelled:
                raise Cancelled
        http_again.post(connection, self._link.address.target, self._payload, headers)
        if self.id is not None:  # how long an answer may take is for whoever waits to say
            connection.sock.settimeout(None)
        self._response = connection.getresponse()
        return self._response

    # --- reading ---

    def _taken(self, response: HTTPResponse) -> None:
        """A notification has no answer, only a status; an empty body may be of any length."""
        if not _ok(response):
            raise RequestLost(_refusal(response, response.read(CHUNK)), None, response.status)
        if not response.will_close:
            response.read(CHUNK)
            self._give_back(response)

    def _read_body(self, response: HTTPResponse) -> None:
        body = response.read(MAX_BYTES + 1)
        if len(body) > MAX_BYTES or response.length:
            why = (
                f"a body of more than {MAX_BYTES} bytes" if len(body) > MAX_BYTES else "half of it"
            )
            raise RequestLost(f"the answer is {why}", self.id, response.status)
        self._give_back(response)
        is_json = _type(response) == JSON
        if not is_json or not (_ok(response) or _is_error(body)):
            raise RequestLost(_refusal(response, body), self.id, response.status)
        self._link.arrived(self, body, response)
        if not self._is_answer(body):
            what = f"the server answered, but not this request: {brief(body)}"
            raise RequestLost(what, self.id, response.status)

    def _read_stream(self, response: HTTPResponse) -> None:
        parser = sse.EventParser()
        while chunk := response.read1(CHUNK):
            for event in parser.feed(chunk):
                if event.type != "message":
                    continue
                answered = self._is_answer(event.data)
                if answered:
                    self._finish(response)
                self._link.arrived(self, event.data, response)
                if answered:
                    return
        where = "in the middle of an event" if parser.unfinished else "before the answer"
        raise RequestLost(f"the stream ended {where}", self.id, response.status)

    def _is_answer(self, payload: bytes) -> bool:
        """Does it end this request? An error does, whatever its id; a result by its id."""
        try:
            message = jsonrpc.parse(payload)
        except RpcError:
            return False
        found = message.get("id")
        same = (type(found), found) == (type(self.id), self.id)
        return "method" not in message and ("error" in message or same)

    # --- letting go ---

    def _finish(self, response: HTTPResponse) -> None:
        """Read the end of a stream, where it is there already; its connection is free then."""
        with contextlib.suppress(OSError, HTTPException):
            if self._socket is not None:
                self._socket.settimeout(GRACE)
            if not response.read1(CHUNK):
                self._give_back(response)

    def _give_back(self, response: HTTPResponse) -> None:
        """The response was read whole: its connection may carry the next request."""
        if response.will_close or not response.isclosed():
            return
        with self._lock:
            connection, self._connection, self._socket = self._connection, None, None
            if connection is not None and self._cancelled:
                connection.close()
            elif connection is not None:
                self._link.pool.give_back(connection)

    def _drop(self) -> None:
        """Close what it still has."""
        with self._lock:
            connection, self._connection, self._socket = self._connection, None, None
        if self._response is not None:
            self._response.close()
        if connection is not None:
            connection.close()


def _ok(response: HTTPResponse) -> bool:
    return 200 <= response.status < 300


def _type(response: HTTPResponse) -> str:
    return media_type(response.getheader("Content-Type"))


def _is_error(body: bytes) -> bool:
    """Is this a JSON-RPC error response? Then it says more than a status."""
    try:
        return jsonrpc.kind(jsonrpc.parse(body)) == "error"
    except RpcError:
        return False


def _refusal(response: HTTPResponse, body: bytes) -> str:
    status = f"{response.status} {response.reason}"
    if 300 <= response.status < 400:
        where = brief(response.getheader("Location"))
        return f"{status} to {where}, which is not followed; use that address if it is meant"
    if not body:
        return f"{status}, and no body"
    sent = response.getheader("Content-Type")
    return f"{status}, Content-Type {brief(sent)}, and no JSON-RPC message: {brief(body)}"


def _told(trouble: Exception) -> str:
    return f"{type(trouble).__name__}: {trouble}" if str(trouble) else type(trouble).__name__
