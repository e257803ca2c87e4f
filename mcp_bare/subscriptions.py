"""The open `subscriptions/listen` requests of one server, and who hears what.

A subscription is a request whose response is held back: the acknowledgement goes out first, then
notifications that carry its id, and the response when the server ends it. It lives as long as its
stream, so it belongs to the transport that opened it and is never shared with another process.

Spec: basic/patterns/subscriptions, basic/patterns/cancellation.
"""

from __future__ import annotations

import contextlib
import threading

from mcp_bare import jsonrpc, revision
from mcp_bare.errors import InvalidParams, InvalidRequest, MethodNotFound
from mcp_bare.jsonrpc import brief

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcp_bare.call import Caller
    from mcp_bare.revision import JsonObject, RequestId
    from mcp_bare.server import Server


class Subscriptions:
    """Opens, feeds and closes subscriptions; safe to use from several threads.

    Messages are delivered with the lock held, so that no event overtakes an acknowledgement and
    none follows a cancellation.
    """

    def __init__(self) -> None:
        self._open: dict[Any, _Subscription] = {}
        self._lock = threading.RLock()

    def open(self, request_id: RequestId, wanted: Any, server: Server, caller: Caller) -> None:
        """Acknowledge the part of the filter that is honoured, and keep the stream open."""
        if caller.deliver is None:
            raise MethodNotFound("this transport keeps no stream open: nothing can be listened to")
        agreed = _agree(wanted, server.capabilities())
        opened = _Subscription(request_id, agreed, caller.deliver, server.info, caller)
        key = _key(request_id, caller)
        with self._lock:
            if key in self._open:
                raise InvalidRequest(f"id {request_id!r} belongs to an open subscription")
            opened.send(revision.ACKNOWLEDGED, {"notifications": agreed})
            self._open[key] = opened

    def publish(self, event: str, uri: str | None = None) -> None:
        """Send one event to all that asked for it, and drop those whose stream is gone."""
        extra = {} if uri is None else {"uri": uri}
        with self._lock:
            for key, opened in list(self._open.items()):
                asked = opened.agreed.get(event, False)
                if asked is True or (uri is not None and uri in (asked or ())):
                    try:
                        opened.send(revision.FILTERS[event], extra)
                    except OSError:
                        self._open.pop(key, None)

    def cancel(self, request_id: RequestId, caller: Caller) -> bool:
        """The client ended it: nothing more is sent. False where there is no such subscription."""
        with self._lock:
            return self._open.pop(_key(request_id, caller), None) is not None

    def close(self, caller: Caller | None = None) -> None:
        """The server ends them (one caller's, or all), and says that it was meant."""
        with self._lock:
            for key, opened in list(self._open.items()):
                if caller is None or opened.caller is caller:
                    del self._open[key]
                    with contextlib.suppress(OSError):  # the stream is gone: nobody to tell
                        opened.end()


class _Subscription:
    __slots__ = ("agreed", "caller", "deliver", "id", "info")

    def __init__(
        self,
        id: RequestId,
        agreed: JsonObject,
        deliver: Callable[[JsonObject], None],
        info: JsonObject,
        caller: Caller,
    ):
        self.id, self.agreed, self.deliver, self.info = id, agreed, deliver, info
        self.caller = caller

    def send(self, method: str, params: JsonObject) -> None:
        tagged = {"_meta": {revision.SUBSCRIPTION_ID: self.id}, **params}
        self.deliver(jsonrpc.notification(method, tagged))

    def end(self) -> None:
        """First the held-back response, then the stream is closed: on stdio, by a cancellation.

        In the other order the Python SDK takes the end for a loss.
        """
        meta = {revision.SUBSCRIPTION_ID: self.id, revision.SERVER_INFO: self.info}
        self.deliver(jsonrpc.result(self.id, {"resultType": "complete", "_meta": meta}))
        reason = {"requestId": self.id, "reason": "the server closed the subscription"}
        self.send(revision.CANCELLED, reason)


def _agree(wanted: Any, capabilities: JsonObject) -> JsonObject:
    """The part of the filter that this server can honour."""
    if not isinstance(wanted, dict):
        raise InvalidParams(
            f'"notifications" is {brief(wanted)}; a filter is due (basic/patterns/subscriptions)'
        )
    agreed: JsonObject = {}
    for kind in ("tools", "prompts", "resources"):
        field = f"{kind}ListChanged"
        if _flag(wanted, field) and capabilities.get(kind, {}).get("listChanged"):
            agreed[field] = True
    uris = wanted.get("resourceSubscriptions", [])
    if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
        raise InvalidParams(f'"resourceSubscriptions" is {brief(uris)}; an array of URIs is due')
    if uris and capabilities.get("resources", {}).get("subscribe"):
        agreed["resourceSubscriptions"] = uris
    return agreed


def _flag(wanted: JsonObject, field: str) -> bool:
    value = wanted.get(field, False)
    if not isinstance(value, bool):
        raise InvalidParams(f"{field!r} is {brief(value)}; true or false is due")
    return value


def _key(request_id: RequestId, caller: Caller) -> tuple[Any, ...]:
    return (id(caller), *jsonrpc.id_key(request_id))
