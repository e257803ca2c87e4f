"""Well-behaved servers pass, and what cannot be judged on them is said to be not applicable."""

from __future__ import annotations

import pytest

from mcp_bare import check
from mcp_bare.exam.rule import ABSENT, BROKEN, HOLDS
from tests.check.rows import PATIENT, toy

ASKING = {"capability", "stateless", "input-required", "declared-only", "forms", "two-processes"}
STREAMS = {"acknowledged", "subscription-id", "asked-for"}
JUDGED = {
    # the server, and what must have been judged on it
    "good:calendar by hand": ASKING | {"unknown-resource"},
    "good:calendar handles": ASKING | STREAMS,
    "good:incidents": STREAMS | {"unknown-resource", "shapes"},
    "good:changing": STREAMS | {"progress", "in-a-request"},
    "good:everything": ASKING | STREAMS | {"progress", "unknown-resource"},
    "good:ours, of the matrix": ASKING | STREAMS | {"x-mcp-header", "progress"},
}


def of(verdicts, outcome):
    return {each.name for each in verdicts if each.outcome == outcome}


@pytest.mark.parametrize("row", JUDGED)
def test_a_good_server_passes(examined, row):
    verdicts = examined(row)
    assert of(verdicts, BROKEN) == set()
    assert check.passed(verdicts)
    assert JUDGED[row] <= of(verdicts, HOLDS)


@pytest.mark.parametrize("row", ["good:incidents"])
def test_a_server_without_questions_is_not_praised_for_them(examined, row):
    verdicts = {each.name: each for each in examined(row)}
    assert ASKING - {"stateless"} <= of(verdicts.values(), ABSENT)
    assert verdicts["two-processes"].reason == "no tool asked what an exam can answer"


@pytest.mark.parametrize("row", ["good:calendar handles, no key"])
def test_a_seal_with_the_process_s_own_key_is_found(examined, row):
    """The second process cannot open what the first one sealed."""
    verdicts = {each.name: each for each in examined(row)}
    assert of(verdicts.values(), BROKEN) == {"two-processes"}
    (finding,) = verdicts["two-processes"].findings
    assert "requestState" in finding.sent and "-32602" in finding.came


@pytest.mark.parametrize("row", ["good:questions"])
def test_what_the_questions_do_wrong_on_purpose_is_found_and_nothing_else(examined, row):
    verdicts = {each.name: each for each in examined(row)}
    assert of(verdicts.values(), BROKEN) == {"forms", "secrets"}
    assert "survey" in verdicts["forms"].findings[0].sent
    assert "log_in" in verdicts["secrets"].findings[0].sent


def test_the_cancellation_is_judged_where_a_call_takes_a_moment(tmp_path):
    slow = {"count": {"to": 30, "pause": 0.05}}
    verdicts = check.run(toy("changing"), cwd=tmp_path, patience=PATIENT, arguments=slow)
    assert "cancelled" in of(verdicts, HOLDS)
