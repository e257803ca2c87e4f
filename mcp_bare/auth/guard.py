"""The resource server's door: who may send this message, or the refusal with its exact status.

    guard = Guard("https://h/mcp", ["https://as"], HmacVerifier({"k1": key}).verify,
                  per_tool({"search_incidents": ["incidents:read"]}))
    guard.admit("Bearer eyJhbG...", message)    # "ana", the caller's principal
    guard.admit(None, message)                  # raises Refused(401, {"WWW-Authenticate": ...})
    guard.well_known("/.well-known/oauth-protected-resource/mcp")   # the document, as bytes

    400 invalid_request     an Authorization header that is malformed
    401                     no token: where to get one, for which scopes
    401 invalid_token       a token that fails a rung before the last
    403 insufficient_scope  a good token without the scopes; the challenge names all of them

The token goes no further than this: a server MUST NOT pass it on, so what comes out is a name.

Spec: basic/authorization ("Token Handling", "Error Handling"); RFC 6750, section 3; RFC 9728.
"""

from __future__ import annotations

import contextlib
import re
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_bare import jsonrpc
from mcp_bare.auth import ladder, metadata
from mcp_bare.auth.challenge import bearer
from mcp_bare.auth.errors import InvalidToken
from mcp_bare.errors import Refused
from mcp_bare.jsonrpc import brief

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from mcp_bare.auth.tokens import Verifier
    from mcp_bare.revision import JsonObject

    ScopesFor: TypeAlias = Callable[[JsonObject], Collection[str]]

_SCOPE = re.compile(r"[!#-\[\]-~]+")  # RFC 6749, section 3.3


def per_tool(scopes: Mapping[str, Collection[str]], default: Collection[str] = ()) -> ScopesFor:
    """What a call of each tool needs; `default` for every other tool and every other method."""

    def scopes_for(message: JsonObject) -> Collection[str]:
        params = message.get("params")
        name = params.get("name") if isinstance(params, dict) else None
        if message.get("method") != "tools/call" or not isinstance(name, str):
            return default
        return scopes.get(name, default)

    return scopes_for


def nothing(message: JsonObject) -> Collection[str]:
    """No scope is needed: a valid token is enough."""
    return ()


class Guard:
    """Admits or refuses. Holds no state: two threads may ask at once."""

    def __init__(
        self,
        resource: str,
        authorization_servers: Sequence[str],
        verify: Verifier,
        scopes_for: ScopesFor = nothing,
        *,
        issuers: Collection[str] | None = None,
        scopes_supported: Sequence[str] = (),
        implies: Mapping[str, Iterable[str]] | None = None,
        name: str | None = None,
        leeway_s: float = ladder.LEEWAY_S,
        clock: Callable[[], float] = time.time,
        log: Callable[[str], None] | None = None,
    ):
        self.resource = metadata.canonical(metadata.secure(resource))
        self.issuers = frozenset(authorization_servers if issuers is None else issuers)
        self.metadata_url = metadata.resource_metadata_url(self.resource)
        self._document = jsonrpc.dumps(
            metadata.document(self.resource, authorization_servers, scopes_supported, name)
        )
        self._verify, self._scopes_for, self._implies = verify, scopes_for, implies
        self._leeway, self._clock, self._log = leeway_s, clock, log or _to_stderr

    def well_known(self, path: str) -> bytes | None:
        """The metadata document, if `path` (with its query) is where it stands; else None."""
        origin, _, _ = metadata.split(self.resource)
        return self._document if origin + path == self.metadata_url else None

    def admit(self, authorization: str | None, message: JsonObject) -> str:
        """The principal who sent this message. Raises Refused: 400, 401 or 403.

        Where a rung failed, the error's `__cause__.rung` says which one; the wire does not.
        """
        needed = self._needed(message)
        token = self._token(authorization, needed)
        try:
            claims = self._claims(token)
            now = self._clock()
            ladder.climb(claims, self.resource, self.issuers, now, self._leeway)
            scopes = ladder.granted(claims, self._implies)
        except InvalidToken as why:
            raise self._refusal(401, "invalid_token", str(why), needed) from why
        if needed is None:
            raise self._refusal(403, "insufficient_scope", "This message is not served", None)
        if not scopes.issuperset(needed):
            told = f"This needs the scope {' '.join(needed)}"
            raise self._refusal(403, "insufficient_scope", told, needed)
        return self._principal(claims)

    def _needed(self, message: JsonObject) -> list[str] | None:
        """The scopes to ask for, or None where nobody can say: then the door stays shut."""
        try:
            found = self._scopes_for(message)
            scopes = sorted([found] if isinstance(found, str) else found)
            if all(_SCOPE.fullmatch(each) for each in scopes):
                return scopes
            self._log(f"scopes_for returned {brief(scopes)}; the message is refused")
        except Exception as trouble:  # whoever wrote it: a refusal, never a 500
            self._log(f"scopes_for raised {_told(trouble)}; the message is refused")
        return None

    def _token(self, authorization: str | None, needed: list[str] | None) -> str:
        scheme, _, rest = (authorization or "").strip(" \t").partition(" ")
        if scheme.lower() != "bearer":
            raise self._refusal(401, None, None, needed)
        token = rest.strip(" \t")
        if not token or re.search(r"[\s,]", token):
            told = "One Bearer token is due in the Authorization header"
            raise self._refusal(400, "invalid_request", told, needed)
        return token

    def _claims(self, token: str) -> JsonObject:
        """What the verifier says. Whatever it raises is this client's 401, and our log line."""
        try:
            claims = self._verify(token)
        except InvalidToken:
            raise
        except Exception as trouble:
            self._log(f"the verifier raised {_told(trouble)}; the token is refused")
            raise InvalidToken("The token cannot be verified") from None
        if not isinstance(claims, dict):
            self._log(f"the verifier returned {type(claims).__name__}; a dict is due")
            raise InvalidToken("The token cannot be verified")
        return claims

    def _principal(self, claims: JsonObject) -> str:
        """A subject is unique for its issuer only: with several, the issuer is part of the name."""
        subject: str = claims["sub"]
        return subject if len(self.issuers) == 1 else f"{claims['iss']}#{subject}"

    def _refusal(
        self, status: int, error: str | None, description: str | None, needed: list[str] | None
    ) -> Refused:
        """Without a token there is no error to name, only the way in (RFC 6750, section 3.1)."""
        told = description and ladder.show(description, 300)
        challenge = bearer(
            error=error,
            error_description=told,
            scope=" ".join(needed) if needed else None,
            resource_metadata=self.metadata_url,
        )
        headers = {"WWW-Authenticate": str(challenge), "Cache-Control": "no-store"}
        if error is None:
            return Refused(status, headers, b"")
        body = jsonrpc.dumps({"error": error, "error_description": told})
        return Refused(status, {**headers, "Content-Type": "application/json"}, body)


def _told(trouble: Exception) -> str:
    """Where a stranger's code failed; not its text, which may quote the token."""
    frames = traceback.extract_tb(trouble.__traceback__)
    return f"{type(trouble).__name__} at {Path(frames[-1].filename).name}:{frames[-1].lineno}"


def _to_stderr(line: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # a closed stderr is no reason for a 500
        print(f"mcp_bare.auth: {line}", file=sys.stderr, flush=True)
