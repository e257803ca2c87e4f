"""Claims 26-01 to 26-06: messages, lines, and the two transports."""

from __future__ import annotations

import json
import subprocess
import sys

from mcp_bare import jsonrpc
from mcp_bare.client import Client
from mcp_bare.connection import Connection
from mcp_bare.memory import MemoryTransport
from mcp_bare.server import Server
from mcp_bare.tape import CAME, NOTE
from workbench import servers
from workbench.ledger.asks import code
from workbench.ledger.bench import Bench
from workbench.ledger.claim import Facts, agreed, claim

WIRE = "ch26/01_messages_on_a_wire"
ERA = "ch26/03_which_era_is_this"
HOME_MADE = "import json, sys\nfor line in sys.stdin:\n    print(json.loads(line)['result'])"


@claim(
    "26-01",
    "With one protocol, N applications and M things to reach need N + M programs, not N × M.",
    notebook=WIRE,
    says={"pairs of 2 clients and 3 servers that work": 6, "programs written for them": 5},
)
def one_protocol(bench: Bench) -> Facts:
    works = [name for name, client in bench.modern.items() if client.list_tools()]
    works += [name for name in bench.modern if bench.official_client[name].get("tools")]
    programs = {*bench.modern, "our client", "the official client"}
    return {
        "pairs of 2 clients and 3 servers that work": len(works),
        "programs written for them": len(programs),
    }


@claim(
    "26-02",
    "An id is never null and is not used again while its request is in flight; every result has a "
    "resultType.",
    notebook=WIRE,
    says={
        "id null": -32600,
        "an id used again in flight": -32600,
        "results without a resultType": "none",
    },
)
def ids_and_types(bench: Bench) -> Facts:
    with_null = {**bench.sdk.message("tools/list"), "id": None}
    try:
        jsonrpc.parse(jsonrpc.dumps(with_null))
        toolkit: int | str = "accepted"
    except jsonrpc.RpcError as refusal:
        toolkit = refusal.code
    clients = {"official SDK": bench.sdk, "calendar by hand": bench.calendar}
    untyped = [n for n, client in clients.items() if "resultType" not in client.discover()]
    return {
        "id null": agreed(
            {"toolkit": toolkit, "official SDK, over HTTP": code(bench.web.post(with_null).message)}
        ),
        "an id used again in flight": _the_same_id_twice(),
        "results without a resultType": untyped or "none",
    }


def _the_same_id_twice() -> int | str:
    """A tool of ours that, while it runs, has its own request sent to the server once more."""
    sent: list[bytes] = []
    server = Server("twice", "1.0.0")
    connection = Connection(server, sent.append)
    with Client(MemoryTransport(server)) as client:
        message = client.message("tools/call", {"name": "again"})
    line = jsonrpc.dumps(message) + b"\n"

    @server.tool({"name": "again", "inputSchema": {"type": "object"}})
    def again(call: object) -> str:
        if not sent:
            connection.receive(line)
        return "done"

    connection.receive(line)
    return code(json.loads(sent[0]))


@claim(
    "26-03",
    "On stdio a message is one line, and a server writes nothing else to its output.",
    notebook=WIRE,
    says={"lines that are no message": 0},
)
def a_line_a_message(bench: Bench) -> Facts:
    for client in (bench.sdk, bench.calendar):
        client.list_tools(refresh=True)
    tapes = [bench.sdk.tape, bench.calendar.tape, bench.everything.tape("everything_probe")]
    entries = [entry for tape in tapes for entry in tape]
    strays = [entry for entry in entries if entry.direction == NOTE and entry.payload]
    return {
        "lines that are no message": len(strays),
        "messages of 3 servers": sum(entry.direction == CAME for entry in entries),
    }


@claim(
    "26-04",
    "A stray line on stdout breaks a home-made server, and in silence.",
    notebook=WIRE,
    says={"a home-made reader": "fails in silence"},
    instead="it fails loudly; silent is only a client that skips the line and goes on",
)
def a_stray_line(bench: Bench) -> Facts:
    rude = servers.command("rude", "stdout-banner")
    line = jsonrpc.dumps(bench.calendar.message("tools/list")) + b"\n"
    written = subprocess.run(rude, input=line, capture_output=True, timeout=60).stdout
    reader = [sys.executable, "-c", HOME_MADE]
    read = subprocess.run(reader, input=written, capture_output=True, timeout=60)
    complaint = read.stderr.decode().strip().rpartition("\n")[2].partition(":")[0]
    how = f"fails loudly: {complaint.rpartition('.')[2]}" if complaint else "fails in silence"
    official = bench.official_client["rude"]
    heard = f"logs {official['log'][0]!r}" if official["log"] else "logs nothing"
    return {
        "a home-made reader": how if read.returncode else "reads on",
        "the official Python client": f"skips it and {heard}" if "tools" in official else "breaks",
    }


@claim(
    "26-05",
    "The reference server greets on stderr at every start, so the pipe stays clean.",
    notebook=ERA,
    says={"on stderr": "Starting default (STDIO) server...", "stray lines on stdout": 0},
)
def greeting(bench: Bench) -> Facts:
    strays = 0
    for scenario in ("everything_bare", "everything_probe"):
        tape = bench.everything.tape(scenario)
        strays += sum(entry.direction == NOTE and bool(entry.payload) for entry in tape)
    greetings = bench.everything.greetings
    if isinstance(greetings, list):
        greetings = agreed(dict(enumerate(greetings)))
    return {"on stderr": greetings, "stray lines on stdout": strays}


@claim(
    "26-06",
    "Over Streamable HTTP each message is a POST to one address, answered by JSON or by a stream "
    "of its own; a transport changes nothing in what a message means.",
    notebook=WIRE,
    says={
        "content types of the answers": ["application/json", "text/event-stream"],
        "same result over stdio and HTTP": "yes",
    },
)
def two_bindings(bench: Bench) -> Facts:
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": bench.sdk.client_info,
    }
    modern = bench.web.post(bench.sdk.message("tools/list"))
    legacy = bench.web.post(jsonrpc.request(1, "initialize", hello))
    same = modern.message["result"]["tools"] == bench.sdk.list_tools()
    return {
        "content types of the answers": sorted({modern.type, legacy.type}),
        "same result over stdio and HTTP": "yes" if same else "no",
    }
