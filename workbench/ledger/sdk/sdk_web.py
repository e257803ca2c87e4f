"""The official Python SDK over HTTP, in one process: plain, stateless, and guarded in three ways.

It takes free ports, prints one JSON object of URLs, and ends when its standard input does. The
verifier of the guarded one reads what `workbench.ledger.abroad.token` writes, and checks the
audience only; that of the careless one and of the strict one checks nothing, and the strict one has
the SDK compare what it reports.
"""

import asyncio
import base64
import json
import logging
import socket
import sys
import threading
from importlib import metadata

import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp_types.version import LATEST_PROTOCOL_VERSION


def add_tool(server: MCPServer) -> MCPServer:
    @server.tool()
    def search_incidents(query: str) -> str:
        """Search the incidents."""
        return f"Nothing about {query}"

    return server


class Verifier:
    """Takes a token apart. `resource` is the audience that it insists on, or None."""

    def __init__(self, resource: str | None):
        self.resource = resource

    async def verify_token(self, token: str) -> AccessToken | None:
        claims = json.loads(base64.urlsafe_b64decode(token))
        if claims.get("throws"):
            raise RuntimeError("the verifier is out of order")
        if self.resource and claims["aud"] != self.resource:
            return None
        return AccessToken(
            token=token,
            client_id="client",
            scopes=claims.get("scope", "").split(),
            expires_at=claims.get("exp"),
            resource=claims["aud"],
        )


def guarded(url: str, looks: bool, strict: bool | None = None) -> MCPServer:
    settings = AuthSettings(
        issuer_url="https://auth.example.com",
        resource_server_url=url,
        required_scopes=["incidents:read"],
        validate_token_resource=strict,
    )
    verifier = Verifier(url if looks else None)
    return add_tool(MCPServer("incidents", auth=settings, token_verifier=verifier))


async def main() -> None:
    names = ("plain", "stateless", "guarded", "careless", "strict")
    sockets = {name: socket.create_server(("127.0.0.1", 0)) for name in names}
    urls = {
        name: f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        for name, listening in sockets.items()
    }
    apps = {
        "plain": add_tool(MCPServer("incidents")).streamable_http_app(),
        "stateless": add_tool(MCPServer("incidents")).streamable_http_app(stateless_http=True),
        "guarded": guarded(urls["guarded"], True).streamable_http_app(),
        "careless": guarded(urls["careless"], False).streamable_http_app(stateless_http=True),
        "strict": guarded(urls["strict"], False, strict=True).streamable_http_app(),
    }
    servers = [
        uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
        for app in apps.values()
    ]

    def end_with_input() -> None:
        sys.stdin.read()
        for server in servers:
            server.should_exit = True

    threading.Thread(target=end_with_input, daemon=True).start()
    about = {"LATEST_PROTOCOL_VERSION": LATEST_PROTOCOL_VERSION, "version": metadata.version("mcp")}
    print(json.dumps({**urls, **about}), flush=True)
    served = zip(servers, sockets.values(), strict=True)
    await asyncio.gather(*(server.serve([listening]) for server, listening in served))


if __name__ == "__main__":
    logging.disable()
    asyncio.run(main())
