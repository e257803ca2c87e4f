"""The exam over stdio: does this server keep the MUSTs of the revision? A verdict for each rule.

    for verdict in check.run(["python", "toy_servers/rude.py", "wrong-id"]):
        print(verdict.name, verdict.outcome)

This is the face; what is behind it stands in `exam`, a module for an idea each. The exam starts the
server several times, sends what `exam.sittings` says, keeps every byte, and lets the rules judge
what it has. It calls the server's tools with made-up arguments: not those that say of themselves
that they destroy, and with `read_only` none but those that say they only read.

A server passes (`passed`) where no rule that decides is broken. What no clause demands with a MUST
is a note. A rule that had nothing to judge is said to be not applicable, never passed.

Does not handle: HTTP (the specification's own suite does), whether a tool does what it says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_bare.exam import (
    order,
    rules_answers,
    rules_asking,
    rules_lines,
    rules_process,
    rules_refusals,
    rules_results,
    rules_streams,
)
from mcp_bare.exam.learned import Learned
from mcp_bare.exam.process import Patience
from mcp_bare.exam.report import report
from mcp_bare.exam.rule import BROKEN, DECIDE, Exam, Finding, Rule, Verdict, verdict

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from mcp_bare.revision import JsonObject

__all__ = ["DECIDE", "RULES", "SITTINGS", "Finding", "Patience", "Verdict",
           "passed", "report", "run"]  # fmt: skip

RULES: tuple[Rule, ...] = (
    *rules_lines.RULES,
    *rules_answers.RULES,
    *rules_process.RULES,
    *rules_refusals.RULES,
    *rules_results.RULES,
    *rules_asking.RULES,
    *rules_streams.RULES,
)
"""Every rule, in the order of the report."""

SITTINGS = order.NAMES
"""What is sat after the first meeting, each in a process of its own (`exam.sittings`)."""


def run(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    patience: Patience = Patience(),  # noqa: B008 (it is frozen)
    read_only: bool = False,
    arguments: Mapping[str, JsonObject] | None = None,
    sittings: Collection[str] = SITTINGS,
) -> Iterator[Verdict]:
    """Examine the server that this command starts; yields a verdict for each rule.

    `arguments` gives the arguments for a tool by name, in place of made-up ones. With fewer
    `sittings` the exam is quicker, and what only the others show is not applicable. Raises
    TransportClosed where the command cannot be started at all, ValueError for no such sitting.
    """
    options: dict[str, Any] = {"env": None if env is None else dict(env), "cwd": cwd}
    learned = Learned(overrides=arguments or {}, read_only=read_only)
    records = order.sit(order.Opened(command, options, patience), learned, sittings)
    exam = Exam(tuple(records), learned)
    for rule in RULES:
        yield verdict(rule, exam)


def passed(verdicts: Iterable[Verdict]) -> bool:
    """Whether no rule that decides is broken."""
    return not any(each.outcome == BROKEN for each in verdicts)
