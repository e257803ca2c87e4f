"""What can go wrong with authorization, on either end.

    AuthError
    ├── BadChallenge         a WWW-Authenticate header that is none
    ├── BadUri               a resource, issuer or endpoint that may not be used as one
    ├── InvalidToken         the one error of a verifier; `rung` names the step that failed
    └── AuthorizationFailed  the client cannot get a token; retrying will not help
        ├── FetchFailed         a request got no usable answer
        ├── DiscoveryFailed     nobody says which authorization server, or with what
        ├── IssuerMismatch      one issuer was expected, another one speaks
        ├── NoPkce              the authorization server does not do S256
        ├── RegistrationFailed  no client id to be had
        ├── OAuthError          the authorization server said no, in its own words
        └── StillRefused        a token was obtained, and the MCP server refuses it

No message holds a token, a code, a secret or a verifier.
"""

from __future__ import annotations

from mcp_bare.errors import McpError
from mcp_bare.jsonrpc import brief


class AuthError(McpError):
    """The root of what authorization raises."""


class BadChallenge(AuthError):
    """A WWW-Authenticate field that does not follow RFC 9110, section 11."""


class BadUri(AuthError):
    """A string that may not be used as the URI it is meant to be."""


class InvalidToken(AuthError):
    """The token is not good for this server. The text may be shown to whoever sent it."""

    def __init__(self, reason: str, rung: str = "signature"):
        super().__init__(reason)
        self.rung = rung


class AuthorizationFailed(AuthError):
    """The client has no way to a token that the server would take."""


class FetchFailed(AuthorizationFailed):
    """A URL that must not be asked, or that gave no usable answer."""


class DiscoveryFailed(AuthorizationFailed):
    """Metadata that is missing, malformed or about somebody else."""


class IssuerMismatch(AuthorizationFailed):
    """Two issuers that had to be the identical string and are not; both are shown."""

    def __init__(self, where: str, expected: str, arrived: object):
        super().__init__(
            f"{where}: the issuer is {brief(arrived, 200)}, and {brief(expected, 200)} is due; "
            "they are compared as they stand, with nothing tidied"
        )
        self.expected, self.arrived = expected, arrived


class NoPkce(AuthorizationFailed):
    """The authorization server does not say that it supports PKCE with S256."""


class RegistrationFailed(AuthorizationFailed):
    """This client has no credentials for that issuer, and cannot get any."""


class OAuthError(AuthorizationFailed):
    """An error response of an authorization server: its `error` code, and what it adds to it."""

    def __init__(self, where: str, error: str, description: object = None):
        told = f": {brief(description, 200)}" if isinstance(description, str) else ""
        super().__init__(f"{where} answered {brief(error)}{told}")
        self.error, self.description = error, description


class StillRefused(AuthorizationFailed):
    """The MCP server refuses what its own authorization server has just issued."""
