"""How long a program takes from its start: to its end, or to its first answer.

    to_the_end([sys.executable, "empty"], env)         seconds
    to_an_answer(hands.command("bare"), env)           seconds until it has answered `tools/list`

Made to be handed to `measure.side_by_side`. Unless told otherwise the question is of the current
revision, with no handshake before it. Whatever does not answer is ended after `patience`, with all
that it started, and is an error.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mcp_bare import jsonrpc, revision

if TYPE_CHECKING:
    from mcp_bare.revision import JsonObject

PATIENCE_S = 60.0
ASKED = [jsonrpc.request(1, "tools/list", {"_meta": revision.request_meta({})})]


def to_the_end(words: Sequence[str], env: Mapping[str, str], patience: float = PATIENCE_S) -> float:
    """Seconds from the start of a program to its end."""
    begun = time.perf_counter()
    subprocess.run(words, env=env, timeout=patience, check=True, capture_output=True)
    return time.perf_counter() - begun


def to_an_answer(
    words: Sequence[str],
    env: Mapping[str, str],
    patience: float = PATIENCE_S,
    asked: Sequence[JsonObject] = ASKED,
) -> float:
    """Seconds from the start of a server to the line with its tools. Raises RuntimeError.

    `asked` is all that it is told: messages of which the last asks for the tools.
    """
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    said = b"".join(jsonrpc.dumps(message) + b"\n" for message in asked)
    begun = time.perf_counter()
    with subprocess.Popen(words, env=env, start_new_session=True, **pipes) as process:
        watchdog = threading.Timer(patience, _end, [process])
        watchdog.start()
        try:
            process.stdin.write(said)
            process.stdin.flush()
            last = b""
            while b'"tools"' not in (line := process.stdout.readline()):
                if not line:
                    raise RuntimeError(f"{words[-1]} listed no tools; it ended with {last[:200]!r}")
                last = line
            taken = time.perf_counter() - begun
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
