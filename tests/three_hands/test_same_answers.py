"""One client, ours, and the incident log in every hand: the same conversation, the same answers.

What is compared is what a model or an application gets: names, arguments, values, handles. How it
is written (spaces, key order, `structuredContent`) is in `test_where_they_differ`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from mcp_bare.client import Client
from workbench import hands

NAMES = sorted(hands.HANDS)
FIRST = [
    {"id": "INC-1", "title": "Checkout failing in Frankfurt", "severity": "sev2"},
    {"id": "INC-2", "title": "Search unavailable", "severity": "sev3"},
]
QUEUE = {"id": "INC-3", "title": "Queue backed up", "severity": "sev2"}
Ask = Callable[[Client], Any]


def value(answer: dict[str, Any]) -> Any:
    """What the one text of an answer says, as JSON."""
    assert not answer.get("isError")
    [content] = answer["content"]
    return json.loads(content["text"])


def call(name: str, **arguments: str) -> Ask:
    return lambda client: value(client.call_tool(name, arguments))


def arguments_of(client: Client) -> dict[str, tuple[set[str], set[str]]]:
    """Each tool's arguments, and those that it insists on."""
    schemas = {tool["name"]: tool["inputSchema"] for tool in client.list_tools()}
    return {
        name: (set(schema["properties"]), set(schema.get("required", [])))
        for name, schema in schemas.items()
    }


def hints(client: Client) -> list[list[tuple[str, bool]]]:
    """What each tool's annotations say, but for a title."""
    told = [tool["annotations"].items() for tool in client.list_tools()]
    return [sorted((k, v) for k, v in each if k != "title") for each in told]


def open_list(client: Client) -> tuple[str, str, Any]:
    [contents] = client.read_resource("incidents://open", refresh=True)["contents"]
    return contents["uri"], contents["mimeType"], json.loads(contents["text"])


def postmortem(client: Client) -> tuple[str, str]:
    [message] = client.get_prompt("postmortem", {"id": "INC-3"})["messages"]
    return message["role"], message["content"]["text"]


def wrong(name: str, **arguments: str) -> Ask:
    """Whether the model is told, in a tool's result, that the call went wrong."""
    return lambda client: client.call_tool(name, arguments).get("isError")


CONVERSATION: list[tuple[str, Ask, Any]] = [
    (
        "the tools, in order",
        lambda client: [(tool["name"], tool["description"]) for tool in client.list_tools()],
        [
            ("search_incidents", "Search the open incidents by words in their title."),
            ("open_incident", "Open an incident and return its handle."),
            ("resolve_incident", "Close an incident by handle and record its cause."),
        ],
    ),
    (
        "their arguments",
        arguments_of,
        {
            "search_incidents": ({"query"}, set()),
            "open_incident": ({"title", "severity"}, {"title", "severity"}),
            "resolve_incident": ({"id", "cause"}, {"id", "cause"}),
        },
    ),
    (
        "their annotations",
        hints,
        [
            [("readOnlyHint", True)],
            [("destructiveHint", False), ("readOnlyHint", False)],
            [("destructiveHint", True), ("idempotentHint", True), ("readOnlyHint", False)],
        ],
    ),
    (
        "the resource",
        lambda client: [(each["uri"], each["name"]) for each in client.list_resources()],
        [("incidents://open", "open")],
    ),
    (
        "the prompt, and what it asks for",
        lambda client: [
            (each["name"], [(a["name"], a["required"]) for a in each["arguments"]])
            for each in client.list_prompts()
        ],
        [("postmortem", [("id", True)])],
    ),
    ("all that is open", call("search_incidents"), {"incidents": FIRST}),
    ("a search", call("search_incidents", query="CHECKOUT"), {"incidents": FIRST[:1]}),
    ("a handle", call("open_incident", title=QUEUE["title"], severity="sev2"), {"id": "INC-3"}),
    (
        "the list with the new one",
        open_list,
        ("incidents://open", "application/json", [*FIRST, QUEUE]),
    ),
    (
        "it is closed",
        call("resolve_incident", id="INC-3", cause="A consumer died."),
        {**QUEUE, "cause": "A consumer died."},
    ),
    ("closed twice", wrong("resolve_incident", id="INC-3", cause="A consumer died."), True),
    ("a handle of nobody", wrong("resolve_incident", id="INC-99", cause="?"), True),
    ("a severity of nobody", wrong("open_incident", title="x", severity="sev9"), True),
    ("no severity", wrong("open_incident", title="x"), True),
    ("nothing was opened by those", call("search_incidents"), {"incidents": FIRST}),
    (
        "the person's command",
        postmortem,
        (
            "user",
            "Write a postmortem of INC-3. Read incidents://open first. Say what happened, what it "
            "did to users, what broke, and what we change.",
        ),
    ),
]


@pytest.mark.parametrize("http", [False, True], ids=["stdio", "http"])
@pytest.mark.parametrize("name", NAMES)
def test_every_hand_answers_alike(hand, name: str, http: bool) -> None:
    with hands.open(hand(name), http=http) as client:
        for what, ask, expected in CONVERSATION:
            assert ask(client) == expected, what
