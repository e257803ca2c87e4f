"""Which URL says what: the resource's name, the well-known paths, the document itself.

A resource is named by its canonical URI: scheme and host in lower case, no fragment, and no slash
added. A well-known path is inserted between the host and the rest, never appended:

    https://h/a/b?tenant=x  ->  https://h/.well-known/oauth-protected-resource/a/b?tenant=x

Does not handle: fetching any of it (discovery).

Spec: basic/authorization ("Canonical Server URI"), authorization-server-discovery; RFC 9728;
RFC 8414, section 3; RFC 8707, section 2.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mcp_bare.addresses import is_loopback
from mcp_bare.auth.errors import BadUri
from mcp_bare.jsonrpc import brief

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mcp_bare.revision import JsonObject

RESOURCE = "/.well-known/oauth-protected-resource"
OAUTH = "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"
_URI = re.compile(
    r"(https?)://((?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?)(/[^?#]*)?(\?[^#]*)?", re.IGNORECASE
)


# --- names ---


def split(uri: Any) -> tuple[str, str, str]:
    """(origin, path, query with its "?"), origin in lower case. Raises BadUri.

    split("HTTPS://H:8443/a?b=c") -> ("https://h:8443", "/a", "?b=c")
    """
    if not isinstance(uri, str) or not re.fullmatch(r"[!-\[\]-~]{1,2048}", uri):
        raise _unfit(uri, "visible ASCII characters are due")
    found = _URI.fullmatch(uri)
    if found is None:
        raise _unfit(uri, "an http(s) URI with a host, no user and no fragment is due")
    try:
        if urlsplit(uri).port == 0:
            raise ValueError("port 0")
    except ValueError as trouble:
        raise _unfit(uri, str(trouble)) from None
    return f"{found[1]}://{found[2]}".lower(), found[3] or "", found[4] or ""


def canonical(uri: Any) -> str:
    """The name of a resource, fit for comparing. Raises BadUri.

    canonical("HTTPS://H/mcp") -> "https://h/mcp"; canonical("https://h/") -> "https://h"
    """
    origin, path, query = split(uri)
    return origin + ("" if path == "/" and not query else path) + query


def covers(resource: str, server: str) -> bool:
    """May metadata of `resource` be used for `server`: the same, or a parent on the same origin?

    RFC 9728 wants the same. Metadata at the root speaks for the root, so a parent will do.
    """
    parent, child = canonical(resource), canonical(server)
    return child == parent or child.startswith((parent.rstrip("/") + "/", parent + "?"))


def secure(uri: Any) -> str:
    """The URI, if it is https, or http on this machine. Raises BadUri.

    security-considerations, "Communication Security": "MUST be served over HTTPS".
    """
    origin, _, _ = split(uri)
    if not origin.startswith("https:") and not is_local(uri):
        raise _unfit(uri, "https is due outside loopback")
    return str(uri)


def is_local(uri: str) -> bool:
    """Does this URI lead to the very machine that asks?"""
    return is_loopback(urlsplit(uri).hostname or "")


# --- well-known paths ---


def resource_metadata_url(resource: str) -> str:
    """Where the metadata of a resource stands (RFC 9728, section 3.1)."""
    origin, path, query = split(resource)
    return origin + RESOURCE + ("" if path == "/" else path) + query


def issuer_metadata_urls(issuer: str) -> list[str]:
    """Where an issuer's metadata may stand, in the order to ask. Raises BadUri.

    Clients MUST try: OAuth with the path inserted, OpenID with the path inserted, OpenID appended.
    """
    origin, path, query = split(issuer)
    if query:
        raise _unfit(issuer, "an issuer has no query (RFC 8414, section 2)")
    path = path.removesuffix("/")
    inserted = [origin + OAUTH + path, origin + OPENID + path]
    return [*inserted, origin + path + OPENID] if path else inserted


# --- the document ---


def document(
    resource: str,
    authorization_servers: Sequence[str],
    scopes_supported: Sequence[str] = (),
    name: str | None = None,
) -> JsonObject:
    """The protected resource metadata, as a server publishes it (RFC 9728, section 2)."""
    if not authorization_servers:
        raise ValueError("at least one authorization server is due (RFC 9728; MUST)")
    if "offline_access" in scopes_supported:
        raise ValueError("offline_access is no scope of a resource (basic/authorization)")
    found: JsonObject = {
        "resource": canonical(resource),
        "authorization_servers": [secure(issuer) for issuer in authorization_servers],
    }
    if scopes_supported:
        found["scopes_supported"] = list(scopes_supported)
    if name is not None:
        found["resource_name"] = name
    return {**found, "bearer_methods_supported": ["header"]}


def _unfit(uri: Any, due: str) -> BadUri:
    return BadUri(f"{brief(uri, 200)} cannot be used here: {due}")
