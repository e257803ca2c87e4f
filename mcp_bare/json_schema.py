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

from mcp_bare.errors import IllegalSchema
from mcp_bare.jsonrpc import brief
from mcp_bare.pattern import Budget, found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_STEPS = 200_000
LETTERS = 256  # of a text that cost a step
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

_LESS_USUAL = {
    *("$ref", "allOf", "anyOf", "oneOf", "not", "if", "dependentRequired", "dependentSchemas"),
    *BEYOND,
}
_BOUNDS = {
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
}
_ANY_KEY = {"propertyNames", "patternProperties", "additionalProperties"}
_ASSERTIONS = {"enum", "const", "pattern", "format", *_BOUNDS}
"""Most schemas have none of these sets' words, and then nobody looks for each."""


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
    judge = _Judge(schema, formats)
    try:
        judge.check(schema, value, "", 0)
    except _Enough:
        pass
    except RecursionError:
        raise IllegalSchema("the schema nests too deep to check (basic/index)") from None
    except (TypeError, AttributeError, ValueError, ArithmeticError, re.error) as trouble:
        raise IllegalSchema(f"the schema itself is malformed: {trouble}") from trouble
    return judge.problems


class _Enough(Exception):
    """As many problems are found as anybody wants to know of."""


class _Judge:
    def __init__(self, root: Any, formats: bool):
        self.root, self.formats, self.steps = root, formats, 0
        self.problems: list[str] = []
        self._wanted = MAX_PROBLEMS
        self.patterns = Budget()
        self._enums: dict[int, set[Any]] = {}
        self._targets: dict[str, Any] = {}  # of a $ref that was followed before

    def fits(self, schema: Any, value: Any, at: str, depth: int) -> bool:
        """One problem is enough to know, and it is not said."""
        kept = self.problems, self._wanted
        self.problems, self._wanted = [], 1
        try:
            self.check(schema, value, at, depth)
        except _Enough:
            return False
        finally:
            self.problems, self._wanted = kept
        return True

    def _say(self, problem: str) -> None:
        self.problems.append(problem)
        if len(self.problems) >= self._wanted:
            raise _Enough

    def check(self, schema: Any, value: Any, at: str, depth: int) -> None:
        """Say what is wrong with `value`; `at` is its place in the whole, "" for all of it."""
        if not isinstance(schema, dict):
            self._boolean(schema, at)
            return
        self._spend(1 + len(schema))
        if depth > MAX_NESTING:
            raise IllegalSchema("the schema nests too deep to check (basic/index)")
        if not _LESS_USUAL.isdisjoint(schema):
            self._less_usual(schema, value, at, depth)
        if "type" in schema and not _is_a(wanted := schema["type"], value):
            due = wanted if isinstance(wanted, str) else " or ".join(wanted)
            self._say(f"{_name(at)} is {brief(value)}; {due} is due")
        elif not _ASSERTIONS.isdisjoint(schema):
            self._asserted(schema, value, _name(at))
        if isinstance(value, dict):
            self._object(schema, value, at, depth)
        elif isinstance(value, list):
            self._array(schema, value, at, depth)

    def _boolean(self, schema: Any, at: str) -> None:
        self._spend(1)
        if schema is False:
            self._say(f"{_name(at)} is not allowed here")
        elif schema is not True:
            raise IllegalSchema(f"{brief(schema)} is no schema; an object or a boolean is due")

    def _less_usual(self, schema: Any, value: Any, at: str, depth: int) -> None:
        if not BEYOND.isdisjoint(schema):
            raise IllegalSchema(f"{', '.join(BEYOND & set(schema))} is not supported here")
        if "$ref" in schema:
            self.check(self._resolve(schema["$ref"]), value, at, depth + 1)
        if isinstance(value, dict):
            self._dependent(schema, value, at, depth)
        self._combined(schema, value, at, depth)

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

    def _object(self, schema: Any, value: Any, at: str, depth: int) -> None:
        required = schema.get("required", ())
        self._spend(len(required) + len(value))
        for key in required:
            if key not in value:
                self._say(f'"{_join(at, key)}" is missing')
        known = _named(schema, "properties")
        for key, inner in value.items():
            if key in known:
                self.check(known[key], inner, _join(at, key), depth + 1)
        if not _ANY_KEY.isdisjoint(schema):
            self._any_key(schema, value, at, depth, known)

    def _any_key(self, schema: Any, value: Any, at: str, depth: int, known: Any) -> None:
        patterns = _named(schema, "patternProperties")
        self._spend(len(patterns) * len(value))
        for key, inner in value.items():
            below = _join(at, key)
            if "propertyNames" in schema:
                self.check(schema["propertyNames"], key, below, depth + 1)
            matched = [sub for p, sub in patterns.items() if found(p, key, self.patterns)]
            if not matched and key not in known:
                matched = [schema.get("additionalProperties", True)]
            for sub in matched:
                self.check(sub, inner, below, depth + 1)

    def _dependent(self, schema: Any, value: Any, at: str, depth: int) -> None:
        needed, beside = schema.get("dependentRequired", {}), schema.get("dependentSchemas", {})
        self._spend(len(needed) + len(beside))
        for key, needs in needed.items():
            if key in value:
                self._spend(len(needs))
                missing = [need for need in needs if need not in value]
                beside_it = f'beside "{_join("", key)}"'
                for need in missing:
                    self._say(f'"{_join(at, need)}" is missing {beside_it}')
        for key, sub in beside.items():
            if key in value:
                self.check(sub, value, at, depth + 1)

    def _array(self, schema: Any, value: Any, at: str, depth: int) -> None:
        first = schema.get("prefixItems", [])
        for index, inner in enumerate(value):
            sub = first[index] if index < len(first) else schema.get("items", True)
            self.check(sub, inner, _cut(f"{at}[{index}]"), depth + 1)
        if schema.get("uniqueItems") and len({self._key(inner) for inner in value}) < len(value):
            self._say(f'"{at}" holds the same item twice')
        if "contains" in schema:
            count = sum(self.fits(schema["contains"], v, at, depth + 1) for v in value)
            if not schema.get("minContains", 1) <= count <= schema.get("maxContains", count):
                self._say(f'"{at}" holds {count} of the items it must contain')

    def _combined(self, schema: Any, value: Any, at: str, depth: int) -> None:
        for sub in schema.get("allOf", ()):
            self.check(sub, value, at, depth + 1)
        for word, due in (("anyOf", "at least one"), ("oneOf", "exactly one")):
            if word in schema:
                fit = sum(self.fits(sub, value, at, depth + 1) for sub in schema[word])
                if fit == 0 or (word == "oneOf" and fit > 1):
                    self._say(f"{_name(at)} fits {fit} of the alternatives; {due} is due")
        if "not" in schema and self.fits(schema["not"], value, at, depth + 1):
            self._say(f"{_name(at)} is what it must not be")
        if "if" in schema:
            branch = "then" if self.fits(schema["if"], value, at, depth + 1) else "else"
            self.check(schema.get(branch, True), value, at, depth + 1)

    def _asserted(self, schema: Any, value: Any, name: str) -> None:
        if "enum" in schema and self._key(value) not in self._keys(schema["enum"]):
            self._say(f"{name} is {brief(value)}; one of {brief(schema['enum'])} is due")
        if "const" in schema and self._key(value) != self._key(schema["const"]):
            self._say(f"{name} is {brief(value)}; {brief(schema['const'])} is due")
        if not _BOUNDS.isdisjoint(schema):
            for problem in _bounds(schema, value, name):
                self._say(problem)
        if isinstance(value, str):
            pattern = schema.get("pattern", "")
            if not found(pattern, value, self.patterns):
                self._say(f"{name} does not match the pattern {brief(pattern)}")
            if self.formats and "format" in schema:
                self._formatted(schema["format"], value, name)

    def _formatted(self, wanted: Any, value: str, name: str) -> None:
        self._spend(len(value) // LETTERS)
        if not is_format(wanted, value):
            shown = {"date": ", as 1999-12-31", "date-time": ", as 1999-12-31T09:00:00Z"}
            self._say(f"{name} is {brief(value)}; {wanted} is due{shown.get(wanted, '')}")

    def _keys(self, choices: Any) -> set[Any]:
        """An enumeration as a set, made once; the schema holds it, so its id stays its own."""
        if id(choices) not in self._enums:
            self._enums[id(choices)] = {self._key(choice) for choice in choices}
        return self._enums[id(choices)]

    def _key(self, value: Any) -> Any:
        """Something hashable that is equal for equal JSON: 1 is 1.0, but true is not 1."""
        self._spend(1)
        if isinstance(value, str):
            self._spend(len(value) // LETTERS)
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


def _is_a(wanted: Any, value: Any) -> bool:
    """`wanted` is the name of a type, or a list of some."""
    if isinstance(wanted, str) and wanted in _TYPES:
        found: bool = _TYPES[wanted](value)
        return found
    if not isinstance(wanted, list) or len(wanted) > len(_TYPES) or not _TYPES.keys() >= {*wanted}:
        raise IllegalSchema(f"unknown type {brief(wanted)}")
    return True in [_TYPES[name](value) for name in wanted]


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


def _name(at: str) -> str:
    return f'"{at}"' if at else "the value"


def _join(at: str, key: str) -> str:
    return _cut(f"{at}.{key}" if at else key)


def _cut(name: str) -> str:
    return name if len(name) <= MAX_NAME else name[:MAX_NAME] + "…"
