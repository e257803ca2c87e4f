"""How a message reads on a page: compact, wrapped, with nothing in it that cannot be seen.

What a stranger sends may hold colour codes, direction marks and random values. Here they become
escapes and stable names; a tape keeps the bytes. Does not handle: HTML (`workbench.tape_view`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def compact(value: Any) -> str:
    """JSON as the wire writes it, but readable: no spaces, no escapes but for what has no shape."""
    return visible(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def fold(value: Any) -> Any:
    """The value without any `_meta`, at any depth."""
    if isinstance(value, dict):
        return {k: fold(v) for k, v in value.items() if k != "_meta"}
    return [fold(v) for v in value] if isinstance(value, list) else value


def visible(text: str) -> str:
    """The text, with an escape for each character that cannot be seen."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def masked(text: str, names: Mapping[str, str] | None) -> str:
    """The text with each random value replaced by its stable name, the longest values first."""
    for secret in sorted(names or {}, key=len, reverse=True):
        text = text.replace(secret, (names or {})[secret]) if secret else text
    return text


def clipped(line: str, limit: int, size: int) -> str:
    """The line, cut after a comma near `limit` where it is longer, with the `size` of the whole."""
    if len(line) <= limit:
        return line
    comma = line.rfind(",", limit // 2, limit)
    return f"{line[: comma + 1 if comma > 0 else limit]} … ({size:,} bytes)"


def wrapped(line: str, width: int) -> list[str]:
    """Cut after a comma or a space, best where there is one near the edge; indent what follows."""
    parts, indent = [], ""
    while len(line) > width:
        cut = _break(line, width // 2, width) or _break(line, len(indent) + 1, width) or width
        parts.append(line[:cut].rstrip(" "))
        line, indent = "   " + line[cut:], "   "
    return [*parts, line] if line.strip() or not indent else parts


def _break(line: str, low: int, high: int) -> int:
    """Where to cut: after the last comma or space between the two; 0 where there is none."""
    return max(line.rfind(mark, low, high) for mark in (",", " ")) + 1
