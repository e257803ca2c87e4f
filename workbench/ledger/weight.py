"""Claims 27-25 to 27-27, 27-31 to 27-33, 27-36 and 27-68: what is installed, and what is loaded."""

from __future__ import annotations

import json
import platform
from pathlib import Path

from workbench import hands, node, raw_stream, servers
from workbench.ledger import everything, installed, logs
from workbench.ledger.bench import SDK, Bench
from workbench.ledger.claim import Facts, Later, claim
from workbench.ledger.logs import HANDS, PY_THEN, V1, V2
from workbench.ledger.published import SDK_V1
from workbench.ledger.stray import ASKED

WEIGHS = "ch27/05_what_it_weighs"
SDK_V2 = "@modelcontextprotocol/server"
EIGHT = ["@modelcontextprotocol/sdk", "ajv", "ajv-formats", "fast-deep-equal", "fast-uri"]
EIGHT += ["json-schema-traverse", "zod", "zod-to-json-schema"]
UNREAD = ["express", "hono", "jose", "eventsource"]


def sdk_v1() -> dict[str, Path]:
    """The chapter's TypeScript SDK with all it needs."""
    return installed.npm(SDK_V1, node.CHAPTER)


def mebibytes(bench: Bench, places: dict[str, Path]) -> float | Later:
    """The size of npm packages, where they are here."""
    there = not bench.no_node and all(folder.is_dir() for folder in places.values())
    return (
        installed.mebibytes(installed.own_files(places.values())) if there else everything.NO_NODE
    )


@claim(
    "27-25",
    "The TypeScript SDK comes as 94 packages, the Python SDK as 28: more than three times as many.",
    notebook=WEIGHS,
    says={"TypeScript": 94, "Python": 28},
)
def packages(bench: Bench) -> Facts:
    return {
        "TypeScript": len(installed.names(sdk_v1())),
        "Python": len(installed.python("mcp")),
        "TypeScript, copies of one package counted": len(sdk_v1()),
        "TypeScript v2, a server": len(installed.npm(SDK_V2, node.ROOT)),
    }


@claim(
    "27-26",
    "The 94 packages of TypeScript are lighter than Python's 28: 13.9 MiB, less than a third.",
    notebook=WEIGHS,
    says={"TypeScript, in whole MiB": 14, "of Python's bytes": "less than a third"},
    instead="it is about half; a third comes out if one counts what Python compiled, and pip, too",
)
def bytes_on_disk(bench: Bench) -> Facts:
    typescript = mebibytes(bench, sdk_v1())
    brought = installed.python("mcp").values()
    python = installed.mebibytes(installed.files(brought, bytecode=False))
    share: str | Later = everything.NO_NODE
    if not isinstance(typescript, Later):
        part = typescript / python
        share = "less than a third" if part < 1 / 3 else f"{part:.0%}"
    return {
        "TypeScript, in whole MiB": (
            typescript if isinstance(typescript, Later) else round(typescript)
        ),
        "of Python's bytes": share,
        "TypeScript, MiB": typescript,
        "Python, MiB": python,
        "Python with what it compiled, MiB": installed.mebibytes(
            installed.files(brought, bytecode=True)
        ),
        "TypeScript v2, a server, MiB": mebibytes(bench, installed.npm(SDK_V2, node.ROOT)),
    }


@claim(
    "27-27",
    "Python's bytes are compiled artifacts: cryptography, pydantic-core and uvicorn.",
    notebook=WEIGHS,
    says={"compiled, of these three": ["cryptography", "pydantic-core", "uvicorn"]},
    instead="uvicorn is Python alone; cryptography is the heavy one",
)
def artifacts(bench: Bench) -> Facts:
    brought = installed.python("mcp")
    named = artifacts.says["compiled, of these three"]
    sizes = {
        name: installed.mebibytes(installed.files([its], bytecode=False))
        for name, its in brought.items()
    }
    heaviest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:4]
    return {
        "compiled, of these three": [name for name in named if installed.compiled(brought[name])],
        "all that are": [name for name in sorted(brought) if installed.compiled(brought[name])],
        "the heaviest, in MiB": {name: sizes[name] for name in heaviest},
    }


