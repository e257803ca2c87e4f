"""Clients of other hands, run against the incident log: the eleven lines, and the seven.

    clients.printed(bench, "v1", PY)      what the chapter's client prints of it: (tools, handle)
    clients.lingers(V1)                   what becomes of one that does not close

Does not handle: the official Python client; `Bench.official_client` has it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import hands, node, servers
from workbench.ledger.logs import HANDS

if TYPE_CHECKING:
    from workbench.ledger.bench import Bench

PARTS = Path(__file__).with_name("sdk")
PATIENCE = 60.0
LINGER = 1.5


def on_node(script: str, *words: str) -> list[str]:
    """What runs one of the parts beside the SDKs: on_node("ts_client.mjs", "v1", ...)"""
    return [servers.node_itself(node.find().node), str(PARTS / script), *words]


def printed(bench: Bench, line: str, party: str, before: str = "") -> tuple[str, str]:
    """The two lines of the client on this line of the TypeScript SDK, without their labels."""
    words = on_node("ts_client.mjs", line, "close", *hands.command(HANDS[party], before=before))
    env = servers.bare_environment()
    ran = subprocess.run(words, capture_output=True, timeout=PATIENCE, check=True, env=env)
    tools, handle = ran.stdout.decode().splitlines()
    return tools.removeprefix("tools: "), handle.removeprefix("open_incident -> ")


def lingers(party: str) -> str:
    """What the same client does after its last line, if that is not `client.close()`."""
    words = on_node("ts_client.mjs", "v1", "open", *hands.command(HANDS[party]))
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(words, env=servers.bare_environment(), **pipes) as client:
        for _ in "12":
            client.stdout.readline()
        try:
            client.wait(LINGER)
            return "ended"
        except subprocess.TimeoutExpired:
            client.kill()  # its server ends with its input
            return "still there"
