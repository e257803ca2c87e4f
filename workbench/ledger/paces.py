"""How long things take to start, one after the other in the same breath, over and over.

    bench.paces["Python SDK"]          seconds of each round: spawn to the line that answers
    bench.paces["empty Node"]          ... to the end of a program that does nothing

`workbench.measure` runs all of them in every round, so that what else the machine does hits all
alike. The claims look at ratios, and only at what a busy machine does not turn around.

Does not handle: what an import consists of (`imports`), packaging (`launchers`).
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import hands, measure, servers
from workbench.ledger import logs
from workbench.ledger.launchers import npx, uvx
from workbench.ledger.logs import HANDS, PY, V1
from workbench.ledger.stray import ASKED

if TYPE_CHECKING:
    from workbench.ledger.bench import Bench

PATIENCE = 60.0
ROUNDS = 5
COLD_ROUNDS = 2  # a start without bytecode takes seconds: these two are measured by themselves
EMPTY_PYTHON, EMPTY_NODE = "empty Python", "empty Node"
IMPORT = "import of the Python SDK"
NO_BYTECODE, BYTECODE = "Python SDK without bytecode", "Python SDK with bytecode"
NPX, UVX = "TypeScript v1 by npx", "empty Python by uvx"
IMPORTS = "import mcp.server.mcpserver"


def program(words: Sequence[str], env: Mapping[str, str]) -> float:
    """Seconds from the start of a program to its end."""
    begun = time.perf_counter()
    subprocess.run(words, env=env, timeout=PATIENCE, check=True, capture_output=True)
    return time.perf_counter() - begun


def server(words: Sequence[str], env: Mapping[str, str]) -> float:
    """Seconds from the start of a server to its answer to `tools/list`."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    asked = b"".join(json.dumps(message).encode() + b"\n" for message in ASKED)
    begun = time.perf_counter()
    with subprocess.Popen(list(words), env=dict(env), start_new_session=True, **pipes) as process:
        try:
            process.stdin.write(asked)
            process.stdin.flush()
            while b'"tools"' not in (line := process.stdout.readline()):
                if not line:
                    raise RuntimeError(f"no answer from {words}")
            took = time.perf_counter() - begun
            process.stdin.close()
            process.wait(PATIENCE)
            return took
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it with all that it started: a launcher has a shell and a server below it."""
    with contextlib.suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def run(bench: Bench) -> dict[str, list[float]]:
    """The seconds of every round, by what was started. What is not here is not in it."""
    with tempfile.TemporaryDirectory() as folder:
        started = starts(bench, Path(folder))
        pair = {NO_BYTECODE: started.pop(NO_BYTECODE), BYTECODE: started[PY]}
        return {
            **measure.side_by_side(started, ROUNDS),
            **measure.side_by_side(pair, COLD_ROUNDS, warm=0),
        }


def least(start: Callable[[], float]) -> float:
    """The shortest of three: what takes hundredths of a second is easily disturbed."""
    return min(start() for _ in range(3))


def starts(bench: Bench, folder: Path) -> dict[str, Callable[[], float]]:
    """What is started in a round; each returns its seconds."""
    env = servers.bare_environment()
    python, cold = hands.command(HANDS[PY]), {**env, "PYTHONPYCACHEPREFIX": str(folder / "none")}
    empty = folder / "empty"
    empty.touch()
    found = {
        EMPTY_PYTHON: partial(least, partial(program, [sys.executable, str(empty)], env)),
        IMPORT: partial(program, [sys.executable, "-c", IMPORTS], env),
        PY: partial(server, python, env),
        NO_BYTECODE: partial(server, python, {**cold, "PYTHONDONTWRITEBYTECODE": "1"}),
    }
    if not logs.why_not(bench, V1):
        direct = hands.command(HANDS[V1])
        found[EMPTY_NODE] = partial(least, partial(program, [direct[0], str(empty)], env))
        found[V1] = partial(server, direct, env)
        if launcher := npx(folder, direct):
            found[NPX] = partial(server, *launcher)
    if launcher := uvx(folder):
        found[UVX] = partial(least, partial(program, *launcher))
    return found
