"""A small table: aligned text in a terminal, a plain HTML table in a notebook.

    table([["tools", 12], ["prompts", 4]], ["primitive", "how many"])

Numbers are set to the right, also where some are missing (""). Every cell is escaped: a name in a
table often came over the wire.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from mcp_bare.arrows import visible

CELL = "padding:2px 14px 2px 0;vertical-align:top;white-space:normal"


@dataclass(frozen=True)
class Table:
    """Rows of equal length under their headers."""

    headers: Sequence[str]
    rows: Sequence[Sequence[object]]

    def __repr__(self) -> str:
        lines = [list(self.headers), *([_text(value) for value in row] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        lines.insert(1, ["─" * width for width in widths])
        return "\n".join(
            "  ".join(map(_set, line, widths, self._sides())).rstrip() for line in lines
        )

    def _repr_html_(self) -> str:
        sides = self._sides()
        head = "".join(map(_cell, ["th"] * len(sides), self.headers, sides))
        rows = ["".join(map(_cell, ["td"] * len(sides), row, sides)) for row in self.rows]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _sides(self) -> list[str]:
        """Right for a column of numbers, where some may be missing (""); left for any other."""
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.headers)
        filled = [[value for value in column if value != ""] for column in columns]
        return ["right" if c and all(map(_is_number, c)) else "left" for c in filled]


def table(rows: Iterable[Sequence[object]], headers: Sequence[str]) -> Table:
    """The rows as a table. Raises ValueError where a row is not as long as the headers."""
    kept = [list(row) for row in rows]
    for row in kept:
        if len(row) != len(headers):
            raise ValueError(f"{row!r} has {len(row)} cells under {len(headers)} headers")
    return Table(list(headers), kept)


def _cell(tag: str, value: object, side: str) -> str:
    return f'<{tag} style="text-align:{side};{CELL}">{escape(_text(value))}</{tag}>'


def _set(text: str, width: int, side: str) -> str:
    return text.rjust(width) if side == "right" else text.ljust(width)


def _text(value: object) -> str:
    return f"{value:,}" if _is_number(value) else visible(str(value))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
