"""A small authorization server: enough for the whole flow, and for every way to get it wrong.

    with serve(user="ana") as server:                   # http://127.0.0.1:PORT, in a thread
        guard = Guard(resource, [server.issuer], server.verify)

    AuthorizationServer("https://as.example").answer("GET", url, {}, None)    # no socket at all

`answer` is the whole server, and a fetch of the toolkit's kind. `user` agrees to everything; with
`user=None` a page asks the person. `misbehave` takes names of MISBEHAVIOURS. Everything is
forgotten when the process ends.

Run as a script, it prints its issuer and serves until it is stopped:

    python toy_servers/authorization_server.py [--port N] [--user NAME] [misbehaviour ...]

Not for production: no login, no TLS, no rate limit, one key.
Spec: basic/authorization; RFC 6749, 7591, 7636, 8414, 8707, 9207; OpenID Connect Discovery.
"""

import contextlib
import hashlib
import html
import json
import secrets
import sys
import threading
import time
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlencode, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script, from anywhere

from mcp_bare import jsonrpc
from mcp_bare.auth import metadata, tokens
from mcp_bare.auth.errors import AuthError
from toy_servers.authorization_clients import METHODS, Clients, Refusal, equal, pairs, same_redirect

ELSEWHERE = "https://attacker.example"
MISBEHAVIOURS = {
    # what the metadata says
    "wrong-issuer": "the metadata names another issuer",
    "slash-issuer": "the metadata names this issuer with a slash at its end",
    "no-pkce": "the metadata says nothing of PKCE, and no proof is asked for",
    "plain-pkce": "the metadata offers PKCE with the method plain only",
    "openid-only": "no RFC 8414 document, only the OpenID one (allowed; clients must cope)",
    "appended-only": "the OpenID document only where its path is appended (allowed)",
    "html-metadata": "every metadata URL answers 200 with a web page",
    "file-endpoint": "the authorization endpoint is a file: URL, for the browser to open",
    "foreign-endpoint": "the token endpoint is at another server, in plain HTTP",
    # what comes back with the browser
    "no-iss": "iss is promised in the metadata and missing in the answer",
    "foreign-iss": "iss in the answer is another server's",
    "slash-iss": "iss in the answer has a slash at its end",
    "unannounced-iss": "a foreign iss, and the metadata does not speak of it",
    "foreign-state": "the answer belongs to another request",
    "denies": "the person says no",
    # what the token endpoint gives
    "wrong-audience": "the token is for another server",
    "ignores-resource": "the resource parameter is ignored: the token is for nobody in particular",
    "no-expiry": "the token never expires",
    "zero-expiry": "the token's exp is 0",
    "expired": "the token expired an hour ago",
    "wrong-token-issuer": "the token says that somebody else issued it",
    "unsigned": "the token's algorithm is none",
    "unknown-key": "the token is signed with a key that nobody else knows",
    "fewer-scopes": "only the first scope is ever granted",
    "token-type-mac": "the token is not a bearer token",
    "forwards-token-request": "the token endpoint redirects to another server",
    "no-rotation": "refresh tokens stay as they are (allowed for clients with a secret)",
    "no-refresh": "no refresh token is given (allowed)",
    # what registration says
    "web-only": "registration wants https redirects, as OpenID allows for web applications",
}
CODE_LIFE_S = 60.0


@dataclass(frozen=True)
class Grant:
    """What a person agreed to; a code or a refresh token stands for it."""

    client_id: str
    redirect_uri: str
    challenge: str | None
    resource: str | None
    scope: str
    user: str
    family: str
    expires: float
    used: bool = False


