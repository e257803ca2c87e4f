"""One submission: the same every time, and by the teacher's seed and the student's constants."""

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from classroom import check_set, release
from classroom.grade import Exam, grade
from classroom.gradebook import rows
from classroom.result import ERROR, GRADED, REFUSED, from_json, to_json
from classroom.roll import handed_in
from classroom.submission import MAX_BYTES
from tests.classroom import tiny
from tests.classroom.conftest import SEED, Tiny, hand_in, scores

HARD_CODED = """\
# Stage serve: what the plain release wants.
def serve(stdin, stdout):
    for line in stdin:
        result = {"title": "Dentist"}
        stdout.write(frame({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": result}))
        stdout.flush()"""
TITLES = tiny.EXERCISE.given["TITLE"]


def test_the_model_answers_get_every_point_and_the_blank_ones_none(
    exam: Exam, tmp_path: Path
) -> None:
    model = grade(hand_in(tmp_path / "model.ipynb", tiny.notebook()), exam)
    assert (model.status, model.score, model.points) == (GRADED, 7, 7)
    blank = grade(hand_in(tmp_path / "blank.ipynb", tiny.blank()), exam)
    assert (blank.status, blank.score) == (GRADED, 0)
    assert [stage.visible for stage in blank.stages] == ["not yet"] * 3


def test_it_is_pure_and_goes_anywhere(exam: Exam, tmp_path: Path) -> None:
    path = hand_in(tmp_path / "ana.ipynb", tiny.notebook({"parse": "# Stage parse: no\nx = 1"}))
    first = grade(path, exam)
    there = pickle.loads(pickle.dumps((path, exam)))
    assert grade(*there) == first == grade(Path("elsewhere"), exam, "ana.ipynb", path.read_bytes())
    assert from_json(to_json(first, "inputs")) == (first, "inputs")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["ana.ipynb"]


def test_every_built_exercise_is_full_for_its_solution_and_empty_as_released(
    bubblewrap: str, repo: Path
) -> None:
    for name in check_set.exercises():
        model = grade(repo / "solutions" / f"{name}.ipynb", Exam(SEED))
        assert (model.status, model.score) == (GRADED, model.points), (
            name,
            list(rows([model], {})),
        )
        assert not model.notes
        blank = grade(repo / "exercises" / f"{name}.ipynb", Exam(SEED))
        assert (blank.status, blank.score) == (GRADED, 0), (name, list(rows([blank], {})))
        assert not blank.notes and not any(answer.text for answer in blank.written)


# --- the seed and the student ---


def own(small: Tiny, student: str, answers: dict[str, str], seed: str = SEED) -> dict:
    """What a student hands in, in the variant that was released for them."""
    checks = check_set.load(tiny.NAME, small.checks)
    made = release.variant(tiny.notebook(answers), checks, seed, student)
    return made


def test_students_have_constants_of_their_own_and_the_grader_knows_them(
    exam: Exam, small: Tiny, tmp_path: Path
) -> None:
    checks = check_set.load(tiny.NAME, small.checks)
    drawn = {name: checks.values(SEED, name)["TITLE"] for name in "abcdefghijkl"}
    assert set(drawn.values()) == set(TITLES)
    assert checks.values(SEED, "")["TITLE"] == TITLES[0]
    other = next(name for name, title in drawn.items() if title != TITLES[0])
    notebook = own(small, other, {})
    assert f'TITLE = "{drawn[other]}"' in "".join(tiny.cell(notebook, "given")["source"])
    result = grade(hand_in(tmp_path / "own.ipynb", notebook), exam)
    assert (scores(result), result.student, result.notes) == ((2, 2, 3), other, ())
    copied = own(small, other, {"serve": HARD_CODED})
    assert scores(grade(hand_in(tmp_path / "copied.ipynb", copied), exam)) == (2, 2, 0)
    plain = hand_in(tmp_path / "plain.ipynb", tiny.notebook({"serve": HARD_CODED}))
    assert scores(grade(plain, exam)) == (2, 2, 3)


