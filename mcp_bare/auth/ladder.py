"""A token's claims, rung by rung: issuer, audience, expiry, not-before, subject; then its scopes.

The signature has been checked before; the scopes are compared afterwards, with what the request
needs. The order matters: what a rung shows of a claim, it shows once the signature stands, so the
words are an authorization server's and not an attacker's. An expired token without the scope is
expired (401), not short of a scope (403).

    climb(claims, "https://h/mcp", {"https://as"}, now=1_000.0)   # nothing, or InvalidToken

Does not handle: signatures (tokens), statuses and headers (guard).

Spec: basic/authorization ("Token Handling"), security-considerations ("Access Token Privilege
Restriction"); RFC 8707, section 2; RFC 7519, section 4.1; RFC 9068.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcp_bare.auth import metadata
from mcp_bare.auth.errors import BadUri, InvalidToken

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

    from mcp_bare.revision import JsonObject

RUNGS = ("signature", "issuer", "audience", "expiry", "not-before", "subject", "scope")
LEEWAY_S = 10.0  # two clocks never agree
MAX_TIME = 1e12  # the year 33658; what is larger is in milliseconds, or hostile


def climb(
    claims: JsonObject,
    resource: str,
    issuers: Collection[str],
    now: float,
    leeway_s: float = LEEWAY_S,
) -> None:
    """Check every claim but the scopes, in order. Raises InvalidToken, with its `rung`."""
    check_issuer(claims.get("iss"), issuers)
    check_audience(claims.get("aud"), resource)
    check_expiry(claims.get("exp"), now, leeway_s)
    for name in ("nbf", "iat"):
        check_begin(name, claims.get(name), now, leeway_s)
    subject = claims.get("sub")
    if not isinstance(subject, str) or not subject:
        raise InvalidToken(f"The token has {show(subject)} for a subject", "subject")


def check_issuer(issuer: Any, issuers: Collection[str]) -> None:
    """The identical string: "https://as/" is not "https://as"."""
    if not isinstance(issuer, str) or issuer not in issuers:
        due = " or ".join(show(each) for each in sorted(issuers))
        raise InvalidToken(f"The token was issued by {show(issuer)}, not by {due}", "issuer")


def check_audience(audience: Any, resource: str) -> None:
    """One of the audiences is this server; scheme and host in capitals will do."""
    named = audience if isinstance(audience, list) else [audience]
    if not any(_same(each, resource) for each in named):
        told = " and ".join(show(each) for each in named[:3]) or "nobody"
        raise InvalidToken(f"The token is for {told}, not for {show(resource)}", "audience")


def check_expiry(expires: Any, now: float, leeway_s: float) -> None:
    """`exp` is required: a token without it would be good for ever."""
    if expires is None:
        raise InvalidToken("The token has no expiration time", "expiry")
    if not is_time(expires) or expires <= 0:
        raise InvalidToken(f"The token's expiration time is {show(expires)}", "expiry")
    if now >= expires + leeway_s:
        raise InvalidToken("The token has expired", "expiry")


def check_begin(name: str, begins: Any, now: float, leeway_s: float) -> None:
    """`nbf` and `iat` may be absent, and a few seconds ahead of our clock."""
    if begins is None:
        return
    if not is_time(begins):
        raise InvalidToken(f"The token's {name} is {show(begins)}", "not-before")
    if begins > now + leeway_s:
        raise InvalidToken(f"The token is not valid yet ({name})", "not-before")


def granted(claims: JsonObject, implies: Mapping[str, Iterable[str]] | None = None) -> set[str]:
    """The scopes of a token, and all that they imply.

    granted({"scope": "write"}, {"write": ["read"]}) -> {"write", "read"}. MUST account for scope
    hierarchies. Raises InvalidToken where `scope` is not a string.
    """
    scope = claims.get("scope", "")
    if not isinstance(scope, str):
        raise InvalidToken(f"The token's scope is {show(scope)}", "scope")
    found: set[str] = set()
    waiting = scope.split()
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting.extend((implies or {}).get(each, ()))
    return found


def is_time(value: Any) -> bool:
    """A finite number of seconds; True is not one, and neither is "1700000000"."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and abs(value) < MAX_TIME  # never true of NaN


def show(value: Any, size: int = 80) -> str:
    """A claim in words that may stand in a header (RFC 6750: no quotes, nothing but ASCII)."""
    text = value if isinstance(value, str) else "nothing" if value is None else repr(value)
    safe = re.sub(r"[^ !#-\[\]-~]", "?", text)
    return safe if len(safe) <= size else safe[:size] + "..."


def _same(audience: Any, resource: str) -> bool:
    try:
        return metadata.canonical(audience) == resource
    except BadUri:
        return False
