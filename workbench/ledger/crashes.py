"""Claims 27-14 to 27-18: a tool that fails as integrations do, and what reaches the model.

The servers are `workbench.hands`' failing ones: `boom` raises with what it knows, `hint` raises a
sentence that the model could use, as a ToolError ("meant") or as any other exception.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mcp_bare.errors import ErrorResponse
from workbench import hands
from workbench.ledger import logs
from workbench.ledger.bench import Bench
from workbench.ledger.claim import Facts, claim
from workbench.ledger.logs import FAST, OURS, PY, PY_THEN, V1, V2

ERRORS = "ch27/03_what_an_error_may_say"
TOLD = "connect ECONNREFUSED 10.0.3.7:5432 (db-prod-eu, user=reporting)"
HINT = "Severity is sev1, sev2 or sev3."
BROKEN_URI = "incidents://boom"


@dataclass(frozen=True)
class Crash:
    """What one hand's failing server said."""

    boom: dict[str, Any]
    meant: dict[str, Any]
    slipped: dict[str, Any]
    resource: str
    stderr: str


def ask(name: str) -> Crash:
    """Have a hand fail in all four ways; `name` as `workbench.hands` has it."""
    how = {"failing": True, "timeout": logs.PATIENCE}
    with hands.open(name, **how) as client:
        boom = client.call_tool("boom", {})
        meant = client.call_tool("hint", {"how": "meant"})
        slipped = client.call_tool("hint", {"how": "slipped"})
        try:
            resource = str(client.read_resource(BROKEN_URI))
        except ErrorResponse as refusal:
            resource = f"{refusal.code} {refusal.body()['message']}"
        client.close()  # all of stderr is read once the server has ended
        return Crash(boom, meant, slipped, resource, client.exchange.transport.stderr_tail)


def _of(bench: Bench, party: str, fact: Any) -> Any:
    return logs.why_not(bench, party) or fact(bench.crashes[party])


def _told(crash: Crash) -> str:
    """How much of the exception's text is in the tool's result."""
    said = logs.said(crash.boom)
    return "nothing of it" if not any(word in said for word in TOLD.split()) else said


def _result(crash: Crash) -> dict[str, Any]:
    return {"text": logs.said(crash.boom), "isError": crash.boom.get("isError")}


@claim(
    "27-14",
    "From the TypeScript SDK the model reads an exception's whole text: an address, a port, a "
    "database and an account.",
    notebook=ERRORS,
    says={"the tool's result": {"text": TOLD, "isError": True}},
)
def typescript_tells(bench: Bench) -> Facts:
    return {
        "the tool's result": _of(bench, V1, _result),
        "in v2": _of(bench, V2, _result),
        "a resource that fails, v1": _of(bench, V1, lambda crash: crash.resource),
        "a resource that fails, v2": _of(bench, V2, lambda crash: crash.resource),
    }


@claim(
    "27-15",
    "From the Python SDK it reads the tool's name and no more; the traceback stays on the server's "
    "stderr.",
    notebook=ERRORS,
    says={
        "the tool's result": {"text": "Error executing tool boom", "isError": True},
        "the exception's text, on stderr": "there",
        "a traceback, on stderr": "there",
    },
)
def python_keeps(bench: Bench) -> Facts:
    def logged(what: str) -> Any:
        found = _of(bench, PY, lambda crash: what in crash.stderr)
        return found if isinstance(found, str) else ("there" if found else "not there")

    return {
        "the tool's result": _of(bench, PY, _result),
        "the exception's text, on stderr": logged(TOLD),
        "a traceback, on stderr": logged("Traceback (most recent call last)"),
        "a resource that fails": _of(bench, PY, lambda crash: crash.resource),
        **{f"the result of {party}": _of(bench, party, _result) for party in (OURS, PY_THEN)},
    }


@claim(
    "27-16",
    "Nothing of an exception's text reaches the model from Python, whatever a server is made with.",
    notebook=ERRORS,
    says={"FastMCP passes on": "nothing of it"},
    instead="FastMCP passes the text on, unless it is told `mask_error_details=True`",
)
def any_python(bench: Bench) -> Facts:
    return {"FastMCP passes on": _of(bench, FAST, _told)}


@claim(
    "27-17",
    "It is a decision, and the SDK's docstrings say so: a ToolError is for what you saw coming, "
    "any other exception is taken for a crash.",
    notebook=ERRORS,
    says={
        "the words of a ToolError": "reach the model",
        "the words of another exception": "stay here",
    },
)
def a_decision(bench: Bench) -> Facts:
    def reach(result: dict[str, Any]) -> str:
        return "reach the model" if HINT in logs.said(result) else "stay here"

    return {
        "the words of a ToolError": _of(bench, PY, lambda crash: reach(crash.meant)),
        "the words of another exception": _of(bench, PY, lambda crash: reach(crash.slipped)),
    }


@claim(
    "27-18",
    "So a plain ValueError throws the useful sentence away, and a ToolError keeps it.",
    notebook=ERRORS,
    says={"a ValueError gives": "Error executing tool hint", "a ToolError keeps": HINT},
)
def useful_sentence(bench: Bench) -> Facts:
    def kept(crash: Crash) -> str:
        return HINT if HINT in logs.said(crash.meant) else logs.said(crash.meant)

    return {
        "a ValueError gives": _of(bench, PY, lambda crash: logs.said(crash.slipped)),
        "a ToolError keeps": _of(bench, PY, kept),
        "in these words": _of(bench, PY, lambda crash: logs.said(crash.meant)),
        "an exception in TypeScript gives": _of(bench, V1, lambda crash: logs.said(crash.slipped)),
    }