class AuthorizationServer:
    """The whole server without a socket. `seen` lists what was asked: ("POST", "/token")."""

    def __init__(
        self,
        issuer,
        *,
        user="ana",
        misbehave=(),
        scopes=None,
        resources=None,
        clients=(),
        documents=None,
        methods=METHODS,
        registers=True,
        token_ttl_s=300.0,
        key=None,
        sign=None,
        jwks=None,
        clock=time.time,
    ):
        """`scopes` and `resources` that it knows (None: any); `clients` registered by hand;
        `documents` {client id URL: document}, which stand for the web; `sign(claims) -> token` and
        `jwks` in place of the HMAC key.
        """
        misbehave = {misbehave} if isinstance(misbehave, str) else set(misbehave)
        unknown = misbehave - set(MISBEHAVIOURS)
        if unknown:
            raise ValueError(f"{sorted(unknown)} are no misbehaviours: {sorted(MISBEHAVIOURS)}")
        self.issuer, self.user, self.misbehave = issuer, user, misbehave
        self.scopes, self.resources = scopes, resources
        self.token_ttl_s, self.jwks, self.clock = token_ttl_s, jwks, clock
        self.kid, self.key = "toy-1", key or secrets.token_bytes(32)
        self.sign = sign or (lambda claims: tokens.sign(claims, self.key, self.kid))
        self.verify = tokens.HmacVerifier({self.kid: self.key}).verify
        web_only = "web-only" in misbehave
        self.clients = Clients(clients, documents or {}, methods, registers, web_only)
        self.seen = []
        self._codes, self._refresh, self._tickets = {}, {}, {}
        self._ended = set()  # families of tokens that were stolen, as far as one can tell
        self._lock = threading.Lock()

    # --- one request, one response ---

    def answer(self, method, url, headers, body=None):
        """(status, headers, body): a fetch that never leaves this object."""
        parts = urlsplit(url)
        base = urlsplit(self.issuer).path.removesuffix("/")
        self.seen.append((method, parts.path))
        if method == "GET" and parts.path in self._metadata_paths():
            if "html-metadata" in self.misbehave:
                return 200, {"content-type": "text/html"}, b"<!doctype html><title>Hello</title>"
            return _json(200, self.metadata())
        routes = {
            ("GET", f"{base}/authorize"): lambda: self._authorize(parts.query),
            ("POST", f"{base}/authorize"): lambda: self._decide(_form(body)),
            ("POST", f"{base}/token"): lambda: self._token(_form(body), headers),
            ("POST", f"{base}/register"): lambda: _json(201, self.clients.register(body)),
            ("GET", f"{base}/jwks"): lambda: _json(200, self.jwks or {"keys": []}),
        }
        route = routes.get((method, parts.path))
        if route is None:
            return 404, {}, b""
        try:
            with self._lock:
                return route()
        except Refusal as no:
            told = {"error": no.error, "error_description": no.description}
            status, found, answer = _json(no.status, told)
            basic = {"www-authenticate": 'Basic realm="token"'} if no.status == 401 else {}
            return status, {**found, **basic}, answer

    def _metadata_paths(self):
        places = [urlsplit(url).path for url in metadata.issuer_metadata_urls(self.issuer)]
        if "appended-only" in self.misbehave:
            return places[-1:]
        return places[1:] if "openid-only" in self.misbehave else places

    def metadata(self):
        """The document of RFC 8414, which does for OpenID Connect Discovery as well."""
        bad, base = self.misbehave, self.issuer.removesuffix("/")
        found = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{base}/authorize",
            "token_endpoint": f"{base}/token",
            "registration_endpoint": f"{base}/register",
            "jwks_uri": f"{base}/jwks",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": list(self.clients.methods),
            "authorization_response_iss_parameter_supported": True,
            "client_id_metadata_document_supported": True,
        }
        if not self.clients.registers:
            del found["registration_endpoint"]
        if self.scopes is not None:
            found["scopes_supported"] = list(self.scopes)
        if "wrong-issuer" in bad:
            found["issuer"] = ELSEWHERE
        if "slash-issuer" in bad:
            found["issuer"] = f"{self.issuer}/"
        if "no-pkce" in bad:
            del found["code_challenge_methods_supported"]
        if "plain-pkce" in bad:
            found["code_challenge_methods_supported"] = ["plain"]
        if "file-endpoint" in bad:
            found["authorization_endpoint"] = "file:///usr/bin/xcalc"
        if "foreign-endpoint" in bad:
            found["token_endpoint"] = "http://attacker.example/token"
        if "unannounced-iss" in bad:
            del found["authorization_response_iss_parameter_supported"]
        return found

    # --- the person agrees ---

    def _authorize(self, query):
        """An unknown client or redirect is told to the person: never redirect to a stranger."""
        asked = pairs(query)
        client = self.clients.find(asked.get("client_id", ""))
        redirect_uri = asked.get("redirect_uri", "")
        if not any(same_redirect(known, redirect_uri) for known in client.redirect_uris):
            raise Refusal("invalid_request", "this redirect_uri is not registered")
        try:
            grant = self._asked_for(asked, client)
        except Refusal as no:
            told = {"error": no.error, "error_description": no.description}
            return self._back(redirect_uri, asked, told)
        if self.user is None:
            ticket = secrets.token_urlsafe(16)
            self._tickets[ticket] = (grant, asked)
            return 200, _PAGE_HEADERS, _page(client, grant, ticket)
        return self._decided(replace(grant, user=self.user), asked, "denies" not in self.misbehave)

    def _asked_for(self, asked, client):
        """The grant that a request asks for. Raises Refusal."""
        if asked.get("response_type") != "code":
            raise Refusal("unsupported_response_type", "response_type=code is due")
        challenge = asked.get("code_challenge")
        lax = self.misbehave & {"no-pkce", "plain-pkce"}
        if not lax and (challenge is None or asked.get("code_challenge_method") != "S256"):
            raise Refusal("invalid_request", "code_challenge and its method S256 are due")
        resource = asked.get("resource")
        self._check_resource(resource)
        scope = asked.get("scope", "").split()
        unknown = [] if self.scopes is None else [s for s in scope if s not in self.scopes]
        if unknown:
            raise Refusal("invalid_scope", f"unknown: {' '.join(unknown)}")
        if "fewer-scopes" in self.misbehave:
            scope = scope[:1]
        ends = self.clock() + CODE_LIFE_S
        return Grant(client.client_id, asked["redirect_uri"], challenge, resource,
                     " ".join(scope), "", secrets.token_hex(8), ends)  # fmt: skip

    def _check_resource(self, resource):
        """RFC 8707: an absolute URI without a fragment, and one of those we know."""
        if resource is None:
            return
        try:
            metadata.split(resource)
        except AuthError:
            raise Refusal("invalid_target", "resource is no absolute URI") from None
        if self.resources is not None and resource not in self.resources:
            raise Refusal("invalid_target", f"{resource!r} is none of {list(self.resources)}")

    def _decide(self, form):
        """The page's button. A ticket is good for one answer."""
        grant, asked = self._tickets.pop(form.get("ticket", ""), (None, None))
        if grant is None:
            raise Refusal("invalid_request", "this page has expired")
        user = form.get("user", "").strip() or "ana"
        return self._decided(replace(grant, user=user), asked, form.get("decision") == "allow")

    def _decided(self, grant, asked, agreed):
        if not agreed:
            told = {"error": "access_denied", "error_description": "the person said no"}
            return self._back(grant.redirect_uri, asked, told)
        code = secrets.token_urlsafe(24)
        self._codes[code] = grant
        return self._back(grant.redirect_uri, asked, {"code": code})

    def _back(self, redirect_uri, asked, params):
        """Send the browser back, with the request's state and our name (RFC 9207)."""
        if "state" in asked:
            foreign = "foreign-state" in self.misbehave
            params["state"] = "of-another-request" if foreign else asked["state"]
        iss = {"slash-iss": f"{self.issuer}/", "foreign-iss": ELSEWHERE, "no-iss": None,
               "unannounced-iss": ELSEWHERE}  # fmt: skip
        named = [iss[each] for each in iss if each in self.misbehave] or [self.issuer]
        if named[0] is not None:
            params["iss"] = named[0]
        joint = "&" if "?" in redirect_uri else "?"
        location = f"{redirect_uri}{joint}{urlencode(params)}"
        return 302, {"location": location, "cache-control": "no-store"}, b""

    # --- the token ---

    def _token(self, form, headers):
        if "forwards-token-request" in self.misbehave:
            return 307, {"location": f"{ELSEWHERE}/token"}, b""
        client = self.clients.authenticate(form, headers)
        kind = form.get("grant_type")
        if kind == "authorization_code":
            grant = self._redeem(form, client)
        elif kind == "refresh_token":
            grant = self._renew(form, client)
        else:
            raise Refusal("unsupported_grant_type", f"{kind!r} is not served")
        if grant.resource is not None and form.get("resource", grant.resource) != grant.resource:
            raise Refusal("invalid_target", "another resource than the person agreed to")
        return self._issue(grant, client, form)

    def _redeem(self, form, client):
        """A code is good once, for a minute, for whoever can show the verifier."""
        grant = self._codes.get(form.get("code", ""))
        if grant is None or grant.client_id != client.client_id:
            raise Refusal("invalid_grant", "unknown code")
        self._check_unused(grant, "code")
        if grant.expires <= self.clock():
            raise Refusal("invalid_grant", "the code has expired")
        if grant.redirect_uri != form.get("redirect_uri"):
            raise Refusal("invalid_grant", "another redirect_uri than in the request")
        if grant.challenge is not None and "plain-pkce" not in self.misbehave:
            digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            if not equal(tokens.encode(digest), grant.challenge):
                raise Refusal("invalid_grant", "the code_verifier does not fit")
        self._codes[form["code"]] = replace(grant, used=True)
        return grant

    def _renew(self, form, client):
        """Rotation: each refresh token is good once."""
        given = form.get("refresh_token", "")
        grant = self._refresh.get(given)
        if grant is None or grant.client_id != client.client_id:
            raise Refusal("invalid_grant", "unknown refresh token")
        self._check_unused(grant, "refresh token")
        if "no-rotation" not in self.misbehave:
            self._refresh[given] = replace(grant, used=True)
        return grant

    def _check_unused(self, grant, what):
        """What comes a second time was stolen before or is stolen now: the family ends."""
        if grant.used:
            self._ended.add(grant.family)
        if grant.family in self._ended:
            raise Refusal("invalid_grant", f"this {what} was used before")

    def _issue(self, grant, client, form):
        access = {
            "access_token": self.token(grant.user, grant.resource, grant.scope, client.client_id),
            "token_type": "MAC" if "token-type-mac" in self.misbehave else "Bearer",
            "expires_in": int(self.token_ttl_s),
            "scope": grant.scope,
        }
        if "no-rotation" in self.misbehave and "refresh_token" in form:
            access["refresh_token"] = form["refresh_token"]
        elif "no-refresh" not in self.misbehave:
            access["refresh_token"] = secrets.token_urlsafe(24)
            self._refresh[access["refresh_token"]] = grant
        return _json(200, access)

    def token(self, user, resource, scope="", client_id="by-hand", **changed):
        """An access token, also outside any flow: token("ana", resource, "incidents:read").

        `changed` replaces claims; a claim that is None is left out.
        """
        now, bad = int(self.clock()), self.misbehave
        claims = {
            "iss": ELSEWHERE if "wrong-token-issuer" in bad else self.issuer,
            "sub": user,
            "aud": resource or self.issuer,
            "client_id": client_id,
            "scope": scope,
            "iat": now,
            "exp": now + int(self.token_ttl_s),
            "jti": secrets.token_hex(8),
        }
        if "wrong-audience" in bad:
            claims["aud"] = "https://other.example/mcp"
        if "ignores-resource" in bad:
            claims["aud"] = self.issuer
        if "zero-expiry" in bad:
            claims["exp"] = 0
        if "expired" in bad:
            claims["exp"] = now - 3600
        if "no-expiry" in bad:
            del claims["exp"]
        claims = {k: v for k, v in {**claims, **changed}.items() if v is not None}
        if "unsigned" in bad:
            header = jsonrpc.dumps({"alg": "none", "kid": self.kid})
            return f"{tokens.encode(header)}.{tokens.encode(jsonrpc.dumps(claims))}."
        if "unknown-key" in bad:
            return tokens.sign(claims, secrets.token_bytes(32), self.kid)
        return self.sign(claims)


