"""From one source to an exercise's three outputs: the learner's copy, the teacher's, the checks.

A source (sources/exercises/**.py) is percent format; what a cell is stands in its first line:

    # %% [markdown]                              prose
    # %%                                         the first: imports; later: shown, and locked
    # %% role="given"                            constants, one a line: A = 1  # or 2, 3
    # %% stage="frame"                           the model answer, between marks or whole
    # %% blank="frame"                           the learner's copy of it, where it is not a gap
    # %% check="frame" points=2                  the visible check
    # %% hidden="frame"                          the hidden check; never released
    # %% wrong="frame" says="line feed"          a wrong answer, for the tests; never released
    # %% [markdown] written="why" points=1       an answer in words, that a person grades

Does not handle: running a notebook, or writing a file (`build`).
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import jupytext
import nbformat

from sources import cells
from sources.cells import BuildError
from workbench.checks import parts

FOLDER = "exercises/"
CELLS = (10, 60)
LINES = {"check": 35, "hidden": 45, "wrong": 35}  # others: as in any notebook
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
KINDS = ("role", "stage", "blank", "check", "hidden", "wrong", "written")
UNSEEN = ("blank", "hidden", "wrong")
NAME = re.compile(r"[a-z][a-z0-9_]*")
YOURS = "*Your answer, in place of this line. Double-click to write, Shift+Enter when done.*"


@dataclass(frozen=True)
class Cell:
    """One cell of a source: what it is, of which stage, and its text."""

    kind: str
    name: str
    source: str
    number: int
    points: float = 0
    says: str = ""
    tags: tuple[str, ...] = ()

    @property
    def is_prose(self) -> bool:
        return self.kind in ("prose", "written")


@dataclass(frozen=True)
class Exercise:
    """A source, taken apart."""

    name: str
    cells: tuple[Cell, ...]
    given: dict[str, list[Any]] = field(default_factory=dict)

    def of(self, kind: str, name: str | None = None) -> list[Cell]:
        """The cells of a kind, or those of one stage."""
        return [c for c in self.cells if c.kind == kind and name in (None, c.name)]

    @property
    def stages(self) -> list[str]:
        return [cell.name for cell in self.of("stage")]

    def points(self, stage: str) -> float:
        return self.of("check", stage)[0].points

    @property
    def title(self) -> str:
        return self.cells[0].source.splitlines()[0].lstrip("# ")

    def blank(self, stage: str) -> str:
        """What a learner finds in a stage's cell."""
        for cell in self.of("blank", stage):
            return cell.source
        return without_answer(self.of("stage", stage)[0].source, stage)


def is_exercise(name: str) -> bool:
    """Whether a source's name is an exercise's ("exercises/ch26/01_x")."""
    return name.startswith(FOLDER)


def read(text: str, name: str) -> Exercise:
    """Take a source apart; raise `BuildError` with every rule that it breaks."""
    name = name.removeprefix(FOLDER)
    nb = jupytext.reads(text, fmt="py:percent")
    found = tuple(classified(nb.cells))
    given = {}
    for cell in found:
        if cell.kind == "given":
            given.update(choices(cell.source))
    made = Exercise(name, found, given)
    if complaints := list(breaches(made, nb.metadata.get("house"))):
        raise BuildError("\n".join(f"{FOLDER}{name}: {complaint}" for complaint in complaints))
    return made


def classified(of: list[nbformat.NotebookNode]) -> Iterator[Cell]:
    """Say what each cell is."""
    seen_code = False
    for number, cell in enumerate(of, 1):
        meta = dict(cell.metadata)
        kind = next((key for key in KINDS if key in meta), "")
        name = str(meta.get(kind, ""))
        if cell.cell_type != "code":
            kind = kind or "prose"
        elif not seen_code:
            kind, seen_code = "preamble", True
        elif kind == "role":
            kind, name = name, ""
        elif not kind:
            kind = "tally" if cell.source.strip() == "tally()" else "shown"
        says, tags = str(meta.get("says", "")), tuple(meta.get("tags", ()))
        yield Cell(kind, name, cell.source, number, meta.get("points", 0), says, tags)


def choices(source: str) -> dict[str, list[Any]]:
    """What a given cell offers: 'A = 1  # or 2, 3' -> {"A": [1, 2, 3]}."""
    found = {}
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            raise BuildError(
                f"a given cell holds constants, one a line, not {lines[node.lineno - 1]!r}"
            )
        _, _, others = lines[node.end_lineno - 1].partition("  # or ")
        first = ast.literal_eval(node.value)
        found[node.targets[0].id] = [first, *(ast.literal_eval(f"[{others}]") if others else [])]
    return found


