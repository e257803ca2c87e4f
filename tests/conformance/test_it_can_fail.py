"""The suite can fail: with one MUST broken at a time, it says which.

Our server and our client stay as they are; somebody in between has one bad habit (`between`).
"""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conformance import broken
from tests.conformance.between import Between, Habit
from tests.conformance.test_suite import EXTENSIONS
from workbench import suite

pytestmark = pytest.mark.usefixtures("conformance")


def test_without_a_habit_nothing_is_red(address):
    """Else a red scenario below would say nothing about the habit."""
    with Between(address, Habit()) as between:
        report = suite.against_server(between.url)
    assert {result.scenario for result in report.failed} <= EXTENSIONS
    assert report.code == 0


@pytest.fixture(scope="module")
def sat(address, conformance):
    """The report on each fault, by name. The suite mostly waits, so a few runs go side by side."""
    names = [*broken.SERVERS, *broken.CLIENTS, *broken.UNSEEN]
    with ThreadPoolExecutor(4) as pool:
        runs = {name: pool.submit(sit, name, address) for name in names}
    return runs


def sit(name, address):
    if name in broken.CLIENTS:
        command = [sys.executable, str(suite.PLACE / "broken.py"), name]
        return suite.against_client(command, broken.CLIENTS[name].scenario)
    fault = {**broken.SERVERS, **broken.UNSEEN}[name]
    with Between(address, fault.habit) as between:
        return suite.against_server(between.url, fault.scenario)


@pytest.mark.parametrize("name", [*broken.SERVERS, *broken.CLIENTS])
def test_what_is_broken_is_caught(sat, name):
    """The scenario is red for the reason that was given to it, and so is the exit code."""
    fault, report = {**broken.SERVERS, **broken.CLIENTS}[name], sat[name].result()
    [result] = report.results
    red = {check.id for check in result.checks if not check.good}
    assert fault.checks and fault.checks <= red, f"{fault.clause}: red is {red}\n{result.stderr}"
    assert not result.passed and report.code == 1


@pytest.mark.parametrize("name", broken.UNSEEN)
def test_what_the_suite_does_not_see(sat, name):
    """A gap in the suite: once it is closed, this fails, and the fault belongs among the others."""
    report = sat[name].result()
    assert report.results and report.failed == ()


def test_there_are_enough():
    assert len(broken.SERVERS) >= 10 and len(broken.CLIENTS) >= 3


def test_a_client_that_is_not_there_is_caught():
    report = suite.against_client([sys.executable, "-c", "pass"], "tools_call")
    [result] = report.failed
    assert "Tool was not called" in result.why() or "Validates" in result.why()


def test_a_server_that_is_not_there_is_caught(address):
    report = suite.against_server("http://127.0.0.1:9/mcp", "tools-list")
    assert not report.results[0].passed and report.code == 1
