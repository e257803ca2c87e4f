"""The ledger as a page, and what the README shows of it: written by a script, checked by a test.

    python -m workbench ledger --readme       runs all of it, then writes both

Both hold what is the same on every machine: the claim, the chapter's figures, the verdict, what to
take instead. What was measured is in the notebook and on the command line.

Does not handle: a run in which a check could not run; `problems` names it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from workbench import node
from workbench.ledger.claim import BROKEN, DIFFERS, HOLDS, NETWORK, Finding, Later, text
from workbench.ledger.printed import clip

PAGE = Path(__file__).with_name("LEDGER.md")
README = node.ROOT / "README.md"
START, END = "<!-- the ledger, by `python -m workbench ledger --readme` -->", "<!-- end -->"
VERDICTS = {HOLDS: "hold", DIFFERS: "differ", NETWORK: "need a network"}
FOR_GOOD = frozenset({"26-47", "26-48", "26-50", "27-40", "27-60", "27-61", "27-62", "27-64"})
"""The claims that no part of the course can settle: words and counts of elsewhere."""


def problems(findings: Iterable[Finding]) -> list[str]:
    """Why this run is no page: what could not run, and what lacked a part of the course."""
    return [
        f"{finding.claim.id}: {finding.how or ', '.join(finding.notes)}"
        for finding in findings
        if finding.verdict == BROKEN or (_lacks(finding) and finding.claim.id not in FOR_GOOD)
    ]


def _lacks(finding: Finding) -> bool:
    """Whether something was missing that `uv` installs; the environments beside it are not that."""
    commands = [fact.command for fact in finding.today.values() if isinstance(fact, Later)]
    return any(command.startswith(("uv sync", "pip install")) for command in commands)


def summary(findings: Sequence[Finding]) -> str:
    """ "118 claims: 83 hold, 27 differ, 8 need a network" """
    counts = Counter(finding.verdict for finding in findings)
    parts = [f"{counts[verdict]} {word}" for verdict, word in VERDICTS.items()]
    return f"{len(findings)} claims: {', '.join(parts)}"


def whole(findings: Sequence[Finding]) -> str:
    """The page: every claim, what it amounts to, the verdict, and what to take instead."""
    head = (
        "# The ledger\n\n"
        "What chapters 26 and 27 claim, in our words, and what came of it when it was tried. "
        f"{summary(findings)}. Written by `python -m workbench ledger --readme`; what is measured "
        "today stands in [the notebook](../../notebooks/the_ledger.ipynb).\n\n"
        "| | claim | in the chapter | verdict |\n|---|---|---|---|\n"
    )
    return head + "".join(f"{_row(finding)}\n" for finding in findings)


def _row(finding: Finding) -> str:
    claim = finding.claim
    facts = [_cell(f"{name}: {clip(text(fact))}") for name, fact in finding.said.items()]
    verdict = finding.verdict
    if verdict == DIFFERS:
        verdict = f"**differs**: {claim.instead or 'take what is measured'}"
    link = f"[{claim.id}](../../notebooks/{claim.notebook}.ipynb)"
    return f"| {link} | {_cell(claim.statement)} | {'<br>'.join(facts)} | {_cell(verdict)} |"


def brief(findings: Sequence[Finding]) -> str:
    """What the README shows: the counts, and a row for each claim that differs."""
    rows = [
        f"| [{finding.claim.id}](notebooks/{finding.claim.notebook}.ipynb) "
        f"| {_cell(finding.claim.statement)} | {_cell(finding.claim.instead)} |"
        for finding in findings
        if finding.verdict == DIFFERS
    ]
    return "\n".join(
        [
            START,
            f"{summary(findings)}. [All of them](workbench/ledger/LEDGER.md); these differ:",
            "",
            "| | the chapter says | but |",
            "|---|---|---|",
            *rows,
            END,
        ]
    )


def into(readme: str, shown: str) -> str:
    """The README with this between its two marks. ValueError where it does not have them."""
    before, start, rest = readme.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError(f"README.md has no {START} and {END} after it")
    return f"{before}{shown}{after}"


def write(findings: Sequence[Finding]) -> None:
    """Write the page, and the README's part of it."""
    PAGE.write_text(whole(findings), "utf-8")
    README.write_text(into(README.read_text("utf-8"), brief(findings)), "utf-8")


def _cell(words: str) -> str:
    """Text that stays within its cell, and that Markdown leaves alone."""
    return words.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
