"""Environments beside the course's own: made by one command, once, by whoever comes first."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import missing
from workbench import environments, hands, node

PIN = re.compile(r"^([A-Za-z0-9._-]+)==([\w.!+]+)(?: ;.*)?$")
TINY = "\n".join(["typing-extensions==4.16.0", "    --hash=sha256:" + "0" * 64])


def pins(name: str) -> dict[str, str]:
    """{"mcp": "2.1.1", ...} of one file; each pin is exact, and has a hash."""
    text = (environments.PINS / f"{name}.txt").read_text()
    entries = re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]
    assert entries and all(re.search(r"--hash=sha256:[0-9a-f]{64}", entry) for entry in entries)
    assert "://" not in text and set(re.findall(r"--[\w-]+", text)) == {"--hash"}
    found = [PIN.match(entry.splitlines()[0].removesuffix(" \\")) for entry in entries]
    return {pin[1]: pin[2] for pin in found if pin}


@pytest.mark.parametrize(
    ("name", "direct", "how_many"),
    [
        ("chapter", {"mcp": "2.1.1", "mcp-types": "2.1.1"}, 30),  # 28, Windows and a browser apart
        ("bench", {"fastmcp": "4.2.3", "mcp": "2.3.0"}, 64),
    ],
)
def test_python_pins_are_whole_and_exact(name: str, direct: dict[str, str], how_many: int) -> None:
    found = pins(name)
    assert direct.items() <= found.items() and len(found) == how_many


@pytest.mark.parametrize(
    ("folder", "asked"),
    [
        (node.CHAPTER, {"@modelcontextprotocol/sdk": "1.30.0", "zod": "3.25.76"}),
        (environments.PINS / "inspector", {"@modelcontextprotocol/inspector": "2.12.0"}),
    ],
)
def test_npm_pins_are_exact_hashed_and_without_an_address(folder: Path, asked: dict) -> None:
    package = json.loads((folder / "package.json").read_text())
    lock = json.loads((folder / "package-lock.json").read_text())["packages"]
    assert package["dependencies"] == lock[""]["dependencies"] == asked
    held = [entry for place, entry in lock.items() if place]
    assert all(entry["integrity"].startswith("sha512-") for entry in held)
    assert not any("resolved" in entry for entry in held)
    for name, version in {**asked, **package.get("overrides", {})}.items():
        assert lock[f"node_modules/{name}"]["version"] == version


def test_todays_typescript_asks_for_what_the_repository_has() -> None:
    asked = json.loads((hands.TYPESCRIPT / "package.json").read_text())["dependencies"]
    has = json.loads((node.ROOT / "package.json").read_text())["dependencies"]
    assert asked.items() <= has.items()
    manifest = (node.ROOT / "pyproject.toml").read_text()
    for place in node.PLACES:
        for file in ("package.json", "package-lock.json"):
            assert f'file = "{(place / file).relative_to(node.ROOT).as_posix()}"' in manifest


@pytest.mark.parametrize("name", ["chapter", "bench"])
def test_what_is_installed_is_what_is_pinned(name: str) -> None:
    if not (state := environments.python_ready(name)):
        missing(state.why)
    lists = "import importlib.metadata as m, json;"
    lists += "print(json.dumps([(d.name.lower(), d.version) for d in m.distributions()]))"
    ran = subprocess.run(
        [environments.python(name), "-I", "-c", lists], capture_output=True, check=True
    )
    installed = {re.sub(r"[-_.]+", "-", name): version for name, version in json.loads(ran.stdout)}
    assert installed.items() <= pins(name).items()  # and neither pip nor anything else
    assert len(installed) == {"chapter": 28, "bench": 62}[name]


# --- made once, by one command ---


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of its own, with one environment, `tiny`, that asks for nothing yet."""
    (tmp_path / "tiny.txt").write_text("# nothing\n")
    monkeypatch.setattr(environments, "FOLDER", tmp_path / "made")
    tiny = environments.Parts(tmp_path / "tiny.txt")
    monkeypatch.setattr(environments, "ENVIRONMENTS", {"tiny": tiny})
    return tmp_path


@pytest.fixture
def no_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    found = shutil.which
    without = lambda name, **how: None if name == "uv" else found(name, **how)  # noqa: E731
    monkeypatch.setattr(environments.shutil, "which", without)


