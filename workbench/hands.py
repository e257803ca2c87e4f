"""One incident log in several hands, each started the same way: for notebooks, tests, benchmarks.

    with hands.open("typescript") as client:              over stdio, in the era that it speaks
        client.call_tool("open_incident", {"title": "Disk full", "severity": "sev1"})
    with hands.open("python", http=True) as client:       over HTTP, on a free port
    with hands.open("fastmcp", or_tape=True) as client:   or its recording, where it is not here
    with hands.serve("bare") as url: ...                  over HTTP, for another client
    hands.command("python-chapter")                       the words that start it, for a Popen
    hands.why_not("fastmcp")                              "" where it can run here, else one line

The hands:

    bare             toy_servers/incidents.py, on the toolkit
    python           incidents_sdk.py on the course's mcp, 2.3.0
    python-chapter   the same file on mcp 2.1.1        (`python -m workbench environment chapter`)
    typescript       incidents_ts/incidents.ts on @modelcontextprotocol/server 2.4.0
    typescript-v1    incidents_ts/chapter/incidents.ts on sdk 1.30.0 with zod 3.25.76
    fastmcp          incidents_fastmcp.py on fastmcp 4.2.3 (`python -m workbench environment bench`)

Each starts with two open incidents, INC-1 and INC-2, and with nothing of this process's environment
but PATH. `failing=True` takes the same server with one tool more, `boom`, which fails as a database
client does. `before` puts a line of program in front of a server's own.

Does not handle: installing (`environments`, `node`), measuring (`measure`).
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mcp_bare import era
from mcp_bare.client import Client
from mcp_bare.http_client import HttpTransport
from mcp_bare.stdio import StdioTransport
from workbench import environments, node, recorded, servers
from workbench.replicas import serving

TYPESCRIPT = servers.TOYS / "incidents_ts"
FAILING = servers.TOYS / "failing"
PATIENCE_S = 20.0
"""How long a server may take to start: the slowest needs two seconds on an idle machine."""
PATIENT = {"timeout": PATIENCE_S, "probe_timeout": PATIENCE_S}


@dataclass(frozen=True)
class Hand:
    """What a server is written with, its file, and where its parts are."""

    label: str
    script: Path
    failing: Path
    environment: str = ""  # one of environments.ENVIRONMENTS; "" is the course's own
    npm: Path | None = None  # the folder whose node_modules it needs


SDK, FAILING_SDK = servers.TOYS / "incidents_sdk.py", FAILING / "sdk.py"
V1 = TYPESCRIPT / "chapter"
HANDS = {
    "bare": Hand("by hand", servers.TOYS / "incidents.py", FAILING / "bare.py"),
    "python": Hand("mcp 2.3.0", SDK, FAILING_SDK),
    "python-chapter": Hand("mcp 2.1.1", SDK, FAILING_SDK, environment="chapter"),
    "typescript": Hand(
        "server 2.4.0", TYPESCRIPT / "incidents.ts", TYPESCRIPT / "failing.ts", npm=node.ROOT
    ),
    "typescript-v1": Hand("sdk 1.30.0", V1 / "incidents.ts", V1 / "failing.ts", npm=node.CHAPTER),
    "fastmcp": Hand(
        "fastmcp 4.2.3",
        servers.TOYS / "incidents_fastmcp.py",
        FAILING / "fast.py",
        environment="bench",
    ),
}
"""The hands by name."""


def hand(name: str) -> Hand:
    """One of them. Raises ValueError, naming those that there are."""
    if name not in HANDS:
        raise ValueError(f"no hand is called {name!r}; there are {', '.join(HANDS)}")
    return HANDS[name]


def why_not(name: str) -> str:
    """What is missing to start it, in one line; "" where nothing is."""
    its = hand(name)
    if its.environment:
        state = environments.python_ready(its.environment)
        return "" if state else state.why
    if not its.npm:
        lacks_it = name == "python" and importlib.util.find_spec("mcp") is None
        return "the Python SDK is not here" if lacks_it else ""
    try:
        node.find()
    except node.NodeUnavailable:
        return "Node is not here"
    state = node.ready(its.npm)
    return "" if state else f"the npm parts are not here ({state.why})"


def here(*names: str) -> list[str]:
    """Those of the hands (of all, if none is named) that can run; prints why another cannot."""
    found = []
    for name in names or tuple(HANDS):
        if why := why_not(name):
            print(f"without {name}: {why}")
        else:
            found.append(name)
    return found


def interpreter(name: str) -> str:
    """The program that runs it: a Python, or the node binary itself."""
    its = hand(name)
    if its.npm:
        return servers.node_itself(node.find().node)
    return str(environments.python(its.environment)) if its.environment else sys.executable


def command(name: str, *args: str, before: str = "", failing: bool = False) -> list[str]:
    """What starts it: over stdio, unless args say ("--http", "0")."""
    its = hand(name)
    script = str(its.failing if failing else its.script)
    if not before:
        return [interpreter(name), script, *args]
    if its.npm:
        module = f"data:text/javascript,{quote(before)}"
        return [interpreter(name), "--import", module, script, *args]
    run = f"import runpy; runpy.run_path({script!r}, run_name='__main__')"
    return [interpreter(name), "-c", f"{before}\n{run}", *args]


def environment(folder: str | Path) -> dict[str, str]:
    """What every server is started with; `folder` is where the bare one keeps its log."""
    log = str(Path(folder) / "incidents.sqlite3")
    return {**servers.bare_environment(), "INCIDENTS_DB": log}


@contextlib.contextmanager
def scratch() -> Iterator[str]:
    """A folder for one server, gone after the block."""
    with tempfile.TemporaryDirectory(prefix="hands-", ignore_cleanup_errors=True) as folder:
        yield folder


@contextlib.contextmanager
def serve(name: str, *, failing: bool = False) -> Iterator[str]:
    """Start it over HTTP on a free port; yields its URL, and ends it with the block."""
    with scratch() as folder:
        words = command(name, "--http", "0", failing=failing)
        with serving(words, environment(folder)) as url:
            yield url


@contextlib.contextmanager
def open(
    name: str, *, http: bool = False, failing: bool = False, or_tape: bool = False, **options: Any
) -> Iterator[Client]:
    """A client of a fresh server, in its era; both end with the block. Options are Client's.

    With `or_tape`, what is not here is played as it was recorded, and a line says so.
    """
    with contextlib.ExitStack() as ends:
        if or_tape and (why := why_not(name)):
            played = recorded.play(tape_name(name, failing), f"No {name} ({why})")
            client = _client(played, options)
        elif http:
            url = ends.enter_context(serve(name, failing=failing))
            client = _client(lambda: HttpTransport(url), options)
        else:
            env = environment(ends.enter_context(scratch()))
            client = connect(command(name, failing=failing), env, **options)
        yield ends.enter_context(client)


def live(name: str, failing: bool = False) -> servers.OpenTransport | None:
    """Connections to it over stdio, to be recorded; None where it is not here."""
    if why_not(name):
        return None
    words, env = command(name, failing=failing), servers.bare_environment()
    return lambda: StdioTransport(words, env=env)


def tape_name(name: str, failing: bool = False) -> str:
    """What its tape is called: "incidents_python_chapter_failing"."""
    return "_".join(["incidents", *name.split("-"), *(["failing"] if failing else [])])


def connect(words: Sequence[str], env: Mapping[str, str], **options: Any) -> Client:
    """A client of what these words start; closing it ends the process."""
    return _client(lambda: StdioTransport(words, env=env), options)


def _client(transport: servers.OpenTransport, options: dict[str, Any]) -> Client:
    client, _ = era.connect(transport, **{**PATIENT, **options})
    return client


def why_no_inspector() -> str:
    """What is missing to run the MCP Inspector, in one line; "" where nothing is."""
    if why := why_not("typescript"):
        return why
    state = environments.ready("inspector")
    return "" if state else state.why


def inspector() -> Path:
    """The script of the MCP Inspector, for the node binary. Raises EnvironmentUnavailable."""
    if why := why_no_inspector():
        raise environments.EnvironmentUnavailable(f"no Inspector here: {why}")
    package = environments.PINS / "inspector/node_modules/@modelcontextprotocol/inspector"
    return package / str(
        json.loads((package / "package.json").read_bytes())["bin"]["mcp-inspector"]
    )


def inspect(words: Sequence[str], method: str, protocol_era: str = "auto") -> list[str]:
    """What has the Inspector ask a server one thing and print the answer: no browser, no network.

    Left alone (`protocol_era="legacy"`) it opens with the handshake of the era before.
    """
    asks = ["--cli", "--protocol-era", protocol_era, "--method", method, "--"]
    return [interpreter("typescript"), str(inspector()), *asks, *words]
