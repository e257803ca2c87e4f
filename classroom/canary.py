"""What the canary does in the sandbox: it tries each thing that must not go, and says what went.

It prints a JSON list of what is wrong; an empty list is a sandbox that holds. `sandbox.prove` gives
it the limits to find and the folders not to find. Standard library only.
"""

import contextlib
import json
import os
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator


def wrong(limits: dict[str, int], outside: list[str]) -> Iterator[str]:
    """Each promise that is not kept, in a few words."""
    if 0 in (os.getuid(), os.geteuid(), os.getgid()):
        yield "it runs as root"
    for name, limit in (
        ("memory", resource.RLIMIT_AS),
        ("processes", resource.RLIMIT_NPROC),
        ("file_size", resource.RLIMIT_FSIZE),
        ("open_files", resource.RLIMIT_NOFILE),
        ("cpu", resource.RLIMIT_CPU),
    ):
        if resource.getrlimit(limit) != (limits[name], limits[name]):
            yield f"no bound on {name}"
    yield from (f"{place} can be seen" for place in outside if os.path.exists(place))
    yield from (f"{place} can be written to" for place in [*sys.path, "/", "/kit"] if writes(place))
    if not writes("/tmp"):
        yield "/tmp cannot be written to"
    if os.statvfs("/tmp").f_blocks * os.statvfs("/tmp").f_frsize > limits["scratch"]:
        yield "no bound on /tmp"
    if {name for _, name in socket.if_nameindex()} - {"lo"}:
        yield "it has a network"
    if len([name for name in os.listdir("/proc") if name.isdigit()]) > 4:
        yield "it sees other processes"
    yield from works()


def works() -> Iterator[str]:
    """What a learner's code may do, and cannot."""
    try:
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
    except RuntimeError as trouble:
        yield f"no thread starts: {trouble}"
    try:
        subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True, timeout=10)
    except (OSError, subprocess.SubprocessError) as trouble:
        yield f"no process starts: {trouble}"


def writes(place: str) -> bool:
    """Whether a file can be made in this folder."""
    path = os.path.join(place, ".canary")
    with contextlib.suppress(OSError):
        with open(path, "w"):
            pass
        os.unlink(path)
        return True
    return False


if __name__ == "__main__":
    print(json.dumps(list(wrong(**json.loads(sys.argv[1])))))
