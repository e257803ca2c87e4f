"""Checks run against doctored parts: the verdict goes where the parts go."""

import contextlib

import pytest

from mcp_bare import revision
from mcp_bare.client import Client
from mcp_bare.memory import MemoryTransport
from mcp_bare.server import Server
from mcp_bare.stdio import StdioTransport
from mcp_bare.tape import CAME, SENT, Tape
from workbench import ledger, servers
from workbench.ledger.bench import FORMS, Bench
from workbench.ledger.everything import Everything

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.off_the_record("the checks send what is malformed, on purpose"),
]


@contextlib.contextmanager
def doctored(**parts):
    """A bench in which some of the parts are others; `cached_property` lets us put them in."""
    with Bench() as bench:
        vars(bench).update(parts)
        yield bench


def verdict(id, bench):
    return ledger.check(ledger.CLAIMS[id], bench).verdict


def everything(*, bare=13, full=13, discover=None, **initialized):
    """A reference server that lists so many tools, and answers discovery or not."""
    found = Everything([])
    unknown = {"error": {"code": -32601, "message": "Method not found"}}
    tools = [{"name": f"t{n}", "description": "d", "inputSchema": {}} for n in range(full)]
    opened = {"protocolVersion": "2025-11-25", "capabilities": {}, **initialized}
    found._tapes = {
        "everything_probe": tape(
            (revision.DISCOVER, discover or unknown),
            ("initialize", {"result": opened}),
            ("tools/list", {"result": {"tools": tools}}),
        ),
        "everything_bare": tape(("tools/list", {"result": {"tools": tools[:bare]}})),
        "everything_initialized": tape(("tools/list", {"result": {"tools": tools}})),
        "everything_initialize": tape(("initialize", {"result": opened})),
    }
    return found


def tape(*exchanges):
    from mcp_bare import jsonrpc

    made = Tape()
    for id, (method, answer) in enumerate(exchanges):
        made.record(SENT, jsonrpc.dumps(jsonrpc.request(id, method, {})))
        made.record(CAME, jsonrpc.dumps({"jsonrpc": "2.0", "id": id, **answer}))
    return made


@pytest.mark.parametrize(
    ("id", "reference", "expected"),
    [
        ("26-13", {}, ledger.HOLDS),
        ("26-13", {"discover": {"result": {"supportedVersions": ["2026-07-28"]}}}, ledger.DIFFERS),
        ("26-13", {"discover": {"error": {"code": -32600, "message": "No"}}}, ledger.DIFFERS),
        ("26-17", {"discover": {"result": {"supportedVersions": ["2026-07-28"]}}}, ledger.DIFFERS),
        ("26-22", {"bare": 13}, ledger.HOLDS),
        ("26-22", {"bare": 12}, ledger.DIFFERS),
        ("26-22", {"bare": 17, "full": 17}, ledger.DIFFERS),
        ("26-39", {"full": 13}, ledger.DIFFERS),
        (
            "26-41",
            {"discover": {"result": {"instructions": "Be kind."}}, "instructions": "Be kind."},
            ledger.DIFFERS,
        ),
    ],
)
def test_another_reference_server(id, reference, expected):
    with doctored(everything=everything(**reference)) as bench:
        assert verdict(id, bench) == expected


def test_a_server_that_serves_a_bare_request_makes_26_07_differ():
    with (
        lenient() as careless,
        doctored(everything=everything(), calendar=careless) as bench,
    ):
        assert verdict("26-07", bench) == ledger.DIFFERS
        assert verdict("26-08", bench) == ledger.DIFFERS


def lenient():
    """A modern server that checks no `_meta` at all."""
    return Client(StdioTransport(servers.command("rude", "ignores-meta")), capabilities=FORMS)


def test_an_sdk_without_the_legacy_era_makes_26_16_hold(monkeypatch):
    monkeypatch.setattr(Bench, "new_sdk", lambda self, *words, **how: self.handles("nobody"))
    with doctored() as bench:
        assert verdict("26-16", bench) == ledger.HOLDS


def test_an_sdk_whose_state_opens_anywhere_makes_26_33_hold(monkeypatch):
    monkeypatch.setattr(
        Bench, "new_sdk", lambda self, *words, **how: self.toy("calendar_by_hand", **how)
    )
    with doctored() as bench:
        assert verdict("26-33", bench) == ledger.HOLDS


def test_a_calendar_that_answers_otherwise_makes_the_traces_differ():
    server = Server("calendar", "1.0.0")
    server.resource({"uri": "calendar://week", "name": "week"})(lambda call: "[]")
    with Client(MemoryTransport(server)) as other, doctored(calendar=other) as bench:
        assert verdict("26-26", bench) == ledger.DIFFERS
        assert verdict("26-27", bench) == ledger.BROKEN  # it has no prompt to get


def test_a_server_that_keeps_its_stdout_clean_does_not_break_the_reader(monkeypatch):
    clean = servers.command("calendar_by_hand")
    monkeypatch.setattr(servers, "command", lambda *words: clean)
    official = {"rude": {"tools": 1, "log": []}}
    with doctored(official_client=official) as bench:
        found = ledger.check(ledger.CLAIMS["26-04"], bench)
    assert found.today["a home-made reader"] == "reads on"


def test_a_check_that_cannot_run_is_a_finding_with_its_reason(monkeypatch):
    def dies(self, scenario):
        raise OSError("no such pipe\nand more")

    monkeypatch.setattr(Everything, "tape", dies)
    with doctored() as bench:
        found = ledger.check(ledger.CLAIMS["26-13"], bench)
    assert (found.verdict, found.notes) == (ledger.BROKEN, ("OSError: no such pipe",))


def test_leaving_a_run_early_ends_its_processes():
    for finding in ledger.run(["26-30", "26-31"]):
        assert finding.verdict == ledger.HOLDS
        break
