"""nbgrader itself takes the released exercises: the model answers get all, the blank ones nothing.

Nothing is imported of it here: one process runs the whole cycle over every exercise.
"""

import csv
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from classroom import check_set, gradebook

SECONDS_EACH = 90


@dataclass(frozen=True)
class Cycle:
    """What nbgrader made of the class."""

    scratch: Path
    cells: list[dict[str, Any]]

    def of(self, learner: str, exercise: str) -> dict[str, dict[str, Any]]:
        """The graded cells of one notebook, by grade id."""
        found = [c for c in self.cells if (c["learner"], c["exercise"]) == (learner, exercise)]
        return {cell["cell"]: cell for cell in found}


@pytest.fixture(scope="module")
def cycle(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Cycle:
    """The cycle, run once over all exercises."""
    scratch = tmp_path_factory.mktemp("nbgrader")
    scripts = Path(sys.executable).parent  # it starts `alembic` by its name
    env = {
        **os.environ,
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(repo),
        "HOME": str(scratch),
        "JUPYTER_CONFIG_DIR": str(scratch / "config"),
    }
    script = Path(__file__).with_name("nbgrader_cycle.py")
    exercises = check_set.exercises()
    done = subprocess.run(
        [sys.executable, script, scratch, *exercises],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS_EACH * len(exercises),
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return Cycle(scratch, json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture(params=check_set.exercises())
def exercise(request: pytest.FixtureRequest) -> str:
    return request.param


pytestmark = pytest.mark.timeout(SECONDS_EACH * (1 + len(check_set.exercises())))


def test_the_model_answers_get_every_point(cycle: Cycle, exercise: str) -> None:
    cells = cycle.of("model", exercise)
    checks = {name: cell for name, cell in cells.items() if name.startswith("check-")}
    stages = check_set.load(exercise).stages()
    assert {f"check-{stage.name.replace('_', '-')}" for stage in stages} == checks.keys()
    assert {name: cell["auto"] for name, cell in checks.items()} == {
        name: cell["most"] for name, cell in checks.items()
    }
    assert sum(cell["most"] for cell in checks.values()) == sum(stage.points for stage in stages)


def test_the_blank_release_gets_none(cycle: Cycle, exercise: str) -> None:
    cells = cycle.of("blank", exercise)
    assert cells.keys() == cycle.of("model", exercise).keys()
    assert [name for name, cell in cells.items() if cell["auto"]] == []


def test_words_wait_for_a_person(cycle: Cycle, exercise: str) -> None:
    """A written answer has no score yet; a blank one is nothing, without a person."""
    for cell in check_set.load(exercise).of("written"):
        assert cycle.of("model", exercise)[cell.grade_id]["auto"] is None
        assert cycle.of("blank", exercise)[cell.grade_id]["auto"] == 0


def test_the_export_has_the_sums(cycle: Cycle) -> None:
    with open(cycle.scratch / "grades.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    sums = {(row["student_id"], row["assignment"]): float(row["raw_score"]) for row in rows}
    for chapter in {name.partition("/")[0] for name in check_set.exercises()}:
        names = [name for name in check_set.exercises() if name.startswith(f"{chapter}/")]
        points = [stage.points for name in names for stage in check_set.load(name).stages()]
        assert sums["model", chapter] == sum(points)
        assert sums["blank", chapter] == 0


def test_there_is_feedback(cycle: Cycle, exercise: str) -> None:
    for learner in ("model", "blank"):
        chapter, _, name = exercise.partition("/")
        page = cycle.scratch / "course/feedback" / learner / chapter / f"{name}.html"
        assert page.stat().st_size > 1000


def test_the_pages_agree_with_our_grader(cycle: Cycle, exercise: str) -> None:
    """Both count the same points for the same stages."""
    most = {cell["cell"]: cell["most"] for cell in cycle.of("model", exercise).values()}
    ours = {cell.grade_id: cell.points for cell in check_set.load(exercise).cells if cell.points}
    stages = {cell.grade_id for cell in check_set.load(exercise).of("stage")}
    assert most == {name: points for name, points in ours.items() if name not in stages}
    assert all(gradebook.plain(points) > 0 for points in most.values())
