"""Sealed `requestState`: what the server wants to find again, in a form nobody else can write.

`requestState` travels through the client, so the server must treat what comes back as written by
an attacker. A seal is an HMAC over the payload and over what it is bound to: who it was given to,
which call it belongs to, and until when. The payload can be read by anyone (it is not encrypted),
and it can be used more than once until it expires: a thing that may happen only once must be
remembered by the server.

    seal = Seal(key)
    token = seal.close({"title": "Dentist"}, call)      # "v1.eyJ0aXRsZSI6...fQ.Xq3..."
    seal.open(token, call)                              # {"title": "Dentist"}, or StateRejected

Spec: basic/patterns/mrtr, "Server Requirements".
"""

from __future__ import annotations

import binascii
import hashlib
import hmac
import json
import time
from typing import TYPE_CHECKING, Any

from mcp_bare.errors import StateRejected

if TYPE_CHECKING:
    from mcp_bare.call import Call
    from mcp_bare.revision import JsonObject

VERSION = "v1"
MIN_KEY_BYTES = 16
_UNBOUND = ("_meta", "inputResponses", "requestState")


class Seal:
    """Closes and opens states with one key, shared by every process of the server."""

    def __init__(self, key: bytes, ttl_s: float = 300.0):
        if len(key) < MIN_KEY_BYTES:
            raise ValueError(f"a key of {len(key)} bytes; at least {MIN_KEY_BYTES} are due")
        self._key, self._ttl = key, ttl_s

    def close(self, payload: JsonObject, call: Call, now: float | None = None) -> str:
        """The payload as a token that only this call of this caller can use, for `ttl_s`."""
        expires = int((time.time() if now is None else now) + self._ttl)
        body = _encode(json.dumps([expires, payload], separators=(",", ":")).encode())
        return f"{VERSION}.{body}.{self._mac(body, call)}"

    def open(self, token: str, call: Call, now: float | None = None) -> JsonObject:
        """The payload. Raises StateRejected, which tells the client nothing but "invalid"."""
        parts = token.split(".")
        if len(parts) != 3 or parts[0] != VERSION:
            raise StateRejected("not one of our tokens")
        _, body, mac = parts
        # Bytes are compared, not strings: compare_digest refuses a non-ASCII string.
        if not hmac.compare_digest(self._mac(body, call).encode(), mac.encode("utf-8", "replace")):
            raise StateRejected("the seal does not fit this token, caller and call")
        expires, payload = json.loads(_decode(body))
        if (time.time() if now is None else now) >= expires:
            raise StateRejected("expired")
        return dict(payload)

    def _mac(self, body: str, call: Call) -> str:
        bound = json.dumps(
            [VERSION, body, call.caller.principal, call.method, _salient(call.params)],
            sort_keys=True,
        )
        return _encode(hmac.new(self._key, bound.encode(), hashlib.sha256).digest())


def peek(token: str) -> Any:
    """What is inside an unsealed Base64 token: for lessons, and for nothing else."""
    return json.loads(binascii.a2b_base64(token))


def _salient(params: JsonObject) -> JsonObject:
    """The parameters that make a call this call: not its metadata, not what a retry adds."""
    return {name: value for name, value in params.items() if name not in _UNBOUND}


def _encode(data: bytes) -> str:
    text = binascii.b2a_base64(data, newline=False).decode()
    return text.replace("+", "-").replace("/", "_").rstrip("=")


def _decode(text: str) -> bytes:
    padded = text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4)
    return binascii.a2b_base64(padded)
