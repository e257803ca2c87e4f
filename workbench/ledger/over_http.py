"""Claims 27-40 to 27-49, 27-57 and 27-58: Streamable HTTP, and which SDK has the revision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_bare import jsonrpc, revision
from workbench.ledger import everything
from workbench.ledger.abroad import CLIENT, Answer, ask, request
from workbench.ledger.bench import Bench
from workbench.ledger.claim import Facts, Later, agreed, claim

POSTS = "ch27/06_post_and_stream"
OLD = "2025-11-25"
OLD_HEADER = {"MCP-Protocol-Version": OLD}
SDK_V1, SDK_V2 = "@modelcontextprotocol/sdk", "@modelcontextprotocol/server"
PY, V1, V2, OURS = "Python SDK", "TypeScript v1", "TypeScript v2", "ours"


def endpoints(bench: Bench) -> dict[str, str]:
    """Every unguarded endpoint that is here, by its name."""
    found = {PY: bench.python_web["plain"], OURS: bench.our_web["plain"]}
    if bench.node_web is not None:
        found |= {V1: bench.node_web["plain"], V2: bench.node_web["v2"]}
    return found


def serves_now(url: str) -> bool:
    """Does `server/discover` say that the current revision is spoken there?"""
    answer = ask(url, request(revision.DISCOVER))
    found = answer.message.get("result", {}) if answer.status == 200 else {}
    return revision.CURRENT in found.get("supportedVersions", [])


def opens_sessions(url: str) -> bool:
    """Does `initialize` still get a result there?"""
    params = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": CLIENT}
    opening = jsonrpc.request(1, "initialize", params)
    answer = ask(url, opening, headers={"MCP-Protocol-Version": None})
    return answer.status == 200 and "result" in answer.message


@claim(
    "27-40",
    "Authorization is not for stdio: credentials come from the environment there.",
    notebook=POSTS,
)
def not_for_stdio(bench: Bench) -> Facts:
    return {}


@claim(
    "27-41",
    "A POST must accept both JSON and an event stream, since the server chooses between them, "
    "request by request.",
    notebook=POSTS,
    says={
        "a POST that accepts both": "served",
        "types of answer from one endpoint": ["application/json", "text/event-stream"],
    },
)
def accept(bench: Bench) -> Facts:
    def accepting(what: str | None) -> Any:
        found: dict[str, Any] = {}
        for name, url in endpoints(bench).items():
            era = OLD_HEADER if name == V1 else {}  # each in the era that it speaks
            status = ask(url, request(), headers={"Accept": what, **era}).status
            found[name] = "served" if status == 200 else status
        return agreed(found)

    counts = request("tools/call", name="count", arguments={"to": 1, "pause": 0})
    counts["params"]["_meta"]["progressToken"] = "p"
    changing = bench.our_web["changing"]
    answers = [ask(changing, request()), ask(changing, counts, headers={"Mcp-Name": "count"})]
    return {
        "a POST that accepts both": accepting("application/json, text/event-stream"),
        "types of answer from one endpoint": [answer.type for answer in answers],
        "one that accepts JSON alone": accepting("application/json"),
        "one that accepts */*": accepting("*/*"),
        "one without Accept": accepting(None),
    }


@claim(
    "27-42",
    "A request of the current revision over HTTP is served by the Python SDK, with the new members "
    "in the result.",
    notebook=POSTS,
    says={
        "status": 200,
        "resultType": "complete",
        "cacheScope": "private",
        "ttlMs": 0,
        "serverInfo in _meta": "there",
    },
)
def modern_request(bench: Bench) -> Facts:
    answer = ask(bench.python_web["plain"], request())
    result = answer.message.get("result", {})
    named = revision.SERVER_INFO in result.get("_meta", {})
    others = {name: ask(url, request()).brief for name, url in endpoints(bench).items()}
    return {
        "status": answer.status,
        **{name: result.get(name) for name in ("resultType", "cacheScope", "ttlMs")},
        "serverInfo in _meta": "there" if named else "not there",
        **{f"the same to {name}": said for name, said in others.items() if name != PY},
    }


@claim(
    "27-43",
    "The TypeScript SDK refuses that request with -32000; it supports five older versions.",
    notebook=POSTS,
    says={
        "code": -32000,
        "message": "Bad Request: Unsupported protocol version: 2026-07-28 (supported versions: "
        "2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05, 2024-10-07)",
    },
)
def v1_refuses(bench: Bench) -> Facts:
    if bench.node_web is None:
        return {"code": everything.NO_NODE, "message": everything.NO_NODE}
    answer = ask(bench.node_web["plain"], request())
    error = answer.message.get("error", {})
    return {
        "code": error.get("code"),
        "message": error.get("message"),
        "status": answer.status,
        "the same to v2": ask(bench.node_web["v2"], request()).brief,
    }


@claim(
    "27-44",
    "`LATEST_PROTOCOL_VERSION` reads 2026-07-28 in the Python SDK and 2025-11-25 in the TypeScript "
    "SDK.",
    notebook=POSTS,
    says={"Python": "2026-07-28", "TypeScript": "2025-11-25"},
)
def constants(bench: Bench) -> Facts:
    node_web = bench.node_web
    return {
        "Python": bench.python_web["LATEST_PROTOCOL_VERSION"],
        "TypeScript": node_web["constants"]["v1"] if node_web else everything.NO_NODE,
        **({"TypeScript, v2": node_web["constants"]["v2"]} if node_web else {}),
    }


@claim(
    "27-45",
    "That constant is the line to check in an SDK before one installs it.",
    notebook=POSTS,
    says={"SDKs that serve another revision than their constant says": "none"},
    instead="ask a server made with it for `server/discover` (26-16)",
)
def what_the_constant_tells(bench: Bench) -> Facts:
    if bench.node_web is None:
        return {"SDKs that serve another revision than their constant says": everything.NO_NODE}
    constant = {
        PY: bench.python_web["LATEST_PROTOCOL_VERSION"],
        V1: bench.node_web["constants"]["v1"],
        V2: bench.node_web["constants"]["v2"],
    }
    serves = {name: serves_now(endpoints(bench)[name]) for name in constant}
    wrong = [name for name in constant if serves[name] != (constant[name] == revision.CURRENT)]
    return {
        "SDKs that serve another revision than their constant says": wrong or "none",
        "serve 2026-07-28, by server/discover": [name for name in serves if serves[name]],
    }


def _mismatch(url: str, header: str, body: str) -> Answer:
    return ask(url, request(version=body), headers={"MCP-Protocol-Version": header})


@claim(
    "27-46",
    "To a request whose header and body name different versions the Python SDK answers 400 and "
    "-32020, and says what does not match.",
    notebook=POSTS,
    says={
        "header 2026-07-28, body 2025-11-25": "400 -32020 mcp-protocol-version header does not "
        "match the request envelope's protocol version"
    },
)
def mismatch(bench: Bench) -> Facts:
    found = {name: _mismatch(url, revision.CURRENT, OLD) for name, url in endpoints(bench).items()}
    return {
        "header 2026-07-28, body 2025-11-25": found[PY].brief,
        **{f"the same to {name}": _code(a) for name, a in found.items() if name != PY},
    }


@claim(
    "27-47",
    "So a header that does not match the body is refused, whichever of the two is the older.",
    notebook=POSTS,
    says={"header 2025-11-25, body 2026-07-28": "400 -32020"},
    instead="in the Python SDK the header picks the era, and only the newer one compares; a proxy "
    "that reads headers and a server that reads bodies can be told two things",
)
def mismatch_the_other_way(bench: Bench) -> Facts:
    urls = {**endpoints(bench), "Python SDK, stateless_http": bench.python_web["stateless"]}
    found = {name: _code(_mismatch(url, OLD, revision.CURRENT)) for name, url in urls.items()}
    return {
        "header 2025-11-25, body 2026-07-28": found[PY],
        **{f"the same to {name}": said for name, said in found.items() if name != PY},
    }


@claim(
    "27-48",
    "The TypeScript SDK has no code -32020, since it lacks the revision that defines it.",
    notebook=POSTS,
    says={"-32020 in @modelcontextprotocol/sdk": "not there"},
)
def no_such_code(bench: Bench) -> Facts:
    def mentioned(package: str) -> str | Later:
        if everything.installed(package) is None:
            return everything.NO_NODE
        return "there" if everything.mentions(package, "-32020") else "not there"

    node_web = bench.node_web
    answer = _mismatch(node_web["plain"], revision.CURRENT, OLD) if node_web else None
    return {
        "-32020 in @modelcontextprotocol/sdk": mentioned(SDK_V1),
        "its answer to the mismatch": _code(answer) if answer else "not here",
        "-32020 in @modelcontextprotocol/server (v2)": mentioned(SDK_V2),
    }


@claim(
    "27-49",
    "The page that has both SDKs in Tier 1 says that each provides the same functionality; for the "
    "current revision that is still a wish, as Python's alone has it.",
    notebook=POSTS,
    says={"official SDKs here that serve 2026-07-28": [PY]},
    instead="TypeScript serves it too, from the packages of its v2 line (26-19); what is on that "
    "page is in the repository's docs, not in its specification",
)
def same_functionality(bench: Bench) -> Facts:
    if bench.node_web is None:
        return {"official SDKs here that serve 2026-07-28": everything.NO_NODE}
    urls = {name: url for name, url in endpoints(bench).items() if name != OURS}
    serving = {name: serves_now(url) for name, url in urls.items()}
    return {
        "official SDKs here that serve 2026-07-28": [name for name in urls if serving[name]],
        "that do not": [name for name in urls if not serving[name]],
    }


@claim(
    "27-57",
    "A GET on the endpoint gets 404 from the Express wiring, and 400 for want of a session ID from "
    "the Python SDK.",
    notebook=POSTS,
    says={"TypeScript on Express": "404", "Python": "400 -32600 Bad Request: Missing session ID"},
)
def get(bench: Bench) -> Facts:
    urls, modern = endpoints(bench), {"MCP-Protocol-Version": revision.CURRENT}
    found = {name: _get(url) for name, url in urls.items()}
    named = _get(urls[PY], modern)
    return {
        "TypeScript on Express": found[V1].brief if V1 in found else everything.NO_NODE,
        "Python": found[PY].brief,
        "Python, once the header names 2026-07-28": f"{named.status}, {_allows(named.headers)}",
        **{
            f"the same GET to {name}": f"{found[name].status}, {_allows(found[name].headers)}"
            for name in (V2, OURS)
            if name in found
        },
    }


@claim(
    "27-58",
    "The specification requires 405 for that GET, of these two servers as well.",
    notebook=POSTS,
    says={"answer GET otherwise, and are bound to 405": [PY, V1]},
    instead="it is a SHOULD, and for a server that supports no older revision; both of these do",
)
def who_must_say_405(bench: Bench) -> Facts:
    name = "answer GET otherwise, and are bound to 405"
    if bench.node_web is None:
        return {name: everything.NO_NODE}
    urls = endpoints(bench)
    otherwise = [party for party, url in urls.items() if _get(url).status != 405]
    older = [party for party, url in urls.items() if opens_sessions(url)]
    return {
        name: [party for party in otherwise if party not in older],
        "answer GET otherwise": otherwise,
        "serve an older revision, too": older,
    }


def _get(url: str, headers: Mapping[str, str | None] | None = None) -> Answer:
    return ask(url, verb="GET", headers={"Accept": "text/event-stream", **(headers or {})})


def _code(answer: Answer) -> str:
    """ "400 -32020": the answer without its words."""
    return " ".join(answer.brief.split()[:2])


def _allows(headers: Mapping[str, str]) -> str:
    return f"Allow: {headers['allow']}" if "allow" in headers else "no Allow"
