"""Does a value keep a JSON Schema? The part of dialect 2020-12 that tools and forms use.

Handles type, enum, const, bounds of numbers, strings, arrays and objects, pattern, properties,
patternProperties, additionalProperties, propertyNames, dependentRequired, dependentSchemas, items,
prefixItems, contains, uniqueItems, allOf, anyOf, oneOf, not, if/then/else, $defs and local $ref,
boolean schemas, and, where asked, the four formats that elicitation allows.
Does not handle $dynamicRef, a $ref to an anchor, unevaluated*, or a $ref that leaves the document:
the specification forbids fetching one, so such a schema is refused, not taken as permissive.
Work is bounded: a schema that needs more than `MAX_STEPS` checks is refused, and a pattern is
followed, not tried out (`pattern`). So is what is said: no more than `MAX_PROBLEMS`, and of a place
no more than `MAX_NAME` characters, for whoever wrote the keys may have meant to fill the memory.

Spec: basic/index, "JSON Schema Usage".
"""

from __future__ import annotations

import re
from itertools import islice

from mcp_bare.errors import IllegalSchema
from mcp_bare.jsonrpc import brief
from mcp_bare.pattern import Budget, found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_STEPS = 200_000
MAX_NESTING = 100
MAX_PROBLEMS = 100
MAX_NAME = 200
DIALECT = "https://json-schema.org/draft/2020-12/schema"
BEYOND = {"$dynamicRef", "unevaluatedProperties", "unevaluatedItems"}
"""Keywords whose neglect would let through what the schema forbids."""

_TYPES: dict[str, Any] = {
    "null": lambda v: v is None,
    "boolean": lambda v: isinstance(v, bool),
    "string": lambda v: isinstance(v, str),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "integer": lambda v: (
        (isinstance(v, int) and not isinstance(v, bool))
        or (isinstance(v, float) and v.is_integer())
    ),
}

_COMBINING = {"allOf", "anyOf", "oneOf", "not", "if"}
_DEPENDENT = {"dependentRequired", "dependentSchemas"}
_BOUNDS = {
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
}
_ASSERTIONS = {"enum", "const", "pattern", *_BOUNDS}
"""Most schemas have none of these, and then nobody looks for each."""


def problems(schema: Any, value: Any, formats: bool = False) -> list[str]:
    """What is wrong with `value`, a sentence each, the first hundred; none if it keeps the schema.

    problems({"type": "object", "required": ["title"]}, {}) -> ['"title" is missing']
    Raises IllegalSchema for a schema that cannot be judged (unknown dialect, foreign $ref, cost).
    """
    dialect = schema.get("$schema", DIALECT) if isinstance(schema, dict) else DIALECT
    if not isinstance(dialect, str) or dialect.rstrip("#") != DIALECT:
        raise IllegalSchema(
            f"dialect {brief(dialect)} is not supported; {DIALECT} is (basic/index)"
        )
    try:
        return list(islice(_Judge(schema, formats).check(schema, value, "", 0), MAX_PROBLEMS))
    except RecursionError:
        raise IllegalSchema("the schema nests too deep to check (basic/index)") from None
    except (TypeError, AttributeError, ValueError, ArithmeticError, re.error) as trouble:
        raise IllegalSchema(f"the schema itself is malformed: {trouble}") from trouble


