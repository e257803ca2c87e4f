"""Questions and their ends in plain text: for a page that draws no widgets, and for the tests.

Does not handle: HTML (`looks`).
"""

import textwrap
from typing import TYPE_CHECKING

from mcp_bare.arrows import visible
from mcp_bare.elicitation import Field
from mcp_bare.tape import compact

if TYPE_CHECKING:
    from workbench.forms import Asking
    from workbench.questions import Question

LONGEST, WIDTH = 4000, 96
FORMATS = {
    "email": "an e-mail address, as name@example.com",
    "uri": "a whole address, as https://example.com/page",
    "date": "a day",
    "date-time": "day and time with its zone, as 2026-09-10T08:30:00Z",
}


def readable(text: object) -> str:
    """A stranger's text, cut at a limit, with an escape for what cannot be seen."""
    words = text if isinstance(text, str) else compact(text)
    cut = words if len(words) <= LONGEST else f"{words[:LONGEST]} ... ({len(words)} characters)"
    return "\n".join(visible(line) for line in cut.split("\n"))


def hint(field: Field) -> str:
    """What fits, in words, before anything is typed: "a whole number, 1 to 12"."""
    schema = field.schema
    words = {"integer": "a whole number", "number": "a number"}.get(field.kind, "")
    if "format" in schema:
        words = FORMATS[schema["format"]]
    for low, high, unit in (
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " of these"),
    ):
        span = _span(schema.get(low), schema.get(high))
        if span:
            words += f"{', ' if words else ''}{span}{unit}"
    return words


def _span(low: float | None, high: float | None) -> str:
    if low is None:
        return "" if high is None else f"at most {high}"
    if high is None:
        return f"at least {low}"
    return f"{low} to {high}" if low != high else f"exactly {low}"


def as_text(question: "Question") -> str:
    """A question where no widget can be drawn."""
    lines = [f"{question.server} asks: {readable(question.message)}"]
    if question.refusal:
        told = f"not shown. {readable(question.refusal)}"
        lines += textwrap.wrap(told, WIDTH, initial_indent="  ", subsequent_indent="  ")
    if question.answer is not None:
        return "\n".join([*lines, f"  answer: {compact(question.answer)}"])
    if question.address is not None:
        lines += [f"  a page at {question.address.host}"]
        lines += [f"  ! {warning}" for warning in question.address.warnings]
    return "\n".join(
        [*lines, *map(_field_as_text, question.fields), "  [accept] [decline] [cancel]"]
    )


def _field_as_text(field: Field) -> str:
    value = compact(field.default) if field.has_default else ""
    must = ", required" if field.required else ""
    fits = [hint(field), ", ".join(label for _, label in field.choices)]
    about = "; ".join(filter(None, fits))
    return readable(f"  [{value}] {field.label}{must}{f' ({about})' if about else ''}")


def ending_as_text(asking: "Asking") -> list[str]:
    """The result, or why there is none, or nothing yet."""
    if asking.error is not None:
        return [f"no result from {asking.server}: {reason(asking.error)}"]
    if asking.result is not None:
        return [f"{asking.server} answered: {readable(gist(asking.result))}"]
    return []


def gist(result: dict) -> str:
    """A result in short: its texts, or all of it as JSON."""
    blocks = result.get("content")
    texts = [
        block["text"]
        for block in (blocks if isinstance(blocks, list) else [])
        if isinstance(block, dict) and isinstance(block.get("text"), str)
    ]
    return " ".join(texts) or compact({k: v for k, v in result.items() if k != "_meta"})


def _reason(error: BaseException) -> str:
    return str(error) or "interrupted while the server was at work"


def reason(error: BaseException) -> str:
    """Why there is no result; an interrupt has no words of its own."""
    return str(error) or "interrupted while the server was at work"
