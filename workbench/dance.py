"""The client's side of an OAuth flow, with every request written down.

A `Ledgered` fetch is handed to the toolkit's Authorizer in place of its own; what it fetched is in
`steps`, by the name of the party that was asked. Secrets are not written down.
"""

from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit

from mcp_bare.auth import fetch as fetching
from workbench.sequence import Step

Fetch = Callable[..., tuple[int, dict, bytes]]
SHOWN = ("grant_type", "resource", "scope", "code_challenge_method", "client_id")
"""Parameters that a lesson is about; codes, verifiers, tokens and states are left out."""


class Noted:
    """A fetch that notes what it did: noted = Noted({"http://127.0.0.1:8001": "the server"})."""

    def __init__(self, parties: dict[str, str], fetch: Fetch = fetching.fetch):
        self.parties, self._fetch = parties, fetch
        self.steps: list[Step] = []
        self.sent: list[tuple[str, dict[str, str]]] = []

    def __call__(self, method: str, url: str, headers: dict, body: bytes | None) -> tuple:
        """As the fetch that it stands for."""
        answer = self._fetch(method, url, headers, body)
        place = urlsplit(url)
        party = self.parties.get(f"{place.scheme}://{place.netloc}", place.netloc)
        self.steps.append(Step("client", party, f"{method} {place.path}", answer[0]))
        given = place.query if method == "GET" else (body or b"").decode("utf-8", "replace")
        form = dict(parse_qsl(given))
        self.sent.append((place.path, {key: form[key] for key in SHOWN if key in form}))
        return answer
