"""Which URL says what: names, well-known paths, the document."""

from __future__ import annotations

import pytest

from mcp_bare import jsonrpc
from mcp_bare.auth import metadata
from mcp_bare.auth.errors import BadUri
from mcp_bare.auth.guard import Guard
from tests.auth import naive

PRM = ".well-known/oauth-protected-resource"
RESOURCES = [
    ("https://h", "https://h", f"https://h/{PRM}"),
    ("https://h/", "https://h", f"https://h/{PRM}"),
    ("https://h/mcp", "https://h/mcp", f"https://h/{PRM}/mcp"),
    ("https://h/mcp/", "https://h/mcp/", f"https://h/{PRM}/mcp/"),
    ("HTTPS://H.Example/MCP", "https://h.example/MCP", f"https://h.example/{PRM}/MCP"),
    ("https://h:8443", "https://h:8443", f"https://h:8443/{PRM}"),
    ("https://h/a/b?tenant=x", "https://h/a/b?tenant=x", f"https://h/{PRM}/a/b?tenant=x"),
    ("https://h/?tenant=x", "https://h/?tenant=x", f"https://h/{PRM}?tenant=x"),
    ("https://h?tenant=x", "https://h?tenant=x", f"https://h/{PRM}?tenant=x"),
    ("http://[::1]:80/mcp", "http://[::1]:80/mcp", f"http://[::1]:80/{PRM}/mcp"),
    ("https://h/%7Emcp", "https://h/%7Emcp", f"https://h/{PRM}/%7Emcp"),
]
NO_RESOURCE = [
    *("h", "h/mcp", "//h/mcp", "ftp://h", "https://", "https:///mcp", "https://h#f", "https://h/#"),
    *(
        "https://u@h/",
        "https://u:p@h/",
        "https://h/\n",
        "https://h /",
        "https://hé/",
        "https:\\\\h",
    ),
    *("https://h\\@evil/", "https://h:99999/", "https://h:port/", "https://[::1", "https://h:0/"),
    *("javascript:alert(1)", "file:///etc/passwd", "https://h/" + "a" * 3_000, "https://h%2f@x/"),
    *(None, 7, b"https://h", ["https://h"]),
]


@pytest.mark.parametrize(
    ("uri", "name", "well_known"), RESOURCES, ids=[row[0] for row in RESOURCES]
)
def test_a_resource_has_one_name_and_one_place(uri, name, well_known):
    assert metadata.canonical(uri) == name
    assert metadata.resource_metadata_url(metadata.canonical(uri)) == well_known


@pytest.mark.parametrize("uri", NO_RESOURCE, ids=lambda uri: ascii(uri)[:40])
def test_what_is_no_name_is_refused(uri):
    with pytest.raises(BadUri):
        metadata.canonical(uri)


@pytest.mark.parametrize("uri", [row[0] for row in RESOURCES if "?" in row[0] or "mcp" in row[0]])
def test_a_naive_reader_looks_in_the_wrong_place(uri):
    assert naive.resource_metadata_url(uri) != metadata.resource_metadata_url(uri)


@pytest.mark.parametrize(
    ("issuer", "places"),
    [
        (
            "https://as",
            [
                "https://as/.well-known/oauth-authorization-server",
                "https://as/.well-known/openid-configuration",
            ],
        ),
        (
            "https://as/tenant1",
            [
                "https://as/.well-known/oauth-authorization-server/tenant1",
                "https://as/.well-known/openid-configuration/tenant1",
                "https://as/tenant1/.well-known/openid-configuration",
            ],
        ),
    ],
)
def test_an_issuer_is_looked_up_in_this_order(issuer, places):
    assert metadata.issuer_metadata_urls(issuer) == places
    assert metadata.issuer_metadata_urls(f"{issuer}/") == places


def test_an_issuer_has_no_query():
    with pytest.raises(BadUri, match="no query"):
        metadata.issuer_metadata_urls("https://as?x=y")


