"""The claims of chapters 26 and 27: all there, all run, no verdict settled beforehand."""

import ast
import inspect
import textwrap

import pytest

from workbench import ledger
from workbench.ledger import claim

pytestmark = pytest.mark.timeout(600)
CHAPTER_27 = [f"27-{number:02}" for number in range(1, 69)]
IDS = [f"26-{number:02}" for number in range(1, 51)] + CHAPTER_27
WORDS_ONLY = {"26-47", "26-48", "27-40"}  # nothing but quotes
NETWORK_FOR_GOOD = {"26-50", "27-60", "27-61", "27-62", "27-64"}
ENVIRONMENTS = {"27-16", "27-24"}  # FastMCP's and the Inspector's, made by a command of their own


def test_every_claim_is_there_exactly_once():
    written = [
        found.id
        for theme in ledger.THEMES
        for found in vars(theme).values()
        if isinstance(found, claim.Claim)
    ]
    assert sorted(written) == IDS
    assert list(ledger.CLAIMS) == IDS


def test_every_claim_names_a_notebook_that_has_a_source(repo):
    named = {found.notebook for found in ledger.CLAIMS.values()}
    missing = sorted(name for name in named if not (repo / "sources" / f"{name}.py").exists())
    assert not missing, f"no source yet for: {', '.join(missing)}"


def test_every_quote_belongs_to_a_claim():
    assert set(ledger.QUOTES) <= set(IDS)


def test_every_check_runs(findings):
    broken = {id: found.notes for id, found in findings.items() if found.verdict == ledger.BROKEN}
    assert not broken


@pytest.mark.parametrize("id", IDS)
def test_the_verdict_follows_from_the_facts_either_way(findings, id):
    found = findings[id]
    count = found.said.get(claim.QUOTED, 0)
    known = dict(found.said)
    assert claim.judge(found.claim, known, quotes=count).verdict == ledger.HOLDS
    for name in known:
        doctored = {**known, name: "something else"}
        finding = claim.judge(found.claim, doctored, quotes=count)
        assert finding.verdict == ledger.DIFFERS
        assert finding.how.startswith(f"{name}: something else, not ")


@pytest.mark.parametrize("id", IDS)
def test_what_cannot_be_known_is_no_verdict(findings, id):
    found = findings[id]
    later = dict.fromkeys(found.said, claim.Later("a command"))
    finding = claim.judge(found.claim, later, quotes=found.said.get(claim.QUOTED, 0))
    assert (finding.verdict, finding.how) == (ledger.NETWORK, "a command")


@pytest.mark.parametrize("id", sorted(set(IDS) - WORDS_ONLY - NETWORK_FOR_GOOD))
def test_no_check_returns_a_claimed_fact_as_a_constant(id):
    tree = ast.parse(textwrap.dedent(inspect.getsource(ledger.CLAIMS[id].measure)))
    returned = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
    pairs = [
        (key.value, value)
        for found in returned
        if isinstance(found, ast.Dict)
        for key, value in zip(found.keys, found.values, strict=True)
        if isinstance(key, ast.Constant)
    ]
    fixed = [key for key, value in pairs if isinstance(value, ast.Constant)]
    assert not set(fixed) & set(ledger.CLAIMS[id].says)
    assert any(isinstance(node, ast.Call) for node in ast.walk(tree.body[0]))


# What was found when the chapter's claims were tried (the project's notes), to be found again.
DIFFER = {"26-04", "26-16", "26-19", "26-22", "26-33", "26-34", "26-41"}
DIFFER |= {"27-10", "27-11", "27-12", "27-22", "27-26", "27-27", "27-30", "27-35", "27-36"}
DIFFER |= {"27-37", "27-39", "27-45", "27-47", "27-49", "27-55", "27-56", "27-58", "27-65", "27-67"}
NEED_THE_NETWORK = WORDS_ONLY | NETWORK_FOR_GOOD | ENVIRONMENTS


def test_the_checks_find_what_is_known_to_differ(findings):
    verdicts = {id: found.verdict for id, found in findings.items()}
    assert {id for id, verdict in verdicts.items() if verdict == ledger.DIFFERS} == DIFFER
    network = {id for id, verdict in verdicts.items() if verdict == ledger.NETWORK}
    assert network == NEED_THE_NETWORK


def test_what_differs_has_something_to_take_instead(findings):
    assert not [id for id in sorted(DIFFER) if not findings[id].claim.instead]


@pytest.mark.parametrize(
    ("id", "how"),
    [
        ("26-16", "the official Python SDK's, not none"),
        ("26-19", "@modelcontextprotocol/server, @modelcontextprotocol/client, not none"),
        ("26-22", "12 of 13, not 13 of 13"),
        ("26-33", "refuses: -32602"),
        ("26-34", "Wire 9000 EUR to X"),
        ("26-41", "returned by: initialize, not server/discover"),
        ("27-10", "search_incidents, open_incident, resolve_incident, not resolve_incident"),
        ("27-11", "execution, not none"),
        ("27-22", "answers read before, Python: 2, not 0"),
        ("27-27", "cryptography, pydantic-core, not cryptography, pydantic-core, uvicorn"),
        ("27-35", "the types of the wire, not the web stack"),
        ("27-36", "2025-11-25, 2026-07-28, not all"),
        ("27-45", "TypeScript v2, not none"),
        ("27-47", "400 -32600, not 400 -32020"),
        ("27-49", "Python SDK, TypeScript v2, not Python SDK"),
        ("27-55", "no token, another server's, no expiry, no scope, not no expiry, no scope"),
        ("27-56", '"TypeScript": 401'),
        ("27-58", "none, not Python SDK, TypeScript v1"),
        ("27-65", "No open incident INC-3. Call search_incidents first., not closed"),
        ("27-67", "@modelcontextprotocol/server, not none of them"),
    ],
)
def test_what_differs_says_how(findings, id, how):
    assert how in findings[id].how


def test_a_quote_that_was_not_checked_is_said_and_does_not_hide_the_behaviour(findings):
    found = findings["26-21"]
    assert found.verdict == ledger.HOLDS
    assert found.today[claim.QUOTED].command.endswith("ledger 26-21 --spec spec-text")