def packages(python: Path) -> list[str]:
    """What is installed beside it."""
    lists = "import importlib.metadata as m; print(*sorted(d.name for d in m.distributions()))"
    ran = subprocess.run([python, "-I", "-c", lists], capture_output=True, check=True, text=True)
    return ran.stdout.split()


def test_venv_and_pip_do_where_uv_is_missing_and_leave_no_pip(place: Path, no_uv: None) -> None:
    assert not environments.ready("tiny")
    assert packages(environments.ensure("tiny")) == []
    assert environments.ready("tiny")


@pytest.fixture
def quick(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A command in place of venv and pip that takes a moment; the log of its runs."""
    log, python = place / "runs.log", environments.python("tiny")
    code = f"""
import pathlib, time
open({str(log)!r}, "a").write("run\\n")
time.sleep(0.3)
pathlib.Path({str(python.parent)!r}).mkdir(parents=True)
pathlib.Path({str(python)!r}).touch()
"""
    monkeypatch.setattr(environments, "_commands", lambda *_: [[sys.executable, "-c", code]])
    return log


def test_several_at_once_make_it_once(quick: Path) -> None:
    threads = [threading.Thread(target=environments.ensure, args=("tiny",)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert quick.read_text() == "run\n" and environments.ready("tiny")


def test_other_pins_make_it_again(place: Path, quick: Path) -> None:
    environments.ensure("tiny")
    environments.ensure("tiny")
    (place / "tiny.txt").write_text("# nothing, in other words\n")
    assert "`uv run python -m workbench environment tiny`" in environments.ready("tiny").why
    environments.ensure("tiny")
    assert quick.read_text() == "run\nrun\n"


@pytest.mark.parametrize("with_uv", [True, False], ids=["uv", "pip"])
def test_a_failure_is_one_line_and_leaves_nothing_that_looks_ready(
    place: Path, request: pytest.FixtureRequest, with_uv: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody listens at the index that is set: the same as no network, and as quick."""
    if not with_uv:
        request.getfixturevalue("no_uv")
    elif not shutil.which("uv", path=node.search_path()):
        missing("no uv on PATH; `pip install uv` brings it")
    (place / "tiny.txt").write_text(TINY.replace("\n", " \\\n"))
    nowhere = "http://127.0.0.1:9/simple"
    for name in ("UV_INDEX_URL", "UV_DEFAULT_INDEX"):
        monkeypatch.setenv(name, nowhere)
    monkeypatch.setenv("UV_NO_CACHE", "1")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(environments.EnvironmentUnavailable) as trouble:
        environments.ensure("tiny", timeout=60)
    assert "cannot make 'tiny' now" in str(trouble.value) and "\n" not in str(trouble.value)
    assert not environments.ready("tiny")


def test_a_tool_that_hangs_is_ended(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hangs = [[sys.executable, "-c", "import time; time.sleep(60)"]]
    monkeypatch.setattr(environments, "_commands", lambda *_: hangs)
    with pytest.raises(environments.EnvironmentUnavailable, match="did not finish in 1 s"):
        environments.ensure("tiny", timeout=1)


def test_a_wrong_name_names_the_right_ones(capsys: pytest.CaptureFixture[str]) -> None:
    from workbench.__main__ import main

    with pytest.raises(ValueError, match="chapter, bench, inspector"):
        environments.ready("chapters")
    with pytest.raises(SystemExit):
        main(["environment", "chapters"])
    assert "no environment is called chapters" in capsys.readouterr().err
    with pytest.raises(ValueError, match="typescript-v1"):
        hands.command("typescripts")


def test_the_command_says_where_each_is(place: Path, quick: Path, monkeypatch: Any, capsys) -> None:
    from workbench.__main__ import main

    monkeypatch.setattr(node, "ROOT", place)
    assert main(["environment"]) == 0
    assert capsys.readouterr().out.startswith("made/tiny/")


def test_a_hand_that_is_not_here_says_so_in_one_line(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environments, "ENVIRONMENTS", {"chapter": environments.Parts(place)})
    monkeypatch.setattr(environments, "_wanted", lambda _: "this")
    monkeypatch.setattr(node, "search_path", lambda: str(place))
    assert hands.here("bare", "python", "python-chapter", "typescript") == ["bare", "python"]
    assert capsys.readouterr().out.splitlines() == [
        "without python-chapter: not installed; "
        "`uv run python -m workbench environment chapter` brings it",
        "without typescript: Node is not here",
    ]
