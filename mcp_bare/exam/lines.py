"""What a server wrote, line by line, as a strict judge and then as a lenient reader sees it.

A client skips what is no message. The exam must not: each line says which rule its bytes break,
and holds the message that was meant, where one can be made out, so that the rest of the exam can
go on. A message spread over several lines is put together again.

    b'{"jsonrpc":"2.0",...}\\n'            a message, nothing broken
    b'working... {"jsonrpc":"2.0",...}\\n' the same message; `stdout-pure` is broken
    b'\\r\\n'                              no message; `stdout-pure` is broken

Does not handle: what a message means (`rules_*`), or reading from a pipe (`heard`).

Spec: basic/transports/stdio, basic/transports ("Messages"), basic/index ("Messages").
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_bare import jsonrpc
from mcp_bare.errors import ParseError

if TYPE_CHECKING:
    from mcp_bare.revision import JsonObject

PURE, UTF8, ONE_LINE, ENVELOPE, TOO_LONG = "stdout-pure", "utf-8", "one-line", "envelope", "size"
MAX_HELD = 500  # lines that may belong to one message
MAX_BRACES = 8  # places on a line where a message may begin
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Line:
    """What came, with its newline; the message in it, if any; the rule it breaks, if any, and how.

    `sent_before` counts what had been sent to the server when it came.
    """

    raw: bytes
    message: JsonObject | None = None
    breaks: str = ""
    how: str = ""
    sent_before: int = 0

    @property
    def method(self) -> str:
        """Of a request or a notification, else nothing."""
        return str((self.message or {}).get("method", ""))

    @property
    def params(self) -> JsonObject:
        params = (self.message or {}).get("params")
        return params if isinstance(params, dict) else {}


class LineReader:
    """Feed it each line with its newline; it returns what can be said by now."""

    def __init__(self) -> None:
        self._held: list[bytes] = []  # lines that may be parts of one message

    def feed(self, raw: bytes, sent_before: int = 0) -> list[Line]:
        """The lines that are decided; a message over many lines comes as one."""
        line = _read(raw, sent_before)
        if line.message is not None or line.breaks == UTF8:
            return [*self.flush(sent_before), line]
        if not self._held and not raw.lstrip().startswith((b"{", b"[")):
            return [line]
        self._held.append(raw)
        whole = b"".join(self._held)
        joined = _message(whole)
        if joined is not None and len(self._held) > 1:
            self._held = []
            how = f"one message over {len(whole.splitlines())} lines"
            return [Line(whole, joined, ONE_LINE, how, sent_before)]
        return self.flush(sent_before) if len(self._held) >= MAX_HELD else []

    def flush(self, sent_before: int = 0) -> list[Line]:
        """What was held back in vain: no message begins there."""
        held, self._held = self._held, []
        return [_read(raw, sent_before) for raw in held]


def _read(raw: bytes, sent_before: int) -> Line:
    if not raw.strip():
        return Line(raw, None, PURE, "a blank line", sent_before)
    try:
        value = jsonrpc.loads(raw)
    except ParseError as trouble:
        return _damaged(raw, str(trouble), sent_before)
    if isinstance(value, list):
        only = value[0] if len(value) == 1 and isinstance(value[0], dict) else None
        return Line(raw, only, PURE, "an array: a batch is no message", sent_before)
    if not isinstance(value, dict):
        return Line(raw, None, PURE, "JSON, but no object: no message", sent_before)
    problem = jsonrpc.envelope_problem(value)
    return Line(raw, value, ENVELOPE if problem else "", problem or "", sent_before)


def _damaged(raw: bytes, why: str, sent_before: int) -> Line:
    """A line that is not strict JSON: what is wrong with it, and what was meant."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "replace")
        return Line(raw, _within(text)[0], UTF8, why.removeprefix("Parse error: "), sent_before)
    found = _message(raw)
    if found is not None:  # a key given twice, deep nesting, a huge number: JSON allows them
        return Line(raw, found, "", "", sent_before)
    meant, before = _within(text)
    if meant is not None:
        rest = "something before" if before else "something behind"
        return Line(raw, meant, PURE, f"{rest} the message on its line", sent_before)
    how = why if raw.endswith(b"\n") else "half a line: it ends without a newline"
    return Line(raw, None, PURE, how, sent_before)


def _message(raw: bytes) -> JsonObject | None:
    """The object that these bytes are, read as leniently as JSON itself allows."""
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and "jsonrpc" in value else None


def _within(text: str) -> tuple[JsonObject | None, int]:
    """The first message anywhere in a line, and how much stands before it."""
    start = -1
    for _ in range(MAX_BRACES):
        start = text.find("{", start + 1)
        if start < 0:
            break
        try:
            value, _end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and "jsonrpc" in value:
            return value, start
    return None, 0


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
