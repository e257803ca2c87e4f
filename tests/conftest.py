"""What every test may lean on, and what none may do: leave a process behind."""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import psutil
import pytest

from workbench import node

pytest_plugins = ["tests.oracle.plugin"]

# They change when output arrives, and what an import leaves behind: not for us, not for a child.
for name in ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"):
    os.environ.pop(name, None)

# Inherited by every process that a test starts, also by one whose parent has died.
MARK = f"{os.getpid()}-{time.time_ns()}"
os.environ["MCP_BARE_TEST_RUN"] = MARK

GRACE = 5.0


@pytest.fixture(scope="session")
def repo() -> Path:
    """The root of the repository."""
    return node.ROOT


@pytest.fixture(scope="session")
def node_parts() -> Path:
    """node_modules, with the published servers; installed if it is missing."""
    try:
        return node.ensure()
    except node.NodeUnavailable as trouble:
        missing(str(trouble))


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium that Playwright can drive."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    return found or missing("no chromium on PATH; `apt-get install chromium` brings it")


def missing(remedy: str) -> NoReturn:
    """Skip a learner's test for want of a part; in CI every part must be there."""
    if os.environ.get("CI") == "true":
        pytest.fail(remedy)
    pytest.skip(remedy)


@pytest.fixture(autouse=True)
def no_process_left_behind() -> Iterator[None]:
    """Fail a test whose processes outlive it: children, and orphans of children."""
    before = ours()
    yield
    left = leftovers(before)
    deadline = time.monotonic() + GRACE
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left = leftovers(before)
    if left:
        told = [describe(process) for process in left]
        end(left)
        pytest.fail("left behind:\n" + "\n".join(told))


def ours() -> set[psutil.Process]:
    """Every process that this test run started and that is still there."""
    found = set(psutil.Process().children(recursive=True))
    for process in psutil.process_iter():
        try:
            if process.environ().get("MCP_BARE_TEST_RUN") == MARK:
                found.add(process)
        except psutil.Error:
            continue
    return found - {psutil.Process()}


def leftovers(before: set[psutil.Process]) -> list[psutil.Process]:
    """The processes that came since `before`, but for the project's own long-lived helper."""
    return [process for process in ours() - before if not is_reaper(process)]


def is_reaper(process: psutil.Process) -> bool:
    """Whether this is the helper that outlives its owner on purpose, to reap what it left."""
    try:
        command = " ".join(process.cmdline())
    except psutil.Error:
        return False
    return "mcp_bare" in command and "reaper" in command


def describe(process: psutil.Process) -> str:
    """One line on a process that should be gone."""
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return f"{process.pid} {process.name()}: has ended, and nobody waited for it"
        return f"{process.pid} {process.status()}: {' '.join(process.cmdline())}"
    except psutil.Error:
        return f"{process.pid} (ended just now)"


def end(processes: list[psutil.Process]) -> None:
    """Kill what is left, so that the next test does not trip over it."""
    for process in processes:
        try:
            process.kill()
        except psutil.Error:
            continue
