"""What an exercise says of itself under its title is so, and the README's table has it."""

import re

from sources.exercise import Exercise
from workbench import course, node

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


def test_stages_and_points_are_those_that_are_stated(made: Exercise) -> None:
    first = " ".join(made.cells[0].source.split())
    stages, points, _ = re.search(course.STATED, first).groups()
    assert stages.lower() == WORDS[len(made.stages)]
    assert float(points) == sum(made.points(stage) for stage in made.stages)
    written = sum(cell.points for cell in made.of("written"))
    of_own = re.search(r"and (\d+) for words of your own", first)
    assert written == float(of_own[1] if of_own else 0)


def test_it_follows_a_notebook_that_is_there(made: Exercise) -> None:
    after = re.search(r"After notebook `(ch\d\d/\w+)`", made.cells[0].source)[1]
    assert (node.ROOT / "notebooks" / f"{after}.ipynb").exists()
    number = re.match(r"ch\d\d/\d\d", made.name)[0]
    assert after.startswith(number)


def test_the_readme_has_the_table() -> None:
    assert course.exercises() in (node.ROOT / "README.md").read_text(encoding="utf-8")
