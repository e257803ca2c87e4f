"""The pre-flight check: what the course needs, one line each, with the remedy where it is missing.

Does not install anything and needs no network.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
SYNC = "run `uv sync` in the course's folder"


@dataclass(frozen=True)
class Finding:
    """One line of the check. `needed` says whether the course can run without it."""

    what: str
    found: bool
    needed: bool
    remedy: str = ""

    def __str__(self) -> str:
        mark = "ok  " if self.found else ("MISS" if self.needed else "skip")
        return f"{mark} {self.what}" + ("" if self.found else f"  ->  {self.remedy}")


def examine() -> Iterator[Finding]:
    """Every finding, cheapest first."""
    yield Finding("Python 3.11 or newer", sys.version_info >= (3, 11), True, "install Python 3.11")
    yield Finding(
        "one exchange with a server of our own", _exchange(), True, "this is a bug: tell us"
    )
    for module, what in (
        ("jupyterlab", "JupyterLab"),
        ("ipywidgets", "forms and sliders (ipywidgets)"),
        ("matplotlib", "charts (matplotlib)"),
        ("mcp", "the official Python SDK (mcp), to compare with"),
    ):
        yield Finding(what, importlib.util.find_spec(module) is not None, True, SYNC)
    node = _executable("node")
    yield Finding("Node, for servers in TypeScript", node is not None, False, SYNC)
    everything = ROOT / "node_modules" / "@modelcontextprotocol" / "server-everything"
    yield Finding("the reference server (npm)", everything.exists(), False, SYNC)
    bubblewrap = shutil.which("bwrap") is not None
    yield Finding("bubblewrap, to grade a class", bubblewrap, False, "apt install bubblewrap")


def main() -> int:
    """Print the findings; 0 if nothing that is needed is missing."""
    findings = list(examine())
    print("\n".join(str(finding) for finding in findings))
    missing = [finding for finding in findings if finding.needed and not finding.found]
    print(f"\n{len(missing)} missing" if missing else "\nReady.")
    return 1 if missing else 0


def _executable(name: str) -> str | None:
    beside = Path(sys.executable).parent / name
    return str(beside) if os.access(beside, os.X_OK) else shutil.which(name)


def _exchange() -> bool:
    from mcp_bare.client import Client
    from mcp_bare.memory import MemoryTransport
    from mcp_bare.server import Server

    with Client(MemoryTransport(Server("doctor", "1.0.0"))) as client:
        return "supportedVersions" in client.discover()
