"""The rules of the process: how it leaves, how loud it is, and how it starts.

Does not handle: what stands on stdout (`rules_lines`).

Spec: basic/transports/stdio, "Shutdown".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_bare.exam.rule import INSISTS, NOTE, Exam, Finding, Rule, about

if TYPE_CHECKING:
    from collections.abc import Iterator

SLOW_START, SLOW_RATIO, LOUD = 1.0, 4, 65536  # seconds; times; bytes


def leaves(exam: Exam) -> Iterator[Finding | None]:
    for record in exam.records:
        if record.died:
            continue
        why = ""
        if record.left != "by itself":
            why = f"it stayed, and was ended by force ({record.left})"
        elif record.survivors:
            why = "it left, but something that it had started stayed"
        yield Finding("(the end of input)", "(no exit)", why) if why else None


def stderr(exam: Exam) -> Iterator[Finding | None]:
    for record in exam.records:
        loud = record.stderr_size > LOUD
        why = f"{record.stderr_size:,} bytes on stderr; a client that does not read them blocks it"
        yield Finding("(any request)", record.stderr_tail[-200:], why) if loud else None


def start(exam: Exam) -> Iterator[Finding | None]:
    for record in exam.records[:1]:
        timed = [e for e in record.exchanges if e.seconds is not None]
        if len(timed) > 1:
            first, *rest = [exchange.seconds or 0 for exchange in timed]
            slow = first >= SLOW_START and first > SLOW_RATIO * min(rest)
            times = first / max(min(rest), 0.001)
            why = f"its first answer took {times:,.0f} times as long as another"
            yield about(record, timed[0], why) if slow else None


STDIO = "basic/transports/stdio"
RULES = (
    Rule("leaves", INSISTS, STDIO, "at the end of its input the server leaves, with all it started",
         "Stop reading at the end of input, end your threads and children, and exit.", leaves,
         "it never lived to see the end of its input"),
    Rule("stderr", NOTE, STDIO, "stderr is quiet enough for a client that does not read it",
         "Say less, or expect a client that does not drain its pipe.", stderr),
    Rule("start", NOTE, STDIO, "the first answer comes as fast as the next",
         "Do the slow part at the first call: a client may take the silence for the era before.",
         start),
)  # fmt: skip
