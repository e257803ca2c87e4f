"""The client says who it is at the token endpoint: not at all, in the header, or in the form.

A secret is sent to the issuer that gave it and to no other: whoever sends it names the issuer
again, and the two must be the same.

Does not handle: private_key_jwt.

Spec: client-registration ("Authorization Server Binding"); RFC 6749, section 2.3.1.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING
from urllib.parse import quote_plus

from mcp_bare.auth.errors import IssuerMismatch

if TYPE_CHECKING:
    from mcp_bare.auth.registration import Registration
    from mcp_bare.revision import JsonObject

METHODS = ("none", "client_secret_basic", "client_secret_post")


def authenticate(registration: Registration, server: JsonObject) -> tuple[JsonObject, JsonObject]:
    """(form fields, headers) that prove who we are to the token endpoint of this issuer.

    client_secret_basic form-encodes both halves before it joins them: "a:b" -> "a%3Ab".
    Raises IssuerMismatch where the credentials are another issuer's.
    """
    if registration.issuer != server["issuer"]:
        raise IssuerMismatch("client credentials", registration.issuer, server["issuer"])
    name, secret = registration.client_id, registration.client_secret
    method = registration.method or preferred(server, secret)
    if method == "none" or secret is None:
        return {"client_id": name}, {}
    if method == "client_secret_post":
        return {"client_id": name, "client_secret": secret}, {}
    pair = f"{quote_plus(name)}:{quote_plus(secret)}".encode()
    return {}, {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}


def preferred(server: JsonObject, secret: str | None) -> str:
    """The first method that the issuer supports; where it does not say, Basic (RFC 8414)."""
    supported = server.get("token_endpoint_auth_methods_supported")
    if not isinstance(supported, list):
        supported = ["client_secret_basic"]
    order = METHODS if secret is None else METHODS[1:]
    return next((each for each in order if each in supported), order[0])
