"""A server's question to the person: the restricted form, its answer, and the three ways out.

The server's half builds the input request (`form`, `url`) and reads the answer (`read`). The
client's half checks that the form is legal (`check_form`), turns it into fields to draw (`fields`),
and builds the answer (`accept`, `decline`, `cancel`).

Does not handle: drawing anything, opening a page, or deciding for the person.

Spec: client/elicitation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_bare import json_schema
from mcp_bare.errors import IllegalSchema, InvalidParams

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp_bare.revision import JsonObject

FORMATS = ("email", "uri", "date", "date-time")
ACTIONS = ("accept", "decline", "cancel")

_COMMON = {"type", "title", "description", "default"}
_ALLOWED = {
    "string": _COMMON | {"minLength", "maxLength", "format", "enum", "enumNames", "oneOf"},
    "number": _COMMON | {"minimum", "maximum"},
    "integer": _COMMON | {"minimum", "maximum"},
    "boolean": _COMMON,
    "array": _COMMON | {"minItems", "maxItems", "items"},
}

# --- the server's half ---


def form(message: str, properties: JsonObject, required: Sequence[str] = ()) -> JsonObject:
    """An input request for a form. Raises IllegalSchema for what a form cannot hold.

    form("When?", {"startsAt": {"type": "string", "format": "date-time"}}, ["startsAt"])
    """
    schema: JsonObject = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    check_form(schema)
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def url(message: str, address: str) -> JsonObject:
    """An input request that sends the person to a page the client never reads: for secrets."""
    if not json_schema.is_format("uri", address):
        raise IllegalSchema(f"{address!r} is no URL (client/elicitation, URL mode)")
    params = {"mode": "url", "message": message, "url": address}
    return {"method": "elicitation/create", "params": params}


@dataclass(frozen=True)
class Answer:
    """What came back for one question: `action` is accept, decline, cancel, or missing.

    `content` is filled, and keeps the form's schema, only where `action` is "accept";
    `problems` says what was wrong with an accepted answer, which then counts as missing.
    """

    action: str
    content: JsonObject
    problems: tuple[str, ...] = ()


def read(responses: Mapping[str, Any], key: str, request: JsonObject) -> Answer:
    """The person's answer to `request`, from a retry's `inputResponses`.

    Nothing there, or an accepted answer that does not fit the form, is "missing": ask again
    (basic/patterns/mrtr, "Error Handling"). Raises InvalidParams for what is no ElicitResult.
    """
    if key not in responses:
        return Answer("missing", {})
    given = responses[key]
    action = given.get("action") if isinstance(given, dict) else None
    if action not in ACTIONS:
        raise InvalidParams(
            f"inputResponses[{key!r}] is {given!r}; an object with an action of "
            f"{', '.join(ACTIONS)} is due (client/elicitation, Response Actions)"
        )
    if action != "accept":
        return Answer(action, {})
    content = given.get("content", {})
    if request["params"].get("mode") == "url":
        return Answer("accept", {})
    wrong = answer_problems(request["params"]["requestedSchema"], content)
    return Answer("missing", {}, tuple(wrong)) if wrong else Answer("accept", content)


# --- the client's half ---


def accept(content: JsonObject | None = None) -> JsonObject:
    """The person sent the form (or, without content, agreed to open the page)."""
    return {"action": "accept"} if content is None else {"action": "accept", "content": content}


def decline() -> JsonObject:
    """The person said no."""
    return {"action": "decline"}


def cancel() -> JsonObject:
    """The person went away without saying."""
    return {"action": "cancel"}


def check_form(schema: Any) -> None:
    """Raise IllegalSchema, naming the property and the rule, unless this is a flat form."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise _illegal("the form", 'must have "type": "object"')
    extra = set(schema) - {"$schema", "type", "properties", "required"}
    if extra:
        raise _illegal("the form", f"may not have {sorted(extra)}: flat objects only")
    properties, required = schema.get("properties"), schema.get("required", [])
    if not isinstance(properties, dict):
        raise _illegal("the form", 'needs "properties"')
    for name, prop in properties.items():
        _check_property(name, prop)
    if not isinstance(required, list):
        raise _illegal("the form", f'"required" is {required!r}; a list of names is due')
    for name in required:
        if not isinstance(name, str) or name not in properties:
            raise _illegal("the form", f"requires {name!r}, which is not among its properties")