class _Judge:
    def __init__(self, root: Any, formats: bool):
        self.root, self.formats, self.steps = root, formats, 0
        self.patterns = Budget()
        self._enums: dict[int, set[Any]] = {}
        self._targets: dict[str, Any] = {}  # of a $ref that was followed before

    def fits(self, schema: Any, value: Any, at: str, depth: int) -> bool:
        return next(self.check(schema, value, at, depth), None) is None

    def check(self, schema: Any, value: Any, at: str, depth: int) -> Iterator[str]:
        name = f'"{at}"' if at else "the value"
        if schema is True or schema is False:
            self._spend(1)
            if not schema:
                yield f"{name} is not allowed here"
            return
        if not isinstance(schema, dict):
            raise IllegalSchema(f"{brief(schema)} is no schema; an object or a boolean is due")
        self._spend(1 + len(schema))
        if depth > MAX_NESTING:
            raise IllegalSchema("the schema nests too deep to check (basic/index)")
        if not BEYOND.isdisjoint(schema):
            raise IllegalSchema(f"{', '.join(BEYOND & set(schema))} is not supported here")
        if "$ref" in schema:
            yield from self.check(self._resolve(schema["$ref"]), value, at, depth + 1)
        if "type" in schema and not _is_one_of(wanted := schema["type"], value):
            due = wanted if isinstance(wanted, str) else " or ".join(wanted)
            yield f"{name} is {brief(value)}; {due} is due"
        elif not _ASSERTIONS.isdisjoint(schema):
            yield from self._asserted(schema, value, name)
        if self.formats and isinstance(value, str) and "format" in schema:
            yield from _format(schema["format"], value, name)
        if isinstance(value, dict):
            yield from self._object(schema, value, at, depth)
        if isinstance(value, list):
            yield from self._array(schema, value, at, depth)
        if not _COMBINING.isdisjoint(schema):
            yield from self._combined(schema, value, at, name, depth)

    def _resolve(self, ref: Any) -> Any:
        if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
            raise IllegalSchema(f"$ref {brief(ref)} is no path in this document; none is fetched")
        if ref not in self._targets:
            self._targets[ref] = self._target(ref)
        return self._targets[ref]

    def _target(self, ref: str) -> Any:
        from urllib.parse import unquote

        found = self.root
        for part in unquote(ref[1:]).split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            try:
                found = found[key] if isinstance(found, dict) else found[_index(key)]
            except (KeyError, IndexError, ValueError, TypeError):
                raise IllegalSchema(f"$ref {brief(ref)} points at nothing") from None
        return found

    def _object(self, schema: Any, value: Any, at: str, depth: int) -> Iterator[str]:
        required = schema.get("required", ())
        for key in required:
            if key not in value:
                yield f'"{_join(at, key)}" is missing'
        if not _DEPENDENT.isdisjoint(schema):
            yield from self._dependent(schema, value, at, depth)
        known, patterns = _named(schema, "properties"), _named(schema, "patternProperties")
        self._spend(len(required) + len(patterns) * len(value))
        for key, inner in value.items():
            below = _join(at, key)
            if "propertyNames" in schema:
                yield from self.check(schema["propertyNames"], key, below, depth + 1)
            matched = [known[key]] if key in known else []
            if patterns:
                matched += [sub for p, sub in patterns.items() if found(p, key, self.patterns)]
            if not matched and "additionalProperties" in schema:
                matched = [schema["additionalProperties"]]
            for sub in matched:
                yield from self.check(sub, inner, below, depth + 1)

    def _dependent(self, schema: Any, value: Any, at: str, depth: int) -> Iterator[str]:
        needed, beside = schema.get("dependentRequired", {}), schema.get("dependentSchemas", {})
        self._spend(len(needed) + len(beside))
        for key, needs in needed.items():
            if key in value:
                self._spend(len(needs))
                missing = [need for need in needs if need not in value]
                beside_it = f'beside "{_join("", key)}"'
                yield from (f'"{_join(at, need)}" is missing {beside_it}' for need in missing)
        for key, sub in beside.items():
            if key in value:
                yield from self.check(sub, value, at, depth + 1)

    def _array(self, schema: Any, value: Any, at: str, depth: int) -> Iterator[str]:
        first = schema.get("prefixItems", [])
        for index, inner in enumerate(value):
            sub = first[index] if index < len(first) else schema.get("items", True)
            yield from self.check(sub, inner, _cut(f"{at}[{index}]"), depth + 1)
        if schema.get("uniqueItems") and len({self._key(inner) for inner in value}) < len(value):
            yield f'"{at}" holds the same item twice'
        if "contains" in schema:
            count = sum(self.fits(schema["contains"], v, at, depth + 1) for v in value)
            if not schema.get("minContains", 1) <= count <= schema.get("maxContains", count):
                yield f'"{at}" holds {count} of the items it must contain'

    def _combined(self, schema: Any, value: Any, at: str, name: str, depth: int) -> Iterator[str]:
        for sub in schema.get("allOf", ()):
            yield from self.check(sub, value, at, depth + 1)
        for word, due in (("anyOf", "at least one"), ("oneOf", "exactly one")):
            if word in schema:
                fit = sum(self.fits(sub, value, at, depth + 1) for sub in schema[word])
                if fit == 0 or (word == "oneOf" and fit > 1):
                    yield f"{name} fits {fit} of the alternatives; {due} is due"
        if "not" in schema and self.fits(schema["not"], value, at, depth + 1):
            yield f"{name} is what it must not be"
        if "if" in schema:
            branch = "then" if self.fits(schema["if"], value, at, depth + 1) else "else"
            yield from self.check(schema.get(branch, True), value, at, depth + 1)

    def _asserted(self, schema: Any, value: Any, name: str) -> Iterator[str]:
        if "enum" in schema and self._key(value) not in self._keys(schema["enum"]):
            yield f"{name} is {brief(value)}; one of {brief(schema['enum'])} is due"
        if "const" in schema and self._key(value) != self._key(schema["const"]):
            yield f"{name} is {brief(value)}; {brief(schema['const'])} is due"
        if not _BOUNDS.isdisjoint(schema):
            yield from _bounds(schema, value, name)
        pattern = schema.get("pattern", "")
        if pattern != "" and isinstance(value, str) and not found(pattern, value, self.patterns):
            yield f"{name} does not match the pattern {brief(pattern)}"

    def _keys(self, choices: Any) -> set[Any]:
        """An enumeration as a set, made once; the schema holds it, so its id stays its own."""
        if id(choices) not in self._enums:
            self._enums[id(choices)] = {self._key(choice) for choice in choices}
        return self._enums[id(choices)]

    def _key(self, value: Any) -> Any:
        """Something hashable that is equal for equal JSON: 1 is 1.0, but true is not 1."""
        self._spend(1)
        if isinstance(value, dict):
            pairs = frozenset((name, self._key(inner)) for name, inner in value.items())
            return ("object", pairs)
        if isinstance(value, list):
            return ("array", tuple(map(self._key, value)))
        return ("boolean", value) if isinstance(value, bool) else value

    def _spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise IllegalSchema("the schema costs too much to check (basic/index)")