def given_text(source: str) -> str:
    """A given cell without its other choices."""
    return "\n".join(line.partition("  # or ")[0] for line in source.splitlines())


def breaches(exercise: Exercise, house: dict[str, Any] | None) -> Iterator[str]:
    """Yield each rule that a machine can see broken."""
    low, high = (house or {}).get("cells", CELLS)
    shown = [cell for cell in exercise.cells if cell.kind not in UNSEEN]
    if not low <= len(shown) <= high:
        yield f"{len(shown)} cells, where {low} to {high} are wanted"
    if not exercise.cells[0].source.startswith("# "):
        yield "the first cell is prose with a title"
    if len(exercise.of("tally")) != 1 or shown[-1].kind != "tally":
        yield "the last cell is `tally()`"
    for cell in exercise.cells:
        yield from (f"cell {cell.number}: {text}" for text in cell_breaches(cell, exercise))
    for stage in exercise.stages:
        yield from (f"stage {stage}: {text}" for text in stage_breaches(stage, exercise))


def cell_breaches(cell: Cell, exercise: Exercise) -> Iterator[str]:
    most, lines = LINES.get(cell.kind, cells.CODE_LINES), len(cell.source.splitlines())
    if not cell.is_prose and lines > most:
        yield f"{lines} lines of code, at most {most}"
    if cells.INSTALLS.search(cell.source):
        yield "an exercise installs nothing"
    if cell.kind == "preamble" and not parts.PREAMBLE.search(cell.source):
        yield "the first code cell has the line `from workbench.checks import check, tally`"
    if cell.kind == "given" and not parts.GIVEN.match(cell.source):
        yield "a given cell begins with `# Given`"
    if cell.kind in ("stage", "blank", "wrong") and parts.stage_of(cell.source) != cell.name:
        yield f"its first line is `# Stage {cell.name}: ...`"
    if cell.kind in ("stage", "check", "hidden", "blank", "wrong", "written"):
        if not NAME.fullmatch(cell.name):
            yield f"{cell.name!r} is no name for a stage: letters, digits and _"
        if cell.kind != "written" and cell.name not in exercise.stages:
            yield f"there is no stage {cell.name!r}"
    if cell.kind in ("check", "written") and not cell.points > 0:
        yield "it needs points=..."
    if cell.kind == "check" and f'@check("{cell.name}", points={cell.points:g})' not in cell.source:
        yield f'it has the line `@check("{cell.name}", points={cell.points:g})`'
    if cell.kind == "hidden" and "def hidden(it, rng)" not in cell.source:
        yield "it defines `hidden(it, rng)`"
    if cell.kind == "wrong" and not cell.says:
        yield "it needs says=..., a part of the message"


def stage_breaches(stage: str, exercise: Exercise) -> Iterator[str]:
    for kind, low, high in (("stage", 1, 1), ("check", 1, 1), ("hidden", 1, 1), ("wrong", 2, 9)):
        if not low <= len(exercise.of(kind, stage)) <= high:
            yield f"{len(exercise.of(kind, stage))} cells with {kind}={stage!r}"
    answer = exercise.of("stage", stage)[0].source
    if (BEGIN in answer) == bool(exercise.of("blank", stage)):
        yield "either a solution between marks, or a cell with blank=..."
    if len(exercise.of("blank", stage)) > 1 or answer == exercise.blank(stage):
        yield "one blank, and not the answer itself"


def without_answer(source: str, stage: str) -> str:
    """A cell with each marked block replaced by an error that says "not written yet"."""
    lines, inside = [], False
    for line in source.splitlines():
        if line.strip() == BEGIN:
            inside = True
            indent = line[: len(line) - len(line.lstrip())]
            lines.append(indent + gap(lines, indent, stage))
        elif line.strip() == END:
            inside = False
        elif not inside:
            lines.append(line)
    return "\n".join(lines)


def gap(above: list[str], indent: str, stage: str) -> str:
    """What stands where an answer was: in a function an error that says so, elsewhere nothing.

    An error outside of a function would stop whoever runs all cells.
    """
    if not any("# Stage" in line for line in above):
        return YOURS
    outer = [line for line in above if line.strip() and not line.lstrip().startswith("#")]
    outer = [line for line in outer if len(line) - len(line.lstrip()) < len(indent)]
    if any(line.lstrip().startswith(("def ", "async def ")) for line in outer):
        return f'raise NotImplementedError("stage {stage}")'
    return "pass  # Your lines, in place of this one."


# --- the notebooks ---


