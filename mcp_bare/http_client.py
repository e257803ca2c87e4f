"""The client's end of Streamable HTTP: each message a POST to one address.

    with Client(HttpTransport("http://127.0.0.1:8000/mcp")) as client:
        client.call_tool("create_event", {"title": "Dentist"})

    HttpTransport(url, authorizer=...)     whose tokens go with every request
    HttpTransport(url, headers={...})      for a gateway that wants its own

Requests do not share a stream: when one is lost, or cancelled by closing its connection, the others
go on. Listeners are called from several threads, one for each request. A request that meets the end
of a connection kept from the one before is sent once more; a tools/call only where the server never
had the whole of it, and else it is lost (`http_again`).

Does not handle: proxies, redirects, and the HTTP+SSE transport of the first revision.

Spec: basic/transports/streamable-http.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from mcp_bare import http_learned
from mcp_bare.errors import TransportClosed
from mcp_bare.http_link import Authorizer, Link
from mcp_bare.http_pool import Address

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp_bare.exchange import OnPayload
    from mcp_bare.revision import JsonObject, RequestId


class HttpTransport:
    """A server at an address; nothing is sent before the first message.

    `timeout` bounds connecting, and saying a message; how long an answer may take is the client's
    to say. When the object is dropped, its connections are closed. Raises ValueError for what is
    no http or https URL.
    """

    silence_counts = False  # as an answer: servers of either era owe each POST a response (`era`)

    def __init__(
        self,
        url: str,
        *,
        authorizer: Authorizer | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 10.0,
    ):
        self.url = url
        self._address = Address(url, timeout)
        self._authorizer, self._headers = authorizer, dict(headers or {})
        self._link: Link | None = None

    def open(self, on_payload: OnPayload, on_close: Callable[[TransportClosed], None]) -> None:
        """Take the callbacks. `on_close` hears of requests that are lost, one by one."""
        link = Link(self._address, self._authorizer, self._headers, on_payload, on_close)
        self._finalizer = weakref.finalize(self, link.close)
        self._link = link

    def send(self, payload: bytes) -> None:
        """Send one message: a request on a thread of its own, a notification before this returns.

        Raises TransportClosed; RequestLost where a notification was not taken.
        """
        if self._link is None:
            raise TransportClosed("the transport was never opened")
        self._link.send(payload)

    def cancel(self, request_id: RequestId) -> bool:
        """Close the stream of a request, which cancels it. False in the era before, where not."""
        if self._link is None or self._link.learned.legacy is not None:
            return False
        self._link.cancel(request_id)
        return True

    def why_unusable(self, tool: JsonObject) -> str | None:
        """Why this tool cannot be called over HTTP, or None; the era before has no such rule."""
        legacy = self._link is not None and self._link.learned.legacy is not None
        return None if legacy else http_learned.why_unusable(tool)

    def close(self) -> None:
        """Close every connection; safe to call twice."""
        if self._link is not None:
            self._finalizer()
