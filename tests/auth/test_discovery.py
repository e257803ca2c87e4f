"""From a refusal to the authorization server: which URLs, in which order, and what ends it."""

from __future__ import annotations

import pytest

from mcp_bare import jsonrpc
from mcp_bare.auth import discovery
from mcp_bare.auth.challenge import bearer
from mcp_bare.auth.errors import (
    AuthorizationFailed,
    DiscoveryFailed,
    FetchFailed,
    IssuerMismatch,
    NoPkce,
)
from tests.auth import naive

H = "https://h"
PATH, ROOT = (
    f"{H}/.well-known/oauth-protected-resource/mcp",
    f"{H}/.well-known/oauth-protected-resource",
)
LOCAL = "http://localhost/x"
ELSEWHERE = "https://docs.example/prm.json"
PRM = {"resource": f"{H}/mcp", "authorization_servers": ["https://as"]}
AS = {
    "issuer": "https://as",
    "authorization_endpoint": "https://as/authorize",
    "token_endpoint": "https://as/token",
    "code_challenge_methods_supported": ["plain", "S256"],
}
OAUTH, OPENID = (
    f"https://as/.well-known/{n}" for n in ("oauth-authorization-server", "openid-configuration")
)


class Pages:
    """{url: document, status or bytes}; whatever is missing is a 404, an exception is raised."""

    def __init__(self, pages):
        self.pages, self.asked = pages, []

    def fetch(self, method, url, headers, body):
        assert (method, body) == ("GET", None)
        self.asked.append(url)
        found = self.pages.get(url, 404)
        if isinstance(found, Exception):
            raise found
        if isinstance(found, int):
            return found, {}, b'{"error": "no"}'
        return 200, {}, found if isinstance(found, bytes) else jsonrpc.dumps(found)


RESOURCE_ROWS = [
    # (named in the header, pages, URLs asked)
    ("the header", ELSEWHERE, {ELSEWHERE: PRM}, [ELSEWHERE]),
    ("the header names the path", PATH, {PATH: PRM}, [PATH]),
    ("the path", None, {PATH: PRM, ROOT: {}}, [PATH]),
    ("the root", None, {ROOT: PRM}, [PATH, ROOT]),
    ("the root, about the root", None, {ROOT: {**PRM, "resource": H}}, [PATH, ROOT]),
    ("a path document that answers 401", None, {PATH: 401, ROOT: PRM}, [PATH, ROOT]),
    ("one that answers 500", None, {PATH: 500, ROOT: PRM}, [PATH, ROOT]),
    ("one that is a web page", None, {PATH: b"<!doctype html>", ROOT: PRM}, [PATH, ROOT]),
    ("one that is a list", None, {PATH: b"[]", ROOT: PRM}, [PATH, ROOT]),
    ("one that is not UTF-8", None, {PATH: b'"\xff"', ROOT: PRM}, [PATH, ROOT]),
    ("one with a key twice", None, {PATH: b'{"a":1,"a":2}', ROOT: PRM}, [PATH, ROOT]),
    ("one that cannot be reached", None, {PATH: FetchFailed("x"), ROOT: PRM}, [PATH, ROOT]),
    ("a header that leads nowhere", ELSEWHERE, {PATH: PRM}, [ELSEWHERE, PATH]),
    ("a header without TLS", "http://h/x", {"http://h/x": PRM, PATH: PRM}, [PATH]),
    (
        "a header to this machine",
        "http://localhost/x",
        {"http://localhost/x": PRM, PATH: PRM},
        [PATH],
    ),
    ("a header that is no URL", "../prm.json", {PATH: PRM}, [PATH]),
]


@pytest.mark.parametrize(
    ("named", "pages", "asked"),
    [row[1:] for row in RESOURCE_ROWS],
    ids=[row[0] for row in RESOURCE_ROWS],
)
def test_the_resource_is_found_by_header_then_path_then_root(named, pages, asked):
    web = Pages(pages)
    challenge = bearer(resource_metadata=named)
    found = discovery.find_resource(f"{H}/mcp", challenge, web.fetch)
    assert (found["authorization_servers"], web.asked) == (["https://as"], asked)


