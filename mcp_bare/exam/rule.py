"""What a rule of the exam is, what it finds, and what it judges: the records of every sitting.

A rule's `judge` walks over the records and yields, for each case that it meets, None where the case
held and a `Finding` where it did not. Where it meets none, the rule is not applicable.

Levels: MUST (and MUST NOT) decides whether a server passes. So does INSISTS, where the page says
SHOULD but a client cannot live without it, and OWN, without which there is no exam. SHOULD gives a
note, and NOTE is a remark on what no page forbids.

Does not handle: sending anything (`sittings`), printing (`report`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_bare import revision
from mcp_bare.arrows import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcp_bare.exam.learned import Learned
    from mcp_bare.exam.lines import Line
    from mcp_bare.exam.record import Exchange, Record, Sent
    from mcp_bare.revision import JsonObject

MUST, SHOULD, NOTE = "MUST", "SHOULD", "no clause forbids it"
INSISTS = "SHOULD, and this exam insists"
OWN = "a condition of the exam itself"
DECIDE = (MUST, INSISTS, OWN)
HOLDS, BROKEN, NOTED, ABSENT = "holds", "broken", "note", "not applicable"
SHOWN = 3  # findings of one rule
LIMIT = 2000  # characters of one message in a finding


@dataclass(frozen=True)
class Finding:
    """One breach: what was sent, what came, and what is wrong with it."""

    sent: str
    came: str
    why: str


@dataclass(frozen=True)
class Exam:
    """All that there is to judge."""

    records: tuple[Record, ...]
    learned: Learned

    def exchanges(self) -> Iterator[tuple[Record, Exchange]]:
        """Every request, in whichever process."""
        for record in self.records:
            for exchange in record.exchanges:
                yield record, exchange

    def answered(self) -> Iterator[tuple[Record, Exchange]]:
        """Every request of this revision that was answered (`initialize` is of the era before)."""
        for record, exchange in self.exchanges():
            if exchange.line is not None and exchange.method != "initialize":
                yield record, exchange

    def results(self) -> Iterator[tuple[Record, Exchange, JsonObject]]:
        """Every request of this revision that was answered with a result object."""
        for record, exchange in self.answered():
            if exchange.result is not None:
                yield record, exchange, exchange.result

    def notes(self) -> Iterator[tuple[Record, Line]]:
        """Every notification that came."""
        for record in self.records:
            for line in record.lines:
                if line.method and "id" not in (line.message or {}):
                    yield record, line

    @property
    def capabilities(self) -> JsonObject:
        """What the server says that it can do."""
        return as_object(self.learned.discovered.get("capabilities"))


@dataclass(frozen=True)
class Rule:
    """A sentence of the specification (in our words), its page, and how it is judged.

    `hint` says what to try; `absent` says what must be there for the rule to apply.
    """

    name: str
    level: str
    page: str
    says: str
    hint: str
    judge: Callable[[Exam], Iterator[Finding | None]]
    absent: str = "nothing here to judge it by"


@dataclass(frozen=True)
class Verdict:
    """What became of one rule. `decides` says whether it counts for the exit code."""

    name: str
    level: str
    page: str
    says: str
    outcome: str
    findings: tuple[Finding, ...] = ()
    count: int = 0  # of findings, also of those that are not kept
    hint: str = ""
    reason: str = ""

    @property
    def decides(self) -> bool:
        return self.level in DECIDE


def verdict(rule: Rule, exam: Exam) -> Verdict:
    """Judge one rule."""
    cases = list(rule.judge(exam))
    findings = [case for case in cases if case is not None]
    outcome = HOLDS if cases else ABSENT
    if findings:
        outcome = BROKEN if rule.level in DECIDE else NOTED
    return Verdict(
        rule.name, rule.level, rule.page, rule.says, outcome, tuple(findings[:SHOWN]),
        len(findings), rule.hint, rule.absent if outcome == ABSENT else "",
    )  # fmt: skip


# --- what rules have in common ---


def about(record: Record, exchange: Exchange, why: str) -> Finding:
    """A finding about a request and its answer."""
    if exchange.line is not None:
        return Finding(text(exchange.sent.raw), text(exchange.line.raw), why)
    return nothing_for(record, exchange, why)


def nothing_for(record: Record, exchange: Exchange, why: str) -> Finding:
    """A finding about a request for which nothing came, or nothing in time."""
    silence = record.died or record.gave_up
    return Finding(text(exchange.sent.raw), f"nothing: {silence}" if silence else "nothing", why)


def about_line(record: Record, line: Line, why: str) -> Finding:
    """A finding about a line, with the last thing that had been sent by then."""
    return Finding(last_sent(record, line), text(line.raw), why)


def last_sent(record: Record, line: Line) -> str:
    """What had been sent just before; a line that was no message, and the request behind it."""
    before: tuple[Sent, ...] = record.sent[: line.sent_before][-2:]
    if len(before) == 2 and before[0].message is not None:
        before = before[1:]
    return " then ".join(text(sent.raw) for sent in before) or "(nothing yet)"


def text(raw: bytes) -> str:
    """Bytes as text in which everything can be seen, cut where it is long."""
    head = raw[:LIMIT].removesuffix(b"\n") if len(raw) <= LIMIT else raw[:LIMIT]
    shown = visible(head.decode("utf-8", "backslashreplace"))
    return shown if len(raw) <= LIMIT else f"{shown}… ({len(raw):,} bytes)"


def as_object(value: Any) -> JsonObject:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def meta(exchange: Exchange) -> JsonObject:
    """The `_meta` of a request."""
    return as_object(exchange.params.get("_meta"))


def is_whole(exchange: Exchange) -> bool:
    """Whether a request carries all that every request must."""
    return all(key in meta(exchange) for key in revision.REQUIRED_META)


def is_good(exchange: Exchange) -> bool:
    """Whether a request is one of this revision, in full."""
    current = meta(exchange).get(revision.PROTOCOL_VERSION) == revision.CURRENT
    return is_whole(exchange) and current
