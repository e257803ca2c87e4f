"""A second process whose only job is to outlive us: when we die, it ends the servers we started.

`atexit` does not run in a process that is killed, and Jupyter restarts a kernel by killing it. The
reaper holds the other end of a pipe; when that pipe closes, however it came to close, every group
still on its list is terminated, then killed. It is started with the first child, once.

Does not handle: Windows, where a server ends when its input does.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess

_lock = threading.Lock()
_reaper: subprocess.Popen[bytes] | None = None
_owner = 0  # the process that started it: after a fork the child starts its own


def watch(group: int) -> None:
    """End this process group if we die before `forget` is called."""
    _tell("+", group, start=True)


def forget(group: int) -> None:
    """The group has been ended and reaped."""
    _tell("-", group, start=False)


def _tell(sign: str, group: int, start: bool) -> None:
    global _reaper, _owner
    if os.name == "nt":
        return
    with _lock:
        if start and (_reaper is None or _owner != os.getpid() or _reaper.poll() is not None):
            _reaper, _owner = _launch(), os.getpid()
        if _reaper is not None and _owner == os.getpid() and _reaper.stdin:
            with contextlib.suppress(OSError):  # it died; the next child starts another
                _reaper.stdin.write(f"{sign}{group}\n".encode())


def _launch() -> subprocess.Popen[bytes]:
    import subprocess
    import weakref

    started = subprocess.Popen(
        [sys.executable, "-I", "-S", os.path.abspath(__file__)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        start_new_session=True,
    )
    # Finalizers run in reverse order: this one after those of the transports that came later.
    weakref.finalize(started, _dismiss, started)
    return started


def _dismiss(reaper: subprocess.Popen[bytes]) -> None:
    """At a normal exit the servers are closed already; the reaper leaves when its pipe closes."""
    if _owner == os.getpid() and reaper.stdin:
        reaper.stdin.close()
        reaper.wait()


def _main() -> None:
    import signal
    import time

    groups = set()
    for line in sys.stdin:
        sign, group = line[0], int(line[1:])
        if sign == "+":
            groups.add(group)
        else:
            groups.discard(group)
    for ending in (signal.SIGTERM, signal.SIGKILL):
        for group in groups:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, ending)
        if groups and ending == signal.SIGTERM:
            time.sleep(1.0)


if __name__ == "__main__":
    _main()
