"""How long a program takes from its start: to its end, or to its first answer.

    to_the_end([sys.executable, "empty"], env)         seconds
    to_an_answer(hands.command("bare"), env)           seconds until it has answered `tools/list`

Made to be handed to `measure.side_by_side`. The question is of the current revision, with no
handshake before it; a server that does not answer it is ended after `patience` and is an error.

Does not handle: servers of the `initialize` era (`ledger.paces`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence

from mcp_bare import jsonrpc, revision

PATIENCE_S = 60.0
ASKED = jsonrpc.dumps(jsonrpc.request(1, "tools/list", {"_meta": revision.request_meta({})}))


def to_the_end(words: Sequence[str], env: Mapping[str, str], patience: float = PATIENCE_S) -> float:
    """Seconds from the start of a program to its end."""
    begun = time.perf_counter()
    subprocess.run(words, env=env, timeout=patience, check=True, capture_output=True)
    return time.perf_counter() - begun


def to_an_answer(
    words: Sequence[str], env: Mapping[str, str], patience: float = PATIENCE_S
) -> float:
    """Seconds from the start of a server to the line with its tools. Raises RuntimeError."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    begun = time.perf_counter()
    with subprocess.Popen(words, env=env, start_new_session=True, **pipes) as process:
        watchdog = threading.Timer(patience, _end, [process])
        watchdog.start()
        try:
            process.stdin.write(ASKED + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
            taken = time.perf_counter() - begun
            if b'"tools"' not in line:
                raise RuntimeError(f"{words[-1]} answered {line[:200]!r}")
            process.stdin.close()
            process.wait(patience)
            return taken
        finally:
            watchdog.cancel()
            watchdog.join()
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill it with all that it started: a launcher has a shell and a server below it."""
    with contextlib.suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
