"""Every fault that the exam must find, and the rule that must find it.

A row names the rules that must be broken, and those that may be as well, since one fault can be
seen from several sides (a server that says nothing does not say what it speaks either). It is sat
in the sittings where the fault shows, besides the first meeting: the servers without a fault sit
the whole exam.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from mcp_bare.check import SITTINGS, Patience

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sys.executable
PATIENT = Patience(answer=20, leave=10, sitting=90)
SILENT = Patience(answer=2.5, leave=1, sitting=30)  # where waiting is the only way to find it


@dataclass(frozen=True)
class Row:
    """What must be found, what may be, what must be noted, and in which sittings."""

    broken: tuple[str, ...]
    also: tuple[str, ...] = ()
    noted: tuple[str, ...] = ()
    sittings: tuple[str, ...] = ()
    patience: Patience = PATIENT


OLD = ("meta", "version", "result-type", "cache", "declared")  # what the era before does not have
LISTS = ("result-type", "cache")  # what its lists do not have, where nothing else is answered

RUDE = {
    # nothing is broken: a control, and what a client has to cope with
    "no-fault": Row((), sittings=SITTINGS),
    "slow-start": Row((), noted=("start",)),
    "floods-stderr": Row((), noted=("stderr",)),
    "huge-line": Row((), noted=("size",), sittings=("calls",)),
    # noise on stdout
    "stdout-banner": Row(("stdout-pure",)),
    "stdout-in-tool": Row(("stdout-pure",)),
    "progress-bar": Row(("stdout-pure",)),
    "glued": Row(("stdout-pure",)),
    "crlf": Row(("stdout-pure",)),
    "pretty-printed": Row(("one-line",)),
    "bad-utf8": Row(("utf-8",)),
    "cp1252": Row(("utf-8",)),
    # ids
    "wrong-id": Row(("ids",)),
    "string-id": Row(("ids",)),
    "null-id-error": Row(("ids",), also=("declared",)),
    "duplicate-answer": Row(("one-answer",)),
    "late": Row(("cancelled", "answers"), sittings=("cancel",), patience=SILENT),
    # silence and death
    "silent": Row(("answers", "discover"), patience=SILENT),
    "never-reads": Row(("answers", "discover"), also=("leaves",), patience=SILENT),
    "exit-at-start": Row(("answers", "discover")),
    "exit-3": Row(("answers", "stdout-pure")),
    "dies-mid-line": Row(("answers", "stdout-pure")),
    "dies-with-children": Row(("answers",)),
    "fragile": Row(("bad-lines",), sittings=("hostile",)),
    # leaving
    "ignores-eof": Row(("leaves",), patience=Patience(20, 1)),
    "ignores-sigterm": Row(("leaves",), patience=Patience(20, 1)),
    "has-children": Row(("leaves",)),
    # wrong messages
    "sends-request": Row(("no-requests",)),
    "answers-notifications": Row(("notifications",)),
    "result-not-object": Row(("envelope",), also=("meta", "version", "declared", "unknown-method")),
    "no-result-type": Row(("result-type",)),
    "unknown-result-type": Row(("known-result-type",)),
    "no-cache-hints": Row(("cache",)),
    "event-before-ack": Row(("acknowledged",), sittings=("listen",)),
    "knows-everything": Row(("unknown-method",), also=("cache", "shapes")),
    "ignores-meta": Row(("meta", "version")),
    "accepts-any-version": Row(("version",)),
    # nothing is broken, but there is no exam to sit
    "modern-other-version": Row(("revision",)),
    "modern-and-legacy": Row(("revision",)),
    # the era before
    "legacy": Row(("discover", *OLD)),
    "legacy-32602": Row(("discover", *OLD)),
    "legacy-null-id": Row(("discover", "ids", *OLD)),
    "legacy-noisy": Row(("discover", *OLD), noted=("stderr",)),
    "legacy-pings": Row(("discover",), also=("answers",), patience=SILENT),
    "legacy-silent": Row(("discover", "answers"), also=LISTS, patience=SILENT),
    "exit-at-discover": Row(("discover", "answers"), also=LISTS),
}


def toy(name: str) -> list[str]:
    """The command of a toy server."""
    return [PYTHON, str(ROOT / "toy_servers" / f"{name}.py")]


CALENDAR = toy("calendar_by_hand")
OURS = [PYTHON, "-m", "tests.interop.servers.ours"]

# what `breaking` does to a good server: (the server, the row)
BREAKS = {
    "nothing": (CALENDAR, Row((), sittings=SITTINGS)),
    "code-is-text": (CALENDAR, Row(("envelope",), also=("meta", "unknown-resource"))),
    "no-message-in-error": (CALENDAR, Row(("envelope",))),
    "code-of-our-own": (CALENDAR, Row(("error-codes", "unknown-method"))),
    "resource-not-found-as-before": (CALENDAR, Row(("error-codes", "unknown-resource"))),
    "versions-not-listed": (CALENDAR, Row(("version",))),
    "capability-not-named": (CALENDAR, Row(("capability",), sittings=("calls",))),
    "versions-are-one-string": (CALENDAR, Row(("discover",), also=("shapes",))),
    "empty-contents": (CALENDAR, Row(("unknown-resource",))),
    "batches": (CALENDAR, Row(("stdout-pure",))),
    "byte-order-mark": (CALENDAR, Row(("stdout-pure",))),
    "not-a-number": (CALENDAR, Row(("stdout-pure",))),
    "two-on-a-line": (CALENDAR, Row(("stdout-pure",), also=("answers",), sittings=("calls",),
                                    patience=SILENT)),
    "fractional-id": (CALENDAR, Row(("envelope", "ids"), patience=SILENT)),
    "old-json-rpc": (CALENDAR, Row(("envelope",))),
    "negative-ttl": (CALENDAR, Row(("cache",))),
    "scope-of-nobody": (CALENDAR, Row(("cache",), sittings=("calls",))),
    "schema-is-null": (CALENDAR, Row(("input-schemas",))),
    "mirror-on-an-object": (CALENDAR, Row(("x-mcp-header",))),
    "structure-not-as-promised": (OURS, Row(("output-schemas",), sittings=("calls",))),
    "content-of-no-shape": (OURS, Row(("shapes",), sittings=("calls",))),
    "tools-not-declared": (CALENDAR, Row(("declared",))),
    "a-list-per-connection": (CALENDAR, Row(("same-lists",), sittings=("second",))),
    "a-scope-by-page": (CALENDAR, Row(("cache-pages",))),
    "asks-anybody": (CALENDAR, Row(("capability", "declared-only"), sittings=("calls",))),
    "remembers": (CALENDAR, Row(("stateless", "declared-only", "capability"),
                                sittings=("calls", "second"))),
    "state-at-home": (CALENDAR, Row(("two-processes",), sittings=("calls", "second"))),
    "a-list-asks": (CALENDAR, Row(("input-required",))),
    "asks-for-nothing": (CALENDAR, Row(("input-required",), sittings=("calls",))),
    "asks-what-nobody-knows": (CALENDAR, Row(("input-required",), sittings=("calls",))),
    "form-with-an-object": (CALENDAR, Row(("forms",), sittings=("calls",))),
    "form-for-a-password": (CALENDAR, Row(("secrets",), sittings=("calls",))),
    "logs-unasked": (CALENDAR, Row(("in-a-request",))),
    "progress-of-nobody": (CALENDAR, Row(("in-a-request",))),
    "cancels-a-call": (CALENDAR, Row(("in-a-request",))),
    "change-without-a-stream": (CALENDAR, Row(("subscription-id",))),
    "progress-stands": (OURS, Row(("progress",), sittings=("calls",))),
    "progress-goes-on": (CALENDAR, Row(("progress",), sittings=("calls",))),
    "stream-id-as-text": (OURS, Row(("subscription-id", "acknowledged"), sittings=("listen",))),
    "agrees-to-more": (OURS, Row(("asked-for",), sittings=("listen",))),
    "not-asked-for": (OURS, Row(("asked-for",), sittings=("listen",))),
    "hears-on": (OURS, Row(("cancelled",), sittings=("listen",))),
}  # fmt: skip

KEY = {"CALENDAR_STATE_KEY": "shared by the processes"}

# servers to examine: (the command, or None for the matrix's of that name; more environment)
GOOD = {
    "calendar by hand": (CALENDAR, {}),
    "calendar handles": (toy("calendar_handles"), KEY),
    "calendar handles, no key": (toy("calendar_handles"), {}),
    "incidents": (toy("incidents"), {}),
    "changing": (toy("changing"), {}),
    "everything": (toy("everything"), {}),
    "questions": (toy("questions"), {}),
    "ours, of the matrix": (OURS, {}),
}
SDKS = {
    "py, one tool": [PYTHON, "-m", "workbench.sdk_server"],
    "py": None,
    "ts v2": None,
    "ts v1": None,
}
