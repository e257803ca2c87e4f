"""What is compared, and how each is started.

    ours        mcp_bare                                    the standard library
    mcp         the official Python SDK, 2.3.0              the course's environment
    fastmcp     4.2.3                                       `python -m workbench environment bench`
    typescript  @modelcontextprotocol/server 2.4.0          node_modules, run by Node itself
    floor       no server: fixed bytes as soon as a line is whole; what the client and the
                operating system cost, whoever answers

Does not handle: talking to them (`pipe`, `http_load`).
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from workbench import environments, node, servers

HERE = Path(__file__).resolve().parent / "servers"
OURS, FLOOR, PYTHON_SDK, FASTMCP, TYPESCRIPT = "ours", "floor", "mcp", "fastmcp", "typescript"


@dataclass(frozen=True)
class Stack:
    """One of the compared, ready to start."""

    name: str
    interpreter: str
    script: Path

    def command(self, wire: str, fillers: int = 0) -> list[str]:
        """What starts its server: over "stdio" or "http", with so many tools beside the two."""
        return [self.interpreter, str(self.script), wire, str(fillers)]


def available() -> tuple[list[Stack], dict[str, str]]:
    """Those that can run here, and why the others cannot (one line each)."""
    found = [Stack(OURS, sys.executable, HERE / "ours.py")]
    absent: dict[str, str] = {}
    try:
        import mcp  # noqa: F401

        found.append(Stack(PYTHON_SDK, sys.executable, HERE / "sdk.py"))
    except ImportError:
        absent[PYTHON_SDK] = "the Python SDK is not in this environment"
    if state := environments.python_ready("bench"):
        found.append(Stack(FASTMCP, str(environments.python("bench")), HERE / "fast.py"))
    else:
        absent[FASTMCP] = state.why
    try:
        node.ensure()
        program = servers.node_itself(node.find().node)
        found.append(Stack(TYPESCRIPT, program, HERE / "ts.mjs"))
    except node.NodeUnavailable as trouble:
        absent[TYPESCRIPT] = str(trouble)
    return found, absent


def floor() -> Stack:
    """The answer that costs nothing to find."""
    return Stack(FLOOR, sys.executable, HERE / "floor.py")


def versions(stacks: list[Stack]) -> dict[str, str]:
    """What each of them is, as its own interpreter says."""
    asks = {
        PYTHON_SDK: ["-c", "from importlib.metadata import version as v; print(v('mcp'))"],
        FASTMCP: ["-c", "from importlib.metadata import version as v; print(v('fastmcp'))"],
        TYPESCRIPT: [
            "-p",
            "JSON.parse(fs.readFileSync('node_modules/@modelcontextprotocol/server/package.json'))"
            ".version + ' on Node ' + process.versions.node",
        ],
    }
    found = {OURS: "this repository"}
    for stack in stacks:
        if stack.name in asks:
            words = [stack.interpreter, *asks[stack.name]]
            ran = subprocess.run(words, cwd=node.ROOT, capture_output=True, timeout=60, text=True)
            found[stack.name] = ran.stdout.strip()
    return found
