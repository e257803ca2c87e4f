"""Two peers over a fake link: send one message to a server, look at what it yields."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings

from mcp_bare import revision
from mcp_bare.call import LOCAL, Caller
from mcp_bare.server import Server

EVERYTHING = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}


def meta(capabilities: Any = None, **more: Any) -> dict[str, Any]:
    """The `_meta` of a request, with everything declared unless told otherwise."""
    return {**revision.request_meta(EVERYTHING if capabilities is None else capabilities), **more}


def ask(
    server: Server,
    method: str,
    params: Any = None,
    *,
    id: Any = 1,
    caller: Caller = LOCAL,
    **of_meta: Any,
) -> list[dict[str, Any]]:
    """Everything that the server yields for one request."""
    whole = {**(params or {}), "_meta": meta(**of_meta)}
    return raw(server, {"jsonrpc": "2.0", "id": id, "method": method, "params": whole}, caller)


def raw(server: Server, message: dict[str, Any], caller: Caller = LOCAL) -> list[dict[str, Any]]:
    return list(server.handle(message, caller))


def result(server: Server, method: str, params: Any = None, **how: Any) -> dict[str, Any]:
    """The result; an assertion where the answer is an error."""
    answer = ask(server, method, params, **how)[-1]
    assert "result" in answer, answer
    return answer["result"]


def error(server: Server, method: str, params: Any = None, **how: Any) -> dict[str, Any]:
    """The error; an assertion where the answer is a result."""
    (answer,) = ask(server, method, params, **how)
    assert "error" in answer, answer
    return answer["error"]


def call(server: Server, name: str, arguments: Any = None, **how: Any) -> dict[str, Any]:
    """The result of a tool call; `inputResponses` and `requestState` may be among the keywords."""
    more = {key: how.pop(key) for key in ("inputResponses", "requestState") if key in how}
    return result(server, "tools/call", {"name": name, "arguments": arguments or {}, **more}, **how)


def text(found: dict[str, Any]) -> str:
    """The text of a tool's result."""
    return found["content"][0]["text"]


def examples(count: int) -> settings:
    """The same examples every time; MORE_EXAMPLES=20 tries twenty times as many, at random."""
    more = int(os.environ.get("MORE_EXAMPLES", "0"))
    return settings(
        max_examples=count * max(1, more),
        derandomize=not more,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
