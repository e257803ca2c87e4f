"""WWW-Authenticate, both ways: (header, challenges) tables, refusals, and a round trip."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from mcp_bare.auth.challenge import MAX_LENGTH, Challenge, bearer, find_bearer, parse
from mcp_bare.auth.errors import BadChallenge
from tests.auth import naive

URL = "https://h/.well-known/oauth-protected-resource/mcp"
READ = [
    ("", []),
    (" , ,", []),
    ("Bearer", [("Bearer", {}, None)]),
    ("bEaReR", [("bEaReR", {}, None)]),
    ('Bearer realm="x"', [("Bearer", {"realm": "x"}, None)]),
    ("Bearer realm=x", [("Bearer", {"realm": "x"}, None)]),
    ('Bearer REALM = "x"', [("Bearer", {"realm": "x"}, None)]),
    ('Bearer realm="a, b=c, Basic d"', [("Bearer", {"realm": "a, b=c, Basic d"}, None)]),
    (r'Bearer realm="say \"a\\b\""', [("Bearer", {"realm": r'say "a\b"'}, None)]),
    ('Bearer realm=""', [("Bearer", {"realm": ""}, None)]),
    ('Bearer realm="naïve"', [("Bearer", {"realm": "naïve"}, None)]),
    (
        f'Bearer scope="a b",resource_metadata="{URL}" ,error=invalid_token',
        [("Bearer", {"scope": "a b", "resource_metadata": URL, "error": "invalid_token"}, None)],
    ),
    (
        'Basic realm="x", Bearer error="e", Negotiate, DPoP algs="ES256 PS256"',
        [
            ("Basic", {"realm": "x"}, None),
            ("Bearer", {"error": "e"}, None),
            ("Negotiate", {}, None),
            ("DPoP", {"algs": "ES256 PS256"}, None),
        ],
    ),
    ("Negotiate YWJj==, Bearer", [("Negotiate", {}, "YWJj=="), ("Bearer", {}, None)]),
    ("Bearer , realm=x", [("Bearer", {"realm": "x"}, None)]),
    ('Bearer error="e",\r\n     scope="s"', [("Bearer", {"error": "e", "scope": "s"}, None)]),
    ("NTLM a/b+c-._~=", [("NTLM", {}, "a/b+c-._~=")]),
]
REFUSED = [
    "=",
    '"Bearer"',
    "realm=x",
    'Bearer realm="x',
    'Bearer realm="x" error="y"',
    'Bearer realm="x"y',
    "Bearer realm=x, realm=y",
    'Bearer realm="x", REALM=y',
    "Bearer abc, realm=x",
    "Bearer abc def",
    "Basic Bearer realm=x",
    'Bearer realm="x\x00"',
    'Bearer realm="x\ny"',
    'Bearer realm="\u2028"',
    "Bearer realm=x;error=y",
    "B" * (MAX_LENGTH + 1),
    'Bearer realm="' + "\\" * 9_999,
]


@pytest.mark.parametrize(("header", "challenges"), READ, ids=[row[0][:40] for row in READ])
def test_a_header_is_read(header, challenges):
    assert parse(header) == [Challenge(*each) for each in challenges]


@pytest.mark.parametrize("header", REFUSED, ids=lambda text: ascii(text)[:40])
def test_a_header_that_is_none_is_refused(header):
    with pytest.raises(BadChallenge, match=r"WWW-Authenticate"):
        parse(header)
    assert find_bearer([header]) is None


def test_several_fields_are_one_list():
    assert [each.scheme for each in parse('Basic realm="x"', "Bearer", "A, B")] == [
        *("Basic", "Bearer", "A", "B")
    ]


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ([], None),
        (["Basic realm=x"], None),
        (["Basic realm=x", "bearer scope=a"], {"scope": "a"}),
        (["Bearer realm=one", f'Bearer resource_metadata="{URL}"'], {"resource_metadata": URL}),
        (["Bearer realm=one, Bearer realm=two"], {"realm": "one"}),
        (['Bearer realm="broken', "Bearer realm=whole"], {"realm": "whole"}),
    ],
)
def test_the_bearer_challenge_is_found(fields, found):
    challenge = find_bearer(fields)
    assert (challenge and challenge.params) == found


def test_a_challenge_is_written():
    told = bearer(error="invalid_token", error_description=None, scope="a b", realm='"')
    assert str(told) == r'Bearer error="invalid_token", scope="a b", realm="\""'
    assert str(bearer()) == "Bearer"
    assert told.scopes == {"a", "b"}
    assert bearer().scopes == frozenset()


@pytest.mark.parametrize("value", ["a\r\nSet-Cookie: b", "\x7f", "ș", "\0"])
def test_what_no_header_can_carry_is_not_written(value):
    with pytest.raises(BadChallenge):
        str(bearer(scope=value))


WORD = some.text("!#$%&'*+-.^_`|~0123456789abcXYZ", min_size=1, max_size=8)
VALUE = some.text(
    some.characters(max_codepoint=0xFF).filter(lambda c: c == "\t" or c >= " "), max_size=20
).filter(lambda text: "\x7f" not in text)
PARAMS = some.dictionaries(WORD.map(str.lower), VALUE, max_size=4)
TOKEN68 = some.from_regex(r"[A-Za-z0-9\-._~+/]{1,20}={0,2}", fullmatch=True)
CHALLENGE = some.one_of(
    some.builds(Challenge, WORD, PARAMS), some.builds(Challenge, WORD, some.just({}), TOKEN68)
)


@given(some.lists(CHALLENGE, max_size=4), some.sampled_from([", ", ",", " ,\t, "]))
@settings(deadline=None)
def test_what_is_written_is_read_again(challenges, joint):
    fields = [str(each) for each in challenges]
    assert parse(*fields) == challenges
    assert parse(joint.join(fields)) == challenges


@given(some.text(some.sampled_from('Bearer ,="\\\tx;\n\xe9\0'), max_size=60))
@settings(deadline=None, max_examples=500)
def test_nothing_but_our_error_comes_out(text):
    with contextlib.suppress(BadChallenge):
        assert all(isinstance(each, Challenge) for each in parse(text))


@pytest.mark.parametrize(
    ("header", "name", "value"),
    [
        ('Bearer error_description="not x, scope=wrong", scope="right"', "scope", "right"),
        ('Basic realm="x", scope="wrong", Bearer scope="right"', "scope", "right"),
        ('bearer SCOPE="c"', "scope", "c"),
        ('Bearer scope = "c"', "scope", "c"),
        (r'Bearer error_description="say \"a, b\""', "error_description", 'say "a, b"'),
    ],
)
def test_a_naive_reader_misses_what_ours_finds(header, name, value):
    assert find_bearer([header]).params[name] == value
    assert naive.challenge(header).get(name) != value
