"""A tape as a notebook shows it: the chapters' arrows, and each message's bytes one click away.

`show` is for the end of a cell; `raw` prints the lines themselves, for "bytes first, then the
pretty view". The HTML is made of inline styles and <details>, which JupyterLab lets through in a
notebook that nobody has trusted yet, and of colours that can be read on white and on black. What
came over the wire is escaped. Nothing that differs from run to run is shown: no times, no paths.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from mcp_bare import revision
from mcp_bare.arrows import clipped, masked, visible, wrapped
from mcp_bare.client import Client
from mcp_bare.tape import CAME, NOTE, SENT, Entry, Tape

WIDTH = 96
CLIP = 1200
MONO = "font-family:monospace;font-size:13px;line-height:1.45"
ROW = "display:flex;flex-wrap:wrap;align-items:baseline;gap:0 8px;margin:0 0 3px 0;padding:1px 8px"
BODY = "flex:1 1 70%;min-width:0;white-space:pre-wrap;overflow-wrap:break-word"
PILL = "flex:none;padding:0 5px;border-radius:4px;font-weight:bold"
TAG = "border:1px solid #c0392b;border-radius:3px;padding:0 5px;font-size:0.92em"
FOLD = "flex:none;max-width:100%;font-size:0.92em"
PRE = "white-space:pre-wrap;word-break:break-all;padding:4px 8px;margin:2px 0"

LOOKS = {  # what it is: a word for it, its edge, its arrow's box
    SENT: ("sent", "solid #2a6fb0", "background-color:#2a6fb0;color:#ffffff;"),
    CAME: ("came back", "double #2e8b57", ""),
    "error": ("came back: an error", "solid #c0392b", "background-color:#c0392b;color:#ffffff;"),
    NOTE: ("a note", "dotted #94660a", "background-color:#94660a;color:#ffffff;"),
}
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T[\d:.]{5,12}Z?)?")  # a browser would break it at a hyphen


@dataclass(frozen=True)
class View:
    """What `show` returns: rendered once, it holds neither the tape nor the client."""

    text: str
    html: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


def show(
    what: Tape | Client,
    *,
    last: int | None = None,
    meta: bool = False,
    ids: bool = False,
    mask: Mapping[str, str] | None = None,
    clip: int | None = CLIP,
) -> View:
    """Show a tape, or a client's: all of it, or from its `last` n-th request on.

    `meta` and `ids` write out what is folded otherwise; `mask` gives random values stable names,
    {value: name}; a message longer than `clip` characters is cut (its bytes are below the fold).
    """
    tape = _tape(what, last)
    lines = tape.lines(meta=meta, ids=ids, width=WIDTH, mask=mask, clip=clip)
    rows = [_row(entry, meta, ids, mask, clip) for entry in tape]
    return View("\n".join(lines), f'<div style="margin:4px 0;{MONO}">{"".join(rows)}</div>')


def raw(
    what: Tape | Client,
    *,
    last: int | None = None,
    mask: Mapping[str, str] | None = None,
    clip: int | None = None,
) -> None:
    """Print each line as it went over the wire, wrapped for the page and for nothing else."""
    for entry in _tape(what, last):
        line = f"{entry.direction} {masked(entry.text, mask)}" if entry.payload else entry.show()
        line = line if clip is None else clipped(line, clip, entry.size(mask))
        print("\n".join(wrapped(line, WIDTH)))


def _tape(what: Tape | Client, last: int | None) -> Tape:
    tape = what if isinstance(what, Tape) else what.tape
    return tape.since(0) if last is None else tape.last(last)


def _row(
    entry: Entry, meta: bool, ids: bool, mask: Mapping[str, str] | None, clip: int | None
) -> str:
    message = None if entry.direction == NOTE else entry.message
    kind = NOTE if message is None else "error" if "error" in message else entry.direction
    word, edge, box = LOOKS[kind]
    arrow = NOTE if message is None else entry.direction
    head, rest = (masked(part, mask) for part in entry.parts(meta=meta))
    if clip is not None:
        rest = clipped(rest, clip, entry.size(mask))
    number = f"[{visible(str(message.get('id', '·')))}] " if ids and message else ""
    strong = f"<b>{escape(head)}</b> " if head else ""
    return (
        f'<div style="border-left:4px {edge};{ROW}">'
        f'<span title="{word}" style="{box}{PILL};border:1px {edge.replace("double", "solid")}">'
        f"{arrow}</span>"
        f'<div style="{BODY}">{escape(number)}{strong}{_tag(message)}{_unbroken(rest)}</div>'
        f"{_fold(entry, message, mask)}</div>"
    )


def _unbroken(text: str) -> str:
    return DATE.sub(r"<nobr>\g<0></nobr>", escape(text))


def _tag(message: dict | None) -> str:
    """An error's name, as the specification has it; or that a tool says it went wrong."""
    seen = message or {}
    name = revision.CODE_NAMES.get(seen.get("error", {}).get("code"), "")
    if seen.get("result", {}).get("isError") is True:
        name = "the tool failed"
    return f'<span style="{TAG}">{name}</span> ' if name else ""


def _fold(entry: Entry, message: dict | None, mask: Mapping[str, str] | None) -> str:
    """The `_meta` of a message, spread out, and its exact line: one click away."""
    if not entry.payload:
        return ""
    body = message or {}
    found = next((body[k].get("_meta") for k in ("params", "result") if _has_meta(body, k)), None)
    parts = [entry.text]
    if found is not None:
        parts = ['"_meta": ' + visible_json(found), entry.text]
    title = f"{'_meta, ' if found is not None else ''}{entry.size(mask):,} bytes"
    pres = "".join(f'<pre style="{PRE}">{escape(masked(part, mask))}</pre>' for part in parts)
    summary = f'<summary style="cursor:pointer;opacity:0.75">{title}</summary>'
    return f'<details style="{FOLD}">{summary}{pres}</details>'


def _has_meta(body: dict, key: str) -> bool:
    return isinstance(body.get(key), dict) and "_meta" in body[key]


def visible_json(value: object) -> str:
    """JSON spread over lines, with nothing in it that cannot be seen."""
    lines = json.dumps(value, ensure_ascii=False, indent=2).split("\n")
    return "\n".join(map(visible, lines))
