"""Patterns: what `re` finds is found, in a time that no pattern can blow up."""

import re
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mcp_bare import pattern
from mcp_bare.errors import IllegalSchema
from mcp_bare.json_schema import problems
from mcp_bare.pattern import Budget
from tests.protocol.asking import examples

LETTERS = st.sampled_from("ab1_ \n-é")
ATOMS = st.sampled_from(
    [*"ab1", ".", r"\d", r"\w", r"\s", r"\D", r"\.", "[ab]", "[^a]", "[]a]", "[a-c1]", r"[\w-]",
     r"\x61", r"\u00e9", "^", r"\A", r"\b", r"\B", "(?=a)", "(?!b)", "-", " "]
)  # fmt: skip
TIMES = st.sampled_from(["", "", "", "*", "+", "?", "*?", "+?", "{2}", "{1,}", "{,2}", "{0,3}"])


def grown(inner):
    group = st.builds("({}{}){}".format, st.sampled_from(["", "?:", "?P<n{}>"]), inner, TIMES)
    return st.one_of(
        group,
        st.lists(inner, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.builds("{}|{}".format, inner, inner),
    )


PATTERNS = st.recursive(st.builds("{}{}".format, ATOMS, TIMES), grown, max_leaves=8)


@examples(600)
@given(PATTERNS, st.text(LETTERS, max_size=7))
def test_it_finds_what_re_finds(written, text):
    assume(text or r"\B" not in written)  # before 3.14, re's \B did not match an empty text
    try:
        expected = re.search(written, text) is not None
    except re.error:
        with pytest.raises(IllegalSchema):
            pattern.found(written, text, Budget())
        return
    assert pattern.found(written, text, Budget()) == expected


ROWS = [
    ("^(a+)+$", "a" * 40 + "!", False),
    ("^(a|a)*$", "a" * 40 + "!", False),
    ("^(a?){30}a{30}$", "a" * 30, True),
    (r"^([\w.]+)+@", "a" * 60, False),
    ("(x+x+)+y", "x" * 60, False),
    ("^(([a-z])+.)+[A-Z]([a-z])+$", "a" * 60, False),
    ("(?=(a+)+!)b", "a" * 60, False),
    ("a{}", "a{}", True),
    ("a$", "a\n", False),  # the end is the end: re would find this one
    ("", "anything", True),
    ("(?P<year>[0-9]{4})-", "in 2026-07", True),
    ("^(?!.*secret).*$", "a secret", False),
]


@pytest.mark.parametrize(("written", "text", "expected"), ROWS)
def test_rows(written, text, expected):
    began = time.process_time()
    assert pattern.found(written, text, Budget()) is expected
    assert time.process_time() - began < 2


REFUSED = [
    r"(a)\1", "(?<=a)b", "(?<!a)b", "(?i)a", "(?#a)", "(?P<n>a)(?P=n)", "a++", "(a)(?(1)b|c)",
    r"\N{DIGIT ONE}", "(?>a)", "(", "[", "*", "a{9999}{9999}", "(){4000}{4000}", "a" * 5000,
    "(?=(?:" * 60 + "a{99}" + "){99})" * 60, "a{99999999999999999999}", "(" * 1900 + ")" * 1900,
    7, None,
]  # fmt: skip


@pytest.mark.parametrize("written", REFUSED, ids=lambda written: str(written)[:20])
def test_what_cannot_be_judged_is_refused(written):
    began = time.process_time()
    with pytest.raises(IllegalSchema):
        pattern.found(written, "aa", Budget())
    assert time.process_time() - began < 3


def test_the_work_of_all_patterns_together_is_bounded():
    """Each of them costs little; a schema may hold thousands."""
    schema = {"items": {"allOf": [{"pattern": f"(a|b|c){{50}}{n}"} for n in range(300)]}}
    began = time.process_time()
    with pytest.raises(IllegalSchema, match="cost too much"):
        problems(schema, ["abc" * 100] * 100)
    assert time.process_time() - began < 20


def each(of):
    """A schema for the items of a list, by reference."""
    return {"items": {"$ref": "#/$defs/a"}, "$defs": {"a": of}}


LARGE = [list("x" * 1000)] * 50
ENDLESS = {
    "a large value in every message": ({"oneOf": [{"type": "string"}] * 30_000}, LARGE),
    "a large constant": ({"allOf": [{"const": 1}] * 30_000}, LARGE),
    "a large enum": ({"items": {"enum": [LARGE]}}, [["x"]] * 5000),
    "much that is required": (each({"required": ["a"] * 50_000}), [{}] * 50_000),
    "many properties": (each({"properties": {str(n): {} for n in range(50_000)}}), [{"7": 1}] * 9),
    "many patterns": (each({"patternProperties": {str(n): {} for n in range(9_000)}}), [{"x": 1}]),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_schema_cannot_make_a_check_endless(name):
    schema, value = ENDLESS[name]
    began = time.process_time()
    try:
        problems(schema, value)
    except IllegalSchema as refusal:
        assert "costs too much" in str(refusal)
    assert time.process_time() - began < 10
