"""The flow, piece by piece: what is sent, what an answer must be, what a token response must be."""

from __future__ import annotations

import base64
import time
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from mcp_bare import jsonrpc
from mcp_bare.auth import flow, grants
from mcp_bare.auth.client_auth import authenticate
from mcp_bare.auth.errors import AuthorizationFailed, IssuerMismatch, OAuthError
from mcp_bare.auth.pkce import Pkce
from mcp_bare.auth.registration import Registration
from tests.auth.test_discovery import AS

RESOURCE, REDIRECT = "https://h/a/b?tenant=x", "http://127.0.0.1:7777/callback"
CLIENT = Registration("https://as", "client-1", method="none")
ISS = "authorization_response_iss_parameter_supported"


def pending(**changed):
    return flow.begin({**AS, **changed}, CLIENT, RESOURCE, {"b", "a"}, REDIRECT)


# --- the request ---


def test_the_authorization_request():
    asked = pending()
    query = dict(parse_qsl(urlsplit(asked.url).query))
    assert asked.url.startswith("https://as/authorize?")
    assert query == {
        "response_type": "code",
        "client_id": "client-1",
        "redirect_uri": REDIRECT,
        "code_challenge": asked.proof.challenge,
        "code_challenge_method": "S256",
        "state": asked.state,
        "resource": RESOURCE,
        "scope": "a b",
    }
    assert asked.proof.verifier not in asked.url


def test_without_scopes_none_is_sent():
    assert "scope" not in flow.begin(AS, CLIENT, RESOURCE, (), REDIRECT).url


def test_an_endpoint_may_have_a_query():
    url = pending(authorization_endpoint="https://as/authorize?tenant=t1").url
    assert url.startswith("https://as/authorize?tenant=t1&response_type=code&")


def test_each_request_has_secrets_of_its_own():
    made = [pending() for _ in range(50)]
    assert len({each.state for each in made}) == len({each.proof.verifier for each in made}) == 50
    assert all(len(each.state) >= 32 and len(each.proof.verifier) == 43 for each in made)


def test_pkce_is_what_rfc_7636_prints():
    proof = Pkce("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    assert proof.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


# --- the answer ---


def answered(asked, base=REDIRECT, **params):
    params = {"code": "c0de", "state": asked.state, "iss": "https://as", **params}
    return f"{base}?{urlencode({k: v for k, v in params.items() if v is not None})}"


ISS_TABLE = [
    # (promised in the metadata, iss in the answer, good): the specification's table, and more
    (True, "https://as", True),
    (True, None, False),
    (False, "https://as", True),
    (None, "https://as", True),
    (False, None, True),
    (None, None, True),
    ("true", None, True),  # not true: no promise
    *[(promised, iss, False)
      for promised in (True, False, None)
      for iss in ("https://as/", "https://AS", "HTTPS://as", "https://as:443", "https://as%2F", "",
                  "https://attacker.example", "https://as ", "as")],
]  # fmt: skip


@pytest.mark.parametrize(("promised", "iss", "good"), ISS_TABLE)
@pytest.mark.parametrize("refused", [False, True], ids=["code", "error"])
def test_the_issuer_of_an_answer(promised, iss, good, refused):
    server = {**AS, ISS: promised} if promised is not None else AS
    asked = pending()
    more = {"code": None, "error": "server_error", "error_description": "DO NOT SHOW"}
    url = answered(asked, iss=iss, **(more if refused else {}))
    if not good:
        with pytest.raises(IssuerMismatch) as caught:
            flow.finish(asked, server, url)
        assert repr("https://as") in str(caught.value)
        assert repr(iss) in str(caught.value)
        assert "DO NOT SHOW" not in str(caught.value)
        assert "server_error" not in str(caught.value)
    elif refused:
        with pytest.raises(OAuthError, match="server_error") as caught:
            flow.finish(asked, server, url)
        assert caught.value.error == "server_error"
    else:
        assert flow.finish(asked, server, url) == "c0de"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda asked: answered(asked, state=None), "no state"),
        (lambda asked: answered(asked, state=""), "no state"),
        (lambda asked: answered(asked, state="x"), "another state"),
        (lambda asked: answered(asked, state=asked.state + "é"), "another state"),
        (lambda asked: answered(asked, state="\ud83d".encode("utf-8", "surrogatepass")), "another"),
        (lambda asked: answered(asked) + "&state=x", "given twice"),
        (lambda asked: answered(asked) + "&code=x", "given twice"),
        (lambda asked: answered(asked) + "&iss=https://as", "given twice"),
        (lambda asked: answered(asked, code=None), "neither a code nor an error"),
        (lambda asked: answered(asked, code=""), "neither a code nor an error"),
        (lambda asked: answered(asked, "http://127.0.0.1:7778/callback"), "127.0.0.1:7778"),
        (lambda asked: answered(asked, "https://attacker.example/callback"), "attacker"),
        (lambda asked: answered(asked, REDIRECT + "/x"), "is due"),
        (lambda asked: answered(asked).replace("?", "#"), "no state"),
        (lambda asked: answered(asked) + "".join(f"&x{n}=1" for n in range(40)), "more than 32"),
        (lambda asked: None, "is due"),
        (lambda asked: "", "is due"),
        (lambda asked: 7, "is due"),
    ],
)
def test_an_answer_that_is_not_ours(change, told):
    asked = pending()
    with pytest.raises(AuthorizationFailed) as caught:
        flow.finish(asked, AS, change(asked))
    assert told in str(caught.value)
    assert asked.state not in str(caught.value)


