"""Most of these many tests start no process, so they are not searched for one either.

To look through every process of the machine twice a test would take longer than the tests. An
audit hook hears of each process that is started; only then does the search begin.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

STARTED = [0]
STARTING = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn"}
PATIENCE = 5.0


def _listen(event: str, args: object) -> None:
    if event in STARTING:
        STARTED[0] += 1


sys.addaudithook(_listen)


@pytest.fixture(autouse=True)
def no_process_left_behind() -> Iterator[None]:
    """As everywhere: a test fails whose processes outlive it."""
    before, began = STARTED[0], time.time()
    yield
    if STARTED[0] == before:
        return
    deadline = time.monotonic() + PATIENCE
    while (left := started_since(began)) and time.monotonic() < deadline:
        time.sleep(0.02)
    told = [str(process) for process in left]
    for process in left:
        process.kill()
    assert not told, f"left behind: {told}"


def started_since(began: float) -> list[psutil.Process]:
    """Processes of this test run, by the mark that every child of it inherits."""
    mark, found = os.environ["MCP_BARE_TEST_RUN"], []
    for process in psutil.process_iter():
        try:
            ours = process.environ().get("MCP_BARE_TEST_RUN") == mark
            young = process.create_time() >= began - 0.1
            if ours and young and "reaper" not in " ".join(process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found
