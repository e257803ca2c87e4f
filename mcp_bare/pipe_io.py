"""Writing to a pipe that may be full, and waiting for one that may never speak.

Does not handle: lines (`framing`), or who is at the other end.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

CHUNK = 65536
TICK = 0.25  # seconds between two looks at what a pipe cannot tell


def write_all(fd: int, data: bytes, when_full: Callable[[], None] = lambda: None) -> None:
    """Write every byte. While the pipe is full, `when_full` is asked, and may raise."""
    sent = 0
    while sent < len(data):
        try:
            sent += os.write(fd, memoryview(data)[sent:] if sent else data)
        except BlockingIOError:
            if not ready(fd, "POLLOUT"):
                when_full()


def ready(fd: int, event: str) -> bool:
    """Wait a moment for the pipe. Where a pipe cannot be polled (Windows) it blocks instead."""
    import select

    if not hasattr(select, "poll"):
        return True
    waiting = select.poll()
    waiting.register(fd, getattr(select, event))
    return bool(waiting.poll(TICK * 1000))
