"""Chapter 27's checks against doctored parts: the verdict goes where the parts go."""

import dataclasses
import json
import subprocess

import pytest

from mcp_bare.auth.guard import Guard
from workbench import environments, hands, ledger, tokens
from workbench.ledger import catalogue, clients, imports, installed, logs, paces, stray, weight
from workbench.ledger.bench import Bench
from workbench.ledger.logs import FAST, OURS, PY, V1, V2
from workbench.ledger.stray import BANNER, FLUSHED, PYTHON

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.off_the_record("the checks send what is malformed, on purpose"),
]


def verdict(id, texts=None, **parts):
    """What the ledger says of a claim where some of the parts are others."""
    with Bench(texts, extra=False) as bench:
        vars(bench).update(parts)
        return ledger.check(ledger.CLAIMS[id], bench).verdict


# --- the incident log, and the one that fails ---


def with_tools(log, change):
    return dataclasses.replace(log, tools=[change(dict(tool)) for tool in log.tools])


def bare(tool):
    """A tool without annotations and without an output schema."""
    return {key: tool[key] for key in ("name", "inputSchema")} | {"annotations": {}}


def only_resolve(tool):
    """A tool whose output schema is gone, but for that of resolve_incident."""
    if tool["name"] != "resolve_incident":
        tool.pop("outputSchema", None)
    return tool


def text(value):
    return {"content": [{"type": "text", "text": json.dumps(value)}]}


LOGS = {
    "27-01": (ledger.DIFFERS, lambda a: {PY: dataclasses.replace(a[PY], prompts=[])}),
    "27-02": (ledger.DIFFERS, lambda a: {V1: with_tools(a[V1], bare)}),
    "27-05": (ledger.DIFFERS, lambda a: {V2: dataclasses.replace(a[V2], opened=text({"id": "7"}))}),
    "27-07": (ledger.DIFFERS, lambda a: {PY: a[OURS]}),
    "27-08": (ledger.DIFFERS, lambda a: {V1: a[V2]}),
    "27-09": (ledger.DIFFERS, lambda a: {PY: a[OURS]}),
    "27-11": (ledger.HOLDS, lambda a: {V1: a[V2]}),
    "27-65": (ledger.HOLDS, lambda a: {V1: a[OURS], PY: a[OURS]}),
    "27-66": (ledger.DIFFERS, lambda a: {PY: dataclasses.replace(a[PY], after=("[1]", "[]"))}),
}


@pytest.mark.parametrize("id", LOGS)
def test_other_logs(whole_run, id):
    expected, change = LOGS[id]
    parts = {"logs": whole_run.logs | change(whole_run.logs), "python_facts": whole_run.facts}
    assert verdict(id, **parts) == expected


CRASHES = {
    "27-14": (ledger.DIFFERS, V1, PY),
    "27-15": (ledger.DIFFERS, PY, V1),
    "27-17": (ledger.DIFFERS, PY, V1),
    "27-18": (ledger.DIFFERS, PY, V1),
}


@pytest.mark.parametrize("id", CRASHES)
def test_other_crashes(whole_run, id):
    expected, place, other = CRASHES[id]
    assert verdict(id, crashes=whole_run.crashes | {place: whole_run.crashes[other]}) == expected


@pytest.mark.parametrize(("like", "expected"), [(PY, ledger.HOLDS), (V1, ledger.DIFFERS)])
def test_a_fastmcp_that_keeps_or_tells(whole_run, monkeypatch, like, expected):
    monkeypatch.setattr(logs, "why_not", lambda bench, party: "")
    crashes = whole_run.crashes | {FAST: whole_run.crashes[like]}
    assert verdict("27-16", crashes=crashes) == expected


# --- what the Python SDK says of itself ---


def of_187_tokens():
    return next(s for n in range(400) if tokens.count_json(s := {"x": "a " * n}) == 187)


FACTS = {
    "27-12": (ledger.HOLDS, {"turned off": {"type": "object"}}),
    "27-32": (ledger.DIFFERS, {"loaded": ["mcp"]}),
    "27-36": (
        ledger.HOLDS,
        {
            "wire classes": {
                f"_v{year}": 1
                for year in ("2024_11_05", "2025_03_26", "2025_06_18", "2025_11_25", "2026_07_28")
            }
        },
    ),
    "27-63": (ledger.DIFFERS, {"mcp.server.fastmcp": {"raises": None, "says": ""}}),
}


