"""MEASURED. The benchmark's promises, on a quick run, as ratios; and that it would see a slow one.

The limits here are the promises; those of starts, round trips and HTTP lie a fifth below, which is
what a busy machine can do to a short run. A case that fails is measured again: noise can make the
better one look bad, but not many times in a row.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from benchmarks import __main__ as command
from benchmarks import report, stacks
from benchmarks.cases import CASES, INTERPRETER, QUICK
from tests.conftest import missing
from workbench import measure

SMALL = replace(QUICK, turns=5, starts=5, calls=60, requests=64)
ROUNDS = 4


@pytest.fixture(scope="module")
def two():
    """Ours and the Python SDK's: what the promises are about."""
    found, absent = stacks.available()
    if stacks.PYTHON_SDK in absent:
        missing(absent[stacks.PYTHON_SDK])
    return [stack for stack in found if stack.name in (stacks.OURS, stacks.PYTHON_SDK)]


def told(case, stack_list, much=SMALL):
    return report.tell(CASES[case](stack_list, much), {})


def until(good, measured):
    """Measure, up to a few times, until it is good; the last figure."""
    for _ in range(ROUNDS):
        figure = measured()
        if good(figure):
            break
    return figure


@pytest.mark.parametrize(
    ("case", "size", "least"),
    [
        ("cold-start", None, 16.0),
        ("round-trip", None, 12.0),
        ("http", 1, 3.2),
        ("http", 8, 3.2),
        ("http", 64, 3.2),
        ("memory", None, 3.0),
    ],
)
def test_ours_costs_less_than_the_python_sdk(two, case, size, least, record_property):
    name = case.replace("-", " ")

    def figure():
        return report.times(told(case, two), name, size, stacks.PYTHON_SDK)

    found = until(lambda ratio: ratio >= least, figure)
    record_property("ratio", found)
    assert found >= least


def test_a_start_costs_little_more_than_the_interpreter(two):
    def figure():
        return 1 / report.times(told("cold-start", two[:1]), "cold start", None, INTERPRETER)

    assert until(lambda ratio: ratio <= 1.5, figure) <= 1.5


@pytest.mark.parametrize("case", list(report.CURVES))
def test_cost_grows_no_faster_than_linearly(two, case):
    much = replace(SMALL, tools=(100, 1_000, 10_000), streams=(10, 100, 1_000))

    def figure():
        return told(case, two[:1], much)["growth"][case][stacks.OURS][0]

    assert until(lambda slope: slope <= report.FLAT, figure) <= report.FLAT


def test_a_server_that_was_slowed_is_seen(two, tmp_path):
    """The same server with a pause in its tool must come out slower than the one without."""
    ours = two[0]
    slowed = ours.script.read_text("utf-8").replace(
        'return call.arguments["text"]',
        'import time; time.sleep(0.02); return call.arguments["text"]',
    )
    (tmp_path / "slow.py").write_text(slowed, "utf-8")
    slow = stacks.Stack("slow", ours.interpreter, tmp_path / "slow.py")
    for point in CASES["round-trip"]([ours, slow], replace(SMALL, calls=10)):
        assert measure.ratio(point.costs["slow"], point.costs[stacks.OURS]).median > 3


def test_a_broken_promise_is_said():
    """A result in which ours is slower than promised fails the command."""
    point = {"case": "round trip", "size": None, "unit": "s",
             "stacks": {"ours": {"cost": [1, 1, 1]},
                        "mcp": {"cost": [2, 2, 2], "times ours": [2.0, 1.9, 2.1]}}}  # fmt: skip
    [target] = report.targets({"points": [point], "growth": {}})
    assert (target["kept"], target["found"]) == (False, 2.0)
    grown = report.targets({"points": [], "growth": {"message": {"ours": [1.6, 2.0]}}})
    assert [target["kept"] for target in grown] == [False]


def test_where_ours_costs_more_is_said():
    """For certain only: an interval that reaches 1 says nothing."""
    found = {"mcp": [0.5, 0.4, 0.9], "typescript": [0.9, 0.8, 1.1], "floor": [0.1, 0.1, 0.1]}
    point = {"case": "http", "size": 1, "stacks": {"ours": {}}}
    point["stacks"] |= {name: {"times ours": times} for name, times in found.items()}
    said = report.behind({"points": [point]})
    assert said == ["http, 1 connection: mcp costs 0.5 × as much as ours"]


def test_what_is_committed_was_written_by_the_script():
    """The table says what the JSON says; the JSON says which commit and machine it is of."""
    kept = json.loads((command.RESULTS / "results.json").read_text("utf-8"))
    assert (command.RESULTS / "results.md").read_text("utf-8") == report.markdown(kept)
    assert kept["targets"] == report.targets(kept)
    assert kept["commit"] and kept["machine"] and kept["command"].startswith("python -m benchmarks")
    assert (command.RESULTS / "growth.png").read_bytes().startswith(b"\x89PNG")


def test_a_note_is_told_with_the_result():
    kept = json.loads((command.RESULTS / "results.json").read_text("utf-8"))
    assert "\n\non a slow day\n\n" in report.markdown({**kept, "note": "on a slow day"})


def test_the_readme_quotes_the_committed_result(repo):
    kept = json.loads((command.RESULTS / "results.json").read_text("utf-8"))
    assert report.in_a_line(kept) in (repo / "README.md").read_text("utf-8")
