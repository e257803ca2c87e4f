"""The rules of discovery, and of what must be refused: the four refusals, with code and data.

What was wrong with a request is read from the request itself: a rule here needs no label on it.

Does not handle: results (`rules_results`), what a server asks back (`rules_asking`).

Spec: server/discover, basic/versioning, basic/index ("_meta", "Error Codes"), server/resources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_bare import revision
from mcp_bare.exam.halves import outcome
from mcp_bare.exam.rule import (
    MUST,
    OWN,
    SHOULD,
    Exam,
    Finding,
    Rule,
    about,
    as_object,
    is_good,
    is_whole,
    meta,
    text,
)
from mcp_bare.exam.sittings import NOBODY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_bare.exam.record import Exchange, Record


def discover(exam: Exam) -> Iterator[Finding | None]:
    asked = _discoveries(exam)
    given = [(record, exchange) for record, exchange in asked if exchange.result is not None]
    for record, exchange in given or asked[:1]:  # refused now and then: `stateless` has it
        result = exchange.result
        if result is None:
            modern = _supported(exchange) is not None
            yield None if modern else about(record, exchange, "no DiscoverResult")
            continue
        versions = result.get("supportedVersions")
        listed = isinstance(versions, list) and all(isinstance(v, str) for v in versions)
        capable = isinstance(result.get("capabilities"), dict)
        why = "supportedVersions (strings) and capabilities (an object) are due"
        yield None if listed and capable else about(record, exchange, why)


def speaks(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange in list(exam.exchanges())[:1]:
        versions = as_object(exchange.result).get("supportedVersions") or _supported(exchange)
        if not isinstance(versions, list):
            continue  # `discover` has it
        why = f"it names {', '.join(map(str, versions)) or 'no version'}; this is the exam of "
        spoken = revision.CURRENT in versions
        yield None if spoken else about(record, exchange, why + revision.CURRENT)


def bare(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange in exam.answered():
        if not is_whole(exchange):
            lacking = [key for key in revision.REQUIRED_META if key not in meta(exchange)]
            why = f"it lacks {' and '.join(lacking)}; {revision.INVALID_PARAMS} is due"
            yield _due(record, exchange, revision.INVALID_PARAMS, why)


def version(exam: Exam) -> Iterator[Finding | None]:
    code = revision.UNSUPPORTED_PROTOCOL_VERSION
    for record, exchange in exam.answered():
        asked = meta(exchange).get(revision.PROTOCOL_VERSION)
        if not is_whole(exchange) or asked == revision.CURRENT:
            continue
        data = as_object((exchange.error or {}).get("data"))
        wrong = _due(record, exchange, code, f"the version is {asked}; {code} is due")
        if wrong is None and (_supported(exchange) is None or data.get("requested") != asked):
            wrong = about(record, exchange, "data.supported and data.requested are due")
        yield wrong


def unknown_method(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange in exam.answered():
        if is_good(exchange) and exchange.method not in revision.METHODS:
            why = f"there is no such method; {revision.METHOD_NOT_FOUND} is due"
            yield _due(record, exchange, revision.METHOD_NOT_FOUND, why)


def unknown_resource(exam: Exam) -> Iterator[Finding | None]:
    if "resources" in exam.capabilities:
        for record, exchange in exam.answered():
            if NOBODY in str(exchange.params.get("uri")):
                why = f"there is no such resource; {revision.INVALID_PARAMS} is due"
                yield _due(record, exchange, revision.INVALID_PARAMS, why)


def not_found(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange in exam.answered():
        named = (exchange.params.get("name"), exchange.params.get("cursor"))
        if NOBODY in named and exchange.method.partition("/")[0] in exam.capabilities:
            why = f"there is none of that name; {revision.INVALID_PARAMS} is due"
            yield _due(record, exchange, revision.INVALID_PARAMS, why)


def error_codes(exam: Exam) -> Iterator[Finding | None]:
    ours = {revision.MISSING_REQUIRED_CLIENT_CAPABILITY, revision.UNSUPPORTED_PROTOCOL_VERSION}
    for record, exchange in exam.answered():
        code = as_object(exchange.error).get("code")
        if isinstance(code, int):
            reserved = -32099 <= code <= -32020 and code not in ours
            bad = reserved or code in (-32002, -32042)
            yield about(record, exchange, f"{code} is reserved or gone") if bad else None


def undeclared(exam: Exam) -> Iterator[Finding | None]:
    code = revision.MISSING_REQUIRED_CLIENT_CAPABILITY
    for record, exchange in _undeclared_calls(exam):
        kind = outcome(exchange)
        data = as_object((exchange.error or {}).get("data"))
        if kind == "complete":
            yield None  # it can do without
        elif kind != str(code):
            yield about(record, exchange, f"the client declared nothing; {code} is due")
        elif not as_object(data.get("requiredCapabilities")):
            yield about(record, exchange, "data.requiredCapabilities is due")
        else:
            yield None


def remembers(exam: Exam) -> Iterator[Finding | None]:
    """The same request twice: after others, and where nothing of that kind went before."""
    fresh: dict[str, str] = {}
    calls = [(record, e, str(e.bare)) for record, e in _undeclared_calls(exam)]
    for record, exchange, key in calls:
        if record.name == "second":
            fresh[key] = outcome(exchange)
    for record, exchange, key in calls:
        if record.name != "second" and key in fresh:
            why = f"in a fresh process the same request gets {fresh[key]}"
            same = outcome(exchange) == fresh[key]
            yield None if same else about(record, exchange, why)
    asked = [(record, e) for record, e in _discoveries(exam) if e.line is not None]
    if any(exchange.result is not None for _, exchange in asked):
        for record, exchange in asked:
            at = record.sent.index(exchange.sent)
            why = "what was sent before made it refuse server/discover, which it answers elsewhere"
            before = " then ".join(text(sent.raw) for sent in record.sent[max(0, at - 1) : at + 1])
            refused = Finding(before, text(exchange.line.raw) if exchange.line else "", why)
            yield refused if exchange.result is None else None


def old_client(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange in exam.exchanges():
        if exchange.method == "initialize" and exchange.error is not None:
            why = f"an old client's user sees no more than this; name {revision.CURRENT} in it"
            named = revision.CURRENT in str(exchange.error)
            yield None if named else about(record, exchange, why)


# --- what they have in common ---


def _due(record: Record, exchange: Exchange, code: int, why: str) -> Finding | None:
    """A finding unless the answer is an error with this code."""
    right = exchange.error is not None and exchange.error.get("code") == code
    return None if right else about(record, exchange, why)


def _discoveries(exam: Exam) -> list[tuple[Record, Exchange]]:
    """Every server/discover of this revision, in full."""
    return [
        (record, exchange)
        for record, exchange in exam.exchanges()
        if exchange.method == revision.DISCOVER and is_good(exchange)
    ]


def _supported(exchange: Exchange) -> list[str] | None:
    """The versions that an UnsupportedProtocolVersionError lists, if it is one."""
    error = as_object(exchange.error)
    if error.get("code") != revision.UNSUPPORTED_PROTOCOL_VERSION:
        return None
    versions = as_object(error.get("data")).get("supported")
    sound = isinstance(versions, list) and versions and all(isinstance(v, str) for v in versions)
    return versions if sound else None


def _undeclared_calls(exam: Exam) -> Iterator[tuple[Record, Exchange]]:
    """Calls that the server answered with a question when the client declared everything."""
    asked = [exchange.bare for exchange in exam.learned.asking]
    for record, exchange in exam.answered():
        declared = meta(exchange).get(revision.CLIENT_CAPABILITIES)
        if declared == {} and exchange.bare in asked:
            yield record, exchange


INDEX, VERSIONING = "basic/index", "basic/versioning"
NO_QUESTION = "no tool asked anything back"
RULES = (
    Rule("discover", MUST, "server/discover", "server/discover is implemented",
         "Answer it with supportedVersions and capabilities, handshake or not.", discover,
         "it was never asked"),
    Rule("revision", OWN, VERSIONING, f"it speaks {revision.CURRENT}, or there is no exam",
         "Nothing, where it is of another revision on purpose.", speaks,
         "it did not say what it speaks"),
    Rule("meta", MUST, INDEX, "a request without the required _meta is refused with -32602",
         "Check protocolVersion and clientCapabilities before the method; remember neither.", bare,
         "no such request was answered"),
    Rule("version", MUST, VERSIONING,
         "a version that it does not speak is refused with -32022, on any request",
         "Compare the version of every request, and list yours in data.supported.", version,
         "no such request was answered"),
    Rule("capability", MUST, INDEX,
         "what needs a capability that the client lacks is refused with -32021",
         "Look at this request's clientCapabilities before you ask; say what is missing in data.",
         undeclared, NO_QUESTION),
    Rule("unknown-method", MUST, INDEX, "an unknown method is refused with -32601",
         "Let no request fall through to a result.", unknown_method,
         "no such request was answered"),
    Rule("unknown-resource", MUST, "server/resources",
         "a resource that does not exist is refused with -32602",
         "Return the error, not empty contents and not the old -32002.", unknown_resource,
         "it has no resources"),
    Rule("error-codes", MUST, INDEX, "no code is used that is reserved, or gone",
         "Take your own codes from outside -32768 to -32000.", error_codes, "no error came"),
    Rule("stateless", MUST, INDEX, "nothing is remembered from the requests before",
         "Take version and capabilities from each request's own _meta.", remembers,
         "nothing could be asked twice"),
    Rule("not-found", SHOULD, "server/tools, server/prompts, server/utilities/pagination",
         "an unknown tool, prompt or cursor is refused with -32602",
         "Return a protocol error for it.", not_found, "it has none of these"),
    Rule("old-client", SHOULD, VERSIONING, "the error to an `initialize` names the versions",
         "Put them into its message and data.", old_client, "no `initialize` was refused"),
)  # fmt: skip
