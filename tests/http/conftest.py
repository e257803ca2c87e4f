"""Every test here ends with the threads it began with, and few of them start a process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from mcp_bare.http_server import HttpServer
from tests.http import lab
from tests.protocol.conftest import no_process_left_behind

__all__ = ["no_process_left_behind"]
PATIENCE = 5.0


@pytest.fixture(autouse=True)
def no_thread_left_behind() -> Iterator[None]:
    """Fail a test whose servers or clients leave a thread of theirs."""
    before = len(_ours())
    yield
    deadline = time.monotonic() + PATIENCE
    while len(left := _ours()) > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(left) <= before, f"left behind: {left}"


def _ours() -> list[threading.Thread]:
    """Threads of the toolkit. A server that tests share has one, but not always the same."""
    return [thread for thread in threading.enumerate() if "mcp-http" in thread.name]


@pytest.fixture
def http() -> Iterator[HttpServer]:
    """The lab's server at an address."""
    with HttpServer(lab.build()) as running:
        yield running
