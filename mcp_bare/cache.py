"""What a client may keep of what it was told, and for how long.

A result is kept under its method and the parameters that made it, for `ttlMs` from its arrival.
A change notification makes it stale at once. One cache serves one client, which speaks for one
caller, so "public" and "private" results are kept alike; a cache that serves several callers must
keep them apart. Results of a retry are never kept.

Spec: server/utilities/caching.
"""

from __future__ import annotations

import threading
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


MAX_KEPT = 1_000
MAX_TTL_MS = 365 * 24 * 3600 * 1000


class Cache:
    """Fresh results by (method, parameters). `clock` is monotonic, in seconds.

    `changes` counts the invalidations: what was asked for before one is not kept after it. Results
    are kept as bytes, so that what a caller does to the one he was given stays his own. Several
    threads may use it: over HTTP each request has one of its own, and news come on another.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._kept: dict[tuple[str, bytes], tuple[float, bytes]] = {}
        self._lock = threading.RLock()
        self.changes = 0

    def get(self, method: str, params: JsonObject) -> JsonObject | None:
        """The result, while it is fresh: now < arrival + ttlMs."""
        key = (method, jsonrpc.dumps(params))
        with self._lock:
            until, result = self._kept.get(key, (0.0, b""))
            if not result or self._clock() >= until:
                self._kept.pop(key, None)
                return None
        return dict(jsonrpc.loads(result))

    def keep(
        self, method: str, params: JsonObject, result: JsonObject, asked: int | None = None
    ) -> JsonObject:
        """Keep it if the server allows; returns the result for convenience.

        `asked` is what `changes` was when the request went out.
        """
        ttl = result.get("ttlMs", 0)
        whole = result.get("resultType", "complete") == "complete"
        sound = isinstance(ttl, int | float) and not isinstance(ttl, bool) and ttl > 0
        if whole and sound and method in revision.CACHEABLE:
            until = self._clock() + min(ttl, MAX_TTL_MS) / 1000
            key, kept = (method, jsonrpc.dumps(params)), (until, jsonrpc.dumps(result))
            with self._lock:
                if asked in (None, self.changes):
                    self._kept[key] = kept
                if len(self._kept) > MAX_KEPT:
                    self._kept.pop(next(iter(self._kept)))
        return result

    def forget(self, method: str, params: JsonObject | None = None) -> None:
        """Drop what is kept for a method, or for one set of its parameters."""
        wanted = None if params is None else jsonrpc.dumps(params)
        with self._lock:
            for key in [k for k in self._kept if k[0] == method and wanted in (None, k[1])]:
                del self._kept[key]

    def invalidate(self, notification: JsonObject) -> None:
        """A change was announced: what it concerns is stale from now on."""
        name, params = notification["method"], notification.get("params")
        stale = _STALE_AFTER.get(name, ())
        with self._lock:
            for method in stale:
                self.forget(method)
            if name == revision.FILTERS["resourceSubscriptions"] and isinstance(params, dict):
                self.forget("resources/read", {"uri": params.get("uri")})
                stale = ("resources/read",)
            self.changes += len(stale)
