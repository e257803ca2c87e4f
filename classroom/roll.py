"""A whole class: find what was handed in, grade what is new, keep each result at once.

A result is kept in OUT/results, with a digest of all that it depends on (the file, the check set,
the seed, the grader's own code). What is there and still fits is not graded again, so a run that
was cut off goes on where it stopped. A process of the pool that is killed takes nothing with it:
what it held is graded again.

Does not handle: grading one (`grade`), other machines (`cluster`), tables and pages.
"""

import hashlib
import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

from classroom import check_set
from classroom.files import safe_name, write
from classroom.grade import Exam, grade
from classroom.result import ERROR, Result, from_json, to_json
from classroom.submission import MAX_BYTES

TRIES = 3
SKIPPED = {".ipynb_checkpoints", "__MACOSX"}
LOOKS_LIKE = ("", ".json", ".txt")
"""Endings that a browser or a mail program gives a notebook."""


@dataclass(frozen=True)
class Job:
    """One file to grade, and how the tables call it."""

    path: Path
    name: str


Engine = Callable[[list[Job], Exam], Iterator[tuple[Job, Result]]]
"""Grades jobs in any order: `processes` here, `cluster.spread` on a Dask cluster."""


def handed_in(folder: Path) -> tuple[list[Job], list[str]]:
    """The notebooks below a folder, however they are named, and the files that are none.

    A symbolic link is none: it may lead anywhere.
    """
    jobs, others = [], []
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        hidden = any(part.startswith(".") or part in SKIPPED for part in inner.parts)
        if hidden or (path.is_dir() and not path.is_symlink()):
            continue
        if path.is_symlink() or not path.is_file() or not _may_be_notebook(path):
            others.append(inner.as_posix())
        else:
            jobs.append(Job(path, inner.as_posix()))
    return jobs, others


def _may_be_notebook(path: Path) -> bool:
    if path.suffix.lower() == ".ipynb":
        return True
    if path.suffix.lower() not in LOOKS_LIKE or path.stat().st_size > MAX_BYTES:
        return False
    return b'"nbformat"' in path.read_bytes()


# --- a run ---


def grade_all(
    jobs: list[Job],
    out: Path,
    exam: Exam,
    engine: Engine,
    told: Callable[[int], None] = lambda left: None,
) -> tuple[list[Result], int]:
    """The results of all jobs, in their order, and how many of them were there already.

    `told` hears how many are left, after each one.
    """
    found = {job.name: kept for job in jobs if (kept := _kept(job, out, exam)) is not None}
    there, left = len(found), [job for job in jobs if job.name not in found]
    for job, result in engine(left, exam):
        text = to_json(result, _inputs(job, exam, result.exercise))
        write(_place(job, out), text)
        found[job.name] = result
        told(len(jobs) - len(found))
    return [found[job.name] for job in jobs], there


def _place(job: Job, out: Path) -> Path:
    return out / "results" / f"{safe_name(job.name)}.json"


def _kept(job: Job, out: Path, exam: Exam) -> Result | None:
    """The result of an earlier run, where nothing changed that it depends on."""
    try:
        result, inputs = from_json(_place(job, out).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    fits = inputs == _inputs(job, exam, result.exercise) and result.status != ERROR
    return result if fits and result.submission == job.name else None


def _inputs(job: Job, exam: Exam, exercise: str) -> str:
    digest = hashlib.sha256(check_set.fingerprint(exercise, exam.folder).encode())
    settings = (exam.seed, exam.due, exam.sandboxed, exam.seconds, exam.budget, exam.limits)
    digest.update(repr(settings).encode())
    with open(job.path, "rb") as file:
        digest.update(file.read(MAX_BYTES + 1))
    return digest.hexdigest()


# --- the engine of one machine ---


def processes(workers: int) -> Engine:
    """An engine of some processes on this machine."""
    return lambda jobs, exam: _in_processes(jobs, exam, workers)


def _in_processes(jobs: list[Job], exam: Exam, workers: int) -> Iterator[tuple[Job, Result]]:
    waiting, tries = list(reversed(jobs)), Counter[Job]()
    while waiting:
        held: dict[Future[Result], Job] = {}
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(min(workers, len(waiting)), mp_context=context) as pool:
            try:
                yield from _through(pool, waiting, held, exam, workers)
            except BrokenProcessPool:
                for job in held.values():
                    tries[job] += 1
                    if tries[job] < TRIES:
                        waiting.append(job)
                    else:
                        yield job, lost(job)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise


def _through(
    pool: ProcessPoolExecutor,
    waiting: list[Job],
    held: dict[Future[Result], Job],
    exam: Exam,
    workers: int,
) -> Iterator[tuple[Job, Result]]:
    """Few at a time: when a process is killed, all that the pool holds is to be done again."""
    while waiting or held:
        while waiting and len(held) < 2 * workers:
            job = waiting[-1]
            held[pool.submit(grade, job.path, exam, job.name)] = job
            waiting.pop()
        for future in wait(held, return_when=FIRST_COMPLETED).done:
            result = future.result()
            yield held.pop(future), result


def lost(job: Job) -> Result:
    """What is said of a submission whose grading process was killed again and again."""
    words = f"the process that graded it was ended {TRIES} times; grade it alone, and look"
    return Result(job.name, "", "", ERROR, notes=(words,))


# --- across the class ---


def learners(results: Iterable[Result]) -> dict[str, str]:
    """Whose each submission is: {"ana/01.ipynb": "ana"}.

    The student it was released for; else the folder it lies in, where no exercise lies twice;
    else the file is a learner of its own.
    """
    results = list(results)
    tops = Counter((_top(result), result.exercise) for result in results)
    shared = {top for (top, _), count in tops.items() if count > 1}
    claims = Counter((result.student, result.exercise) for result in results if result.student)
    found = {}
    for result in results:
        if result.student and claims[result.student, result.exercise] == 1:
            found[result.submission] = result.student
        elif (top := _top(result)) and top not in shared:
            found[result.submission] = top
        else:
            found[result.submission] = result.submission.removesuffix(".ipynb")
    return found


def _top(result: Result) -> str:
    top, slash, _ = result.submission.partition("/")
    return top if slash else ""


def twins(results: Iterable[Result]) -> dict[str, str]:
    """What only shows across a class, for the teacher: the same answers, the same student."""
    results = [result for result in results if result.exercise]
    notes: dict[str, list[str]] = {}
    for words, key in (
        ("the same answers, letter for letter, as", lambda r: r.answers if r.score else ""),
        ("released for the same student as", lambda r: r.student),
    ):
        groups: dict[tuple[str, str], list[str]] = {}
        for result in results:
            if key(result):
                groups.setdefault((key(result), result.exercise), []).append(result.submission)
        for names in groups.values():
            for name in names if len(names) > 1 else ():
                others = [other for other in names if other != name]
                more = f" and {len(others) - 3} more" if len(others) > 3 else ""
                notes.setdefault(name, []).append(f"{words} {', '.join(others[:3])}{more}")
    return {name: "; ".join(each) for name, each in notes.items()}