def _is_one_of(wanted: Any, value: Any) -> bool:
    if not isinstance(wanted, list):
        return _is_a(wanted, value)
    if len(wanted) > len(_TYPES):
        raise IllegalSchema(f"a list of {len(wanted)} types; there are {len(_TYPES)}")
    return True in [_is_a(name, value) for name in wanted]


def _is_a(name: Any, value: Any) -> bool:
    if not isinstance(name, str) or name not in _TYPES:
        raise IllegalSchema(f"unknown type {brief(name)}")
    found: bool = _TYPES[name](value)
    return found


def _named(schema: Any, word: str) -> Any:
    found = schema.get(word, {})
    if not isinstance(found, dict):
        raise IllegalSchema(f"{word} is {brief(found)}; an object is due")
    return found


def _bounds(schema: Any, value: Any, name: str) -> Iterator[str]:
    if _TYPES["number"](value):
        if value < schema.get("minimum", value):
            yield f"{name} is {value}; at least {schema['minimum']} is due"
        if value > schema.get("maximum", value):
            yield f"{name} is {value}; at most {schema['maximum']} is due"
        if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
            yield f"{name} is {value}; more than {schema['exclusiveMinimum']} is due"
        if "exclusiveMaximum" in schema and value >= schema["exclusiveMaximum"]:
            yield f"{name} is {value}; less than {schema['exclusiveMaximum']} is due"
        if "multipleOf" in schema and not _is_multiple(value, schema["multipleOf"]):
            yield f"{name} is {value}; a multiple of {schema['multipleOf']} is due"
    for holder, low, high, unit in (
        (str, "minLength", "maxLength", "characters"),
        (list, "minItems", "maxItems", "items"),
        (dict, "minProperties", "maxProperties", "properties"),
    ):
        if isinstance(value, holder):
            size = len(value)
            if size < schema.get(low, size):
                yield f"{name} has {size} {unit}; at least {schema[low]} are due"
            if size > schema.get(high, size):
                yield f"{name} has {size} {unit}; at most {schema[high]} are due"


def _format(wanted: str, value: str, name: str) -> Iterator[str]:
    if not is_format(wanted, value):
        example = {"date": "1999-12-31", "date-time": "1999-12-31T09:00:00Z"}.get(wanted, "")
        yield f"{name} is {brief(value)}; {wanted} is due" + (f", as {example}" * bool(example))


def is_format(wanted: str, value: str) -> bool:
    """The formats of the restricted form schema; one that is not known is not judged."""
    if wanted == "email":
        return re.fullmatch(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)*", value) is not None
    if wanted == "uri":
        return re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+", value) is not None
    if wanted in ("date", "date-time"):
        shape = r"\d{4}-\d\d-\d\d"
        if wanted == "date-time":
            shape += r"[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)"
        return re.fullmatch(shape, value, re.ASCII) is not None and _on_the_calendar(value)
    return True


def _on_the_calendar(value: str) -> bool:
    import datetime  # heavy, and only a date needs it

    try:
        datetime.datetime.fromisoformat(value[:19].upper())
    except ValueError:
        return False
    hours = re.search(r"[+-](\d\d):(\d\d)$", value[10:])
    return hours is None or (int(hours[1]) < 24 and int(hours[2]) < 60)


def _is_multiple(value: Any, of: Any) -> bool:
    """As decimals, so that 0.3 is a multiple of 0.1."""
    from fractions import Fraction  # heavy, and rarely needed

    return Fraction(repr(value)) % Fraction(repr(of)) == 0


def _index(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise ValueError(text)
    return int(text)


def _join(at: str, key: str) -> str:
    return _cut(f"{at}.{key}" if at else key)


def _cut(name: str) -> str:
    return name if len(name) <= MAX_NAME else name[:MAX_NAME] + "…"
