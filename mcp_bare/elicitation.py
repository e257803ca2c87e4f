"""A server's question to the person: the restricted form, its answer, and the three ways out.

The server's half builds the input request (`form`, `url`) and reads the answer (`read`). The
client's half checks that the form is legal (`check_form`), turns it into fields to draw (`fields`),
and builds the answer (`accept`, `decline`, `cancel`).

Does not handle: drawing anything, opening a page, or deciding for the person.

Spec: client/elicitation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_bare import credentials, json_schema
from mcp_bare.errors import IllegalSchema, InvalidParams
from mcp_bare.jsonrpc import brief

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


_KEYWORDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("title", "description"), (lambda v: isinstance(v, str), "a string")),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), (_is_size, "a size")),
    **dict.fromkeys(("minimum", "maximum"), (_is_number, "a number")),
    "format": (lambda v: v in FORMATS, f"one of {', '.join(FORMATS)}"),
}
"""What a keyword of the restricted schema holds, and how to say so."""

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
        raise IllegalSchema(f"{brief(address)} is no URL (client/elicitation, URL mode)")
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
            f"inputResponses[{key!r}] is {brief(given)}; an object with an action of "
            f"{', '.join(ACTIONS)} is due (client/elicitation, Response Actions)"
        )
    if action != "accept":
        return Answer(action, {})
    if request["params"].get("mode") == "url":
        return Answer("accept", {})
    schema, content = request["params"]["requestedSchema"], given.get("content")
    if isinstance(content, dict):  # what was not asked for is ignored (basic/patterns/mrtr)
        content = {name: content[name] for name in content if name in schema["properties"]}
    wrong = answer_problems(schema, content)
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
    # "title" and "description" are no part of the restriction; the Python SDK sends them to
    # legacy clients, and they do no harm.
    extra = set(schema) - {"$schema", "type", "properties", "required", "title", "description"}
    if extra:
        raise _illegal("the form", f"may not have {sorted(extra)}: flat objects only")
    properties, required = schema.get("properties"), schema.get("required", [])
    if not isinstance(properties, dict):
        raise _illegal("the form", 'needs "properties"')
    for name, prop in properties.items():
        _check_property(name, prop)
    if not isinstance(required, list):
        raise _illegal("the form", f'"required" is {brief(required)}; a list of names is due')
    for name in required:
        if not isinstance(name, str) or name not in properties:
            raise _illegal("the form", f"requires {brief(name)}, which is not among its properties")


def _check_property(name: str, prop: Any) -> None:
    if not isinstance(prop, dict) or not isinstance(prop.get("type"), str):
        raise _illegal(name, "must be a schema with one type")
    kind = prop["type"]
    if kind not in _ALLOWED:
        raise _illegal(name, f"is of type {brief(kind)}; one of {', '.join(_ALLOWED)} is due")
    extra = set(prop) - _ALLOWED[kind]
    if extra:
        raise _illegal(name, f"may not have {sorted(extra)} on a {kind}")
    for keyword, (is_due, due) in _KEYWORDS.items():
        if keyword in prop and not is_due(prop[keyword]):
            raise _illegal(name, f"has {keyword} {brief(prop[keyword])}; {due} is due")
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
    names = prop.get("enumNames", plain)
    if not all(isinstance(part, list) for part in (plain, names, [] if titled is None else titled)):
        raise _illegal(name, "has choices that are no list")
    try:
        if titled is not None:
            found = [(choice["const"], choice["title"]) for choice in titled]
        else:
            found = list(zip(plain, names, strict=True))
    except (TypeError, KeyError, ValueError):
        raise _illegal(name, "has choices without a value and a label each") from None
    if not all(isinstance(part, str) for pair in found for part in pair):
        raise _illegal(name, "offers choices that are not strings")
    if not found and ("enum" in holder or titled is not None):
        raise _illegal(name, "offers no choice at all")
    if len({value for value, _ in found}) < len(found):
        raise _illegal(name, "offers one value twice")
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


def fields(schema: Any) -> list[Field]:
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


def secrets_asked(params: JsonObject) -> list[str]:
    """The fields of a form request into which a credential is to be typed; [] in a good form.

    secrets_asked({"message": "Log in", "requestedSchema": {"type": "object", "properties":
        {"user": {"type": "string"}, "password": {"type": "string"}}}}) -> ["password"]

    Only what is typed freely can be a credential: not a choice, a yes or no, a date, an address.
    Where the message itself demands one, every such field is named. Raises IllegalSchema.
    """
    typed = [
        field
        for field in fields(params.get("requestedSchema"))
        if field.kind in ("text", "number", "integer") and "format" not in field.schema
    ]
    named = [
        field.name
        for field in typed
        if credentials.is_named(field.name)
        or credentials.is_named(field.label)
        or credentials.is_described(field.description)
    ]
    if named or not credentials.is_demanded(str(params.get("message", ""))):
        return named
    return [field.name for field in typed if field.kind == "text"]


def answer_problems(schema: JsonObject, content: Any) -> list[str]:
    """Why this content may not be sent as an accepted answer; [] if it may."""
    if not isinstance(content, dict):
        return [f"the content is {brief(content)}; an object is due"]
    unknown = [name for name in content if name not in schema.get("properties", {})]
    return [f'"{name}" is not a field of the form' for name in unknown] + json_schema.problems(
        schema, content, formats=True
    )


def _illegal(name: str, why: str) -> IllegalSchema:
    return IllegalSchema(f"{name} {why} (client/elicitation, Requested Schema)")
