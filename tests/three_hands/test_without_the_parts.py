"""Notebooks 27.1 to 27.4 where there is no Node and no environment beside: they run to their end.

The course is copied without what was installed into it, and run by an environment without Node.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.packaging.test_without_node import RUN
from workbench import course, node

NOTEBOOKS = [
    path for path, _, _ in course.COURSE if path[:7] in {f"ch27/0{n}" for n in range(1, 5)}
]
COPIED = ("mcp_bare", "toy_servers", "workbench", "sources", "package.json", "package-lock.json")
NO_NODE = "No typescript (Node is not here): this is the tape recorded on "
NO_ENVIRONMENT = (
    "No python-chapter (not installed; `uv run python -m workbench environment chapter` brings it)"
    ": this is the tape recorded on "
)


@pytest.fixture(scope="module")
def course_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the course, and beside it a Python that has its packages and no Node."""
    folder = tmp_path_factory.mktemp("alone")
    for name in COPIED:
        source, target = node.ROOT / name, folder / "course" / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("node_modules", "__py*"))
        else:
            shutil.copy(source, target)
    venv.create(folder / "python", symlinks=True)
    base = {"base": str(folder / "python"), "platbase": str(folder / "python")}
    purelib = Path(sysconfig.get_path("purelib", "venv", base))
    (purelib / "kit.pth").write_text(f"{folder / 'course'}\n{sysconfig.get_path('purelib')}\n")
    return folder


def test_there_are_four() -> None:
    assert len(NOTEBOOKS) == 4


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_it_runs_to_its_end_and_says_what_it_shows_instead(course_alone: Path, path: str) -> None:
    python = course_alone / "python" / "bin" / "python"
    ran = subprocess.run(
        [python, "-c", RUN, course_alone / "course", path],
        env={**os.environ, "PATH": str(python.parent)},
        capture_output=True, timeout=110, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout, "there is a Node in an environment that was made without one"
    printed = "".join(
        "".join(output.get("text", ""))
        for cell in json.loads(ran.stdout)
        for output in cell.get("outputs", [])
    )
    plays = not path.startswith("ch27/04")
    assert ((NO_NODE in printed), (NO_ENVIRONMENT in printed)) == (plays, plays), printed[:2000]
    assert "without typescript: Node is not here" in printed or path.startswith("ch27/02")
