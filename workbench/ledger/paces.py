"""How long things take to start, one after the other in the same breath, over and over.

    bench.paces["Python SDK"]          seconds of each round: spawn to the line that answers
    bench.paces["empty Node"]          ... to the end of a program that does nothing

`workbench.measure` runs all of them in every round, so that what else the machine does hits all
alike. The claims look at ratios, and only at what a busy machine does not turn around.

Does not handle: a single start (`workbench.starts`), what an import consists of (`imports`),
packaging (`launchers`).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import hands, measure, servers, starts
from workbench.ledger import logs
from workbench.ledger.launchers import npx, uvx
from workbench.ledger.logs import HANDS, PY, V1
from workbench.ledger.stray import ASKED

if TYPE_CHECKING:
    from workbench.ledger.bench import Bench

ROUNDS = 5
COLD_ROUNDS = 2  # a start without bytecode takes seconds: these two are measured by themselves
EMPTY_PYTHON, EMPTY_NODE = "empty Python", "empty Node"
IMPORT = "import of the Python SDK"
NO_BYTECODE, BYTECODE = "Python SDK without bytecode", "Python SDK with bytecode"
NPX, UVX = "TypeScript v1 by npx", "empty Python by uvx"
IMPORTS = "import mcp.server.mcpserver"


def server(words: Sequence[str], env: Mapping[str, str]) -> float:
    """Seconds until a server of any era has listed its tools: an old one wants its handshake."""
    return starts.to_an_answer(words, env, asked=ASKED)


def run(bench: Bench) -> dict[str, list[float]]:
    """The seconds of every round, by what was started. What is not here is not in it."""
    with tempfile.TemporaryDirectory() as folder:
        started = _started(bench, Path(folder))
        pair = {NO_BYTECODE: started.pop(NO_BYTECODE), BYTECODE: started[PY]}
        return {
            **measure.side_by_side(started, ROUNDS),
            **measure.side_by_side(pair, COLD_ROUNDS, warm=0),
        }


def least(start: Callable[[], float]) -> float:
    """The shortest of three: what takes hundredths of a second is easily disturbed."""
    return min(start() for _ in range(3))


def _started(bench: Bench, folder: Path) -> dict[str, Callable[[], float]]:
    """What is started in a round; each returns its seconds."""
    env = servers.bare_environment()
    python, cold = hands.command(HANDS[PY]), {**env, "PYTHONPYCACHEPREFIX": str(folder / "none")}
    empty = folder / "empty"
    empty.touch()
    found = {
        EMPTY_PYTHON: partial(least, partial(starts.to_the_end, [sys.executable, str(empty)], env)),
        IMPORT: partial(starts.to_the_end, [sys.executable, "-c", IMPORTS], env),
        PY: partial(server, python, env),
        NO_BYTECODE: partial(server, python, {**cold, "PYTHONDONTWRITEBYTECODE": "1"}),
    }
    if not logs.why_not(bench, V1):
        direct = hands.command(HANDS[V1])
        found[EMPTY_NODE] = partial(least, partial(starts.to_the_end, [direct[0], str(empty)], env))
        found[V1] = partial(server, direct, env)
        if launcher := npx(folder, direct):
            found[NPX] = partial(server, *launcher)
    if launcher := uvx(folder):
        found[UVX] = partial(least, partial(starts.to_the_end, *launcher))
    return found
