"""A submission is a file from a stranger: read it strictly, and say in plain words what is wrong.

    submission = read(data, "ana/01 frâme.ipynb")     # raises Unreadable, with one sentence
    gathered = gather(submission, check_set, given)   # the learner's cells, and notes

Of a notebook we take the learner's own text only: answer cells by their grade id, other code cells
as helpers, written answers. Everything that was given to them (constants, checks) is ours again.

Does not handle: running any of it (`grade`), or which exercise is due.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from classroom.check_set import CheckSet, OurCell
from mcp_bare import jsonrpc
from mcp_bare.errors import ParseError
from workbench.checks import parts

MAX_BYTES = 8 * 1024 * 1024
MAX_SOURCE = 200_000
"""Characters of one cell; nobody writes that by hand."""


class Unreadable(ValueError):
    """Not a notebook that can be graded; the message is for the learner."""


@dataclass(frozen=True)
class Cell:
    """One cell of a notebook: what sort it is, its text with plain line ends, its grade id."""

    kind: str
    source: str
    grade_id: str | None


@dataclass(frozen=True)
class Submission:
    """A notebook: for which exercise it says it is, for whom it was released, and its cells."""

    exercise: str | None
    student: str | None
    seed: str | None
    """Which seed drew its constants, by name."""
    cells: tuple[Cell, ...]


@dataclass
class Gathered:
    """A learner's own text: code cells in order, written answers, and what to say about them."""

    code: list[parts.Cell] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    spoilt: dict[str, str] = field(default_factory=dict)
    """Stages that cannot be judged: {"frame": "two cells ..."}."""


# --- reading ---


def read(data: bytes) -> Submission:
    """The bytes of a file as a notebook. Raises Unreadable."""
    if not data.strip():
        raise Unreadable("the file is empty")
    if len(data) > MAX_BYTES:
        raise Unreadable(
            f"the file has {len(data):,} bytes, more than {MAX_BYTES:,};"
            " clear the outputs (Edit, Clear Outputs of All Cells) and hand it in again"
        )
    try:
        notebook = jsonrpc.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except ParseError as trouble:
        raise Unreadable(f"the file is no notebook: {trouble.message}") from None
    if not isinstance(notebook, dict) or "nbformat" not in notebook:
        raise Unreadable("the file is JSON, but no notebook: it has no nbformat")
    if notebook["nbformat"] != 4 or not isinstance(notebook.get("cells"), list):
        raise Unreadable("the notebook is not in format 4; open it in JupyterLab and save it again")
    about = _table(_table(notebook.get("metadata")).get("mcp_by_bare_hands"))
    exercise, student = about.get("exercise"), about.get("student")
    return Submission(
        exercise=exercise if isinstance(exercise, str) else None,
        student=student if isinstance(student, str) and student else None,
        seed=str(about["seed"]) if "seed" in about else None,
        cells=tuple(map(_cell, notebook["cells"], range(1, len(notebook["cells"]) + 1))),
    )


def _cell(cell: Any, number: int) -> Cell:
    cell = _table(cell)
    source = cell.get("source", "")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        raise Unreadable(f"the file is no notebook: the source of cell {number} is no text")
    if len(source) > MAX_SOURCE:
        raise Unreadable(f"cell {number} has {len(source):,} characters; nobody wrote that by hand")
    grade_id = _table(_table(cell.get("metadata")).get("nbgrader")).get("grade_id")
    kind, plain = cell.get("cell_type"), source.replace("\r\n", "\n").replace("\r", "\n")
    return Cell(str(kind), plain, grade_id if isinstance(grade_id, str) else None)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


# --- gathering ---


