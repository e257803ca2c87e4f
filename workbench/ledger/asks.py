"""Requests that no well-behaved client sends, and refusals that are answers like any other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_bare import jsonrpc
from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse


def answer(client: Client, message: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a request as it is: {"result": ...} or {"error": {"code": ...}}."""
    try:
        return {"result": client.exchange.start(dict(message)).result()}
    except ErrorResponse as refusal:
        return {"error": refusal.body()}


def bare(client: Client, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """The answer to a request without `_meta`, as most pages about MCP write it."""
    return answer(client, jsonrpc.request(client.next_id(), method, params))


def changed(
    client: Client, method: str = "tools/list", params: dict[str, Any] | None = None, **meta: Any
) -> dict[str, Any]:
    """A request with some of its `_meta` replaced, or left out: changed(c, protocolVersion=None)"""
    message = client.message(method, params)
    for name, value in meta.items():
        message["params"]["_meta"][f"io.modelcontextprotocol/{name}"] = value
    kept = {key: value for key, value in message["params"]["_meta"].items() if value is not None}
    return {**message, "params": {**message["params"], "_meta": kept}}


def code(answer: Mapping[str, Any]) -> int | str:
    """The error's code, or "served"."""
    return answer["error"]["code"] if "error" in answer else "served"
