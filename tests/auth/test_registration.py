"""Who the client is: in which order it finds out, and what it keeps for whom."""

from __future__ import annotations

import pytest

from mcp_bare import jsonrpc
from mcp_bare.auth import flow
from mcp_bare.auth.errors import BadUri, IssuerMismatch, RegistrationFailed
from mcp_bare.auth.registration import (
    ClientMetadata,
    Registration,
    Wallet,
    check_document_url,
    obtain,
)
from tests.auth.test_discovery import AS
from tests.auth.web import DOCUMENT, REDIRECT, World

OPEN = {**AS, "registration_endpoint": "https://as/register"}
CIMD = {**OPEN, "client_id_metadata_document_supported": True}
BY_HAND = Registration("https://as", "by-hand", "s3cret")
MADE = {"client_id": "made", "client_secret": "s3cret", "client_secret_expires_at": 0}


class Endpoint:
    def __init__(self, answer=MADE, status=201):
        self.answer, self.status, self.asked = answer, status, []

    def fetch(self, method, url, headers, body):
        assert (method, url) == ("POST", "https://as/register")
        self.asked.append(jsonrpc.loads(body))
        sent = self.answer if isinstance(self.answer, bytes) else jsonrpc.dumps(self.answer)
        return self.status, {}, sent


@pytest.mark.parametrize(
    ("server", "registered", "document", "client_id"),
    [
        (CIMD, (BY_HAND,), DOCUMENT, "by-hand"),
        (CIMD, (), DOCUMENT, DOCUMENT),
        (CIMD, (), None, "made"),
        (OPEN, (), DOCUMENT, "made"),
        ({**CIMD, "client_id_metadata_document_supported": "yes"}, (), DOCUMENT, "made"),
    ],
)
def test_the_order(server, registered, document, client_id):
    client = ClientMetadata(REDIRECT, document_url=document, registered=registered)
    endpoint = Endpoint()
    found = obtain(server, client, Wallet(), endpoint.fetch)
    assert (found.client_id, found.issuer) == (client_id, "https://as")
    assert len(endpoint.asked) == (client_id == "made")


def test_where_there_is_no_way_in_the_error_says_what_to_do():
    with pytest.raises(RegistrationFailed, match="register there by hand"):
        obtain(AS, ClientMetadata(REDIRECT, document_url=DOCUMENT), Wallet(), Endpoint().fetch)


def test_what_was_registered_by_hand_elsewhere_is_an_error_with_both_names():
    other = Registration("https://old.example", "by-hand", "s3cret")
    endpoint = Endpoint()
    with pytest.raises(RegistrationFailed) as caught:
        obtain(CIMD, ClientMetadata(REDIRECT, registered=(other,)), Wallet(), endpoint.fetch)
    assert "'https://as'" in str(caught.value)
    assert "'https://old.example'" in str(caught.value)
    assert "s3cret" not in str(caught.value)
    assert endpoint.asked == []


# --- dynamic registration, the deprecated fallback ---


@pytest.mark.parametrize(
    ("redirect", "kind"),
    [
        ("http://127.0.0.1:7777/callback", "native"),
        ("http://localhost/callback", "native"),
        ("http://[::1]:1/callback", "native"),
        ("https://app.example/callback", "web"),
    ],
)
def test_a_registration_says_which_kind_of_application(redirect, kind):
    endpoint = Endpoint()
    obtain(OPEN, ClientMetadata(redirect, name="x"), Wallet(), endpoint.fetch)
    assert endpoint.asked == [
        {
            "client_name": "x",
            "redirect_uris": [redirect],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "client_secret_basic",
            "application_type": kind,
        }
    ]


def test_a_public_client_where_the_issuer_allows_it():
    endpoint = Endpoint({"client_id": "made"})
    server = {**OPEN, "token_endpoint_auth_methods_supported": ["client_secret_post", "none"]}
    found = obtain(server, ClientMetadata(REDIRECT), Wallet(), endpoint.fetch)
    assert endpoint.asked[0]["token_endpoint_auth_method"] == "none"
    assert (found.method, found.client_secret) == ("none", None)


