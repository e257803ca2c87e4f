"""An exercise in the page of JupyterLab, as a learner works: locked cells, a wrong answer and what
it is told, the right answer, the points, and "run all" with stages still unwritten.
"""

import re
import shutil

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook

pytestmark = pytest.mark.timeout(180)

NAME = "01_frame_and_parse.ipynb"
CHECK, TALLY = '@check("frame"', "tally("
HEAD = "# Stage frame: one message as one line of bytes.\ndef frame(message):\n"
TEXT = f'{HEAD}    return json.dumps(message) + "\\n"'
RIGHT = f'{HEAD}    return json.dumps(message).encode() + b"\\n"'


@pytest.fixture(scope="module")
def exercise(lab, open_notebook, repo) -> Notebook:
    """The released notebook, open; its imports and its constants were run."""
    shutil.copy(repo / "exercises" / "ch26" / NAME, lab.root / NAME)
    opened = open_notebook(NAME)
    opened.run_cell("from workbench.checks")
    opened.run_cell("# Given")
    return opened


def write(exercise: Notebook, text: str) -> None:
    """Put this in place of what stands in the cell of stage `frame`, and run it."""
    exercise.cell("# Stage frame:").locator(".cm-content").click()
    exercise.page.keyboard.press("Control+a")
    exercise.page.keyboard.insert_text(text)
    exercise.page.keyboard.press("Shift+Enter")
    exercise.wait_idle()


def run(exercise: Notebook, cell: str) -> Locator:
    """Run a cell; what it says."""
    return exercise.run_cell(cell).locator(".jp-OutputArea-output")


def parts(said: Locator) -> dict[str, str]:
    """A message's parts by their labels, each on one line."""
    text = re.sub(r"\n +", " ", said.inner_text())
    return dict(re.findall(r"^([\w ]+): +(.*)$", text, re.MULTILINE))


def test_a_stage_is_worked_through(exercise):
    """Not run, wrong, right, changed: each time the page says where the learner is."""
    expect(run(exercise, CHECK)).to_contain_text("Not written yet, or not run")
    write(exercise, TEXT)
    said = run(exercise, CHECK)
    expect(said).to_contain_text("Stage frame does not pass yet.")
    told = parts(said)
    assert list(told) == ["You sent", "The clause wants", "Try"]
    assert told["You sent"].startswith("str, not bytes: ") and "tools/list" in told["You sent"]
    assert told["The clause wants"].endswith("(basic/transports/stdio)")
    assert "Traceback" not in said.inner_text() and "json.dumps" not in said.inner_text()
    expect(run(exercise, TALLY)).to_contain_text("0 of 11 points by the visible checks.")
    write(exercise, RIGHT)
    expect(run(exercise, CHECK)).to_have_text("stage frame: the visible checks pass (2 points)\n")
    said = run(exercise, TALLY)
    expect(said).to_contain_text("2 of 11 points by the visible checks.")
    expect(said).to_contain_text("Left: split, kind, mend, spot.")
    write(exercise, f"{RIGHT}  # and more")
    expect(run(exercise, TALLY)).to_contain_text("changed since its check: run the check again")


def test_a_message_is_wrapped_where_the_window_is_narrow(exercise):
    write(exercise, TEXT)
    said = run(exercise, CHECK)
    exercise.page.set_viewport_size({"width": 760, "height": 800})
    exercise.page.wait_for_function(
        "output => output.clientWidth < 700", arg=said.element_handle(), timeout=15_000
    )
    wide, visible = said.locator("pre").evaluate("it => [it.scrollWidth, it.clientWidth]")
    exercise.page.set_viewport_size({"width": 1280, "height": 720})
    assert wide <= visible


def test_what_is_not_the_learners_is_locked(exercise):
    """No key changes a check, a constant or an import, and none deletes a cell; a stage can be
    written in."""
    count = "() => window.jupyterapp.shell.currentWidget.content.widgets.length"
    cells = exercise.page.evaluate(count)
    mine = {
        "import json": False,
        "# Given": False,
        CHECK: False,
        TALLY: False,
        "# Stage split": True,
    }
    for text, may_be_written in mine.items():
        source = exercise.cell(text).locator(".cm-content")
        before = source.inner_text()
        source.click()
        for key in ("Control+End", "#", "Escape", "d", "d"):
            exercise.page.keyboard.press(key)
        assert exercise.page.evaluate(count) == cells, f"{text} was deleted"
        assert (source.inner_text() != before) == may_be_written, text


def test_run_all_gets_to_the_end(exercise):
    """After a restart, with one stage written: the stages below have their turn, and the tally."""
    write(exercise, RIGHT)
    exercise.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )
    exercise.wait_idle()
    exercise.run_all()
    expect(exercise.cell(TALLY).locator(".jp-OutputArea-output")).to_contain_text("2 of 11 points")
    spot = exercise.cell('@check("spot"').locator(".jp-OutputArea-output")
    expect(spot).to_contain_text("Not written yet")
