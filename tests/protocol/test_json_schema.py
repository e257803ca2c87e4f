"""The same verdict as PyPI's `jsonschema`, for the part of dialect 2020-12 that is handled."""

from __future__ import annotations

import time

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_bare import json_schema
from mcp_bare.errors import IllegalSchema
from tests.protocol.asking import examples

# --- small worlds, so that schemas and values meet ---

KEYS = st.sampled_from(["a", "b", "c"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.0, 1.0, -1.0, 0.5, 2.5, 1e300, 1e-300]),
    st.sampled_from(["", "a", "b", "ab", "aaa", "é", "✓✓", "1"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)
SIZES = st.integers(0, 3)
NUMBERS = st.one_of(st.integers(-3, 3), st.sampled_from([0.5, -0.5, 2.5]))
TYPES = st.sampled_from(["null", "boolean", "string", "array", "object", "number", "integer"])
PATTERNS = st.sampled_from(["a", "^a$", "^$", "b|é", "^[ab]+$", "."])


def some_of(**keywords):
    return st.fixed_dictionaries({}, optional=keywords)


SCALAR_SCHEMAS = st.one_of(
    st.booleans(),
    some_of(type=st.one_of(TYPES, st.lists(TYPES, min_size=1, max_size=3, unique=True))),
    some_of(enum=st.lists(VALUES, min_size=1, max_size=4), const=VALUES),
    some_of(minimum=NUMBERS, maximum=NUMBERS, exclusiveMinimum=NUMBERS, exclusiveMaximum=NUMBERS),
    some_of(minLength=SIZES, maxLength=SIZES, pattern=PATTERNS, multipleOf=st.integers(1, 3)),
    some_of(**{"$ref": st.sampled_from(["#/$defs/a", "#/$defs/b"])}),
)


def _compound(inner):
    schemas = st.lists(inner, min_size=1, max_size=3)
    by_name = st.dictionaries(KEYS, inner, max_size=3)
    return st.one_of(
        some_of(
            type=TYPES,
            properties=by_name,
            required=st.lists(KEYS, unique=True, max_size=3),
            additionalProperties=inner,
            patternProperties=st.dictionaries(st.sampled_from(["a|b", "^c"]), inner, max_size=2),
        ),
        some_of(
            propertyNames=inner,
            minProperties=SIZES,
            maxProperties=SIZES,
            dependentRequired=st.dictionaries(KEYS, st.lists(KEYS, unique=True), max_size=2),
            dependentSchemas=by_name,
        ),
        some_of(items=inner, prefixItems=schemas, minItems=SIZES, maxItems=SIZES),
        some_of(uniqueItems=st.booleans(), items=inner),
        some_of(contains=inner, minContains=SIZES, maxContains=SIZES),
        some_of(allOf=schemas, anyOf=schemas, oneOf=schemas),
        st.fixed_dictionaries({"not": inner}),
        some_of(**{"if": inner, "then": inner, "else": inner}),
    )


SCHEMAS = st.recursive(SCALAR_SCHEMAS, _compound, max_leaves=8)
DEFINITIONS = st.recursive(  # they refer to nothing, so that no reference goes in a circle
    SCALAR_SCHEMAS.filter(lambda schema: isinstance(schema, bool) or "$ref" not in schema),
    _compound,
    max_leaves=4,
)


@examples(600)
@given(SCHEMAS, DEFINITIONS, DEFINITIONS, VALUES)
def test_the_same_verdict_as_the_reference(schema, a, b, value):
    if isinstance(schema, dict):
        schema = {**schema, "$defs": {"a": a, "b": b}}
    elif schema is not True and schema is not False:
        raise AssertionError(schema)
    due = jsonschema.Draft202012Validator(schema).is_valid(value)
    found = json_schema.problems(schema, value)
    assert (not found) == due, found


CASES = [
    # schema, value, keeps it
    ({"enum": [1]}, True, False),
    ({"enum": [True]}, 1, False),
    ({"const": 1}, 1.0, True),
    ({"const": [1]}, [True], False),
    ({"const": {"a": [0]}}, {"a": [False]}, False),
    ({"uniqueItems": True}, [1, True, "1", None, 0, False, [], {}], True),
    ({"uniqueItems": True}, [1, 1.0], False),
    ({"uniqueItems": True}, [{"a": 1, "b": 2}, {"b": 2, "a": 1}], False),
    ({"uniqueItems": True}, [[1], [True]], True),
    ({"type": "integer"}, 1.0, True),
    ({"type": "integer"}, 1.5, False),
    ({"type": "integer"}, True, False),
    ({"type": "number"}, False, False),
    ({"type": ["string", "null"]}, None, True),
    ({"minLength": 2}, "é✓", True),
    ({"maxLength": 1}, "😀", True),
    ({"multipleOf": 0.1}, 0.3, True),  # as decimals; as doubles it would not be
    ({"multipleOf": 0.01}, 19.99, True),
    ({"multipleOf": 3}, 10**300 + 1, False),
    ({"multipleOf": 10}, 10**300 + 10, True),
    ({"multipleOf": 1e300}, 1e-300, False),
    ({"maximum": 1e300}, 10**308, False),
    ({"properties": {"a": False}}, {"b": 1}, True),
    ({"properties": {"a": False}}, {"a": 1}, False),
    ({"additionalProperties": False}, {"a": 1}, False),
    ({"additionalProperties": False, "patternProperties": {"^x-": {}}}, {"x-a": 1}, True),
    ({"items": {"$ref": "#"}, "type": "array"}, [[[[]]]], True),
    ({"items": {"$ref": "#"}, "type": "array"}, [[[7]]], False),
    ({"$ref": "#/$defs/a~1b~0c", "$defs": {"a/b~c": {"type": "null"}}}, None, True),
    ({"$ref": "#/$defs/a%20b", "$defs": {"a b": {"type": "null"}}}, 1, False),
    ({"allOf": [{"$ref": "#/allOf/1"}, {"type": "null"}]}, 1, False),
    ({"$schema": json_schema.DIALECT + "#", "type": "null"}, None, True),
    ({}, object, True),
]


@pytest.mark.parametrize(("schema", "value", "keeps"), CASES)
def test_what_is_easily_got_wrong(schema, value, keeps):
    assert (json_schema.problems(schema, value) == []) is keeps


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": "http://json-schema.org/draft-07/schema#"},
        {"$schema": "http://json-schema.org/draft-04/schema"},
        {"$schema": 7},
        {"$ref": "https://example.com/schema.json"},
        {"$ref": "other.json#/a"},
        {"$ref": "http://169.254.169.254/latest/meta-data"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "#anchor"},
        {"$ref": ""},
        {"$ref": 7},
        {"$ref": "#/$defs/nobody"},
        {"$ref": "#/allOf/-1", "allOf": [True]},
        {"$ref": "#/allOf/9", "allOf": [True]},
        {"$ref": "#"},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"$dynamicRef": "#node"},
        {"unevaluatedProperties": False},
        {"unevaluatedItems": False},
        {"type": "date"},
        {"type": 7},
        {"type": [7]},
        {"properties": [1]},
        {"properties": {"a": 7}},
        {"properties": {"a": None}},
        {"required": 7},
        {"required": [[]]},
        {"items": [{}]},
        {"pattern": "("},
        {"minimum": "x"},
        {"multipleOf": 0},
        {"multipleOf": "x"},
        {"enum": 7},
        {"allOf": 7},
        {"allOf": [7]},
        {"not": "x"},
        7,
        "x",
        None,
        [],
    ],
)
def test_what_cannot_be_judged_is_refused_not_let_through(schema):
    for value in ({"a": 1, "b": [1]}, [1], "x", 1, 1.5):
        try:
            found = json_schema.problems(schema, value)
        except IllegalSchema:
            break
        assert found == [], "not concerned by the broken keyword"
    else:
        pytest.fail(f"{schema} was never refused")


