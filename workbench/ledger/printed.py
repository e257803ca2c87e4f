"""Findings as a person reads them: lines of a table, and what to say below; JSON for a script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from workbench.ledger.claim import DIFFERS, QUOTED, Finding, Later, text

HEAD = ("id", "claim, and its facts", "the chapter", "today", "verdict")
WIDTHS = (5, 38, 20, 25, 10)
MOST = 90


def cells(finding: Finding, *, detail: bool = False) -> Iterator[tuple[str, ...]]:
    """The rows of one finding: the claim with its verdict, then each fact on both sides.

    With `detail`, also what was measured beside the claim, and what else there is to say.
    """
    yield finding.claim.id, finding.claim.statement, "", "", finding.verdict
    for name, said in finding.said.items():
        yield "", f"- {name}", clip(text(said)), clip(text(finding.today.get(name, "-"))), ""
    if not detail:
        yield from (("", "", "", note, "") for note in _loud(finding))
    else:
        for name, fact in finding.beside.items():
            yield "", f"- {name}", "", clip(text(fact)), ""


def _loud(finding: Finding) -> list[str]:
    """What must not be silent: that this is from a recording, or why a check could not run."""
    return [note for note in finding.notes if "recording" in note or not finding.today]


def details(finding: Finding) -> Iterator[str]:
    """What to say below the rows of one finding: how it differs, what settles it, where it is."""
    if finding.verdict == DIFFERS:
        yield f"differs: {finding.how}"
        yield f"instead: {finding.claim.instead or 'take what was measured'}"
    yield from finding.notes
    commands = [fact.command for fact in finding.today.values() if _later(fact)]
    yield from (f"to settle it: {command}" for command in dict.fromkeys(commands))
    yield f"by hand: notebooks/{finding.claim.notebook}.ipynb"


def lines(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Rows as lines of text; a claim may run on over the columns of its facts."""
    for id, claim, said, today, verdict in rows:
        wide = WIDTHS[1] if said or today else sum(WIDTHS[1:4]) + 4
        columns = [wrap(claim, wide, subsequent_indent="  " if said or today else "")]
        widths = [wide]
        if said or today:
            columns += [wrap(said, WIDTHS[2]), wrap(today, WIDTHS[3])]
            widths += WIDTHS[2:4]
        for number, line in enumerate(zip_longest(*columns, fillvalue="")):
            parts = [part.ljust(width) for part, width in zip(line, widths, strict=True)]
            first = id if number == 0 else ""
            yield "  ".join([first.ljust(WIDTHS[0]), *parts, verdict * (number == 0)]).rstrip()


def summary(findings: Iterable[Finding]) -> str:
    """ "claims: 50; holds: 40, differs: 6, needs the network: 4" """
    found = list(findings)
    counts = Counter(finding.verdict for finding in found)
    parts = [f"{verdict}: {n}" for verdict, n in counts.most_common()]
    unchecked = sum(_later(finding.today.get(QUOTED)) for finding in found)
    note = f"; quoted words not checked: {unchecked} (--spec PATH)" if unchecked else ""
    taped = sum(any("recording" in note for note in finding.notes) for finding in found)
    note += f"; read off recordings: {taped}" if taped else ""
    return f"claims: {len(found)}; {', '.join(parts)}{note}"


def as_json(finding: Finding) -> dict[str, Any]:
    """All of a finding, as JSON can say it."""
    return {
        "id": finding.claim.id,
        "claim": finding.claim.statement,
        "notebook": finding.claim.notebook,
        "chapter": dict(finding.said),
        "today": {name: _plain(fact) for name, fact in finding.today.items()},
        "verdict": finding.verdict,
        "how": finding.how,
        "notes": list(finding.notes),
    }


def paragraph(head: str, words: str, width: int = 100) -> str:
    """The words after a head, on as many lines as they need, each of them below the first."""
    inside = len(head) + (1 if head.startswith(" ") else 2)
    whole = {"break_long_words": False, "break_on_hyphens": False}  # a date is one word
    indents = {"initial_indent": head.ljust(inside), "subsequent_indent": " " * inside}
    return "\n".join(wrap(words, width, **indents, **whole))


def clip(words: str) -> str:
    """The text, or its beginning."""
    return words if len(words) <= MOST else words[: MOST - 1] + "…"


def _plain(fact: object) -> object:
    return {"to settle it": fact.command} if isinstance(fact, Later) else fact


def _later(fact: object) -> bool:
    return isinstance(fact, Later)
