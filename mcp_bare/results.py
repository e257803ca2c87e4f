"""Is this result one that this method may be answered with? What the rest of the client builds on.

A peer may send anything. What is checked here is the shape that our own code and a notebook would
otherwise stumble over: the type of the result, its required members, lists of objects.

Does not handle: what is inside a tool, a content block or a resource.

Spec: basic/index ("ResultType"), basic/patterns/mrtr, schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_bare import revision
from mcp_bare.errors import ProtocolViolation

if TYPE_CHECKING:
    from mcp_bare.revision import JsonObject

_DUE: dict[str, dict[str, type]] = {
    revision.DISCOVER: {"supportedVersions": list, "capabilities": dict},
    "tools/call": {"content": list},
    "resources/read": {"contents": list},
    "prompts/get": {"messages": list},
    "completion/complete": {"completion": dict},
    **{method: {name: list} for method, name in revision.LISTS.items()},
}
"""What a complete result of a method must have."""


def check(method: str, result: JsonObject) -> None:
    """Raise ProtocolViolation unless this method may be answered with this result."""
    kind = result.get("resultType", "complete")  # absent: an older server (basic/index)
    if kind == "input_required":
        if method not in revision.MULTI_ROUND_TRIP:
            raise ProtocolViolation(f"{method} may not be answered input_required (patterns/mrtr)")
        _check_input_required(result)
    elif kind != "complete":
        raise ProtocolViolation(
            f"{method} was answered with resultType {kind!r}; "
            'only "complete" and "input_required" are known here (basic/index)'
        )
    else:
        for name, due in _DUE.get(method, {}).items():
            _check_member(method, result, name, due)
        if not isinstance(result.get("nextCursor", ""), str | None):
            raise ProtocolViolation(f"nextCursor is {result['nextCursor']!r}; a string is due")


def _check_member(method: str, result: JsonObject, name: str, due: type) -> None:
    value = result.get(name)
    if not isinstance(value, due):
        raise ProtocolViolation(
            f"the result of {method} has {name!r}: {value!r}; a {due.__name__} is due"
        )
    items, kind = (str, "strings") if name == "supportedVersions" else (dict, "objects")
    if isinstance(value, list) and not all(isinstance(item, items) for item in value):
        raise ProtocolViolation(f"{name!r} in the result of {method} must be a list of {kind}")


def _check_input_required(result: JsonObject) -> None:
    asked, state = result.get("inputRequests", {}), result.get("requestState", "")
    if not isinstance(asked, dict) or not all(
        isinstance(request, dict)
        and isinstance(request.get("method"), str)
        and isinstance(request.get("params", {}), dict)
        for request in asked.values()
    ):
        raise ProtocolViolation(f"inputRequests is {asked!r}; requests by key are due")
    if not isinstance(state, str):
        raise ProtocolViolation(f"requestState is {state!r}; a string is due (patterns/mrtr)")
    if not asked and "requestState" not in result:
        raise ProtocolViolation("input_required without inputRequests or requestState")
