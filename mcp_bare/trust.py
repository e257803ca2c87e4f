"""What a host can check about a stranger's server: its catalogue, its words, and what crosses.

`fingerprint` and `differences` tell whether a catalogue is still the one that was approved.
`warnings` reads a tool's text as what it is, a stranger's. `Crossings` remembers what each server
said, and stops it from reaching another unless it was carried.

Does not handle: every trick. `warnings` knows a few, and a text that a model puts into other words
on its way to another server is not recognized.

Spec: server/tools ("Security Considerations"), architecture/index.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from typing import TYPE_CHECKING

from mcp_bare.errors import McpError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from mcp_bare.revision import JsonObject

SHORTEST_CROSSING = 6  # a shorter text comes up by chance
LONGEST_EXCERPT = 24  # a longer piece of a text does not
_HIDES = re.compile(
    r"(?i)\b(do not|don't|never) (tell|mention|inform|show)\b|\bignore (all|any|prev)"
)


class CrossingRefused(McpError):
    """Text that came from one server was about to reach another, and nobody carried it."""


def fingerprint(tools: list[JsonObject]) -> str:
    """SHA-256 over every key of every tool, whatever their order: 16 hex digits to compare."""
    by_name = {tool["name"]: tool for tool in tools}
    canonical = json.dumps(by_name, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def differences(approved: Mapping[str, JsonObject], now: Mapping[str, JsonObject]) -> Iterator[str]:
    """How a catalogue differs from the approved one: "forecast has another description"."""
    for name in sorted(approved.keys() | now.keys()):
        if name not in now:
            yield f"{name} is gone"
        elif name not in approved:
            yield f"{name} is new"
        else:
            keys = approved[name].keys() | now[name].keys()
            changed = sorted(key for key in keys if approved[name].get(key) != now[name].get(key))
            yield from (f"{name} has another {key}" for key in changed)


def warnings(tool: JsonObject, others: Mapping[str, Mapping[str, JsonObject]]) -> Iterator[str]:
    """What a person should know about a tool before they agree; `others` are the other servers."""
    text = "\n".join(strings(tool))
    hidden = sum(unicodedata.category(letter) in ("Cf", "Co", "Cn") for letter in text)
    if hidden:
        yield f"its text has {hidden} characters that cannot be seen"
    if _HIDES.search(text):
        yield "its text tells the model to hide something, or to ignore its instructions"
    for server, tools in others.items():
        if tool["name"] in tools:
            yield f"{server} has a tool of the same name"
        for name in tools:
            elsewhere = name != tool["name"] and name in text
            if elsewhere and re.search(rf"\b{re.escape(name)}\b", text):
                yield f"its text speaks of {server}'s tool {name}"


class Crossings:
    """Who said what, and what may go where."""

    def __init__(self) -> None:
        self._heard: dict[str, set[str]] = {}
        self._carried: set[tuple[str, str]] = set()

    def hear(self, source: str, result: JsonObject) -> None:
        """Remember the strings of a result that are long enough to be recognized."""
        told = [result.get("content"), result.get("structuredContent")]
        self._heard.setdefault(source, set()).update(
            text for text in strings(told) if len(text) >= SHORTEST_CROSSING
        )

    def carry(self, text: str, source: str, target: str) -> str:
        """Let this text, which `source` said, go to `target`. Returns it."""
        if not any(text in heard for heard in self._heard.get(source, ())):
            raise CrossingRefused(f"{text!r} did not come from {source}")
        self._carried.add((target, text))
        return text

    def check(self, target: str, arguments: JsonObject) -> None:
        """Raise CrossingRefused, naming the text and its source, for what nobody carried."""
        allowed = [text for to, text in self._carried if to == target]
        for text in strings(arguments):
            if any(carried in text for carried in allowed):
                continue
            for source, said in self._said_by_others(target):
                if said in text or (text in said and len(text) >= LONGEST_EXCERPT):
                    raise CrossingRefused(
                        f"the arguments for {target} hold {text[:60]!r}, which came from {source}; "
                        f"carry(..., {source!r}, {target!r}) lets it through on purpose"
                    )

    def _said_by_others(self, target: str) -> Iterator[tuple[str, str]]:
        for source, heard in self._heard.items():
            if source != target:
                yield from ((source, said) for said in sorted(heard))


def strings(value: Any) -> Iterator[str]:
    """Every string inside a JSON value, also inside JSON that is written in a string."""
    if isinstance(value, str):
        yield value
        if value[:1] in ("[", "{"):
            try:
                yield from strings(json.loads(value))
            except (ValueError, RecursionError):
                return
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)
