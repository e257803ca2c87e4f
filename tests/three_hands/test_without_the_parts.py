"""Notebooks 27.1 to 27.4 where there is no Node and no environment beside: they run to their end.

The course is copied without what was installed into it, and run by an environment without Node.
"""

from __future__ import annotations

import shutil

import pytest

from tests.packaging import elsewhere
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

pytestmark = pytest.mark.timeout(elsewhere.SECONDS + 30)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, elsewhere.Ran]:
    """What a copy of the course says to a Python that has its packages and no Node."""
    folder = tmp_path_factory.mktemp("alone")
    for name in COPIED:
        source, target = node.ROOT / name, folder / "course" / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("node_modules", "__py*"))
        else:
            shutil.copy(source, target)
    return elsewhere.run(folder / "python", folder / "course", NOTEBOOKS)


def test_there_are_four() -> None:
    assert len(NOTEBOOKS) == 4


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_it_runs_to_its_end_and_says_what_it_shows_instead(
    alone: dict[str, elsewhere.Ran], path: str
) -> None:
    ran, plays = alone[path], not path.startswith("ch27/04")
    assert not ran.complaint
    shown = NO_NODE in ran.printed, NO_ENVIRONMENT in ran.printed
    assert shown == (plays, plays), ran.printed[:2000]
    assert "without typescript: Node is not here" in ran.printed or path.startswith("ch27/02")
