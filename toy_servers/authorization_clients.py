"""The clients of the toy authorization server: who they are, and how they prove it.

Three kinds, as in the specification: registered by hand, described by a document at the URL that is
their id, or registered by themselves.

Spec: client-registration; RFC 6749, section 2.3; RFC 7591; RFC 8252, section 7.3.
"""

import base64
import hmac
import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote_plus, urlsplit

from mcp_bare import jsonrpc
from mcp_bare.auth import metadata
from mcp_bare.auth.fetch import fetch
from mcp_bare.errors import McpError

METHODS = ("none", "client_secret_basic", "client_secret_post")


@dataclass(frozen=True)
class Known:
    """A client as this server knows it."""

    client_id: str
    redirect_uris: tuple
    secret: str | None = field(default=None, repr=False)
    method: str = "none"
    name: str = ""


class Refusal(Exception):
    """An OAuth error response: `error`, a description, a status."""

    def __init__(self, error, description, status=400):
        super().__init__(description)
        self.error, self.description, self.status = error, description, status


class Clients:
    """`known` by id; `documents` {URL: document} stand for the web; `methods` to authenticate."""

    def __init__(self, known, documents, methods, registers, web_only):
        self.known = {each.client_id: each for each in known}
        self.documents, self.methods = documents, methods
        self.registers, self.web_only = registers, web_only

    def find(self, client_id):
        """A client that was registered, or that a document describes."""
        if client_id in self.known:
            return self.known[client_id]
        if client_id.startswith(("https://", "http://")):
            return self._described(client_id)
        raise Refusal("invalid_client", "unknown client_id", 401)

    def _described(self, url):
        """A Client ID Metadata Document. Only loopback is fetched: no errands for strangers."""
        document = self.documents.get(url)
        try:
            if document is None:
                if not metadata.is_local(url):
                    raise Refusal("invalid_client", f"{url} is not on this machine", 401)
                status, _, body = fetch("GET", url, {})
                document = jsonrpc.loads(body) if status == 200 else None
            document = dict(document)
            uris, name = tuple(document["redirect_uris"]), document["client_name"]
        except (McpError, KeyError, TypeError, ValueError):
            raise Refusal("invalid_client", "no sound document at the client_id", 401) from None
        if document.get("client_id") != url:
            told = f"the document is about {document.get('client_id')!r}, not about {url!r}"
            raise Refusal("invalid_client", told, 401)
        if not all(isinstance(each, str) for each in (name, *uris)):
            raise Refusal("invalid_client", "names and redirects are texts", 401)
        return Known(url, uris, None, "none", name)

    def authenticate(self, form, headers):
        """The client, by the one method it registered for. Raises Refusal."""
        given = {name.lower(): value for name, value in headers.items()}.get("authorization")
        name, secret = form.get("client_id"), form.get("client_secret")
        method = "none" if secret is None else "client_secret_post"
        if given is not None:
            method = "client_secret_basic"
            try:
                pair = base64.b64decode(given.removeprefix("Basic "), validate=True).decode()
            except ValueError:
                raise Refusal("invalid_client", "Basic credentials are malformed", 401) from None
            name, _, secret = (unquote_plus(half) for half in pair.partition(":"))
        client = self.find(name or "")
        if method != client.method or method not in self.methods:
            raise Refusal("invalid_client", f"{client.method} is due, {method} came", 401)
        if client.secret is not None and not equal(secret or "", client.secret):
            raise Refusal("invalid_client", "wrong secret", 401)
        return client

    def register(self, body):
        """RFC 7591, deprecated by the MCP specification."""
        try:
            asked = jsonrpc.loads(body or b"")
            uris = tuple(map(str, asked["redirect_uris"]))
        except (McpError, KeyError, TypeError):
            raise Refusal("invalid_client_metadata", "redirect_uris are due") from None
        if not uris:
            raise Refusal("invalid_redirect_uri", "redirect_uris are due")
        if not self.registers:
            raise Refusal("access_denied", "registration is closed", 403)
        web = self.web_only or asked.get("application_type", "web") == "web"
        if web and not all(uri.startswith("https:") for uri in uris):
            raise Refusal("invalid_redirect_uri", "a web application has https redirects")
        method = asked.get("token_endpoint_auth_method", "client_secret_basic")
        if method not in self.methods:
            raise Refusal("invalid_client_metadata", f"{method!r} is not supported")
        secret = None if method == "none" else secrets.token_urlsafe(24)
        name = str(asked.get("client_name", ""))
        client = Known(f"client-{len(self.known) + 1}", uris, secret, method, name)
        self.known[client.client_id] = client
        answer = {**asked, "client_id": client.client_id, "token_endpoint_auth_method": method}
        if secret is not None:
            answer |= {"client_secret": secret, "client_secret_expires_at": 0}
        return answer


def same_redirect(known, asked):
    """The identical string; only the port of a loopback address may differ (RFC 8252, 7.3)."""
    if known == asked:
        return True
    try:
        ours, theirs = urlsplit(known), urlsplit(asked)
        hosts = {ours.hostname, theirs.hostname}
        port = theirs.port
    except ValueError:
        return False
    loopback = len(hosts) == 1 and hosts <= {"127.0.0.1", "::1"} and port is not None
    rest = (ours.scheme, ours.path, ours.query) == (theirs.scheme, theirs.path, theirs.query)
    return loopback and rest and ours.scheme == "http" and not theirs.fragment


def pairs(text):
    """The parameters of a query or a form, none given twice. Raises Refusal."""
    try:
        found = parse_qsl(text, keep_blank_values=True, max_num_fields=64)
    except ValueError:
        raise Refusal("invalid_request", "too many parameters") from None
    if len(dict(found)) != len(found):
        raise Refusal("invalid_request", "a parameter is given twice")
    return dict(found)


def equal(given, due):
    """Are these two the same? In a time that tells nobody how much of them is."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), due.encode())
