"""The rude server is what it says: a table of faults, and a control that has none."""

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

from tests.wire.helpers import ROOT, exchange, open_client, rude, run, say
from tests.wire.test_server_rows import OK, TABLE

spec = importlib.util.spec_from_file_location("rude", ROOT / "toy_servers" / "rude.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)


def test_every_fault_stands_in_the_docstring_and_names_its_clause():
    for name, (clause, _) in module.FAULTS.items():
        assert f" {name}" in module.__doc__, f"{name} is not in the docstring"
        page = clause.split(":")[0]
        known = page == "nothing" or page.startswith(("basic/", "server/"))
        assert known, f"{name} names no page: {clause}"


def test_it_needs_nothing_but_the_standard_library():
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    names = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert names <= sys.stdlib_module_names
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]


def test_without_a_fault_it_tells_which_there_are():
    _, done = exchange([sys.executable, module.__file__], b"")
    assert done.returncode == 1 and b"stdout-banner" in done.stderr and done.stdout == b""


ONLY_OURS = {
    "a key given twice",  # JSON leaves open what it means
    "129 levels",  # a limit of our own
    "a 400-digit integer",
    "a tool that prints in every way",  # it has no such tools
    "a tool that asks",
    "half a pair goes out",
}


@pytest.mark.parametrize("row", [r for r in TABLE if r.name not in ONLY_OURS], ids=lambda r: r.name)
def test_the_control_survives_what_ours_does(row):
    answers, done = exchange(rude("no-fault"), row.given, **row.env)
    found = [(a.get("id"), a["error"]["code"] if "error" in a else OK) for a in answers]
    assert sorted(found, key=str) == sorted(row.answers, key=str)
    assert done.returncode == 0


# method, params without `_meta`, the code that is due
REFUSED = [
    ("tools/call", {"name": "no such tool"}, -32602),
    ("tools/list", {"cursor": "no such cursor"}, -32602),
    ("resources/list", {}, -32601),
    ("no/such/method", {}, -32601),
]


@pytest.mark.parametrize(("method", "params", "code"), REFUSED)
def test_the_control_refuses_as_it_should(method, params, code):
    [answer], _ = exchange(rude("no-fault"), say(1, method, params))
    assert answer["error"]["code"] == code


def test_the_control_is_a_good_server():
    with open_client(rude("no-fault")) as client:
        assert client.discover()["capabilities"] == {"tools": {}}
        assert [tool["name"] for tool in client.list_tools()] == ["echo"]
        assert client.call_tool("echo", {})["isError"] is True
        with client.listen({"toolsListChanged": True}, print) as subscription:
            assert subscription.agreed == {}


@pytest.mark.parametrize(
    ("fault", "shows"),
    [
        ("no-result-type", lambda result: "resultType" not in result),
        ("no-cache-hints", lambda result: "ttlMs" not in result),
    ],
)
def test_a_fault_in_the_answer_is_there(fault, shows):
    answers, _ = exchange(rude(fault), say(1, "server/discover") + say(2, "tools/list"))
    assert all(shows(answer["result"]) for answer in answers)


LAX = {
    "knows-everything": say(1, "no/such/method"),
    "ignores-meta": b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n',
    "accepts-any-version": say(1, "tools/list").replace(b"2026-07-28", b"1999-12-31"),
}


@pytest.mark.parametrize("fault", LAX)
def test_a_lax_server_answers_what_the_control_refuses(fault):
    assert "result" in exchange(rude(fault), LAX[fault])[0][0]
    assert "error" in exchange(rude("no-fault"), LAX[fault])[0][0]


def test_an_event_before_its_acknowledgement_is_there():
    answers, _ = exchange(rude("event-before-ack"), say(1, "subscriptions/listen"))
    assert answers[0]["method"] == "notifications/tools/list_changed"


def test_a_fragile_server_dies_of_one_line():
    answers, done = exchange(rude("fragile"), b"hello\n" + say(1, "tools/list"))
    assert not answers and done.returncode != 0


STAY = {
    "slow-start",
    "never-reads",
    "ignores-eof",
    "ignores-sigterm",
    "has-children",
    "dies-with-children",
}


@pytest.mark.parametrize("fault", [name for name in module.FAULTS if name not in STAY])
def test_no_fault_is_a_crash(fault):
    """Nor is it a server that stays, but for those whose fault it is (`test_client_rows`)."""
    given = say(1, "server/discover") + say(2, "tools/list") + say(3, "no/such/method")
    done = run(rude(fault), given)
    assert b"Traceback (most recent" not in done.stderr
