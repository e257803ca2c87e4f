"""A token's shape and signature: what is let through, and that nothing else ever comes out."""

from __future__ import annotations

import random

import jwt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from mcp_bare import jsonrpc
from mcp_bare.auth import tokens
from mcp_bare.auth.errors import InvalidToken
from mcp_bare.auth.tokens import HmacVerifier, encode, hooked, sign
from tests.auth import naive

KEY, OTHER = b"k" * 32, b"o" * 32
CLAIMS = {"sub": "ana", "aud": "https://h/mcp", "n": 1, "ș": "ț"}
GOOD = sign(CLAIMS, KEY, "k1")
HEAD, BODY, SIGNATURE = GOOD.split(".")
verify = HmacVerifier({"k1": KEY, "k2": OTHER}).verify


def made(header, body=CLAIMS, key=KEY):
    """A token with this header, rightly signed."""
    parts = [each if isinstance(each, bytes) else jsonrpc.dumps(each) for each in (header, body)]
    signed = ".".join(map(encode, parts))
    return f"{signed}.{encode(tokens._mac(key, signed))}"


HEADER = {"alg": "HS256", "kid": "k1"}


@pytest.mark.parametrize(
    "token",
    [
        GOOD,
        sign(CLAIMS, OTHER, "k2"),
        made(HEADER),
        made({**HEADER, "typ": "JWT"}),
        made({**HEADER, "typ": "at+jwt", "other": 1}),
    ],
)
def test_a_good_token(token):
    assert verify(token) == CLAIMS


REFUSED = {
    # the algorithm and the key are ours to choose
    "alg none": f"{encode(jsonrpc.dumps({'alg': 'none', 'kid': 'k1'}))}.{BODY}.",
    "alg None": f"{encode(jsonrpc.dumps({'alg': 'None', 'kid': 'k1'}))}.{BODY}.",
    "another alg": made({"alg": "HS512", "kid": "k1"}),
    "alg RS256": made({"alg": "RS256", "kid": "k1"}),
    "alg in a list": made({"alg": ["HS256"], "kid": "k1"}),
    "no alg": made({"kid": "k1"}),
    "no kid": made({"alg": "HS256"}),
    "wrong kid": made({"alg": "HS256", "kid": "k9"}),
    "another key's kid": made({"alg": "HS256", "kid": "k2"}),
    "kid in a list": made({"alg": "HS256", "kid": ["k1"]}),
    "kid in an object": made({"alg": "HS256", "kid": {}}),
    "kid is a path": made({"alg": "HS256", "kid": "../../dev/null"}),
    "an ID token": made({**HEADER, "typ": "ID"}),
    "a header we do not know and must": made({**HEADER, "crit": ["b64"], "b64": False}),
    "the key in the token": made({**HEADER, "kid": "jwk", "jwk": {"kty": "oct", "k": "a2tr"}}),
    # the shape
    "nothing": "",
    "one segment": HEAD,
    "two segments": f"{HEAD}.{BODY}",
    "four segments": f"{GOOD}.{SIGNATURE}",
    "five segments, as if encrypted": f"{GOOD}.a.b",
    "only dots": "..",
    "no signature": f"{HEAD}.{BODY}.",
    "half a signature": f"{HEAD}.{BODY}.{SIGNATURE[:20]}",
    "another token's signature": f"{HEAD}.{BODY}.{sign({}, KEY, 'k1').rpartition('.')[2]}",
    "padding": f"{GOOD}=",
    "the other alphabet": f"{HEAD}.{BODY}.{'+' * 43}",
    "a length that cannot be": f"{HEAD}.{BODY}.{SIGNATURE}aa",
    "spare bits set": f"{HEAD}.{BODY}.{SIGNATURE[:-1]}{chr(ord(SIGNATURE[-1]) + 1)}",
    "a line break": f"{GOOD}\n",
    "a space": f" {GOOD}",
    "a byte beyond ASCII in the signature": f"{HEAD}.{BODY}.é{SIGNATURE[1:]}",
    "a byte beyond ASCII in the header": f"é{GOOD}",
    "a lone surrogate": f"{GOOD}\ud83d",
    "a NUL": f"{GOOD}\0",
    "too long": f"{HEAD}.{'a' * 20_000}.{SIGNATURE}",
    # what is inside
    "a header that is no JSON": made(b"{alg}"),
    "a header that is a list": made(b'["alg"]'),
    "a header that is not UTF-8": made(b'{"alg":"\xff"}'),
    "a key twice in the header": made(b'{"alg":"none","alg":"HS256","kid":"k1"}'),
    "a key twice in the payload": made(HEADER, b'{"sub":"ana","sub":"dan"}'),
    "a payload that is null": made(HEADER, b"null"),
    "a payload that is a number": made(HEADER, b"7"),
    "a payload with NaN": made(HEADER, b'{"exp":NaN}'),
    "a payload with 1e400": made(HEADER, b'{"exp":1e400}'),
    "a payload with 5,000 digits": made(HEADER, b'{"exp":' + b"9" * 5_000 + b"}"),
    "a payload of 5,000 brackets": made(HEADER, b'{"a":' + b"[" * 5_000 + b"]" * 5_000 + b"}"),
    "an empty payload": f"{HEAD}..{SIGNATURE}",
}


@pytest.mark.parametrize("token", REFUSED.values(), ids=REFUSED)
def test_a_bad_token_is_one_plain_error(token):
    with pytest.raises(InvalidToken) as caught:
        verify(token)
    assert caught.value.rung == "signature"
    assert len(str(caught.value)) < 120


