"""What the builder promises of an exercise: no answer gets out, ids stay, nbgrader can read it."""

import json
from collections import Counter
from pathlib import Path

import jsonschema
import nbformat
import pytest

from sources import build, exercise
from sources.cells import BuildError
from sources.exercise import Exercise
from tests.exercises import leaks, sample
from tests.exercises.conftest import NAMES, ROOT, read

NAME = "ch26/09_sample"
FILES = [f"solutions/{NAME}.ipynb", f"exercises/{NAME}.ipynb", f"classroom/checks/{NAME}.json"]
# nbgrader's, version 3, for the three kinds of cell that we write (not tasks).
SCHEMA = {
    "type": "object",
    "properties": {
        "schema_version": {"const": 3},
        "grade": {"type": "boolean"},
        "solution": {"type": "boolean"},
        "locked": {"type": "boolean"},
        "task": {"const": False},
        "points": {"type": "number", "exclusiveMinimum": 0},
        "grade_id": {"type": "string", "pattern": r"^[A-Za-z0-9_\-]+$"},
        "cell_type": {"enum": ["code", "markdown"]},
    },
    "required": ["schema_version", "grade", "solution", "locked", "task", "grade_id", "cell_type"],
    "additionalProperties": False,
    "if": {"properties": {"grade": {"const": True}}},
    "then": {"required": ["points"]},
    "else": {"not": {"required": ["points"]}},
}


@pytest.fixture(scope="module")
def released() -> dict[Path, str]:
    """Every file under exercises/, as a search reads it."""
    files = [file for file in (ROOT / "exercises").rglob("*") if file.is_file()]
    kept = [file for file in files if ".ipynb_checkpoints" not in file.parts]
    return {file: leaks.readable(file.read_bytes()) for file in kept}


def found_in(released: dict[Path, str], made: Exercise) -> list[str]:
    return [
        f"{where}: {line!r} in {file.name}"
        for where, lines in leaks.secrets(made).items()
        for line in lines
        for file, text in released.items()
        if line in text
    ]


def test_every_exercise_was_released(released: dict[Path, str]) -> None:
    there = {file.relative_to(ROOT).with_suffix("").as_posix() for file in released}
    assert set(NAMES) == there, "exercises/ holds the learner's copies and nothing else"
    assert NAMES


def test_no_answer_and_no_hidden_check_can_be_found(made: Exercise, released) -> None:
    assert found_in(released, made) == []


def test_the_search_would_find_one(made: Exercise, released) -> None:
    """Every line that counts, planted as somebody might by mistake: reindented, in an output."""
    for where, lines in leaks.secrets(made).items():
        assert lines, f"{where}: no line of it counts, so nothing is searched for"
    for stage in made.stages:
        for kind in ("stage", "hidden"):
            source = made.of(kind, stage)[0].source
            planted = json.dumps({"outputs": [{"text": [f"  {x}\n" for x in source.splitlines()]}]})
            assert found_in({Path("x"): leaks.readable(planted.encode())}, made), (stage, kind)


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("return result", False),
        ("except ValueError:", False),
        ("for line in lines:", False),
        ("raise ValueError(name) from None", False),
        ("# json dumps encode everything", False),
        ("from mcp_bare import jsonrpc, revision", False),
        ("    message = json.loads(line)", False),
        ('return json.dumps(message).encode() + b"\\n"', True),
        ("self.kept = rest", True),
        ('if type(id) in (str, "x"', True),
    ],
)
def test_which_lines_count(line: str, counts: bool) -> None:
    assert bool(leaks.telling(line)) is counts


def test_the_three_outputs_have_the_same_cells(made: Exercise) -> None:
    teacher, learner = (exercise.notebook(made, answers=answers) for answers in (True, False))
    listed = json.loads(exercise.check_set(made))["cells"]
    ids = [[cell.id for cell in nb.cells] for nb in (teacher, learner)]
    assert ids[0] == ids[1] == [cell["id"] for cell in listed]
    assert not any(cell.get("outputs") for cell in learner.cells)
    assert all(cell.get("execution_count") is None for cell in learner.cells)
    assert learner.metadata["mcp_by_bare_hands"] == {"exercise": made.name, "student": ""}


def test_the_metadata_is_nbgraders(made: Exercise) -> None:
    for answers in (True, False):
        nb = exercise.notebook(made, answers)
        nbformat.validate(nb)
        for cell in nb.cells:
            marks = cell.metadata["nbgrader"]
            jsonschema.validate(dict(marks), SCHEMA)
            assert marks["cell_type"] == cell.cell_type
            assert marks["locked"] is not marks["solution"]
        assert max(Counter(c.metadata["nbgrader"]["grade_id"] for c in nb.cells).values()) == 1


def test_what_is_graded_and_what_may_be_written_in() -> None:
    nb = exercise.notebook(exercise.read(sample.text(), NAME), answers=False)
    marks = {cell.id: cell.metadata["nbgrader"] for cell in nb.cells}
    open_cells = {id for id, mark in marks.items() if mark["solution"]}
    graded = {id: mark["points"] for id, mark in marks.items() if mark["grade"]}
    assert open_cells == {"stage-double", "written-why"}
    assert graded == {"check-double": 2, "written-why": 1.5}


