"""Servers of other hands over HTTP, the same of ours, and requests to them that are not all polite.

    abroad.Process([...]).about["plain"]            "http://127.0.0.1:PORT/mcp"
    abroad.ask(url, message, token="...")           an Answer: status, headers, message, challenge

Tokens here are JSON in Base64, signed by nobody: what the checks are about is what a server does
after its verifier has spoken.

Does not handle: TLS, redirects, being a client; `mcp_bare.http_client` is one.
"""

from __future__ import annotations

import base64
import contextlib
import json
import queue
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mcp_bare import jsonrpc, revision
from mcp_bare.auth import challenge
from mcp_bare.auth.guard import Guard
from mcp_bare.stdio import StdioTransport
from mcp_bare.streamable_http import HttpServer
from toy_servers import changing, incidents
from workbench.web import free_port

ISSUER = "https://auth.example.com"
BOTH = "application/json, text/event-stream"
CLIENT = {"name": "ledger", "version": "1.0.0"}
PATIENCE = 40.0


@dataclass(frozen=True)
class Answer:
    """What came back for one request; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def type(self) -> str:
        """The media type: "application/json"."""
        return self.headers.get("content-type", "").partition(";")[0]

    @property
    def message(self) -> dict[str, Any]:
        """The JSON of it: the body, or the first event of a stream with data."""
        data = [line[5:] for line in self.body.splitlines() if line.startswith(b"data:")]
        return json.loads(next((line for line in data if line.strip()), self.body))

    @property
    def brief(self) -> str:
        """ "200", or "400 -32020 the message": how a table shows it."""
        with contextlib.suppress(ValueError, TypeError, AttributeError, KeyError):
            error = self.message["error"]
            return f"{self.status} {error['code']} {error['message']}"
        return str(self.status)

    @property
    def challenge(self) -> dict[str, str]:
        """The parameters of the Bearer challenge: {"error": "invalid_token", ...}, or {}."""
        found = challenge.find_bearer([self.headers.get("www-authenticate", "")])
        return dict(found.params) if found else {}


def request(method: str = "tools/list", version: str = revision.CURRENT, **params: Any) -> dict:
    """A request of the current revision; or of another, where `version` says so."""
    meta = {**revision.request_meta({}, CLIENT), revision.PROTOCOL_VERSION: version}
    return jsonrpc.request(1, method, {**params, "_meta": meta})


def ask(
    url: str,
    message: Mapping[str, Any] | None = None,
    *,
    verb: str = "POST",
    token: str | None = None,
    headers: Mapping[str, str | None] | None = None,
    path: str | None = None,
) -> Answer:
    """One HTTP request, with what the specification asks for; `headers` replace, None removes."""
    place = urlsplit(url)
    sent: dict[str, str | None] = {}
    if message is not None:
        sent = {
            "Content-Type": "application/json",
            "Accept": BOTH,
            "MCP-Protocol-Version": revision.CURRENT,
            "Mcp-Method": message["method"],
        }
    if token is not None:
        sent["Authorization"] = f"Bearer {token}"
    sent |= headers or {}
    body = None if message is None else jsonrpc.dumps(dict(message))
    with contextlib.closing(HTTPConnection(place.netloc, timeout=PATIENCE)) as wire:
        wire.request(
            verb, path or place.path, body, {k: v for k, v in sent.items() if v is not None}
        )
        came = wire.getresponse()
        found = {name.lower(): value for name, value in came.getheaders()}
        endless = verb == "GET" and found.get("content-type", "").startswith("text/event-stream")
        return Answer(came.status, found, b"" if endless else came.read())


def token(aud: str, **claims: Any) -> str:
    """A token for these servers: claims in Base64, and no signature. `exp=None` leaves it out."""
    due = {"iss": ISSUER, "sub": "ana", "aud": aud, "exp": int(time.time()) + 300, **claims}
    kept = {name: value for name, value in due.items() if value is not None}
    return base64.urlsafe_b64encode(jsonrpc.dumps(kept)).decode()


def read(token: str) -> dict[str, Any]:
    """What such a token says: the verifier of our guard, no better than those of `sdk/`."""
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(token))
    if claims.get("throws"):
        raise RuntimeError("the verifier is out of order")
    return claims


@contextlib.contextmanager
def ours() -> Iterator[dict[str, str]]:
    """The incident log, plain and guarded, and a server that reports its progress; all in here."""
    with tempfile.TemporaryDirectory() as folder:
        log = incidents.make(str(Path(folder) / "log.sqlite3"))
        port = free_port()
        scopes = ("incidents:read", "incidents:write")
        guard = Guard(
            f"http://127.0.0.1:{port}/mcp",
            [ISSUER],
            read,
            incidents.scopes_for,
            scopes_supported=scopes,
            name="Incidents",
            log=lambda line: None,
        )
        with (
            HttpServer(log) as plain,
            HttpServer(log, port=port, guard=guard) as guarded,
            HttpServer(changing.server) as other,
        ):
            yield {"plain": plain.url, "guarded": guarded.url, "changing": other.url}


class Process:
    """A server process that prints one JSON object, and serves until its input ends."""

    def __init__(self, command: list[str]):
        self._process, printed = StdioTransport(command), queue.SimpleQueue()
        self._process.open(printed.put, printed.put)
        try:
            self.about: dict[str, Any] = json.loads(printed.get(timeout=PATIENCE))
        except BaseException:
            self._process.close()
            raise

    def __enter__(self) -> dict[str, Any]:
        return self.about

    def __exit__(self, *_: object) -> None:
        self._process.close()
