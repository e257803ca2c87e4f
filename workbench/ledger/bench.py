"""The real parts that checks run against. Each starts when first needed and ends with the run.

    with Bench() as bench:
        bench.sdk.discover()                     one process of the official SDK, for all checks
        with bench.toy("calendar_by_hand") as client:  a process of its own

Does not handle: what the parts say. `everything` has the npm reference server, and its recordings.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any

from mcp_bare.client import Client
from mcp_bare.stdio import StdioTransport
from workbench import environments, node, servers
from workbench.ledger import abroad, imports, logs
from workbench.ledger.everything import Everything
from workbench.ledger.quotes import SOURCES, Pages, Source
from workbench.ledger.web import Web

FORMS = {"elicitation": {"form": {}}}
PATIENCE = 40.0
SDK = Path(__file__).with_name("sdk")
SDK_SERVER = [sys.executable, str(SDK / "sdk_calendar.py")]
SDK_CLIENT = [sys.executable, str(SDK / "sdk_client.py")]
SDK_WEB = [sys.executable, str(SDK / "sdk_web.py")]
SDK_FACTS = [sys.executable, str(SDK / "sdk_facts.py")]
TS_WEB = str(SDK / "ts_web.mjs")


class _Asked(dict[str, Any]):
    """A hand is asked when a claim first looks at it."""

    def __init__(self, ask: Callable[[str], Any]):
        self._ask = ask

    def __missing__(self, party: str) -> Any:
        self[party] = self._ask(logs.HANDS[party])
        return self[party]


class Bench:
    """The parts of one run. `texts` are checkouts of what is quoted, by the source's name."""

    def __init__(self, texts: Mapping[str, Path] | None = None, extra: bool = True):
        self.texts = dict(texts or {})
        self.extra = extra  # also what stands in `workbench.environments`, where it is here
        self.notes: list[str] = []  # what the check that is running should say beside its facts
        self._pages: dict[str, Pages] = {}
        self._ends = ExitStack()

    # --- a process of its own ---

    def toy(self, name: str, *words: str, **how: Any) -> Client:
        """A client with a new process of a toy server; leave it with `with`."""
        how = {"capabilities": FORMS, "timeout": PATIENCE, **how}
        return self._ends.enter_context(servers.open_toy(name, *words, **how))

    def handles(self, user: str) -> Client:
        """A new process of `calendar_handles` that works for this user; all share a database."""
        env = {"CALENDAR_DB": f"{self._folder}/calendar.sqlite3", "CALENDAR_USER": user}
        return self.toy("calendar_handles", env=env)

    def new_sdk(self, *words: str, **how: Any) -> Client:
        """A client with a new process of the official Python SDK's server."""
        command = [*SDK_SERVER, "stdio", *words]
        how = {"capabilities": FORMS, "timeout": PATIENCE, **how}
        return self._ends.enter_context(Client(StdioTransport(command), **how))

    # --- shared by all checks: a stateless server does not mind ---

    @cached_property
    def sdk(self) -> Client:
        """The official Python SDK's server."""
        return self.new_sdk()

    @cached_property
    def calendar(self) -> Client:
        """The calendar by hand. No check that shares it creates an event."""
        return self.toy("calendar_by_hand")

    @cached_property
    def toolkit(self) -> Client:
        """A server built on our toolkit. No check that shares it touches its database."""
        return self.handles("nobody")

    @property
    def modern(self) -> dict[str, Client]:
        """The three servers that speak the current revision, by name."""
        return {
            "calendar by hand": self.calendar,
            "toolkit": self.toolkit,
            "official SDK": self.sdk,
        }

    @cached_property
    def web(self) -> Web:
        """The same SDK server over HTTP."""
        return self._ends.enter_context(Web([*SDK_SERVER, "http"], PATIENCE))

    @cached_property
    def python_web(self) -> dict[str, Any]:
        """The official Python SDK over HTTP: URLs by name, and what it says of itself."""
        return self._ends.enter_context(abroad.Process(SDK_WEB))

    @cached_property
    def node_web(self) -> dict[str, Any] | None:
        """The TypeScript SDKs over HTTP, likewise; None where there is no Node."""
        if self.no_node:
            return None
        return self._ends.enter_context(abroad.Process([node.find().node, TS_WEB]))

    @property
    def no_node(self) -> bool:
        """Whether what runs on Node cannot be started here."""
        return servers.live_everything() is None

    @cached_property
    def logs(self) -> Mapping[str, logs.Log]:
        """What the incident log answered in each hand, by the names of `logs.HANDS`."""
        return _Asked(logs.ask)

    @cached_property
    def crashes(self) -> Mapping[str, Any]:
        """What the failing one said, likewise."""
        from workbench.ledger import crashes

        return _Asked(crashes.ask)

    @cached_property
    def python_facts(self) -> dict[str, Any]:
        """What `sdk/sdk_facts.py` says of the Python SDK."""
        ran = subprocess.run(SDK_FACTS, capture_output=True, timeout=4 * PATIENCE, check=True)
        return json.loads(ran.stdout)

    @cached_property
    def paces(self) -> Mapping[str, list[float]]:
        """The seconds of starts, side by side, by the names of `paces`."""
        from workbench.ledger import paces

        return paces.run(self)

    @cached_property
    def imports(self) -> imports.Imports:
        """What the import of the Python SDK consists of."""
        return imports.of("mcp.server.mcpserver")

    @cached_property
    def python_then(self) -> str:
        """The version of the Python SDK in the `chapter` environment, as it says itself."""
        ask = "from importlib.metadata import version; print(version('mcp'))"
        words = [str(environments.python("chapter")), "-c", ask]
        ran = subprocess.run(words, capture_output=True, timeout=PATIENCE, check=True)
        return ran.stdout.decode().strip()

    @cached_property
    def our_web(self) -> dict[str, str]:
        """Our own over HTTP, in this process."""
        return self._ends.enter_context(abroad.ours())

    @cached_property
    def official_client(self) -> dict[str, dict[str, Any]]:
        """What the SDK's client says of the three, and of one that breaks the framing."""
        commands = {
            "calendar by hand": servers.command("calendar_by_hand"),
            "toolkit": servers.command("calendar_handles"),
            "official SDK": [*SDK_SERVER, "stdio"],
            "rude": servers.command("rude", "stdout-banner"),
        }
        asked = [*SDK_CLIENT, *map(json.dumps, commands.values())]
        ran = subprocess.run(asked, capture_output=True, timeout=4 * PATIENCE, check=True)
        return dict(zip(commands, map(json.loads, ran.stdout.splitlines()), strict=True))

    @cached_property
    def everything(self) -> Everything:
        """The npm reference server; from recordings where there is no Node."""
        return Everything(self.notes)

    def pages(self, source: str) -> Pages | None:
        """The pages of a quoted text, where there is a checkout of it, or it is installed."""
        if source not in self._pages and (folder := self._place(SOURCES[source])):
            self._pages[source] = Pages(SOURCES[source], folder)
        return self._pages.get(source)

    def _place(self, source: Source) -> Path | None:
        """The folder of a quoted text."""
        if source.package and (found := importlib.util.find_spec(source.package)):
            return Path(str(found.origin)).parent
        return self.texts.get(source.name)

    @cached_property
    def _folder(self) -> str:
        return self._ends.enter_context(tempfile.TemporaryDirectory())

    def close(self) -> None:
        """End every process of the run."""
        self._ends.close()

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
