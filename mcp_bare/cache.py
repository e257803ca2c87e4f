"""What a client may keep of what it was told, and for how long.

A result is kept under its method and the parameters that made it, for `ttlMs` from its arrival.
A change notification makes it stale at once. One cache serves one client, which speaks for one
caller, so "public" and "private" results are kept alike; a cache that serves several callers must
keep them apart. Results of a retry are never kept.

Spec: server/utilities/caching.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mcp_bare import jsonrpc, revision

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_bare.revision import JsonObject

_STALE_AFTER = {
    "notifications/tools/list_changed": ("tools/list",),
    "notifications/prompts/list_changed": ("prompts/list",),
    "notifications/resources/list_changed": ("resources/list", "resources/templates/list"),
}


class Cache:
    """Fresh results by (method, parameters). `clock` is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._kept: dict[tuple[str, bytes], tuple[float, JsonObject]] = {}

    def get(self, method: str, params: JsonObject) -> JsonObject | None:
        """The result, while it is fresh: now < arrival + ttlMs."""
        key = (method, jsonrpc.dumps(params))
        until, result = self._kept.get(key, (0.0, None))
        if result is not None and self._clock() < until:
            return result
        self._kept.pop(key, None)
        return None

    def keep(self, method: str, params: JsonObject, result: JsonObject) -> JsonObject:
        """Keep it if the server allows; returns the result for convenience."""
        ttl = result.get("ttlMs", 0)
        whole = result.get("resultType", "complete") == "complete"
        sound = isinstance(ttl, int | float) and not isinstance(ttl, bool) and ttl > 0
        if whole and sound and method in revision.CACHEABLE:
            self._kept[method, jsonrpc.dumps(params)] = (self._clock() + ttl / 1000, result)
        return result

    def forget(self, method: str, params: JsonObject | None = None) -> None:
        """Drop what is kept for a method, or for one set of its parameters."""
        wanted = None if params is None else jsonrpc.dumps(params)
        for key in list(self._kept):
            if key[0] == method and wanted in (None, key[1]):
                self._kept.pop(key, None)

    def invalidate(self, notification: JsonObject) -> None:
        """A change was announced: what it concerns is stale from now on."""
        name = notification["method"]
        for method in _STALE_AFTER.get(name, ()):
            self.forget(method)
        params = notification.get("params")
        if name == "notifications/resources/updated" and isinstance(params, dict):
            self.forget("resources/read", {"uri": params.get("uri")})
