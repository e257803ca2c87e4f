"""Every kind of server that a probe can meet: what it does at `server/discover`, and where we land.

Real processes. The naive client believes that a legacy server answers -32601 to what it does not
know, and goes on in the same process; it fails wherever the server does anything else.
"""

import queue
import sys
import threading

import pytest

from mcp_bare import era, jsonrpc, legacy, revision
from mcp_bare.errors import ProtocolViolation, RequestTimeout, TransportClosed
from mcp_bare.exchange import Exchange
from mcp_bare.stdio import StdioTransport
from mcp_bare.tape import SENT, Tape
from tests.wire import naive
from tests.wire.helpers import (
    LAB,
    environment,
    eventually,
    exchange,
    line,
    open_client,
    ours,
    rude,
    say,
    text_of,
)

LATEST_LEGACY = revision.LEGACY[0]


def connect(command, **options):
    """era.connect on real processes, and how many of them it started."""
    started = []

    def fresh():
        started.append(StdioTransport(command, env=environment(), grace=0.3))
        return started[-1]

    client, verdict = era.connect(fresh, **{"timeout": 20.0, "probe_timeout": 20.0, **options})
    return client, verdict, started


# fault, era, the version that is spoken in the end, words of the evidence
SERVERS = [
    ("no-fault", "modern", revision.CURRENT, "DiscoverResult"),
    ("stdout-banner", "modern", revision.CURRENT, "DiscoverResult"),
    ("floods-stderr", "modern", revision.CURRENT, "DiscoverResult"),
    ("legacy", "legacy", LATEST_LEGACY, "-32601"),
    ("legacy-32602", "legacy", LATEST_LEGACY, "-32602"),
    ("legacy-null-id", "legacy", LATEST_LEGACY, "-32600"),
    ("legacy-noisy", "legacy", LATEST_LEGACY, "-32601"),
    ("legacy-pings", "legacy", LATEST_LEGACY, "-32601"),
    ("exit-at-discover", "legacy", LATEST_LEGACY, "exit code 1"),
    ("modern-and-legacy", "legacy", LATEST_LEGACY, "-32022"),
]


@pytest.mark.parametrize(("fault", "which", "version", "why"), SERVERS)
def test_where_a_probe_lands(fault, which, version, why):
    client, verdict, started = connect(rude(fault))
    with client:
        assert (verdict.era, client.version) == (which, version)
        assert why in verdict.why
        assert text_of(client.call_tool("echo", {"text": "hello"})) == "hello"
        assert len(started) == (1 if which == "modern" else 2), "the handshake has a fresh process"
        assert all(t.exit_code is not None for t in started[:-1]), "the probed one is gone"
    assert started[-1].exit_code is not None


def test_silence_is_an_answer():
    client, verdict, _ = connect(rude("legacy-silent"), probe_timeout=0.3)
    with client:
        assert (verdict.era, verdict.why) == ("legacy", "silence for 0.3 s")
        assert text_of(client.call_tool("echo", {"text": "hello"})) == "hello"


def test_a_modern_server_that_was_only_slow_to_start():
    """It looks silent, so it gets the handshake, and refuses it as only a modern server does."""
    client, verdict, _ = connect(rude("slow-start"), probe_timeout=0.2)
    with client:
        assert (verdict.era, client.version) == ("modern", revision.CURRENT)
        assert text_of(client.call_tool("echo", {"text": "hello"})) == "hello"
        assert client.initialize_result is None


NEITHER = [
    ("modern-other-version", ProtocolViolation, "2027-03-01"),
    ("exit-at-start", TransportClosed, "acme_orm"),
    ("silent", RequestTimeout, "initialize"),
    ("never-reads", RequestTimeout, "initialize"),
]


@pytest.mark.parametrize(("fault", "error", "says"), NEITHER)
def test_a_server_that_nothing_reaches(fault, error, says):
    """One clear error, the processes gone. (A naive client fails here too, as it should.)"""
    before = ours()
    with pytest.raises(error, match=says):
        connect(rude(fault), timeout=0.5, probe_timeout=0.3)
    assert not [p for p in ours() - before if "rude.py" in " ".join(p.cmdline())]


