"""Commands, messages and clients that the tests of the wire have in common."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

from mcp_bare.client import Client
from mcp_bare.stdio import StdioTransport

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LAB = [sys.executable, str(HERE / "lab.py")]
NAIVE = [sys.executable, str(HERE / "naive.py")]
PATIENCE = 30.0  # far more than anything here takes: what waits that long, hangs

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def rude(fault):
    """The command of the rude server with this fault."""
    return [sys.executable, str(ROOT / "toy_servers" / "rude.py"), fault]


def environment(**more):
    """An environment in which scripts find the toolkit, and the text layer is strict UTF-8."""
    strict = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8:strict"}
    return {**os.environ, **strict, **more}


def open_client(command, **options):
    """A client of ours on a real process."""
    how = {name: options.pop(name) for name in ("grace", "write_timeout") if name in options}
    transport = StdioTransport(command, env=environment(), **how)
    return Client(transport, **{"timeout": PATIENCE, **options})


def say(id, method, params=None):
    """One request line, with the metadata that every request carries."""
    params = {**(params or {}), "_meta": META}
    return line({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def call(id, tool, **arguments):
    return say(id, "tools/call", {"name": tool, "arguments": arguments})


def line(message):
    return json.dumps(message).encode() + b"\n"


def exchange(command, given, **env):
    """Feed a server everything, end its input, and take its output apart."""
    done = run(command, given, **env)
    return [json.loads(one) for one in done.stdout.split(b"\n") if one], done


def run(command, given, **env):
    return subprocess.run(
        command, input=given, capture_output=True, env=environment(**env), timeout=PATIENCE
    )


def text_of(result):
    return result["content"][0]["text"]


def gone(pid, patience=PATIENCE):
    """Whether a process has ended (a zombie has); waits a while for it."""
    return eventually(lambda: not psutil.pid_exists(pid) or is_zombie(pid), patience)


def is_zombie(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def eventually(true, patience=PATIENCE):
    """Wait until it is true; False where it never is."""
    deadline = time.monotonic() + patience
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def ours():
    """Every process that descends from this test run, whoever its parent is by now."""
    found = set()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("MCP_BARE_TEST_RUN") == os.environ["MCP_BARE_TEST_RUN"]:
                found.add(process)
    return found
