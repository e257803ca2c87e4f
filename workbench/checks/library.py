"""The functions of check cells, from their text: the same ones in a notebook and in a grader.

A check cell is run in a name space of its own that holds the exercise's imports and nothing of the
learner's. In the hidden cells the visible checks can be called by their names:

    def hidden(it, rng):
        framed(it, {"title": rng.choice(TITLES)})

Does not handle: running a check (`judge`).
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Function = Callable[..., object]


@dataclass(frozen=True)
class Check:
    """The visible check of one stage."""

    stage: str
    points: float
    function: Function


def name_space(preamble: str) -> dict[str, Any]:
    """The exercise's imports, and `check` as a decorator that only collects."""
    space: dict[str, Any] = {"__name__": "checks"}
    exec(compile(preamble, "<imports>", "exec"), space)
    return space


def visible(source: str, space: dict[str, Any]) -> Check:
    """The check that a cell's text holds; its function stays in `space` under its name."""
    found: list[Check] = []

    def check(stage: str, points: float) -> Callable[[Function], Function]:
        def collect(function: Function) -> Function:
            found.append(Check(stage, points, function))
            return function

        return collect

    space["check"] = check
    exec(compile(source, "<check>", "exec"), space)
    if len(found) != 1:
        raise ValueError(f"a check cell holds one check, not {len(found)}")
    return found[0]


def hidden(source: str, space: dict[str, Any]) -> Function:
    """The function called `hidden` that a cell's text holds."""
    space.pop("hidden", None)
    exec(compile(source, "<hidden check>", "exec"), space)
    return space.pop("hidden")


def draw(seed: object, exercise: str, stage: str, student: str = "") -> random.Random:
    """The random numbers of one hidden check: another seed, stage or student gives others."""
    return random.Random(f"{seed}\n{exercise}\n{stage}\n{student}")


@dataclass(frozen=True)
class Stage:
    """One stage with both of its checks."""

    name: str
    points: float
    visible: Function
    hidden: Function


def stages(check_set: Mapping[str, Any]) -> list[Stage]:
    """The stages of a check set (classroom/checks/**.json), ready to run, in order."""
    space = name_space(check_set["preamble"])
    found = []
    for each in check_set["stages"]:
        check = visible(each["visible"], space)
        found.append(
            Stage(each["name"], each["points"], check.function, hidden(each["hidden"], space))
        )
    return found
