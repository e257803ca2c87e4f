"""The npm reference server: asked once for all checks, or read from its recordings.

What is asked, and in what order, are the scenarios of `workbench.scenarios`. Where Node is here a
scenario is run now; where it is not, its tape is loaded, and the finding says so. Either way a
check reads a tape, and cannot tell the two apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from mcp_bare import revision
from mcp_bare.stdio import StdioTransport
from mcp_bare.tape import CAME, SENT, Tape
from workbench import node, recorded, reference, scenarios, servers
from workbench.ledger.claim import Later

MODULES = node.ROOT / "node_modules"
NO_NODE = Later("uv sync (it brings Node, which is missing here)")


class Everything:
    """The tapes of the reference server, each made when first asked for."""

    def __init__(self, notes: list[str]) -> None:
        self._notes = notes
        self._tapes: dict[str, Tape] = {}
        self._transports: list[StdioTransport] = []

    def tape(self, scenario: str) -> Tape:
        """What the wire carried: tape("everything_bare")."""
        if scenario not in self._tapes:
            self._tapes[scenario] = self._run(scenario)
        tape = self._tapes[scenario]
        if "recorded" in tape.about:
            self._notes.append(f"from the recording of {tape.about['recorded']}")
        return tape

    def _run(self, name: str) -> Tape:
        scenario = scenarios.SCENARIOS[name]
        if self._live is None:
            return recorded.load(name)
        tape = Tape()
        scenario.ask(self._connect, tape)
        return tape

    @cached_property
    def _live(self) -> servers.OpenTransport | None:
        return servers.live_everything()

    def _connect(self) -> StdioTransport:
        assert self._live is not None
        self._transports.append(self._live())
        return self._transports[-1]

    @property
    def greetings(self) -> list[str] | Later:
        """What each process of this run wrote to stderr; a tape does not hold that."""
        if self._live is None:
            return NO_NODE
        return [transport.stderr_tail.strip() for transport in self._transports]

    # --- facts of its tapes ---

    @property
    def discovery(self) -> dict[str, Any]:
        """The answer to `server/discover`, whatever it is."""
        return next(answers(self.tape("everything_probe"), revision.DISCOVER))

    @property
    def opened(self) -> dict[str, Any]:
        """The answer to an `initialize` that asks for the current revision."""
        return result(self.tape("everything_initialize"), "initialize")

    @property
    def claiming_all(self) -> int:
        """How many tools it lists to a client that claims every capability there is."""
        *_, all_of_them = reference.CLAIMS.values()
        if self._live is None:
            *_, last = answers(self.tape("everything_claims"), "tools/list")
            return len(last["result"]["tools"])
        with reference.handshake(self._connect, all_of_them) as client:
            return len(client.list_tools())

    def listed(self, scenario: str, kind: str = "tools") -> list[dict[str, Any]]:
        """The tools (resources, prompts) that it listed in a scenario."""
        return result(self.tape(scenario), f"{kind}/list")[kind]


def answers(tape: Tape, method: str) -> Iterator[dict[str, Any]]:
    """The answers to every request of this method, connection by connection."""
    waiting: dict[Any, str] = {}
    for entry in tape:
        message = entry.message or {}
        if entry.direction == SENT and "id" in message:
            waiting[message["id"]] = message.get("method", "")
        elif entry.direction == CAME and waiting.get(message.get("id")) == method:
            yield message


def result(tape: Tape, method: str) -> dict[str, Any]:
    """The first result of this method."""
    return next(found["result"] for found in answers(tape, method) if "result" in found)


def installed(package: str) -> str | None:
    """The version of an npm package that is on the disk, or None."""
    try:
        text = (MODULES / package / "package.json").read_text("utf-8")
    except OSError:
        return None
    return json.loads(text)["version"]


def mentions(package: str, text: str) -> bool:
    """Does the JavaScript of this installed package contain that text?"""
    files = (MODULES / package / "dist").rglob("*.*js")
    return any(text in file.read_text("utf-8", "replace") for file in files)
