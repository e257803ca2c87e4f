"""The toolkit runs where nothing is installed, and imports go one way (design, "The house")."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLKIT = sorted((ROOT / "mcp_bare").rglob("*.py"))
TOYS = sorted((ROOT / "toy_servers").rglob("*.py"))
BY_HAND = {"calendar_by_hand.py", "rude.py"}
WITH_AN_SDK = {"incidents_sdk.py", "incidents_fastmcp.py", "failing/sdk.py", "failing/fast.py"}
"""Servers that are there to be compared with ours."""
OF_AN_SDK = {"fastmcp", "mcp", "mcp_types", "pydantic", "typing_extensions", "uvicorn"}
FOR_THE_CLASSROOM = {"workbench.charts", "workbench.checks"}
"""The checks are one and the same in a notebook and in a grader, and so is how a chart looks."""
BARE = [sys.executable, "-I", "-S", "-c"]


def run(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    """In an interpreter that sees the standard library and the clone, and nothing else."""
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
    return subprocess.run(
        [*BARE, start + code, *words], capture_output=True, text=True, timeout=60, check=False
    )


def named(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imported(path: Path) -> set[str]:
    """The top-level names that a file imports, wherever in it; type checkers' imports too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0] if node.level == 0 else "mcp_bare")
    return found


def test_every_module_is_imported_with_nothing_installed():
    names = [named(path) for path in TOOLKIT if path.name != "__main__.py"]
    ran = run(
        "import importlib, json\n"
        "for name in json.loads(sys.argv[1]): importlib.import_module(name)\n"
        "files = [getattr(m, '__file__', None) or '' for m in list(sys.modules.values())]\n"
        "print(json.dumps([file for file in files if 'site-packages' in file]))",
        json.dumps(names),
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout) == []


@pytest.mark.parametrize("answer", ["--answer", "--decline"])
def test_calendar_by_hand_runs_through_the_command_line_with_nothing_installed(answer):
    given = ['{"startsAt": "2026-09-10T08:30:00Z"}'] if answer == "--answer" else []
    ran = run(
        "import runpy; sys.argv[0] = 'mcp_bare'; "
        "runpy.run_module('mcp_bare', run_name='__main__', alter_sys=True)",
        *("call", "create_event", '{"title": "Dentist"}', answer, *given),
        *("--", sys.executable, "-I", "-S", str(ROOT / "toy_servers" / "calendar_by_hand.py")),
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    said = "Created e3: Dentist at 2026-09-10T08:30:00Z" if given else "Nothing was created"
    assert "".join(said.split()) in "".join(ran.stdout.split())  # wherever it is wrapped
    assert [line[0] for line in ran.stdout.splitlines() if line[0] in "→←"] == ["→", "←", "→", "←"]


@pytest.mark.parametrize("path", TOOLKIT, ids=named)
def test_the_toolkit_imports_the_standard_library_and_itself(path):
    assert imported(path) <= sys.stdlib_module_names | {"mcp_bare"}


@pytest.mark.parametrize("path", TOYS, ids=named)
def test_a_toy_server_imports_no_more_than_the_toolkit(path):
    allowed = set() if path.name in BY_HAND else {"mcp_bare", "toy_servers"}
    if path.relative_to(ROOT / "toy_servers").as_posix() in WITH_AN_SDK:
        allowed |= OF_AN_SDK
    assert imported(path) <= sys.stdlib_module_names | allowed


@pytest.mark.parametrize("path", sorted((ROOT / "workbench").rglob("*.py")), ids=named)
def test_the_workbench_does_not_import_the_classroom(path):
    assert "classroom" not in imported(path)


@pytest.mark.parametrize("path", sorted((ROOT / "classroom").rglob("*.py")), ids=named)
def test_the_classroom_imports_checks_and_charts_and_no_more_of_the_workbench(path):
    names = {
        ".".join(node.module.split(".")[:2])
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("workbench.")
    }
    assert names <= FOR_THE_CLASSROOM
    if not names:
        assert "workbench" not in imported(path)


@pytest.mark.parametrize("path", TOOLKIT, ids=named)
def test_no_module_has_the_name_of_one_of_the_standard_library_s(path):
    assert path.stem in ("__init__", "__main__") or path.stem not in sys.stdlib_module_names
