"""Claim 27-50: tokens that stay where they were issued for, and the jobs of four RFCs.

The whole dance is danced, with our client and an authorization server of ours; then a tool looks
for its caller's token in all that it is given, as one would that passes it on.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mcp_bare.auth.authorizer import Authorizer
from mcp_bare.auth.guard import Guard
from mcp_bare.auth.registration import ClientMetadata
from mcp_bare.auth.user_agent import follow
from mcp_bare.client import Client
from mcp_bare.errors import McpError
from mcp_bare.server import Server
from mcp_bare.streamable_http import HttpServer, HttpTransport
from toy_servers import authorization_server, incidents
from workbench.dance import Noted
from workbench.ledger.abroad import ISSUER, PATIENCE, ask, read, request, token
from workbench.ledger.at_the_door import ELSEWHERE, OURS, READ, doors, knock
from workbench.ledger.bench import Bench
from workbench.ledger.claim import Facts, claim
from workbench.web import free_port

DANCE = "ch27/08_the_whole_dance"
ME = ClientMetadata("http://127.0.0.1:7777/callback", document_url="https://app.example/me.json")


@claim(
    "27-50",
    "A server takes tokens that were issued for it, and passes none on; four RFCs have a job each: "
    "the server's metadata, `resource` in both requests, `iss` compared as it is, registration "
    "(deprecated by now).",
    notebook=DANCE,
    says={
        "the first request after the refusal": "/.well-known/oauth-protected-resource/mcp",
        "resource is sent to": ["authorization endpoint", "token endpoint"],
        "the token's audience": "the server",
        "the program is known by": "the address of its document",
        "iss with a slash at its end": "refused: IssuerMismatch",
        "a token issued for another server": 401,
        "a tool that would pass it on finds": "the name it was issued to",
    },
)
def four_jobs(bench: Bench) -> Facts:
    with _stage() as (issuer, url):
        noted = Noted({})
        authorizer = Authorizer(url, lambda there: follow(there, noted), ME, fetch=noted)
        with Client(HttpTransport(url, authorizer=authorizer), timeout=PATIENCE) as client:
            client.list_tools()
        claims = issuer.verify(authorizer.header().removeprefix("Bearer "))
    sent = [(path, form) for path, form in noted.sent if form.get("resource") == url]
    kinds = ["token endpoint" if "grant_type" in f else "authorization endpoint" for _, f in sent]
    known = {form["client_id"] for _, form in noted.sent if "client_id" in form}
    door = doors(bench)[OURS]
    return {
        "the first request after the refusal": noted.sent[0][0],
        "resource is sent to": kinds,
        "the token's audience": "the server" if claims["aud"] == url else claims["aud"],
        "the program is known by": (
            "the address of its document" if known == {ME.document_url} else sorted(known)
        ),
        "iss with a slash at its end": _refusal("slash-iss"),
        "a token issued for another server": knock(OURS, door, token(ELSEWHERE)).status,
        "a tool that would pass it on finds": _within_reach(),
    }


def _within_reach() -> str:
    """What a tool behind a guard finds of its caller's token in all that it is given."""
    server, port, seen = Server("forwarder", "1.0.0"), free_port(), []

    @server.tool({"name": "forward", "inputSchema": {"type": "object"}})
    def forward(call: Any) -> str:
        seen.extend(_texts(call))
        return "done"

    url = f"http://127.0.0.1:{port}/mcp"
    guard = Guard(url, [ISSUER], read, lambda message: {READ}, log=lambda line: None)
    theirs = token(url, scope=READ)
    with HttpServer(server, port=port, guard=guard):
        call = request("tools/call", name="forward", arguments={})
        ask(url, call, token=theirs, headers={"Mcp-Name": "forward"})
    if any(theirs in text for text in seen):
        return "the token"
    return "the name it was issued to" if "ana" in seen else "nothing"


def _texts(value: object, depth: int = 6) -> Iterator[str]:
    """Every string that can be reached from an object, through what it holds."""
    if isinstance(value, str):
        yield value
    elif depth and not callable(value):
        names = [*getattr(value, "__dict__", ()), *getattr(value, "__slots__", ())]
        held = [getattr(value, name, None) for name in names]
        if isinstance(value, dict):
            held += value.values()
        elif isinstance(value, list | tuple | set):
            held += value
        for each in held:
            yield from _texts(each, depth - 1)


@contextlib.contextmanager
def _stage(*misbehave: str) -> Iterator[tuple[Any, str]]:
    """An authorization server that agrees to everything, and the incident log behind a guard."""
    documents = {ME.document_url: ME.document()}
    url = f"http://127.0.0.1:{free_port()}/mcp"
    with (
        tempfile.TemporaryDirectory() as folder,
        authorization_server.serve(user="ana", misbehave=misbehave, documents=documents) as issuer,
    ):
        guard = Guard(url, [issuer.issuer], issuer.verify, incidents.scopes_for)
        log = incidents.make(str(Path(folder) / "log.sqlite3"))
        with HttpServer(log, port=urlsplit(url).port or 0, guard=guard):
            yield issuer, url


def _refusal(fault: str) -> str:
    """What becomes of a client whose authorization server has this fault."""
    with _stage(fault) as (_, url):
        transport = HttpTransport(url, authorizer=Authorizer(url, follow, ME))
        with Client(transport, timeout=PATIENCE) as client:
            try:
                client.list_tools()
            except McpError as trouble:
                why = trouble.__cause__ or trouble
                return f"refused: {type(why).__name__}"
    return "served"
