"""A token's shape and signature: `header.payload.signature`, as a JWT, signed with HMAC-SHA-256.

A verifier is any function `verify(token) -> claims` that raises InvalidToken. Which algorithm and
which key are ours to choose, never the token's: its header may only agree.

    token = sign({"sub": "ana"}, key, "k1")       # "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsxIn0.eyJz..."
    HmacVerifier({"k1": key}).verify(token)       # {"sub": "ana"}, or InvalidToken

`hooked` makes a verifier of another library's (RS256 and a key set, say).

Does not handle: what the claims say (ladder), encrypted tokens, keys fetched from anywhere.

Spec: RFC 7515; RFC 7519; RFC 8725; basic/authorization ("Token Handling").
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from typing import TYPE_CHECKING

from mcp_bare import jsonrpc
from mcp_bare.auth.errors import InvalidToken
from mcp_bare.errors import RpcError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import TypeAlias

    from mcp_bare.revision import JsonObject

    Verifier: TypeAlias = Callable[[str], JsonObject]

ALGORITHM = "HS256"
MAX_LENGTH = 16_384
MIN_KEY_BYTES = 32  # RFC 7518, section 3.2: as long as the hash
TYPES = (None, "JWT", "at+jwt", "application/at+jwt")  # no ID token, no logout token


def sign(claims: JsonObject, key: bytes, kid: str) -> str:
    """The claims as a signed token: {"sub": "ana"} -> "eyJhbG...eyJzdW...Zm9v..."."""
    header = {"alg": ALGORITHM, "kid": kid, "typ": "at+jwt"}
    signed = f"{encode(jsonrpc.dumps(header))}.{encode(jsonrpc.dumps(claims))}"
    return f"{signed}.{encode(_mac(key, signed))}"


class HmacVerifier:
    """Verifies with keys that it was given: {"k1": key}. Two keys while one replaces the other."""

    def __init__(self, keys: Mapping[str, bytes]):
        for kid, key in keys.items():
            if len(key) < MIN_KEY_BYTES:
                raise ValueError(f"key {kid!r} has {len(key)} bytes; {MIN_KEY_BYTES} are due")
        self._keys = dict(keys)

    def verify(self, token: str) -> JsonObject:
        """The claims. Raises InvalidToken, and nothing else whatever the token is."""
        header, signed, signature = take_apart(token, (ALGORITHM,))
        kid = header.get("kid")
        key = self._keys.get(kid) if isinstance(kid, str) else None
        if key is None:
            raise InvalidToken("The token is signed with a key that this server does not know")
        # Bytes are compared, and in constant time: compare_digest refuses a non-ASCII string.
        if not hmac.compare_digest(_mac(key, signed), signature):
            raise InvalidToken("The token's signature does not fit")
        return _object(signed.partition(".")[2], "payload")

    def __repr__(self) -> str:
        return f"HmacVerifier(kids={sorted(self._keys)})"


def hooked(decode: Callable[[str], object], algorithms: Collection[str]) -> Verifier:
    """A verifier from a library's `decode`: the shape is checked here, the signature there.

    With joserfc and an issuer's key set:
        hooked(lambda token: jwt.decode(token, keys, algorithms=["RS256"]), ["RS256"])

    `decode` must raise for a signature that does not fit. What it returns is not used: the claims
    are the strict reading of the very bytes that it verified.
    """
    if not algorithms or "none" in algorithms:
        raise ValueError(f"algorithms are {algorithms!r}; name those that you trust")

    def verify(token: str) -> JsonObject:
        _, signed, _ = take_apart(token, algorithms)
        claims = _object(signed.partition(".")[2], "payload")
        try:
            decode(token)
        except Exception as trouble:  # a library's error may be of any class
            raise InvalidToken("The token's signature does not fit") from trouble
        return claims

    return verify


def take_apart(token: str, algorithms: Collection[str]) -> tuple[JsonObject, str, bytes]:
    """(header, what was signed, signature) of a token that nobody has verified yet."""
    if not isinstance(token, str) or not token.isascii() or len(token) > MAX_LENGTH:
        raise InvalidToken(f"The token is not ASCII of at most {MAX_LENGTH} characters")
    if token.count(".") != 2:
        raise InvalidToken(f"The token has {token.count('.') + 1} segments; three are due")
    signed, _, signature = token.rpartition(".")
    header = _object(signed.partition(".")[0], "header")
    if header.get("alg") not in tuple(algorithms):
        raise InvalidToken("The token's algorithm is not the one that this server uses")
    if header.get("typ") not in TYPES or "crit" in header:
        raise InvalidToken("The token is of another kind than an access token")
    return header, signed, _decode(signature, "signature")


def encode(data: bytes) -> str:
    """Base64url without padding: b"{}" -> "e30"."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str, what: str) -> bytes:
    """The bytes, if this is the one and only way to write them."""
    if re.fullmatch(r"[A-Za-z0-9_-]*", text):
        try:
            data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except binascii.Error:
            data = b""
        if encode(data) == text:
            return data
    raise InvalidToken(f"The token's {what} is not base64url")


def _object(text: str, what: str) -> JsonObject:
    try:
        value = jsonrpc.loads(_decode(text, what))
    except RpcError:
        raise InvalidToken(f"The token's {what} is not JSON") from None
    if not isinstance(value, dict):
        raise InvalidToken(f"The token's {what} is not a JSON object")
    return value


def _mac(key: bytes, signed: str) -> bytes:
    return hmac.new(key, signed.encode(), hashlib.sha256).digest()
