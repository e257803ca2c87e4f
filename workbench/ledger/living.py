"""Claims 27-59 to 27-64 and 27-67: where servers live, who has the revision, what was renamed."""

from __future__ import annotations

import re
import sys

from workbench import environments, node, servers
from workbench.ledger import everything, installed, quotes
from workbench.ledger.abroad import ask, request
from workbench.ledger.bench import SDK, Bench
from workbench.ledger.claim import Facts, Later, claim
from workbench.ledger.over_http import V1, V2, endpoints, serves_now
from workbench.ledger.weight import SDK_V2
from workbench.replicas import serving
from workbench.web import free_port

LIVES = "ch27/11_where_servers_live"
HANDS = "ch27/01_one_server_three_hands"
POSTS = "ch27/06_post_and_stream"
CENSUS = Later(
    "page through /v0/servers of the official MCP registry, keep each server's newest version, "
    "and count"
)
DOWNLOADS = Later("ask npm's and PyPI's download statistics for the last thirty days")
TUTORIAL = "docs/docs/2026-07-28/develop/build-server.mdx"


@claim(
    "27-59",
    'In Python `run(transport="streamable-http")` is the next line, with nothing more to install.',
    notebook=LIVES,
    says={"it serves": 200, "packages loaded for it that mcp does not bring": "none"},
)
def next_line(bench: Bench) -> Facts:
    words = [sys.executable, str(SDK / "sdk_run_http.py"), str(free_port())]
    call = request("tools/call", name="loaded", arguments={})
    with serving(words, servers.bare_environment()) as url:
        answer = ask(url, call, headers={"Mcp-Name": "loaded"})
    found = answer.message["result"]["content"][0]["text"] if answer.status == 200 else ""
    brought = installed.python("mcp")
    starts = {"pip", "setuptools", "distribute"}  # an environment's own, loaded with Python
    more = sorted({installed.normal(name) for name in found.split()} - set(brought) - starts)
    v2 = installed.names(installed.npm(SDK_V2, node.ROOT))
    handler = "@modelcontextprotocol/node"
    return {
        "it serves": answer.status,
        "packages loaded for it that mcp does not bring": more or "none",
        f"{SDK_V2} brings {handler}": "yes" if handler in v2 else "no",
    }


@claim(
    "27-60",
    "On 7 September 2026 the official registry had 28,170 servers, of which 14,696 had nothing to "
    "install; of the others npm had 2.3 for each of PyPI's.",
    notebook=LIVES,
    says={"servers": 28170, "with nothing to install": 14696, "npm to PyPI": "2.3 to 1"},
)
def registry(bench: Bench) -> Facts:
    said = registry.says
    share = said["with nothing to install"] / said["servers"]
    return {
        **dict.fromkeys(said, CENSUS),
        "its share, by the chapter's own figures": f"{share:.1%}",
        "servers with a package, by the same": said["servers"] - said["with nothing to install"],
    }


@claim(
    "27-61",
    "Of 14,290 package entries 13,787 are for stdio; of 16,640 remote ones 15,570 are Streamable "
    "HTTP and 1,070 still HTTP+SSE.",
    notebook=LIVES,
    says={"packages": 14290, "for stdio": 13787, "remotes": 16640, "HTTP": 15570, "HTTP+SSE": 1070},
)
def entries(bench: Bench) -> Facts:
    said = entries.says
    return {
        **dict.fromkeys(said, CENSUS),
        "the remote ones, added up": said["HTTP"] + said["HTTP+SSE"],
        "packages for something else": said["packages"] - said["for stdio"],
    }


@claim(
    "27-62",
    "In thirty days mcp was downloaded 286.7 million times, @modelcontextprotocol/sdk 194.7, and "
    "fastmcp another 72.1.",
    notebook=LIVES,
    says={
        "mcp": "286.7 million",
        "@modelcontextprotocol/sdk": "194.7 million",
        "fastmcp": "72.1 million",
    },
)
def downloads(bench: Bench) -> Facts:
    return {
        **dict.fromkeys(downloads.says, DOWNLOADS),
        "fastmcp brings mcp, and counts it again": _brings_mcp(),
    }


def _brings_mcp() -> str:
    """Whether the pins of what fastmcp needs name mcp as well."""
    pins = environments.ENVIRONMENTS["bench"].python
    named = re.findall(r"^([\w.-]+)==", pins.read_text("utf-8"), re.MULTILINE) if pins else []
    return "yes" if {"fastmcp", "mcp"} <= set(named) else "no"


@claim(
    "27-63",
    "Who imports `mcp.server.fastmcp` is told what became of it, and how to stay with the old one.",
    notebook=HANDS,
    says={
        "it raises": "ModuleNotFoundError",
        "it names": ["MCPServer", "migration guide", "mcp<2"],
    },
)
def told_of_the_new_name(bench: Bench) -> Facts:
    found = bench.python_facts["mcp.server.fastmcp"]
    named = [name for name in told_of_the_new_name.says["it names"] if name in found["says"]]
    return {"it raises": found["raises"], "it names": named}


@claim(
    "27-64",
    "The official tutorial on building a server opens on its Python tab.",
    notebook=LIVES,
    says={"its first tab": "Python"},
)
def first_tab(bench: Bench) -> Facts:
    page = bench.texts["spec"] / TUTORIAL if "spec" in bench.texts else None
    if page is None or not page.is_file():
        return {"its first tab": Later(quotes.SOURCES["spec"].command("27-64"))}
    text = page.read_text("utf-8")
    tabs = re.findall(r"<Tab title=['\"]([^'\"]+)['\"]>", text)
    return {
        "its first tab": tabs[0],
        "its TypeScript tab installs": sorted(set(re.findall(r"npm install (@[\w/-]+)", text))),
    }


@claim(
    "27-67",
    "Whoever needs the revision today finds it in one of the two SDKs, and not in the other.",
    notebook=POSTS,
    says={"serve 2026-07-28, in TypeScript": "none of them", "in Python": "mcp"},
    instead="both have it: in TypeScript it is another package, `@modelcontextprotocol/server`",
)
def one_of_two(bench: Bench) -> Facts:
    python = serves_now(bench.python_web["plain"])
    found: Facts = {"serve 2026-07-28, in TypeScript": everything.NO_NODE}
    if bench.node_web is not None:
        lines = {V1: "@modelcontextprotocol/sdk", V2: SDK_V2}
        serving_it = [lines[name] for name in lines if serves_now(endpoints(bench)[name])]
        found = {"serve 2026-07-28, in TypeScript": serving_it or "none of them"}
    return {**found, "in Python": "mcp" if python else "none of them"}
