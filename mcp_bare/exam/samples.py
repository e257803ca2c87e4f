"""Made-up arguments and answers, so that the exam can call a tool that it has never seen.

    arguments({"properties": {"title": {"type": "string"}}, "required": ["title"]}, {})
        -> {"title": "exam"}

Only what is required is given: a tool that needs more may ask for it. A value that the server gave
under the same name (a handle, say) is preferred to one that we make up.

Does not handle: schemas that need thought (`pattern`, `not`, conditions). What comes out may then
be refused by the tool, which is its right.

Spec: server/tools ("Tool"), client/elicitation ("Requested Schema"), client/sampling, client/roots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_bare import revision

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeGuard

    from mcp_bare.revision import JsonObject

FORMATS = {
    "date-time": f"{revision.CURRENT}T08:30:00Z",
    "date": revision.CURRENT,  # a day like any other
    "time": "08:30:00Z",
    "email": "exam@example.com",
    "uri": "https://example.com/exam",
}
MAX_NESTING = 8


def arguments(schema: Any, known: Mapping[str, Any]) -> JsonObject:
    """The required properties of a tool's inputSchema, filled in."""
    schema = schema if isinstance(schema, dict) else {}
    properties, required = schema.get("properties"), schema.get("required")
    properties = properties if isinstance(properties, dict) else {}
    names = [name for name in required if isinstance(name, str)] if _is_list(required) else []
    return {name: known.get(name, value(properties.get(name))) for name in names}


def value(schema: Any, depth: int = 0) -> Any:
    """One value that should keep this schema."""
    if not isinstance(schema, dict) or depth > MAX_NESTING:
        return "exam"
    for name in ("const", "default"):
        if name in schema:
            return schema[name]
    for name in ("enum", "examples"):
        if _is_list(schema.get(name)):
            return schema[name][0]
    for name in ("oneOf", "anyOf", "allOf"):
        if _is_list(schema.get(name)):
            return value({**schema, **_dict(schema[name][0]), name: None}, depth + 1)
    kind = schema.get("type")
    return _of_type(schema, kind[0] if _is_list(kind) else kind, depth)


def _of_type(schema: JsonObject, kind: Any, depth: int) -> Any:
    match kind:
        case "integer" | "number":
            least = schema.get("minimum", schema.get("exclusiveMinimum", 1))
            most = schema.get("maximum", least)
            bounds = [bound for bound in (least, most) if isinstance(bound, int | float)]
            return min([max([1, *bounds[:1]]), *bounds[1:]]) if bounds else 1
        case "boolean":
            return True
        case "null":
            return None
        case "array":
            count = schema.get("minItems", 0)
            return [value(schema.get("items"), depth + 1)] * (count if _is_small(count) else 0)
        case "object":
            inner = _dict(schema.get("properties"))
            required = schema.get("required", [])
            return {n: value(inner.get(n), depth + 1) for n in required if isinstance(n, str)}
    text = FORMATS.get(str(schema.get("format")), "exam")
    least, most = schema.get("minLength", 0), schema.get("maxLength", 4096)
    text = text.ljust(least, "x") if _is_small(least) else text
    return text[:most] if _is_small(most) else text


def answer(request: Any) -> JsonObject:
    """What a person, a model or a client would say to one of the server's `inputRequests`."""
    asked = _dict(request)
    params = _dict(asked.get("params"))
    if asked.get("method") == "sampling/createMessage":
        text = {"type": "text", "text": "exam"}
        return {"role": "assistant", "content": text, "model": "none", "stopReason": "endTurn"}
    if asked.get("method") == "roots/list":
        return {"roots": [{"uri": "file:///exam", "name": "exam"}]}
    if params.get("mode") == "url":
        return {"action": "cancel"}
    fields = _dict(_dict(params.get("requestedSchema")).get("properties"))
    return {"action": "accept", "content": {name: value(fields[name]) for name in fields}}


def _dict(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list) and bool(value)


def _is_small(value: Any) -> bool:
    return isinstance(value, int) and 0 <= value <= 4096
