"""What the notebook of the final exam leans on: the run, the map, the recording."""

import json
import sys
import time

import pytest

from mcp_bare.streamable_http import HttpServer
from tests.conformance import test_suite as paper
from toy_servers import everything
from workbench import course, exam, exam_map, node, recorded, suite
from workbench.suite import Check, Report, Result

ON_THE_MAP = [*paper.SERVER, *paper.PENDING, *paper.CLIENT, *paper.ADDED_LATER]
RECORDED = ("server", "client", "broken", "unseen", "yours")
HOLDS = Check("a", "A", "SUCCESS", "")


@pytest.fixture
def no_node(monkeypatch):
    def find():
        raise node.NodeUnavailable("no node")

    monkeypatch.setattr(node, "find", find)


# --- the run ---


@pytest.mark.parametrize(
    ("checks", "passed"),
    [
        ([HOLDS], True),
        ([HOLDS, Check("b", "B", "INFO", ""), Check("c", "C", "SKIPPED", "")], True),
        ([HOLDS, Check("b", "B", "FAILURE", "no")], False),
        ([HOLDS, Check("b", "B", "WARNING", "hm")], False),
        ([HOLDS, Check("b", "B", "of a later suite", "?")], False),
        ([Check("b", "B", "SKIPPED", "")], False),
        ([], False),
    ],
)
def test_a_scenario_passes_where_something_held_and_nothing_was_said(checks, passed):
    assert Result("x", tuple(checks)).passed is passed


def test_a_scenario_that_did_not_run_has_failed():
    report = Report("server", (Result("x", (HOLDS,)),), 0)
    assert [result.scenario for result in report.only(["x", "y"]).failed] == ["y"]
    assert report.only(["y"]).failed[0].why() == "no result"


def test_a_run_that_takes_too_long_is_ended_with_its_clients(conformance, tmp_path):
    """`no_process_left_behind` sees to the second half."""
    sleeper = tmp_path / "sleeper.py"
    sleeper.write_text("import time\ntime.sleep(60)\n")
    start = time.monotonic()
    with pytest.raises(TimeoutError, match="did not end in 2 s"):
        suite.against_client([sys.executable, str(sleeper)], "tools_call", patience=2.0)
    assert time.monotonic() - start < 30


def test_what_the_suite_would_split_is_refused():
    with pytest.raises(ValueError, match="splits"):
        suite.against_client(["/opt/my python/bin/python", "client.py"])


def test_a_scenario_that_there_is_not_is_an_error(conformance):
    with pytest.raises(RuntimeError, match="no-such-scenario"):
        suite.against_server("http://127.0.0.1:9/mcp", "no-such-scenario")


# --- the map ---


def test_each_scenario_is_on_the_map_once():
    listed = [name for names in exam_map.LESSONS.values() for name in names]
    assert sorted(listed) == sorted(ON_THE_MAP)
    assert set(exam_map.NO_FIXTURES) <= {*paper.SERVER, *paper.PENDING}


def test_each_row_of_the_map_is_a_notebook_in_the_order_of_the_course():
    paths = [path for path, _, _ in course.COURSE]
    assert [path for path in paths if path in exam_map.LESSONS] == list(exam_map.LESSONS)


def test_the_picture_says_in_words_what_it_shows():
    holds = tuple(Result(name, (HOLDS,)) for name in paper.SERVER if name != "caching")
    report = Report("server", (*holds, Result("caching", ())), 1)
    picture = exam_map.picture(report)
    assert "26.8: 0 of 1; red: caching" in picture.words
    assert "26.11: 1 of 1\n" in picture.words and "27.8" not in picture.words
    assert picture.png == exam_map.picture(report).png


# --- the recording ---


def test_without_node_one_line_says_so_and_the_recorded_exam_is_shown(no_node, capsys):
    report = exam.sit("server", lambda tell: pytest.fail("it ran"))
    about = json.loads((recorded.TAPES / exam.FILE).read_text())["about"]
    assert capsys.readouterr().out == (
        f"Node is not here: this is the exam recorded on {about['recorded']}"
        f" with conformance {exam.version()}.\n"
    )
    assert report.only([*paper.SERVER, *paper.PENDING]).failed == ()
    assert exam.required() == {"server": list(paper.SERVER), "client": list(paper.CLIENT)}


def test_without_the_suite_it_says_which_part_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(suite, "PLACE", tmp_path)
    assert "conformance suite is not here" in suite.missing()
    with pytest.raises(node.NodeUnavailable, match="conformance suite is not here"):
        suite.against_server("http://127.0.0.1:9/mcp")


def test_what_was_recorded_is_what_the_notebook_says_of_it(no_node):
    kept = {name: exam.sit(name, lambda tell: pytest.fail("it ran")) for name in RECORDED}
    assert kept["client"].only([*paper.CLIENT, *paper.ADDED_LATER]).failed == ()
    assert kept["yours"].only(exam_map.NO_FIXTURES).failed == ()
    assert kept["unseen"].results and kept["unseen"].failed == ()
    broken = kept["broken"].only([*paper.SERVER, *paper.PENDING])
    assert len(broken.failed) == 11 and broken.only(["caching"]).failed


@pytest.mark.parametrize(
    ("habit", "red"), [(exam.forget_hints, True), (exam.answer_another, False)]
)
def test_a_habit_is_seen_or_not_as_it_was_recorded(conformance, habit, red):
    with HttpServer(exam.Altered(everything.make(), habit)) as http:
        report = suite.against_server(http.url, "caching" if red else exam.UNSEEN)
    assert bool(report.failed) is red


def test_a_toy_by_name_keeps_nothing_here(conformance, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with exam.at("incidents") as url:
        report = suite.against_server(url, "tools-list")
    assert report.failed == () and list(tmp_path.iterdir()) == []
    with exam.at("http://127.0.0.1:9/mcp") as url:
        assert url == "http://127.0.0.1:9/mcp"
