"""The shape of results, deeper than a client needs: one sentence for each thing that is wrong.

    list(SHAPES["tools/call"]({"content": [{"type": "text"}]})) -> ["text content has no text"]

Does not handle: what `results.check` sees already, icons, annotations.

Spec: schema (CallToolResult, ContentBlock, Tool, Resource, ResourceContents, Prompt), server/*.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

from mcp_bare.jsonrpc import brief

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcp_bare.revision import JsonObject


def _strings(value: Any, what: str, *names: str) -> Iterator[str]:
    """A sentence for each of these members that is no string."""
    if not isinstance(value, dict):
        yield f"{what} is {brief(value)}; an object is due"
        return
    for name in names:
        if not isinstance(value.get(name), str):
            yield f"{what} has no {name}"


def _base64(value: Any, what: str, name: str) -> Iterator[str]:
    found = value.get(name) if isinstance(value, dict) else None
    try:
        base64.b64decode(found if isinstance(found, str) else "!", validate=True)
    except (binascii.Error, ValueError):
        yield f"the {name} of {what} is not base64"


def content(block: Any) -> Iterator[str]:
    """One content block of a tool's result or a prompt's message."""
    kind = block.get("type") if isinstance(block, dict) else None
    match kind:
        case "text":
            yield from _strings(block, "text content", "text")
        case "image" | "audio":
            yield from _strings(block, f"{kind} content", "data", "mimeType")
            yield from _base64(block, f"{kind} content", "data")
        case "resource_link":
            yield from _strings(block, "a resource link", "uri", "name")
        case "resource":
            yield from contents(block.get("resource"))
        case _:
            yield f"{brief(block)} is no content block"


def contents(resource: Any) -> Iterator[str]:
    """One item of what was read."""
    yield from _strings(resource, "resource contents", "uri")
    if isinstance(resource, dict) and isinstance(resource.get("text"), str):
        return
    yield from _base64(resource, "resource contents without text", "blob")


def _call(result: JsonObject) -> Iterator[str]:
    for block in result["content"]:
        yield from content(block)
    if not isinstance(result.get("isError", False), bool):
        yield f"isError is {brief(result['isError'])}; true or false is due"


def _read(result: JsonObject) -> Iterator[str]:
    for item in result["contents"]:
        yield from contents(item)


def _prompt(result: JsonObject) -> Iterator[str]:
    for message in result["messages"]:
        if message.get("role") not in ("user", "assistant"):
            yield f"a message's role is {brief(message.get('role'))}"
        yield from content(message.get("content"))


def _completion(result: JsonObject) -> Iterator[str]:
    values = result["completion"].get("values")
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        yield "completion.values is no list of strings"
    elif len(values) > 100:
        yield f"completion.values has {len(values)} items; 100 are allowed"


def _listed(name: str, what: str, *members: str) -> Callable[[JsonObject], Iterator[str]]:
    def judge(result: JsonObject) -> Iterator[str]:
        for item in result[name]:
            yield from _strings(item, what, *members)

    return judge


SHAPES: dict[str, Callable[[JsonObject], Iterator[str]]] = {
    "tools/call": _call,
    "tools/list": _listed("tools", "a tool", "name"),
    "resources/list": _listed("resources", "a resource", "name", "uri"),
    "resources/templates/list": _listed("resourceTemplates", "a template", "name", "uriTemplate"),
    "prompts/list": _listed("prompts", "a prompt", "name"),
    "resources/read": _read,
    "prompts/get": _prompt,
    "completion/complete": _completion,
}
"""For each method, a judge of a complete result that `results.check` let through."""
