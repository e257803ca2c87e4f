"""With Node taken away every notebook of chapter 26 runs, and says in a line what it shows instead.

The environment is a real one without Node: another venv on the same packages, with its own PATH.
"""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from workbench import course, node

NEEDS_NODE = {"ch26/03_which_era_is_this", "ch26/08_what_a_server_costs"}
LABEL = "Node is not here: this is the tape recorded on "
RUN = """
import asyncio, json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from sources import build
from workbench import node
try:
    node.find()
except node.NodeUnavailable:
    (text,) = asyncio.run(build.build(Path(sys.argv[1]), sys.argv[2])).values()
    print(json.dumps(json.loads(text)["cells"]))
"""
CHAPTER = [path for path, _, _ in course.COURSE if not path.startswith("ch27/")]


@pytest.fixture(scope="module")
def python_without_node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("no_node")
    venv.create(folder, symlinks=True)
    purelib = sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)})
    Path(purelib, "kit.pth").write_text(f"{sysconfig.get_path('purelib')}\n{node.ROOT}\n")
    return folder / "bin" / "python"


@pytest.mark.parametrize("path", CHAPTER)
def test_a_notebook_runs_to_its_end(python_without_node, path):
    ran = subprocess.run(
        [python_without_node, "-c", RUN, node.ROOT, path],
        env={**os.environ, "PATH": str(python_without_node.parent)},
        capture_output=True,
        timeout=110,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout, "there is a Node in an environment that was made without one"
    printed = "".join(
        "".join(output.get("text", ""))
        for cell in json.loads(ran.stdout)
        for output in cell.get("outputs", [])
    )
    assert (LABEL in printed) == (path in NEEDS_NODE), printed[:2000]
    assert sys.executable not in ran.stdout
