"""Handing out: the exercises as they are, or a notebook with constants of its own for each student.

    release(Path("out"), ["ch26/01_frame_and_parse"])
    variant(released, checks, "s3cret", "ana")       # the notebook for Ana, as a dict

The teacher's seed stands in a file of its own. Who has it can compute every constant and every
hidden input, so it is made for its owner's eyes only, and is never written into a notebook.

Does not handle: building exercises (sources), collecting them.
"""

import copy
import csv
import io
import json
import os
import re
import secrets
import shutil
from pathlib import Path
from typing import Any

from classroom import check_set
from classroom.check_set import CheckSet, seed_name, vary
from classroom.files import safe_name, write

EXERCISES = Path(__file__).resolve().parent.parent / "exercises"
FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9@_.-]*")


def seed_in(path: Path) -> tuple[str, bool]:
    """The seed in this file, and whether it was made now. Raises ValueError where it is empty."""
    try:
        seed = path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        seed = secrets.token_hex(16)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="utf-8") as file:
            file.write(seed + "\n")
        return seed, True
    if not seed:
        raise ValueError(f"{path} is empty; a seed is one line of text")
    return seed, False


def students_in(path: Path) -> list[str]:
    """One id a line, or the first column of a CSV; a heading is left out if it says id or student.

    "ana" and "ana " are the same; a line that begins with # is a comment.
    """
    text = path.read_text(encoding="utf-8-sig")
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    ids = [row[0].strip() for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
    ids = [each for each in ids if each and not each.startswith("#")]
    if ids and ids[0].lower() in ("id", "student", "student id", "student_id"):
        del ids[0]
    return list(dict.fromkeys(ids))


def released(exercise: str, folder: Path = EXERCISES) -> dict[str, Any]:
    """The notebook of an exercise, as it is handed out. Raises NoSuchExercise."""
    path = folder / f"{exercise}.ipynb"
    if not path.is_file():
        raise check_set.NoSuchExercise(f"{exercise} is not in {folder}; was it built?")
    return json.loads(path.read_text(encoding="utf-8"))


def variant(notebook: dict[str, Any], checks: CheckSet, seed: str, student: str) -> dict[str, Any]:
    """The same notebook with a student's constants; the grader knows them from seed and id."""
    made = copy.deepcopy(notebook)
    values = checks.values(seed, student)
    given = {cell.grade_id for cell in checks.of("given")}
    for cell in made["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") in given:
            source = vary("".join(cell["source"]), values)
            cell["source"] = source.splitlines(keepends=True)
    about = {"exercise": checks.exercise, "student": student, "seed": seed_name(seed)}
    made["metadata"]["mcp_by_bare_hands"] = about
    return made


def write_variant(
    exercise: str, student: str, seed: str, out: Path, exercises: Path, checks: Path
) -> Path:
    """Write OUT/ana/ch26/01_frame_and_parse.ipynb; return its path."""
    made = variant(released(exercise, exercises), check_set.load(exercise, checks), seed, student)
    folder = student if FOLDER.fullmatch(student) else safe_name(student)
    path = out / folder / f"{exercise}.ipynb"
    write(path, json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    return path


def release(exercise: str, out: Path, exercises: Path) -> Path:
    """Copy one exercise out; return its path."""
    path = out / f"{exercise}.ipynb"
    released(exercise, exercises)
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(exercises / f"{exercise}.ipynb", path)
    return path


def copy_checks(exercises: list[str], out: Path, checks: Path) -> None:
    """Copy check sets out, for a teacher to add hidden checks of their own: grade --checks OUT."""
    for exercise in exercises:
        path = out / f"{exercise}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(checks / f"{exercise}.json", path)
