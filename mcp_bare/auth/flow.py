"""The authorization request and its answer: what goes with the browser, and what comes back.

    pending = begin(server, registration, "https://h/mcp", {"incidents:read"}, redirect_uri)
    answer = authorize(pending.url)                  # the person agrees; the browser comes back
    code = finish(pending, server, answer)           # state, issuer, then error or code
    tokens = exchange(pending, code, server, registration, fetch)        # grants

The issuer was taken from validated metadata before the browser left. `resource` is sent whether or
not the authorization server knows it.

Does not handle: the token endpoint (grants); when to do any of this (authorizer).

Spec: basic/authorization ("Authorization Response Validation", "Resource Parameter
Implementation"); RFC 9207, section 2.4; RFC 6749, section 4.1.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from mcp_bare.auth import pkce
from mcp_bare.auth.errors import AuthorizationFailed, IssuerMismatch, OAuthError
from mcp_bare.jsonrpc import brief

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from mcp_bare.auth.registration import Registration
    from mcp_bare.revision import JsonObject

MAX_FIELDS = 32


@dataclass(frozen=True)
class Pending:
    """One authorization request on its way: all that its answer is compared with."""

    url: str = field(repr=False)
    issuer: str
    resource: str
    scopes: frozenset[str]
    redirect_uri: str
    state: str = field(repr=False)
    proof: pkce.Pkce


def begin(
    server: JsonObject,
    registered: Registration,
    resource: str,
    scopes: Collection[str],
    redirect_uri: str,
) -> Pending:
    """The URL to open, and what to remember until its answer comes. No scopes: none is sent."""
    proof, state = pkce.Pkce.new(), secrets.token_urlsafe(24)
    query = {
        "response_type": "code",
        "client_id": registered.client_id,
        "redirect_uri": redirect_uri,
        "code_challenge": proof.challenge,
        "code_challenge_method": pkce.METHOD,
        "state": state,
        "resource": resource,
    }
    if scopes:
        query["scope"] = " ".join(sorted(scopes))
    endpoint = server["authorization_endpoint"]
    url = f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"
    asked = frozenset(scopes)
    return Pending(url, server["issuer"], resource, asked, redirect_uri, state, proof)


def finish(pending: Pending, server: JsonObject, answer: Any) -> str:
    """The code of an authorization response. Raises, in this order of checks:

    AuthorizationFailed (not our redirect, not our state), IssuerMismatch, OAuthError. Until the
    issuer is known to be right, nothing else of the response is acted on or shown.
    """
    target, _, query = str(answer).partition("#")[0].partition("?")
    if target != pending.redirect_uri:
        raise AuthorizationFailed(
            f"the answer came to {brief(target, 200)}; {pending.redirect_uri!r} is due"
        )
    params = _parameters(query)
    state = params.get("state", "")
    if not hmac.compare_digest(state.encode("utf-8", "replace"), pending.state.encode()):
        raise AuthorizationFailed(
            f"the answer has {'another' if state else 'no'} state; it belongs to no request of ours"
        )
    check_issuer(pending.issuer, params.get("iss"), server)
    if "error" in params:
        where = f"the authorization endpoint of {pending.issuer}"
        raise OAuthError(where, params["error"], params.get("error_description"))
    if not params.get("code"):
        raise AuthorizationFailed(f"{pending.issuer} answered with neither a code nor an error")
    return params["code"]


def check_issuer(expected: str, arrived: str | None, server: JsonObject) -> None:
    """RFC 9207: one that came must be identical; one that was promised must come."""
    promised = server.get("authorization_response_iss_parameter_supported") is True
    if arrived is None and not promised:
        return
    if arrived != expected:
        raise IssuerMismatch("the authorization response", expected, arrived)


def _parameters(query: str) -> dict[str, str]:
    """The parameters of a response, none given twice (RFC 6749, section 3.1)."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:
        raise AuthorizationFailed(f"an answer of more than {MAX_FIELDS} parameters") from None
    found = dict(pairs)
    if len(found) != len(pairs):
        raise AuthorizationFailed("a parameter of the answer is given twice")
    return found