@pytest.mark.parametrize("id", FACTS)
def test_another_python_sdk(whole_run, id):
    expected, change = FACTS[id]
    assert verdict(id, python_facts=whole_run.facts | change) == expected


def test_one_schema_of_187_tokens_makes_27_10_hold(whole_run):
    facts = whole_run.facts | {"by fields": [{}, {}, {}, of_187_tokens()]}
    one = whole_run.logs | {PY: with_tools(whole_run.logs[PY], only_resolve)}
    assert verdict("27-10", logs=one, python_facts=facts) == ledger.HOLDS


# --- time ---

START = {
    paces.EMPTY_PYTHON: 1.0,
    paces.EMPTY_NODE: 2.0,
    paces.IMPORT: 50.0,
    paces.NO_BYTECODE: 130.0,
    paces.BYTECODE: 60.0,
    PY: 60.0,
    V1: 14.0,
    paces.NPX: 30.0,
    paces.UVX: 2.0,
}
PACES = {
    "27-28": (ledger.HOLDS, {paces.EMPTY_NODE: 0.5}, ledger.DIFFERS),
    "27-29": (ledger.HOLDS, {PY: 15.0}, ledger.DIFFERS),
    "27-30": (ledger.DIFFERS, {paces.NO_BYTECODE: 61.0}, ledger.HOLDS),
    "27-34": (ledger.HOLDS, {paces.IMPORT: 10.0}, ledger.DIFFERS),
    "27-37": (ledger.DIFFERS, {paces.NPX: 80.0}, ledger.HOLDS),
    "27-38": (ledger.HOLDS, {paces.NPX: 15.0}, ledger.DIFFERS),
    "27-39": (ledger.DIFFERS, {paces.UVX: 16.0}, ledger.HOLDS),
}


@pytest.mark.parametrize("id", PACES)
def test_other_paces(whole_run, id):
    as_it_is, change, expected = PACES[id]

    def found(seconds):
        rounds = {name: [value] * 3 for name, value in seconds.items()}
        return verdict(id, paces=rounds, imports=whole_run.imports)

    assert (found(START), found(START | change)) == (as_it_is, expected)


def test_a_launcher_that_is_not_here_is_not_measured():
    rounds = {name: [value] for name, value in START.items() if name != paces.UVX}
    assert verdict("27-39", paces=rounds) == ledger.NETWORK


@pytest.mark.parametrize(
    ("id", "own", "expected"),
    [
        ("27-35", {"mcp_types": 1, "uvicorn": 2}, ledger.HOLDS),
        ("27-35", {"mcp_types": 2, "uvicorn": 1}, ledger.DIFFERS),
        ("27-34", {"mcp.types": 0, "uvicorn": 1}, ledger.DIFFERS),
    ],
)
def test_other_imports(id, own, expected):
    rounds = {name: [value] for name, value in START.items()}
    assert verdict(id, paces=rounds, imports=imports.Imports(own, own)) == expected


# --- the stray line: real servers, other lines ---


@pytest.mark.parametrize(
    ("id", "name", "value", "expected"),
    [
        ("27-19", "PYTHON", "pass", ledger.DIFFERS),
        ("27-20", "PYTHON", FLUSHED, ledger.DIFFERS),
        ("27-21", "FLUSHED", PYTHON, ledger.DIFFERS),
        ("27-22", "PYTHON", FLUSHED, ledger.HOLDS),
    ],
)
def test_other_lines(node_parts, monkeypatch, id, name, value, expected):
    monkeypatch.setattr(stray, name, value)
    assert verdict(id) == expected


def test_where_a_line_stands():
    lines = ["a", BANNER, "b"]
    where = [stray.position(some) for some in (lines, lines[1:], lines[:2], ["a"])]
    assert where == ["line 2 of 3", "first", "last", "nowhere"]


def test_a_client_that_lists_nothing(node_parts, monkeypatch):
    monkeypatch.setattr(clients, "printed", lambda *words, **how: ("", "{}"))
    assert verdict("27-23", official_client={"rude": {"log": []}}) == ledger.DIFFERS