@pytest.mark.parametrize(
    ("answer", "status", "told"),
    [
        (
            {"error": "invalid_redirect_uri", "error_description": "https only"},
            400,
            ("invalid_redirect_uri", "https only", "native", REDIRECT),
        ),
        ({}, 403, ("None",)),
        (b"<p>", 500, ("HTTP 500",)),
        (b"<p>", 201, ("HTTP 201",)),
        ([], 201, ("HTTP 201",)),
        ({}, 201, ("client_id",)),
        ({"client_id": 7}, 201, ("client_id",)),
        ({"client_id": "x", "client_secret": 7}, 201, ("client_id",)),
        ({**MADE, "token_endpoint_auth_method": "private_key_jwt"}, 201, ("private_key_jwt",)),
        ({**MADE, "token_endpoint_auth_method": ["none"]}, 201, ("none",)),
        (
            {"client_id": "x", "token_endpoint_auth_method": "client_secret_basic"},
            201,
            ("client_secret_basic",),
        ),
    ],
)
def test_a_registration_that_fails_says_why(answer, status, told):
    with pytest.raises(RegistrationFailed) as caught:
        obtain(OPEN, ClientMetadata(REDIRECT), Wallet(), Endpoint(answer, status).fetch)
    assert all(each in str(caught.value) for each in told)
    assert "s3cret" not in str(caught.value)


# --- the wallet ---


def test_a_registration_is_kept_for_its_issuer_and_redirect():
    wallet, endpoint = Wallet(), Endpoint()
    for _ in range(3):
        obtain(OPEN, ClientMetadata(REDIRECT), wallet, endpoint.fetch)
    assert len(endpoint.asked) == 1
    obtain(OPEN, ClientMetadata("http://127.0.0.1:1/callback"), wallet, endpoint.fetch)
    assert len(endpoint.asked) == 2
    assert wallet.find("https://other.example", REDIRECT) is None
    assert repr(wallet) == "Wallet(issuers=['https://as'])"


@pytest.mark.parametrize(("ends", "times"), [(0, 1), (4e9, 1), (1, 2), (None, 1), ("1", 1)])
def test_a_secret_that_has_expired_is_not_used(ends, times):
    wallet, endpoint = Wallet(), Endpoint({**MADE, "client_secret_expires_at": ends})
    for _ in range(2):
        obtain(OPEN, ClientMetadata(REDIRECT), wallet, endpoint.fetch)
    assert len(endpoint.asked) == times


# --- the document ---


@pytest.mark.parametrize(
    "url",
    ["http://app.example/c.json", "https://app.example", "https://app.example/", "app.json",
     "https://app.example/c.json?x", "https://app.example/c.json#x", "https://u@app.example/c.json",
     "https://app.example/a/../c.json", "https://app.example/./c.json"],
)  # fmt: skip
def test_a_client_id_that_may_be_no_document(url):
    with pytest.raises(RegistrationFailed):
        check_document_url(url)


def test_a_bad_document_url_is_not_sent_anywhere():
    with pytest.raises(RegistrationFailed, match="https is due"):
        obtain(CIMD, ClientMetadata(REDIRECT, "x", "http://app.example/c"), Wallet(), None)


def test_the_document_names_its_own_url():
    document = ClientMetadata(REDIRECT, name="x", document_url=DOCUMENT).document()
    assert document["client_id"] == DOCUMENT
    assert {"client_name", "redirect_uris"} <= document.keys()


@pytest.mark.parametrize(
    ("document", "status", "told"),
    [
        ({}, 302, ""),
        (
            {"client_id": "https://other.example/c.json"},
            401,
            "about 'https://other.example/c.json'",
        ),
        ({"client_id": f"{DOCUMENT}/"}, 401, f"about '{DOCUMENT}/', not about '{DOCUMENT}'"),
        ({"redirect_uris": ["https://other.example/callback"]}, 400, "not registered"),
        ({"redirect_uris": [f"{REDIRECT}/x"]}, 400, "not registered"),
        ({"redirect_uris": []}, 400, "not registered"),
        ({"redirect_uris": [7]}, 401, "are texts"),
        ({"redirect_uris": None}, 401, "no sound document"),
        ({"client_name": None}, 401, "are texts"),
    ],
)
def test_the_authorization_server_checks_the_document(document, status, told):
    world = World()
    whole = {**ClientMetadata(REDIRECT, document_url=DOCUMENT).document(), **document}
    world.toy.clients.documents = {DOCUMENT: whole}
    mine = Registration("https://as.example", DOCUMENT)
    url = flow.begin(world.toy.metadata(), mine, "https://mcp.example/mcp", (), REDIRECT).url
    answered, _, body = world.web.fetch("GET", url, {})
    assert answered == status
    assert told in body.decode()


@pytest.mark.parametrize("redirect", ["http://app.example/callback", "myapp://callback", "x"])
def test_a_redirect_is_loopback_or_https(redirect):
    with pytest.raises(BadUri):
        World().authorizer(ClientMetadata(redirect))


def test_an_issuer_mismatch_has_both_names():
    error = IssuerMismatch("here", "https://a", "https://b")
    assert (error.expected, error.arrived) == ("https://a", "https://b")
