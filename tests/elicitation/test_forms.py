"""Every shape of the restricted schema: what is drawn, what is the default, what may be sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_bare import elicitation
from mcp_bare.errors import IllegalSchema
from tests.elicitation import naive
from tests.oracle import plugin
from tests.protocol.asking import examples

ABSENT = object()
TITLED = [{"const": "#F00", "title": "Red"}, {"const": "#0F0", "title": "Green"}]
PAIRS = [("#F00", "Red"), ("#0F0", "Green")]
PLAIN = [("red", "red"), ("green", "green")]


def form(**properties: object) -> dict:
    return {"type": "object", "properties": properties}


# property, kind, label, choices
SHAPES = {
    "string": ({"type": "string"}, "text", "p", []),
    "string, in full": (
        {"type": "string", "title": "T", "description": "D", "minLength": 1, "maxLength": 9},
        "text", "T", [],
    ),
    **{
        f"string of format {name}": ({"type": "string", "format": name}, "text", "p", [])
        for name in ("email", "uri", "date", "date-time")
    },
    "number": ({"type": "number", "minimum": 0.5, "maximum": 9}, "number", "p", []),
    "integer": ({"type": "integer", "title": "T", "minimum": -3}, "integer", "T", []),
    "boolean": ({"type": "boolean", "title": "T"}, "boolean", "T", []),
    "enum": ({"type": "string", "enum": ["red", "green"]}, "choice", "p", PLAIN),
    "enum with titles": ({"type": "string", "title": "T", "oneOf": TITLED}, "choice", "T", PAIRS),
    "enum with names, as it was before": (
        {"type": "string", "enum": ["#F00", "#0F0"], "enumNames": ["Red", "Green"]},
        "choice", "p", PAIRS,
    ),
    "several of an enum": (
        {"type": "array", "items": {"type": "string", "enum": ["red", "green"]}},
        "choices", "p", PLAIN,
    ),
    "several of an enum with titles": (
        {"type": "array", "title": "T", "minItems": 1, "maxItems": 2, "items": {"anyOf": TITLED}},
        "choices", "T", PAIRS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_a_field_has_a_kind_a_label_and_its_choices(shape):
    prop, kind, label, choices = SHAPES[shape]
    (field,) = elicitation.fields(form(p=prop))
    assert (field.name, field.kind, field.label) == ("p", kind, label)
    assert list(field.choices) == choices
    assert (field.has_default, field.default, field.required) == (False, None, False)
    assert field.description == prop.get("description", "")


@pytest.mark.parametrize("shape", SHAPES)
def test_a_server_may_ask_for_it_and_the_official_types_agree(shape):
    prop = SHAPES[shape][0]
    request = elicitation.form("?", {"p": prop}, ["p"])
    assert request["params"]["requestedSchema"] == {**form(p=prop), "required": ["p"]}
    plugin._check_form(request)


NAIVE_BY_LUCK = {"string", "number", "enum", *(f"string of format {f}" for f in
                                               ("email", "uri", "date", "date-time"))}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_the_naive_form_fails_this_shape(shape):
    prop, _, label, choices = SHAPES[shape]
    ((_, drawn, offered, _),) = naive.fields(form(p=prop))
    assert ((drawn, offered) == (label, choices)) == (shape in NAIVE_BY_LUCK)


DEFAULTS = [
    ({"type": "string"}, ""),
    ({"type": "string"}, "x"),
    ({"type": "string", "format": "date"}, "2026-07-28"),
    ({"type": "string", "format": "date-time"}, "2026-07-28T09:00:00Z"),
    ({"type": "string", "format": "email"}, "ada@example.com"),
    ({"type": "string", "format": "uri"}, "https://example.com"),
    ({"type": "number"}, 0),
    ({"type": "number"}, 0.0),
    ({"type": "number"}, -0.5),
    ({"type": "integer"}, 0),
    ({"type": "integer", "minimum": 3}, 3),
    ({"type": "boolean"}, False),
    ({"type": "boolean"}, True),
    ({"type": "string", "enum": ["", "a"]}, ""),
    ({"type": "string", "oneOf": TITLED}, "#0F0"),
    ({"type": "string", "enum": ["#F00"], "enumNames": ["Red"]}, "#F00"),
    ({"type": "array", "items": {"type": "string", "enum": ["a"]}}, []),
    ({"type": "array", "items": {"anyOf": TITLED}, "maxItems": 2}, ["#0F0", "#F00"]),
]


@pytest.mark.parametrize(("prop", "default"), DEFAULTS)
def test_a_default_is_there_if_it_is_there(prop, default):
    schema = form(with_one={**prop, "default": default}, without=prop)
    one, other = elicitation.fields(schema)
    assert (one.has_default, one.default, type(one.default)) == (True, default, type(default))
    assert (other.has_default, other.default) == (False, None)
    found = elicitation.defaults(schema)
    assert found == {"with_one": default}
    assert type(found["with_one"]) is type(default)
    assert elicitation.answer_problems(schema, found) == []


@pytest.mark.parametrize(("prop", "default"), [row for row in DEFAULTS if not row[1]])
def test_the_naive_form_loses_this_default(prop, default):
    assert naive.defaults(form(p={**prop, "default": default})) == {}


UNFIT = [
    ({"type": "string"}, 7),
    ({"type": "string"}, None),
    ({"type": "string", "minLength": 1}, ""),
    ({"type": "string", "maxLength": 1}, "ab"),
    ({"type": "string", "format": "date"}, "28.07.2026"),
    ({"type": "string", "format": "date"}, "2026-02-30"),
    ({"type": "string", "format": "date-time"}, "2026-07-28"),
    ({"type": "string", "format": "email"}, "ada"),
    ({"type": "string", "format": "uri"}, "example"),
    ({"type": "number"}, "0"),
    ({"type": "number"}, True),
    ({"type": "number", "minimum": 0}, -1),
    ({"type": "number", "maximum": 1}, 1.5),
    ({"type": "integer"}, 1.5),
    ({"type": "boolean"}, 0),
    ({"type": "boolean"}, "false"),
    ({"type": "string", "enum": ["a"]}, "b"),
    ({"type": "string", "oneOf": TITLED}, "Red"),  # the label is not the value
    ({"type": "string", "enum": ["#F00"], "enumNames": ["Red"]}, "Red"),
    ({"type": "array", "items": {"type": "string", "enum": ["a"]}}, "a"),
    ({"type": "array", "items": {"type": "string", "enum": ["a"]}}, ["b"]),
    ({"type": "array", "items": {"anyOf": TITLED}}, ["Red"]),
    ({"type": "array", "items": {"anyOf": TITLED}, "minItems": 1}, []),
    ({"type": "array", "items": {"anyOf": TITLED}, "maxItems": 1}, ["#F00", "#0F0"]),
]


@pytest.mark.parametrize(("prop", "value"), UNFIT)
def test_what_does_not_fit_is_neither_a_default_nor_an_answer(prop, value):
    with pytest.raises(IllegalSchema, match="p has a default that does not fit"):
        elicitation.check_form(form(p={**prop, "default": value}))
    (problem,) = elicitation.answer_problems(form(p=prop), {"p": value})
    assert '"p' in problem, "it says which field"
    request = elicitation.form("?", {"p": prop})
    answer = elicitation.read({"q": elicitation.accept({"p": value})}, "q", request)
    assert (answer.action, answer.content, answer.problems) == ("missing", {}, (problem,))


def test_what_is_required_is_asked_for_and_what_is_not_may_be_left_out():
    schema = {**form(a={"type": "string"}, b={"type": "string"}), "required": ["a"]}
    assert elicitation.answer_problems(schema, {"a": ""}) == []
    assert elicitation.answer_problems(schema, {"b": ""}) == ['"a" is missing']
    assert [field.required for field in elicitation.fields(schema)] == [True, False]


def test_a_client_sends_nothing_that_was_not_asked_for():
    assert elicitation.answer_problems(form(a={"type": "string"}), {"b": 1}) == [
        '"b" is not a field of the form'
    ]


@pytest.mark.parametrize("content", [None, [], "x", 7, True])
def test_an_answer_is_an_object(content):
    assert elicitation.answer_problems(form(), content) != []


# --- what a form cannot hold ---

S = {"type": "string"}
ILLEGAL_PROPERTIES = {
    "an object": {"type": "object", "properties": {"a": S}},
    "an empty object": {"type": "object"},
    "an array of objects": {"type": "array", "items": {"type": "object", "properties": {"a": S}}},
    "an array of arrays": {"type": "array", "items": {"type": "array", "items": S}},
    "an array of anything": {"type": "array"},
    "an array of strings": {"type": "array", "items": S},
    "an array of numbers": {"type": "array", "items": {"type": "number", "enum": [1, 2]}},
    "an array with a schema for each": {"type": "array", "items": [{"enum": ["a"]}]},
    "an array of choices without titles": {"type": "array", "items": {"anyOf": [{"const": "a"}]}},
    "null": {"type": "null"},
    "a date": {"type": "date"},
    "two types": {"type": ["string", "null"]},
    "no type": {"title": "T"},
    "a reference": {"$ref": "#/$defs/a"},
    "a union": {"anyOf": [S, {"type": "number"}]},
    "a pattern": {"type": "string", "pattern": "^(a+)+$"},
    "another format": {"type": "string", "format": "password"},
    "a format that is no string": {"type": "string", "format": 7},
    "a format on a number": {"type": "number", "format": "date"},
    "bounds on a boolean": {"type": "boolean", "minimum": 0},
    "an enum of numbers": {"type": "string", "enum": [1, 2]},
    "an enum on a number": {"type": "number", "enum": [1]},
    "an empty enum": {"type": "string", "enum": []},
    "an enum that is a string": {"type": "string", "enum": "abc"},
    "an enum that is an object": {"type": "string", "enum": {"a": "b"}},
    "an enum with a value twice": {"type": "string", "enum": ["a", "a"]},
    "too few names": {"type": "string", "enum": ["a", "b"], "enumNames": ["A"]},
    "names that are a string": {"type": "string", "enum": ["a", "b"], "enumNames": "AB"},
    "names that are numbers": {"type": "string", "enum": ["a"], "enumNames": [1]},
    "an empty oneOf": {"type": "string", "oneOf": []},
    "a oneOf without values": {"type": "string", "oneOf": [{"title": "A"}]},
    "a oneOf without titles": {"type": "string", "oneOf": [{"const": "a"}]},
    "a oneOf of strings": {"type": "string", "oneOf": ["a"]},
    "a oneOf of numbers": {"type": "string", "oneOf": [{"const": 1, "title": "One"}]},
    "a oneOf with a value twice": {"type": "string", "oneOf": [TITLED[0], TITLED[0]]},
    "a oneOf that is an object": {"type": "string", "oneOf": {"const": "a", "title": "A"}},
    "a title that is no string": {"type": "string", "title": 7},
    "a description that is no string": {"type": "string", "description": ["x"]},
    "a minLength that is a string": {"type": "string", "minLength": "1"},
    "a negative maxLength": {"type": "string", "maxLength": -1},
    "a fractional minItems": {"type": "array", "items": {"enum": ["a"]}, "minItems": 0.5},
    "a minimum that is a string": {"type": "number", "minimum": "0"},
    "a maximum that is true": {"type": "integer", "maximum": True},
    "no schema": "string",
    "true": True,
    "null for a schema": None,
    "a list for a schema": [S],
}


@pytest.mark.parametrize("what", ILLEGAL_PROPERTIES)
def test_no_form_can_hold(what):
    """client/elicitation, "Requested Schema": flat, primitive; nothing else is drawn or sent."""
    prop = ILLEGAL_PROPERTIES[what]
    for check in (elicitation.check_form, elicitation.fields, elicitation.defaults):
        with pytest.raises(IllegalSchema, match=r"the_field .*client/elicitation"):
            check(form(fine=S, the_field=prop))
    with pytest.raises(IllegalSchema):
        elicitation.form("?", {"the_field": prop})


ILLEGAL_FORMS = [
    None, [], "object", 7, {}, {"type": "object"}, {"properties": {}}, {"type": "array"},
    {"type": ["object"], "properties": {}}, {"type": "object", "properties": []},
    {"type": "object", "properties": None}, {**form(a=S), "required": "a"},
    {**form(a=S), "required": ["b"]}, {**form(a=S), "required": [7]},
    {**form(a=S), "required": [["a"]]}, {**form(a=S), "required": None},
    {**form(a=S), "additionalProperties": {"type": "object"}}, {**form(a=S), "$defs": {}},
    {**form(a=S), "allOf": [{}]}, {**form(a=S), "patternProperties": {}},
]  # fmt: skip


@pytest.mark.parametrize("schema", ILLEGAL_FORMS)
def test_no_form_is(schema):
    for check in (elicitation.check_form, elicitation.fields, elicitation.defaults):
        with pytest.raises(IllegalSchema, match="the form"):
            check(schema)


def test_a_form_may_say_what_it_is():
    """The Python SDK gives every form a title, and one with a docstring a description."""
    said = {"title": "Booking", "description": "When and where.", "$schema": "https://x/y"}
    assert len(elicitation.fields({**form(a=S), **said})) == 1


@pytest.mark.parametrize("address", ["", "example.com", "/connect", "https://a b", "javascript:\n"])
def test_a_page_needs_an_address(address):
    with pytest.raises(IllegalSchema, match="URL"):
        elicitation.url("Connect", address)


def test_a_page_is_asked_for_as_the_wire_has_it():
    assert elicitation.url("Connect", "https://example.com/connect") == {
        "method": "elicitation/create",
        "params": {"mode": "url", "message": "Connect", "url": "https://example.com/connect"},
    }


# --- anything at all ---

WORDS = st.sampled_from(
    ["type", "properties", "required", "enum", "oneOf", "anyOf", "items", "const", "title",
     "default", "format", "minLength", "maximum", "enumNames", "description", "minItems", "p"]
)  # fmt: skip
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.sampled_from(["string", "object", "array", "boolean", "number", "date", "p", "", "\ud83d"]),
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=5)),
    max_leaves=12,
)


@examples(300)
@given(st.one_of(ANYTHING, st.builds(lambda prop: form(p=prop), ANYTHING)), ANYTHING)
def test_a_stranger_s_form_is_drawn_or_refused(schema, content):
    try:
        drawn = elicitation.fields(schema)
    except IllegalSchema:
        return
    assert elicitation.answer_problems(schema, elicitation.defaults(schema)) is not None
    request = {"params": {"requestedSchema": schema}}
    answer = elicitation.read({"q": elicitation.accept(content)}, "q", request)
    assert answer.action in ("accept", "missing")
    assert all(isinstance(field.label, str) for field in drawn)
