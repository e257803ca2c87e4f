"""Every check can fail, and says something useful when it does; the model answers pass them all."""

import pytest

from sources.exercise import BEGIN, END, Exercise
from tests.exercises import answers, leaks
from tests.exercises.conftest import NAMES, read
from workbench.checks.wrong import LABELS, Wrong


@pytest.fixture(scope="session")
def cases(request: pytest.FixtureRequest) -> dict[str, list[answers.Case]]:
    """Every wrong answer and every blank of the exercises that are tested, judged."""
    asked = {
        str(item.callspec.params.get("made"))
        for item in request.session.items
        if hasattr(item, "callspec")
    }
    names = sorted(set(NAMES) & asked)
    return answers.verdicts_of_wrong_ones([read(name) for name in names])


def parts_of(wrong: Wrong | None) -> bool:
    """Whether a message has its three parts, each with something in it."""
    labelled = all(f"\n{label}:" in str(wrong) for label in LABELS)
    return wrong is not None and labelled and all((wrong.sent, wrong.clause, wrong.hint))


def test_the_model_answer_passes_every_check(made: Exercise) -> None:
    failed = [
        f"{stage}, {which}:\n{verdict.wrong}"
        for stage, which, verdict in answers.verdicts_of_the_model(made)
        if not verdict.passed
    ]
    assert not failed, "\n\n".join(failed)


def test_every_wrong_answer_fails_and_is_told_why(made: Exercise, cases) -> None:
    trouble = []
    for case in cases[made.name]:
        if case.what == answers.BLANK:
            continue
        said = str(case.verdict.wrong)
        flat = " ".join(said.split())
        if case.verdict.passed:
            trouble.append(f"{case.stage}, {case.what}: passes")
        elif not parts_of(case.verdict.wrong):
            trouble.append(f"{case.stage}, {case.what}: not of three parts:\n{said}")
        elif case.says not in flat:
            trouble.append(f"{case.stage}, {case.what}: does not say {case.says!r}:\n{said}")
    assert not trouble, "\n\n".join(trouble)


def test_a_blank_scores_nothing_and_is_told_so(made: Exercise, cases) -> None:
    for case in cases[made.name]:
        if case.what != answers.BLANK:
            continue
        assert not case.verdict.passed, case.stage
        if made.of("blank", case.stage):  # a broken copy to mend: it gets a message as any other
            assert case.verdict.kind != "not yet", case.stage
            assert parts_of(case.verdict.wrong), case.stage
        else:
            assert case.verdict.kind == "not yet", (case.stage, str(case.verdict.wrong))
            assert "ot written yet" in str(case.verdict.wrong), case.stage


def test_no_message_holds_the_answer(made: Exercise, cases) -> None:
    for case in cases[made.name]:
        answer = made.of("stage", case.stage)[0].source
        own = {leaks.flat(line) for line in case.source.splitlines()}  # theirs: it may be quoted
        said = leaks.flat(str(case.verdict.wrong))
        for line in leaks.telling(answer.replace(BEGIN, "").replace(END, "")):
            assert line in own or line not in said, (case.stage, case.what, line)


def test_a_wrong_answer_is_wrong_in_its_own_way(made: Exercise, cases) -> None:
    """Two wrong answers of a stage that read the same message prove half as much."""
    for stage in made.stages:
        said = [str(c.verdict.wrong) for c in cases[made.name] if c.stage == stage and c.says]
        assert len(set(said)) == len(said), stage
