"""Claims 27-01 to 27-05, 27-65 and 27-66: one server in two languages, and what is the same."""

from __future__ import annotations

import json

from workbench import hands
from workbench.ledger import clients, everything, logs
from workbench.ledger.bench import Bench
from workbench.ledger.claim import Facts, agreed, claim
from workbench.ledger.logs import HANDS, OURS, PY, PY_THEN, V1, V2, Log

SIDE_BY_SIDE = "ch27/01_one_server_three_hands"
REPLICAS = "ch27/10_three_replicas_no_session"
TOOLS = ["search_incidents", "open_incident", "resolve_incident"]


def offered(log: Log) -> list[str]:
    """All that the server registers, by name."""
    return [*log.names, *log.resources, *log.prompts]


@claim(
    "27-01",
    "An incident log is three tools, a resource and a prompt, in either language: five things to "
    "register.",
    notebook=SIDE_BY_SIDE,
    says={
        "TypeScript": [*TOOLS, "incidents://open", "postmortem"],
        "Python": [*TOOLS, "incidents://open", "postmortem"],
    },
)
def five_registrations(bench: Bench) -> Facts:
    return {
        "TypeScript": logs.of(bench, V1, offered),
        "Python": logs.of(bench, PY, offered),
        **logs.each(bench, lambda log: len(offered(log)), V2, OURS, PY_THEN, prefix="things, "),
    }


@claim(
    "27-02",
    "`resolve_incident` is one function in both files, with a description, two described strings "
    "and three annotations.",
    notebook=SIDE_BY_SIDE,
    says={
        "TypeScript": {"described strings": ["cause", "id"], "annotations": 3},
        "Python": {"described strings": ["cause", "id"], "annotations": 3},
    },
)
def one_function(bench: Bench) -> Facts:
    def shape(log: Log) -> dict:
        tool = log.tool()
        fields = tool["inputSchema"]["properties"].items()
        strings = [n for n, f in fields if f.get("type") == "string" and f.get("description")]
        return {"described strings": sorted(strings), "annotations": len(tool["annotations"])}

    return {
        "TypeScript": logs.of(bench, V1, shape),
        "Python": logs.of(bench, PY, shape),
        "here, with a TypedDict of typing's own": bench.python_facts["typing.TypedDict"],
    }


@claim(
    "27-03",
    "Whole, the TypeScript file is the longer one: 81 lines that are not blank and 3,060 bytes, "
    "and 63 and 2,555 in Python. (The files themselves are not printed.)",
    notebook=SIDE_BY_SIDE,
    says={"more lines": "TypeScript", "more bytes": "TypeScript"},
)
def lengths(bench: Bench) -> Facts:
    files = {
        "TypeScript": hands.HANDS[HANDS[V1]].script.read_bytes(),
        "Python": hands.HANDS[HANDS[PY]].script.read_bytes(),
    }
    lines = {name: sum(map(bool, text.split(b"\n"))) for name, text in files.items()}
    size = {name: len(text) for name, text in files.items()}
    return {
        "more lines": max(lines, key=lambda name: lines[name]),
        "more bytes": max(size, key=lambda name: size[name]),
        "lines of ours": lines,
        "bytes of ours": size,
    }


@claim(
    "27-04",
    "A client of eleven lines, pointed at the one server and then at the other, prints the same "
    "tools and the same handle.",
    notebook=SIDE_BY_SIDE,
    says={"its tools, of both servers": "the same", "its handle, of both servers": "the same"},
)
def eleven_lines(bench: Bench) -> Facts:
    if missing := logs.why_not(bench, V1):
        return dict.fromkeys(("its tools, of both servers", "its handle, of both servers"), missing)
    printed = [clients.printed(bench, "v1", party) for party in (V1, PY)]
    return {
        "its tools, of both servers": _alike([tools for tools, _ in printed]),
        "its handle, of both servers": _alike([json.loads(handle) for _, handle in printed]),
        "without client.close(), 1.5 s after the last line": clients.lingers(V1),
    }


def _alike(answers: list) -> str | list:
    one, other = answers
    return "the same" if one == other else answers


@claim(
    "27-05",
    "The same tools in the same order, and the same handle: a client cannot tell the language.",
    notebook=SIDE_BY_SIDE,
    says={"tools": TOOLS, "handle": "INC-3"},
)
def same_answers(bench: Bench) -> Facts:
    here = [party for party in (V1, PY, V2, OURS) if not logs.why_not(bench, party)]
    found = {party: bench.logs[party] for party in here}
    missing = V1 not in found
    handles = {party: json.loads(logs.said(log.opened))["id"] for party, log in found.items()}
    return {
        "tools": everything.NO_NODE if missing else agreed({p: found[p].names for p in found}),
        "handle": everything.NO_NODE if missing else agreed(handles),
        "asked": here,
    }


@claim(
    "27-65",
    "Nothing in either file presumes that the caller is the process that opened the incident.",
    notebook=REPLICAS,
    says={
        "process B closes what A opened, TypeScript": "closed",
        "process B closes what A opened, Python": "closed",
    },
    instead="both keep their incidents in a list of the module, which is chapter 26's own mistake: "
    "a handle dies with its process, and is minted twice. Keep them where any process finds them",
)
def any_process(bench: Bench) -> Facts:
    def closes(log: Log) -> str:
        return logs.said(log.elsewhere) if _failed(log.elsewhere) else "closed"

    def mints(log: Log) -> str:
        return json.loads(logs.said(log.minted))["id"]

    name = "process B closes what A opened"
    return {
        f"{name}, TypeScript": logs.of(bench, V1, closes),
        f"{name}, Python": logs.of(bench, PY, closes),
        f"{name}, ours": logs.of(bench, OURS, closes),
        **logs.each(bench, mints, V1, PY, OURS, prefix="B's next handle, after A's INC-3: "),
    }


@claim(
    "27-66",
    "`resolve_incident` is idempotent, as its annotation says.",
    notebook=SIDE_BY_SIDE,
    says={
        "idempotentHint": True,
        "a second call changes": "nothing",
    },
)
def idempotent(bench: Bench) -> Facts:
    here = [party for party in (PY, OURS, V1, V2) if not logs.why_not(bench, party)]
    found = {party: bench.logs[party] for party in here}
    hints = {p: log.tool()["annotations"]["idempotentHint"] for p, log in found.items()}
    changed = [party for party, log in found.items() if log.after[0] != log.after[1]]
    replies = {p: "an error" if _failed(log.again) else "a result" for p, log in found.items()}
    return {
        "idempotentHint": agreed(hints),
        "a second call changes": changed or "nothing",
        "but is answered with": agreed(replies),
    }


def _failed(result: Facts) -> bool:
    return bool(result.get("isError")) or "error" in result