def test_constants_that_a_learner_changes_are_ours_again(exam: Exam, tmp_path: Path) -> None:
    notebook = tiny.notebook()
    tiny.cell(notebook, "given")["source"] = 'TITLE = "mine"\nimport os; os._exit(3)'
    result = grade(hand_in(tmp_path / "a.ipynb", notebook), exam)
    assert result.score == 7
    assert result.notes == ("the cell of given constants was changed; ours was used",)


def test_a_notebook_of_another_seed_is_an_error_and_not_a_zero(
    exam: Exam, small: Tiny, tmp_path: Path
) -> None:
    path = hand_in(tmp_path / "a.ipynb", own(small, "ana", {}, seed="another"))
    result = grade(path, exam)
    assert result.status == ERROR and "--seed" in result.notes[0]
    assert grade(path, replace(exam, seed="another")).score == 7


def test_another_seed_asks_for_other_values(exam: Exam, tmp_path: Path) -> None:
    tells = "# Stage frame: x\ndef frame(message):\n    if 'secret' in message: raise "
    tells += "ValueError(message)\n    return json.dumps(message).encode() + b'\\n'"
    path = hand_in(tmp_path / "a.ipynb", tiny.notebook({"frame": tells}))
    said = {grade(path, replace(exam, seed=seed)).stages[0].said for seed in ("a", "b", "c")}
    assert len(said) == 3
    assert grade(path, exam) == grade(path, exam)


def test_a_seed_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    seed, new = release.seed_in(tmp_path / "room" / "seed")
    assert new and len(seed) == 32
    assert (tmp_path / "room" / "seed").stat().st_mode & 0o777 == 0o600
    assert release.seed_in(tmp_path / "room" / "seed") == (seed, False)
    (tmp_path / "empty").touch()
    with pytest.raises(ValueError, match="is empty"):
        release.seed_in(tmp_path / "empty")


# --- files ---


def test_the_exercise_that_is_due(exam: Exam, tmp_path: Path) -> None:
    path = hand_in(tmp_path / "a.ipynb", tiny.notebook())
    result = grade(path, replace(exam, due="ch26/02_other"))
    assert result.status == REFUSED
    assert result.notes == ("this is the notebook of ch26/01_tiny; ch26/02_other is due",)


def test_a_file_too_large_is_refused_and_not_read(exam: Exam, tmp_path: Path) -> None:
    path = tmp_path / "large.ipynb"
    with open(path, "wb") as file:
        file.truncate(20 * 2**30)  # sparse
    result = grade(path, exam)
    assert result.status == REFUSED and f"more than {MAX_BYTES:,}" in result.notes[0]


def test_a_file_that_is_gone_is_an_error(exam: Exam, tmp_path: Path) -> None:
    assert grade(tmp_path / "gone.ipynb", exam).status == ERROR


def test_what_is_taken_for_a_submission(tmp_path: Path) -> None:
    (tmp_path / "secret.ipynb").write_text("{}")
    inner = tmp_path / "in"
    for name in ("ana/01.ipynb", "ana/.ipynb_checkpoints/01.ipynb", "__MACOSX/ana/._01.ipynb"):
        hand_in(inner / name, tiny.notebook())
    hand_in(inner / "bob.ipynb.txt", tiny.notebook())
    hand_in(inner / "no ending", tiny.notebook())
    hand_in(inner / "essay.pdf", b"%PDF")
    hand_in(inner / "notes.txt", b"dear teacher")
    (inner / "link.ipynb").symlink_to(tmp_path / "secret.ipynb")
    (inner / "folder.ipynb").mkdir()
    jobs, others = handed_in(inner)
    assert [job.name for job in jobs] == ["ana/01.ipynb", "bob.ipynb.txt", "no ending"]
    assert others == ["essay.pdf", "link.ipynb", "notes.txt"]