def test_a_client_that_is_told_two_handles(node_parts, monkeypatch):
    said = {V1: ("a, b", '{"id": "1"}'), PY: ("a, b", '{"id": "2"}')}
    monkeypatch.setattr(clients, "printed", lambda bench, line, party: said[party])
    monkeypatch.setattr(clients, "lingers", lambda party: "ended")
    assert verdict("27-04") == ledger.DIFFERS


@pytest.mark.parametrize(("warns", "expected"), [(b"", ledger.HOLDS), (b"!", ledger.DIFFERS)])
def test_an_inspector_that_warns(node_parts, monkeypatch, warns, expected):
    tools = json.dumps({"tools": [{"name": n} for n in stray.LISTED.split(", ")]}).encode()
    ran = subprocess.CompletedProcess([], 0, tools, warns)
    monkeypatch.setattr(stray, "_inspect", lambda before: ran)
    monkeypatch.setattr(environments, "ready", lambda name: True)
    with Bench() as bench:
        assert ledger.check(ledger.CLAIMS["27-24"], bench).verdict == expected


# --- what is on the disk ---


def test_other_files(monkeypatch):
    its = hands.HANDS
    swapped = {
        "python": dataclasses.replace(its["python"], script=its["typescript-v1"].script),
        "typescript-v1": dataclasses.replace(its["typescript-v1"], script=its["python"].script),
    }
    monkeypatch.setattr(hands, "HANDS", its | swapped)
    assert verdict("27-03") == ledger.DIFFERS


@pytest.mark.parametrize(
    ("id", "module", "name", "value", "expected"),
    [
        ("27-06", catalogue, "INDENTS", "no such call", ledger.DIFFERS),
        ("27-13", catalogue, "_take", lambda value: "takes it", ledger.DIFFERS),
        ("27-25", installed, "python", lambda package: {}, ledger.DIFFERS),
        ("27-26", installed, "mebibytes", lambda files: 100, ledger.DIFFERS),
        ("27-27", installed, "compiled", lambda its: True, ledger.HOLDS),
        ("27-31", weight, "loaded", lambda party: ["express"], ledger.DIFFERS),
        ("27-33", weight, "loaded", lambda party: ["express"], ledger.DIFFERS),
        ("27-59", installed, "python", lambda package: {}, ledger.DIFFERS),
    ],
)
def test_other_installations(whole_run, monkeypatch, id, module, name, value, expected):
    monkeypatch.setattr(module, name, value)
    parts = {"logs": whole_run.logs, "python_facts": whole_run.facts}
    assert verdict(id, **parts) == expected


def test_a_python_three_times_as_heavy_makes_27_26_hold(node_parts, monkeypatch):
    monkeypatch.setattr(weight, "mebibytes", lambda bench, places: 14.0)
    monkeypatch.setattr(installed, "mebibytes", lambda files: 50.0)
    assert verdict("27-26") == ledger.HOLDS


def test_another_pin(node_parts, monkeypatch):
    monkeypatch.setattr(logs, "why_not", lambda bench, party: "")
    assert verdict("27-68", python_then="2.1.1") == ledger.HOLDS
    assert verdict("27-68", python_then="2.1.2") == ledger.DIFFERS


@pytest.mark.parametrize(
    ("tabs", "expected"),
    [
        (("Python", "TypeScript"), ledger.HOLDS),
        (("TypeScript", "Python"), ledger.DIFFERS),
        ((), ledger.NETWORK),
    ],
)
def test_another_tutorial(tmp_path, tabs, expected):
    page = tmp_path / "docs/docs/2026-07-28/develop/build-server.mdx"
    page.parent.mkdir(parents=True)
    if tabs:
        page.write_text("".join(f"<Tab title='{tab}'>\n</Tab>\n" for tab in tabs))
    assert verdict("27-64", {"spec": tmp_path}) == expected


# --- who may have the token ---


def test_a_guard_that_hands_the_token_on(monkeypatch):
    admit = Guard.admit

    def leaks(self, header, message):
        admit(self, header, message)
        return header.partition(" ")[2]

    monkeypatch.setattr(Guard, "admit", leaks)
    with Bench(extra=False) as bench:
        found = ledger.check(ledger.CLAIMS["27-50"], bench)
    assert found.verdict == ledger.DIFFERS
    assert "finds: the token, not the name" in found.how