def test_a_long_token_is_not_even_read():
    with pytest.raises(InvalidToken, match="of at most 16384 characters"):
        verify(sign({"a": "b" * 20_000}, KEY, "k1"))


@pytest.mark.parametrize(("name", "count"), [("two segments", 2), ("four segments", 4)])
def test_segments_are_counted(name, count):
    with pytest.raises(InvalidToken, match=f"has {count} segments; three are due"):
        verify(REFUSED[name])


@pytest.mark.parametrize("token", [None, 7, b"a.b.c", [], GOOD.encode()])
def test_what_is_no_text_is_no_token(token):
    with pytest.raises(InvalidToken):
        verify(token)


NAIVE_FAILS = [
    *("alg none", "another alg", "wrong kid", "two segments", "four segments", "nothing"),
    *("a byte beyond ASCII in the signature", "a header that is no JSON", "a payload with NaN"),
    *("a key twice in the payload", "an empty payload", "a header we do not know and must"),
]


@pytest.mark.parametrize("name", NAIVE_FAILS)
def test_a_naive_verifier_admits_it_or_falls_over(name):
    """PermissionError is its refusal; it has two other ways to answer."""
    try:
        assert isinstance(naive.verify(REFUSED[name], KEY), dict)
    except PermissionError:
        pytest.fail("refused, as it should be")
    except (ValueError, TypeError, KeyError):
        pass


# --- ten thousand more ---


def hostile(dice):
    """A good token with something done to it, or no token at all."""
    kind = dice.randrange(6)
    characters = list(GOOD)
    if kind == 0:
        for _ in range(dice.randint(1, 3)):
            characters[dice.randrange(len(characters))] = chr(
                dice.choice([*range(128), 233, 55357])
            )
    elif kind == 1:
        del characters[dice.randrange(len(characters)) :]
    elif kind == 2:
        characters.insert(dice.randrange(len(characters)), dice.choice(".=-_+/ é\0\n"))
    elif kind == 3:
        return ".".join(
            encode(dice.randbytes(dice.randrange(40))) for _ in range(dice.randrange(6))
        )
    elif kind == 4:
        value = dice.choice([None, 1, "", [], {}, "none", "HS256", {"a": 1}, 1.5, True])
        return made({**HEADER, dice.choice(["alg", "kid", "typ", "crit"]): value})
    else:
        dice.shuffle(characters)
    return "".join(characters)


def test_ten_thousand_hostile_tokens():
    dice = random.Random(20260728)
    refused = 0
    for _ in range(10_000):
        token = hostile(dice)
        try:
            assert verify(token) == CLAIMS
            assert jsonrpc.loads(tokens._decode(token.partition(".")[0], "header"))["kid"] == "k1"
        except InvalidToken:
            refused += 1
    assert refused > 9_000


@given(some.text(max_size=80) | some.text("eyJ.-_=", max_size=40))
@settings(deadline=None, max_examples=400)
def test_no_text_makes_anything_else_come_out(text):
    with pytest.raises(InvalidToken):
        verify(text)


@given(some.dictionaries(some.text(max_size=8), some.integers() | some.text(max_size=8)))
@settings(deadline=None, max_examples=60)
def test_what_is_signed_is_read_again(claims):
    if all(not isinstance(value, int) or abs(value) < 10**300 for value in claims.values()):
        assert verify(sign(claims, KEY, "k1")) == claims


# --- keys ---


def test_bytes_are_compared_in_constant_time(monkeypatch):
    compared = []

    def compare(*pair):
        compared.append(pair)
        return False

    monkeypatch.setattr("hmac.compare_digest", compare)
    with pytest.raises(InvalidToken):
        verify(GOOD)
    assert [type(each) for each in compared[0]] == [bytes, bytes]


def test_a_key_is_as_long_as_the_hash():
    with pytest.raises(ValueError, match="31 bytes; 32 are due"):
        HmacVerifier({"k1": b"k" * 31})


def test_a_key_is_not_shown():
    assert repr(HmacVerifier({"k1": KEY})) == "HmacVerifier(kids=['k1'])"


def test_the_shape_is_that_of_a_jwt():
    """Read by a library that has nothing to do with us."""
    assert jwt.decode(GOOD, KEY, ["HS256"], audience="https://h/mcp") == CLAIMS
    theirs = jwt.encode(CLAIMS, KEY, "HS256", {"kid": "k1"})
    assert verify(theirs) == CLAIMS


# --- another library's signature ---


@pytest.mark.parametrize(
    "raises", [ValueError("x"), RuntimeError(GOOD), KeyError(), RecursionError(), MemoryError()]
)
def test_whatever_a_library_raises_is_an_invalid_token(raises):
    def decode(token):
        raise raises

    with pytest.raises(InvalidToken) as caught:
        hooked(decode, ["HS256"])(GOOD)
    assert "fit" in str(caught.value)


def test_a_library_never_sees_a_token_of_another_shape():
    seen = []
    checked = hooked(seen.append, ["RS256"])
    for token in REFUSED.values():
        if token != REFUSED["alg RS256"]:
            with pytest.raises(InvalidToken):
                checked(token)
    assert seen == []
    assert checked(REFUSED["alg RS256"]) == CLAIMS


@pytest.mark.parametrize("algorithms", [[], ["none"], ["RS256", "none"]])
def test_none_is_no_algorithm_to_trust(algorithms):
    with pytest.raises(ValueError, match="name those that you trust"):
        hooked(lambda token: None, algorithms)
