"""The teacher's command line: python -m classroom release | variant | grade | report.

Does not handle: anything else than reading options and saying what was done.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from classroom import check_set, cluster, release, report, roll, sandbox
from classroom.class_files import write_all
from classroom.files import write
from classroom.grade import Exam
from classroom.gradebook import WORDS, Marks, mark_of, read_csv, read_marks
from classroom.result import ERROR, GRADED, REFUSED, Result

TROUBLE = (
    sandbox.SandboxUnavailable,
    check_set.NoSuchExercise,
    cluster.NoCluster,
    OSError,
    ValueError,
)


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    top = argparse.ArgumentParser(prog="python -m classroom", description=__doc__.splitlines()[0])
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add = commands.add_parser

    out = add("release", help="copy exercises out, to hand them out")
    out.add_argument("out", type=Path, metavar="OUT")
    out.add_argument("exercises", nargs="*", metavar="EXERCISE", help="all, where none is named")
    out.add_argument("--check-sets", type=Path, metavar="FOLDER", help="copy the check sets there")
    _folders(out)

    own = add("variant", help="write each student a notebook with constants of their own")
    own.add_argument("exercises", nargs="+", metavar="EXERCISE")
    own.add_argument("--student", action="append", default=[], metavar="ID")
    own.add_argument("--students", type=Path, metavar="FILE", help="one id a line, or a CSV")
    own.add_argument("--out", type=Path, default=Path("variants"), metavar="FOLDER")
    _seed(own)
    _folders(own)

    mark = add("grade", help="grade a folder of notebooks")
    mark.add_argument("submissions", type=Path, metavar="SUBMISSIONS")
    mark.add_argument("out", type=Path, metavar="OUT")
    mark.add_argument("--exercise", metavar="NAME", help="the one that is due; others are refused")
    mark.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N")
    mark.add_argument("--dask", metavar="ADDRESS", help="grade on this Dask cluster")
    mark.add_argument(
        "--seconds", type=float, default=5.0, metavar="N", help="for one check (%(default)s)"
    )
    mark.add_argument("--without-sandbox", action="store_true", help="where there is no bubblewrap")
    _seed(mark)
    _folders(mark)

    look = add("report", help="who is stuck where: a picture and a table")
    look.add_argument("csv", type=Path, metavar="CSV", help="the grades.csv of a run")
    look.add_argument("--out", type=Path, metavar="FOLDER", help="the CSV's, where none is named")
    return top


def _seed(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--seed",
        type=Path,
        default=Path("classroom.seed"),
        metavar="FILE",
        help="the file with your seed; it is made where it is missing (%(default)s)",
    )


def _folders(command: argparse.ArgumentParser) -> None:
    command.add_argument("--released", type=Path, default=release.EXERCISES, help=argparse.SUPPRESS)
    command.add_argument(
        "--checks",
        type=Path,
        default=check_set.CHECKS,
        metavar="FOLDER",
        help="check sets of your own",
    )


def do_release(args: argparse.Namespace) -> int:
    """Copy notebooks out, and check sets where they are wanted."""
    known = check_set.exercises(args.checks)
    names = [check_set.find(name, args.checks) for name in args.exercises] or known
    for name in names:
        print(release.release(name, args.out, args.released))
    if args.check_sets:
        release.copy_checks(names, args.check_sets, args.checks)
        print(f"{args.check_sets}: what the grader checks; keep it to yourself")
    return 0


def do_variant(args: argparse.Namespace) -> int:
    """Write a notebook for each student and exercise."""
    students = args.student + (release.students_in(args.students) if args.students else [])
    if not students:
        raise ValueError("for whom? --student ID, or --students FILE")
    names = [check_set.find(name, args.checks) for name in args.exercises]
    seed = _read_seed(args.seed)[0]
    for student in students:
        for name in names:
            path = release.write_variant(name, student, seed, args.out, args.released, args.checks)
            print(path)
    return 0


def _read_seed(path: Path) -> tuple[str, bool]:
    seed, new = release.seed_in(path)
    if new:
        print(f"{path}: a new seed. Keep this file, and keep it to yourself", file=sys.stderr)
    return seed, new


def do_grade(args: argparse.Namespace) -> int:
    """Grade, write everything, and say what there is to look at."""
    jobs, others = roll.handed_in(args.submissions)
    if not args.submissions.is_dir():
        raise NotADirectoryError(f"{args.submissions} is no folder")
    due = check_set.find(args.exercise, args.checks) if args.exercise else None
    made = Exam(
        seed=_read_seed(args.seed)[0],
        folder=args.checks.resolve(),
        due=due,
        sandboxed=not args.without_sandbox,
        seconds=args.seconds,
    )
    _sandbox_or_not(made, args.dask)
    engine = cluster.spread(args.dask) if args.dask else roll.processes(max(1, args.workers))
    results, there = roll.grade_all(jobs, args.out, made, engine, _progress)
    marks, troubles = read_marks(args.out / WORDS)
    write_all(results, marks, args.out)
    for line in said(
        results, there, [*_files(others), *troubles, _where(results, marks, args.out)]
    ):
        print(line)
    return 1 if any(result.status == ERROR for result in results) else 0


def _sandbox_or_not(made: Exam, address: str | None) -> None:
    """Prove the sandbox before the first submission; on a cluster each worker proves its own."""
    if not made.sandboxed:
        print(sandbox.PROMISES, file=sys.stderr)
    elif not address:
        try:
            sandbox.prove(made.limits)
        except sandbox.SandboxUnavailable as trouble:
            told = f"{trouble}\n{sandbox.PROMISES}\nIf you want that, say --without-sandbox."
            raise sandbox.SandboxUnavailable(told) from None


def _progress(left: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{left} left \b", end="" if left else "\r", file=sys.stderr, flush=True)


def said(results: list[Result], there: int, more: list[str]) -> Iterator[str]:
    """What the teacher reads at the end."""
    counts = {each: sum(r.status == each for r in results) for each in (GRADED, REFUSED, ERROR)}
    before = f" ({there} of them earlier)" if there else ""
    yield f"{_count(len(results), 'submission')}{before}: " + ", ".join(
        f"{count} {status}" for status, count in counts.items() if count or status == GRADED
    )
    for result in results:
        if result.status != GRADED:
            yield f"  {result.status}: {result.submission!r}: {'; '.join(result.notes)}"
    yield from more


def _files(others: list[str]) -> Iterator[str]:
    if others:
        more = ", ..." if len(others) > 5 else ""
        yield f"not taken for notebooks: {', '.join(map(repr, others[:5]))}{more}"


def _where(results: list[Result], marks: Marks, out: Path) -> str:
    """Which files to look at, and how much is left to do by hand."""
    left = sum(
        bool(answer.text) and mark_of(marks, result, answer) is None
        for result in results
        for answer in result.written
    )
    words = f"{WORDS} ({_count(left, 'answer')} in words to grade), " if left else ""
    return f"{out}: grades.csv, totals.csv, {words}feedback/"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def do_report(args: argparse.Namespace) -> int:
    """Write the picture and the page, and print the table."""
    stages = report.tally(read_csv(args.csv))
    if not stages:
        raise ValueError(f"{args.csv} has no graded stage")
    out = args.out or args.csv.parent
    write(out / "report.png", report.picture(stages).png)
    write(out / "report.html", report.as_html(stages, "report.png"))
    print(report.as_text(stages))
    print(f"\n{out / 'report.html'}")
    return 0


def main() -> int:
    """Run one command; return its exit code."""
    args = parser().parse_args()
    commands = {
        "release": do_release,
        "variant": do_variant,
        "grade": do_grade,
        "report": do_report,
    }
    try:
        return commands[args.command](args)
    except TROUBLE as trouble:
        print(f"python -m classroom {args.command}: {trouble}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped; run it again to go on from here", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