def test_a_server_at_the_root_is_asked_once():
    web = Pages({})
    with pytest.raises(DiscoveryFailed, match="answered 404"):
        discovery.find_resource(H, None, web.fetch)
    assert web.asked == [ROOT]


def test_a_server_on_this_machine_may_name_this_machine():
    web = Pages({"http://127.0.0.1:9/prm": {**PRM, "resource": "http://127.0.0.1:5/mcp"}})
    challenge = bearer(resource_metadata="http://127.0.0.1:9/prm")
    assert discovery.find_resource("http://127.0.0.1:5/mcp", challenge, web.fetch)


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (
            {**PRM, "resource": "https://other.example/mcp"},
            ("https://other.example/mcp", f"{H}/mcp"),
        ),
        ({**PRM, "resource": f"{H}/other"}, (f"{H}/other", f"{H}/mcp")),
        ({**PRM, "resource": 7}, ("7", f"{H}/mcp")),
        ({"authorization_servers": ["https://as"]}, ("None", f"{H}/mcp")),
        ({**PRM, "authorization_servers": []}, ("authorization_servers", "[]")),
        ({**PRM, "authorization_servers": "https://as"}, ("authorization_servers", "https://as")),
        ({**PRM, "authorization_servers": [7]}, ("authorization_servers", "[7]")),
        ({"resource": f"{H}/mcp"}, ("authorization_servers", "None")),
        ({**PRM, "scopes_supported": "a b"}, ("scopes_supported", "a b")),
        ({**PRM, "scopes_supported": [["a"]]}, ("scopes_supported", "[['a']]")),
    ],
    ids=ascii,
)
def test_a_document_that_is_wrong_ends_it(document, told):
    """It is not passed over: nobody guesses on past a document that must not be used."""
    web = Pages({PATH: document, ROOT: PRM})
    with pytest.raises(DiscoveryFailed) as caught:
        discovery.find_resource(f"{H}/mcp", None, web.fetch)
    assert all(each in str(caught.value) for each in told)
    assert web.asked == [PATH]


def test_every_attempt_is_told():
    web = Pages({PATH: 401, ROOT: b"<p>"})
    with pytest.raises(DiscoveryFailed) as caught:
        discovery.find_resource(f"{H}/mcp", bearer(resource_metadata=ELSEWHERE), web.fetch)
    for told in (
        f"{ELSEWHERE} answered 404",
        f"{PATH} answered 401",
        f"{ROOT} answered 200 without",
    ):
        assert told in str(caught.value)


# --- the authorization server ---

TENANT = "https://as/t1"
INSERTED_O = "https://as/.well-known/oauth-authorization-server/t1"
INSERTED_C = "https://as/.well-known/openid-configuration/t1"
APPENDED = "https://as/t1/.well-known/openid-configuration"
T1 = {**AS, "issuer": TENANT}


@pytest.mark.parametrize(
    ("issuer", "pages", "asked"),
    [
        ("https://as", {OAUTH: AS, OPENID: AS}, [OAUTH]),
        ("https://as", {OPENID: AS}, [OAUTH, OPENID]),
        (TENANT, {INSERTED_O: T1, INSERTED_C: T1, APPENDED: T1}, [INSERTED_O]),
        (TENANT, {INSERTED_C: T1, APPENDED: T1}, [INSERTED_O, INSERTED_C]),
        (TENANT, {APPENDED: T1, OAUTH: AS}, [INSERTED_O, INSERTED_C, APPENDED]),
    ],
)
def test_the_authorization_server_is_found_in_the_order_of_the_specification(issuer, pages, asked):
    web = Pages(pages)
    assert discovery.find_issuer(issuer, web.fetch)["issuer"] == issuer
    assert web.asked == asked


ISSUERS = [
    ("https://as", "https://as/"),
    ("https://as/", "https://as"),
    ("https://as", "https://AS"),
    ("https://as", "https://as:443"),
    ("https://as", "http://as"),
    ("https://as", "https://attacker.example"),
    ("https://as", None),
    ("https://as", ["https://as"]),
    ("https://as", ""),
]


