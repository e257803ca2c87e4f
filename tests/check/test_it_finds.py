"""The exam finds every fault of the rude server, and every MUST that `breaking` breaks."""

from __future__ import annotations

import importlib.util

import pytest

from mcp_bare import check
from mcp_bare.exam.rule import BROKEN, NOTED
from tests.check import breaking, rows

ROWS = {f"rude:{name}": row for name, row in rows.RUDE.items()} | {
    f"broken:{name}": row for name, (_, row) in rows.BREAKS.items()
}


@pytest.mark.parametrize("row", ROWS)
def test_the_rule_that_is_broken_is_named_and_no_stranger(examined, row):
    verdicts, expected = examined(row), ROWS[row]
    broken = {each.name for each in verdicts if each.outcome == BROKEN}
    assert set(expected.broken) <= broken <= {*expected.broken, *expected.also}
    noted = {each.name for each in verdicts if each.outcome == NOTED}
    assert set(expected.noted) <= noted
    assert check.passed(verdicts) == (not expected.broken)
    for each in verdicts:
        if each.outcome == BROKEN:
            says_what_was_sent_what_came_and_why(each)


def says_what_was_sent_what_came_and_why(verdict):
    assert verdict.page and verdict.hint and 1 <= len(verdict.findings) <= verdict.count
    for finding in verdict.findings:
        assert finding.sent and finding.came and finding.why


def test_no_fault_is_left_out():
    spec = importlib.util.spec_from_file_location("rude", rows.ROOT / "toy_servers" / "rude.py")
    rude = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rude)
    assert set(rows.RUDE) == set(rude.FAULTS)
    harmless = {name for name, (clause, _) in rude.FAULTS.items() if clause.startswith("nothing")}
    found = {name for name, row in rows.RUDE.items() if row.broken}
    assert set(rude.FAULTS) - found <= harmless
    assert found & harmless == {"modern-other-version", "modern-and-legacy"}  # another revision's


def test_the_breaks_are_at_least_ten_and_all_in_the_table():
    assert set(rows.BREAKS) == set(breaking.BREAKS)
    assert len([row for _, row in rows.BREAKS.values() if row.broken]) >= 10


def test_every_rule_that_decides_can_be_broken():
    can = {name for row in ROWS.values() for name in row.broken}
    assert {rule.name for rule in check.RULES if rule.level in check.DECIDE} == can


def test_rules_have_names_of_their_own_and_pages():
    names = [rule.name for rule in check.RULES]
    assert len(names) == len(set(names))
    assert all(rule.page and rule.hint and rule.says for rule in check.RULES)
