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

_lock = threading.RLock()  # reentrant: a garbage collection in here may close another transport
_groups: set[int] = set()
_reaper: subprocess.Popen[bytes] | None = None


def watch(group: int) -> None:
    """End this process group if we die before `forget` is called."""
    global _reaper
    if os.name == "nt":
        return
    with _lock:
        _groups.add(group)
        if _reaper is None or _reaper.poll() is not None:
            _reaper = _launch()
            _tell("".join(f"+{each}\n" for each in _groups))
        else:
            _tell(f"+{group}\n")


def forget(group: int) -> None:
    """The group has been ended and reaped: from now on its number may belong to a stranger."""
    with _lock:
        _groups.discard(group)
        _tell(f"-{group}\n")


def _tell(lines: str) -> None:
    if _reaper is not None and _reaper.stdin:
        with contextlib.suppress(OSError, ValueError):  # it died; the next child starts another
            _reaper.stdin.write(lines.encode())


def _launch() -> subprocess.Popen[bytes] | None:
    import subprocess
    import weakref

    try:
        started = subprocess.Popen(
            [sys.executable, "-I", "-S", os.path.abspath(__file__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
    except OSError:  # no second process to be had: the servers still end with their input
        return None
    # At exit, finalizers run newest first, so the transports made after this are closed by then.
    weakref.finalize(started, _dismiss, started)
    return started


def _dismiss(reaper: subprocess.Popen[bytes]) -> None:
    """At a normal exit the servers are closed already; the reaper leaves when its pipe closes."""
    if reaper.stdin:
        reaper.stdin.close()
    reaper.wait()


def _start_over() -> None:
    """In a forked child: reaper and groups are the parent's, and our copy of its pipe must go."""
    global _lock, _reaper
    _lock = threading.RLock()
    _groups.clear()
    if _reaper is not None:
        if _reaper.stdin:
            _reaper.stdin.close()
        _reaper.returncode = 0  # no child of ours: nothing to wait for
    _reaper = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_over)


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
