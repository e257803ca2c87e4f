"""The check cells of an open notebook: `@check("frame", points=2)`, and `tally()` at the end.

The learner's code is taken from the cells as they were last run, and runs again in a process of
its own; the check itself runs here. A check that does not pass fails its cell, with three lines
and no traceback, and says nothing on stderr.

Does not handle: hidden checks, or a grade (`classroom`).
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from workbench.checks import library, parts
from workbench.checks.judge import Judge
from workbench.checks.parts import Cell, Parts


@dataclass(frozen=True)
class Seen:
    """A stage's last check, and the text that it was of."""

    points: float
    passed: bool
    text: str


_seen: dict[str, Seen] = {}
_left_out: dict[Cell, str] = {}  # a cell that hung is not run here until the learner runs it again
_looked_at = 0  # how long the history was at the last check


def check(stage: str, points: float) -> Callable[[library.Function], library.Function]:
    """Run the function below as the visible check of a stage, at once."""

    def run(function: library.Function) -> library.Function:
        history = _history()
        theirs = parts.from_history(history[:-1])
        _forgive(history)
        of_cell = library.visible(history[-1], library.name_space(theirs.preamble))
        with Judge(theirs.cells, theirs.given, left_out=_left_out) as judge:
            verdict = judge.check(stage, of_cell.function)
        _seen[stage] = Seen(points, verdict.passed, _digest(theirs, stage))
        if verdict.wrong is not None:
            raise verdict.wrong from None
        print(f"stage {stage}: the visible checks pass ({_counted(points)})")
        return function

    return run


def tally(stages: Mapping[str, float], written: Mapping[str, float] | None = None) -> None:
    """Print the points so far, and what is left."""
    theirs = parts.from_history(_history()[:-1])
    width = max(map(len, [*stages, *(written or {}), "stage"])) + 2
    total, left = 0.0, []
    for stage, points in stages.items():
        state, passed = _state(theirs, stage)
        total += points if passed else 0
        left += [] if passed else [stage]
        print(f"{stage:<{width}}{points if passed else 0:>2g} of {points:<2g}  {state}")
    for name, points in (written or {}).items():
        print(f"{name:<{width}} – of {points:<2g}  your own words: a person reads them")
    print(f"\n{total:g} of {_counted(sum(stages.values()))} by the visible checks.", end=" ")
    print(f"Left: {', '.join(left)}." if left else "The visible checks pass.")


def _forgive(history: list[str]) -> None:
    """Give what hung another chance, where the learner has run it again since the last check."""
    global _looked_at
    for cell in parts.from_history(history[_looked_at:-1]).cells:
        _left_out.pop(cell, None)
    _looked_at = len(history)


def _state(theirs: Parts, stage: str) -> tuple[str, bool]:
    seen = _seen.get(stage)
    if seen is None:
        return "its check was not run yet", False
    if seen.text != _digest(theirs, stage):
        return "changed since its check: run the check again", False
    return ("the visible checks pass", True) if seen.passed else ("not yet", False)


def _digest(theirs: Parts, stage: str) -> str:
    cell = theirs.stage(stage)
    return hashlib.sha256(cell.source.encode()).hexdigest() if cell else ""


def _counted(points: float) -> str:
    return f"{points:g} point" + ("" if points == 1 else "s")


def theirs() -> Parts:
    """The learner's notebook as it was last run, up to the cell that is running."""
    return parts.from_history(_history()[:-1])


def _history() -> list[str]:
    """Every input of this kernel, the one that is running included."""
    import IPython

    shell = IPython.get_ipython()
    if shell is None:
        raise RuntimeError("a check runs in a notebook; see classroom for graders")
    return list(shell.history_manager.input_hist_raw)
