"""From a submission's path to its result: one pure function, that any engine can map.

    grade(Path("in/ana.ipynb"), Exam(seed="s3cret")) -> Result(..., status="graded", stages=(...))

The learner's cells run in a sandbox; the checks run here, outside, and only bytes cross. The same
file, seed and check set give the same result; nothing is written. It never raises: a file that
cannot be graded is "refused" and says why, and where we fail ourselves the result is an "error",
which has no score.

Does not handle: a whole class (`roll`), answers in words (a person grades them: `gradebook`).
"""

import hashlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from classroom import check_set, sandbox
from classroom.check_set import CHECKS, CheckSet
from classroom.result import ERROR, GRADED, PASSED, REFUSED, Result, StageResult, Written
from classroom.submission import MAX_BYTES, Submission, Unreadable, gather, read
from workbench.checks import library, parts
from workbench.checks.judge import Judge, NotStarted
from workbench.checks.library import Function, Stage
from workbench.checks.wrong import NotYet, Wrong

SPOILT = "spoilt"
OUT_OF_TIME = "out of time"
OTHER_SEED = "its constants were drawn with another seed; give that file with --seed"


@dataclass(frozen=True)
class Exam:
    """How a class is graded; the same for every submission of a run."""

    seed: str
    folder: Path = CHECKS
    due: str | None = None
    """The one exercise that is due; None: whichever a notebook says it is."""
    sandboxed: bool = True
    seconds: float = 5.0
    """For all the waits of one check together."""
    budget: float = 90.0
    """Seconds for one submission; what is not judged by then scores nothing, and says so."""
    limits: sandbox.Limits = field(default_factory=sandbox.Limits)


def grade(path: Path, exam: Exam, name: str = "", data: bytes | None = None) -> Result:
    """Grade one file. `data` is its bytes where the path is another machine's; `name` is how the
    result calls it.
    """
    name = name or path.name
    student = exercise = ""
    try:
        submission = read(_bounded(path) if data is None else data)
        student = submission.student or ""
        checks = check_set.load(_exercise(submission, exam), exam.folder)
        exercise = checks.exercise
        if student and submission.seed not in (None, check_set.seed_name(exam.seed)):
            return Result(name, student, exercise, ERROR, notes=(OTHER_SEED,))
        return _graded(name, submission, checks, exam)
    except Unreadable as trouble:
        return Result(name, student, exercise, REFUSED, notes=(str(trouble),))
    except (sandbox.SandboxUnavailable, NotStarted) as trouble:
        return Result(name, student, exercise, ERROR, notes=(str(trouble),))
    except Exception as trouble:  # ours; the others of the class are graded all the same
        words = f"the grader failed here: {type(trouble).__name__}: {trouble}"
        return Result(name, student, exercise, ERROR, notes=(words,))


def _bounded(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(MAX_BYTES + 1)


def _exercise(submission: Submission, exam: Exam) -> str:
    """Which exercise this is. Raises Unreadable."""
    said = submission.exercise or _by_its_cells(submission, exam)
    if said is None:
        raise Unreadable("this notebook is none of the exercises")
    if exam.due not in (None, said):
        raise Unreadable(f"this is the notebook of {said}; {exam.due} is due")
    if said not in check_set.exercises(exam.folder):
        raise Unreadable(f"this notebook says that it is {said[:80]!r}, which is no exercise here")
    return said


def _by_its_cells(submission: Submission, exam: Exam) -> str | None:
    """The exercise that most of its grade ids belong to, where the notebook does not say."""
    ids = {cell.grade_id for cell in submission.cells if cell.grade_id}
    shared = {
        name: len(ids & check_set.load(name, exam.folder).grade_ids)
        for name in check_set.exercises(exam.folder)
    }
    best = max(shared, key=lambda name: shared[name], default=None)
    return best if best and shared[best] * 2 > len(ids) > 0 else None


def _graded(name: str, submission: Submission, checks: CheckSet, exam: Exam) -> Result:
    student = submission.student or ""
    given = checks.values(exam.seed, student)
    text = "\n\n".join(check_set.vary(cell.source or "", given) for cell in checks.of("given"))
    found = gather(submission, checks, text)
    if not submission.exercise:
        found.notes.append("the notebook has lost its name; it was known by its cells")
    ours = [parts.preamble(checks.preamble), parts.Cell(text)]
    stages = _judged([*ours, *found.code], given, found.spoilt, checks, student, exam)
    theirs = "\0".join(f"{cell.stage}:{cell.source}" for cell in found.code)
    return Result(
        submission=name,
        student=student,
        exercise=checks.exercise,
        title=checks.title,
        status=GRADED,
        stages=tuple(stages),
        written=tuple(
            Written(cell.name, cell.points, cell.source or "", found.written[cell.name])
            for cell in checks.of("written")
        ),
        notes=tuple(found.notes),
        answers=hashlib.sha256(theirs.encode("utf-8", "replace")).hexdigest(),
    )


# --- the stages ---


def _judged(
    cells: list[parts.Cell],
    given: Mapping[str, Any],
    spoilt: Mapping[str, str],
    checks: CheckSet,
    student: str,
    exam: Exam,
) -> Iterator[StageResult]:
    """Judge every stage. Raises SandboxUnavailable and NotStarted."""
    if exam.sandboxed:
        sandbox.prove(exam.limits)
    command = sandbox.command(exam.limits) if exam.sandboxed else sandbox.unprotected()
    end = time.monotonic() + exam.budget
    with Judge(cells, given, command=command, seconds=exam.seconds) as judge:

        def says(stage: Stage, function: Function, *more: object) -> tuple[str, tuple[str, ...]]:
            if time.monotonic() > end:
                words = f"the {exam.budget:g} seconds of this notebook were used up before"
                return OUT_OF_TIME, (words,)
            verdict = judge.check(stage.name, function, *more)
            if not verdict.passed:
                judge.close()  # whatever it left behind in there costs no other stage
            return verdict.kind, _said(verdict.wrong)

        judge.load()  # a cell that hangs costs its own stage here, and not the first one
        due = [stage for stage in checks.stages() if stage.name not in spoilt]
        # All visible checks first: what a learner's code says there is shown to them, and it may
        # not have met a hidden input by then.
        seen = {stage.name: says(stage, stage.visible) for stage in due}
        for stage in checks.stages():
            visible, said = seen.get(stage.name) or (SPOILT, (spoilt[stage.name],))
            hidden = ""
            if visible == PASSED:
                rng = library.draw(exam.seed, checks.exercise, stage.name, student)
                hidden, said = says(stage, stage.hidden, rng)
            score = stage.points if hidden == PASSED else 0
            yield StageResult(stage.name, stage.points, score, visible, hidden, said)


def _said(wrong: Wrong | None) -> tuple[str, ...]:
    if wrong is None:
        return ()
    return (wrong.words,) if isinstance(wrong, NotYet) else (wrong.sent, wrong.clause, wrong.hint)
