"""What an import consists of: `-X importtime`, added up by package.

    found = imports.of("mcp.server.mcpserver")
    found.part("mcp_types")            0.42: of the time, what its own modules took themselves
    found.below("mcp.types")           0.25: of the time, what it took with all that it imported

The profiler slows an import down, so only parts of the whole are of use.

Does not handle: what a module would cost that another one has imported first.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass

from workbench import servers

RUNS = 5
_LINE = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \| +(\S+)")


@dataclass(frozen=True)
class Imports:
    """Microseconds by module: its own, and with what it imported first."""

    own: dict[str, int]
    whole: dict[str, int]

    def part(self, *packages: str) -> float:
        """The part of the time that the modules of these packages took themselves."""
        took = sum(us for name, us in self.own.items() if name.partition(".")[0] in packages)
        return took / sum(self.own.values())

    def below(self, module: str) -> float:
        """The part of the time that this module took with all below it."""
        return self.whole.get(module, 0) / sum(self.own.values())


def of(module: str) -> Imports:
    """Import a module in a fresh Python, under the profiler, a few times: the least of each counts.

    A machine that does something else makes a module slower now and then, never quicker.
    """
    runs = [_once(module) for _ in range(RUNS)]
    return Imports(_least([run.own for run in runs]), _least([run.whole for run in runs]))


def _once(module: str) -> Imports:
    words = [sys.executable, "-X", "importtime", "-c", f"import {module}"]
    env = servers.bare_environment()
    ran = subprocess.run(words, capture_output=True, timeout=60, check=True, env=env)
    lines = _LINE.findall(ran.stderr.decode())
    own: dict[str, int] = {}
    for took, _, name in lines:
        own[name] = own.get(name, 0) + int(took)
    return Imports(own, {name: int(whole) for _, whole, name in lines})


def _least(runs: list[dict[str, int]]) -> dict[str, int]:
    return {name: min(run.get(name, took) for run in runs) for name, took in runs[0].items()}
