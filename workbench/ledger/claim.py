"""A claim, what was measured for it, and the verdict that follows from the two.

A claim says what a chapter says, as facts: `{"tools": 13}`. Its check measures the same facts
today, and may measure more. The verdict is the comparison and nothing else:

    every fact as the chapter says               holds
    one of them otherwise                        differs, and which
    none of them can be known here               needs the network, and the command that settles it

Does not handle: measuring (the themes do), or whether a claim is put fairly (a reader does).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.ledger.bench import Bench

Facts = Mapping[str, Any]

HOLDS, DIFFERS, NETWORK, BROKEN = "holds", "differs", "needs the network", "could not run"
QUOTED = "quoted words, on their page"


@dataclass(frozen=True)
class Later:
    """In place of a fact that cannot be had here: the one command that would settle it."""

    command: str


@dataclass(frozen=True)
class Claim:
    """One sentence of a chapter in our own words, the facts it amounts to, and its check.

    `measure` runs real parts and returns today's facts: all that `says` names, and any others
    that a reader should see beside them. `notebook` shows the same by hand. `instead` is what to
    take instead of the claim, and is shown only where the facts differ.
    """

    id: str
    statement: str
    notebook: str
    says: Facts
    measure: Callable[[Bench], Facts]
    instead: str = ""


def claim(
    id: str, statement: str, *, notebook: str, says: Facts | None = None, instead: str = ""
) -> Callable[[Callable[[Bench], Facts]], Claim]:
    """Make a claim of the function below it, which is its check."""
    return lambda measure: Claim(id, statement, notebook, says or {}, measure, instead)


@dataclass(frozen=True)
class Finding:
    """What became of one claim today: what the chapter says, what was measured, the verdict."""

    claim: Claim
    verdict: str
    said: Facts
    today: Facts
    notes: tuple[str, ...] = ()

    @property
    def how(self) -> str:
        """Each fact that differs: "tools: 12, not 13"; or the command that would settle it."""
        if self.verdict == NETWORK:
            commands = [fact.command for fact in self.today.values() if _is_later(fact)]
            return "; ".join(dict.fromkeys(commands))
        return "; ".join(
            f"{name}: {text(self.today[name])}, not {text(fact)}"
            for name, fact in self.said.items()
            if name in self.today and not _is_later(self.today[name]) and self.today[name] != fact
        )

    @property
    def beside(self) -> Facts:
        """What else was measured, which the chapter does not say."""
        return {name: fact for name, fact in self.today.items() if name not in self.said}


def judge(claim: Claim, today: Facts, notes: tuple[str, ...] = (), quotes: int = 0) -> Finding:
    """Compare what was measured with what the chapter says. KeyError where a fact is missing.

    With `quotes`, the chapter also says that so many sentences are where it quotes them from.
    """
    said = {**claim.says, **({QUOTED: quotes} if quotes else {})}
    known = [name for name in said if not _is_later(today[name])]
    agrees = all(today[name] == said[name] for name in known)
    verdict = (HOLDS if agrees else DIFFERS) if known else NETWORK
    return Finding(claim, verdict, said, today, notes)


def broken(claim: Claim, why: str) -> Finding:
    """The finding where the check itself could not run."""
    return Finding(claim, BROKEN, claim.says, {}, (why,))


def _is_later(fact: object) -> bool:
    return isinstance(fact, Later)


def agreed(answers: Mapping[str, Any]) -> Any:
    """What all of them answer alike; or, where they do not, who answers what."""
    first, *others = answers.values()
    return first if all(other == first for other in others) else dict(answers)


def text(fact: object) -> str:
    """A fact for a person: 1,307 and not 1307, a list with commas, JSON for an object."""
    if isinstance(fact, Later):
        return "not checked here"
    if isinstance(fact, int) and not isinstance(fact, bool):
        return f"{fact:,}" if fact > 0 else str(fact)  # an error code is a name, not a number
    if isinstance(fact, list | tuple):
        return ", ".join(map(text, fact)) or "none"
    if isinstance(fact, dict):
        return json.dumps(fact, ensure_ascii=False)
    return "none" if fact is None else str(fact)
