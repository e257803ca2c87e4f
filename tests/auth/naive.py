"""Authorization as most tutorials write it. Every row of "Authorization" must fail on these."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
import time
from urllib.parse import parse_qs, urlencode, urlsplit

from mcp_bare import jsonrpc
from mcp_bare.errors import Refused

# --- the header ---


def challenge(header):
    """`name="value"` wherever it stands."""
    found = {}
    for part in header.removeprefix("Bearer ").split(","):
        name, _, value = part.strip().partition("=")
        found.setdefault(name, value.strip('"'))
    return found


# --- names ---


def resource_metadata_url(resource):
    """Appended, as everything else is."""
    return resource.rstrip("/") + "/.well-known/oauth-protected-resource"


def canonical(resource):
    """Parsed and printed, with the slash that URL classes add."""
    parts = urlsplit(resource)
    return f"{parts.scheme}://{parts.netloc}{parts.path or '/'}"


# --- tokens ---


def verify(token, key):
    """The header says which algorithm, the signature is compared as text."""
    head, body, signature = token.split(".")
    header = json.loads(base64.urlsafe_b64decode(head + "==="))
    claims = json.loads(base64.urlsafe_b64decode(body + "==="))
    if header["alg"] == "none":
        return claims
    digest = hmac.new(key, f"{head}.{body}".encode(), hashlib.sha256).digest()
    expected = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    if not hmac.compare_digest(expected, signature):
        raise PermissionError("bad signature")
    return claims


class Guard:
    """Audience, issuer tidied, an expiry if there is one; whatever else is raised is a 500."""

    def __init__(self, resource, issuer, verify):
        self.resource, self.issuer, self.verify = canonical(resource), issuer, verify

    def admit(self, authorization, message):
        if authorization is None:
            raise Refused(401, {"WWW-Authenticate": "Bearer"}, b"")
        try:
            claims = self.verify(authorization.split()[1])
            if claims["iss"].rstrip("/") != self.issuer.rstrip("/"):
                raise PermissionError("issuer")
            if canonical(claims["aud"]) != self.resource:
                raise PermissionError("audience")
            if claims.get("exp") and claims["exp"] < time.time():
                raise PermissionError("expired")
            if claims.get("iat", 0) > time.time():
                raise PermissionError("not yet")
        except PermissionError:
            raise Refused(401, {"WWW-Authenticate": "Bearer"}, b"") from None
        except Exception:
            raise Refused(500, {}, b"") from None
        scope = (message.get("params") or {}).get("name", "").replace("_it", "")
        if f"it:{scope}" not in claims["scope"].split():
            raise Refused(403, {"WWW-Authenticate": "Bearer error=insufficient_scope"}, b"")
        return claims["sub"]


# --- the client ---


class Authorizer:
    """Follows whatever it is told, asks for what the last challenge named, and never gives up."""

    def __init__(self, server, authorize, redirect_uri, fetch):
        self.server, self.authorize = server, authorize
        self.redirect_uri, self.fetch = redirect_uri, fetch
        self.client, self.token = None, None

    def header(self):
        return self.token and f"Bearer {self.token}"

    def refused(self, status, challenges):
        if status not in (401, 403):
            return False
        named = challenge(challenges[0]) if challenges else {}
        url = resource_metadata_url(self.server)
        resource = self.get(named.get("resource_metadata", url))
        issuer = resource["authorization_servers"][0]
        server = self.get(f"{issuer}/.well-known/oauth-authorization-server")
        assert server["issuer"].rstrip("/") == issuer.rstrip("/")
        if self.client is None:
            self.client = self.post(
                server["registration_endpoint"],
                jsonrpc.dumps(
                    {
                        "redirect_uris": [self.redirect_uri],
                        "token_endpoint_auth_method": "client_secret_post",
                        "application_type": "native",
                    }
                ),
            )
        self.token = self.flow(server, named.get("scope", ""))
        return True

    def flow(self, server, scope):
        verifier = secrets.token_urlsafe(32)
        query = {
            "response_type": "code",
            "client_id": self.client["client_id"],
            "redirect_uri": self.redirect_uri,
            "scope": scope,
            "resource": canonical(self.server),
        }
        if "S256" in server.get("code_challenge_methods_supported", ["S256"]):
            digest = hashlib.sha256(verifier.encode()).digest()
            query["code_challenge"] = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            query["code_challenge_method"] = "S256"
        answer = self.authorize(f"{server['authorization_endpoint']}?{urlencode(query)}")
        form = {
            "grant_type": "authorization_code",
            "code": parse_qs(urlsplit(answer).query)["code"][0],
            "redirect_uri": self.redirect_uri,
            "client_id": self.client["client_id"],
            "client_secret": self.client["client_secret"],
            "code_verifier": verifier,
        }
        return self.post(server["token_endpoint"], urlencode(form).encode())["access_token"]

    def get(self, url):
        return json.loads(self.fetch("GET", url, {}, None)[2])

    def post(self, url, body):
        status, _, answer = self.fetch("POST", url, {}, body)
        assert status in (200, 201), (status, re.sub(rb"secret", b"s", answer))
        return json.loads(answer)
