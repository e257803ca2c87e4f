"""From a refusal to the authorization server: two documents, and what must be true of them.

    resource = find_resource("https://h/mcp", bearer_challenge, fetch)   # RFC 9728
    server = find_issuer(resource["authorization_servers"][0], fetch)    # RFC 8414 or OpenID

A place that does not answer with a JSON object is passed over for the next one. A document that is
there and is about somebody else ends the search: it must not be used, and neither must a guess.

Does not handle: choosing among several authorization servers (authorizer).

Spec: authorization-server-discovery; security-considerations ("Authorization Code Protection").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_bare import jsonrpc
from mcp_bare.auth import metadata, pkce
from mcp_bare.auth.errors import (
    BadUri,
    DiscoveryFailed,
    FetchFailed,
    IssuerMismatch,
    NoPkce,
)
from mcp_bare.errors import RpcError
from mcp_bare.jsonrpc import brief

if TYPE_CHECKING:
    from typing import Any

    from mcp_bare.auth.challenge import Challenge
    from mcp_bare.auth.fetch import Fetch
    from mcp_bare.revision import JsonObject

_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "registration_endpoint")


def find_resource(server: str, challenge: Challenge | None, fetch: Fetch) -> JsonObject:
    """The metadata of an MCP server: where its header says, by its path, at its root.

    Raises DiscoveryFailed, also for a document about another resource.
    """
    places = [metadata.resource_metadata_url(server)]
    origin, _, _ = metadata.split(server)
    places.append(metadata.resource_metadata_url(origin))
    named = challenge.params.get("resource_metadata") if challenge else None
    if named is not None:
        places.insert(0, named)
    url, found = _first_object(list(dict.fromkeys(places)), server, fetch)
    resource, issuers = found.get("resource"), found.get("authorization_servers")
    try:
        fits = metadata.covers(resource, server)  # type: ignore[arg-type]
    except BadUri:
        fits = False
    if not fits:
        raise DiscoveryFailed(
            f"{url} is about {brief(resource, 200)}, and this client asked {brief(server, 200)}"
            " (RFC 9728, section 3.3)"
        )
    if not _strings(issuers) or not issuers:
        raise DiscoveryFailed(f"authorization_servers of {url} is {brief(issuers)}; a list is due")
    if "scopes_supported" in found and not _strings(found["scopes_supported"]):
        raise DiscoveryFailed(f"scopes_supported of {url} is {brief(found['scopes_supported'])}")
    return found


def find_issuer(issuer: str, fetch: Fetch, server: str | None = None) -> JsonObject:
    """The metadata of an authorization server. `server` is the MCP server that named it.

    Raises IssuerMismatch, NoPkce or DiscoveryFailed.
    """
    try:
        places = metadata.issuer_metadata_urls(issuer)
    except BadUri as trouble:
        raise DiscoveryFailed(str(trouble)) from None
    url, found = _first_object(places, server or issuer, fetch)
    if found.get("issuer") != issuer:
        raise IssuerMismatch(url, issuer, found.get("issuer"))
    methods = found.get("code_challenge_methods_supported")
    if not isinstance(methods, list) or pkce.METHOD not in methods:
        raise NoPkce(
            f"code_challenge_methods_supported of {issuer} is {brief(methods)}; without "
            f"{pkce.METHOD!r} the client MUST refuse to proceed (security-considerations)"
        )
    for name in _ENDPOINTS:
        if name in found or name != "registration_endpoint":
            _check_reachable(found.get(name), server or issuer, name)
    return found


def _first_object(places: list[str], asked: str, fetch: Fetch) -> tuple[str, JsonObject]:
    """(URL, document) of the first place with a JSON object, in this order."""
    tried = []
    for url in places:
        try:
            _check_reachable(url, asked, "a metadata URL")
            status, _, body = fetch("GET", url, {"Accept": "application/json"}, None)
        except (DiscoveryFailed, FetchFailed) as trouble:
            tried.append(str(trouble))
            continue
        found = _loaded(body) if status == 200 else None
        if isinstance(found, dict):
            return url, found
        tried.append(f"{url} answered {status}" + (" without a JSON object" * (status == 200)))
    raise DiscoveryFailed(f"no metadata for {asked}: " + "; ".join(tried))


def _check_reachable(url: Any, asked: str, name: str) -> None:
    """https; and who is out there may not send this client to its own machine (SSRF)."""
    try:
        if metadata.is_local(metadata.secure(url)) and not metadata.is_local(asked):
            raise BadUri(f"{brief(url, 200)} is on this machine, and {asked} is not")
    except BadUri as trouble:
        raise DiscoveryFailed(f"{name}: {trouble}") from None


def _loaded(body: bytes) -> Any:
    try:
        return jsonrpc.loads(body)
    except RpcError:
        return None


def _strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
