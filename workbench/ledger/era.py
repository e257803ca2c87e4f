"""Claims 26-13 to 26-16, 26-20 and 26-21: which era a server is of, and what answers prove."""

from __future__ import annotations

from mcp_bare import era, legacy, revision
from mcp_bare.errors import ErrorResponse, RequestTimeout
from workbench.ledger import everything
from workbench.ledger.asks import answer, changed, code
from workbench.ledger.bench import Bench
from workbench.ledger.claim import Facts, claim

ERA = "ch26/03_which_era_is_this"
DATES = "ch26/12_dates_and_deprecations"


@claim(
    "26-13",
    "The reference server answers `server/discover` with -32601 Method not found.",
    notebook=ERA,
    says={"server/discover": "-32601 Method not found"},
)
def discover_unknown(bench: Bench) -> Facts:
    found = bench.everything.discovery
    error = found.get("error", {})
    return {"server/discover": f"{error['code']} {error['message']}" if error else "served"}


@claim(
    "26-14",
    "The probe has three outcomes: a DiscoverResult, a modern error, or anything else, and only "
    "the last means legacy.",
    notebook=ERA,
    says={"a DiscoverResult": "modern", "a modern error": "modern", "any other error": "legacy"},
)
def three_outcomes(bench: Bench) -> Facts:
    def judged(found: dict) -> str:
        evidence = ErrorResponse(found["error"]) if "error" in found else found["result"]
        return era.judge(evidence).era

    old = changed(bench.sdk, revision.DISCOVER, protocolVersion="1900-01-01")
    return {
        "a DiscoverResult": judged(answer(bench.sdk, bench.sdk.message(revision.DISCOVER))),
        "a modern error": judged(answer(bench.sdk, old)),
        "any other error": judged(bench.everything.discovery),
        "silence": era.judge(RequestTimeout(revision.DISCOVER, 1, 3.0)).era,
    }


@claim(
    "26-15",
    "Asked by `initialize` for 2026-07-28, the reference server answers 2025-11-25, with the "
    "printed capabilities, as everything 2.0.0.",
    notebook=ERA,
    says={
        "protocolVersion": "2025-11-25",
        "capabilities": ["completions", "logging", "prompts", "resources", "tasks", "tools"],
        "serverInfo": "mcp-servers/everything 2.0.0",
    },
)
def initialize_answer(bench: Bench) -> Facts:
    opened = bench.everything.opened
    info = opened["serverInfo"]
    return {
        "protocolVersion": opened["protocolVersion"],
        "capabilities": sorted(opened["capabilities"]),
        "serverInfo": f"{info['name']} {info['version']}",
    }


@claim(
    "26-16",
    "That answer, 2025-11-25 to an `initialize` for 2026-07-28, shows that a server lacks the "
    "current revision.",
    notebook=ERA,
    says={"servers that answer so, and speak 2026-07-28 after all": "none"},
    instead="`initialize` negotiates the legacy versions only; what a server speaks now, "
    "`server/discover` tells (26-13)",
)
def what_initialize_proves(bench: Bench) -> Facts:
    asks = legacy.initialize_request(1, {}, bench.sdk.client_info, revision.CURRENT)
    with bench.new_sdk() as fresh:
        opened = answer(fresh, asks).get("result", {}).get("protocolVersion")
    speaks = bench.sdk.discover()["supportedVersions"]
    both = opened == "2025-11-25" and revision.CURRENT in speaks
    return {
        "servers that answer so, and speak 2026-07-28 after all": (
            "the official Python SDK's" if both else "none"
        ),
        "the official Python SDK's server, by initialize": opened,
        "the same server, by server/discover": speaks,
        "by initialize, once a connection has been modern": code(answer(bench.sdk, asks)),
    }


@claim(
    "26-20",
    "`initialize`, the session, `roots/list` sent by a server and HTTP+SSE are gone or going.",
    notebook=DATES,
    says={
        "initialize": "gone",
        "session": "gone",
        "roots/list from the server": "gone",
        "HTTP+SSE": "deprecated",
    },
)
def gone_or_going(bench: Bench) -> Facts:
    from mcp_types import methods

    now = revision.CURRENT
    session = bench.web.post(bench.sdk.message("tools/list")).session
    deprecated = [row["feature"] for row in revision.DEPRECATED]
    return {
        "initialize": "there" if ("initialize", now) in methods.CLIENT_REQUESTS else "gone",
        "session": session or "gone",
        "roots/list from the server": (
            "there" if ("roots/list", now) in methods.SERVER_REQUESTS else "gone"
        ),
        "HTTP+SSE": "deprecated" if "HTTP+SSE transport" in deprecated else "there",
    }


@claim(
    "26-21",
    "Some legacy servers process a request that never had a handshake before it.",
    notebook=ERA,
    says={"tools/list to the reference server, before any handshake": "served"},
)
def era_ambiguous(bench: Bench) -> Facts:
    found = next(everything.answers(bench.everything.tape("everything_bare"), "tools/list"))
    return {"tools/list to the reference server, before any handshake": code(found)}
