"""Claims 27-06 to 27-13: what the model reads of a server, and what its schemas cost."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from workbench import tokens
from workbench.ledger import logs
from workbench.ledger.bench import SDK, Bench
from workbench.ledger.claim import Facts, claim
from workbench.ledger.logs import FAST, OURS, PY, PY_THEN, V1, V2, Log

READS = "ch27/02_what_the_model_reads"
NAMED = ("resources/types.py", "utilities/func_metadata.py")
INDENTS = "pydantic_core.to_json(result, fallback=str, indent=2)"


def weight(log: Log) -> int:
    """The tokens of the whole catalogue, all keys."""
    return tokens.count_json(log.tools)


def by_key(log: Log, key: str) -> int:
    """The tokens of one key of all the tools."""
    return sum(tokens.count_json(tool[key]) for tool in log.tools if key in tool)


@claim(
    "27-06",
    "The Python SDK indents what it serializes: `indent=2`, in two of its files.",
    notebook=READS,
    says={NAMED[0]: "indents", NAMED[1]: "indents"},
)
def two_files(bench: Bench) -> Facts:
    folder = Path(str(importlib.util.find_spec("mcp").origin)).parent / "server" / "mcpserver"
    texts = {file: file.read_text("utf-8") for file in folder.rglob("*.py")}
    named = {name: INDENTS in texts.get(folder / name, "") for name in NAMED}
    others = [
        file.relative_to(folder).as_posix()
        for file, text in texts.items()
        if "to_json(" in text and "indent=2" in text
    ]
    return {
        **{name: "indents" if found else "does not" for name, found in named.items()},
        "other files that do": sorted(set(others) - set(NAMED)),
    }


@claim(
    "27-07",
    "Read as a resource, two incidents are 136 characters from TypeScript and 185 from Python, and "
    "25 tokens more: 62 and not 37. (Its two titles are not printed; ours are other words.)",
    notebook=READS,
    says={"characters, TypeScript": 136, "characters, Python": 185, "tokens more": 25},
)
def two_rows(bench: Bench) -> Facts:
    def size(log: Log) -> str:
        return f"{len(log.read)} characters, {tokens.count(log.read)} tokens"

    def more(one: Log, other: Log) -> int:
        return tokens.count(other.read) - tokens.count(one.read)

    return {
        "characters, TypeScript": logs.of(bench, V1, lambda log: len(log.read)),
        "characters, Python": logs.of(bench, PY, lambda log: len(log.read)),
        "tokens more": logs.both(bench, more),
        **logs.each(bench, size, V1, PY, V2, OURS, PY_THEN, FAST),
    }


@claim(
    "27-08",
    "The bridge from Zod stamps a $schema and an additionalProperties on every input schema, so "
    "Python's are the cheaper ones.",
    notebook=READS,
    says={"TypeScript stamps": "3 of 3", "the cheaper input schemas": "Python's"},
)
def stamps(bench: Bench) -> Facts:
    def stamped(log: Log) -> str:
        due = {"$schema", "additionalProperties"}
        return f"{sum(due <= set(tool['inputSchema']) for tool in log.tools)} of {len(log.tools)}"

    def cheaper(one: Log, other: Log) -> str:
        return "Python's" if by_key(other, "inputSchema") < by_key(one, "inputSchema") else V1

    def schemas(log: Log) -> int:
        return by_key(log, "inputSchema")

    return {
        "TypeScript stamps": logs.of(bench, V1, stamped),
        "the cheaper input schemas": logs.both(bench, cheaper),
        **logs.each(bench, stamped, V2, PY, prefix="stamped by "),
        **logs.each(bench, schemas, V1, V2, PY, OURS, prefix="tokens of them, "),
    }


@claim(
    "27-09",
    "Of the two catalogues Python's is the dearer one, by 138 tokens. (Two of the three tools are "
    "not printed, so the figure is the chapter's own.)",
    notebook=READS,
    says={"the dearer catalogue": "Python's"},
)
def dearer(bench: Bench) -> Facts:
    def which(one: Log, other: Log) -> str:
        return "Python's" if weight(other) > weight(one) else "TypeScript's"

    return {
        "the dearer catalogue": logs.both(bench, which),
        "by so many tokens, of ours": logs.both(bench, lambda a, b: weight(b) - weight(a)),
        **logs.each(bench, weight, V1, V2, PY, OURS, FAST, prefix="tokens, "),
    }


@claim(
    "27-10",
    "The gap between the catalogues is one output schema that nobody wrote, of 187 tokens; it "
    "comes from `-> Incident`.",
    notebook=READS,
    says={
        "tools that got an output schema": ["resolve_incident"],
        "tokens that `-> Incident` makes": 187,
    },
    instead="every return annotation makes one; one of four fields is about a hundred tokens, and "
    "187 takes nine or so",
)
def one_schema(bench: Bench) -> Facts:
    sizes = [tokens.count_json(schema) for schema in bench.python_facts["by fields"]]
    made = bench.python_facts["by annotation"]
    return {
        "tools that got an output schema": logs.of(bench, PY, _with_schema),
        "tokens that `-> Incident` makes": sizes[3],
        "tokens by fields, from 1": sizes,
        "annotations that make none": [name for name, schema in made.items() if schema is None],
        **logs.each(bench, lambda log: by_key(log, "outputSchema"), PY, FAST, prefix="tokens, "),
    }


def _with_schema(log: Log) -> list[str]:
    return [tool["name"] for tool in log.tools if "outputSchema" in tool]


@claim(
    "27-11",
    "But for the output schema, the catalogues of both servers have the same keys.",
    notebook=READS,
    says={"keys that only TypeScript's has": "none", "keys that only Python's has": "outputSchema"},
    instead="v1 of the TypeScript SDK ships `execution` with every tool; v2 has dropped it",
)
def same_keys(bench: Bench) -> Facts:
    def keys(log: Log) -> set[str]:
        return {key for tool in log.tools for key in tool}

    def only(one: Log, other: Log) -> str:
        return ", ".join(sorted(keys(one) - keys(other))) or "none"

    return {
        "keys that only TypeScript's has": logs.both(bench, only),
        "keys that only Python's has": logs.both(bench, only, PY, V1),
        "its tokens": logs.of(bench, V1, lambda log: by_key(log, "execution")),
        "keys that only v2 has": logs.both(bench, only, V2, PY),
    }


@claim(
    "27-12",
    "A return annotation brings its schema along, asked for or not.",
    notebook=READS,
    says={"with the annotation": "a schema", "and structured_output=False": "a schema"},
    instead="`structured_output=False` in the decorator leaves it out, and the structured content "
    "with it",
)
def asked_or_not(bench: Bench) -> Facts:
    facts = bench.python_facts
    with_it, without = facts["by annotation"]["-> Incident"], facts["turned off"]
    return {
        "with the annotation": "a schema" if with_it else "no schema",
        "and structured_output=False": "a schema" if without else "no schema",
    }


@claim(
    "27-13",
    "The schema is of use: a client can validate `structuredContent` by it.",
    notebook=READS,
    says={"the official client, given content that fits": "takes it", "that does not": "refuses"},
)
def validated(bench: Bench) -> Facts:
    def reply(log: Log) -> int:
        return tokens.count_json({k: v for k, v in log.found.items() if k != "_meta"})

    taken = [_take(value) for value in ("INC-1", 1)]
    return {
        "the official client, given content that fits": taken[0],
        "that does not": taken[1],
        **logs.each(bench, reply, PY, V1, OURS, prefix="tokens of a search's reply, "),
        **logs.each(bench, _twice, PY, V1, OURS, prefix="the payload is sent, "),
    }


def _twice(log: Log) -> str:
    return "twice" if "structuredContent" in log.found else "once"


def _take(value: Any) -> str:
    """What the official client does with an id of this value, where the schema wants a string."""
    server = [sys.executable, str(SDK / "promises.py"), json.dumps(value)]
    command = [sys.executable, str(SDK / "sdk_validates.py"), *server]
    ran = subprocess.run(command, capture_output=True, timeout=60, check=True)
    return ran.stdout.decode().strip()