@pytest.mark.parametrize(
    ("resource", "server", "fits"),
    [
        ("https://h/mcp", "https://h/mcp", True),
        ("HTTPS://H/mcp", "https://h/mcp", True),
        ("https://h", "https://h/mcp", True),
        ("https://h/", "https://h/mcp", True),
        ("https://h/a", "https://h/a/b?tenant=x", True),
        ("https://h/a/b", "https://h/a/b?tenant=x", True),
        ("https://h/mc", "https://h/mcp", False),
        ("https://h/mcp/x", "https://h/mcp", False),
        ("https://h/mcp", "https://h", False),
        ("https://h", "https://h.evil/mcp", False),
        ("https://h", "https://h:8443/mcp", False),
        ("http://h", "https://h", False),
        ("https://evil/mcp", "https://h/mcp", False),
        ("https://h/a/b?tenant=y", "https://h/a/b?tenant=x", False),
    ],
)
def test_metadata_speaks_for_its_resource_and_what_lies_below(resource, server, fits):
    assert metadata.covers(resource, server) is fits


@pytest.mark.parametrize(
    ("uri", "fits"),
    [
        ("https://h", True),
        ("http://localhost:3000/callback", True),
        ("http://127.0.0.1/", True),
        ("http://[::1]:5/", True),
        ("http://h", False),
        ("http://localhost.evil/", False),
        ("http://127.0.0.1.evil/", False),
        ("http://0.0.0.0/", False),
    ],
)
def test_https_is_due_outside_loopback(uri, fits):
    if fits:
        assert metadata.secure(uri) == uri
    else:
        with pytest.raises(BadUri, match="https is due"):
            metadata.secure(uri)


# --- the document, and where a guard serves it ---


def guard(resource="https://h/mcp", **options):
    return Guard(resource, ["https://as"], lambda token: {}, **options)


def test_the_document():
    served = guard(scopes_supported=["a:read", "a:write"], name="A").well_known(f"/{PRM}/mcp")
    assert jsonrpc.loads(served) == {
        "resource": "https://h/mcp",
        "authorization_servers": ["https://as"],
        "scopes_supported": ["a:read", "a:write"],
        "resource_name": "A",
        "bearer_methods_supported": ["header"],
    }


@pytest.mark.parametrize(
    ("resource", "path", "there"),
    [
        ("https://h/mcp", f"/{PRM}/mcp", True),
        ("https://h/mcp", f"/{PRM}", False),
        ("https://h/mcp", f"/mcp/{PRM}", False),
        ("https://h/mcp", f"/{PRM}/mcp/", False),
        ("https://h/mcp", "/mcp", False),
        ("https://h/mcp", "", False),
        ("https://h", f"/{PRM}", True),
        ("https://h/", f"/{PRM}", True),
        ("https://h", f"/{PRM}/", False),
        ("https://h/a/b?tenant=x", f"/{PRM}/a/b?tenant=x", True),
        ("https://h/a/b?tenant=x", f"/{PRM}/a/b", False),
        ("https://h/a/b?tenant=x", f"/{PRM}/a/b?tenant=y", False),
    ],
)
def test_the_document_stands_in_one_place(resource, path, there):
    assert (guard(resource).well_known(path) is not None) is there


@pytest.mark.parametrize(
    ("build", "told"),
    [
        (lambda: Guard("https://h", [], lambda token: {}), "at least one authorization server"),
        (lambda: guard(scopes_supported=["offline_access"]), "offline_access"),
    ],
)
def test_a_document_that_breaks_a_rule_is_not_built(build, told):
    with pytest.raises(ValueError, match=told):
        build()


@pytest.mark.parametrize("resource", ["http://h/mcp", "https://h/mcp#f", "h/mcp"])
def test_a_guard_needs_a_resource_with_a_name(resource):
    with pytest.raises(BadUri):
        guard(resource)
