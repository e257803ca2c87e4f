"""Does a text match a pattern? In a time that the pattern cannot blow up.

`re` tries one way after the other: `^(a+)+$` against forty letters and a full stop takes longer
than a life. A pattern may come from a stranger (a server's schema), and a text may (a client's
argument). Here all ways are followed at the same time, letter by letter: the work is at most the
pattern's size times the text's, and a budget bounds that as well.

    found("^ev-[0-9]+$", "ev-42", Budget())  ->  True

Patterns are written as Python's, as far as JSON Schema recommends: letters, classes, escapes,
groups, alternatives, repetition, ^ $ \\b \\B, and looking ahead. `$` is the end of the text and
nothing else. Does not handle back-references, looking behind, or flags: such a pattern is refused.

Spec: basic/index, "JSON Schema Usage". The way of following: K. Thompson, 1968.
"""

from __future__ import annotations

import re
from functools import lru_cache

from mcp_bare.errors import IllegalSchema
from mcp_bare.jsonrpc import brief
from mcp_bare.pattern_tree import AHEAD, ASSERT, EITHER, LETTER, REPEAT, tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_LENGTH = 4_000
MAX_STEPS = 4_000
MAX_WORK = 3_000_000
SPLIT, DONE = "split", "done"


class Budget:
    """What may be spent; shared by all the patterns of one check."""

    def __init__(self, work: int = MAX_WORK):
        self.left = work

    def spend(self, work: int) -> None:
        """Raises IllegalSchema where nothing is left."""
        self.left -= work
        if self.left < 0:
            raise IllegalSchema("the schema's patterns cost too much to check (basic/index)")


def found(pattern: Any, text: str, budget: Budget) -> bool:
    """Is the pattern somewhere in the text? Raises IllegalSchema where it cannot be judged."""
    if pattern == "":
        return True
    if not isinstance(pattern, str) or len(pattern) > MAX_LENGTH:
        raise IllegalSchema(f"the pattern {brief(pattern)} is no text of {MAX_LENGTH} characters")
    return _follow(_compiled(pattern), text, 0, budget, anywhere=True)


# --- a tree becomes a list of steps: (what, how, where else) ---


@lru_cache(maxsize=128)
def _compiled(pattern: str) -> list[Any]:
    try:
        return _steps(tree(pattern), [4 * MAX_STEPS])
    except (re.error, OverflowError, RecursionError) as trouble:
        raise IllegalSchema(f"the pattern {brief(pattern)} is malformed: {trouble}") from None


def _steps(whole: Any, room: list[int]) -> list[Any]:
    code: list[Any] = []
    _emit(whole, code, room)
    return [*code, (DONE, None, 0)]


def _emit(node: Any, code: list[Any], room: list[int]) -> None:
    room[0] -= 1
    if room[0] < 0 or len(code) > MAX_STEPS:
        raise IllegalSchema("a pattern repeats too much to be checked (basic/index)")
    what, *how = node
    if what == EITHER:
        _emit_choices(how[0], code, room)
    elif what == REPEAT:
        _emit_repeat(how[0], how[1], how[2], code, room)
    elif what == AHEAD:
        code.append((AHEAD, _steps(how[0], room), how[1]))
    else:
        code.append((what, how[0], 0))


def _emit_choices(choices: list[Any], code: list[Any], room: list[int]) -> None:
    """split to the next choice; this choice; leap to the end"""
    leaps = []
    for number, choice in enumerate(choices, 1):
        split = len(code)
        if number < len(choices):
            code.append(None)
        for piece in choice:
            _emit(piece, code, room)
        if number < len(choices):
            leaps.append(len(code))
            code.append(None)
            code[split] = (SPLIT, split + 1, len(code))
    for leap in leaps:
        code[leap] = (SPLIT, len(code), len(code))


def _emit_repeat(piece: Any, low: int, high: int | None, code: list[Any], room: list[int]) -> None:
    """The piece as often as it must be; then as often as it may be, or in a circle."""
    for _ in range(low):
        _emit(piece, code, room)
    splits = []
    for _ in range(1 if high is None else high - low):
        splits.append(len(code))
        code.append(None)
        _emit(piece, code, room)
    if high is None:
        code.append((SPLIT, splits[0], splits[0]))
    for split in splits:
        code[split] = (SPLIT, split + 1, len(code))


# --- and is followed, every way at the same time ---


def _follow(code: list[Any], text: str, at: int, budget: Budget, anywhere: bool) -> bool:
    """Do the steps fit the text from `at` on; or, `anywhere`, from any place after it?"""
    here = [0]
    while True:
        letters = _reached(code, text, at, here, budget)
        if letters is None:
            return True
        if at == len(text) or not (letters or anywhere):
            return False
        here = [step + 1 for step in letters if code[step][1](text[at])]
        here += [0] if anywhere else []
        at += 1


def _reached(
    code: list[Any], text: str, at: int, here: list[int], budget: Budget
) -> list[int] | None:
    """The letters that may come next, None where nothing more needs to come."""
    seen: set[int] = set()
    letters = []
    while here:
        step = here.pop()
        if step in seen:
            continue
        seen.add(step)
        what, how, other = code[step]
        if what == DONE:
            return None
        if what == LETTER:
            letters.append(step)
        elif what == SPLIT:
            here += [how, other]
        elif what == ASSERT:
            here += [step + 1] if how(text, at) else []
        else:
            fits = _follow(how, text, at, budget, anywhere=False)
            here += [step + 1] if fits == other else []
    budget.spend(1 + len(seen))
    return letters
