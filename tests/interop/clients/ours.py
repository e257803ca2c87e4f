"""The client of the matrix on this toolkit, and what every client there does.

`look` meets one server and yields, for each feature, {"feature": ..., "saw": ...} with what the
client saw, or {"feature": ..., "error": ...} with what it was told instead.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from mcp_bare import era, revision
from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse, McpError
from mcp_bare.exchange import Transport

NAME = "ours"
TEXTS = (
    "plain",
    '✓ 日本 🎉 "quoted"\nsecond line\u2028third',
    "=?base64?eA==?=",  # what a header's encoded value looks like
    " padded ",
    "",
)
ANSWER = {"at": "2030-01-31T09:00:00Z", "guests": 3, "room": "blue", "remind": False}
ACTIONS = ("accept", "decline", "cancel")
HEARD_WITHIN = 10.0  # a list change that comes
SILENT_FOR = 1.0  # one that does not


def look(open_transport: Callable[[], Transport]) -> Iterator[dict[str, Any]]:
    """Meet one server; the transports that it opens are closed at the end."""
    asked: list[dict[str, Any]] = []

    def person(params: dict[str, Any]) -> dict[str, Any]:
        asked.append(params)
        action = params["message"].partition("(")[2].rstrip(")")
        return {"action": action, "content": ANSWER} if action == "accept" else {"action": action}

    client, verdict = era.connect(
        open_transport, handlers={"elicitation/create": person}, timeout=20, probe_timeout=20
    )
    with client:
        yield {"feature": "open", "saw": _opened(client, verdict)}
        for feature, use in FEATURES.items():
            asked.clear()
            try:
                yield {"feature": feature, "saw": use(client, asked)}
            except McpError as trouble:
                yield {"feature": feature, "error": told(trouble)}


def told(trouble: McpError) -> dict[str, Any]:
    """An error, as a line can say it."""
    if isinstance(trouble, ErrorResponse):
        return {**trouble.body(), "kind": "ErrorResponse"}
    return {"kind": type(trouble).__name__, "message": str(trouble)}


def _opened(client: Client, verdict: era.Verdict) -> dict[str, Any]:
    if verdict.era == era.MODERN:
        info, how = client.discover()["_meta"][revision.SERVER_INFO], revision.DISCOVER
    else:
        assert client.initialize_result
        info, how = client.initialize_result["serverInfo"], "initialize"
    return {"server": info["name"], "version": client.version, "how": how, "why": verdict.why}


def _list(client: Client, asked: list[dict[str, Any]]) -> dict[str, Any]:
    tools = {tool["name"]: tool for tool in client.list_tools()}
    return {
        "tools": sorted(tools.keys() - {"newcomer"}),
        "header": tools["echo"]["inputSchema"]["properties"]["text"].get("x-mcp-header"),
        "resources": [resource["uri"] for resource in client.list_resources()],
        "prompts": [prompt["name"] for prompt in client.list_prompts()],
    }


def _call(client: Client, asked: list[dict[str, Any]]) -> list[str]:
    return [_said(client.call_tool("echo", {"text": text})) for text in TEXTS]


def _read(client: Client, asked: list[dict[str, Any]]) -> dict[str, Any]:
    (content,) = client.read_resource("memo://one")["contents"]
    return {name: content[name] for name in ("uri", "mimeType", "text")}


def _prompt(client: Client, asked: list[dict[str, Any]]) -> list[Any]:
    messages = client.get_prompt("grüße", {"who": "Zoë"})["messages"]
    return [[message["role"], message["content"]["text"]] for message in messages]


def _elicit(client: Client, asked: list[dict[str, Any]]) -> dict[str, Any]:
    answers = [_said(client.call_tool("book", {"title": action})) for action in ACTIONS]
    schema = asked[0]["requestedSchema"]
    return {
        "asked": [params["message"] for params in asked],
        "form": {"required": schema["required"], "properties": schema["properties"]},
        "answers": answers,
    }


def _progress(client: Client, asked: list[dict[str, Any]]) -> list[Any]:
    heard: list[Any] = []

    def hear(params: dict[str, Any]) -> None:
        heard.append([params["progress"], params.get("total"), params.get("message")])

    end = _said(client.call_tool("count", {"to": 3}, on_progress=hear))
    return [*heard, end]


def _changed(client: Client, asked: list[dict[str, Any]]) -> dict[str, Any]:
    heard: list[str] = []
    came = threading.Event()

    def hear(message: dict[str, Any]) -> None:
        heard.append(message["method"])
        came.set()

    before = _has_newcomer(client)
    if client.version in revision.MODERN:
        with client.listen({"toolsListChanged": True}, hear) as stream:
            client.call_tool("change")
            came.wait(HEARD_WITHIN)
            agreed = stream.agreed
        return {
            "via": revision.LISTEN,
            "agreed": agreed,
            "heard": heard,
            "appeared": _has_newcomer(client) != before,
        }
    forget = client.exchange.on_notification

    def hear_and_forget(message: dict[str, Any]) -> None:
        if forget is not None:
            forget(message)
        hear(message)

    client.exchange.on_notification = hear_and_forget
    refused = _refused(client)
    client.call_tool("change")
    came.wait(SILENT_FOR)
    return {
        "via": "unsolicited",
        "refused": refused,
        "heard": heard,
        "appeared": _has_newcomer(client, refresh=True) != before,
    }


def _refused(client: Client) -> dict[str, Any] | None:
    """What this server says to subscriptions/listen."""
    wanted = {"notifications": {"toolsListChanged": True}}
    try:
        client.start(revision.LISTEN, wanted).result(5)
    except McpError as trouble:
        return told(trouble)
    return None


def _has_newcomer(client: Client, refresh: bool = False) -> bool:
    return "newcomer" in [tool["name"] for tool in client.list_tools(refresh=refresh)]


def _said(result: dict[str, Any]) -> str:
    assert not result.get("isError"), result
    return str(result["content"][0]["text"])


FEATURES: dict[str, Callable[[Client, list[dict[str, Any]]], Any]] = {
    "list": _list,
    "call": _call,
    "read": _read,
    "prompt": _prompt,
    "elicit": _elicit,
    "progress": _progress,
    "changed": _changed,
}