def gather(submission: Submission, checks: CheckSet, given: str) -> Gathered:
    """The learner's own text in this notebook; `given` is the text of their constants.

    Nothing raises: what is odd becomes a note, or spoils one stage.
    """
    found = Gathered()
    places: dict[str, list[Cell]] = {}
    for cell in submission.cells:
        if cell.grade_id is not None:
            places.setdefault(cell.grade_id, []).append(cell)
    chosen = {}
    for ours in checks.of("stage"):
        cell = _choose(ours, places.get(ours.grade_id, []), submission, found)
        if cell is not None:
            chosen[id(cell)] = ours.name
    for ours in checks.of("written"):
        copies = [_answer(cell.source, ours.source or "") for cell in places.get(ours.grade_id, [])]
        found.written[ours.name] = "\n\n".join(dict.fromkeys(filter(None, copies)))
    found.code = list(_code(submission, checks, chosen))
    found.notes += _touched(checks, places, given)
    return found


def _choose(
    ours: OurCell, copies: list[Cell], submission: Submission, found: Gathered
) -> Cell | None:
    """Which cell holds the answer of a stage, if any does."""
    name = f"the answer cell of stage {ours.name}"
    if not copies:
        copies = [
            cell
            for cell in submission.cells
            if cell.kind == "code" and parts.stage_of(cell.source) == ours.name
        ]
        if copies:
            found.notes.append(f"{name} has lost its grade id; it was found by its first line")
    code = [cell for cell in copies if cell.kind == "code"]
    texts = dict.fromkeys(cell.source for cell in code)
    if len(texts) > 1:
        texts.pop(ours.source, None)  # a copy that nobody wrote in
    if copies and not code:
        found.spoilt[ours.name] = f"{name} is no code cell any more; make it one again"
    elif not code:
        found.spoilt[ours.name] = f"{name} is missing; copy it from the exercise again"
    elif len(texts) > 1:
        found.spoilt[ours.name] = f"{name} is there {len(code)} times, and they differ; keep one"
    elif len(code) > 1:
        found.notes.append(f"{name} is there {len(code)} times; once is enough")
    if ours.name in found.spoilt:
        return None
    return next(cell for cell in code if cell.source in texts)


def _answer(source: str, prompt: str) -> str:
    """What was written in place of the last line of a question, or below it; "" for nothing."""
    *question, place = prompt.rstrip().splitlines()
    lines = source.strip().splitlines()
    if lines[: len(question)] == question:
        lines = lines[len(question) :]
    return "\n".join(line for line in lines if line.strip() != place.strip()).strip()


def _code(submission: Submission, checks: CheckSet, chosen: dict[int, str]) -> Iterator[parts.Cell]:
    """Each answer and each helper in the learner's order, with our cells where theirs stand."""
    shown = {cell.grade_id: cell.source or "" for cell in checks.of("shown")}
    there = {cell.grade_id for cell in submission.cells}
    stages = {cell.name for cell in checks.of("stage")}
    sources = [shown[each] for each in shown if each not in there]
    yield from filter(None, map(parts.helper, sources))
    for cell in submission.cells:
        helper = None
        if stage := chosen.get(id(cell)):
            yield parts.answer(cell.source, stage)
        elif cell.grade_id in shown:
            helper = parts.helper(shown.pop(cell.grade_id))
        elif cell.kind != "code" or cell.grade_id in checks.grade_ids:
            continue
        elif parts.stage_of(cell.source) not in stages:  # else a second answer, and no helper
            helper = parts.helper(cell.source)
        if helper is not None:
            yield helper


def _touched(checks: CheckSet, places: dict[str, list[Cell]], given: str) -> Iterator[str]:
    """What happened to the cells that nobody was asked to change; ours count instead."""
    names = {"preamble": "the cell of imports", "given": "the cell of given constants"}
    for ours in checks.cells:
        if ours.kind not in ("check", "preamble", "given", "shown"):
            continue
        name = names.get(ours.kind, f"cell {ours.grade_id}")
        text = given if ours.kind == "given" else ours.source or ""
        theirs = places.get(ours.grade_id, [])
        if not theirs:
            yield f"{name} is missing; ours was used"
        elif any(cell.source.strip() != text.strip() for cell in theirs):
            yield f"{name} was changed; ours was used"
        elif len(theirs) > 1:
            yield f"{name} is there {len(theirs)} times"
