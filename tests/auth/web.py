"""A network in memory, with an MCP server behind a guard, and a client that tries again when told.

world = World()                     # https://as.example, https://mcp.example/mcp
world.client().call("read_it")      # -> ("ana", "read_it"), after the whole flow
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from urllib.parse import urlsplit

from mcp_bare import jsonrpc
from mcp_bare.auth.authorizer import Authorizer
from mcp_bare.auth.guard import Guard, per_tool
from mcp_bare.auth.registration import ClientMetadata
from mcp_bare.auth.user_agent import follow
from mcp_bare.errors import Refused
from toy_servers.authorization_server import AuthorizationServer

ISSUER = "https://as.example"
SERVER = "https://mcp.example/mcp"
REDIRECT = "http://127.0.0.1:7777/callback"
DOCUMENT = "https://app.example/client.json"
SCOPES = {"read_it": ["it:read"], "write_it": ["it:write"], "audit_it": ["it:audit"]}


def message(tool="read_it"):
    return jsonrpc.request(1, "tools/call", {"name": tool, "arguments": {}})


def origin(url):
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


class Web:
    """Who answers at which origin. `log` has every request: (method, url, headers, body)."""

    def __init__(self):
        self.hosts, self.log = {}, []

    def fetch(self, method, url, headers, body=None):
        self.log.append((method, url, dict(headers), body or b""))
        answer = self.hosts.get(origin(url))
        return (404, {}, b"") if answer is None else answer(method, url, headers, body)

    def asked(self, method=None):
        """The URLs asked so far, without their queries."""
        return [url.partition("?")[0] for how, url, _, _ in self.log if method in (None, how)]

    def sent_to(self, origin):
        """Every byte that any request to this origin carried."""
        return b"\n".join(
            f"{how} {url} {headers}".encode() + body
            for how, url, headers, body in self.log
            if url.startswith(origin)
        )


class McpServer:
    """As little of an MCP server as an authorization test needs."""

    def __init__(self, guard):
        self.guard, self.served = guard, []

    def answer(self, method, url, headers, body=None):
        path = url.partition("://")[2].partition("/")[2]
        if method == "GET":
            document = self.guard.well_known(f"/{path}")
            return (404, {}, b"") if document is None else (200, {}, document)
        asked = jsonrpc.loads(body)
        try:
            principal = self.guard.admit(headers.get("Authorization"), asked)
        except Refused as no:
            return no.status, {name.lower(): text for name, text in no.headers.items()}, no.body
        self.served.append((principal, asked["params"]["name"]))
        return 200, {}, jsonrpc.dumps({"served": self.served[-1]})


class Caller:
    """An MCP client, as far as authorization goes. `apart`: each message has its own thread."""

    apart = False

    def __init__(self, authorizer, fetch, url=SERVER):
        self.authorizer, self.fetch, self.url = authorizer, fetch, url

    def call(self, tool="read_it"):
        """(principal, tool) as the server saw it, or the status of a refusal."""
        if not self.apart:
            return self.send(tool)
        found = Future()
        thread = threading.Thread(target=self.into, args=(found, tool))
        thread.start()
        thread.join()
        return found.result(0)

    def into(self, found, tool):
        try:
            found.set_result(self.send(tool))
        except BaseException as trouble:
            found.set_exception(trouble)

    def send(self, tool):
        while True:
            header = self.authorizer.header()
            headers = {} if header is None else {"Authorization": header}
            status, found, body = self.fetch(
                "POST", self.url, headers, jsonrpc.dumps(message(tool))
            )
            if status == 200:
                return tuple(jsonrpc.loads(body)["served"])
            challenges = [found["www-authenticate"]] if "www-authenticate" in found else []
            if not self.authorizer.refused(status, challenges):
                return status


class World:
    """An authorization server, an MCP server, and the network between them."""

    def __init__(self, misbehave=(), *, server=SERVER, issuer=ISSUER, guard=None, **options):
        self.web = Web()
        self.asked = []  # authorization URLs that were shown to the person
        self.toy = self.add(issuer, misbehave, **options)
        guard = {"scopes_for": per_tool(SCOPES), **(guard or {})}
        self.mcp = McpServer(Guard(server, [issuer], self.toy.verify, **guard))
        self.web.hosts[origin(server)] = self.mcp.answer
        self.server = server

    def add(self, issuer, misbehave=(), **options):
        """One more authorization server."""
        documents = {DOCUMENT: ClientMetadata(REDIRECT, document_url=DOCUMENT).document()}
        toy = AuthorizationServer(
            issuer, misbehave=misbehave, documents=documents, **{"key": b"k" * 32, **options}
        )
        self.web.hosts[origin(issuer)] = toy.answer
        return toy

    def person(self, url):
        """Opens the URL and agrees to everything."""
        self.asked.append(url)
        return follow(url, self.web.fetch)

    def authorizer(self, client=None, authorize=None, **options):
        client = ClientMetadata(REDIRECT, document_url=DOCUMENT) if client is None else client
        fetch = options.pop("fetch", self.web.fetch)
        return Authorizer(self.server, authorize or self.person, client, fetch=fetch, **options)

    def client(self, *arguments, **options):
        authorizer = self.authorizer(*arguments, **options)
        return Caller(authorizer, self.web.fetch, self.server)
