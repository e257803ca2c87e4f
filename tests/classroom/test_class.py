"""A class from the release to the report, by the command line."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from classroom import gradebook, report
from classroom.files import safe_name
from classroom.result import ERROR, GRADED, Result, StageResult
from classroom.roll import learners
from tests.classroom import tiny
from tests.classroom.conftest import Tiny, classroom, hand_in, results, wait_for
from workbench.charts import Picture


@pytest.fixture
def room(tmp_path: Path, bubblewrap: str) -> Path:
    """A teacher's folder."""
    return tmp_path


@pytest.fixture
def options(small: Tiny, seed_file: Path) -> tuple[object, ...]:
    return ("--checks", small.checks, "--seed", seed_file, "--seconds", 3)


def stamps(out: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (out / "results").iterdir()}


def test_from_the_release_to_the_report(small: Tiny, room: Path, bubblewrap: str) -> None:
    where = ("--checks", small.checks, "--released", small.exercises)
    told = classroom("release", "out", *where, "--check-sets", "mine", cwd=room)
    assert "keep it to yourself" in told.stdout
    plain = json.loads((room / f"out/{tiny.NAME}.ipynb").read_text())
    assert plain == tiny.blank()
    (room / "ids.csv").write_text("Student;Name\nana;Ana\nbob;Bob\n../eve;Eve\n")
    classroom("variant", "ch26/01", "--students", "ids.csv", *where, cwd=room)
    made = sorted(path.relative_to(room / "variants") for path in room.glob("variants/*/*/*.ipynb"))
    assert [path.parts[0] for path in made] == ["ana", "bob", safe_name("../eve")]
    for path in made:
        notebook = json.loads((room / "variants" / path).read_text())
        tiny.cell(notebook, "stage-frame")["source"] = tiny.FRAME
        hand_in(room / "in" / path, notebook)
    done = classroom("grade", "in", "marks", "--checks", "mine", cwd=room)
    assert "3 submissions: 3 graded" in done.stdout
    rows = gradebook.read_csv(room / "marks/grades.csv")
    frames = [row for row in rows if row["stage"] == "frame"]
    assert {row["student"] for row in frames} == {"../eve", "ana", "bob"}
    assert len(frames) == 3
    assert {row["score"] for row in frames} == {"2"}
    shown = classroom("report", "marks/grades.csv", cwd=room).stdout
    assert re.search(r"frame +3 +3 \(100 %\)", shown) and re.search(r"parse +3 +0 \(0 %\)", shown)
    assert (room / "marks/report.png").read_bytes().startswith(b"\x89PNG")
    assert "report.png" in (room / "marks/report.html").read_text()


def test_what_is_there_is_not_graded_again(room: Path, options: tuple[object, ...]) -> None:
    for name in ("ana", "bob", "eve"):
        hand_in(room / f"in/{name}.ipynb", tiny.blank())
    classroom("grade", "in", "out", *options, cwd=room)
    first = stamps(room / "out")
    hand_in(room / "in/bob.ipynb", tiny.notebook())
    (room / "out/results" / f"{safe_name('eve.ipynb')}.json").write_text('{"half": ')
    done = classroom("grade", "in", "out", *options, cwd=room)
    assert "(1 of them earlier)" in done.stdout
    changed = {name for name, stamp in stamps(room / "out").items() if first[name] != stamp}
    assert changed == {f"{safe_name(name)}.json" for name in ("bob.ipynb", "eve.ipynb")}
    assert results(room / "out")["bob.ipynb"].score == 7
    (room / "other").write_text("another seed")
    done = classroom("grade", "in", "out", *options, "--seed", "other", cwd=room)
    assert "earlier" not in done.stdout


def test_a_run_that_is_cut_off_goes_on_where_it_stopped(
    room: Path, options: tuple[object, ...], repo: Path
) -> None:
    for number in range(12):
        hand_in(room / f"in/{number:02}.ipynb", tiny.notebook())
    command = [sys.executable, "-m", "classroom", "grade", "in", "out", *map(str, options)]
    env = {**os.environ, "PYTHONPATH": str(repo)}
    running = subprocess.Popen(command, cwd=room, env=env, start_new_session=True)
    wait_for(3, room / "out", running)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    before = {name: stamp for name, stamp in stamps(room / "out").items() if name[0] != "."}
    assert 3 <= len(before) < 12
    done = classroom("grade", "in", "out", *options, cwd=room)
    assert f"12 submissions ({len(before)} of them earlier): 12 graded" in done.stdout
    assert {name: stamps(room / "out")[name] for name in before} == before


def test_a_process_of_the_pool_that_is_killed_takes_nothing_with_it(
    room: Path, options: tuple[object, ...], repo: Path
) -> None:
    for number in range(12):
        hand_in(room / f"in/{number:02}.ipynb", tiny.notebook())
    command = [sys.executable, "-m", "classroom", "grade", "in", "out", *map(str, options)]
    env = {**os.environ, "PYTHONPATH": str(repo)}
    with subprocess.Popen(command, cwd=room, env=env, stdout=subprocess.PIPE) as running:
        wait_for(2, room / "out", running)
        workers = [
            child
            for child in psutil.Process(running.pid).children()
            if "spawn_main" in " ".join(child.cmdline())
        ]
        workers[0].kill()
        assert running.stdout and b"12 submissions: 12 graded" in running.stdout.read()
    assert {result.score for result in results(room / "out").values()} == {7}


