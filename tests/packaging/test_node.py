"""Node's parts: found, compared with their lock, installed once, and run without a network."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from workbench import node

LOCK = {
    "packages": {
        "": {"name": "kit"},
        "node_modules/a": {"version": "1.0.0"},
        "node_modules/only-on-windows": {"version": "2.0.0", "optional": True},
    }
}


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    """A folder with a manifest, and nothing installed."""
    (tmp_path / "package.json").write_text("{}")
    (tmp_path / "package-lock.json").write_text(json.dumps(LOCK))
    (tmp_path / ".npmrc").write_text("")
    return tmp_path


def install(folder: Path, version: str = "1.0.0") -> None:
    """What `npm ci` leaves behind."""
    (folder / "node_modules" / "a").mkdir(parents=True)
    (folder / "node_modules" / "a" / "package.json").write_text("{}")
    installed = {"packages": {"node_modules/a": {"version": version}}}
    (folder / "node_modules" / ".package-lock.json").write_text(json.dumps(installed))


@pytest.fixture
def fake_npm(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put a shell script in npm's place; it logs each run to runs.log beside it."""
    folder = tmp_path_factory.mktemp("bin")

    def script(body: str) -> Path:
        for name in ("node", "npm", "npx"):
            file = folder / name
            file.write_text(f"#!/bin/sh\necho run >> {folder}/runs.log\n{body}\n")
            file.chmod(0o755)
        monkeypatch.setattr(node, "search_path", lambda: f"{folder}{os.pathsep}{os.defpath}")
        return folder / "runs.log"

    return script


FAKE_INSTALL = """\
mkdir -p node_modules/a && echo '{}' > node_modules/a/package.json
echo '{"packages": {"node_modules/a": {"version": "1.0.0"}}}' > node_modules/.package-lock.json
"""


def test_the_environment_comes_before_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in node.Tools._fields:
        (tmp_path / name).touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(node.sysconfig, "get_path", lambda _: str(tmp_path / "none"))
    assert node.find().npx == str(tmp_path / "npx")
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "npx").touch(0o755)
    monkeypatch.setattr(node.sysconfig, "get_path", lambda _: str(tmp_path / "env"))
    assert node.find() == (
        str(tmp_path / "node"),
        str(tmp_path / "npm"),
        str(tmp_path / "env" / "npx"),
    )


def test_no_node_is_one_clear_line(kit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "search_path", lambda: str(kit))
    with pytest.raises(node.NodeUnavailable, match="node, npm, npx not found") as trouble:
        node.ensure(kit)
    assert "\n" not in str(trouble.value)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda kit: None, "holds all 1 packages"),
        (lambda kit: shutil.rmtree(kit / "node_modules"), "missing or unfinished"),
        (lambda kit: (kit / "node_modules/.package-lock.json").write_text("{"), "unfinished"),
        (lambda kit: (kit / "node_modules/a/package.json").unlink(), "a has lost its files"),
        (lambda kit: (shutil.rmtree(kit / "node_modules"), install(kit, "0.9")), "0.9, not 1.0.0"),
        (lambda kit: (kit / "package-lock.json").unlink(), "unfinished"),
    ],
)
def test_ready_says_what_is_wrong(kit: Path, spoil: Any, why: str) -> None:
    install(kit)
    spoil(kit)
    state = node.ready(kit)
    assert bool(state) is ("holds all" in why)
    assert why in state.why


def test_what_is_ready_starts_no_process(kit: Path, fake_npm: Any) -> None:
    log = fake_npm("exit 1")
    install(kit)
    assert node.ensure(kit) == kit / "node_modules"
    assert not log.exists()


def test_several_at_once_install_once(kit: Path, fake_npm: Any) -> None:
    log = fake_npm("sleep 0.3\n" + FAKE_INSTALL)
    install(kit, "0.9")
    threads = [threading.Thread(target=node.ensure, args=(kit,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert node.ready(kit)
    assert log.read_text() == "run\n"
    assert not (kit / ".npm-staging").exists()


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (
            "printf 'npm error %s\\n' 'code EAI_AGAIN' 'request to there failed' more >&2; exit 1",
            "npm ci failed: request to there failed",
        ),
        ("exit 7", "npm ci failed: exit code 7"),
        ("exit 0", "npm ci ended well, but node_modules is missing"),
    ],
)
def test_a_failed_install_is_one_line_and_keeps_the_old(
    kit: Path, fake_npm: Any, body: str, line: str
) -> None:
    fake_npm(body)
    install(kit, "0.9")
    with pytest.raises(node.NodeUnavailable) as trouble:
        node.ensure(kit)
    assert str(trouble.value).startswith(line) and "\n" not in str(trouble.value)
    assert (kit / "node_modules" / "a" / "package.json").exists()
    assert not (kit / ".npm-staging").exists()


def test_an_install_that_hangs_is_ended_with_its_children(kit: Path, fake_npm: Any) -> None:
    fake_npm("sleep 60 & sleep 60")
    start = time.monotonic()
    with pytest.raises(node.NodeUnavailable, match="did not finish"):
        node.ensure(kit, timeout=0.5)
    assert time.monotonic() - start < 10


def test_node_py_needs_the_standard_library_only(repo: Path) -> None:
    """The build hook loads it by path where nothing is installed."""
    code = f"import runpy; runpy.run_path({str(repo / 'workbench' / 'node.py')!r})"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)


@pytest.mark.parametrize("version", ["editable", "standard"])
def test_the_build_hook_warns_and_never_fails(
    kit: Path, repo: Path, fake_npm: Any, capfd: pytest.CaptureFixture[str], version: str
) -> None:
    build = node_hook(repo)
    (kit / "workbench").mkdir()
    shutil.copy(repo / "workbench" / "node.py", kit / "workbench")
    # The hook's copy of node.py finds npm by itself; a lock that no npm can read makes it fail.
    (kit / "package-lock.json").write_text("{")
    build.NodeParts(str(kit), {}, None, None, "", "wheel").initialize(version, {})
    warned = f"npm parts in {kit} are not installed" in capfd.readouterr().err
    assert warned is (version == "editable")


def node_hook(repo: Path) -> Any:
    import importlib.util

    spec = importlib.util.spec_from_file_location("hatch_build", repo / "hatch_build.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_npx_runs_the_installed_server_with_no_network(repo: Path, node_parts: Path) -> None:
    unshare = ["unshare", "--net"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody cut the network for one process")
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"},
        },
    }
    done = subprocess.run(
        [*unshare, "npx", "@modelcontextprotocol/server-everything", "stdio"],
        cwd=repo,
        env=node.env(),
        input=json.dumps(hello).encode() + b"\n",
        capture_output=True,
        timeout=60,
        check=True,
    )
    answer = json.loads(done.stdout.splitlines()[0])
    assert answer["id"] == 1
    assert answer["result"]["protocolVersion"] == "2025-11-25"


def test_npx_says_at_once_when_a_part_is_missing(tmp_path: Path, node_parts: Path) -> None:
    start = time.monotonic()
    done = subprocess.run(
        ["npx", "--yes", "@modelcontextprotocol/no-such-server"],
        cwd=tmp_path,
        env=node.env(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode and b"ENOTCACHED" in done.stderr
    assert time.monotonic() - start < 20
