"""May a request be sent again? Where the kept connection that carried it was gone already.

    it could not be sent whole           yes: the server never had it
    not one byte of an answer came       yes, where doing it twice is doing it once (`HARMLESS`)
    one byte came                        no

A server may close an idle connection at the very moment that a client uses it, so a kept one that
dies says nothing about the server, and a fresh one is due. HTTP allows that once, and for a POST
only where its meaning is known to be harmless, or where it was surely not done (RFC 9110, 9.2.2).
A request that dies on a fresh connection is lost.

The id stays. It is one request, of which a copy is sent again: no *other* request has this id
(basic/index, "Requests"). The first copy's answer can never arrive, since its connection was its
stream; to a server that had begun, its end is a cancellation. Nor would a new id help one that was
done: nothing in this revision has a server compare the ids of two connections. A tape has the
message once.

Does not handle: a tools/call that was sent whole and not answered. Before it is written, a look at
its connection (`http_pool`) sees an end that has arrived; one that crosses it on the way loses it
(RequestLost), and only the caller may know whether to call again. A tool's own `idempotentHint` is
not asked: it is a hint, from a server that may not be trusted.

Spec: basic/transports/streamable-http, "Sending Messages", "Cancellation"; server/tools.
"""

from __future__ import annotations

from http.client import HTTPResponse
from typing import TYPE_CHECKING

from mcp_bare import revision

if TYPE_CHECKING:
    from collections.abc import Mapping
    from http.client import HTTPConnection

    from mcp_bare.revision import JsonObject

HARMLESS = frozenset(revision.METHODS) - {"tools/call"} | {
    *(revision.CANCELLED, "notifications/initialized"),  # of the era before: true once, true twice
}
"""What asks, and changes nothing. A method that nobody here knows is not in it."""


class Gone(ConnectionError):
    """The connection was closed; `whole` says whether the request had left by then."""

    def __init__(self, why: str, *, whole: bool):
        super().__init__(why)
        self.whole = whole


def may(message: JsonObject, gone: Gone) -> bool:
    """May this message, which a kept connection took away with it, be sent over a fresh one?"""
    return not gone.whole or message.get("method") in HARMLESS


def post(
    connection: HTTPConnection, target: str, payload: bytes, headers: Mapping[str, str]
) -> None:
    """Send it whole. Raises Gone where the other end takes no more; TimeoutError."""
    connection.response_class = Answer
    try:
        connection.request("POST", target, payload, headers)
    except TimeoutError:  # it is there, and does not read
        raise
    except OSError as trouble:
        raise Gone(f"closed while it was sent ({type(trouble).__name__})", whole=False) from None


class Answer(HTTPResponse):
    """A response that tells an end before its first byte from an end in its middle."""

    def begin(self) -> None:
        """Read the head. Raises Gone where there is nothing of it."""
        if self.headers is None:
            try:
                end = "" if self.fp.peek(1) else "closed"
            except ConnectionError as trouble:
                end = type(trouble).__name__
            if end:
                raise Gone(f"{end} before the first byte of an answer", whole=True)
        super().begin()
