"""`python -m workbench ledger`: what it prints, and how it exits."""

import json
import subprocess
import sys

import pytest

from workbench import __main__ as workbench_command
from workbench import ledger
from workbench.ledger import __main__ as command
from workbench.ledger.claim import Claim

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(autouse=True)
def no_texts(monkeypatch):
    for name in ("MCP_SPEC", "MCP_A2A", "MCP_ACP"):
        monkeypatch.delenv(name, raising=False)


def test_a_claim_by_its_id(capsys):
    assert command.main(["26-30"]) == 0
    out = capsys.readouterr().out
    assert "eyJ0aXRsZSI6IkRlbnRp" in out
    assert "by hand: notebooks/ch26/05_the_server_asks_back.ipynb" in out
    assert "\nclaims: 1; holds: 1\nmeasured with: mcp " in out


def test_a_claim_that_needs_the_network_says_with_what_and_is_no_failure(capsys):
    assert command.main(["26-50"]) == 0
    out = capsys.readouterr().out
    assert "to settle it: curl -sL https://" in out


def test_lines_fit_a_terminal(capsys):
    command.main(["26-16", "26-26"])
    table = capsys.readouterr().out.partition("differs:")[0]
    assert max(map(len, table.splitlines())) <= 106


def test_json_has_all_that_was_measured(capsys):
    assert command.main(["26-32", "26-50", "--json"]) == 0
    first, last = json.loads(capsys.readouterr().out)
    assert first["verdict"] == ledger.HOLDS
    assert first["today"]["process C"] == ["Standup", "Design review"]
    assert last["today"]["in the article"]["to settle it"].startswith("curl")


def test_a_check_that_cannot_run_is_a_failure(monkeypatch, capsys):
    def measure(bench):
        raise RuntimeError("the moon is in the way")

    lost = Claim("26-30", "A claim.", "ch26/05_the_server_asks_back", {"x": 1}, measure)
    monkeypatch.setattr(ledger, "CLAIMS", {"26-30": lost})
    assert command.main(["26-30"]) == 1
    out = capsys.readouterr().out
    assert "could not run" in out and "RuntimeError: the moon is in the way" in out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["26-99"], "no claim is called 26-99; they go from 26-01 to 27-68"),
        (["--readme", "26-30"], "--readme writes all of the ledger"),
        (["--spec", "/"], "--spec: / has no docs/specification/2026-07-28"),
        (["--spec", "/nowhere"], "--spec: /nowhere has no docs"),
    ],
)
def test_wrong_words(words, complaint, capsys):
    with pytest.raises(SystemExit) as left:
        command.main(words)
    assert left.value.code == 2
    assert complaint in capsys.readouterr().err


def test_the_environment_may_name_a_text(monkeypatch, capsys):
    monkeypatch.setenv("MCP_SPEC", "/nowhere")
    with pytest.raises(SystemExit):
        command.main(["26-30"])


def test_it_is_a_verb_of_the_workbench(capsys):
    assert workbench_command.main(["ledger", "26-50"]) == 0
    assert "claims: 1; needs the network: 1" in capsys.readouterr().out


def test_from_a_shell(repo):
    words = [sys.executable, "-m", "workbench", "ledger", "26-30", "--json"]
    ran = subprocess.run(words, cwd=repo, capture_output=True, timeout=60, check=True)
    assert json.loads(ran.stdout)[0]["verdict"] == ledger.HOLDS