def test_ids_outlive_a_change_of_the_text() -> None:
    before = exercise.notebook(exercise.read(sample.text(), NAME), answers=False)
    more = "\n# %% [markdown]\n# A new paragraph.\n"
    changed = sample.text(
        imports=sample.PARTS["imports"] + more,
        stage=sample.PARTS["stage"].replace("twice", "two times"),
        check=sample.PARTS["check"].replace("value=5", "value=6"),
        written=sample.PARTS["written"].replace("Why?", "Why not?"),
    )
    after = exercise.notebook(exercise.read(changed, NAME), answers=False)
    ids = [[cell.id for cell in nb.cells] for nb in (before, after)]
    assert ids[1][:2] + ids[1][3:] == ids[0]


def test_the_learner_gets_the_gap_and_nothing_else() -> None:
    nb = exercise.notebook(exercise.read(sample.text(), NAME), answers=False)
    text = {cell.id: cell.source for cell in nb.cells}
    assert text["stage-double"] == (
        '# Stage double: twice.\ndef double(value):\n    raise NotImplementedError("stage double")'
    )
    assert text["given"] == '# Given: yours.\nSIZE = 2\nWORD = "a"'
    assert text["written-why"] == f"## Why?\n{exercise.YOURS}"
    assert text["tally"] == 'tally({"double": 2}, written={"why": 1.5})'
    whole = nbformat.writes(nb)
    for word in ("SIZE - 1", "rng", "thrice", "Because", "SOLUTION", "# or"):
        assert word not in whole


def test_the_check_set_has_no_answer(made: Exercise) -> None:
    inner = leaks.readable(exercise.check_set(made).encode())
    for where, lines in leaks.secrets(made).items():
        if "answer" in where:
            assert [line for line in lines if line in inner] == []
    for cell in made.of("wrong"):
        assert leaks.flat(cell.source) not in inner


def test_all_three_are_built_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sample.put(tmp_path)
    assert build.main([], root=tmp_path) == 0
    first = {path: (tmp_path / path).read_bytes() for path in FILES}
    solved = nbformat.reads(first[FILES[0]].decode(), as_version=4)
    assert "the visible checks pass" in solved.cells[4].outputs[0]["text"]
    assert build.main(["09_sample"], root=tmp_path) == 0
    assert {path: (tmp_path / path).read_bytes() for path in FILES} == first
    assert build.main(["--check"], root=tmp_path) == 0
    capsys.readouterr()
    for path in FILES:
        file = tmp_path / path
        file.write_bytes(first[path].replace(b"doubled(it", b"doubled2(it"))
        (tmp_path / f"{path[:-6]}old{path[-6:]}").write_text("{}")
    assert build.main(["--check"], root=tmp_path) == 1
    said = capsys.readouterr().err
    for word in ("solutions", "exercises"):
        assert f"{word}/{NAME}, source:" in said
    assert f"classroom/checks/{NAME}.json:\n" in said
    assert said.count("has no source") == 3


def test_exercises_are_no_notebooks(tmp_path: Path) -> None:
    sample.put(tmp_path)
    assert build.find(tmp_path) == []
    assert build.chosen(tmp_path, ["exercises"]) == [f"exercises/{NAME}"]
    assert build.chosen(tmp_path, [f"exercises/{NAME}.ipynb"]) == [f"exercises/{NAME}"]
    assert build.chosen(tmp_path, [f"solutions/{NAME}.ipynb"]) == [f"exercises/{NAME}"]


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"hidden": ""}, "0 cells with hidden='double'"),
        ({"check": ""}, "0 cells with check='double'"),
        ({"wrong": ""}, "1 cells with wrong='double'"),
        ({"tally": ""}, "the last cell is `tally()`"),
        ({"imports": "# %%\nimport json\n"}, "has the line `from workbench.checks"),
        ({"given": '# %% role="given"\nA = 1\n'}, "begins with `# Given`"),
        ({"given": '# %% role="given"\n# Given\nprint(1)\n'}, "constants, one a line"),
        ({"wrong": sample.PARTS["wrong"].replace(' says="once"', "")}, "needs says"),
        ({"wrong": sample.PARTS["wrong"].replace("# Stage", "# Step")}, "its first line is"),
        ({"stage": sample.PARTS["stage"].replace("    ### BEGIN SOLUTION\n", "")}, "between marks"),
        ({"check": sample.PARTS["check"].replace("points=2)", "points=3)")}, "it has the line"),
        (
            {"hidden": sample.PARTS["hidden"].replace("hidden(", "hid(")},
            "defines `hidden(it, rng)`",
        ),
        ({"stage": sample.PARTS["stage"] + "x = 1\n" * 20}, "25 lines of code, at most 20"),
        ({"written": '# %% [markdown] written="why"\n# Why?\n'}, "needs points"),
        ({"title": "# %% [markdown]\n# No title.\n"}, "prose with a title"),
    ],
)
def test_a_source_that_breaks_the_rules_is_not_built(
    changed: dict[str, str], complaint: str
) -> None:
    with pytest.raises(BuildError) as refused:
        exercise.read(sample.text(**changed), NAME)
    assert complaint in str(refused.value)


def test_every_stage_is_of_use(made: Exercise) -> None:
    """Points, minutes and stages as the first cell says them."""
    head = made.cells[0].source
    assert made.title.startswith("Exercise "), made.title
    assert "minutes" in head and "points" in head
    assert read(f"exercises/{made.name}") is made
