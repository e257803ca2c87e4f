"""Is what the clients saw what they should have seen? A cell for each feature, with its reason.

    ✓   works, in the revision of today
    ○   works, in the era before, after a fallback
    –   one side does not offer it; `why` has the proof, as it came over the wire
    ✗   fails

Spec: basic/versioning, "Compatibility Matrix".
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from mcp_bare import revision
from tests.interop.clients.ours import TEXTS
from tests.interop.lab import PARTIES, WIRES, Lab, Report
from tests.interop.servers.ours import FORM

WORKS, BEFORE, ABSENT, FAILS = "✓", "○", "–", "✗"
FEATURES = ("open", "list", "call", "read", "prompt", "elicit", "progress", "changed")
OURS, OLD = "ours", "ts v1"
TOOLS = ["book", "change", "count", "echo"]
LIST_CHANGED = revision.FILTERS["toolsListChanged"]

SEEN: dict[str, Any] = {
    "list": {"tools": TOOLS, "header": "Text", "resources": ["memo://one"], "prompts": ["grüße"]},
    "call": list(TEXTS),
    "read": {"uri": "memo://one", "mimeType": "text/plain", "text": "the first memo ✓"},
    "prompt": [["user", "Say hello to Zoë."]],
    "elicit": {
        "asked": ["When? (accept)", "When? (decline)", "When? (cancel)"],
        "form": {"required": ["at"], "properties": FORM},
        "answers": [
            'accept: {"at": "2030-01-31T09:00:00Z", "guests": 3, "remind": false, "room": "blue"}',
            "decline: {}",
            "cancel: {}",
        ],
    },
    "progress": [[1, 3, "step 1"], [2, 3, "step 2"], [3, 3, "step 3"], "counted"],
}
"""What every client sees of every server, whatever the wire and the era."""

REACHES = {"call": "echo", "elicit": "book", "progress": "count", "changed": "change"}
"""The tool that must have run in the server; it notes so, with the era it was called in."""


@dataclass(frozen=True)
class Cell:
    mark: str
    why: str = ""


def pairs(every: bool = False) -> list[tuple[str, str, str]]:
    """(client, server, wire); those that we are part of, or every one."""
    return [
        (client, server, wire)
        for wire in WIRES
        for client in PARTIES
        for server in PARTIES
        if every or OURS in (client, server)
    ]


def judge(client: str, server: str, report: Report) -> dict[str, Cell]:
    """The cells of one pair."""
    if (client, server) == (OLD, OURS):
        return {feature: _refused(feature, report) for feature in FEATURES}
    era = "legacy" if OLD in (client, server) else "modern"
    return {feature: _cell(feature, server, era, report) for feature in FEATURES}


def _cell(feature: str, server: str, era: str, report: Report) -> Cell:
    line = report.lines.get(feature, {"error": report.noise[-300:] or "nothing was said"})
    if "error" in line:
        return Cell(FAILS, _json(line["error"]))
    saw, works = line["saw"], WORKS if era == "modern" else BEFORE
    reached = {"server": server, "tool": REACHES.get(feature), "era": era}
    if feature in REACHES and reached not in report.server_saw:
        return Cell(FAILS, f"the server did not see it; it saw {_json(report.server_saw)}")
    if feature == "open":
        wrong = _not_opened(saw, server, era)
        return Cell(FAILS, wrong) if wrong else Cell(works, saw.get("why", ""))
    if feature == "changed":
        return _changed(saw, era)
    return Cell(works) if saw == SEEN[feature] else Cell(FAILS, _json(saw))


def _not_opened(saw: dict[str, Any], server: str, era: str) -> str:
    how, version = ("server/discover", revision.CURRENT)
    if era == "legacy":
        how, version = ("initialize", revision.LEGACY[0])
    # The v1 client does not tell the version over stdio; the answer it took has one it knows.
    right = (server, how) == (saw["server"], saw["how"]) and saw["version"] in (version, None)
    return "" if right else _json(saw)


def _changed(saw: dict[str, Any], era: str) -> Cell:
    """A change of the tool list must be heard, and then be there."""
    heard = set(saw["heard"]) == {LIST_CHANGED} and saw["appeared"]
    if era == "modern":
        agreed = saw["via"] == revision.LISTEN and saw["agreed"] == {"toolsListChanged": True}
        return Cell(WORKS) if heard and agreed else Cell(FAILS, _json(saw))
    refused = saw.get("refused") or {}
    if refused and refused.get("code") != revision.METHOD_NOT_FOUND:
        return Cell(FAILS, _json(saw))
    told = f"the server says {_json(refused)} to {revision.LISTEN}"
    if heard:
        return Cell(BEFORE, f"told unasked; {told}" if refused else "told unasked")
    if saw["heard"] == [] and saw["appeared"] and refused:
        return Cell(ABSENT, f"{told}; it tells on a GET stream, which our client does not open")
    return Cell(FAILS, _json(saw))


def _refused(feature: str, report: Report) -> Cell:
    """The old client and our server: no version in common, and it is told so in words.

    "SHOULD name the protocol versions it supports in any error it returns to an `initialize`".
    """
    opened = report.lines.get("open", {}).get("error", {})
    named = all(version in opened.get("message", "") for version in revision.MODERN)
    common = set(opened.get("speaks", revision.MODERN)) & set(revision.MODERN)
    if not named or common or report.server_saw:
        return Cell(FAILS, _json(opened) + report.noise[-300:])
    if feature == "open":
        speaks = ", ".join(opened["speaks"])
        return Cell(ABSENT, f"the client speaks {speaks}, and is told: {opened['message']}")
    line = report.lines.get(feature, {})
    if line.get("error", {}).get("message") != "Not connected":
        return Cell(FAILS, _json(line))
    return Cell(ABSENT, "the client has no connection: Not connected")


def table(lab: Lab, every: bool = False) -> str:
    """The matrix as text, with a note for each cell that has something to explain."""
    out: list[str] = []
    notes: dict[str, list[str]] = {}
    for wire in WIRES:
        out += ["", f"{wire:<16}" + "".join(f"{feature:>10}" for feature in FEATURES)]
        for client, server, _ in (pair for pair in pairs(every) if pair[2] == wire):
            cells = judge(client, server, lab.meet(client, server, wire))
            marks = "".join(f"{cells[feature].mark:>10}" for feature in FEATURES)
            out.append(f"{client:>5} → {server:<8}" + marks)
            for feature, cell in cells.items():
                if cell.why and cell.mark != WORKS:
                    note = f"{cell.mark} {client} → {server}, {wire}: {cell.why}"
                    notes.setdefault(note, []).append(feature)
    legend = (
        f"{WORKS} works   {BEFORE} works, in the era before   {ABSENT} not offered   {FAILS} fails"
    )
    told = [f"{note[:2]}{', '.join(features)}; {note[2:]}" for note, features in notes.items()]
    return "\n".join([legend, *out, "", *told])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