LONG = "k" * 1_000_000
HEAVY = [
    ({"items": {"type": ["string"] * 100_000}}, [1] * 10_000),
    ({"items": {"dependentRequired": {"a": ["a"] * 100_000}}}, [{"a": 1}] * 10_000),
    ({"$defs": {LONG: {}}, "items": {"$ref": f"#/$defs/{LONG}"}}, [1] * 10_000),
    ({"properties": {LONG: {"items": {"type": "integer"}}}}, {LONG: [1] * 50_000}),
    ({"properties": {LONG: {"items": {"type": "integer"}}}}, {LONG: ["x"] * 50_000}),
    ({"items": {"required": [LONG]}}, [{}] * 50_000),
    ({"items": {"dependentRequired": {LONG: ["b"]}}}, [{LONG: 1}] * 50_000),
    ({"uniqueItems": True}, [[n] for n in range(100_000)]),
    ({"items": {"type": "integer"}}, list(range(500_000))),
    ({"contains": {"const": -1}}, list(range(500_000))),
    ({"allOf": [{}] * 60_000}, dict.fromkeys(map(str, range(50_000)))),
    ({"allOf": [{"additionalProperties": {}}] * 60_000}, dict.fromkeys(map(str, range(50_000)))),
    ({"allOf": [{"const": LONG + "a"}] * 60_000}, LONG + "b"),
    ({"allOf": [{"format": "uri"}] * 60_000}, "a:" + LONG),
    ({"allOf": [{"$ref": "#"}] * 10}, 1),
    ({"anyOf": [{"items": {"$ref": "#"}}] * 5}, [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]),
    ({"$defs": {"a": {"anyOf": [{"not": {"$ref": "#/$defs/a"}}] * 2}}, "$ref": "#/$defs/a"}, 1),
    ({"properties": {"a": {"$ref": "#"}}, "not": {"$ref": "#/$defs/x"}, "$defs": {"x": False}},
     None),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(HEAVY)))
