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


# --- over HTTP ---


@pytest.fixture(scope="module")
def abroad_parts(node_parts):
    """The endpoints of one bench; a doctored one puts some of them in the place of others."""
    with Bench() as bench:
        yield {"python": bench.python_web, "node": bench.node_web, "ours": bench.our_web}


ABROAD = {
    # a TypeScript SDK whose v1 is its v2
    "27-43": ({"node": {"plain": ("node", "v2")}}, ledger.DIFFERS),
    "27-57": ({"node": {"plain": ("node", "v2")}}, ledger.DIFFERS),
    # one whose v2 is still its v1
    "27-45": ({"node": {"v2": ("node", "plain")}}, ledger.HOLDS),
    "27-49": ({"node": {"v2": ("node", "plain")}}, ledger.HOLDS),
    "27-67": ({"node": {"v2": ("node", "plain")}}, ledger.HOLDS),
    # a Python SDK that lacks the revision, or does as we do
    "27-42": ({"python": {"plain": ("node", "plain")}}, ledger.DIFFERS),
    "27-46": ({"python": {"plain": ("node", "v2")}}, ledger.DIFFERS),
    "27-47": ({"python": {"plain": ("ours", "plain")}}, ledger.HOLDS),
    # guards that change places
    "27-51": ({"node": {"guarded": ("python", "guarded")}}, ledger.DIFFERS),
    "27-52": ({"node": {"guarded": ("python", "guarded")}}, ledger.DIFFERS),
    "27-53": ({"python": {"guarded": ("ours", "guarded")}}, ledger.DIFFERS),
    "27-54": ({"python": {"guarded": ("ours", "guarded")}}, ledger.DIFFERS),
    "27-56": ({"node": {"careless": ("python", "careless")}}, ledger.HOLDS),
    # a guard that lets another server's token in
    "27-50": ({"ours": {"guarded": ("ours", "plain")}}, ledger.DIFFERS),
    # an endpoint that streams, or not, whatever is asked
    "27-41": ({"ours": {"changing": ("ours", "plain")}}, ledger.DIFFERS),
}


@pytest.mark.parametrize("id", ABROAD)
def test_other_servers_over_http(abroad_parts, id):
    swaps, expected = ABROAD[id]
    parts = {whose: dict(found) for whose, found in abroad_parts.items()}
    for whose, places in swaps.items():
        for name, (other, its) in places.items():
            parts[whose][name] = abroad_parts[other][its]
    names = {"python": "python_web", "node": "node_web", "ours": "our_web"}
    with doctored(**{names[whose]: found for whose, found in parts.items()}) as bench:
        assert verdict(id, bench) == expected


def test_constants_that_move_on(abroad_parts):
    node_web = {**abroad_parts["node"], "constants": {"v1": "2026-07-28", "v2": "2026-07-28"}}
    with doctored(node_web=node_web, python_web=abroad_parts["python"]) as bench:
        assert verdict("27-44", bench) == ledger.DIFFERS


def test_an_sdk_that_has_the_code_after_all(monkeypatch):
    monkeypatch.setattr("workbench.ledger.everything.mentions", lambda package, text: True)
    with doctored(node_web=None) as bench:
        assert verdict("27-48", bench) == ledger.DIFFERS


def test_servers_of_this_revision_only_are_bound_to_405(monkeypatch, abroad_parts):
    monkeypatch.setattr("workbench.ledger.over_http.opens_sessions", lambda url: False)
    with doctored(
        python_web=abroad_parts["python"],
        node_web=abroad_parts["node"],
        our_web=abroad_parts["ours"],
    ) as bench:
        assert verdict("27-58", bench) == ledger.HOLDS


def test_two_guards_that_say_the_same_have_no_rung_that_differs(monkeypatch, abroad_parts):
    monkeypatch.setattr("workbench.ledger.at_the_door.OLD_HEADER", {})
    ours = abroad_parts["ours"]
    python = {**abroad_parts["python"], "guarded": ours["guarded"]}
    node_web = {**abroad_parts["node"], "guarded": ours["guarded"]}
    with doctored(node_web=node_web, python_web=python, our_web=ours) as bench:
        found = ledger.check(ledger.CLAIMS["27-55"], bench)
    assert found.today["rungs that differ"] == found.today["by their status alone"] == []
