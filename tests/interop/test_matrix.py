"""We and the official SDKs, each against each, over pipes and over HTTP: every cell filled."""

from __future__ import annotations

import psutil
import pytest

from mcp_bare import revision
from tests.interop import matrix
from tests.interop.lab import PARTIES, Lab, Report
from tests.interop.matrix import ABSENT, BEFORE, FAILS, FEATURES, SEEN, WORKS, Cell, judge

EXPECTED = {
    # client, server, wire: open, list, call, read, prompt, elicit, progress, changed
    ("ours", "ours", "stdio"): "✓✓✓✓✓✓✓✓",
    ("ours", "py", "stdio"): "✓✓✓✓✓✓✓✓",
    ("ours", "ts v2", "stdio"): "✓✓✓✓✓✓✓✓",
    ("ours", "ts v1", "stdio"): "○○○○○○○○",
    ("py", "ours", "stdio"): "✓✓✓✓✓✓✓✓",
    ("ts v2", "ours", "stdio"): "✓✓✓✓✓✓✓✓",
    ("ts v1", "ours", "stdio"): "––––––––",
    ("ours", "ours", "http"): "✓✓✓✓✓✓✓✓",
    ("ours", "py", "http"): "✓✓✓✓✓✓✓✓",
    ("ours", "ts v2", "http"): "✓✓✓✓✓✓✓✓",
    ("ours", "ts v1", "http"): "○○○○○○○–",
    ("py", "ours", "http"): "✓✓✓✓✓✓✓✓",
    ("ts v2", "ours", "http"): "✓✓✓✓✓✓✓✓",
    ("ts v1", "ours", "http"): "––––––––",
}
CELLS = [
    (*pair, feature, mark)
    for pair, marks in EXPECTED.items()
    for feature, mark in zip(FEATURES, marks, strict=True)
]


@pytest.mark.parametrize(("client", "server", "wire", "feature", "mark"), CELLS)
def test_cell(lab: Lab, client: str, server: str, wire: str, feature: str, mark: str) -> None:
    cell = judge(client, server, lab.meet(client, server, wire))[feature]
    assert cell.mark == mark, cell.why
    assert cell.why or mark != ABSENT


def test_no_pair_of_ours_is_left_out() -> None:
    assert list(EXPECTED) == matrix.pairs()


def test_the_table_has_them_all(lab: Lab) -> None:
    found = matrix.table(lab)
    print(found)
    rows = [line for line in found.splitlines() if "→" in line and line[0] not in WORKS + BEFORE]
    told = {
        "".join(line.split()): marks
        for (client, server, _), marks in EXPECTED.items()
        for line in [f"{client} → {server}"]
    }
    assert len(told) == 7 and FAILS not in found.partition("\n")[2]
    marks = ["".join(row[16:].split()) for row in rows if row[0] != ABSENT]
    assert marks == list(EXPECTED.values())


def test_they_listen_on_loopback_only(lab: Lab) -> None:
    for name in PARTIES:
        started = psutil.Process(lab.processes[name].pid)
        listening = [
            connection.laddr.ip
            for process in (started, *started.children(recursive=True))
            for connection in process.net_connections("inet")
            if connection.status == psutil.CONN_LISTEN
        ]
        assert set(listening) == {"127.0.0.1"}, name


# --- a judge that says yes to everything would pass all of the above ---


def report(feature: str, saw_tool: str | None = "echo", **line: object) -> Report:
    saw = [{"server": "py", "tool": saw_tool, "era": "modern"}]
    return Report({feature: {"feature": feature, **line}}, saw if saw_tool else [], "")


OPENED = {"server": "py", "version": revision.CURRENT, "how": "server/discover"}
HEARD = {
    "via": "subscriptions/listen",
    "agreed": {"toolsListChanged": True},
    "heard": ["notifications/tools/list_changed"],
    "appeared": True,
}
JUDGED = [
    # feature, what the client and the server saw, the mark
    ("call", report("call", saw=SEEN["call"]), WORKS),
    ("call", report("call", saw=SEEN["call"][:-1]), FAILS),
    ("call", report("call", saw=SEEN["call"], saw_tool=None), FAILS),
    ("call", report("call", error={"code": -32601}), FAILS),
    ("call", report("read", saw=SEEN["read"]), FAILS),
    ("open", report("open", saw=OPENED), WORKS),
    ("open", report("open", saw={**OPENED, "how": "initialize"}), FAILS),
    ("open", report("open", saw={**OPENED, "server": "ours"}), FAILS),
    ("open", report("open", saw={**OPENED, "version": revision.LEGACY[0]}), FAILS),
    ("progress", report("progress", "count", saw=SEEN["progress"][1:]), FAILS),
    ("changed", report("changed", "change", saw=HEARD), WORKS),
    ("changed", report("changed", "change", saw={**HEARD, "heard": []}), FAILS),
    ("changed", report("changed", "change", saw={**HEARD, "agreed": {}}), FAILS),
    ("changed", report("changed", "change", saw={**HEARD, "appeared": False}), FAILS),
]


@pytest.mark.parametrize(("feature", "seen", "mark"), JUDGED)
def test_the_judge_is_strict(feature: str, seen: Report, mark: str) -> None:
    assert judge("ours", "py", seen)[feature].mark == mark


OLD_SPEAKS = list(revision.LEGACY)
TOLD = f"this server speaks {revision.CURRENT}"


@pytest.mark.parametrize(
    ("error", "mark"),
    [
        ({"message": TOLD, "speaks": OLD_SPEAKS}, ABSENT),
        ({"message": "Method not found", "speaks": OLD_SPEAKS}, FAILS),  # names no version
        ({"message": TOLD, "speaks": [*OLD_SPEAKS, revision.CURRENT]}, FAILS),  # could have worked
        ({"message": TOLD}, FAILS),
    ],
)
def test_a_refusal_of_the_old_client_must_name_our_versions(error: dict, mark: str) -> None:
    seen = Report({"open": {"feature": "open", "error": error}}, [], "")
    assert judge("ts v1", "ours", seen)["open"].mark == mark


def test_nothing_said_is_no_excuse() -> None:
    assert judge("ts v1", "ours", Report({}, [], ""))["call"] != Cell(ABSENT)
    assert {cell.mark for cell in judge("ts v1", "ours", Report({}, [], "")).values()} == {FAILS}
    assert {cell.mark for cell in judge("ours", "ts v1", Report({}, [], "")).values()} == {FAILS}
