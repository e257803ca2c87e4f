"""The official Python client logs in at our toy and is let through by our guard; an oracle."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp.client import auth as official
from mcp.shared import auth as shapes

from mcp_bare import jsonrpc
from mcp_bare.auth.user_agent import follow
from tests.auth.web import DOCUMENT, ISSUER, REDIRECT, SERVER, World, message


class Storage:
    """What the official client keeps, in memory."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def provider(world, document=None):
    """The official client's authorization, with our person."""
    came_back = []

    async def redirect(url):
        came_back.append(world.person(url))

    async def callback():
        query = {
            name: values[0] for name, values in parse_qs(urlsplit(came_back[-1]).query).items()
        }
        return shapes.AuthorizationCodeResult(
            code=query["code"], state=query["state"], iss=query.get("iss")
        )

    about = shapes.OAuthClientMetadata(redirect_uris=[REDIRECT], client_name="official")
    return official.OAuthClientProvider(
        world.server, about, Storage(), redirect, callback, client_metadata_url=document
    )


def calls(world, tools, document=None):
    """What the official client gets for these calls: (status, body)."""

    def handler(request):
        status, headers, body = world.web.fetch(
            request.method, str(request.url), titled(request.headers), request.content
        )
        return httpx2.Response(status, headers=headers, content=body)

    async def run():
        transport = httpx2.MockTransport(handler)
        async with httpx2.AsyncClient(transport=transport, auth=provider(world, document)) as http:
            answers = []
            for tool in tools:
                sent = jsonrpc.dumps(message(tool))
                answer = await http.post(
                    world.server, content=sent, headers={"MCP-Protocol-Version": "2026-07-28"}
                )
                answers.append((answer.status_code, answer.json()))
            return answers

    return asyncio.run(run())


def titled(headers):
    return {name.title(): value for name, value in headers.items()}


@pytest.mark.parametrize("document", [None, DOCUMENT], ids=["dynamic", "document"])
@pytest.mark.parametrize("issuer", [ISSUER, f"{ISSUER}/t1"])
def test_from_a_refusal_to_a_step_up(document, issuer):
    world = World(issuer=issuer)
    assert calls(world, ["read_it", "write_it", "audit_it"], document) == [
        (200, {"served": ["ana", tool]}) for tool in ("read_it", "write_it", "audit_it")
    ]
    asked = [parse_qs(urlsplit(url).query) for url in world.asked]
    assert [set(each["scope"][0].split()) for each in asked] == [
        {"it:read"},
        {"it:read", "it:write"},
        {"it:read", "it:write", "it:audit"},
    ]
    assert {each["resource"][0] for each in asked} == {SERVER}
    assert follow(world.asked[0], world.web.fetch).startswith(REDIRECT)


@pytest.mark.parametrize(
    "name",
    ["wrong-issuer", "slash-issuer", "foreign-iss", "no-iss", "slash-iss", "unannounced-iss"],
)
def test_the_official_client_notices_the_same(name):
    """Each of these our client refuses too (test_misbehaviours)."""
    with pytest.raises(official.OAuthFlowError):
        calls(World(name), ["read_it"], DOCUMENT)
