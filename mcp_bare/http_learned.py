"""What the answers that pass through teach a client about its next requests.

    the tools of tools/list              a call repeats annotated arguments in headers
    the answer to initialize             from here on it is the era before: that version and that
                                         session go with every message, and nothing else

Spec: basic/transports/streamable-http, "Client Behavior"; of the revision before: "Session
Management", "Protocol Version Header".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_bare import headers, jsonrpc, mirrors, revision
from mcp_bare.errors import IllegalSchema, RpcError

if TYPE_CHECKING:
    from mcp_bare.mirrors import Mirror
    from mcp_bare.revision import JsonObject

SESSION = "Mcp-Session-Id"
INITIALIZE = "initialize"


class Learned:
    """Safe to use from several threads: each lesson is one assignment."""

    def __init__(self) -> None:
        self._tools: dict[str, list[Mirror]] = {}
        self.legacy: dict[str, str] | None = None
        """The headers of the era before, once a server has opened it."""

    def headers_for(self, message: JsonObject) -> dict[str, str]:
        """What goes with this message. Raises ValueError for an argument that no header may carry.

        headers_for({"method": "tools/list", ...}) -> {"MCP-Protocol-Version": ..., ...}
        """
        method = message.get("method")
        if method == INITIALIZE:
            return {}
        if self.legacy is not None or method is None:  # without a method: an answer to a server
            return dict(self.legacy or {})
        found = headers.standard(message, revision.CURRENT)
        if method == "tools/call":
            params = message["params"]
            annotated = self._tools.get(params.get("name"), [])
            found.update(headers.mirrored(annotated, params.get("arguments")))
        return found

    def hear(self, request: JsonObject, payload: bytes, session: str | None) -> None:
        """An answer came; `session` is what its response's headers name."""
        if request.get("method") not in (INITIALIZE, "tools/list"):
            return
        try:
            result = jsonrpc.parse(payload).get("result")
        except RpcError:
            return
        if not isinstance(result, dict):
            return
        if request["method"] == INITIALIZE:
            version = result.get("protocolVersion")
            if version in revision.LEGACY:
                named = {} if session is None else {SESSION: session}
                self.legacy = {headers.VERSION: version, **named}
        elif isinstance(result.get("tools"), list):
            for tool in result["tools"]:
                self._hear_of(tool)

    def _hear_of(self, tool: JsonObject) -> None:
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
            return
        try:
            self._tools[tool["name"]] = mirrors.mirrors(tool.get("inputSchema"))
        except IllegalSchema:
            self._tools.pop(tool["name"], None)


def why_unusable(tool: JsonObject) -> str | None:
    """Why a client must leave a tool out over HTTP, or None (server/tools, "x-mcp-header")."""
    try:
        mirrors.mirrors(tool.get("inputSchema"))
    except IllegalSchema as trouble:
        return str(trouble)
    return None
