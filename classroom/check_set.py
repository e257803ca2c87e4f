"""What the grader knows of an exercise: its cells, stages, checks, and the constants to draw.

A check set is built beside the exercise (`classroom/checks/ch26/01_frame_and_parse.json`); no
answer is in it. The teacher's seed decides what hidden checks draw, and which constants a student
has: the same seed, exercise and student give the same numbers on every machine. The plain release
has the first choice of each constant.

Does not handle: a learner's notebook (`submission`), running anything (`grade`).
"""

import ast
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from workbench.checks import library, parts

CHECKS = Path(__file__).resolve().parent / "checks"


class NoSuchExercise(LookupError):
    """No check set has this name; the message says which there are."""


@dataclass(frozen=True)
class OurCell:
    """A cell as it was released. Of prose we keep no text: nobody is graded on it."""

    grade_id: str
    kind: str
    name: str
    source: str | None = None
    points: float = 0


@dataclass(frozen=True)
class CheckSet:
    """All that is known of one exercise, for one student."""

    exercise: str
    title: str
    given: Mapping[str, Sequence[Any]]
    cells: tuple[OurCell, ...]
    text: str
    """The file itself, as JSON: the checks are made from it once a process."""

    def of(self, kind: str) -> list[OurCell]:
        """The cells of a kind: "stage", "check", "written", "shown", ..."""
        return [cell for cell in self.cells if cell.kind == kind]

    @property
    def grade_ids(self) -> set[str]:
        return {cell.grade_id for cell in self.cells}

    @property
    def preamble(self) -> str:
        return "\n\n".join(cell.source or "" for cell in self.of("preamble"))

    def values(self, seed: str, student: str) -> dict[str, Any]:
        """The constants of a student: values("s3cret", "ana") -> {"TITLE": "Optician"}."""
        if not student:
            return {name: choices[0] for name, choices in self.given.items()}
        return {
            name: library.draw(seed, self.exercise, f"given {name}", student).choice(choices)
            for name, choices in self.given.items()
        }

    def stages(self) -> list[library.Stage]:
        """The stages with both of their checks, as functions."""
        return _stages(self.text)


@cache
def _stages(text: str) -> list[library.Stage]:
    return library.stages(json.loads(text))


def vary(source: str, values: Mapping[str, Any]) -> str:
    """vary('TITLE = "Dentist"', {"TITLE": "Barber"}) -> 'TITLE = "Barber"'.

    What has its value already stays as it is written.
    """
    lines = source.splitlines()
    for node in reversed(parts.parsed(source).body):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        name = node.targets[0].id
        if name in values and ast.literal_eval(node.value) != values[name]:
            lines[node.lineno - 1 : node.end_lineno] = [f"{name} = {literal(values[name])}"]
    return "\n".join(lines)


def literal(value: Any) -> str:
    """A value of JSON as Python writes it, with the double quotes that ruff likes."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def seed_name(seed: str) -> str:
    """What may stand in a student's notebook: tells seeds apart, and does not give one away."""
    return hashlib.sha256(seed.encode()).hexdigest()[:8]


# --- finding check sets ---


def exercises(folder: Path = CHECKS) -> list[str]:
    """["ch26/01_frame_and_parse", ...]"""
    return sorted(
        path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.json")
    )


def find(name: str, folder: Path = CHECKS) -> str:
    """The full name of an exercise from its start: find("ch26/01"). Raises NoSuchExercise."""
    known, wanted = exercises(folder), name.removesuffix(".ipynb")
    found = [each for each in known if each == wanted] or [
        each for each in known if each.startswith(wanted) or each.partition("/")[2] == wanted
    ]
    if len(found) != 1:
        raise NoSuchExercise(f"{name!r} is not one of {', '.join(found or known) or 'none'}")
    return found[0]


@cache
def load(exercise: str, folder: Path = CHECKS) -> CheckSet:
    """The check set of an exercise. Raises NoSuchExercise."""
    if exercise not in exercises(folder):
        raise NoSuchExercise(f"{exercise!r} is not one of {', '.join(exercises(folder)) or 'none'}")
    text = (folder / f"{exercise}.json").read_text(encoding="utf-8")
    told = json.loads(text)
    stages = {each["name"]: each for each in told["stages"]}
    written = {each["name"]: each for each in told["written"]}
    cells = []
    for cell in told["cells"]:
        kind, name, source, points = cell["kind"], cell["name"] or "", cell.get("source"), 0
        if kind in ("stage", "check"):
            source = stages[name]["blank" if kind == "stage" else "visible"]
            points = stages[name]["points"]
        elif kind == "written":
            source, points = written[name]["prompt"], written[name]["points"]
        cells.append(OurCell(cell["id"], kind, name, source, points))
    return CheckSet(told["exercise"], told["title"], told["given"], tuple(cells), text)


def fingerprint(exercise: str, folder: Path = CHECKS) -> str:
    """Changes when anything changes that a result could depend on, but the submission itself."""
    path = folder / f"{exercise}.json"
    return hashlib.sha256(_code() + (path.read_bytes() if path.is_file() else b"")).hexdigest()


@cache
def _code() -> bytes:
    """A digest of the grader, of what checks stand on, and of what a learner's code may import."""
    root, digest = Path(__file__).resolve().parent.parent, hashlib.sha256()
    for room in ("classroom", "workbench", "mcp_bare", "toy_servers"):
        for path in sorted((root / room).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.digest()
