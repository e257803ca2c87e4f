"""The rules of what comes beside an answer: subscriptions, progress, logs; and of cancelling.

Does not handle: whether a change was worth telling.

Spec: basic/patterns/subscriptions, basic/patterns/progress, basic/patterns/cancellation,
server/utilities/logging.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_bare import revision
from mcp_bare.exam.record import NO_ID, is_answer, key_of
from mcp_bare.exam.rule import (
    MUST,
    SHOULD,
    Exam,
    Finding,
    Rule,
    about,
    about_line,
    as_object,
    meta,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_bare.exam.lines import Line
    from mcp_bare.exam.record import Exchange, Record

CHANGES = frozenset(revision.FILTERS.values())


def acknowledged(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange, lines in _streams(exam):
        if exchange.error is not None and not _promises_changes(exam):
            continue  # nothing here ever changes, and it says so
        if not lines:
            yield about(record, exchange, "it was never acknowledged")
        else:
            why = "the acknowledgement must come first"
            right = lines[0].method == revision.ACKNOWLEDGED
            yield None if right else about_line(record, lines[0], why)


def _promises_changes(exam: Exam) -> bool:
    of = [as_object(value) for value in exam.capabilities.values()]
    return any(value.get("listChanged") or value.get("subscribe") for value in of)


def tagged(exam: Exam) -> Iterator[Finding | None]:
    for record, line in exam.notes():
        if line.method in CHANGES or line.method == revision.ACKNOWLEDGED:
            known = _stream_of(line) in _ids_of_streams(record)
            why = f"{revision.SUBSCRIPTION_ID} is the id of no subscription here"
            yield None if known else about_line(record, line, why)


def wanted(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange, lines in _streams(exam):
        asked = as_object(exchange.params.get("notifications"))
        allowed = {revision.FILTERS[name] for name in asked if asked[name]}
        for line in lines:
            if line.method in CHANGES:
                why = f"this subscription did not ask for {line.method}"
                yield None if line.method in allowed else about_line(record, line, why)
            elif line.method == revision.ACKNOWLEDGED:
                more = set(as_object(line.params.get("notifications"))) - set(asked)
                why = f"it agrees to what was not asked for: {', '.join(sorted(more))}"
                yield about_line(record, line, why) if more else None


def graceful(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange, lines in _streams(exam):
        if lines and record.cancelled_at(exchange) is None and not record.died:
            why = "the stream ended with the server, and without its result"
            ended = exchange.result is not None
            yield None if ended else about(record, exchange, why)


def asked_for(exam: Exam) -> Iterator[Finding | None]:
    for record, line in exam.notes():
        why = _unasked(record, line)
        yield about_line(record, line, why) if why else None


def _unasked(record: Record, line: Line) -> str:
    """Why this notification has no place here, or nothing."""
    if line.method == revision.PROGRESS:
        tokens = [meta(e).get(revision.PROGRESS_TOKEN) for e in record.exchanges]
        given = {key_of({"id": token}) for token in tokens if token is not None}
        known = key_of({"id": line.params.get(revision.PROGRESS_TOKEN)}) in given
        return "" if known else "no request gave this progressToken"
    if line.method == revision.CANCELLED:
        known = key_of({"id": line.params.get("requestId")}) in _ids_of_streams(record)
        return "" if known else "a server may cancel a subscription and nothing else"
    logs = line.method == "notifications/message"  # the exam never sets a logLevel
    return "no request asked for log messages" if logs else ""


def progress(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange in exam.exchanges():
        token = meta(exchange).get(revision.PROGRESS_TOKEN)
        end = record.lines.index(exchange.line) if exchange.line else len(record.lines)
        last = float("-inf")
        for at, line in enumerate(record.lines) if token is not None else ():
            if line.method != revision.PROGRESS or line.params.get("progressToken") != token:
                continue
            now = line.params.get("progress")
            number = isinstance(now, int | float) and not isinstance(now, bool)
            why = "" if number and now is not None and now > last else "progress must increase"
            why = "it goes on after the answer" if at > end else why
            last = now if number and now is not None else last
            yield about_line(record, line, why) if why else None


def cancelled(exam: Exam) -> Iterator[Finding | None]:
    """What is sent before it can have heard of the cancellation is no breach."""
    for record in exam.records:
        for exchange in record.exchanges:
            heard = _heard_at(record, exchange)
            if heard is None:
                continue
            after = record.lines[heard + 1 :]
            late = [line for line in after if _belongs(line) == exchange.key]
            if late:
                yield about_line(record, late[0], "it was cancelled")
            elif exchange.line is None:
                yield None


def _heard_at(record: Record, exchange: Exchange) -> int | None:
    """Where the first answer stands to what was sent after the cancellation: it has been read."""
    note = record.cancelled_at(exchange)
    if note is not None:
        for other in record.exchanges:
            if other.answers and record.sent.index(other.sent) > note:
                return record.lines.index(other.answers[0])
    return None


def _belongs(line: Line) -> object:
    """The id of the subscription, else of the request, that this is sent for."""
    stream = _stream_of(line)
    return key_of(line.message) if stream == NO_ID and is_answer(line) else stream


# --- what they have in common ---


def _streams(exam: Exam) -> Iterator[tuple[Record, Exchange, list[Line]]]:
    """Every subscription, and what carried its id, in order."""
    for record, exchange in exam.exchanges():
        if exchange.method == revision.LISTEN and "notifications" in exchange.params:
            carried = [line for line in record.lines if _stream_of(line) == exchange.key]
            yield record, exchange, carried


def _ids_of_streams(record: Record) -> set[object]:
    return {exchange.key for exchange in record.exchanges if exchange.method == revision.LISTEN}


def _stream_of(line: Line) -> object:
    inner = line.params or as_object((line.message or {}).get("result"))
    return key_of({"id": as_object(inner.get("_meta")).get(revision.SUBSCRIPTION_ID)})


INDEX, STDIO = "basic/index", "basic/transports/stdio"
STREAMS, PROGRESS = "basic/patterns/subscriptions", "basic/patterns/progress"
NO_STREAM = "no subscription was opened"
RULES = (
    Rule("acknowledged", MUST, STREAMS, "a subscription is acknowledged first of all",
         "Send the acknowledgement before the subscription can hear of any change.", acknowledged,
         "it has no subscriptions, and promises none"),
    Rule("subscription-id", MUST, INDEX, "each notification of a subscription carries its id",
         "Copy the id of the request, of the same type, into _meta.", tagged,
         "no such notification came"),
    Rule("asked-for", MUST, STREAMS, "a subscription brings what was asked for, and no more",
         "Keep the filter with the subscription.", wanted, NO_STREAM),
    Rule("in-a-request", MUST, "basic/patterns/progress, server/utilities/logging",
         "progress and log messages come where a request asked for them",
         "Send progress with the request's token, logs where it set a logLevel.", asked_for,
         "no notification came"),
    Rule("progress", MUST, PROGRESS, "progress increases, and ends with the answer",
         "Count up; stop before you answer.", progress, "no progress came"),
    Rule("cancelled", MUST, "basic/transports/stdio",
         "nothing is sent for a request that was cancelled",
         "Look for the cancellation before each send.", cancelled,
         "every call was answered before it could be cancelled"),
    Rule("graceful-end", SHOULD, STREAMS, "a subscription ends with a result",
         "At the end of input, answer the open subscriptions before you leave.", graceful,
         NO_STREAM),
)  # fmt: skip
