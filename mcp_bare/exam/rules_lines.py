"""The rules of what may stand on stdout: messages, in UTF-8, one a line, none of them a request.

Does not handle: to what a message is the answer (`rules_answers`), what it says (the other rules).

Spec: basic/transports/stdio, basic/transports, basic/index ("Messages").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_bare.exam import lines
from mcp_bare.exam.rule import MUST, NOTE, Exam, Finding, Rule, about_line

if TYPE_CHECKING:
    from collections.abc import Iterator


def _bytes(rule: str, level: str, page: str, says: str, hint: str) -> Rule:
    """A rule that the line reader has judged already."""

    def judge(exam: Exam) -> Iterator[Finding | None]:
        for record in exam.records:
            for line in record.lines:
                yield about_line(record, line, line.how) if line.breaks == rule else None

    return Rule(rule, level, page, says, hint, judge, NO_LINE)


def no_requests(exam: Exam) -> Iterator[Finding | None]:
    for record in exam.records:
        for line in record.lines:
            asks = line.message is not None and {"method", "id"} <= line.message.keys()
            yield about_line(record, line, "it asks us something") if asks else None


STDIO, INDEX, NO_LINE = "basic/transports/stdio", "basic/index", "it never wrote a line"
RULES = (
    _bytes(lines.PURE, MUST, STDIO, "stdout carries nothing but messages",
           "Send prints, banners and progress bars to stderr; end each message with one newline."),
    _bytes(lines.UTF8, MUST, "basic/transports", "messages are UTF-8",
           "Write bytes encoded as UTF-8 yourself; do not leave it to the system's code page."),
    _bytes(lines.ONE_LINE, MUST, STDIO, "a message has no newline inside",
           "Write JSON without indentation, one message a line."),
    _bytes(lines.ENVELOPE, MUST, INDEX,
           "each message is a JSON-RPC 2.0 request, notification or response",
           'Check "jsonrpc", the type of the id, and that result is an object, code an integer.'),
    Rule("no-requests", MUST, STDIO, "the server writes no request",
         "Ask by answering input_required (basic/patterns/mrtr).", no_requests, NO_LINE),
    _bytes(lines.TOO_LONG, NOTE, STDIO,
           "each line is short enough to be read here (no page bounds one)",
           "Page or cut what is this long; many clients refuse it."),
)  # fmt: skip
