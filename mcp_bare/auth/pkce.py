"""PKCE, method S256: a secret for this request only, and the hash that can be shown to anyone.

The hash goes with the browser, the secret straight to the token endpoint. Who steals the code on
its way through the browser cannot redeem it.

Spec: security-considerations ("Authorization Code Protection"); RFC 7636.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field

from mcp_bare.auth.tokens import encode

METHOD = "S256"  # "plain" shows the secret itself: MUST use S256 when capable


@dataclass(frozen=True)
class Pkce:
    """A pair: the `verifier`, which repr does not show, and its `challenge`."""

    verifier: str = field(repr=False)

    @classmethod
    def new(cls) -> Pkce:
        """43 characters from 32 random bytes."""
        return cls(secrets.token_urlsafe(32))

    @property
    def challenge(self) -> str:
        """base64url(SHA-256(verifier)), no padding."""
        return encode(hashlib.sha256(self.verifier.encode("ascii")).digest())