def test_the_state_is_looked_at_before_anything_else():
    """What belongs to no request of ours is not even asked who it is from."""
    asked = pending()
    with pytest.raises(AuthorizationFailed, match="state"):
        flow.finish(asked, AS, answered(asked, state="x", iss="https://attacker.example"))


@given(some.text(max_size=60))
@settings(deadline=None, max_examples=300)
def test_no_answer_makes_anything_but_our_error_come_out(text):
    asked = pending()
    for url in (text, f"{REDIRECT}?{text}", f"{REDIRECT}?state={asked.state}&iss={text}"):
        with pytest.raises(AuthorizationFailed):
            flow.finish(asked, AS, url)


# --- the token ---

TOKEN = {"access_token": "a.b.c", "token_type": "Bearer", "expires_in": 60, "refresh_token": "r1"}


class TokenEndpoint:
    def __init__(self, answer, status=200):
        self.answer, self.status, self.forms, self.headers = answer, status, [], []

    def fetch(self, method, url, headers, body):
        assert (method, url) == ("POST", "https://as/token")
        assert headers["Content-Type"] == "application/x-www-form-urlencoded"
        self.forms.append(dict(parse_qsl(body.decode())))
        self.headers.append(headers)
        sent = self.answer if isinstance(self.answer, bytes) else jsonrpc.dumps(self.answer)
        return self.status, {}, sent


def test_the_code_is_redeemed_with_the_verifier_and_the_resource():
    endpoint, asked = TokenEndpoint(TOKEN), pending()
    tokens = grants.exchange(asked, "c0de", AS, CLIENT, endpoint.fetch)
    assert endpoint.forms == [
        {
            "grant_type": "authorization_code",
            "code": "c0de",
            "redirect_uri": REDIRECT,
            "code_verifier": asked.proof.verifier,
            "resource": RESOURCE,
            "client_id": "client-1",
        }
    ]
    assert (tokens.issuer, tokens.resource, tokens.access_token) == (
        "https://as",
        RESOURCE,
        "a.b.c",
    )
    assert tokens.scopes == tokens.requested == {"a", "b"}
    assert 55 < tokens.expires_at - time.time() <= 60


@pytest.mark.parametrize(
    ("given", "kept"),
    [({}, "r1"), ({"refresh_token": "r2"}, "r2"), ({"refresh_token": None}, "r1")],
)
def test_a_refresh_names_the_resource_and_rotates(given, kept):
    tokens = grants.exchange(pending(), "c", AS, CLIENT, TokenEndpoint(TOKEN).fetch)
    endpoint = TokenEndpoint({"access_token": "d.e.f", "token_type": "bearer", **given})
    fresh = grants.refresh(tokens, AS, CLIENT, endpoint.fetch)
    assert endpoint.forms == [
        {
            "grant_type": "refresh_token",
            "refresh_token": "r1",
            "resource": RESOURCE,
            "client_id": "client-1",
        }
    ]
    assert (fresh.access_token, fresh.refresh_token, fresh.scopes) == ("d.e.f", kept, {"a", "b"})
    assert fresh.expires_at is None


@pytest.mark.parametrize(
    "answer",
    [
        b"", b"<!doctype html>", b"[]", b"null", b'"token"', b"\xff", b'{"a":1,"a":2}',
        {}, {**TOKEN, "token_type": "MAC"}, {**TOKEN, "token_type": None},
        {**TOKEN, "token_type": ["Bearer"]}, {**TOKEN, "access_token": None},
        {**TOKEN, "access_token": ""}, {**TOKEN, "access_token": 7},
        {**TOKEN, "access_token": "a\r\nX: y"}, {**TOKEN, "access_token": "a b"},
        {**TOKEN, "access_token": "a,b"}, {**TOKEN, "access_token": "é"},
        {**TOKEN, "expires_in": "60"}, {**TOKEN, "expires_in": True}, {**TOKEN, "expires_in": []},
        {**TOKEN, "expires_in": 10**300}, {**TOKEN, "scope": ["a"]}, {**TOKEN, "refresh_token": 7},
        {"error": "invalid_grant"},
    ],
    ids=ascii,
)  # fmt: skip
def test_a_token_response_that_is_none(answer):
    with pytest.raises(AuthorizationFailed) as caught:
        grants.exchange(pending(), "c", AS, CLIENT, TokenEndpoint(answer).fetch)
    assert "https://as/token" in str(caught.value)
    assert "a.b.c" not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"error": "invalid_grant", "error_description": "used before"}, "invalid_grant"),
        ({"error": "invalid_client"}, "invalid_client"),
        ({"error": ["x"], "error_description": 7}, "['x']"),
        ({}, "None"),
    ],
)
def test_the_authorization_server_says_no(answer, error):
    with pytest.raises(OAuthError) as caught:
        grants.exchange(pending(), "c", AS, CLIENT, TokenEndpoint(answer, 400).fetch)
    assert caught.value.error == error


