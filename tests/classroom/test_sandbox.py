"""The sandbox holds, and where it does not, that is said: never a zero."""

import json
import os
import shutil
from pathlib import Path

import pytest

from classroom import gradebook, sandbox
from classroom.grade import Exam, grade
from classroom.result import ERROR, GRADED
from classroom.sandbox import Limits, SandboxUnavailable, prove
from tests.classroom import tiny
from tests.classroom.conftest import Tiny, classroom, hand_in, results


@pytest.fixture(autouse=True)
def proved_anew() -> None:
    prove.cache_clear()
    sandbox._view.cache_clear()


def test_it_holds(bubblewrap: str) -> None:
    prove(Limits())


def test_the_canary_sees_a_sandbox_that_shows_too_much(
    bubblewrap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # At a place of its own: a clone below /tmp would lie under the sandbox's private one.
    monkeypatch.setitem(sandbox.KIT, "/kit/classroom", sandbox.HERE)
    monkeypatch.setattr(sandbox, "HERE", Path("/kit/classroom"))
    with pytest.raises(SandboxUnavailable, match="classroom can be seen"):
        prove(Limits())


@pytest.mark.parametrize(
    ("room", "without", "instead", "says"),
    [
        ("_scratch", ("--remount-ro", "/"), ("--chmod", "0777", "/"), "/ can be written to"),
        ("_scratch", ("--size", str(Limits().scratch)), (), "no bound on /tmp"),
        ("_walls", ("--unshare-pid",), (), "sees other processes|does not start"),
    ],
    ids=["writable", "unbounded", "processes"],
)
def test_the_canary_sees_a_wall_that_is_missing(
    room: str,
    without: tuple[str, ...],
    instead: tuple[str, ...],
    says: str,
    bubblewrap: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = getattr(sandbox, room)
    text = "\0".join(without)

    def less(argument: object) -> list[str]:
        joined = "\0".join(whole(argument))
        assert text in joined
        return [each for each in joined.replace(text, "\0".join(instead), 1).split("\0") if each]

    monkeypatch.setattr(sandbox, room, less)
    with pytest.raises(SandboxUnavailable, match=says):
        prove(Limits())


def test_the_canary_sees_limits_that_are_not_set(
    bubblewrap: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lax = tmp_path / "starter.py"
    starter = (sandbox.HERE / "starter.py").read_text()
    line = "        resource.setrlimit(what, (most, most))"
    assert line in starter
    lax.write_text(starter.replace(line, "        pass"))
    monkeypatch.setitem(sandbox.KIT, "/kit/starter.py", lax)
    with pytest.raises(SandboxUnavailable, match="no bound on memory; no bound on processes"):
        prove(Limits())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can stay root")
def test_the_canary_sees_root(bubblewrap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_stranger", lambda: 0)
    with pytest.raises(SandboxUnavailable, match="it runs as root"):
        prove(Limits())


# --- without one ---


@pytest.fixture
def no_bwrap(tmp_path: Path) -> str:
    """A PATH without bubblewrap."""
    (tmp_path / "bin").mkdir()
    return str(tmp_path / "bin")


def test_without_bubblewrap_it_says_what_it_cannot_promise_and_grades_nothing(
    small: Tiny, no_bwrap: str, tmp_path: Path
) -> None:
    hand_in(tmp_path / "in/ana.ipynb", tiny.notebook())
    done = classroom(
        "grade", "in", "out", "--checks", small.checks, cwd=tmp_path, path=no_bwrap, code=2
    )
    assert "bubblewrap is not installed" in done.stderr and "--without-sandbox" in done.stderr
    assert "can read and delete your files" in done.stderr
    assert not (tmp_path / "out").exists()


def test_told_so_it_grades_without(small: Tiny, no_bwrap: str, tmp_path: Path) -> None:
    hand_in(tmp_path / "in/ana.ipynb", tiny.notebook())
    options = ("--checks", small.checks, "--without-sandbox")
    done = classroom("grade", "in", "out", *options, cwd=tmp_path, path=no_bwrap)
    assert "can read and delete your files" in done.stderr
    assert results(tmp_path / "out")["ana.ipynb"].score == 7


@pytest.mark.parametrize("program", ["exit 1", "echo no namespaces >&2; exit 1", "exit 0"])
def test_a_sandbox_that_does_not_start_is_an_error(
    program: str, small: Tiny, no_bwrap: str, tmp_path: Path
) -> None:
    fake = Path(no_bwrap, "bwrap")
    fake.write_text(f"#!{shutil.which('sh')}\n{program}\n")
    fake.chmod(0o755)
    hand_in(tmp_path / "in/ana.ipynb", tiny.notebook())
    options = ("--checks", small.checks)
    done = classroom("grade", "in", "out", *options, cwd=tmp_path, path=no_bwrap, code=2)
    assert "bubblewrap does not start" in done.stderr or "does not hold" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_sandbox_that_fails_later_gives_no_score(
    exam: Exam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = hand_in(tmp_path / "ana.ipynb", tiny.notebook())
    prove(exam.limits)
    monkeypatch.setattr(sandbox, "_walls", lambda root: ["--no-such-option"])
    result = grade(path, exam)
    assert result.status == ERROR and "did not start" in result.notes[0]
    (row,) = gradebook.rows([result], {})
    assert row["score"] == "" and row["status"] == ERROR
    monkeypatch.undo()
    assert grade(path, exam).status == GRADED


def test_a_limit_is_the_learners_and_not_the_machines(exam: Exam, tmp_path: Path) -> None:
    """Two at once: what one uses up, the other still has. (Processes are counted by user.)"""
    first, second = sandbox.command(exam.limits), sandbox.command(exam.limits)
    if os.geteuid() == 0:
        assert first != second
    assert json.dumps(first)  # plain text: it travels to another machine
