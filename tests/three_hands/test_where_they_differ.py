"""Where the hands differ, pinned: how it is written, what a failure says, whose handle it is.

A row fails when a part changes its mind; then the notebooks' words need another look, too.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_bare import revision
from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse
from mcp_bare.stdio import StdioTransport
from workbench import hands, tokens

MODERN, LEGACY = revision.CURRENT, revision.LEGACY[0]
SECRET = "connect ECONNREFUSED 10.0.3.7:5432 (db-prod-eu, user=reporting)"
HINT = "Severity is sev1, sev2 or sev3."
SDKS = ("python", "python-chapter", "typescript", "typescript-v1", "fastmcp")


def told(client: Client, tool: str, **arguments: str) -> str:
    """What reaches the model of a call that went wrong: the result's text, or the error's code."""
    try:
        answer = client.call_tool(tool, arguments)
    except ErrorResponse as refusal:
        return f"{refusal.code}"
    assert answer["isError"] is True
    return str(answer["content"][0]["text"])


# --- how the same thing is written ---


def written(client: Client) -> dict[str, Any]:
    """What a reader pays for, and what a schema carries that nobody wrote."""
    tool = client.list_tools()[2]
    text = client.read_resource("incidents://open")["contents"][0]["text"]
    found = client.call_tool("search_incidents")
    mistake = told(client, "open_incident", title="x", severity="sev9")
    assert "severity" in mistake and "sev1" in mistake
    if "structuredContent" in found:
        assert found["structuredContent"] == json.loads(found["content"][0]["text"])
    return {
        "speaks": client.version,
        "the two incidents": (len(text), tokens.count(text)),
        "a result is sent twice": "structuredContent" in found,
        "output schemas": all("outputSchema" in tool for tool in client.list_tools()),
        "on the schema": set(tool["inputSchema"]) - {"type", "properties", "required"},
        "on the tool": set(tool) & {"execution", "_meta"},
        "a web page in a refusal": "errors.pydantic.dev" in mistake,
    }


TYPESCRIPT = {
    "speaks": MODERN,
    "the two incidents": (136, 37),
    "a result is sent twice": False,
    "output schemas": False,
    "on the schema": {"$schema"},
    "on the tool": set(),
    "a web page in a refusal": False,
}
PYTHON = {
    "speaks": MODERN,
    "the two incidents": (185, 62),
    "a result is sent twice": True,
    "output schemas": True,
    "on the schema": {"title"},
    "on the tool": set(),
    "a web page in a refusal": True,
}
WRITTEN = {
    "bare": {**TYPESCRIPT, "a result is sent twice": True, "on the schema": set()},
    "python": PYTHON,
    "python-chapter": PYTHON,
    "typescript": TYPESCRIPT,
    "typescript-v1": {
        **TYPESCRIPT,
        "speaks": LEGACY,
        "on the schema": {"$schema", "additionalProperties"},
        "on the tool": {"execution"},
    },
    "fastmcp": {
        **PYTHON,
        "the two incidents": (147, 48),
        "on the schema": {"additionalProperties"},
        "on the tool": {"_meta"},
    },
}


@pytest.mark.parametrize("name", WRITTEN)
def test_how_it_is_written(hand, name: str) -> None:
    with hands.open(hand(name)) as client:
        assert written(client) == WRITTEN[name]


# --- what an error says ---

SDK_FAILURES = {
    "boom": "Error executing tool boom",
    "by accident": "Error executing tool hint",
    "on purpose": f"Error executing tool hint: {HINT}",
    "no such tool": "Unknown tool: nothing",
    "a resource tells": False,
}
TS_FAILURES = {
    "boom": SECRET,
    "by accident": HINT,
    "on purpose": HINT,
    "no such tool": "-32602",
    "a resource tells": True,
}
FAILURES: dict[str, dict[str, Any]] = {
    "bare": {
        "boom": "The tool boom failed.",
        "by accident": "The tool hint failed.",
        "on purpose": HINT,
        "no such tool": "-32602",
        "a resource tells": False,
    },
    "python": SDK_FAILURES,
    "python-chapter": SDK_FAILURES,
    "typescript": TS_FAILURES,
    "typescript-v1": {**TS_FAILURES, "no such tool": "MCP error -32602: Tool nothing not found"},
    "fastmcp": {
        "boom": f"Error calling tool 'boom': {SECRET}",
        "by accident": f"Error calling tool 'hint': {HINT}",
        "on purpose": HINT,
        "no such tool": "Unknown tool: 'nothing'",
        "a resource tells": True,
    },
}


@pytest.mark.parametrize("name", FAILURES)
def test_what_a_failure_tells_the_model_and_what_it_leaves_on_stderr(hand, name: str) -> None:
    with hands.scratch() as folder:
        transport = StdioTransport(
            hands.command(hand(name), failing=True), env=hands.environment(folder)
        )
        version = WRITTEN[name]["speaks"]
        with Client(transport, version=version, timeout=hands.PATIENCE_S) as client:
            if version == LEGACY:
                client.request("initialize", opening(LEGACY))
            said = {
                "boom": told(client, "boom"),
                "by accident": told(client, "hint", how="by accident"),
                "on purpose": told(client, "hint", how="meant"),
                "no such tool": told(client, "nothing"),
                "a resource tells": resource_tells(client),
            }
        assert said == FAILURES[name]
        logged = " ".join(transport.stderr_tail.split())  # fastmcp breaks its lines
        assert (SECRET in logged) is (not name.startswith("typescript"))


def resource_tells(client: Client) -> bool:
    with pytest.raises(ErrorResponse) as refusal:
        client.read_resource("incidents://boom")
    return SECRET in str(refusal.value)


def test_fastmcp_can_be_told_not_to(hand) -> None:
    masked = "import fastmcp; fastmcp.settings.mask_error_details = True"
    with hands.scratch() as folder:
        words = hands.command(hand("fastmcp"), before=masked, failing=True)
        with hands.connect(words, hands.environment(folder)) as client:
            assert told(client, "boom") == "Error calling tool 'boom'"


# --- whose handle ---


@pytest.mark.parametrize("name", ["bare", *SDKS])
def test_a_second_process_mints_the_same_handle_but_where_the_log_is_outside(hand, name) -> None:
    """Two processes of one server, in one folder: a load balancer would have both."""
    with hands.scratch() as folder:
        words, env = hands.command(hand(name)), hands.environment(folder)
        minted, known = [], []
        for title in ("Queue backed up", "Disk full"):
            with hands.connect(words, env) as client:
                closing = client.call_tool("resolve_incident", {"id": "INC-3", "cause": "?"})
                known.append(not closing.get("isError"))
                new = client.call_tool("open_incident", {"title": title, "severity": "sev1"})
                minted.append(json.loads(new["content"][0]["text"])["id"])
    outside = name == "bare"
    assert minted == (["INC-3", "INC-4"] if outside else ["INC-3", "INC-3"])
    assert known == [False, outside]


# --- which revision ---


def opening(version: str) -> dict[str, Any]:
    who = {"name": "test", "version": "0"}
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": who}


@pytest.mark.parametrize("name", SDKS)
def test_initialize_never_tells_the_revision(hand, name: str) -> None:
    """Asked for the current one, every SDK offers the one before, also those that speak it."""
    with hands.scratch() as folder:
        transport = StdioTransport(hands.command(hand(name)), env=hands.environment(folder))
        with Client(transport, version=LEGACY, timeout=hands.PATIENCE_S) as client:
            assert client.request("initialize", opening(MODERN))["protocolVersion"] == LEGACY
