"""Sixty bad submissions, and each grades as it should: its score, and its finding.

The files lie in `bad`; `bad_submissions.py` says what is in each, and what must come of it.
"""

from pathlib import Path

import psutil
import pytest

from classroom import gradebook
from classroom.check_set import load
from classroom.files import safe_name
from classroom.result import GRADED, PASSED, REFUSED, Result
from tests.classroom import tiny
from tests.classroom.bad_submissions import CASES, FOLDER, Case
from tests.classroom.conftest import SEED, Tiny, classroom, results, scores
from workbench.checks import library


@pytest.fixture(scope="module")
def graded(small: Tiny, bubblewrap: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run over all of them."""
    scratch = tmp_path_factory.mktemp("bad")
    (scratch / "seed").write_text(SEED)
    options = ("--checks", small.checks, "--seed", scratch / "seed", "--seconds", 5)
    classroom("grade", FOLDER, scratch / "out", *options, cwd=scratch)
    return scratch / "out"


@pytest.fixture(scope="module")
def found(graded: Path) -> dict[str, Result]:
    return results(graded)


def test_the_files_are_what_the_script_makes() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {case.file for case in CASES}
    assert [c.file for c in CASES if (FOLDER / c.file).read_bytes() != c.data()] == []
    assert len(CASES) >= 25


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.file)
def test_it_grades_as_it_should(case: Case, found: dict[str, Result]) -> None:
    result = found[case.file]
    words = [*result.notes, *(part for stage in result.stages for part in stage.said)]
    assert result.status == (GRADED if case.scores else REFUSED), words
    assert scores(result) == case.scores, words
    assert case.says in "\n".join(words)
    if case.scores and sum(case.scores) == 7 and not case.says:
        assert not any(words)
    failed = [stage for stage in result.stages if not stage.score]
    if case.kinds:
        kind = failed[0].visible if failed[0].visible != PASSED else failed[0].hidden
        assert kind in case.kinds


def test_nothing_of_theirs_is_left(graded: Path) -> None:
    """No process, and no file outside of a sandbox."""
    lines = [
        " ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])
    ]
    assert [line for line in lines if "time.sleep(1000)" in line] == []
    for place in ("/", "/usr/lib", "/etc", "/dev", "/root", "/home", "/tmp", graded, FOLDER):
        assert not Path(place, "evil").exists()


def test_every_one_is_in_the_table(graded: Path) -> None:
    rows = gradebook.read_csv(graded / "grades.csv")
    assert {row["submission"] for row in rows} == {case.file for case in CASES}
    for case in CASES:
        theirs = [row["score"] for row in rows if row["submission"] == case.file and row["visible"]]
        assert tuple(map(float, theirs)) == case.scores


def test_a_copied_file_is_told_to_the_teacher_and_not_to_the_learner(graded: Path) -> None:
    rows = gradebook.read_csv(graded / "grades.csv")
    copied = [row["finding"] for row in rows if row["submission"].startswith("copied_file")]
    assert sum("letter for letter" in finding for finding in copied) == 2
    pages = [path.read_text() for path in (graded / "feedback").iterdir()]
    assert not any("letter for letter" in page for page in pages)


def test_no_page_holds_a_hidden_input_or_a_learners_html(graded: Path, small: Tiny) -> None:
    rng = {name: library.draw(SEED, tiny.NAME, name, "") for name in tiny.MODEL}
    hidden = [str(each.randrange(10**9)) for each in rng.values()]
    hidden += [str(rng["serve"].randrange(10**9))]
    table = (graded / "grades.csv").read_text()
    assert any(number in table for number in hidden)  # the teacher sees them
    pages = list((graded / "feedback").iterdir())
    assert len(pages) == len(CASES)
    for path in pages:
        page = path.read_text()
        assert "<script" not in page and "default-src 'none'" in page
        assert not any(number in page for number in hidden), path.name
        for stage in load(tiny.NAME, small.checks).stages():
            assert tiny.HIDDEN[stage.name].splitlines()[1].strip() not in page


def test_a_page_says_what_was_sent_what_is_wanted_and_what_to_try(graded: Path) -> None:
    page = (graded / "feedback" / f"{safe_name('no_newline')}.html").read_text()
    for words in ("You sent", "The clause wants", "Try", "4 of 8 points", "basic/transports/stdio"):
        assert words in page
