"""Runs an exercise's checks on its answers, right and wrong, as the library runs a learner's.

An answer is a set of cells: the model's in every stage, but in one the text that is asked for.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from sources.exercise import Cell, Exercise, check_set, given_text
from workbench.checks import library, parts
from workbench.checks.judge import Judge, Verdict

SEEDS = ("a", "b", "c")
AT_ONCE = 8
BLANK = "the blank"
# What is asked of these is to be right; how long a check may take is tested elsewhere.
PATIENT = {"seconds": 30.0, "load_seconds": 15.0}


@dataclass(frozen=True)
class Case:
    """One text in one stage, and the verdict of that stage's visible check on it."""

    stage: str
    what: str
    says: str
    source: str
    verdict: Verdict


def cells_of(exercise: Exercise, given: dict[str, Any], texts: dict[str, str]) -> list[parts.Cell]:
    """A learner's notebook as the judge takes it, with these texts in the stages."""
    found = []
    for cell in exercise.cells:
        if cell.kind == "preamble":
            found.append(parts.preamble(cell.source))
        elif cell.kind == "given":
            found.append(parts.Cell("\n".join(f"{k} = {v!r}" for k, v in given.items())))
        elif cell.kind == "shown" and (helper := parts.helper(given_text(cell.source))):
            found.append(helper)
        elif cell.kind == "stage":
            found.append(parts.answer(texts[cell.name], cell.name))
    return found


def model(exercise: Exercise) -> dict[str, str]:
    return {cell.name: cell.source for cell in exercise.of("stage")}


def plain(exercise: Exercise, number: int = 0) -> dict[str, Any]:
    """The constants of a variant: of the plain release, or of another."""
    return {name: values[number % len(values)] for name, values in exercise.given.items()}


def stages(exercise: Exercise) -> dict[str, library.Stage]:
    found = library.stages(json.loads(check_set(exercise)))
    return {stage.name: stage for stage in found}


def verdicts_of_wrong_ones(exercises: list[Exercise]) -> dict[str, list[Case]]:
    """The visible checks on every wrong answer and on every blank, by exercise.

    All in one pool: some wait until their time is up, and so they wait side by side.
    """
    asked = [each for exercise in exercises for each in wrong_ones(exercise)]
    found: dict[str, list[Case]] = {exercise.name: [] for exercise in exercises}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for (exercise, *_), case in zip(
            asked, pool.map(lambda each: one(*each), asked), strict=True
        ):
            found[exercise.name].append(case)
    return found


def wrong_ones(exercise: Exercise) -> list[tuple[Exercise, library.Stage, str, str, str]]:
    """What is to be judged: the stage, what it is, what it is to be told, its text."""
    checks = stages(exercise)
    asked = [(checks[c.name], title(c), c.says, c.source) for c in exercise.of("wrong")]
    asked += [(checks[name], BLANK, "", exercise.blank(name)) for name in exercise.stages]
    return [(exercise, *each) for each in asked]


def one(exercise: Exercise, stage: library.Stage, what: str, says: str, source: str) -> Case:
    """Judge one text in one stage."""
    cells = cells_of(exercise, plain(exercise), model(exercise) | {stage.name: source})
    with Judge(cells, plain(exercise)) as judge:
        verdict = judge.check(stage.name, stage.visible)
    meant = says and says in " ".join(str(verdict.wrong).split())
    if verdict.kind == "late" and not meant:
        # Its time was up, and that was not to be: a busy machine. It gets more of it.
        with Judge(cells, plain(exercise), **PATIENT) as judge:
            verdict = judge.check(stage.name, stage.visible)
    return Case(stage.name, what, says, source, verdict)


def title(cell: Cell) -> str:
    return cell.source.splitlines()[0].partition(": ")[2]


def verdicts_of_the_model(exercise: Exercise) -> list[tuple[str, str, Verdict]]:
    """Visible and hidden checks on the model answer: each variant, several seeds."""
    found = []
    for number in range(max([1, *map(len, exercise.given.values())])):
        given = plain(exercise, number)
        with Judge(cells_of(exercise, given, model(exercise)), given, **PATIENT) as judge:
            for stage in stages(exercise).values():
                found.append((stage.name, "visible", judge.check(stage.name, stage.visible)))
                for seed in SEEDS if number == 0 else SEEDS[:1]:
                    rng = library.draw(seed, exercise.name, stage.name)
                    verdict = judge.check(stage.name, stage.hidden, rng)
                    found.append((stage.name, f"hidden, variant {number}, seed {seed}", verdict))
    return found
