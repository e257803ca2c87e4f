"""Requests of this revision in full, each with the next number for its id.

    Ids().request("tools/list") -> {"jsonrpc": "2.0", "id": 1, "method": "tools/list", ...}

Does not handle: what to ask (`sittings`).

Spec: basic/index ("Requests", "_meta").
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from mcp_bare import jsonrpc, revision

if TYPE_CHECKING:
    from typing import Any

    from mcp_bare.revision import JsonObject, RequestId

CAPABILITIES: JsonObject = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}},
    "roots": {},
}
CLIENT = {"name": "exam", "version": "1.0.0"}


class Ids:
    """Requests with metadata, each with the next number for an id."""

    def __init__(self) -> None:
        self._next = itertools.count(1)

    def request(
        self,
        method: str,
        params: JsonObject | None = None,
        id: RequestId | None = None,
        capabilities: JsonObject | None = None,
        **meta: Any,
    ) -> JsonObject:
        """A request in full; a key of `meta` changes one in `_meta`, and None takes it out."""
        declared = CAPABILITIES if capabilities is None else capabilities
        whole = revision.request_meta(declared, CLIENT)
        for name, value in meta.items():
            key = f"io.modelcontextprotocol/{name}" if name != "progressToken" else name
            if value is None:
                del whole[key]
            else:
                whole[key] = value
        number = next(self._next) if id is None else id
        return jsonrpc.request(number, method, {**(params or {}), "_meta": whole})
