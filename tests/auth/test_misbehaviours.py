"""Every way in which the toy authorization server misbehaves: who notices, and with which words."""

from __future__ import annotations

import pytest

from mcp_bare.auth.errors import (
    AuthorizationFailed,
    DiscoveryFailed,
    IssuerMismatch,
    NoPkce,
    OAuthError,
    StillRefused,
)
from mcp_bare.auth.registration import ClientMetadata
from tests.auth import naive
from tests.auth.test_authorizer import go, secrets_of, with_naive_path
from tests.auth.web import ISSUER, REDIRECT, SERVER, World
from toy_servers.authorization_server import ELSEWHERE, MISBEHAVIOURS

ROWS = {
    # name: (what our client raises, what its message has: what was due and what arrived)
    "wrong-issuer": (IssuerMismatch, [repr(ISSUER), repr(ELSEWHERE)]),
    "slash-issuer": (IssuerMismatch, [repr(ISSUER), repr(f"{ISSUER}/")]),
    "no-pkce": (NoPkce, ["S256", "None"]),
    "plain-pkce": (NoPkce, ["S256", "['plain']"]),
    "html-metadata": (DiscoveryFailed, [ISSUER, "200 without a JSON object"]),
    "file-endpoint": (DiscoveryFailed, ["authorization_endpoint", "file:///usr/bin/xcalc"]),
    "foreign-endpoint": (DiscoveryFailed, ["token_endpoint", "http://attacker.example/token"]),
    "no-iss": (IssuerMismatch, [repr(ISSUER), "None"]),
    "foreign-iss": (IssuerMismatch, [repr(ISSUER), repr(ELSEWHERE)]),
    "slash-iss": (IssuerMismatch, [repr(ISSUER), repr(f"{ISSUER}/")]),
    "unannounced-iss": (IssuerMismatch, [repr(ISSUER), repr(ELSEWHERE)]),
    "foreign-state": (AuthorizationFailed, ["another state"]),
    "denies": (OAuthError, ["access_denied", "the person said no"]),
    "wrong-audience": (StillRefused, ["for https://other.example/mcp, not for " + SERVER]),
    "ignores-resource": (StillRefused, [f"for {ISSUER}, not for {SERVER}"]),
    "no-expiry": (StillRefused, ["no expiration time"]),
    "zero-expiry": (StillRefused, ["expiration time is 0"]),
    "expired": (StillRefused, ["has expired"]),
    "wrong-token-issuer": (StillRefused, [f"issued by {ELSEWHERE}, not by {ISSUER}"]),
    "unsigned": (StillRefused, ["algorithm is not the one"]),
    "unknown-key": (StillRefused, ["signature does not fit"]),
    "fewer-scopes": (StillRefused, ["due: it:write", "granted: it:read"]),
    "token-type-mac": (AuthorizationFailed, ["'MAC'", "Bearer is due"]),
    "forwards-token-request": (AuthorizationFailed, [f"{ISSUER}/token answered 307"]),
    "web-only": (AuthorizationFailed, ["invalid_redirect_uri", "native", REDIRECT]),
    # what the specification allows
    "openid-only": (None, []),
    "appended-only": (None, []),
    "no-rotation": (None, []),
    "no-refresh": (None, []),
}


def test_every_misbehaviour_has_a_row():
    assert ROWS.keys() == MISBEHAVIOURS.keys()


@pytest.mark.parametrize("name", ROWS)
def test_our_client_notices(name):
    raised, told = ROWS[name]
    world = World(name)
    client = world.client(ClientMetadata(REDIRECT) if name == "web-only" else None)

    def both():
        assert client.call("read_it") == ("ana", "read_it")
        assert client.call("write_it") == ("ana", "write_it")

    if raised is None:
        both()
        return
    with pytest.raises(raised) as caught:
        both()
    assert type(caught.value) is raised or raised is AuthorizationFailed
    assert all(each in str(caught.value) for each in told), str(caught.value)
    for secret in secrets_of(world):
        assert secret.decode() not in str(caught.value)
    assert world.web.sent_to("https://attacker.example") == b""
    assert world.web.sent_to("http://attacker.example") == b""


@pytest.mark.parametrize("name", ["foreign-iss", "slash-iss", "no-iss", "unannounced-iss"])
def test_a_refusal_from_a_stranger_is_neither_acted_on_nor_shown(name):
    """MUST NOT display error or error_description where the issuer is wrong."""
    with pytest.raises(IssuerMismatch) as caught:
        World([name, "denies"]).client().call()
    assert "denied" not in str(caught.value)
    assert "said no" not in str(caught.value)


NAIVE_SERVES = [
    *("slash-issuer", "no-pkce", "plain-pkce", "no-iss", "foreign-iss", "slash-iss"),
    *("unannounced-iss", "foreign-state", "token-type-mac"),
]


@pytest.mark.parametrize("name", NAIVE_SERVES)
def test_a_naive_client_notices_nothing(name):
    world = World(name)
    world.web.hosts["https://mcp.example"] = with_naive_path(world)
    authorizer = naive.Authorizer(SERVER, world.person, REDIRECT, world.web.fetch)
    assert go(authorizer, world, "read_it") == 1
    assert world.mcp.served == [("ana", "read_it")]


def test_a_naive_client_sends_code_and_secret_to_whoever_the_metadata_names():
    world = World("foreign-endpoint")
    world.web.hosts["https://mcp.example"] = with_naive_path(world)
    authorizer = naive.Authorizer(SERVER, world.person, REDIRECT, world.web.fetch)
    with pytest.raises(AssertionError):
        go(authorizer, world, "read_it")
    assert b"code=" in world.web.sent_to("http://attacker.example")
    assert b"client_secret=" in world.web.sent_to("http://attacker.example")


def test_a_naive_client_opens_whatever_it_is_told_to():
    world = World("file-endpoint")
    world.web.hosts["https://mcp.example"] = with_naive_path(world)
    opened = []

    def authorize(url):
        opened.append(url)
        raise StopIteration

    with pytest.raises(StopIteration):
        go(naive.Authorizer(SERVER, authorize, REDIRECT, world.web.fetch), world, "read_it")
    assert opened[0].startswith("file:///usr/bin/xcalc?")


@pytest.mark.parametrize("name", ["wrong-audience", "ignores-resource", "no-expiry", "unsigned"])
def test_a_naive_guard_serves_some_of_these_tokens(name):
    """Each is refused by ours (above); these two are served by the naive one."""
    world = World(name)
    checked = naive.Guard(SERVER, ISSUER, lambda token: naive.verify(token, world.toy.key))
    token = world.toy.token("mallory", SERVER, "it:read")
    asked = {"method": "tools/call", "params": {"name": "read_it"}}
    if name in ("no-expiry", "unsigned"):
        assert checked.admit(f"Bearer {token}", asked) == "mallory"
    else:
        with pytest.raises(Exception, match="401"):
            checked.admit(f"Bearer {token}", asked)


def test_a_misbehaviour_that_nobody_knows_is_an_error():
    with pytest.raises(ValueError, match="are no misbehaviours"):
        World("no-such-thing")