def test_initialize_is_never_cancelled():
    """The legacy revisions forbid it; a cancelled probe, though, is said to be."""
    tape = Tape()
    with pytest.raises(RequestTimeout):
        connect(rude("silent"), timeout=0.3, probe_timeout=0.3, tape=tape)
    sent = [entry.message["method"] for entry in tape if entry.direction == SENT]
    assert sent == ["server/discover", "notifications/cancelled", "initialize"]


def test_a_server_that_settles_on_a_version_we_do_not_know():
    script = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    m = json.loads(line)\n"
        "    if 'id' in m:\n"
        "        r = {'protocolVersion': '1999-12-31', 'capabilities': {}}\n"
        "        print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': r}), flush=True)\n"
    )
    with pytest.raises(ProtocolViolation, match="1999-12-31"):
        connect([sys.executable, "-c", script])


def test_our_own_server_refuses_the_handshake_and_names_its_versions():
    params = {"protocolVersion": LATEST_LEGACY, "capabilities": {}, "clientInfo": {}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    answers, _ = exchange(LAB, line(asked) + say(2, "server/discover"))
    assert answers[0]["error"]["code"] == revision.UNSUPPORTED_PROTOCOL_VERSION
    assert revision.CURRENT in answers[0]["error"]["message"]
    assert answers[1]["result"]["supportedVersions"] == [revision.CURRENT]


def test_a_legacy_server_serves_without_a_handshake():
    """Why a probe is needed: the bare list is answered, under legacy rules."""
    with open_client(rude("legacy")) as client:
        assert [tool["name"] for tool in client.list_tools()] == ["echo"]


class LegacyLink:
    """The fake link to a legacy server that opens, and otherwise does what the test tells it."""

    def __init__(self):
        self.sent = []

    def open(self, on_payload, on_close):
        self.receive = on_payload

    def send(self, payload):
        message = jsonrpc.parse(payload)
        self.sent.append(message)
        if message.get("method") == "initialize":
            opened = {"protocolVersion": LATEST_LEGACY, "capabilities": {}}
            named = {**opened, "serverInfo": {"name": "old", "version": "1"}}
            self.receive(jsonrpc.dumps(jsonrpc.result(message["id"], named)))

    def close(self):
        pass


def test_a_legacy_handler_that_fails_or_dawdles():
    """It answers on a thread of its own: reading goes on, and the server gets its error."""
    link, held = LegacyLink(), threading.Event()

    def handler(message):
        if message["id"] == "bad":
            raise KeyError("a mistake")
        if message["id"] == "unsayable":
            return jsonrpc.result("unsayable", {"x": {1, 2}})
        held.wait(30)
        return jsonrpc.result(message["id"], {})

    desk = Exchange(link, Tape())
    desk.on_request = handler
    legacy.handshake(desk, 0, {}, {"name": "test", "version": "1"})
    for id in ("slow", "bad", "unsayable"):
        link.receive(jsonrpc.dumps(jsonrpc.request(id, "ping")))
    call = desk.start(jsonrpc.request(1, "ping"))
    link.receive(b'{"jsonrpc":"2.0","id":1,"result":{}}')
    assert call.result() == {}, "the slow handler does not stop the reading"
    held.set()
    assert eventually(lambda: len(link.sent) == 6)
    answers = {m["id"]: m.get("error", {}).get("code") for m in link.sent if "method" not in m}
    assert answers == {"slow": None, "bad": -32603, "unsayable": -32603}


NAIVE_FAILS = [
    ("legacy-32602", naive.NaiveError),
    ("legacy-null-id", naive.NaiveError),
    ("legacy-noisy", queue.Empty),  # nobody drains stderr: no answer ever comes
    ("legacy-silent", queue.Empty),
    ("exit-at-discover", queue.Empty),
    ("modern-and-legacy", naive.NaiveError),
]


@pytest.mark.parametrize(("fault", "error"), NAIVE_FAILS)
def test_a_naive_client_does_not_reach_it(fault, error):
    before, client = ours(), naive.NaiveClient(rude(fault))
    try:
        with pytest.raises(error):
            naive.probe(client)
    finally:
        naive.clear_away(client, ours() - before)