def test_answers_in_words_are_set_aside_and_read_back(
    room: Path, options: tuple[object, ...]
) -> None:
    hand_in(room / "in/ana.ipynb", tiny.notebook(why="Its stdout is the wire.\nSo it must."))
    hand_in(room / "in/bob.ipynb", tiny.notebook(why='=HYPERLINK("http://192.0.2.1")'))
    hand_in(room / "in/eve.ipynb", tiny.notebook())
    classroom("grade", "in", "out", *options, cwd=room)
    table = room / "out/written.csv"
    rows = gradebook.read_csv(table)
    assert [(row["submission"], row["score"]) for row in rows] == [
        ("ana.ipynb", ""),
        ("bob.ipynb", ""),
    ]
    assert "'=HYPERLINK" in table.read_text()
    assert "=HYPERLINK" in (room / "out/written.html").read_text()
    # As a spreadsheet of another country saves it.
    with open(table, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, gradebook.WRITTEN, delimiter=";")
        writer.writeheader()
        writer.writerow({**rows[0], "score": "0,5", "comment": "Half <b>of it</b>."})
        writer.writerow({**rows[1], "score": "17"})
    done = classroom("grade", "in", "out", *options, cwd=room)
    assert "written.csv, row 3: a score of '17', of 1 points" in done.stdout
    graded = [row for row in gradebook.read_csv(room / "out/grades.csv") if "words" in row["stage"]]
    assert [row["score"] for row in graded] == ["0.5", "", "0"]
    totals = {row["learner"]: row["total"] for row in gradebook.read_csv(room / "out/totals.csv")}
    assert totals == {"ana": "7.5", "bob": "7", "eve": "7"}
    page = (room / "out/feedback" / f"{safe_name('ana')}.html").read_text()
    assert "Half &lt;b&gt;of it&lt;/b&gt;." in page and "7.5 of 8 points" in page
    assert [row["score"] for row in gradebook.read_csv(table)] == ["0,5", "17"]
    # A new answer is not the one that was graded; and who is not in this run stays.
    hand_in(room / "in/ana.ipynb", tiny.notebook(why="Something else."))
    (room / "in/bob.ipynb").unlink()
    classroom("grade", "in", "out", *options, cwd=room)
    first, second = gradebook.read_csv(table)
    assert (first["score"], second["score"]) == ("", "17")
    assert "an earlier answer had 0" in first["comment"]


def test_the_picture_is_drawn_from_the_table_alone(tmp_path: Path) -> None:
    rows = []
    for number in range(50):
        stages = [StageResult("frame", 2, 2, "passed", "passed")]
        kind = ("wrong", "") if number < 30 else ("passed", "wrong" if number == 49 else "passed")
        stages.append(StageResult("parse", 2, 0, *kind))
        rows += gradebook.rows([Result(f"s{number}", "", "ch26/01", GRADED, "", tuple(stages))], {})
    rows += gradebook.rows([Result("x", "", "ch26/01", ERROR)], {})
    gradebook.write_csv(tmp_path / "grades.csv", gradebook.GRADES, rows)
    stages = report.tally(gradebook.read_csv(tmp_path / "grades.csv"))
    found = [(stage.stage, stage.handed_in, stage.passed, stage.hidden_only) for stage in stages]
    assert found == [("frame", 50, 50, 0), ("parse", 50, 19, 1)]
    picture = report.picture(stages)
    assert isinstance(picture, Picture) and picture.png == report.picture(stages).png
    assert "ch26/01 parse: 38 % of 50" in picture.words
    assert "s0, s1, s2, s3, s4, s5 and 25 more" in report.as_text(stages)


def test_whose_a_submission_is() -> None:
    def one(name: str, student: str = "", exercise: str = "01") -> Result:
        return Result(name, student, exercise, GRADED)

    by_folder = [one("ana/01.ipynb"), one("ana/02.ipynb", exercise="02"), one("bob/01.ipynb")]
    assert set(learners(by_folder).values()) == {"ana", "bob"}
    by_exercise = [one("week 1/ana.ipynb"), one("week 1/bob.ipynb")]
    assert set(learners(by_exercise).values()) == {"week 1/ana", "week 1/bob"}
    by_student = [one("x1.ipynb", "ana"), one("x2.ipynb", "ana", "02"), one("x3.ipynb", "bob")]
    assert set(learners(by_student).values()) == {"ana", "bob"}
    claimed_twice = [one("x1.ipynb", "ana"), one("x2.ipynb", "ana")]
    assert set(learners(claimed_twice).values()) == {"x1", "x2"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("grade", "nowhere", "out"), "nowhere is no folder"),
        (("grade", ".", "out", "--exercise", "ch99"), "'ch99' is not one of"),
        (("variant", "ch26/01"), "for whom?"),
        (("report", "none.csv"), "none.csv"),
        (("grade", ".", "out", "--dask", "tcp://127.0.0.1:1"), "no Dask scheduler answers"),
    ],
    ids=["folder", "exercise", "student", "table", "cluster"],
)
def test_what_cannot_be_done_is_said_in_a_line(
    arguments: tuple[str, ...], says: str, room: Path, small: Tiny, seed_file: Path
) -> None:
    hand_in(room / "a.ipynb", tiny.notebook())
    more = () if arguments[0] == "report" else ("--checks", small.checks)
    done = classroom(*arguments, *more, cwd=room, code=2)
    assert says in done.stderr and "Traceback" not in done.stderr


def test_names_of_strangers_make_names_of_files() -> None:
    names = [
        "Ștefan/01.ipynb",
        "stefan/01.ipynb",
        "../../etc/passwd",
        "a" * 300,
        "名前.ipynb",
        "CON",
    ]
    made = [safe_name(name) for name in names]
    assert len(set(made)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]{8,60}", name) for name in made)


def test_an_empty_folder_is_an_empty_class(room: Path, options: tuple[object, ...]) -> None:
    (room / "in").mkdir()
    done = classroom("grade", "in", "out", *options, cwd=room)
    assert "0 submissions: 0 graded" in done.stdout
    assert gradebook.read_csv(room / "out/grades.csv") == []