def _form(body):
    return pairs((body or b"").decode("utf-8", "replace"))


def _json(status, value):
    headers = {"content-type": "application/json", "cache-control": "no-store"}
    return status, headers, json.dumps(value).encode()


_PAGE_HEADERS = {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}


def _page(client, grant, ticket):
    """What the person agrees to. MUST show the host that the answer goes to."""
    shown = {
        "Program": client.name or client.client_id,
        "wants to use": grant.resource or "(it does not say)",
        "for": grant.scope or "(nothing in particular)",
        "and is answered at": urlsplit(grant.redirect_uri).netloc,
    }
    rows = "".join(f"<dt>{html.escape(k)}<dd>{html.escape(v)}" for k, v in shown.items())
    return (
        "<!doctype html><meta charset=utf-8><title>A program asks</title>"
        f"<h1>A program asks</h1><dl>{rows}</dl><form method=post action=authorize>"
        f'<input type=hidden name=ticket value="{ticket}">'
        "<label>You are <input name=user value=ana></label> "
        "<button name=decision value=allow>Allow</button> "
        "<button name=decision value=deny>Deny</button></form>"
    ).encode()


# --- over HTTP ---


@contextlib.contextmanager
def serve(port=0, path="", **options):
    """The server on 127.0.0.1 for as long as the block lasts; `path` makes a tenant of it."""
    http = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
    http.daemon_threads = False
    issuer = f"http://127.0.0.1:{http.server_port}{path}"
    http.toy = AuthorizationServer(issuer, **options)
    thread = threading.Thread(target=http.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield http.toy
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    timeout = 5.0
    max_body = 65_536

    def do_GET(self):
        self._serve()

    def do_POST(self):
        self._serve()

    def _serve(self):
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > self.max_body:
            self.send_error(413)
            return
        url = f"http://127.0.0.1:{self.server.server_port}{self.path}"
        body = self.rfile.read(int(length))
        status, headers, answer = self.server.toy.answer(
            self.command, url, dict(self.headers.items()), body
        )
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(answer))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format, *args):
        """Nothing: a request line may hold a code."""


def main(words):
    """Serve until the end of standard input or Ctrl-C."""
    options = {"misbehave": []}
    words = iter(words)
    for word in words:
        if word in ("--port", "--user"):
            options[word[2:]] = next(words)
        else:
            options["misbehave"].append(word)
    options["port"] = int(options.get("port", 0))
    with contextlib.suppress(KeyboardInterrupt), serve(**options) as server:
        print(server.issuer, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1:])
