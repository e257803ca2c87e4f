"""The official SDK's server over HTTP, and POSTs to it as the specification asks for them.

Does not handle: being a client (chapter 27's transport will); one message goes out, one comes back.
"""

from __future__ import annotations

import json
import queue
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp_bare import jsonrpc, revision
from mcp_bare.stdio import StdioTransport

_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # this machine, no proxy


@dataclass(frozen=True)
class Reply:
    """What came back for a POST."""

    status: int
    type: str
    session: str | None
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        """The JSON-RPC message, out of plain JSON or of the first SSE event with data."""
        lines = self.body.splitlines()
        data = [line[5:] for line in lines if line.startswith(b"data:")]
        return json.loads(data[0] if data else self.body)


class Web:
    """A server process that prints its port and serves until its input ends."""

    def __init__(self, command: list[str], patience: float):
        self._patience = patience
        self._process, printed = StdioTransport(command), queue.SimpleQueue()
        self._process.open(printed.put, printed.put)
        try:
            first = printed.get(timeout=self._patience)
            self.address = f"http://127.0.0.1:{int(first)}/mcp"
        except BaseException:
            self._process.close()
            raise

    def post(self, message: Mapping[str, Any]) -> Reply:
        """POST one message with the headers that the specification asks for."""
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        meta = (message.get("params") or {}).get("_meta", {})
        if revision.PROTOCOL_VERSION in meta:
            headers["MCP-Protocol-Version"] = meta[revision.PROTOCOL_VERSION]
            headers["Mcp-Method"] = message["method"]
        request = urllib.request.Request(self.address, jsonrpc.dumps(dict(message)), headers)
        try:
            reply = _DIRECT.open(request, timeout=self._patience)
        except urllib.error.HTTPError as refusal:
            reply = refusal
        with reply:
            kind = reply.headers.get_content_type()
            return Reply(reply.status, kind, reply.headers.get("Mcp-Session-Id"), reply.read())

    def __enter__(self) -> Web:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.close()
