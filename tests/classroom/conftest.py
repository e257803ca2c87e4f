"""The tests' own exercise in folders of its own, and the command line as a teacher runs it."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from classroom import sandbox
from classroom.grade import Exam
from classroom.result import Result, from_json
from tests.classroom import tiny
from tests.conftest import missing
from workbench import node

SEED = "5eed"
Run = Callable[..., subprocess.CompletedProcess[str]]


@dataclass(frozen=True)
class Tiny:
    """The tests' exercise: as released, and as the grader knows it."""

    exercises: Path
    checks: Path


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """The tests' own exercise, built."""
    return Tiny(*tiny.write(tmp_path_factory.mktemp("tiny")))


@pytest.fixture(scope="session")
def bubblewrap() -> str:
    """bubblewrap, in a state to be used."""
    found = shutil.which("bwrap") or missing("no bwrap; `apt-get install bubblewrap` brings it")
    try:
        sandbox.prove(sandbox.Limits())
    except sandbox.SandboxUnavailable as trouble:
        missing(str(trouble))
    return found


@pytest.fixture
def exam(small: Tiny, bubblewrap: str) -> Exam:
    """How the tests grade."""
    return Exam(seed=SEED, folder=small.checks, seconds=3.0)


@pytest.fixture
def seed_file(tmp_path: Path) -> Path:
    path = tmp_path / "seed"
    path.write_text(SEED)
    return path


def classroom(
    *args: object, cwd: Path, path: str | None = None, code: int | None = 0
) -> subprocess.CompletedProcess[str]:
    """Run `python -m classroom ...`; the exit code must be `code`."""
    env = {**os.environ, "PYTHONPATH": str(node.ROOT)}
    command = [sys.executable, "-m", "classroom", *map(str, args)]
    done = subprocess.run(
        command,
        cwd=cwd,
        env=env if path is None else {**env, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert code is None or done.returncode == code, done.stdout + done.stderr
    return done


def hand_in(path: Path, notebook: dict[str, Any] | bytes) -> Path:
    """Put a notebook where a class hands in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode())
    return path


def wait_for(count: int, out: Path, running: subprocess.Popen) -> None:
    """Wait until this many results are there, or nobody makes them any more."""
    deadline = time.monotonic() + 60
    while len(list((out / "results").glob("[!.]*.json"))) < count:
        assert running.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)


def results(out: Path) -> dict[str, Result]:
    """The results of a run, by submission."""
    found = [from_json(path.read_text())[0] for path in (out / "results").glob("*.json")]
    return {result.submission: result for result in found}


def scores(result: Result) -> tuple[float, ...]:
    return tuple(stage.score for stage in result.stages)