def _check_property(name: str, prop: Any) -> None:
    if not isinstance(prop, dict) or not isinstance(prop.get("type"), str):
        raise _illegal(name, "must be a schema with one type")
    kind = prop["type"]
    if kind not in _ALLOWED:
        raise _illegal(name, f"is of type {kind!r}; one of {', '.join(_ALLOWED)} is due")
    extra = set(prop) - _ALLOWED[kind]
    if extra:
        raise _illegal(name, f"may not have {sorted(extra)} on a {kind}")
    if prop.get("format", "email") not in FORMATS:
        raise _illegal(name, f"has format {prop['format']!r}; one of {', '.join(FORMATS)} is due")
    _choices(name, prop)
    if "default" in prop:
        wrong = json_schema.problems(prop, prop["default"], formats=True)
        if wrong:
            raise _illegal(name, f"has a default that does not fit: {wrong[0]}")


def _choices(name: str, prop: JsonObject) -> list[tuple[str, str]]:
    """(value, label) of every choice of an enum, or [] where the property is none."""
    holder: Any = prop
    if prop["type"] == "array":
        holder = prop.get("items")
        if not isinstance(holder, dict) or not ({"enum", "anyOf"} & set(holder)):
            raise _illegal(name, "is an array of something else than choices")
        if holder.get("type", "string") != "string":
            raise _illegal(name, "offers choices that are not strings")
    titled = holder.get("anyOf" if prop["type"] == "array" else "oneOf")
    plain = holder.get("enum", [])
    try:
        if titled is not None:
            found = [(choice["const"], choice["title"]) for choice in titled]
        else:
            found = list(zip(plain, prop.get("enumNames", plain), strict=True))
    except (TypeError, KeyError, ValueError):
        raise _illegal(name, "has choices without a value and a label each") from None
    if not all(isinstance(part, str) for pair in found for part in pair):
        raise _illegal(name, "offers choices that are not strings")
    if not found and ("enum" in holder or titled is not None):
        raise _illegal(name, "offers no choice at all")
    return found


@dataclass(frozen=True)
class Field:
    """One input to draw: its label apart from its name, its choices as (value, label)."""

    name: str
    kind: str  # "text", "number", "integer", "boolean", "choice", "choices"
    label: str
    description: str
    required: bool
    choices: tuple[tuple[str, str], ...]
    has_default: bool
    default: Any
    schema: JsonObject


def fields(schema: JsonObject) -> list[Field]:
    """The fields of a legal form, in its order. Raises IllegalSchema."""
    check_form(schema)
    found = []
    for name, prop in schema["properties"].items():
        choices = tuple(_choices(name, prop))
        kind = "text" if prop["type"] == "string" else prop["type"]
        if choices:
            kind = "choices" if kind == "array" else "choice"
        found.append(
            Field(
                name=name,
                kind=kind,
                label=prop.get("title", name),
                description=prop.get("description", ""),
                required=name in schema.get("required", ()),
                choices=choices,
                has_default="default" in prop,
                default=prop.get("default"),
                schema=prop,
            )
        )
    return found


def defaults(schema: JsonObject) -> JsonObject:
    """The defaults a form gives, also where they are false, 0, "" or []."""
    return {field.name: field.default for field in fields(schema) if field.has_default}


def answer_problems(schema: JsonObject, content: Any) -> list[str]:
    """Why this content may not be sent as an accepted answer; [] if it may."""
    if not isinstance(content, dict):
        return [f"the content is {content!r}; an object is due"]
    unknown = [name for name in content if name not in schema.get("properties", {})]
    return [f'"{name}" is not a field of the form' for name in unknown] + json_schema.problems(
        schema, content, formats=True
    )


def _illegal(name: str, why: str) -> IllegalSchema:
    return IllegalSchema(f"{name} {why} (client/elicitation, Requested Schema)")
