"""Builds notebooks with another Python, one that has no Node: what they say there.

Does not handle: making that environment, or writing a notebook.
"""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import nbformat

SECONDS = 400  # all notebooks together
BUILD = """
import asyncio, json, sys
root, out, *names = sys.argv[1:]
sys.path.insert(0, root)
from pathlib import Path
from sources import build
from workbench import node
made = {}
def keep(root, path, text):
    made[build.shown(path)] = text
    return []
try:
    sys.exit(f"there is a Node in an environment that was made without one: {node.find()}")
except node.NodeUnavailable:
    complaints = asyncio.run(build.each(Path(root), names, 2, keep))
    Path(out).write_text(json.dumps([made, complaints]))
"""


@dataclass(frozen=True)
class Ran:
    """One notebook: its text, what its cells printed, and why it did not come to its end."""

    text: str = ""
    printed: str = ""
    complaint: str = ""


def run(python: Path, root: Path, names: list[str]) -> dict[str, Ran]:
    """Run these notebooks of the course at `root`, two at a time."""
    out = python.parent / "ran.json"
    done = subprocess.run(
        [python, "-c", BUILD, root, out, *names],
        env={**os.environ, "PATH": str(python.parent)},
        capture_output=True, timeout=SECONDS, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    made, complaints = json.loads(out.read_text(encoding="utf-8"))
    failed = {name: next((c for c in complaints if c.startswith(f"{name}:")), "") for name in names}
    assert len(complaints) == len(list(filter(None, failed.values()))), complaints
    return {
        name: Ran(made[name], _printed(made[name])) if name in made else Ran(complaint=failed[name])
        for name in names
    }


def _printed(text: str) -> str:
    found = nbformat.reads(text, as_version=4)
    outputs = [each for cell in found.cells for each in cell.get("outputs", [])]
    return "".join(output.get("text", "") for output in outputs)
