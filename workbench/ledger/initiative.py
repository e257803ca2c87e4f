"""Claims 26-35 to 26-38: who may ask whom, what a form may hold, and what outlives a call."""

from __future__ import annotations

from collections.abc import Callable

from mcp_bare import elicitation, revision
from mcp_bare.errors import IllegalSchema
from workbench.ledger.bench import Bench
from workbench.ledger.claim import Facts, agreed, claim

ASKS = "ch26/05_the_server_asks_back"
HANDLE = "ch26/06_a_handle_is_a_name"
FORMS = "ch26/09_forms_and_pages"
GENERATION = "ch26/10_asking_for_a_generation"
EVENT = {"title": "Dentist", "startsAt": "2026-09-10T08:30:00Z"}


@claim(
    "26-35",
    "Servers send no requests any more; a question is part of an answer, and the client calls "
    "again.",
    notebook=ASKS,
    says={"requests that a server may send": "none"},
)
def no_server_requests(bench: Bench) -> Facts:
    from mcp_types import methods

    def of(version: str) -> list[str]:
        return [method for method, known in methods.SERVER_REQUESTS if known == version]

    return {
        "requests that a server may send": of(revision.CURRENT) or "none",
        f"in {revision.LEGACY[0]}": of(revision.LEGACY[0]),
    }


@claim(
    "26-36",
    "A form is a flat object of primitive properties; secrets go to a page in URL mode, never "
    "into a form.",
    notebook=FORMS,
    says={"flat": "accepted", "an object inside": "refused", "a list of objects": "refused"},
)
def flat_forms(bench: Bench) -> Facts:
    from pydantic import BaseModel

    class Inner(BaseModel):
        name: str

    class Nested(BaseModel):
        inner: Inner

    class Listed(BaseModel):
        inner: list[Inner]

    flat = {"name": {"type": "string"}}
    inside = {"inner": {"type": "object", "properties": flat}}
    listed = {"inner": {"type": "array", "items": inside["inner"]}}
    return {
        "flat": _both(flat, Inner),
        "an object inside": _both(inside, Nested),
        "a list of objects": _both(listed, Listed),
    }


def _both(properties: dict, model: type) -> str:
    """What the toolkit and the official SDK think of one form."""
    from mcp.server.elicitation import render_elicitation_schema

    return agreed(
        {
            "toolkit": _accepts(lambda: elicitation.form("?", properties), IllegalSchema),
            "official SDK": _accepts(lambda: render_elicitation_schema(model), TypeError),
        }
    )


def _accepts(build: Callable[[], object], refusal: type[Exception]) -> str:
    try:
        build()
    except refusal:
        return "refused"
    return "accepted"


@claim(
    "26-37",
    "Sampling, roots and logging are deprecated from this revision on, under SEP-2577.",
    notebook=GENERATION,
    says=dict.fromkeys(("sampling", "roots", "logging"), "2026-07-28 (SEP-2577)"),
)
def deprecated(bench: Bench) -> Facts:
    from mcp.server.session import ServerSession

    marked = {
        "sampling": ServerSession.create_message,
        "roots": ServerSession.list_roots,
        "logging": ServerSession.send_log_message,
    }
    removal = {row["feature"]: row["earliestRemoval"] for row in revision.DEPRECATED}
    words = {name: getattr(method, "__deprecated__", "") for name, method in marked.items()}
    found = {name: text.partition("as of ")[2].rstrip(".") for name, text in words.items()}
    return {
        **{name: since or "not deprecated" for name, since in found.items()},
        "earliest removal": agreed({name: removal.get(name) for name in marked}),
    }


@claim(
    "26-38",
    "A connection is no session: what lasts is a handle, a string in one result and in later "
    "arguments, and a name is no permission.",
    notebook=HANDLE,
    says={
        "the handle in the result": "a string",
        "in a later process, as an argument": "1 event",
        "sent by somebody else": "refused",
    },
)
def handle(bench: Bench) -> Facts:
    with bench.handles("ana") as first:
        made = first.call_tool("create_calendar")["structuredContent"]["calendar"]
        first.call_tool("create_event", {"calendar": made, **EVENT})
    with bench.handles("ana") as second:
        found = second.call_tool("list_events", {"calendar": made})
    with bench.handles("bob") as stranger:
        refused = stranger.call_tool("list_events", {"calendar": made})
    events = found.get("structuredContent", {}).get("events", [])
    return {
        "the handle in the result": "a string" if isinstance(made, str) else type(made).__name__,
        "in a later process, as an argument": f"{len(events)} event",
        "sent by somebody else": "refused" if refused["isError"] else "served",
    }
