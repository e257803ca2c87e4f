"""Which arguments of a tool have a header: the `x-mcp-header` annotations of its inputSchema.

    {"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}

says that a call over HTTP repeats the argument `region` in the header `Mcp-Param-Region`. A client
that uses HTTP leaves a tool out whose annotation breaks a rule; over stdio nobody looks at them.

Does not handle: writing and comparing the headers (`headers`).

Spec: server/tools, "x-mcp-header"; basic/transports/streamable-http, "Custom Headers".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_bare.errors import IllegalSchema
from mcp_bare.jsonrpc import brief

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_bare.revision import JsonObject

    Path = tuple[str, ...] | None
    """The chain of `properties` that leads somewhere: () for the root, None off the chain."""

ANNOTATION = "x-mcp-header"
PREFIX = "Mcp-Param-"
SAFE_INTEGERS = 2**53 - 1  # beyond them, a proxy that reads doubles sees another number
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True)
class Mirror:
    """One annotated property: the header, and the path of the argument that it repeats."""

    header: str
    path: tuple[str, ...]

    def value(self, arguments: Any) -> Any:
        """The argument at the path, None where there is none."""
        for key in self.path:
            arguments = arguments.get(key) if isinstance(arguments, dict) else None
        return arguments


def mirrors(schema: Any) -> list[Mirror]:
    """The annotations of an inputSchema. Raises IllegalSchema where one is not allowed.

    mirrors({"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}})
        -> [Mirror("Mcp-Param-Region", ("region",))]
    """
    found: dict[str, Mirror] = {}
    for path, position in _positions(schema):
        if ANNOTATION not in position:
            continue
        name, kind = position[ANNOTATION], position.get("type")
        if not path:
            raise _illegal("stands where no chain of properties leads to")
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise _illegal(f"{brief(name)} of {path[-1]!r} is no header name")
        if kind not in ("string", "integer", "boolean"):
            raise _illegal(f"{name} is on {path[-1]!r}, of type {brief(kind)}")
        if name.lower() in found:
            raise _illegal(f"{name} is given twice, in whatever case")
        found[name.lower()] = Mirror(PREFIX + name, path)
    return list(found.values())


def _illegal(what: str) -> IllegalSchema:
    return IllegalSchema(
        f"{ANNOTATION} {what}; a unique token on a string, integer or boolean property is due "
        "(server/tools)"
    )


_DIRECT = {
    *("items", "contains", "additionalProperties", "propertyNames", "contentSchema"),
    *("unevaluatedItems", "unevaluatedProperties", "not", "if", "then", "else"),
    *("allOf", "anyOf", "oneOf", "prefixItems"),
}
"""Keywords that hold a schema, or a list of them."""

_NAMED = {"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"}
"""Keywords that hold schemas by name."""


def _positions(schema: Any) -> Iterator[tuple[Path, JsonObject]]:
    """Every subschema and the chain of `properties` to it; None off the chain, () at the root.

    What is data (`default`, `enum`, `examples`) is no position, and no `$ref` is followed.
    """
    waiting: list[tuple[Path, Any]] = [((), schema)]
    while waiting:
        path, here = waiting.pop()
        if not isinstance(here, dict):
            continue
        yield path, here
        for word, inner in here.items():
            if word == "properties" and path is not None and isinstance(inner, dict):
                waiting += [((*path, name), below) for name, below in inner.items()]
            elif word in _NAMED and isinstance(inner, dict):
                waiting += [(None, below) for below in inner.values()]
            elif word in _DIRECT:
                waiting += [(None, b) for b in (inner if isinstance(inner, list) else [inner])]


def as_text(value: Any) -> str | None:
    """An argument as the text that its header carries; None for what no header carries.

    Raises ValueError for an integer that a double cannot hold.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and abs(value) > SAFE_INTEGERS:
        raise ValueError("beyond the integers that a header may carry (server/tools)")
    return str(value) if isinstance(value, str | int | float) else None
