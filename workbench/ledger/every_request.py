"""Claims 26-07 to 26-12: what every request carries, and what is refused."""

from __future__ import annotations

import json

from mcp_bare import revision
from workbench.ledger import oracle
from workbench.ledger.asks import answer, bare, changed, code
from workbench.ledger.bench import Bench
from workbench.ledger.claim import Facts, agreed, claim

ALONE = "ch26/02_every_request_stands_alone"
PRINTED = (
    '{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{'
    '"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    '"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}},'
    '"io.modelcontextprotocol/clientInfo":{"name":"bare-hands","version":"0.0.1"}}}}'
)
"""The request that the chapter prints in full."""


@claim(
    "26-07",
    "A bare `tools/list`, with no `_meta`, is malformed now, and a server must refuse it.",
    notebook=ALONE,
    says={"a bare tools/list": -32602},
)
def bare_request(bench: Bench) -> Facts:
    with bench.new_sdk() as fresh:
        refused = {name: code(bare(c, "tools/list")) for name, c in bench.modern.items()}
        refused["official SDK"] = code(bare(fresh, "tools/list"))
        afterwards = code(answer(fresh, fresh.message("tools/list")))
    tools = bench.everything.listed("everything_bare")
    return {
        "a bare tools/list": agreed(refused),
        "the reference server, of the legacy era": f"serves {len(tools)} tools",
        "a good request after it, on the same connection to the SDK": afterwards,
    }


@claim(
    "26-08",
    "Two fields of `_meta` are required on every request; without one the answer is -32602.",
    notebook=ALONE,
    says={
        "without protocolVersion": -32602,
        "without clientCapabilities": -32602,
        "without clientInfo": "served",
    },
)
def required_fields(bench: Bench) -> Facts:
    found = {
        f"without {field}": agreed(
            {name: code(answer(c, changed(c, **{field: None}))) for name, c in bench.modern.items()}
        )
        for field in ("protocolVersion", "clientCapabilities", "clientInfo")
    }
    refused = bench.web.post(changed(bench.sdk, clientCapabilities=None))
    return {**found, "over HTTP": f"status {refused.status}, {code(refused.message)}"}


@claim(
    "26-09",
    "The `tools/list` that the chapter prints in full is correct.",
    notebook=ALONE,
    says={"the official wire types": "valid", "servers of this revision": "served"},
)
def printed_request(bench: Bench) -> Facts:
    message = json.loads(PRINTED)
    return {
        "the official wire types": oracle.request(message),
        "servers of this revision": agreed(
            {name: code(answer(client, message)) for name, client in bench.modern.items()}
        ),
    }


@claim(
    "26-10",
    "A server that needs a capability which the client did not declare answers -32021 and names "
    "it.",
    notebook=ALONE,
    says={"refused with": -32021, "requiredCapabilities": {"elicitation": {"form": {}}}},
)
def undeclared_capability(bench: Bench) -> Facts:
    def asked(client, tool):
        params = {"name": tool, "arguments": {"title": "Dentist"}}
        return answer(client, changed(client, "tools/call", params, clientCapabilities={}))

    refusals = {
        "calendar by hand": asked(bench.calendar, "create_event"),
        "official SDK, by its resolver": asked(bench.sdk, "plan_event"),
    }
    by_hand = asked(bench.sdk, "create_event")
    return {
        "refused with": agreed({name: code(found) for name, found in refusals.items()}),
        "requiredCapabilities": agreed(
            {name: _data(found).get("requiredCapabilities") for name, found in refusals.items()}
        ),
        "official SDK, where a tool returns the question itself": (
            code(by_hand) if "error" in by_hand else by_hand["result"]["resultType"]
        ),
    }


@claim(
    "26-11",
    "A server that does not speak the version of a request answers -32022 and lists those it does.",
    notebook=ALONE,
    says={"refused with": -32022, "listed": [revision.CURRENT]},
)
def unknown_version(bench: Bench) -> Facts:
    refusals = {
        name: answer(client, changed(client, protocolVersion="1900-01-01"))
        for name, client in bench.modern.items()
    }
    refused = bench.web.post(changed(bench.sdk, protocolVersion="1900-01-01"))
    return {
        "refused with": agreed({name: code(found) for name, found in refusals.items()}),
        "listed": agreed({name: _data(found).get("supported") for name, found in refusals.items()}),
        "over HTTP": f"status {refused.status}, {code(refused.message)}",
    }


@claim(
    "26-12",
    "Every server answers `server/discover`: versions, capabilities, who it is, and perhaps "
    "instructions.",
    notebook=ALONE,
    says={"answered with": ["supportedVersions", "capabilities", "serverInfo"]},
)
def discovery(bench: Bench) -> Facts:
    def parts(client):
        found = client.discover()
        whole = {**found, "serverInfo": found.get("_meta", {}).get(revision.SERVER_INFO)}
        return [k for k in ("supportedVersions", "capabilities", "serverInfo") if whole.get(k)]

    said = [name for name, client in bench.modern.items() if "instructions" in client.discover()]
    return {
        "answered with": agreed({name: parts(client) for name, client in bench.modern.items()}),
        "with instructions": said,
    }


def _data(answer: Facts) -> Facts:
    """The `data` of an error, where there is one."""
    found = answer.get("error", {}).get("data")
    return found if isinstance(found, dict) else {}
