"""The class in tables: what a teacher loads into a gradebook, and grades answers in words in.

- `grades.csv`: a row for each submission and stage; `report` needs nothing else.
- `totals.csv`: a row for each learner, a column for each exercise.
- `written.csv`: the answers in words, with an empty column `score`. A teacher fills it in; the next
  `grade` reads it back and keeps it.

A spreadsheet takes a cell that begins with = for a formula, and a learner may write one: such a
cell gets an apostrophe in front. Lone surrogates are replaced: a table is UTF-8.

Does not handle: grading (`grade`), pages for learners (`feedback`).
"""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from classroom.files import write
from classroom.result import ERROR, Result, Written

GRADES = (
    *("submission", "student", "exercise", "status", "stage"),
    *("points", "score", "visible", "hidden", "finding"),
)
WRITTEN = ("submission", "student", "exercise", "question", "points", "answer", "score", "comment")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
WRITTEN_BY = ("exercise", "question", "submission")
BOM = "\ufeff"  # else Excel takes UTF-8 for Windows-1252, and Ștefan for something else
CELL = 32_000
"""A spreadsheet's cell holds 32,767 characters; written.html has the rest."""

WORDS = "written.csv"


@dataclass(frozen=True)
class Mark:
    """A row of written.csv as a teacher left it; `score` is None where nothing can be read."""

    score: float | None
    row: Mapping[str, str]

    @property
    def comment(self) -> str:
        return (self.row.get("comment") or "").strip()


Marks = Mapping[tuple[str, str], Mark]
"""By submission and question."""


def mark_of(marks: Marks, result: Result, answer: Written) -> Mark | None:
    """What a teacher gave for this answer; None where it was another answer when they read it."""
    mark = marks.get((result.submission, answer.name))
    if mark is None or mark.score is None:
        return None
    return mark if _words(mark.row.get("answer") or "") == _words(answer.text) else None


def _words(text: str) -> list[str]:
    return text[:CELL].split()  # a spreadsheet may change a line's end


def rows(results: Iterable[Result], marks: Marks) -> list[dict[str, object]]:
    """The rows of grades.csv; a submission without stages has one, with an empty stage."""
    return [row for result in results for row in _rows(result, marks)]


def _rows(result: Result, marks: Marks) -> Iterable[dict[str, object]]:
    head = {
        "submission": result.submission,
        "student": result.student,
        "exercise": result.exercise,
        "status": result.status,
    }
    notes = "; ".join(result.notes)
    if not result.stages:
        blank = "" if result.status == ERROR else 0
        yield {**head, "stage": "", "points": "", "score": blank, "finding": notes}
    for number, stage in enumerate(result.stages):
        said = " / ".join(" ".join(part.split()) for part in stage.said if part)
        finding = "; ".join(filter(None, [said, notes if number == 0 else ""]))
        yield {
            **head,
            "stage": stage.stage,
            "points": plain(stage.points),
            "score": plain(stage.score),
            "visible": stage.visible,
            "hidden": stage.hidden,
            "finding": finding,
        }
    for answer in result.written:
        mark = mark_of(marks, result, answer)
        score = plain(mark.score) if mark else "" if answer.text else 0
        finding = mark.comment if mark else "to be graded" if answer.text else "nothing is written"
        yield {
            **head,
            "stage": f"in words: {answer.name}",
            "points": plain(answer.points),
            "score": score,
            "finding": finding,
        }


def totals(
    results: Sequence[Result], marks: Marks, learners: dict[str, str]
) -> tuple[list[str], list[dict[str, object]]]:
    """The columns and rows of totals.csv; an exercise without a score stays empty."""
    exercises = sorted({result.exercise for result in results if result.exercise})
    found: dict[str, dict[str, object]] = {}
    for result in results:
        row = found.setdefault(learners[result.submission], {"learner": "", "student": ""})
        row["learner"], row["student"] = learners[result.submission], result.student
        if result.exercise and result.status != ERROR:
            row[result.exercise] = plain(total(result, marks))
    for row in found.values():
        row["total"] = plain(sum(float(str(row[each])) for each in exercises if each in row))
    return ["learner", "student", *exercises, "total"], [found[name] for name in sorted(found)]


def total(result: Result, marks: Marks) -> float:
    """The points of a submission, with the answers in words that a teacher has graded."""
    given = [mark_of(marks, result, answer) for answer in result.written]
    return result.score + sum(mark.score or 0 for mark in given if mark)


def plain(number: float) -> int | float:
    """2.0 -> 2"""
    return int(number) if float(number).is_integer() else round(number, 2)


# --- answers in words ---


def asked(results: Iterable[Result], marks: Marks) -> list[dict[str, object]]:
    """The rows of written.csv: each answer in words that somebody wrote, with what a teacher put
    there. Rows of submissions that were not graded this time stay.
    """
    found: list[dict[str, object]] = []
    new = set()
    for result in results:
        for answer in result.written:
            new.add((result.submission, answer.name))
            if answer.text:
                found.append(_asked(result, answer, marks))
    found += [dict(mark.row) for key, mark in marks.items() if key not in new]
    return sorted(found, key=lambda row: [str(row[each]) for each in WRITTEN_BY])


def _asked(result: Result, answer: Written, marks: Marks) -> dict[str, object]:
    row = {"score": "", "comment": ""}
    if (old := marks.get((result.submission, answer.name))) is not None:
        row = {each: old.row.get(each) or "" for each in row}
        if row["score"] and _words(old.row.get("answer") or "") != _words(answer.text):
            earlier = f"(an earlier answer had {row['score']}) {row['comment']}"
            row = {"score": "", "comment": earlier.strip()}
    return {
        "submission": result.submission,
        "student": result.student,
        "exercise": result.exercise,
        "question": answer.name,
        "points": plain(answer.points),
        "answer": answer.text[:CELL],
        **row,
    }


def read_marks(path: Path) -> tuple[Marks, list[str]]:
    """What a teacher filled in, and what of it cannot be read. No file: nothing yet."""
    marks: dict[tuple[str, str], Mark] = {}
    troubles = []
    for number, row in enumerate(read_csv(path) if path.exists() else (), start=2):
        score, most = (row.get("score") or "").strip(), row.get("points") or "0"
        value = None
        if score:
            try:
                value = _between(score, most)
            except ValueError:
                words = f"a score of {score!r}, of {most} points"
                troubles.append(f"{path.name}, row {number}: {words}")
        marks[row.get("submission") or "", row.get("question") or ""] = Mark(value, row)
    return marks, troubles


def _between(score: str, most: str) -> float:
    value = float(score.replace(",", "."))  # many a spreadsheet writes 1,5
    if not math.isfinite(value) or not 0 <= value <= float(most.replace(",", ".")):
        raise ValueError
    return value


# --- files ---


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[dict[str, object]]) -> None:
    """Write a table that a spreadsheet opens as it is."""
    file = io.StringIO(newline="")
    table = csv.writer(file, lineterminator="\r\n")
    table.writerow(columns)
    for row in rows:
        table.writerow([_safe(row.get(column, "")) for column in columns])
    write(path, BOM + file.getvalue())


def read_csv(path: Path) -> list[dict[str, str]]:
    """A table that we wrote, also after a spreadsheet saved it with semicolons."""
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    found = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    return [{key: _raw(value) for key, value in row.items() if key} for row in found]


def _safe(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = value.encode("utf-8", "replace").decode()
    text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return f"'{text}" if text.startswith(FORMULA) else text


def _raw(value: str | None) -> str:
    text = value or ""
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA) else text
