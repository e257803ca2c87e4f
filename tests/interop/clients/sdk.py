"""The client of the matrix on the official Python SDK.

    python sdk.py stdio COMMAND...
    python sdk.py http URL

It does what `ours.look` does, and prints each line of it as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

TEXTS = (
    "plain",
    '✓ 日本 🎉 "quoted"\nsecond line\u2028third',
    "=?base64?eA==?=",  # what a header's encoded value looks like
    " padded ",
    "",
)
ANSWER = {"at": "2030-01-31T09:00:00Z", "guests": 3, "room": "blue", "remind": False}
ACTIONS = ("accept", "decline", "cancel")
HEARD_WITHIN = 10.0

asked: list[types.ElicitRequestFormParams] = []
notified: list[str] = []
came = anyio.Event()


async def person(context: Any, params: Any) -> types.ElicitResult:
    asked.append(params)
    action = params.message.partition("(")[2].rstrip(")")
    return types.ElicitResult(action=action, content=ANSWER if action == "accept" else None)


async def hear_all(message: Any) -> None:
    if isinstance(message, types.ToolListChangedNotification):
        notified.append(message.method)
        came.set()


def say(feature: str, **what: Any) -> None:
    print(json.dumps({"feature": feature, **what}), flush=True)


async def main() -> None:
    kind, *where = sys.argv[1:]
    server: Any = where[0]
    if kind == "stdio":
        server = StdioServerParameters(command=where[0], args=where[1:], env=dict(os.environ))
    options = {"elicitation_callback": person, "message_handler": hear_all}
    with anyio.fail_after(60):
        async with Client(server, read_timeout_seconds=20, **options) as client:
            modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
            say("open", saw={
                "server": client.server_info.name,
                "version": client.protocol_version,
                "how": "server/discover" if modern else "initialize",
            })  # fmt: skip
            for feature, use in FEATURES.items():
                try:
                    say(feature, saw=await use(client))
                except MCPError as trouble:
                    say(feature, error={
                        "kind": "MCPError", "code": trouble.error.code,
                        "message": trouble.error.message, "data": trouble.error.data,
                    })  # fmt: skip


async def lists(client: Client) -> dict[str, Any]:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    return {
        "tools": sorted(tools.keys() - {"newcomer"}),
        "header": tools["echo"].input_schema["properties"]["text"].get("x-mcp-header"),
        "resources": [str(r.uri) for r in (await client.list_resources()).resources],
        "prompts": [prompt.name for prompt in (await client.list_prompts()).prompts],
    }


async def call(client: Client) -> list[str]:
    return [said(await client.call_tool("echo", {"text": text})) for text in TEXTS]


async def read(client: Client) -> dict[str, Any]:
    (content,) = (await client.read_resource("memo://one")).contents
    return {"uri": str(content.uri), "mimeType": content.mime_type, "text": content.text}


async def prompt(client: Client) -> list[Any]:
    found = await client.get_prompt("grüße", {"who": "Zoë"})
    return [[message.role, message.content.text] for message in found.messages]


async def elicit(client: Client) -> dict[str, Any]:
    answers = [said(await client.call_tool("book", {"title": action})) for action in ACTIONS]
    schema = asked[0].requested_schema
    return {
        "asked": [params.message for params in asked],
        "form": {"required": schema["required"], "properties": schema["properties"]},
        "answers": answers,
    }


async def progress(client: Client) -> list[Any]:
    heard: list[Any] = []

    async def hear(value: float, total: float | None, message: str | None) -> None:
        heard.append([value, total, message])

    end = said(await client.call_tool("count", {"to": 3}, progress_callback=hear))
    return [*heard, end]


async def changed(client: Client) -> dict[str, Any]:
    before = await has_newcomer(client)
    if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
        async with client.listen(tools_list_changed=True) as subscription:
            agreed = subscription.honored.model_dump(by_alias=True, exclude_none=True)
            await client.call_tool("change")
            with anyio.move_on_after(HEARD_WITHIN):
                async for _ in subscription:
                    break
        with anyio.move_on_after(1):
            await came.wait()
        after = await has_newcomer(client)
        how = {"via": "subscriptions/listen", "agreed": agreed}
    else:
        await client.call_tool("change")
        with anyio.move_on_after(1):
            await came.wait()
        after = await has_newcomer(client)
        how = {"via": "unsolicited"}
    return {**how, "heard": notified, "appeared": after != before}


async def has_newcomer(client: Client) -> bool:
    return "newcomer" in [tool.name for tool in (await client.list_tools()).tools]


def said(result: types.CallToolResult) -> str:
    assert not result.is_error, result
    return result.content[0].text


FEATURES: dict[str, Callable[[Client], Awaitable[Any]]] = {
    "list": lists,
    "call": call,
    "read": read,
    "prompt": prompt,
    "elicit": elicit,
    "progress": progress,
    "changed": changed,
}

if __name__ == "__main__":
    anyio.run(main)