def test_the_work_is_bounded(number):
    """basic/index, "Composition-Keyword Resource Use"."""
    schema, value = HEAVY[number]
    if value is None:
        value = {}
        for _ in range(120):
            value = {"a": value}
    began = time.monotonic()
    try:
        found = json_schema.problems(schema, value, formats=True)
        assert len(found) <= 100 and all(len(problem) < 1000 for problem in found)
    except IllegalSchema as refusal:
        assert any(why in str(refusal) for why in ("cost", "deep", "unknown type"))
    assert time.monotonic() - began < 5


FORMATS = {
    "date": {
        "good": ["2026-07-28", "2024-02-29", "0001-01-01", "9999-12-31"],
        "bad": ["2026-7-28", "2026-02-30", "2025-02-29", "26-07-28", "2026-07-28T09:00:00Z", "",
                "2026-13-01", "today", " 2026-07-28", "2026-07-28\n", "２０２６-07-28", "20260728"],
    },
    "date-time": {
        "good": ["2026-07-28T09:00:00Z", "2026-07-28t09:00:00z", "2026-07-28 09:00:00Z",
                 "2026-07-28T09:00:00.123456789+02:00", "2026-07-28T23:59:59-23:59"],
        "bad": ["2026-07-28", "2026-07-28T09:00:00", "2026-07-28T09:00Z", "2026-07-28T24:00:00Z",
                "2026-07-28T09:60:00Z", "2026-02-30T09:00:00Z", "2026-07-28T09:00:00+24:00",
                "2026-07-28T09:00:00+02:60", "2026-07-28T09:00:00Z ", "tomorrow", "09:00:00Z",
                "2026-07-28T09:00:00.Z", "2026-07-28T09:00:00+0200"],
    },
    "email": {
        "good": ["a@b.c", "first.last+tag@example.co.uk", "ada@localhost", "é@example.com"],
        "bad": ["", "a", "a@", "@b", "a b@c.d", "a@b@c", "a@.b", "a@b.", "a@b..c", "a@b.c\n"],
    },
    "uri": {
        "good": ["https://example.com/a?b=c#d", "mailto:a@b.c", "urn:isbn:1", "calendar://week",
                 "file:///a"],
        "bad": ["", "example.com", "//example.com", "/a/b", "https://a b", "1a:b", "http:", "a:\n",
                "https://example.com/\"", "<https://example.com>"],
    },
}  # fmt: skip
FORMAT_CASES = [
    (name, value, verdict == "good")
    for name, verdicts in FORMATS.items()
    for verdict, values in verdicts.items()
    for value in values
]


@pytest.mark.parametrize(("name", "value", "good"), FORMAT_CASES)
def test_the_four_formats(name, value, good):
    assert json_schema.is_format(name, value) is good
    found = json_schema.problems({"type": "string", "format": name}, value, formats=True)
    assert (found == []) is good
    assert json_schema.problems({"type": "string", "format": name}, value) == []


def test_a_problem_says_where_and_what_is_due():
    schema = {
        "type": "object",
        "properties": {
            "when": {
                "type": "object",
                "properties": {"at": {"type": "string"}},
                "required": ["at"],
            },
            "who": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["title"],
        "additionalProperties": False,
    }
    assert json_schema.problems(schema, {"when": {}, "who": ["Ada", 7], "x": 1}) == [
        '"title" is missing',
        '"when.at" is missing',
        '"who[1]" is 7; string is due',
        '"x" is not allowed here',
    ]
