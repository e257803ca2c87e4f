"""The README says what is so: its table, its commands, its transcripts."""

import re
import subprocess
import sys

import nbformat
import pytest

from workbench import course, node


@pytest.fixture(scope="module")
def readme() -> str:
    return (node.ROOT / "README.md").read_text(encoding="utf-8")


def test_its_table_is_the_course(readme):
    assert course.markdown() in readme


def test_every_notebook_is_in_the_course_and_the_other_way_round():
    found = {
        path.relative_to(node.ROOT / "notebooks").with_suffix("").as_posix()
        for path in (node.ROOT / "notebooks").rglob("*.ipynb")
        if ".ipynb_checkpoints" not in path.parts
    }
    assert found == {path for path, _, _ in course.COURSE}


@pytest.mark.parametrize(
    ("path", "minutes"), [(path, minutes) for path, _, minutes in course.COURSE]
)
def test_minutes_are_those_that_the_notebook_states(path, minutes):
    nb = nbformat.read(node.ROOT / "notebooks" / f"{path}.ipynb", as_version=4)
    stated = re.search(r"(\d+)\s+minutes\s+to\s+read(?:,\s+(\d+)\s+to\s+do)?", nb.cells[0].source)
    assert stated, "a notebook says under its title how long it takes"
    assert int(stated[1]) + int(stated[2] or 0) == minutes


def test_the_probe_prints_what_the_readme_shows(readme):
    shown = readme.split("$ python -m mcp_bare probe -- python toy_servers/calendar_by_hand.py\n")[
        1
    ]
    command = ["-m", "mcp_bare", "probe", "--", sys.executable, "toy_servers/calendar_by_hand.py"]
    ran = subprocess.run(
        [sys.executable, *command], cwd=node.ROOT, capture_output=True, timeout=30, text=True
    )
    assert ran.stdout == shown.split("```")[0]


def test_the_server_in_a_few_lines_serves(readme, tmp_path):
    from mcp_bare.client import Client
    from mcp_bare.stdio import StdioTransport

    code = next(
        part for part in re.findall(r"```python\n(.*?)```", readme, re.S) if "serve" in part
    )
    (tmp_path / "clock.py").write_text(code)
    command = [sys.executable, str(tmp_path / "clock.py")]
    with Client(StdioTransport(command, cwd=node.ROOT)) as client:
        assert client.call_tool("now")["content"][0]["text"] == "2026-09-07T09:00:00Z"
