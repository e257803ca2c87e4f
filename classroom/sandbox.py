"""A room without a door for a learner's code: bubblewrap on Linux, an ordinary user in it.

    command = sandbox.command(Limits())      # run it, and inside.py waits at its standard input
    sandbox.prove(Limits())                  # raises SandboxUnavailable, saying what does not hold

In it there is Python with its standard library, `mcp_bare`, `toy_servers` and `inside.py`, all
read-only; an empty /tmp of bounded size; no network, no other process, no home, no environment.
Memory, processes, file sizes, open files and processor time are bounded by `starter`, inside.
Output and waiting are bounded by whoever reads the other end.

Does not handle: the sum of the memory of several processes (each has its own limit; where the
machine runs short, the kernel ends the sandbox first), a hole in the kernel, other systems than
Linux. There, `unprotected` runs the same command with nothing around it, and its name says so.
"""

import contextlib
import functools
import itertools
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import asdict, dataclass
from pathlib import Path

import mcp_bare
import toy_servers

PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
HERE = Path(__file__).resolve().parent
INSIDE = Path("workbench/checks/inside.py")
KIT = {
    "/kit/mcp_bare": Path(mcp_bare.__file__).resolve().parent,
    "/kit/toy_servers": Path(toy_servers.__file__).resolve().parent,
    f"/kit/{INSIDE}": HERE.parent / INSIDE,
    "/kit/starter.py": HERE / "starter.py",
    "/kit/canary.py": HERE / "canary.py",
}
SYSTEM = ("/usr/lib32", "/usr/lib64", "/lib", "/lib32", "/lib64")
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
EMPTY = 4096  # bytes: a folder that nothing goes into
START = 20.0  # seconds

PROMISES = """\
without a sandbox, a learner's code runs as you, on this machine:
  - it can read and delete your files, the hidden checks and the other submissions too;
  - it can use the network;
  - its memory, processes and disk space have no bound; only its waiting time does."""

_numbers = itertools.count()


class SandboxUnavailable(RuntimeError):
    """No sandbox, or one that does not hold what it promises; the message says which."""


@dataclass(frozen=True)
class Limits:
    """What one process of a learner may use; /tmp and the number of processes are for all."""

    memory: int = 512 * 2**20  # bytes of address space
    processes: int = 64  # and threads
    file_size: int = 8 * 2**20
    open_files: int = 64
    cpu: int = 20  # seconds
    scratch: int = 32 * 2**20  # bytes in /tmp


def command(limits: Limits) -> list[str]:
    """The command line that starts `inside.py` in a sandbox of its own."""
    return [*_enclosed(limits), f"/kit/{INSIDE}", "/kit"]


def unprotected() -> list[str]:
    """The command line that starts `inside.py` with nothing around it."""
    inside = KIT[f"/kit/{INSIDE}"]
    return [sys.executable, "-I", "-S", str(inside), str(inside.parents[2])]


def _enclosed(limits: Limits) -> list[str]:
    root = os.geteuid() == 0
    bounds = [limits.memory, limits.processes, limits.file_size, limits.open_files, limits.cpu]
    told = map(str, [_stranger() if root else 0, *bounds])
    starter = [PYTHON, "-I", "-S", "/kit/starter.py", *told]
    return [bubblewrap(), *_walls(root), *_view(), *_scratch(limits.scratch), "--", *starter]


def bubblewrap() -> str:
    """Where bubblewrap is. Raises SandboxUnavailable."""
    found = shutil.which("bwrap")
    if found is None:
        raise SandboxUnavailable(
            "bubblewrap is not installed (on Debian and Ubuntu: apt-get install bubblewrap)"
        )
    return found


