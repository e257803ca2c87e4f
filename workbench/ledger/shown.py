"""Findings in a notebook: the terminal's table as text, and a table with links as HTML.

The colours can be read on white and on black, and say nothing that a word does not say as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from workbench.ledger.claim import BROKEN, DIFFERS, HOLDS, NETWORK, Finding
from workbench.ledger.printed import HEAD, cells, lines

CELL = "padding:1px 12px 1px 0;vertical-align:top;text-align:left;white-space:normal"
EDGES = {
    HOLDS: "4px solid #2e8b57",
    DIFFERS: "4px double #c0392b",
    NETWORK: "4px dotted #94660a",
    BROKEN: "4px dashed #c0392b",
}


@dataclass(frozen=True)
class Shown:
    """Some findings, one below the other."""

    findings: tuple[Finding, ...]

    def __repr__(self) -> str:
        rows = [HEAD, *(row for finding in self.findings for row in cells(finding))]
        return "\n".join(lines(rows))

    def _repr_html_(self) -> str:
        head = "".join(f'<th style="{CELL}">{escape(name)}</th>' for name in HEAD)
        body = "".join(row for finding in self.findings for row in _rows(finding))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def show(findings: Iterable[Finding]) -> Shown:
    """The table of these findings, for the end of a cell."""
    return Shown(tuple(findings))


def _rows(finding: Finding) -> Iterable[str]:
    (id, statement, *_, verdict), *facts = cells(finding)
    edge = f"{CELL};border-left:{EDGES[finding.verdict]};padding-left:8px"
    link = f'<a href="{escape(finding.claim.notebook)}.ipynb">{escape(id)}</a>'
    words = re.sub("`([^`]*)`", r"<code>\1</code>", escape(statement))
    yield (
        f'<tr><td style="{edge};padding-top:6px;white-space:nowrap">{link}</td>'
        f'<td colspan="3" style="{CELL};padding-top:6px">{words}</td>'
        f'<td style="{CELL};padding-top:6px"><b>{escape(verdict)}</b></td></tr>'
    )
    for _, *row in facts:
        columns = "".join(f'<td style="{CELL}">{escape(text)}</td>' for text in row)
        yield f'<tr><td style="{edge}"></td>{columns}</tr>'
