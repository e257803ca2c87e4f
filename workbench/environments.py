"""Environments beside the course's own, each made by one command and kept in the repository.

    python -m workbench environment chapter      what chapter 27 measured: mcp 2.1.1, sdk 1.30.0
    python -m workbench environment bench        fastmcp 4.2.3, to measure beside the others
    python -m workbench environment inspector    the MCP Inspector, for its --cli

`ensure(name)` does the same from a program and returns where the parts are; `ready(name)` only
looks. Pins and hashes stand in `workbench/pins`. Making one needs the network, once.

Does not handle: the course's own environment (uv, pip or conda make it), nor starting what is
installed here (`hands`).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from workbench import node

FOLDER = node.ROOT / ".environments"
PINS = Path(__file__).resolve().parent / "pins"
TIMEOUT = 600.0
STAMP = "made-of"


class EnvironmentUnavailable(RuntimeError):
    """An environment is not there and cannot be made now; the message is one line."""


class _Failed(RuntimeError):
    """One of the commands that make an environment went wrong."""


@dataclass(frozen=True)
class Parts:
    """What an environment has: Python packages by a file of pins, npm packages in a folder."""

    python: Path | None = None
    npm: Path | None = None


ENVIRONMENTS = {
    "chapter": Parts(PINS / "chapter.txt", node.CHAPTER),
    "bench": Parts(PINS / "bench.txt"),
    "inspector": Parts(npm=PINS / "inspector"),
}


def ready(name: str) -> node.Ready:
    """Whether an environment is what its pins ask for; if not, why (one line)."""
    state, npm = python_ready(name), _parts(name).npm
    if state and npm and not node.ready(npm):
        return node.Ready(False, _remedy(name))
    return state


def python_ready(name: str) -> node.Ready:
    """The same of its Python part alone; of one that has none, it is ready."""
    pins = _parts(name).python
    if pins and _made_of(name) != _wanted(pins):
        return node.Ready(False, _remedy(name))
    return node.Ready(True, "as pinned")


def ensure(name: str, timeout: float = TIMEOUT) -> Path:
    """Make an environment if it is not ready; its Python, or node_modules where it has none.

    Safe to call from several processes at once: one makes it, the others wait.
    Raises EnvironmentUnavailable where it cannot be made: no network, say.
    """
    parts = _parts(name)
    if not ready(name):
        try:
            if parts.npm:
                node.ensure(parts.npm, timeout)
            if parts.python:
                _ensure_python(name, parts.python, timeout)
        except (OSError, sqlite3.OperationalError, node.NodeUnavailable, _Failed) as trouble:
            why = f"cannot make {name!r} now (it needs the network, once): {trouble}"
            raise EnvironmentUnavailable(why) from trouble
    return python(name) if parts.python else parts.npm / "node_modules"


def python(name: str) -> Path:
    """Where the interpreter of an environment is, or will be."""
    return FOLDER / name / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _parts(name: str) -> Parts:
    if name not in ENVIRONMENTS:
        raise ValueError(f"no environment is called {name!r}; there are {', '.join(ENVIRONMENTS)}")
    return ENVIRONMENTS[name]


def _remedy(name: str) -> str:
    return f"not installed; `uv run python -m workbench environment {name}` brings it"


def _wanted(pins: Path) -> str:
    """What the stamp of a finished environment says: its pins, and the Python that runs them."""
    base = f"{sys.base_prefix} {'.'.join(map(str, sys.version_info[:3]))}"
    return f"{hashlib.sha256(pins.read_bytes()).hexdigest()} {base}"


def _made_of(name: str) -> str:
    """What the stamp says; "" where there is none, or the interpreter has gone."""
    try:
        return (FOLDER / name / STAMP).read_text("utf-8") if python(name).exists() else ""
    except OSError:
        return ""


def _ensure_python(name: str, pins: Path, timeout: float) -> None:
    """Make the Python part, one caller at a time; the stamp comes last."""
    FOLDER.mkdir(exist_ok=True)
    with node.one_at_a_time(FOLDER, timeout):
        if _made_of(name) == _wanted(pins):
            return
        shutil.rmtree(FOLDER / name, ignore_errors=True)
        for command in _commands(FOLDER / name, python(name), pins):
            _run(command, timeout)
        (FOLDER / name / STAMP).write_text(_wanted(pins), "utf-8")


def _commands(folder: Path, interpreter: Path, pins: Path) -> list[list[str]]:
    """With uv where it is here, else with venv and pip; either way, pip is not in the result."""
    if uv := shutil.which("uv", path=node.search_path()):
        sync = ["pip", "sync", "--quiet", "--require-hashes", "--compile-bytecode"]
        return [
            [uv, "venv", "--quiet", "--python", sys.executable, str(folder)],
            [uv, *sync, "--python", str(interpreter), str(pins)],
        ]
    pip = [str(interpreter), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    return [
        [sys.executable, "-m", "venv", str(folder)],
        [*pip, "--retries=1", "install", "--require-hashes", "--no-deps", "-r", str(pins)],
        [*pip, "uninstall", "--yes", "setuptools", "pip"],
    ]


def _run(command: list[str], timeout: float) -> None:
    """Run one command away from this repository's pyproject.toml, whose constraints uv obeys."""
    settings = {**os.environ, "UV_HTTP_RETRIES": "1"}
    settings.pop("VIRTUAL_ENV", None)
    tool = command[2] if command[1] == "-m" else Path(command[0]).stem
    with tempfile.TemporaryDirectory() as elsewhere:
        try:
            done = subprocess.run(
                command, cwd=elsewhere, env=settings, timeout=timeout,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            )  # fmt: skip
        except subprocess.TimeoutExpired as late:
            raise _Failed(f"{tool} did not finish in {timeout:.0f} s") from late
    if done.returncode:
        said = _gist(done.stderr.decode("utf-8", "replace")) or f"exit code {done.returncode}"
        raise _Failed(f"{tool}: {said}")


def _gist(said: str) -> str:
    """The first line in which uv or pip says what went wrong, without its ornaments."""
    lines = [line.strip(" ×├─▶╰│") for line in said.splitlines()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or [line for line in lines if line] or [""])[0].removeprefix("error: ")
