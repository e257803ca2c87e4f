"""The toy authorization server keeps the rules that it does not break on purpose."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from mcp_bare import jsonrpc
from mcp_bare.auth import flow
from mcp_bare.auth.registration import Registration
from tests.auth.web import REDIRECT
from toy_servers.authorization_clients import Known
from toy_servers.authorization_server import AuthorizationServer

ISSUER, RESOURCE = "https://as.example", "https://h/mcp"
MINE = Registration(ISSUER, "mine", method="none")


@pytest.fixture
def now():
    return [1_790_000_000.0]


@pytest.fixture
def toy(now):
    known = [Known("mine", (REDIRECT, "http://127.0.0.1/cb")), Known("other", (REDIRECT,))]
    return AuthorizationServer(ISSUER, clients=known, clock=lambda: now[0])


def begun(toy, **changed):
    """(pending, the URL of the authorization request with these parameters changed)."""
    pending = flow.begin(toy.metadata(), MINE, RESOURCE, {"a"}, REDIRECT)
    query = {**dict(parse_qsl(urlsplit(pending.url).query)), **changed}
    query = {name: value for name, value in query.items() if value is not None}
    return pending, f"{ISSUER}/authorize?{urlencode(query)}"


def code_of(toy, url):
    status, headers, _ = toy.answer("GET", url, {})
    assert status == 302
    return dict(parse_qsl(urlsplit(headers["location"]).query))


def token_request(toy, **form):
    form = {name: value for name, value in form.items() if value is not None}
    status, _, body = toy.answer("POST", f"{ISSUER}/token", {}, urlencode(form).encode())
    return status, jsonrpc.loads(body)


def redeem(toy, pending, right, **changed):
    form = {"grant_type": "authorization_code", "code": right, "redirect_uri": REDIRECT,
            "code_verifier": pending.proof.verifier, "client_id": "mine"}  # fmt: skip
    return token_request(toy, **{**form, **changed})


def refreshed(toy, token, **changed):
    form = {"grant_type": "refresh_token", "refresh_token": token, "client_id": "mine"}
    return token_request(toy, **{**form, **changed})


def test_a_code_is_good_once_and_its_second_use_ends_what_came_of_it(toy):
    pending, url = begun(toy)
    code = code_of(toy, url)["code"]
    status, tokens = redeem(toy, pending, code)
    assert status == 200
    assert redeem(toy, pending, code) == (400, {
        "error": "invalid_grant", "error_description": "this code was used before"})  # fmt: skip
    assert refreshed(toy, tokens["refresh_token"])[1]["error"] == "invalid_grant"


@pytest.mark.parametrize(
    "changed",
    [{"code_verifier": "x" * 43}, {"code_verifier": None}, {"redirect_uri": "http://127.0.0.1/cb"},
     {"redirect_uri": None}, {"client_id": "other"}, {"client_id": "nobody"}, {"client_id": None},
     {"code": "x"}, {"code": None}, {"grant_type": "password"}, {"client_secret": "x"},
     {"resource": "https://other.example"}],
    ids=str,
)  # fmt: skip
def test_a_code_is_for_whoever_asked_for_it(toy, changed):
    pending, url = begun(toy)
    status, answer = redeem(toy, pending, code_of(toy, url)["code"], **changed)
    assert status in (400, 401)
    assert "access_token" not in answer


def test_a_code_is_good_for_a_minute(toy, now):
    pending, url = begun(toy)
    code = code_of(toy, url)["code"]
    now[0] += 60
    assert redeem(toy, pending, code)[1]["error_description"] == "the code has expired"


def test_refresh_tokens_rotate_and_a_second_use_ends_the_family(toy):
    pending, url = begun(toy)
    _, first = redeem(toy, pending, code_of(toy, url)["code"])
    status, second = refreshed(toy, first["refresh_token"])
    assert status == 200
    assert refreshed(toy, first["refresh_token"])[0] == 400
    assert refreshed(toy, second["refresh_token"])[0] == 400


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"resource": "not a URI"}, "invalid_target"),
        ({"resource": f"{RESOURCE}#x"}, "invalid_target"),
    ],
)
def test_an_error_goes_back_with_state_and_issuer(toy, changed, error):
    pending, url = begun(toy, **changed)
    answer = code_of(toy, url)
    assert (answer["error"], answer["state"], answer["iss"]) == (error, pending.state, ISSUER)


@pytest.mark.parametrize(
    ("registered", "asked", "good"),
    [
        ("http://127.0.0.1/cb", "http://127.0.0.1:9/cb", True),
        ("http://127.0.0.1:1/cb", "http://127.0.0.1:9/cb", True),
        ("http://[::1]/cb", "http://[::1]:9/cb", True),
        ("https://app.example/cb", "https://app.example/cb", True),
        ("https://app.example/cb", "https://app.example:444/cb", False),
        ("https://app.example/cb", "https://app.example/cb/", False),
        ("https://app.example/cb", "https://app.example/cb?x", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:9/cb2", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1.evil:9/cb", False),
        ("http://127.0.0.1/cb", "http://u@127.0.0.1:9/cb#x", False),
        ("http://127.0.0.1/cb", "https://127.0.0.1:9/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:99999/cb", False),
        ("http://127.0.0.1/cb", "", False),
        ("http://127.0.0.1/cb", "javascript:alert(1)", False),
    ],
)
def test_a_redirect_goes_to_registered_places_only(toy, registered, asked, good):
    toy.clients.known["mine"] = Known("mine", (registered,))
    status, headers, _ = toy.answer("GET", begun(toy, redirect_uri=asked)[1], {})
    assert (status, "location" in headers) == ((302, True) if good else (400, False))


def test_a_stranger_is_not_sent_anywhere(toy):
    status, headers, _ = toy.answer("GET", begun(toy, client_id="nobody")[1], {})
    assert (status, "location" in headers) == (401, False)


def test_a_page_asks_the_person_and_shows_where_the_answer_goes(toy):
    toy.user = None
    toy.clients.known["mine"] = Known("mine", (REDIRECT,), name="<script>alert(1)</script>")
    pending, url = begun(toy)
    status, headers, page = toy.answer("GET", url, {})
    text = page.decode()
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "<script>" not in text
    for shown in ("127.0.0.1:7777", RESOURCE, "&lt;script&gt;"):
        assert shown in text
    ticket = text.partition('name=ticket value="')[2].partition('"')[0]
    form = urlencode({"ticket": ticket, "user": "dan", "decision": "allow"}).encode()
    status, headers, _ = toy.answer("POST", f"{ISSUER}/authorize", {}, form)
    code = flow.finish(pending, toy.metadata(), headers["location"])
    token = redeem(toy, pending, code)[1]["access_token"]
    assert toy.verify(token)["sub"] == "dan"
    assert toy.answer("POST", f"{ISSUER}/authorize", {}, form)[0] == 400  # a ticket is good once


@pytest.mark.parametrize("decision", ["deny", "", "x"])
def test_only_yes_is_yes(toy, decision):
    toy.user = None
    _, url = begun(toy)
    text = toy.answer("GET", url, {})[2].decode()
    ticket = text.partition('name=ticket value="')[2].partition('"')[0]
    form = urlencode({"ticket": ticket, "decision": decision}).encode()
    _, headers, _ = toy.answer("POST", f"{ISSUER}/authorize", {}, form)
    assert "error=access_denied" in headers["location"]
    assert f"iss={ISSUER.replace(':', '%3A').replace('/', '%2F')}" in headers["location"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/", b""),
        ("DELETE", "/token", b""),
        ("GET", "/token", b""),
        ("POST", "/token", b"\xff=\xfe"),
        ("POST", "/token", b"grant_type=x&grant_type=y"),
        ("POST", "/token", b"&".join(b"a%d=1" % n for n in range(100))),
        ("POST", "/register", b"{"),
        ("POST", "/register", b"[]"),
        ("POST", "/register", b'{"redirect_uris":7}'),
        ("POST", "/register", b'{"redirect_uris":[]}'),
        ("POST", "/register", b'{"redirect_uris":["http://127.0.0.1/"]}'),
        ("POST", "/authorize", b""),
        ("GET", "/authorize", b""),
        ("GET", "/authorize?client_id=https://evil.example/c.json", b""),
        ("GET", "/authorize?client_id=http://169.254.169.254/latest", b""),
    ],
)
def test_nonsense_is_refused(toy, method, path, body):
    status, _, answer = toy.answer(method, ISSUER + path, {}, body)
    assert 400 <= status < 500
    assert not answer or jsonrpc.loads(answer)["error"]


@pytest.mark.parametrize("value", ["Basic", "Basic !", "Basic YQ==", "Bearer x", "Basic w6k6"])
def test_credentials_that_are_none(toy, value):
    status, headers, _ = toy.answer(
        "POST", f"{ISSUER}/token", {"AUTHORIZATION": value}, b"grant_type=x"
    )
    assert (status, headers["www-authenticate"]) == (401, 'Basic realm="token"')


def test_a_token_can_be_had_outside_any_flow(toy):
    claims = toy.verify(toy.token("dan", RESOURCE, "a b", exp=None, extra=1))
    assert (claims["sub"], claims["aud"], claims["scope"]) == ("dan", RESOURCE, "a b")
    assert "exp" not in claims
    assert claims["extra"] == 1