def _walls(root: bool) -> list[str]:
    walls = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    walls += ["--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
    walls += ["--setenv", "MALLOC_ARENA_MAX", "2", "--setenv", "HOME", "/tmp"]
    walls += ["--hostname", "classroom"]
    if root:  # a limit on processes does not bind root: the starter becomes somebody else
        return [*walls, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return [*walls, "--unshare-user", "--disable-userns"]


def _stranger() -> int:
    """A user number that no other sandbox of this machine has now: processes count by user."""
    return 20_000 + (os.getpid() * 8 + next(_numbers) % 8) % 40_000


@functools.cache
def _view() -> tuple[str, ...]:
    """What can be seen in there; all of it read-only."""
    binds = {**_system(), **_python(), **{there: str(here) for there, here in KIT.items()}}
    parents = {str(parent) for there in (*binds, *DEVICES) for parent in Path(there).parents}
    view = ["--proc", "/proc"]
    for folder in sorted(parents - {"/"}):  # else bubblewrap makes them for its own user only
        view += ["--perms", "0755", "--dir", folder]
    for device in DEVICES:
        view += ["--dev-bind", device, device]
    for there, here in binds.items():
        view += ["--ro-bind", here, there]
    for link in filter(os.path.islink, SYSTEM):
        view += ["--symlink", os.readlink(link), link]
    for packages in _packages():
        view += ["--size", str(EMPTY), "--tmpfs", packages, "--remount-ro", packages]
    return tuple(view)


def _system() -> dict[str, str]:
    """The libraries of the system: where Debian keeps them apart, those and nothing else."""
    apart = [str(place) for place in sorted(Path("/usr/lib").glob("*-linux-*"))]
    places = [*(apart or ["/usr/lib"]), *SYSTEM]
    places = [each for each in places if os.path.isdir(each) and not os.path.islink(each)]
    places += [each for each in ("/etc/ld.so.cache",) if os.path.isfile(each)]
    return {place: place for place in places}


def _python() -> dict[str, str]:
    """The interpreter and its standard library; with the libraries of an own prefix (conda)."""
    places = [sysconfig.get_path("stdlib", vars={"base": sys.base_prefix}), PYTHON]
    if os.path.realpath(sys.base_prefix) != "/usr":
        places.insert(0, _library())
    return {place: place for place in map(os.path.realpath, places)}


def _packages() -> list[str]:
    """Where packages are installed among those libraries: the kit itself may be one of them."""
    patterns = ("site-packages", "dist-packages", "python*/site-packages", "python*/dist-packages")
    shown = [Path(place) for place in (*_system(), *_python()) if os.path.isdir(place)]
    found = {each for place in shown for pattern in patterns for each in place.glob(pattern)}
    return sorted(map(str, found))


def _library() -> str:
    return os.path.join(sys.base_prefix, "lib")


def _scratch(size: int) -> list[str]:
    return [
        *("--perms", "1777", "--size", str(size), "--tmpfs", "/tmp"),
        *("--chdir", "/tmp", "--remount-ro", "/"),
    ]


# --- the canary ---


@functools.cache
def prove(limits: Limits) -> None:
    """Start a sandbox and look whether it holds. Raises SandboxUnavailable, saying what does not.

    Once a process: a sandbox that does not start would else look like a class that knows nothing.
    """
    asked = json.dumps({"limits": asdict(limits), "outside": [str(HERE), os.getcwd()]})
    line = [*_enclosed(limits), "/kit/canary.py", asked]
    try:
        done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, timeout=START)
    except (OSError, subprocess.TimeoutExpired) as trouble:
        raise SandboxUnavailable(f"bubblewrap does not start: {trouble}") from None
    said = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode:
        last = said.splitlines()[-1] if said else f"exit code {done.returncode}"
        raise SandboxUnavailable(f"bubblewrap does not start what it should: {last}{_hint(last)}")
    broken: list[str] = []
    with contextlib.suppress(ValueError):
        broken = json.loads(done.stdout)
    if broken or not done.stdout:
        raise SandboxUnavailable(f"the sandbox does not hold: {'; '.join(broken) or 'it is mute'}")


def _hint(last: str) -> str:
    if "Unknown option" in last:
        return " (bubblewrap 0.8 or newer is needed)"
    if "namespace" in last or "uid map" in last:
        return " (this machine does not let you make user namespaces)"
    return ""
