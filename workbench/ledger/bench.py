"""The real parts that checks run against. Each starts when first needed and ends with the run.

    with Bench() as bench:
        bench.sdk.discover()                     one process of the official SDK, for all checks
        with bench.toy("calendar_by_hand") as client:  a process of its own

Does not handle: what the parts say. `everything` has the npm reference server, and its recordings.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any

from mcp_bare.client import Client
from mcp_bare.stdio import StdioTransport
from workbench import node, servers
from workbench.ledger import abroad
from workbench.ledger.everything import Everything
from workbench.ledger.quotes import SOURCES, Pages
from workbench.ledger.web import Web

FORMS = {"elicitation": {"form": {}}}
PATIENCE = 15.0
SDK = Path(__file__).with_name("sdk")
SDK_SERVER = [sys.executable, str(SDK / "sdk_calendar.py")]
SDK_CLIENT = [sys.executable, str(SDK / "sdk_client.py")]
SDK_WEB = [sys.executable, str(SDK / "sdk_web.py")]
TS_WEB = str(SDK / "ts_web.mjs")


class Bench:
    """The parts of one run. `texts` are checkouts of what is quoted, by the source's name."""

    def __init__(self, texts: Mapping[str, Path] | None = None):
        self.texts = dict(texts or {})
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
        if servers.live_everything() is None:
            return None
        return self._ends.enter_context(abroad.Process([node.find().node, TS_WEB]))

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
        """The pages of a quoted text, where there is a checkout of it."""
        if source in self.texts and source not in self._pages:
            self._pages[source] = Pages(SOURCES[source], self.texts[source])
        return self._pages.get(source)

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
