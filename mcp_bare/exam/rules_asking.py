"""The rules of asking back: what a server may ask, whom, and that any process takes the answer.

Does not handle: the refusal where nothing may be asked (`rules_refusals`).

Spec: basic/patterns/mrtr, client/elicitation, client/sampling, basic/index ("Statelessness").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_bare import elicitation, json_schema, revision
from mcp_bare.errors import IllegalSchema
from mcp_bare.exam.halves import is_retry_of, outcome
from mcp_bare.exam.rule import INSISTS, MUST, Exam, Finding, Rule, about, as_object, meta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_bare.exam.record import Exchange, Record
    from mcp_bare.revision import JsonObject


def asks_well(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange, result in _asking(exam):
        asked, state = result.get("inputRequests"), result.get("requestState")
        why = ""
        if exchange.method not in revision.MULTI_ROUND_TRIP:
            why = f"{exchange.method} may not be answered input_required"
        elif asked is None and state is None:
            why = "inputRequests or requestState is due"
        elif asked is not None and not isinstance(asked, dict):
            why = "inputRequests is no object"
        elif state is not None and not isinstance(state, str):
            why = "requestState is no string"
        yield about(record, exchange, why) if why else None
    for record, exchange, request in _questions(exam):
        known = request.get("method") in revision.INPUT_CAPABILITY
        why = f"{request.get('method')} is none of {', '.join(revision.INPUT_CAPABILITY)}"
        yield None if known else about(record, exchange, why)


def asks_able(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange, request in _questions(exam):
        lacking = _lacking(request, as_object(meta(exchange).get(revision.CLIENT_CAPABILITIES)))
        why = f"the request did not declare {lacking}"
        yield about(record, exchange, why) if lacking else None


def _lacking(request: JsonObject, declared: JsonObject) -> str:
    """The capability that this question needs and that was not declared, or nothing."""
    method, params = str(request.get("method")), as_object(request.get("params"))
    name = revision.INPUT_CAPABILITY.get(method, "")
    if name and name not in declared:
        return name
    has = as_object(declared.get(name))
    if name == "elicitation":
        mode = "url" if params.get("mode") == "url" else "form"
        return "" if mode in has or (mode == "form" and not has) else f"elicitation.{mode}"
    tooled = name == "sampling" and "tools" in params and "tools" not in has
    return "sampling.tools" if tooled else ""


def forms(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange, params in _forms(exam):
        mode, why = params.get("mode", "form"), ""
        if not isinstance(params.get("message"), str):
            why = "a message is due"
        elif mode == "url":
            url = params.get("url")
            sound = isinstance(url, str) and json_schema.is_format("uri", url)
            why = "" if sound else f"{url!r} is no URL"
        elif mode != "form":
            why = f"the mode is {mode!r}; form or url is due"
        else:
            try:
                elicitation.check_form(params.get("requestedSchema"))
            except IllegalSchema as trouble:
                why = str(trouble)
        yield about(record, exchange, why) if why else None


def secrets(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange, params in _forms(exam):
        if params.get("mode", "form") == "form":
            try:
                asked = elicitation.secrets_asked(params)
            except IllegalSchema:
                continue
            why = f"a form must not ask for a secret: {', '.join(asked)}"
            yield about(record, exchange, why) if asked else None


def two_processes(exam: Exam) -> Iterator[Finding | None]:
    """The retry of another process's question, beside the same two halves in one process."""
    for asked in exam.learned.asking:
        if any(p.get("mode") == "url" for _, e, p in _forms(exam) if e is asked):
            continue  # nobody can fill in that page for us
        halves = [
            (record, e)
            for record, e in exam.answered()
            if record.name == "second" and is_retry_of(e, asked)
        ]
        if not halves:
            continue
        record, retry = halves[0]
        alone = outcome(halves[-1][1])  # the same answer, where one process asked and heard it
        if outcome(retry) == alone:
            yield from [None] if alone in ("complete", "input_required") else []
        else:
            why = f"one process takes both halves ({alone}); two processes do not"
            yield about(record, retry, why)


# --- what they have in common ---


def _asking(exam: Exam) -> Iterator[tuple[Record, Exchange, JsonObject]]:
    for record, exchange in exam.answered():
        if (exchange.result or {}).get("resultType") == "input_required":
            yield record, exchange, exchange.result or {}


def _questions(exam: Exam) -> Iterator[tuple[Record, Exchange, JsonObject]]:
    for record, exchange, result in _asking(exam):
        for request in as_object(result.get("inputRequests")).values():
            yield record, exchange, as_object(request)


def _forms(exam: Exam) -> Iterator[tuple[Record, Exchange, JsonObject]]:
    for record, exchange, request in _questions(exam):
        if request.get("method") == "elicitation/create":
            yield record, exchange, as_object(request.get("params"))


INDEX, MRTR, ELICIT = "basic/index", "basic/patterns/mrtr", "client/elicitation"
NO_QUESTION = "no tool asked anything back"
RULES = (
    Rule("input-required", MUST, MRTR, "a question has its shape, and stands where it may",
         "inputRequests by key, requestState a string, on tools/call, resources/read, prompts/get.",
         asks_well, NO_QUESTION),
    Rule("declared-only", MUST, MRTR, "nothing is asked that the client did not declare",
         "Look at this request's clientCapabilities; refuse with -32021.", asks_able, NO_QUESTION),
    Rule("forms", MUST, ELICIT, "a form is flat and legal, a page has a URL",
         "Strings, numbers, booleans, choices; no objects inside.", forms, "no form was sent"),
    Rule("secrets", MUST, ELICIT, "no form asks for a secret",
         "Use URL mode: what is typed there passes by the client.", secrets, "no form was sent"),
    Rule("two-processes", INSISTS, INDEX,
         "one process asks, and another takes the answer",
         "Put what you need into requestState, sealed with a key that all processes share.",
         two_processes, "no tool asked what an exam can answer"),
)  # fmt: skip
