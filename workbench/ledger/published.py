"""Claims 26-17 to 26-19, 26-22 and 26-23: the published packages, as they are on this disk."""

from __future__ import annotations

from mcp_bare import revision
from workbench.ledger import everything
from workbench.ledger.bench import Bench
from workbench.ledger.claim import Facts, Later, claim

ERA = "ch26/03_which_era_is_this"
REFERENCE = "@modelcontextprotocol/server-everything"
SDK_V1 = "@modelcontextprotocol/sdk"
SDK_V2 = ("@modelcontextprotocol/server", "@modelcontextprotocol/client")
CHECK = "python -m workbench ledger 26-19"


@claim(
    "26-17",
    "The reference server 2026.8.31 does not implement 2026-07-28.",
    notebook=ERA,
    says={"version": "2026.8.31", "speaks": "not 2026-07-28"},
)
def reference_revision(bench: Bench) -> Facts:
    tape, found = bench.everything.tape("everything_probe"), bench.everything.discovery
    recorded = tape.about.get("server", "").rpartition(" ")[2]
    speaks = found.get("result", {}).get("supportedVersions", [])
    return {
        "version": recorded or everything.installed(REFERENCE),
        "speaks": revision.CURRENT if revision.CURRENT in speaks else f"not {revision.CURRENT}",
    }


@claim(
    "26-18",
    "It is built on the TypeScript SDK 1.30.0, published on 27 July 2026, a day before the "
    "revision.",
    notebook=ERA,
    says={"TypeScript SDK underneath": "1.30.0", "published": "2026-07-27"},
)
def built_on(bench: Bench) -> Facts:
    return {
        "TypeScript SDK underneath": everything.installed(SDK_V1) or everything.NO_NODE,
        "published": Later(f"npm view {SDK_V1} time --json | grep 1.30.0"),
    }


@claim(
    "26-19",
    "The TypeScript SDK does not implement the revision.",
    notebook=ERA,
    says={"TypeScript SDK packages that know 2026-07-28": "none"},
    instead="this is true of the v1 package only",
)
def typescript_sdk(bench: Bench) -> Facts:
    v2 = [package for package in SDK_V2 if everything.installed(package)]
    knows = [name for name in v2 if everything.mentions(name, revision.CURRENT)]
    v1 = "knows it" if everything.mentions(SDK_V1, revision.CURRENT) else "does not know it"
    return {
        "TypeScript SDK packages that know 2026-07-28": (
            (knows or "none") if v2 else Later(f"npm install --no-save {SDK_V2[0]} && {CHECK}")
        ),
        f"the v1 package, {SDK_V1}": v1 if everything.installed(SDK_V1) else "not here",
    }


@claim(
    "26-22",
    "Without any handshake, `tools/list` returns the full catalogue.",
    notebook=ERA,
    says={"tools listed without a handshake": "13 of 13"},
    instead="one tool is registered on `notifications/initialized`, so a bare list lacks it",
)
def catalogue_without_handshake(bench: Bench) -> Facts:
    bare_list = bench.everything.listed("everything_bare")
    full = [tool["name"] for tool in bench.everything.listed("everything_probe")]
    some = [tool["name"] for tool in bare_list]
    initialized = bench.everything.listed("everything_initialized")
    return {
        "tools listed without a handshake": f"{len(some)} of {len(full)}",
        "missing": [name for name in full if name not in some],
        "after notifications/initialized alone": len(initialized),
    }


@claim(
    "26-23",
    "The reference server has 13 tools, 7 resources and 4 prompts.",
    notebook=ERA,
    says={"tools": 13, "resources": 7, "prompts": 4},
)
def catalogue(bench: Bench) -> Facts:
    kinds = ("tools", "resources", "prompts")
    counts = {kind: len(bench.everything.listed("everything_probe", kind)) for kind in kinds}
    return {**counts, "tools for a client that claims everything": bench.everything.claiming_all}