@pytest.mark.parametrize(("expected", "arrived"), ISSUERS, ids=ascii)
def test_the_issuer_is_the_identical_string_and_both_are_shown(expected, arrived):
    web = Pages({OAUTH: {**AS, "issuer": arrived}, OPENID: {**AS, "issuer": expected}})
    with pytest.raises(IssuerMismatch) as caught:
        discovery.find_issuer(expected, web.fetch)
    assert (caught.value.expected, caught.value.arrived) == (expected, arrived)
    assert repr(expected) in str(caught.value)
    assert repr(arrived) in str(caught.value)
    assert web.asked == [OAUTH]


@pytest.mark.parametrize(
    "methods", [None, [], ["plain"], ["s256"], "S256", {"S256": True}, [["S256"]], 7], ids=ascii
)
def test_without_s256_the_client_refuses(methods):
    document = {**AS, "code_challenge_methods_supported": methods}
    with pytest.raises(NoPkce, match="code_challenge_methods_supported of https://as is"):
        discovery.find_issuer("https://as", Pages({OAUTH: document}).fetch)


def test_pkce_that_is_not_spoken_of_is_not_there():
    document = {k: v for k, v in AS.items() if not k.startswith("code")}
    for place in (OAUTH, OPENID):
        with pytest.raises(NoPkce, match="is None"):
            discovery.find_issuer("https://as", Pages({place: document}).fetch)


@pytest.mark.parametrize(
    "name", ["authorization_endpoint", "token_endpoint", "registration_endpoint"]
)
@pytest.mark.parametrize(
    "url",
    [None, 7, "", "/token", "http://as/token", "file:///usr/bin/xcalc", "javascript:alert(1)",
     "https://as/x#y", "http://localhost:8080/", "https://127.0.0.1/", "$(xcalc)", "https://u@as/"],
)  # fmt: skip
def test_an_endpoint_is_https_and_not_on_this_machine(name, url):
    with pytest.raises(DiscoveryFailed, match=name):
        discovery.find_issuer("https://as", Pages({OAUTH: {**AS, name: url}}).fetch)


@pytest.mark.parametrize(
    "issuer", ["as", "http://as", "https://as?x", "ftp://as", "https://as#x", ""]
)
def test_an_issuer_is_an_https_url(issuer):
    web = Pages({})
    with pytest.raises(AuthorizationFailed):
        discovery.find_issuer(issuer, web.fetch)
    assert web.asked == []


def test_a_server_out_there_may_not_name_an_issuer_on_this_machine():
    web = Pages({})
    with pytest.raises(DiscoveryFailed, match="is on this machine, and https://h/mcp is not"):
        discovery.find_issuer("http://127.0.0.1:80", web.fetch, "https://h/mcp")
    assert web.asked == []


# --- a naive client on the same rows ---


@pytest.mark.parametrize("row", [2, 3, 5, 10], ids=lambda row: RESOURCE_ROWS[row][0])
def test_a_naive_client_does_not_find_the_document(row):
    _, _, pages, _ = RESOURCE_ROWS[row]
    client = naive.Authorizer(f"{H}/mcp", None, None, Pages(pages).fetch)
    with pytest.raises((KeyError, ValueError, TypeError)):
        client.refused(401, [])


@pytest.mark.parametrize("pair", ISSUERS[:2], ids=str)
def test_a_naive_client_takes_a_tidied_issuer(pair):
    expected, arrived = pair
    document = {**AS, "issuer": arrived, "registration_endpoint": "https://as/register"}
    pages = {f"{H}/mcp/.well-known/oauth-protected-resource": {"authorization_servers": [expected]},
             f"{expected}/.well-known/oauth-authorization-server": document}  # fmt: skip
    web, posted = Pages(pages), []

    def fetch(method, url, headers, body):
        if method == "POST":
            posted.append(url)
            raise StopIteration
        return web.fetch(method, url, headers, body)

    with pytest.raises(StopIteration):
        naive.Authorizer(f"{H}/mcp", None, None, fetch).refused(401, [])
    assert posted == ["https://as/register"]
