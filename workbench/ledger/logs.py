"""The incident log in each hand, asked the same things once; the claims read what it answered.

    logs.ask("python").tools                 the definitions that `tools/list` gave
    bench.logs["TypeScript v1"].read         the text of incidents://open
    logs.of(bench, V1, lambda log: ...)      a fact of it, or Later with what would bring it here

Two processes of each are asked: A opens an incident, B is given A's handle. That is done with the
servers of `workbench.hands`, in the era that each speaks.

Does not handle: HTTP, servers that fail (`crashes`) or print (`stray`), time (`paces`).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_bare import era
from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse
from mcp_bare.stdio import StdioTransport
from workbench import hands
from workbench.ledger.claim import Later
from workbench.ledger.everything import NO_NODE

if TYPE_CHECKING:
    from workbench.ledger.bench import Bench

PY, V1, V2, OURS = "Python SDK", "TypeScript v1", "TypeScript v2", "ours"
PY_THEN, FAST = "Python SDK 2.1.1", "FastMCP"
HANDS = {
    PY: "python",
    V1: "typescript-v1",
    V2: "typescript",
    OURS: "bare",
    PY_THEN: "python-chapter",
    FAST: "fastmcp",
}
"""What the ledger calls a hand, and what `workbench.hands` does."""
URI = "incidents://open"
PATIENCE = 40.0


@dataclass(frozen=True)
class Log:
    """What one hand's incident log answered."""

    tools: list[dict[str, Any]]
    resources: list[str]
    prompts: list[str]
    read: str
    found: dict[str, Any]  # search_incidents, without a query
    opened: dict[str, Any]  # what A said to open_incident
    elsewhere: dict[str, Any]  # what B said to resolve_incident with A's handle
    minted: dict[str, Any]  # what B said to open_incident
    closed: dict[str, Any]  # what A said to resolve_incident, for one that it had from the start
    again: dict[str, Any]  # the same call once more
    after: tuple[str, str]  # the resource after the one and after the other

    @property
    def names(self) -> list[str]:
        return [tool["name"] for tool in self.tools]

    def tool(self, name: str = "resolve_incident") -> dict[str, Any]:
        return next(tool for tool in self.tools if tool["name"] == name)


def why_not(bench: Bench, party: str) -> str | Later:
    """ "" where a hand can be asked in this run; else what would bring it."""
    name = HANDS[party]
    its = hands.HANDS[name]
    if its.environment and (not bench.extra or hands.why_not(name)):
        return Later(f"python -m workbench environment {its.environment}")
    return NO_NODE if its.npm and (bench.no_node or hands.why_not(name)) else ""


def start(name: str, stack: ExitStack, folder: str) -> Client:
    """A new process of a hand, with the log in that folder where it keeps one in a file."""
    argv, env = hands.command(name), hands.environment(folder)
    waits = {"timeout": PATIENCE, "probe_timeout": PATIENCE}
    client, _ = era.connect(lambda: StdioTransport(argv, env=env), **waits)
    return stack.enter_context(client)


def ask(name: str) -> Log:
    """Start a hand twice and ask both; `name` as `workbench.hands` has it."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        one, other = (start(name, stack, folder) for _ in "AB")
        cause = {"cause": "A disk was full."}
        begun: dict[str, Any] = {
            "tools": one.list_tools(),
            "resources": [each["uri"] for each in one.list_resources()],
            "prompts": [each["name"] for each in one.list_prompts()],
            "read": _read(one),
            "found": _call(one, "search_incidents", {}),
        }
        new = {"title": "Queue backed up", "severity": "sev2"}
        opened = _call(one, "open_incident", new)
        handle = json.loads(said(opened))["id"]
        elsewhere = _call(other, "resolve_incident", {"id": handle, **cause})
        minted = _call(other, "open_incident", new)
        closed = _call(one, "resolve_incident", {"id": "INC-1", **cause})
        first = _read(one)
        again = _call(one, "resolve_incident", {"id": "INC-1", **cause})
        after = (first, _read(one))
    return Log(**begun, opened=opened, elsewhere=elsewhere, minted=minted, closed=closed,
               again=again, after=after)  # fmt: skip


def _read(client: Client) -> str:
    return client.read_resource(URI, refresh=True)["contents"][0]["text"]


def _call(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result; an error of the protocol as its code and words, for it is an answer, too."""
    try:
        return client.call_tool(tool, arguments)
    except ErrorResponse as refusal:
        return {"error": refusal.body()}


def said(result: dict[str, Any]) -> str:
    """The text of a tool's result; "" where it has none."""
    return next((part["text"] for part in result.get("content", []) if "text" in part), "")


def of(bench: Bench, party: str, fact: Callable[[Log], Any]) -> Any:
    """A fact of a hand's log, or what would bring the hand."""
    return why_not(bench, party) or fact(bench.logs[party])


def each(
    bench: Bench, fact: Callable[[Log], Any], *parties: str, prefix: str = ""
) -> dict[str, Any]:
    """The same fact of several hands, by name; for the table, each may be given a prefix."""
    return {f"{prefix}{party}": of(bench, party, fact) for party in parties}


def both(bench: Bench, fact: Callable[[Log, Log], Any], one: str = V1, other: str = PY) -> Any:
    """A fact of two hands together, or what would bring the one that is missing."""
    missing = why_not(bench, one) or why_not(bench, other)
    return missing or fact(bench.logs[one], bench.logs[other])