def notebook(exercise: Exercise, answers: bool) -> nbformat.NotebookNode:
    """The teacher's copy, or the learner's: the same cells with the same ids."""
    made = [as_cell(cell, exercise, answers) for cell in exercise.cells if cell.kind not in UNSEEN]
    nb = nbformat.v4.new_notebook(cells=made, metadata=nbformat.from_dict(cells.METADATA))
    nb.nbformat_minor = 5
    nb.metadata["mcp_by_bare_hands"] = {"exercise": exercise.name, "student": ""}
    cells.give_ids(nb, f"{FOLDER}{exercise.name}")
    for cell in nb.cells:
        cell.metadata["nbgrader"]["grade_id"] = cell.id
    return nb


def as_cell(cell: Cell, exercise: Exercise, answers: bool) -> nbformat.NotebookNode:
    """One cell with nbgrader's metadata (schema 3); its grade id comes with its id."""
    new = nbformat.v4.new_markdown_cell if cell.is_prose else nbformat.v4.new_code_cell
    answered = cell.kind in ("stage", "written")
    marks: dict[str, Any] = {
        "schema_version": 3,
        "grade": cell.kind in ("check", "written"),
        "solution": answered,
        "locked": not answered,
        "task": False,
        "cell_type": "markdown" if cell.is_prose else "code",
    }
    if marks["grade"]:
        marks["points"] = cell.points
    metadata: dict[str, Any] = {"nbgrader": marks, **({} if answers else locks(cell))}
    if cell.kind not in ("prose", "shown"):
        metadata["id"] = cell_id(cell)
    if cell.tags:
        metadata["tags"] = [*cell.tags, *metadata.get("tags", ())]
    return new(text(cell, exercise, answers), metadata=metadata)


def locks(cell: Cell) -> dict[str, Any]:
    """What a learner's notebook keeps them from, as nbgrader's own release does; it stops nobody.

    A check that does not pass does not stop "run all" either: the stages below have their turn.
    """
    if cell.kind in ("stage", "written"):
        return {"deletable": False}
    tags = {"tags": ["raises-exception"]} if cell.kind == "check" else {}
    return {"deletable": False, "editable": False, **tags}


def cell_id(cell: Cell) -> str:
    """An id that stays whatever the cell's text: "stage-frame", "tally"."""
    return f"{cell.kind}-{cell.name.replace('_', '-')}" if cell.name else cell.kind


def text(cell: Cell, exercise: Exercise, answers: bool) -> str:
    """A cell's text in one of the two copies."""
    if cell.kind == "given":
        return given_text(cell.source)
    if cell.kind == "tally":
        return tally_text(exercise)
    if cell.kind == "stage" and not answers:
        return exercise.blank(cell.name)
    if cell.kind == "written":
        kept = without_answer(cell.source, cell.name)
        return without_marks(cell.source) if answers else kept
    return cell.source


def without_marks(source: str) -> str:
    return "\n".join(line for line in source.splitlines() if line.strip() not in (BEGIN, END))


def tally_text(exercise: Exercise) -> str:
    """`tally()` with the stages filled in, so that it can say what is left."""
    points = {stage: exercise.points(stage) for stage in exercise.stages}
    written = {cell.name: cell.points for cell in exercise.of("written")}
    return f"tally({json.dumps(points)}{', written=' + json.dumps(written) if written else ''})"


# --- the grader's copy ---


def check_set(exercise: Exercise) -> str:
    """All that a grader needs besides a submission, as JSON; no model answer, no wrong one."""
    released = notebook(exercise, answers=False).cells
    shown = [cell for cell in exercise.cells if cell.kind not in UNSEEN]
    listed = []
    for cell, made in zip(shown, released, strict=True):
        entry = {"id": made.id, "kind": cell.kind, "name": cell.name or None}
        if cell.kind in ("preamble", "given", "shown"):
            entry["source"] = made.source
        listed.append(entry)
    stages = [
        {
            "name": stage,
            "points": exercise.points(stage),
            "visible": exercise.of("check", stage)[0].source,
            "hidden": exercise.of("hidden", stage)[0].source,
            "blank": exercise.blank(stage),
        }
        for stage in exercise.stages
    ]
    written = [
        {"name": cell.name, "points": cell.points, "prompt": without_answer(cell.source, cell.name)}
        for cell in exercise.of("written")
    ]
    whole = {
        "exercise": exercise.name,
        "title": exercise.title,
        "given": exercise.given,
        "preamble": exercise.of("preamble")[0].source,
        "cells": listed,
        "stages": stages,
        "written": written,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
