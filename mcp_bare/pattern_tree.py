"""A pattern taken apart: alternatives of pieces, a piece a letter, a class, a group, a place.

    tree("a|b+")  ->  ("either", [[letter a], [("repeat", letter b, 1, None)]])

A letter or a class is a function from one character to whether it fits; the classes are left to
`re`, one character at a time, which takes no time that matters. What a pattern may say stands in
`pattern`. Does not handle: a pattern that `re` finds fault with.
"""

from __future__ import annotations

import re

from mcp_bare.errors import IllegalSchema
from mcp_bare.jsonrpc import brief

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LETTER, ASSERT, AHEAD, EITHER, REPEAT = "letter", "assert", "ahead", "either", "repeat"
_COUNTED = re.compile(r"\{(\d*)(,?)(\d*)\}")
_CLASS = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL)
_GROUP = re.compile(r"\((?:\?(?::|=|!|P<\w+>))?(?!\?)")
_ESCAPE = re.compile(
    r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|0[0-7]{0,2}|[^1-9])", re.DOTALL
)


def tree(pattern: str) -> Any:
    """The pattern as nested tuples. Raises IllegalSchema, re.error."""
    re.compile(pattern)  # what is no pattern to Python is none here
    whole, end = _either(pattern, 0)
    assert end == len(pattern), "Python found no fault in it"
    return whole


def _either(text: str, at: int) -> tuple[Any, int]:
    """Alternatives up to a closing bracket or the end."""
    choices: list[Any] = [[]]
    while at < len(text) and text[at] != ")":
        if text[at] == "|":
            choices.append([])
            at += 1
            continue
        piece, at = _piece(text, at)
        piece, at = _repeated(piece, text, at)
        choices[-1].append(piece)
    return (EITHER, choices), at


def _piece(text: str, at: int) -> tuple[Any, int]:
    letter = text[at]
    if letter == "(":
        opening = _GROUP.match(text, at)
        if opening is None:
            raise _beyond(text, at)
        inner, end = _either(text, opening.end())
        if opening[0] in ("(?=", "(?!"):
            return (AHEAD, inner, opening[0] == "(?="), end + 1
        return inner, end + 1
    if letter == "[":
        group = _CLASS.match(text, at)
        if group is None:
            raise _beyond(text, at)
        return (LETTER, re.compile(group[0]).fullmatch), group.end()
    if letter in "^$" or text[at : at + 2] in ("\\A", "\\Z", "\\b", "\\B"):
        name = letter if letter in "^$" else text[at : at + 2]
        return (ASSERT, _ASSERTIONS[name]), at + len(name)
    if letter == "\\":
        escape = _ESCAPE.match(text, at)
        if escape is None:
            raise _beyond(text, at)
        return (LETTER, re.compile(escape[0]).fullmatch), escape.end()
    if letter == ".":
        return (LETTER, lambda found: found != "\n"), at + 1
    return (LETTER, letter.__eq__), at + 1


def _repeated(piece: Any, text: str, at: int) -> tuple[Any, int]:
    """The piece with what follows it: * + ? {2} {2,} {2,5}; a lazy one finds the same."""
    mark, low, high = text[at : at + 1], 0, None
    counted = _COUNTED.match(text, at)
    if mark in ("*", "+"):
        low, end = int(mark == "+"), at + 1
    elif mark == "?":
        high, end = 1, at + 1
    elif counted and (counted[1] or counted[3] or counted[2]):
        low = int(counted[1] or 0)
        high = int(counted[3]) if counted[3] else (None if counted[2] else low)
        end = counted.end()
    else:
        return piece, at
    if text[end : end + 1] == "+":
        raise _beyond(text, at)
    return (REPEAT, piece, low, high), end + (text[end : end + 1] == "?")


def _beyond(text: str, at: int) -> IllegalSchema:
    return IllegalSchema(f"{brief(text[at : at + 8])} in a pattern is not supported here")


def _is_word(text: str, at: int) -> bool:
    return 0 <= at < len(text) and (text[at].isalnum() or text[at] == "_")


def _edge(text: str, at: int) -> bool:
    return _is_word(text, at - 1) != _is_word(text, at)


_ASSERTIONS: dict[str, Callable[[str, int], bool]] = {
    "^": lambda text, at: at == 0,
    "$": lambda text, at: at == len(text),
    "\\A": lambda text, at: at == 0,
    "\\Z": lambda text, at: at == len(text),
    "\\b": _edge,
    "\\B": lambda text, at: not _edge(text, at),
}
