"""The specification's suite on a server that a learner ships: what its core scenarios say.

    suite_says("answer")             # in a notebook: a line for each scenario, in half a minute
    core_holds(it, "answer")         # in a hidden check: a Wrong where one does not hold

The learner's code is a function from the bytes of an HTTP request to the bytes of its response. The
suite knocks at an address before it (`checks.front`). The core scenarios are those that need no
tool of a prescribed name. They take longer than anybody should wait for a check, so no visible
check runs them; where the suite is not installed, one line says so.

Does not handle: scenarios that prescribe tools (`exam`, on `toy_servers/everything.py`).
"""

import sys

from workbench import suite
from workbench.checks import front, notebook
from workbench.checks.asking import It
from workbench.checks.judge import Judge, NotStarted
from workbench.checks.wrong import Wrong
from workbench.suite import Report, Result

SECONDS = 80.0  # for a busy machine; an idle one needs five
KEPT = 50
KNOCK = b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
_reports: dict[tuple[object, ...], Report] = {}


def suite_says(name: str = "answer") -> None:
    """Print what the suite says of the notebook's server, as its cells were last run."""
    if why := suite.missing():
        print(f"{why}. With Node, `npm ci --prefix tests/conformance` brings it.")
        return
    theirs = notebook.theirs()
    with Judge(theirs.cells, theirs.given) as judge:
        try:
            verdict = judge.check("http", lambda it: print(*_lines(_report(it, name)), sep="\n"))
        except NotStarted as trouble:
            print(trouble)
            return
    if verdict.wrong is not None:
        print(verdict.wrong)


def core_holds(it: It, name: str = "answer") -> None:
    """Raise Wrong where a core scenario does not hold; say it on stderr where nobody can tell.

    Raises NotStarted where the suite itself went wrong: that is nobody's zero.
    """
    if why := suite.missing():
        print(f"{why}: stage {it.stage} is judged without it.", file=sys.stderr)
        return
    for result in _report(it, name).results:
        it.expect(
            holds(result),
            sent=f"the scenario {result.scenario} of the conformance suite: {result.why()}",
            clause="the text above: the suite's core scenarios hold",
            hint=f'suite_says("{name}") in a cell of your own says what the suite says',
        )


def holds(result: Result) -> bool:
    """Something was seen to hold, and nothing failed. A warning is about a SHOULD: no points."""
    return result.held > 0 and {each.status for each in result.checks} <= suite.GOOD | {"WARNING"}


def _report(it: It, name: str) -> Report:
    """The core scenarios, sat once: the same cells are given the same report."""
    from workbench.exam_map import NO_FIXTURES  # draws pictures, and takes its time to load

    cells = (name, *it.cells)
    if cells not in _reports:
        it.call(name, KNOCK)  # what is not written, or fails at once, need not wait for the suite
        it.more_time(SECONDS)
        whole = _sat(lambda request: it.call(name, request))
        if len(_reports) >= KEPT:
            _reports.clear()
        _reports[cells] = whole.only(NO_FIXTURES)
    return _reports[cells]


def _sat(answer: front.Answer) -> Report:
    try:
        with front.at(answer) as url:
            return suite.against_server(url, patience=SECONDS)
    except TimeoutError:
        hint = "does it answer every request, and say where its answer ends?"
        clause = "the text above: the suite's core scenarios hold"
        raise Wrong(
            "nothing that the suite could end with, in time", clause, hint, "late"
        ) from None
    except RuntimeError as trouble:
        raise NotStarted(f"the conformance suite: {trouble}") from None


def _lines(report: Report) -> list[str]:
    return [f"{each.scenario:<44} {_told(each)}" for each in report.results]


def _told(result: Result) -> str:
    if result.passed:
        return "holds"
    return f"{'holds; but ' if holds(result) else ''}{result.why()}"
