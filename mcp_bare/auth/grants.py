"""The token endpoint: a code for tokens, a refresh token for fresh ones.

    tokens = exchange(pending, code, server, registration, fetch)
    tokens = refresh(tokens, server, registration, fetch)

Both name the `resource`, and both go to the token endpoint of the issuer that the code or the
refresh token came from; where the metadata is another issuer's, nothing is sent.

Spec: basic/authorization ("Resource Parameter Implementation", "Refresh Tokens"); RFC 6749,
sections 4.1.3, 5 and 6; RFC 8707, section 2.2.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from mcp_bare import jsonrpc
from mcp_bare.auth import ladder
from mcp_bare.auth.client_auth import authenticate
from mcp_bare.auth.errors import AuthorizationFailed, IssuerMismatch, OAuthError
from mcp_bare.errors import RpcError
from mcp_bare.jsonrpc import brief

if TYPE_CHECKING:
    from mcp_bare.auth.fetch import Fetch
    from mcp_bare.auth.flow import Pending
    from mcp_bare.auth.registration import Registration
    from mcp_bare.revision import JsonObject


@dataclass(frozen=True)
class Tokens:
    """What an issuer gave for one resource. `repr` shows neither token."""

    issuer: str
    resource: str
    access_token: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    expires_at: float | None = None
    scopes: frozenset[str] = frozenset()  # granted
    requested: frozenset[str] = frozenset()


def exchange(
    pending: Pending, code: str, server: JsonObject, registered: Registration, fetch: Fetch
) -> Tokens:
    """The code for tokens, at the token endpoint of the very issuer that the request went to."""
    if server["issuer"] != pending.issuer:
        raise IssuerMismatch("the token endpoint", pending.issuer, server["issuer"])
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": pending.redirect_uri,
        "code_verifier": pending.proof.verifier,
        "resource": pending.resource,
    }
    due = Tokens(pending.issuer, pending.resource, "", None, None, pending.scopes, pending.scopes)
    return _token_request(form, due, server, registered, fetch)


def refresh(tokens: Tokens, server: JsonObject, registered: Registration, fetch: Fetch) -> Tokens:
    """Fresh tokens, same scopes. A new refresh token replaces the old one (rotation)."""
    if server["issuer"] != tokens.issuer:
        raise IssuerMismatch("the refresh token", tokens.issuer, server["issuer"])
    if tokens.refresh_token is None:
        raise AuthorizationFailed(f"{tokens.issuer} gave no refresh token for {tokens.resource}")
    form = {
        "grant_type": "refresh_token",
        "refresh_token": tokens.refresh_token,
        "resource": tokens.resource,
    }
    return _token_request(form, tokens, server, registered, fetch)


def _token_request(
    form: JsonObject, due: Tokens, server: JsonObject, registered: Registration, fetch: Fetch
) -> Tokens:
    fields, headers = authenticate(registered, server)
    headers = {**headers, "Content-Type": "application/x-www-form-urlencoded"}
    url = server["token_endpoint"]
    status, _, body = fetch("POST", url, headers, urlencode({**form, **fields}).encode())
    try:
        answer = jsonrpc.loads(body)
    except RpcError:
        answer = None
    if not isinstance(answer, dict):
        raise AuthorizationFailed(f"{url} answered {status} without a JSON object")
    if status != 200:
        raise OAuthError(url, str(answer.get("error")), answer.get("error_description"))
    return _checked(answer, due, url)


def _checked(answer: JsonObject, due: Tokens, url: str) -> Tokens:
    """A token response (RFC 6749, section 5.1). What it leaves out is as it was asked for."""
    token, kind = answer.get("access_token"), answer.get("token_type")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise AuthorizationFailed(f"{url} gave a token of type {brief(kind)}; Bearer is due")
    if not isinstance(token, str) or not re.fullmatch(r"[!-+\--~]+", token):
        raise AuthorizationFailed(f"{url} gave no access_token that fits a header")
    life = answer.get("expires_in")
    if life is not None and not ladder.is_time(life):
        raise AuthorizationFailed(f"{url} gave {brief(life)} for expires_in; seconds are due")
    scope, again = answer.get("scope"), answer.get("refresh_token")
    if not isinstance(scope, str | None) or not isinstance(again, str | None):
        raise AuthorizationFailed(f"{url} gave a scope or refresh_token that is no string")
    return replace(
        due,
        access_token=token,
        refresh_token=again or due.refresh_token,
        expires_at=None if life is None else time.time() + life,
        scopes=due.scopes if scope is None else frozenset(scope.split()),
    )
