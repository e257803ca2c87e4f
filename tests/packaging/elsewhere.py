"""Builds notebooks where there is no Node: another venv on the same packages, with its own PATH.

Does not handle: taking away anything else, or writing a notebook.
"""

import json
import os
import subprocess
import sysconfig
import venv
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
    """One notebook: its text and what its cells printed, or what was complained of."""

    text: str = ""
    printed: str = ""
    complaint: str = ""


def run(folder: Path, root: Path, names: list[str]) -> dict[str, Ran]:
    """Make it in `folder`, and run these notebooks of the course at `root`, two at a time."""
    venv.create(folder, symlinks=True)
    base = {"base": str(folder), "platbase": str(folder)}
    purelib = Path(sysconfig.get_path("purelib", "venv", base))
    (purelib / "kit.pth").write_text(f"{root}\n{sysconfig.get_path('purelib')}\n")
    bins, out = folder / "bin", folder / "ran.json"
    done = subprocess.run(
        [bins / "python", "-c", BUILD, root, out, *names],
        env={**os.environ, "PATH": str(bins)},
        capture_output=True, timeout=SECONDS, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    made, complaints = json.loads(out.read_text(encoding="utf-8"))
    failed = Ran(complaint="\n".join(complaints))
    return {name: _ran(made[name]) if name in made else failed for name in names}


def _ran(text: str) -> Ran:
    outputs = [
        output
        for cell in nbformat.reads(text, as_version=4).cells
        for output in cell.get("outputs", [])
    ]
    return Ran(text, "".join(output.get("text", "") for output in outputs))
