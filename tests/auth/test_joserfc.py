"""RS256 and a key set, by joserfc, hooked into our guard: the course's example, and its attacks."""

from __future__ import annotations

import pytest
from joserfc import jwk, jwt

from mcp_bare import jsonrpc
from mcp_bare.auth import tokens
from mcp_bare.auth.errors import InvalidToken
from tests.auth.web import SERVER, World

CLAIMS = {"sub": "ana", "n": 1}


@pytest.fixture(scope="module")
def keys():
    """Three keys: two of the issuer's set, and a stranger's."""
    return [jwk.RSAKey.generate_key(2048, {"kid": kid}) for kid in ("one", "two", "stranger")]


@pytest.fixture(scope="module")
def verify(keys):
    published = {"keys": [key.as_dict(private=False) for key in keys[:2]]}
    key_set = jwk.KeySet.import_key_set(published)
    return tokens.hooked(lambda token: jwt.decode(token, key_set, algorithms=["RS256"]), ["RS256"])


def signed(key, kid, claims=CLAIMS):
    return jwt.encode({"alg": "RS256", "kid": kid}, claims, key)


def test_either_key_of_the_set_will_do(keys, verify):
    for key in keys[:2]:
        assert verify(signed(key, key.kid)) == CLAIMS


def test_what_does_not_fit_is_one_plain_error(keys, verify):
    one, two, stranger = keys
    good = signed(one, "one")
    head, body, signature = good.split(".")
    none = tokens.encode(jsonrpc.dumps({"alg": "none", "kid": "one"}))
    public = one.as_pem(private=False)  # the classic: the public key taken for an HMAC secret
    confused = tokens.sign(CLAIMS, public, "one")
    for bad in [
        signed(stranger, "stranger"),
        signed(stranger, "one"),
        signed(two, "one"),
        signed(one, "two"),
        f"{none}.{body}.",
        confused,
        f"{head}.{tokens.encode(jsonrpc.dumps({'sub': 'dan'}))}.{signature}",
        f"{head}.{body}",
        f"{good}.x",
        f"{head}.{body}.é",
        "",
    ]:
        with pytest.raises(InvalidToken):
            verify(bad)


def test_the_whole_flow_with_a_key_set(keys):
    """The authorization server signs with RS256; the guard knows its published keys only."""
    key = keys[0]
    world = World(sign=lambda claims: signed(key, "one", claims),
                  jwks={"keys": [key.as_dict(private=False)]})  # fmt: skip
    published = jsonrpc.loads(world.web.fetch("GET", f"{world.toy.issuer}/jwks", {})[2])
    key_set = jwk.KeySet.import_key_set(published)
    world.mcp.guard._verify = tokens.hooked(
        lambda token: jwt.decode(token, key_set, algorithms=["RS256"]), ["RS256"]
    )
    assert world.client().call() == ("ana", "read_it")
    assert world.server == SERVER
