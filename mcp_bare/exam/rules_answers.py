"""The rules of who is answered: each request, once, under its id; no notification; a bad line.

Does not handle: what an answer says (`rules_refusals`, `rules_results`).

Spec: basic/patterns, basic/index ("Messages", "Error Codes").
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcp_bare import jsonrpc, revision
from mcp_bare.exam.lines import TOO_LONG
from mcp_bare.exam.record import NO_ID, is_answer, key_of
from mcp_bare.exam.rule import (
    MUST,
    SHOULD,
    Exam,
    Finding,
    Rule,
    about,
    about_line,
    nothing_for,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_bare.exam.lines import Line
    from mcp_bare.exam.record import Exchange, Record, Sent


def answers(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange in exam.exchanges():
        if exchange.method == revision.LISTEN or record.cancelled_at(exchange) is not None:
            continue
        if exchange.line is not None and not exchange.given_up:
            yield None
        elif not _excused(record, exchange):
            late = ", and what came at the end came too late to go on" * (exchange.line is not None)
            yield nothing_for(record, exchange, f"an answer is due{late}")
    for record in exam.records:
        last = record.sent[-1] if record.sent else None
        if record.died and last and last.message and "id" not in last.message:
            yield Finding(text(last.raw), record.died, "it was gone when this was to be sent")


def one_answer(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange in exam.exchanges():
        if exchange.answers:
            twice = exchange.answers[1:]
            why = f"answered {len(exchange.answers)} times"
            yield about_line(record, twice[0], why) if twice else None


def ids(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange in exam.exchanges():
        if exchange.stray is not None:
            due = jsonrpc.brief((exchange.sent.message or {}).get("id"))
            yield about(record, exchange, f"the id of the request is {due}")
        elif exchange.answers:
            yield None
    for record in exam.records:
        for line in _orphans(record):
            if not _notes_before(record, line):
                yield about_line(record, line, "no request had this id")


def notifications(exam: Exam) -> Iterator[Finding | None]:
    for record in exam.records:
        if any(sent.message and "id" not in sent.message for sent in record.sent):
            yield None
        for line in _orphans(record):
            for note in _notes_before(record, line)[-1:]:
                why = "a notification was answered"
                yield Finding(text(note.raw), text(line.raw), why)


def bad_lines(exam: Exam) -> Iterator[Finding | None]:
    for record, at, poke in _pokes(exam):
        after = [e for e in record.exchanges if e.sent in record.sent[at + 1 : at + 2]]
        if not after and record.gave_up:
            why = "it was gone when this line was to be sent"
            yield Finding(text(poke.raw), record.died or record.gave_up, why)
            continue
        if after and (after[0].line is None or after[0].given_up):
            why = "it did not survive this line: the request behind it got no answer"
            yield Finding(text(poke.raw), record.died or record.gave_up, why)
            continue
        yield None
        for line in _errors_without_id(record, at):
            code = ((line.message or {}).get("error") or {}).get("code")
            if not _is_json(poke.raw) and code != revision.PARSE_ERROR:
                why = f"what is not JSON is a parse error, {revision.PARSE_ERROR}"
                yield Finding(text(poke.raw), text(line.raw), why)


def parse_errors(exam: Exam) -> Iterator[Finding | None]:
    for record, at, poke in _pokes(exam):
        if not _is_json(poke.raw) and not record.died:
            silent = not _errors_without_id(record, at)
            why = f"an answer with {revision.PARSE_ERROR} and no id would tell the client"
            yield Finding(text(poke.raw), "nothing", why) if silent else None


# --- what they have in common ---


def _excused(record: Record, exchange: Exchange) -> bool:
    """Whether a line that was too long to read may be its answer, or a bad line was sent before."""
    at = record.sent.index(exchange.sent)
    if any(sent.message is None for sent in record.sent[:at]):
        return True  # `bad-lines` has it
    too_long = (line for line in record.lines if line.breaks == TOO_LONG)
    return any(line.sent_before > at for line in too_long)


def _orphans(record: Record) -> list[Line]:
    """Answers to nothing that was asked, where no line of ours was bad."""
    if any(sent.message is None for sent in record.sent):
        return []
    known = {key_of(sent.message) for sent in record.sent} - {NO_ID}
    taken = [exchange.stray for exchange in record.exchanges]
    answers = [line for line in record.lines if is_answer(line) and line not in taken]
    return [line for line in answers if key_of(line.message) not in known]


def _notes_before(record: Record, line: Line) -> list[Sent]:
    sent = record.sent[: line.sent_before]
    return [each for each in sent if each.message and "id" not in each.message]


def _pokes(exam: Exam) -> Iterator[tuple[Record, int, Sent]]:
    for record in exam.records:
        for at, sent in enumerate(record.sent):
            if sent.message is None:
                yield record, at, sent


def _errors_without_id(record: Record, at: int) -> list[Line]:
    """What came without an id between a bad line and the line of ours after the next."""
    near = [line for line in record.lines if at < line.sent_before <= at + 2]
    return [line for line in near if is_answer(line) and key_of(line.message) == NO_ID]


def _is_json(raw: bytes) -> bool:
    try:
        json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        return False
    return True


INDEX, PATTERNS = "basic/index", "basic/patterns"
RULES = (
    Rule("answers", MUST, PATTERNS, "each request is answered",
         "Run the server by hand and look at its stderr; flush after each message.", answers),
    Rule("one-answer", MUST, PATTERNS, "each request is answered once",
         "Send the response in one place only.", one_answer, "nothing was answered"),
    Rule("ids", MUST, INDEX, "a response has the id of its request, of the same type",
         "Copy the id as it came: 1 is not \"1\".", ids, "nothing was answered"),
    Rule("notifications", MUST, INDEX, "a notification is not answered",
         "Answer only what has an id, whatever its method.", notifications,
         "no notification was sent"),
    Rule("bad-lines", MUST, INDEX, "a line that is no message does no harm, and is no request",
         "Catch what the JSON parser raises, and answer -32700, or -32600 for other JSON.",
         bad_lines, "no bad line could be sent"),
    Rule("parse-errors", SHOULD, INDEX, "a line that is not JSON is answered",
         "Answer -32700 without an id.", parse_errors, "no bad line could be sent"),
)  # fmt: skip
