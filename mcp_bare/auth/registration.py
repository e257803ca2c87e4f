"""Who this client is, at each authorization server: a client id, and perhaps a secret.

Three ways to have one, tried in this order: it was registered before, by hand; its id is the URL of
a document that describes it; it registers now (deprecated). What an issuer gave belongs to that
issuer: the wallet is keyed by it.

Does not handle: proving it (client_auth); asking a person for a client id (the error says what is
missing).

Spec: client-registration; RFC 7591.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcp_bare import jsonrpc
from mcp_bare.auth import metadata
from mcp_bare.auth.client_auth import METHODS, preferred
from mcp_bare.auth.errors import BadUri, OAuthError, RegistrationFailed
from mcp_bare.errors import RpcError
from mcp_bare.jsonrpc import brief

if TYPE_CHECKING:
    from mcp_bare.auth.fetch import Fetch
    from mcp_bare.revision import JsonObject


@dataclass(frozen=True)
class Registration:
    """What one issuer knows this client by. `repr` does not show the secret."""

    issuer: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    method: str | None = None  # None: the first that the issuer supports
    redirect_uris: tuple[str, ...] = ()  # empty: whichever were registered by hand
    expires_at: float | None = None


@dataclass(frozen=True)
class ClientMetadata:
    """This program as it introduces itself to the authorization server of one MCP server.

    `registered` by hand, at the issuers named there; `document_url` where `document()` is served.
    """

    redirect_uri: str
    name: str = "MCP by bare hands"
    document_url: str | None = None
    registered: tuple[Registration, ...] = ()

    def document(self) -> JsonObject:
        """The Client ID Metadata Document: what stands at `document_url`."""
        return {"client_id": self.document_url, **self._about("none")}

    def request(self, method: str) -> JsonObject:
        """The body of a dynamic registration. MUST say which kind of application this is."""
        kind = "native" if metadata.is_local(self.redirect_uri) else "web"
        return {**self._about(method), "application_type": kind}

    def _about(self, method: str) -> JsonObject:
        return {
            "client_name": self.name,
            "redirect_uris": [self.redirect_uri],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": method,
        }


class Wallet:
    """What issuers gave this program when it registered, by issuer; in memory only."""

    def __init__(self) -> None:
        self._held: dict[str, Registration] = {}

    def keep(self, registration: Registration) -> None:
        """Hold it for its issuer, in place of an older one."""
        self._held[registration.issuer] = registration

    def find(self, issuer: str, redirect_uri: str) -> Registration | None:
        """The registration at this issuer, if it has not expired and knows this redirect."""
        found = self._held.get(issuer)
        if found is None or redirect_uri not in found.redirect_uris:
            return None
        return found if found.expires_at is None or found.expires_at > time.time() else None

    def drop(self, issuer: str) -> None:
        """Forget what the issuer itself no longer knows."""
        self._held.pop(issuer, None)

    def __repr__(self) -> str:
        return f"Wallet(issuers={sorted(self._held)})"


def obtain(
    server: JsonObject, client: ClientMetadata, wallet: Wallet, fetch: Fetch
) -> Registration:
    """This client's registration at the issuer of this metadata. Raises RegistrationFailed."""
    issuer = server["issuer"]
    for each in client.registered:
        if each.issuer == issuer:
            return each
    if client.registered:
        raise RegistrationFailed(
            f"the MCP server sends us to {issuer!r}; this client was registered by hand at "
            f"{', '.join(repr(each.issuer) for each in client.registered)} and must not use that "
            "here (client-registration, Authorization Server Binding)"
        )
    if client.document_url and server.get("client_id_metadata_document_supported") is True:
        check_document_url(client.document_url)
        return Registration(issuer, client.document_url, method="none")
    held = wallet.find(issuer, client.redirect_uri)
    if held:
        return held
    if "registration_endpoint" not in server:
        raise RegistrationFailed(
            f"{issuer!r} takes no client that it does not know: register there by hand, and give "
            "ClientMetadata(..., registered=(Registration(issuer, client_id),))"
        )
    registration = _register(server, client, fetch)
    wallet.keep(registration)
    return registration


def check_document_url(url: str) -> None:
    """A client id that is a URL: https, with a path, nothing else. Raises RegistrationFailed."""
    try:
        _, path, query = metadata.split(metadata.secure(url))
    except BadUri as trouble:
        raise RegistrationFailed(f"client id: {trouble} (client-registration)") from None
    if path in ("", "/") or query or {".", ".."} & set(path.split("/")):
        raise RegistrationFailed(f"client id {url!r}: a path without dots is due, and no query")


def _register(server: JsonObject, client: ClientMetadata, fetch: Fetch) -> Registration:
    issuer, url = server["issuer"], server["registration_endpoint"]
    asked = client.request(preferred(server, None))
    status, _, body = fetch("POST", url, {"Content-Type": "application/json"}, jsonrpc.dumps(asked))
    told = f"as a {asked['application_type']} application with {client.redirect_uri}"
    try:
        answer = jsonrpc.loads(body)
    except RpcError:
        answer = None
    if status not in (200, 201) or not isinstance(answer, dict):
        error = answer.get("error") if isinstance(answer, dict) else f"HTTP {status}"
        more = answer.get("error_description") if isinstance(answer, dict) else None
        problem = OAuthError(f"{url} (asked to register {told})", str(error), more)
        raise RegistrationFailed(str(problem))
    name, secret = answer.get("client_id"), answer.get("client_secret")
    if not isinstance(name, str) or not isinstance(secret, str | None):
        raise RegistrationFailed(f"{url} answered without a client_id that is a string")
    default = "none" if secret is None else "client_secret_basic"
    method = answer.get("token_endpoint_auth_method", default)
    if method not in METHODS or (method != "none" and secret is None):
        raise RegistrationFailed(f"{url} wants {brief(method)}; {', '.join(METHODS)} are known")
    ends = answer.get("client_secret_expires_at")
    expires = float(ends) if isinstance(ends, int | float) and ends > 0 else None
    return Registration(issuer, name, secret, method, (client.redirect_uri,), expires)