@claim(
    "27-31",
    "Of the 94 packages of TypeScript a server on stdio loads eight.",
    notebook=WEIGHS,
    says={"loaded": EIGHT, "installed": 94},
)
def eight_of_94(bench: Bench) -> Facts:
    return {
        "loaded": logs.why_not(bench, V1) or loaded(V1),
        "installed": len(installed.names(sdk_v1())),
        "v2": logs.why_not(bench, V2) or loaded(V2),
    }


def loaded(party: str) -> list[str]:
    """The npm packages that the incident log on this SDK has loaded once it has answered."""
    program, *words = hands.command(HANDS[party])
    hook = ["--import", (SDK / "loaded.mjs").as_uri()]
    env = servers.bare_environment()
    [said] = raw_stream.talk([program, *hook, *words], ASKED, env).err[-1:]
    return sorted(json.loads(said))


@claim(
    "27-32",
    "Of the 28 of Python it loads eighteen.",
    notebook=WEIGHS,
    says={"loaded": 18, "installed": 28},
)
def eighteen_of_28(bench: Bench) -> Facts:
    brought = installed.python("mcp")
    found = [
        name for name in map(installed.normal, bench.python_facts["loaded"]) if name in brought
    ]
    return {
        "loaded": len(found),
        "installed": len(brought),
        "not loaded": sorted(set(brought) - set(found)),
    }


@claim(
    "27-33",
    "Express, Hono, jose and eventsource come along with the TypeScript SDK and lie on the disk "
    "unread.",
    notebook=WEIGHS,
    says={"installed, of these": UNREAD, "loaded, of these": "none"},
)
def unread(bench: Bench) -> Facts:
    brought, missing = installed.names(sdk_v1()), logs.why_not(bench, V1)
    read = missing or ([name for name in UNREAD if name in loaded(V1)] or "none")
    newer = installed.names(installed.npm(SDK_V2, node.ROOT))
    return {
        "installed, of these": [name for name in UNREAD if name in brought],
        "loaded, of these": read,
        "installed with a server of v2": [name for name in UNREAD if name in newer] or "none",
    }


@claim(
    "27-36",
    "The types of the wire are Pydantic models, a class for each message of each revision.",
    notebook=WEIGHS,
    says={"revisions that have models of their own": "all"},
    instead="two of the five have; the older three are read with the models of 2025-11-25",
)
def a_class_each(bench: Bench) -> Facts:
    from mcp_types.version import KNOWN_PROTOCOL_VERSIONS as KNOWN

    models = bench.python_facts["wire classes"]
    own = [each for each in KNOWN if f"_v{each.replace('-', '_')}" in models]
    return {
        "revisions that have models of their own": "all" if own == list(KNOWN) else own,
        "revisions it knows": len(KNOWN),
        "models by module": models,
    }


@claim(
    "27-68",
    "All of it was measured with the SDK 1.30.0, zod 3.25.76 and mcp 2.1.1, on Node 22.22.3 and "
    "Python 3.14.4.",
    notebook=WEIGHS,
    says={SDK_V1: "1.30.0", "zod": "3.25.76", "mcp": "2.1.1"},
)
def pins(bench: Bench) -> Facts:
    def version(package: str) -> str | Later:
        place = node.CHAPTER / "node_modules" / package / "package.json"
        there = place.is_file() and not bench.no_node
        return json.loads(place.read_text("utf-8"))["version"] if there else everything.NO_NODE

    return {
        SDK_V1: version(SDK_V1),
        "zod": version("zod"),
        "mcp": logs.why_not(bench, PY_THEN) or bench.python_then,
        "here, Python": platform.python_version(),
    }
