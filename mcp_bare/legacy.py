"""The `initialize` era, as far as a modern client must still speak it: open, then ask.

A legacy connection remembers: it opens with a handshake, and the version and capabilities agreed
there hold for every message after it. The server may also send requests of its own, which is why
`answer` exists; nothing else in this toolkit ever writes a response.

Does not handle: serving a legacy client, tasks, HTTP+SSE.

Spec: basic/versioning, "Backward Compatibility"; the handshake stands in the revision before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_bare import jsonrpc, revision
from mcp_bare.errors import MethodNotFound, ProtocolViolation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp_bare.exchange import Exchange
    from mcp_bare.revision import JsonObject, RequestId

    Handlers = Mapping[str, Callable[[JsonObject], JsonObject]]


def initialize_request(
    id: RequestId, capabilities: JsonObject, client_info: JsonObject, version: str
) -> JsonObject:
    """The first message of a legacy connection."""
    params = {
        "protocolVersion": version,
        "capabilities": capabilities,
        "clientInfo": client_info,
    }
    return jsonrpc.request(id, "initialize", params)


def handshake(
    exchange: Exchange,
    id: RequestId,
    capabilities: JsonObject,
    client_info: JsonObject,
    version: str = revision.LEGACY[0],
    timeout: float | None = None,
) -> JsonObject:
    """initialize, its answer, notifications/initialized. Returns the InitializeResult.

    Raises ProtocolViolation where the server settles on a version we do not know.
    """
    request = initialize_request(id, capabilities, client_info, version)
    result = exchange.start(request).result(timeout)
    settled = result.get("protocolVersion")
    if settled not in revision.LEGACY:
        exchange.close()
        raise ProtocolViolation(
            f"initialize was answered with protocolVersion {jsonrpc.brief(settled)}; "
            f"this client knows {', '.join(revision.LEGACY)} (basic/versioning)"
        )
    exchange.send(jsonrpc.notification("notifications/initialized"))
    return result


def answer(message: JsonObject, handlers: Handlers) -> JsonObject:
    """The response to a legacy server's request: ping, or what a handler can answer."""
    method = message["method"]
    if method == "ping":
        return jsonrpc.result(message["id"], {})
    handler = handlers.get(method)
    if handler is None:
        return jsonrpc.error(
            MethodNotFound(f"Method not found: {jsonrpc.brief(method)}"), message["id"]
        )
    params = message.get("params")
    return jsonrpc.result(message["id"], handler(params if isinstance(params, dict) else {}))
