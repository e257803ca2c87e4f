"""A learner's notebook taken apart: the cells of the stages, their own helper cells, the rest.

The same rules for a notebook that is open (`notebook`, from IPython's history) and for one that
was handed in (the grader, from its cells). A stage's cell is known by its first line:

    # Stage frame: write a message as a line.

Does not handle: running anything.
"""

import ast
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

STAGE = re.compile(r"\A(?:[ \t]*(?:#.*)?\n)*?# Stage ([a-z][a-z0-9_]*)\b")
GIVEN = re.compile(r"\A# Given\b")
NOT_THEIRS = re.compile(r"^(@check\(|tally\()", re.MULTILINE)
CHECKS = re.compile(r"^(from|import) workbench\b.*$", re.MULTILINE)
MAGIC = re.compile(r"^([ \t]*)([%!].*|[\w.]+\?{1,2})$", re.MULTILINE)
PREAMBLE = re.compile(r"^from workbench\.checks import\b", re.MULTILINE)
KEPT = (
    ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.Try, ast.With,
)  # fmt: skip
_parsing = threading.Lock()


@dataclass(frozen=True)
class Cell:
    """A cell for `inside`: its text, and the stage that it answers, if it answers one."""

    source: str
    stage: str | None = None

    @property
    def label(self) -> str:
        return f"stage {self.stage}" if self.stage else "a cell of yours"


def parsed(source: str) -> ast.Module:
    """`ast.parse`, one thread at a time. Raises as it does.

    CPython 3.11 counts the depth of all threads' trees in one place: where two of them parse
    at once, one may end with SystemError. A Dask worker grades in several threads.
    """
    with _parsing:
        return ast.parse(source)


def stage_of(source: str) -> str | None:
    """The stage that a cell answers, by its first line; None for any other cell."""
    found = STAGE.match(source)
    return found[1] if found else None


def answer(source: str, stage: str) -> Cell:
    """The cell of a stage, as it is to run."""
    return Cell(without_magics(source), stage)


def helper(source: str) -> Cell | None:
    """A cell of the learner's own, cut to what it defines; None where that is nothing.

    What it shows, tries out or loops over was for them to see, and a check does not do it again.
    """
    source = without_magics(source)
    try:
        tree = parsed(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    body = [node for node in tree.body if isinstance(node, KEPT)]
    if not body:
        return None
    lines = source.splitlines()
    pieces = []
    for node in body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        pieces.append("\n".join(lines[first - 1 : node.end_lineno]))
    return Cell("\n".join(pieces)) if len(pieces) < len(tree.body) else Cell(source)


def preamble(source: str) -> Cell:
    """The imports without the check library, which the learner's process must not have."""
    return Cell(CHECKS.sub("", source))


def without_magics(source: str) -> str:
    """IPython's own lines out, in a cell that is no Python with them."""
    if source.startswith("%%"):
        return ""
    try:
        parsed(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return MAGIC.sub(r"\1pass", source)
    return source


def constants(source: str) -> Mapping[str, Any]:
    """The values of a `# Given` cell."""
    found = {}
    for node in parsed(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = ast.literal_eval(node.value)
    return found


@dataclass(frozen=True)
class Parts:
    """What a notebook holds for a judge."""

    cells: tuple[Cell, ...]
    given: Mapping[str, Any]
    preamble: str

    def stage(self, name: str) -> Cell | None:
        return next((cell for cell in self.cells if cell.stage == name), None)


def from_history(inputs: Iterable[str]) -> Parts:
    """From the cells as they were run, oldest first: the latest of each, in that order."""
    latest: dict[str, Cell] = {}
    given: Mapping[str, Any] = {}
    first = ""

    def put(key: str, cell: Cell | None) -> None:
        latest.pop(key, None)
        if cell is not None:
            latest[key] = cell

    for source in inputs:
        if NOT_THEIRS.search(source):
            continue
        if stage := stage_of(source):
            put(stage, answer(source, stage))
        elif PREAMBLE.search(source):
            first = source
            put("# preamble", preamble(source))
        elif GIVEN.match(source):
            given = constants(source)
            put("# given", Cell(source))
        else:
            put(source, helper(source))
    return Parts(tuple(latest.values()), given, first)
