"""The suite is pinned with all that it brings, and the build installs it."""

import json
import tomllib

from workbench import exam, node, suite


def test_one_version_exactly(conformance):
    package = json.loads((node.CONFORMANCE / "package.json").read_text())
    assert package["devDependencies"] == {suite.PACKAGE: "0.2.0-alpha.12"}
    installed = node.CONFORMANCE / "node_modules" / suite.PACKAGE / "package.json"
    assert json.loads(installed.read_text())["version"] == exam.version() == "0.2.0-alpha.12"


def test_the_lock_has_a_hash_for_each_and_no_address():
    lock = json.loads((node.CONFORMANCE / "package-lock.json").read_text())["packages"]
    held = [entry for place, entry in lock.items() if place]
    assert len(held) > 90
    assert all(entry["integrity"].startswith("sha512-") for entry in held)
    assert not any("resolved" in entry for entry in held)
    same = (node.ROOT / ".npmrc").read_text()
    assert (node.CONFORMANCE / ".npmrc").read_text() == same


def test_the_build_installs_it_and_looks_again_when_it_changes():
    assert node.CONFORMANCE in node.PLACES
    project = tomllib.loads((node.ROOT / "pyproject.toml").read_text())
    watched = {key["file"] for key in project["tool"]["uv"]["cache-keys"]}
    for place in node.PLACES:
        folder = place.relative_to(node.ROOT)
        assert {(folder / name).as_posix() for name in node.MANIFEST[:2]} <= watched
