"""The client's face of authorization: a header to send, and what to do when it is refused.

    authorizer = Authorizer("https://h/mcp", authorize, ClientMetadata(redirect_uri))
    while True:
        status, challenges, answer = post(message, authorizer.header())
        if not authorizer.refused(status, challenges):   # raises AuthorizationFailed for good
            break

A 401 means: find the authorization server (again: it may have changed), refresh or ask the person.
A 403 insufficient_scope means: ask for what was asked before and for what is missing now, a few
times at most. A token is for this one server and from its own authorization server, and a refusal
that repeats itself ends in an error that says so.

Does not handle: sending the message; keeping tokens after the program ends.

Spec: basic/authorization ("Scope Selection Strategy", "Step-Up Authorization Flow").
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from mcp_bare.auth import discovery, flow, grants, metadata, registration
from mcp_bare.auth import fetch as fetching
from mcp_bare.auth.challenge import Challenge, find_bearer
from mcp_bare.auth.errors import AuthorizationFailed, OAuthError, StillRefused
from mcp_bare.jsonrpc import brief

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcp_bare.auth.fetch import Fetch
    from mcp_bare.auth.grants import Tokens
    from mcp_bare.auth.registration import ClientMetadata, Registration, Wallet
    from mcp_bare.revision import JsonObject

TRIES = 2  # step-ups for the same scopes: "no more than a few times"
FRESH_S = 60.0  # a token refused within this time, at its first use, was never any good


class Authorizer:
    """One client's authorization at one MCP server. Several threads may share it.

    `authorize(url)` brings the person there and returns the URL to which the browser came back.
    """

    def __init__(
        self,
        server: str,
        authorize: Callable[[str], str],
        client: ClientMetadata,
        *,
        wallet: Wallet | None = None,
        fetch: Fetch = fetching.fetch,
        tries: int = TRIES,
    ):
        self.server = metadata.canonical(metadata.secure(server))
        metadata.secure(client.redirect_uri)  # MUST be loopback or https
        self._authorize, self._client, self._fetch = authorize, client, fetch
        self._wallet = registration.Wallet() if wallet is None else wallet
        self._tries = tries
        self._step_ups: dict[frozenset[str], int] = {}
        self._tokens: Tokens | None = None
        self._issuer: JsonObject = {}  # the metadata of the authorization server in use
        self._fresh: str | None = None  # "asked" or "refreshed", until the token is seen to work
        self._since = 0.0
        self._in_a_row = 0
        self._lock = threading.RLock()
        self._sent: Tokens | None = None  # what any thread sent last, and was not refused
        self._given = threading.local()  # what this thread sent last

    def header(self) -> str | None:
        """The Authorization header to send, "Bearer eyJ...", or None: then a 401 will come.

        Refreshes a token that has expired. Never in a URL: tokens MUST NOT be in the query.
        """
        with self._lock:
            tokens = self._tokens
            if tokens and self._sent is tokens:
                self._fresh, self._in_a_row = None, 0  # sent before, and not refused
            if tokens and tokens.expires_at is not None and tokens.expires_at <= time.time():
                with contextlib.suppress(AuthorizationFailed):
                    self._refresh()
            self._given.tokens = self._sent = self._tokens
            return f"Bearer {self._tokens.access_token}" if self._tokens else None

    def refused(self, status: int, challenges: Sequence[str]) -> bool:
        """Was something done about this refusal? True: there is a new header(), try again.

        `challenges` are the WWW-Authenticate fields of the response. False for what is no matter of
        authorization. Raises AuthorizationFailed where trying again will not help.
        """
        challenge = find_bearer(challenges)
        short = challenge is not None and challenge.params.get("error") == "insufficient_scope"
        if status != 401 and not (status == 403 and short):
            return False
        with self._lock:
            if self._tokens is not self._last():
                return True  # another thread was faster
            self._given.tokens = self._sent = None
            self._in_a_row += 1
            if self._in_a_row > self._tries + 2:
                raise self._still_refused(status, challenge)
            self._answer(status, challenge or Challenge("Bearer"))
            return True

    def _answer(self, status: int, challenge: Challenge) -> None:
        """401: refresh, else ask the person, once. 403: ask, for the union of scopes."""
        just_asked = self._fresh == "asked" and time.monotonic() - self._since < FRESH_S
        if status == 401 and just_asked:
            raise self._still_refused(status, challenge)
        resource = discovery.find_resource(self.server, challenge, self._fetch)
        server = self._choose(resource["authorization_servers"])
        if status == 401 and self._fresh != "refreshed" and self._refresh():
            return
        needed = challenge.scopes or frozenset(resource.get("scopes_supported", ()))
        if status == 403:
            self._step_ups[needed] = self._step_ups.get(needed, 0) + 1
            if not needed or self._step_ups[needed] > self._tries:
                raise self._still_refused(status, challenge)
        self._ask(needed, resource["resource"], server)

    def _choose(self, issuers: list[str]) -> JsonObject:
        """One of the authorization servers that the resource names; one that knows us first."""
        known = {each.issuer for each in self._client.registered}
        if self._tokens:
            known.add(self._tokens.issuer)
        issuer = next((each for each in issuers if each in known), issuers[0])
        self._issuer = discovery.find_issuer(issuer, self._fetch, self.server)
        return self._issuer

    def _ask(self, needed: frozenset[str], resource: str, server: JsonObject) -> None:
        """The whole flow, for what is needed and whatever this issuer was asked for before."""
        scopes, before = needed, self._tokens
        if before and before.issuer == server["issuer"]:
            scopes |= before.requested
        supported = server.get("scopes_supported")
        if scopes and isinstance(supported, list) and "offline_access" in supported:
            scopes |= {"offline_access"}  # MAY: how OpenID servers are asked for a refresh token
        registered = self._registered(server)
        pending = flow.begin(server, registered, resource, scopes, self._client.redirect_uri)
        try:
            code = flow.finish(pending, server, self._authorize(pending.url))
            self._tokens = grants.exchange(pending, code, server, registered, self._fetch)
        except AuthorizationFailed as trouble:
            self._forget(server["issuer"], trouble)
            raise
        self._fresh, self._since = "asked", time.monotonic()

    def _refresh(self) -> bool:
        """New tokens for a refresh token, where there is one and its own issuer takes it."""
        tokens, server = self._tokens, self._issuer
        if not tokens or not tokens.refresh_token or server["issuer"] != tokens.issuer:
            return False
        try:
            self._tokens = grants.refresh(tokens, server, self._registered(server), self._fetch)
        except OAuthError as trouble:
            self._forget(tokens.issuer, trouble)
            self._tokens = replace(tokens, refresh_token=None)
            return False
        self._fresh = "refreshed"
        return True

    def _forget(self, issuer: str, trouble: AuthorizationFailed) -> None:
        """Register anew next time, where the issuer may have forgotten us: it restarts, say.

        An authorization endpoint that does not know a client tells the person, and sends nobody
        back. Where it did answer, only its word counts.
        """
        if not isinstance(trouble, OAuthError) or trouble.error == "invalid_client":
            self._wallet.drop(issuer)

    def _registered(self, server: JsonObject) -> Registration:
        return registration.obtain(server, self._client, self._wallet, self._fetch)

    def _last(self) -> Tokens | None:
        found: Tokens | None = getattr(self._given, "tokens", None)
        return found

    def _still_refused(self, status: int, challenge: Challenge | None) -> StillRefused:
        params = challenge.params if challenge else {}
        told = params.get("error_description") or params.get("error") or "with no reason given"
        text = f"{self.server} goes on to answer {status}, {brief(told, 300)}"
        if self._tokens:
            text += (
                f", to a token of {self._tokens.issuer} for {self._tokens.resource}; "
                f"scopes due: {params.get('scope', 'not said')}, granted: "
                f"{' '.join(sorted(self._tokens.scopes)) or 'none'}"
            )
        return StillRefused(text)

    def __repr__(self) -> str:
        return f"Authorizer({self.server!r}, {self._tokens!r})"
