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
FRESH_S = 60.0  # so soon the person is not asked again: a new token would be refused as well


class Authorizer:
    """One client's authorization at one MCP server. Several threads may share it.

    `authorize(url)` brings the person there and returns the URL to which the browser came back. The
    thread that asked for a header is the one to say that it was refused.
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
        self._asked_at: float | None = None  # the person; None once the token is seen to work
        self._sent: Tokens | None = None  # last, by whichever thread, and not refused since
        self._lock, self._mine = threading.RLock(), _Thread()

    def header(self) -> str | None:
        """The Authorization header to send, "Bearer eyJ...", or None: then a 401 will come.

        Refreshes a token that has expired. Never in a URL: tokens MUST NOT be in the query.
        """
        with self._lock:
            tokens, mine = self._tokens, self._mine
            if not mine.again:
                if tokens and self._sent is tokens:
                    self._asked_at = None  # sent before, and not refused
                mine.row, mine.refreshed = 0, False
            mine.again = False
            if tokens and tokens.expires_at is not None and tokens.expires_at <= time.time():
                with contextlib.suppress(AuthorizationFailed):
                    self._refresh()
            mine.sent = self._sent = self._tokens
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
        mine = self._mine
        with self._lock:
            if self._tokens is mine.sent:  # else another thread was faster
                self._sent, mine.row = None, mine.row + 1
                if mine.row > self._tries + 2:
                    raise self._still_refused(status, challenge)
                self._answer(status, challenge or Challenge("Bearer"))
            mine.again = True
            return True

    def _answer(self, status: int, challenge: Challenge) -> None:
        """401: refresh, else ask the person, once. 403: ask, for the union of scopes."""
        resource = discovery.find_resource(self.server, challenge, self._fetch)
        server = self._choose(resource["authorization_servers"])
        needed = challenge.scopes or frozenset(resource.get("scopes_supported", ()))
        if status == 401:
            if not self._mine.refreshed and self._refresh():
                self._mine.refreshed = True
                return
            if self._just_asked(server):
                raise self._still_refused(status, challenge)
        else:
            self._step_ups[needed] = self._step_ups.get(needed, 0) + 1
            if not needed or self._step_ups[needed] > self._tries:
                raise self._still_refused(status, challenge)
        self._ask(needed, resource["resource"], server)

    def _just_asked(self, server: JsonObject) -> bool:
        """Is the token as good as a new one would be: same issuer, from a moment ago, unexpired?"""
        tokens, asked = self._tokens, self._asked_at
        if tokens is None or asked is None or tokens.issuer != server["issuer"]:
            return False
        expired = tokens.expires_at is not None and tokens.expires_at <= time.time()
        return not expired and time.monotonic() - asked < FRESH_S

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
        self._asked_at = time.monotonic()

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


class _Thread(threading.local):
    """What this thread sent last, and what became of the message that it is sending."""

    sent: Tokens | None = None
    row = 0  # its refusals
    refreshed = False
    again = False  # the next header is for the same message
