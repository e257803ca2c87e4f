"""Claims 26-39 to 26-43: what the reference server costs, in tokens and in bytes."""

from __future__ import annotations

from mcp_bare import jsonrpc, tape
from workbench import tokens
from workbench.ledger import everything
from workbench.ledger.bench import Bench
from workbench.ledger.claim import Facts, claim, text

COSTS = "ch26/08_what_a_server_costs"


def _tools(bench: Bench) -> list[dict]:
    return bench.everything.listed("everything_probe")


def _instructions(bench: Bench) -> str:
    return bench.everything.opened.get("instructions", "")


@claim(
    "26-39",
    "Its 13 tool definitions are 1,307 tokens.",
    notebook=COSTS,
    says={"tools": 13, "tokens": 1307},
)
def definitions(bench: Bench) -> Facts:
    tools = _tools(bench)
    return {
        "tools": len(tools),
        "tokens": tokens.catalogue_tokens(tools),
        "tool by tool, summed": sum(map(tokens.tool_tokens, tools)),
        "as the wire writes it": tokens.catalogue_tokens(tools, compact=True),
        "with all their keys, as listed": tokens.count_json(tools),
    }


@claim(
    "26-40",
    "The cheapest of them is get-tiny-image with 52 tokens, the costliest gzip-file-as-resource "
    "with 235.",
    notebook=COSTS,
    says={"cheapest": "get-tiny-image, 52", "costliest": "gzip-file-as-resource, 235"},
)
def extremes(bench: Bench) -> Facts:
    sizes = {tool["name"]: tokens.tool_tokens(tool) for tool in _tools(bench)}
    least, most = min(sizes, key=sizes.get), max(sizes, key=sizes.get)
    return {"cheapest": f"{least}, {sizes[least]}", "costliest": f"{most}, {sizes[most]}"}


@claim(
    "26-41",
    "Its instructions are 312 tokens, returned by discovery.",
    notebook=COSTS,
    says={"tokens": 312, "returned by": "server/discover"},
    instead="the number holds; this server has no discovery (26-13), its `initialize` returns them",
)
def instructions(bench: Bench) -> Facts:
    probe = bench.everything.tape("everything_probe")
    by = [
        method
        for method in ("server/discover", "initialize")
        for found in everything.answers(probe, method)
        if "instructions" in found.get("result", {})
    ]
    words = _instructions(bench)
    return {
        "tokens": tokens.count(words),
        "returned by": text(by),
        "bytes": len(words.encode()),
    }


@claim(
    "26-42",
    "Connected and unused, it takes 1,619 tokens, and five such servers about 8,000.",
    notebook=COSTS,
    says={"one server": 1619, "five, to the nearest thousand": 8000},
)
def one_and_five(bench: Bench) -> Facts:
    one = tokens.catalogue_tokens(_tools(bench)) + tokens.count(_instructions(bench))
    return {"one server": one, "five, to the nearest thousand": round(5 * one, -3), "five": 5 * one}


@claim(
    "26-43",
    "Its catalogue is 13 tools in 7,663 bytes.",
    notebook=COSTS,
    says={"tools": 13, "bytes": 7663},
)
def catalogue_bytes(bench: Bench) -> Facts:
    tools = _tools(bench)
    picked = [{key: tool[key] for key in tokens.MODEL_KEYS if key in tool} for tool in tools]
    return {
        "tools": len(tools),
        "bytes": len(jsonrpc.dumps({"tools": tools})),
        "bytes of what the tokens were counted on": len(tape.compact(picked).encode()),
    }
