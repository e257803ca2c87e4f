"""`mcp_bare check`, sat by a learner's server: the first broken rule is what they read.

    def musts_hold(it):
        sit(it, "serve")

The exam starts the server several times, through `stand_in`, with the command of the judge: plainly
in a notebook, in a sandbox at a grader.

Does not handle: HTTP (`front`, and the specification's own suite).
"""

from typing import Any

from mcp_bare import check
from mcp_bare.exam.report import USUAL
from mcp_bare.exam.rule import BROKEN, Finding, Verdict
from workbench.checks.asking import It
from workbench.checks.reasons import not_written
from workbench.checks.wrong import Wrong

PARTS = 0.26, 0.16, 0.36
"""Of the time that is left: for one answer, for leaving, for one sitting. Three sittings at most
follow each other, and one that gets no answer is the last: so the exam is over in time."""
SLOW = ("it says nothing for", "the sitting took")
BLANK = "NotImplementedError: "


def sit(it: It, name: str, **options: Any) -> list[Verdict]:
    """Every verdict, where no rule is broken. Raises Wrong with the first that is."""
    patience = check.Patience(*(round(it.left() * part, 1) for part in PARTS))
    with it.command(name) as command:
        verdicts = list(check.run(command, patience=patience, **options))
    broken = [each for each in verdicts if each.outcome == BROKEN]
    if broken:
        raise _wrong(broken)
    return verdicts


def _wrong(broken: list[Verdict]) -> Wrong:
    """The first rule in full, the others by name."""
    first, *others = broken
    finding = first.findings[0]
    if BLANK in finding.came:
        return not_written(finding.came.rpartition(BLANK)[2].rstrip('"'))
    hint = first.hint
    if others:
        hint += f" (Broken as well: {', '.join(each.name for each in others)}.)"
    kind = "late" if any(words in finding.came for words in SLOW) else "wrong"
    return Wrong(_told(finding), f"{first.page}: {first.says}", hint, kind)


def _told(finding: Finding) -> str:
    """What came, for what, and what is the matter with it, in the room that a message has."""
    asked = finding.sent
    for usual in USUAL:
        asked = asked.replace(usual, "…")
    return f"{_cut(finding.came, 130)}\nfor {_cut(asked, 90)}\nbut {_cut(finding.why, 80)}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