def test_the_words_of_a_refusal():
    answer = {"error": "invalid_grant", "error_description": "used before"}
    with pytest.raises(OAuthError) as caught:
        grants.exchange(pending(), "c", AS, CLIENT, TokenEndpoint(answer, 400).fetch)
    assert str(caught.value) == "https://as/token answered 'invalid_grant': 'used before'"


def test_granted_may_be_less_than_asked():
    tokens = grants.exchange(
        pending(), "c", AS, CLIENT, TokenEndpoint({**TOKEN, "scope": "a"}).fetch
    )
    assert (tokens.scopes, tokens.requested) == ({"a"}, {"a", "b"})


# --- credentials stay with their issuer ---

B = Registration("https://b", "x", "y")
OTHER = {**AS, "issuer": "https://b", "token_endpoint": "https://b/token"}


@pytest.mark.parametrize(
    "send",
    [
        lambda fetch: grants.exchange(pending(), "c", OTHER, CLIENT, fetch),
        lambda fetch: grants.exchange(
            pending(), "c", AS, Registration("https://b", "x", "y"), fetch
        ),
        lambda fetch: grants.exchange(pending(), "c", OTHER, Registration("https://b", "x"), fetch),
        lambda fetch: grants.refresh(TOKENS, OTHER, Registration("https://b", "x"), fetch),
        lambda fetch: grants.refresh(TOKENS, AS, Registration("https://b", "x"), fetch),
    ],
)
def test_nothing_of_one_issuer_goes_to_another(send):
    def fetch(*request):
        raise AssertionError(request)

    with pytest.raises(IssuerMismatch):
        send(fetch)


TOKENS = grants.Tokens("https://as", RESOURCE, "a.b.c", "r1")


def test_without_a_refresh_token_nothing_is_sent():
    with pytest.raises(AuthorizationFailed, match="gave no refresh token"):
        grants.refresh(grants.Tokens("https://as", RESOURCE, "a.b.c"), AS, CLIENT, None)


def test_secrets_are_not_shown():
    secrets = [pending(), TOKENS, Registration("https://as", "client-1", "s3cret")]
    shown = repr(secrets)
    for hidden in ("a.b.c", "r1", "s3cret", secrets[0].state, secrets[0].proof.verifier):
        assert repr(hidden) not in shown


# --- the three ways to say who we are ---

ODD = "a:b c+d/é&=%"


@pytest.mark.parametrize(
    ("method", "secret", "form", "basic"),
    [
        ("none", None, {"client_id": ODD}, None),
        ("client_secret_post", ODD, {"client_id": ODD, "client_secret": ODD}, None),
        ("client_secret_basic", ODD, {}, (ODD, ODD)),
        ("none", ODD, {"client_id": ODD}, None),
        (None, None, {"client_id": ODD}, None),
        (None, ODD, {}, (ODD, ODD)),
    ],
)
def test_a_client_says_who_it_is(method, secret, form, basic):
    fields, headers = authenticate(Registration("https://as", ODD, secret, method), AS)
    assert fields == form
    if basic is None:
        assert headers == {}
        return
    scheme, _, pair = headers["Authorization"].partition(" ")
    name, colon, password = base64.b64decode(pair).decode().partition(":")
    assert (scheme, colon, unquote_plus(name), unquote_plus(password)) == ("Basic", ":", *basic)
    assert pair == base64.b64encode(f"{name}:{password}".encode()).decode()
    assert name == "a%3Ab+c%2Bd%2F%C3%A9%26%3D%25"


@pytest.mark.parametrize(
    ("supported", "method"),
    [
        (None, "basic"), ([], "basic"), (["client_secret_post"], "post"),
        (["client_secret_post", "client_secret_basic"], "basic"), ("client_secret_post", "basic"),
        (["private_key_jwt", "client_secret_post"], "post"), (["none"], "basic"),
    ],
)  # fmt: skip
def test_the_issuer_says_which_way(supported, method):
    server = AS if supported is None else {**AS, "token_endpoint_auth_methods_supported": supported}
    fields, headers = authenticate(Registration("https://as", "c", "s"), server)
    assert ("client_secret" in fields, "Authorization" in headers) == (
        (method == "post", method == "basic")
    )
