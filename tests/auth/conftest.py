"""Nearly none of these many tests start a process, and each process costs a search of the machine.

So it is threads that are counted here; the one test that starts a process waits for it itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

PATIENCE = 5.0


@pytest.fixture(autouse=True)
def no_process_left_behind() -> Iterator[None]:
    """As everywhere: a test fails whose threads outlive it."""
    before = set(threading.enumerate())
    yield
    deadline = time.monotonic() + PATIENCE
    while (left := set(threading.enumerate()) - before) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not left
