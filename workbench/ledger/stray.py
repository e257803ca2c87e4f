"""Claims 27-19 to 27-24: a line on stdout that is no message, where it lands, and who minds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from functools import partial

from mcp_bare import jsonrpc
from workbench import environments, hands, node, raw_stream, servers
from workbench.ledger import clients, logs
from workbench.ledger.abroad import CLIENT
from workbench.ledger.bench import SDK, Bench
from workbench.ledger.claim import Facts, Later, claim
from workbench.ledger.logs import HANDS, OURS, PY, V1, V2

ONE_LINE = "ch27/04_one_stray_line"
BANNER = "incidents server starting"
PYTHON, FLUSHED = f"print({BANNER!r})", f"print({BANNER!r}, flush=True)"
JAVASCRIPT = f"console.log({BANNER!r})"
LISTED = "search_incidents, open_incident, resolve_incident"
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
ASKED = [
    jsonrpc.request(1, "initialize", OPENING),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    jsonrpc.request(2, "tools/list", {}),
]


def position(lines: list[str], line: str = BANNER) -> str:
    """Where a line stands in a stream: "first", "last", "line 2 of 3", or "nowhere"."""
    if line not in lines:
        return "nowhere"
    at = lines.index(line)
    ends = {0: "first", len(lines) - 1: "last"}
    return ends.get(at, f"line {at + 1} of {len(lines)}")


def lands(
    bench: Bench, party: str, before: str, env: Mapping[str, str] | None = None
) -> str | Later:
    """Where the banner comes out of a hand that prints it at its start."""
    if missing := logs.why_not(bench, party):
        return missing
    words = hands.command(HANDS[party], before=before)
    around = {**servers.bare_environment(), **(env or {})}
    return position(raw_stream.talk(words, ASKED, around).out)


@claim(
    "27-19",
    "What a stdio server prints goes into the stream of messages, so it must not print: the "
    "tutorial says so without an if.",
    notebook=ONE_LINE,
    says={
        "printed at the start, Python": "on stdout",
        "printed at the start, TypeScript": "on stdout",
    },
)
def never_print(bench: Bench) -> Facts:
    def start(party: str, before: str) -> str | Later:
        found = lands(bench, party, before)
        return found if isinstance(found, Later) else _on_stdout(found)

    inside = partial(_inside, bench)
    return {
        "printed at the start, Python": start(PY, PYTHON),
        "printed at the start, TypeScript": start(V1, JAVASCRIPT),
        "printed inside a tool, Python": inside(PY),
        "printed inside a tool, TypeScript v1": inside(V1),
        "printed inside a tool, TypeScript v2": inside(V2),
        "printed inside a tool, ours": inside(OURS),
    }


def _on_stdout(where: str) -> str:
    return "not on stdout" if where == "nowhere" else "on stdout"


def _inside(bench: Bench, party: str) -> str | Later:
    """Where a line goes that a tool prints while it runs."""
    if missing := logs.why_not(bench, party):
        return missing
    call = jsonrpc.request(3, "tools/call", {"name": "prints", "arguments": {}})
    asked = [*ASKED, call]
    if party in (V1, V2):
        words = clients.on_node("ts_prints.mjs", {V1: "v1", V2: "v2"}[party])
    else:
        words = [sys.executable, str(SDK / "sdk_prints.py"), HANDS[party]]
    if party == OURS:  # of this revision alone
        asked = [bench.calendar.message("tools/call", {"name": "prints", "arguments": {}})]
    return _on_stdout(position(raw_stream.talk(words, asked, servers.bare_environment()).out))


@claim(
    "27-20",
    "A line printed at the start comes first out of a TypeScript server and last out of a Python "
    "one, after answers that it was printed before.",
    notebook=ONE_LINE,
    says={"TypeScript": "first", "Python": "last"},
)
def first_and_last(bench: Bench) -> Facts:
    return {
        "TypeScript": lands(bench, V1, JAVASCRIPT),
        "Python": lands(bench, PY, PYTHON),
        "Python, with PYTHONUNBUFFERED=1": lands(bench, PY, PYTHON, {"PYTHONUNBUFFERED": "1"}),
    }


@claim(
    "27-21",
    "That is the buffer of a pipe and no part of MCP: `flush=True` moves the line.",
    notebook=ONE_LINE,
    says={"Python, flush=True": "first"},
)
def flushed(bench: Bench) -> Facts:
    return {"Python, flush=True": lands(bench, PY, FLUSHED)}


@claim(
    "27-22",
    "Seven lines that parse whatever comes die of a stray line at once.",
    notebook=ONE_LINE,
    says={
        "what they say": "SyntaxError: Unexpected token 'i', \"incidents \"... is not valid JSON",
        "answers read before, TypeScript": 0,
        "answers read before, Python": 0,
    },
    instead="at once where the line comes at once; of a Python server that buffers they read every "
    "answer, and die of its last line",
)
def seven_lines(bench: Bench) -> Facts:
    if missing := logs.why_not(bench, V1):
        return dict.fromkeys(seven_lines.says, missing)
    typescript, python = (_naive(V1, JAVASCRIPT), _naive(PY, PYTHON))
    return {
        "what they say": typescript[-1] if typescript[-1:] == python[-1:] else python[-1],
        "answers read before, TypeScript": len(typescript) - 1,
        "answers read before, Python": len(python) - 1,
    }


def _naive(party: str, before: str) -> list[str]:
    """What the seven lines print of a hand: a line an answer, then what they die of."""
    words = clients.on_node("naive.mjs", *hands.command(HANDS[party], before=before))
    env = servers.bare_environment()
    ran = subprocess.run(words, capture_output=True, timeout=clients.PATIENCE, env=env)
    return ran.stdout.decode().splitlines()


@claim(
    "27-23",
    "The official client shrugs: it skips the line and lists the tools.",
    notebook=ONE_LINE,
    says={"the TypeScript client lists": LISTED},
)
def official_client(bench: Bench) -> Facts:
    def listed(line: str) -> str | Later:
        missing = logs.why_not(bench, V1)
        return missing or clients.printed(bench, line, V1, before=JAVASCRIPT)[0]

    python = bench.official_client["rude"]
    return {
        "the TypeScript client lists": listed("v1"),
        "that of v2 lists": listed("v2"),
        "the Python client lists": f"{python.get('tools', 0)} tools of `rude`",
        "and logs": python["log"] or "nothing",
    }


@claim(
    "27-24",
    "So does the Inspector, whose `--cli` prints a catalogue and ends: all the tools, no warning.",
    notebook=ONE_LINE,
    says={"it lists": LISTED, "exit code": 0, "on stderr": "nothing"},
)
def inspector(bench: Bench) -> Facts:
    if not bench.extra or bench.no_node or not environments.ready("inspector"):
        command = Later("python -m workbench environment inspector")
        return dict.fromkeys(inspector.says, command)
    clean, dirty = (_inspect(before) for before in ("", PYTHON))
    tools = json.loads(dirty.stdout)["tools"]
    return {
        "it lists": ", ".join(tool["name"] for tool in tools),
        "exit code": dirty.returncode,
        "on stderr": dirty.stderr.decode().strip() or "nothing",
        "its output for a server that prints nothing": (
            "the same" if clean.stdout == dirty.stdout else "another"
        ),
    }


def _inspect(before: str) -> subprocess.CompletedProcess[bytes]:
    """The Inspector's `--cli`, asked for the tools of the Python server."""
    package = environments.ensure("inspector") / "@modelcontextprotocol" / "inspector"
    about = json.loads((package / "package.json").read_text("utf-8"))
    program = package / next(iter(about["bin"].values()))
    server = hands.command(HANDS[PY], before=before)
    words = [servers.node_itself(node.find().node), str(program), "--cli", *server]
    words += ["--method", "tools/list"]
    env = servers.bare_environment()
    return subprocess.run(words, capture_output=True, timeout=60, env=env, check=False)
