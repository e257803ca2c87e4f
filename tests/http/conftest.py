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
    before = set(threading.enumerate())
    yield
    deadline = time.monotonic() + PATIENCE
    while (left := _ours(before)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not left, f"left behind: {left}"


def _ours(before: set[threading.Thread]) -> list[threading.Thread]:
    """Threads of the toolkit; a connection's is named by socketserver."""
    words = ("mcp-http", "process_request_thread")
    return [
        thread
        for thread in threading.enumerate()
        if thread not in before and any(word in thread.name for word in words)
    ]


@pytest.fixture
def http() -> Iterator[HttpServer]:
    """The lab's server at an address."""
    with HttpServer(lab.build()) as running:
        yield running
