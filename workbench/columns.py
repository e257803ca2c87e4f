"""Texts beside each other: columns in a notebook, one below the other in a terminal.

    columns({"by hand": excerpt("toy_servers/incidents.py", "def open_incident"), ...})

Does not handle: colouring; a text is shown as it is, escaped.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from textwrap import dedent

from workbench.node import ROOT

BOX = "display:flex;flex-wrap:wrap;gap:18px;align-items:flex-start"
COLUMN = "flex:1 1 26em;min-width:0"
TEXT = (  # JupyterLab breaks a <pre> in the middle of a word unless it is told not to
    "white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere;"
    "font-size:12px;line-height:1.35;margin:4px 0"
)


@dataclass(frozen=True)
class Columns:
    """Titles and texts."""

    texts: Mapping[str, str]

    def __repr__(self) -> str:
        return "\n\n".join(f"── {title}\n{text}" for title, text in self.texts.items())

    def _repr_html_(self) -> str:
        parts = "".join(
            f'<div style="{COLUMN}"><b>{escape(title)}</b>'
            f'<pre style="{TEXT}">{escape(text)}</pre></div>'
            for title, text in self.texts.items()
        )
        return f'<div style="{BOX}">{parts}</div>'


def columns(texts: Mapping[str, str]) -> Columns:
    """The texts beside each other, under their titles."""
    return Columns(dict(texts))


def excerpt(file: str | Path, first: str, last: str, before: int = 0) -> str:
    """The lines of a file of ours from the one with `first` in it to the next with `last`.

    `before` adds as many lines above: a decorator, say. Raises ValueError where `first` or `last`
    is not there: a notebook must not show another place.
    """
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    start = _at(lines, first, 0, file)
    end = _at(lines, last, start, file) + 1
    return dedent("\n".join(lines[max(start - before, 0) : end]))


def _at(lines: list[str], words: str, start: int, file: str | Path) -> int:
    for number, line in enumerate(lines[start:], start):
        if words in line:
            return number
    raise ValueError(f"{file} has no line with {words!r} after line {start}")
