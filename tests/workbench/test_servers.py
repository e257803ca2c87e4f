"""The servers of the notebooks: started, or played, and gone when nobody holds them."""

import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from mcp_bare import era, revision
from mcp_bare.client import Client
from mcp_bare.stdio import StdioTransport
from mcp_bare.tape import ReplayTransport, Tape, compare
from workbench import node, recorded, reference, scenarios, servers

LEGACY = revision.LEGACY[0]
OF_NODE = [name for name in scenarios.SCENARIOS if name.startswith("everything_")]
OF_SDK = [name for name in scenarios.SCENARIOS if name.startswith("sdk_")]
BARE = pytest.mark.off_the_record("what the reference server does without a handshake")


@pytest.fixture
def no_node(monkeypatch, tmp_path):
    """A machine without Node: nothing on PATH, nothing in the environment."""
    monkeypatch.setattr(node, "search_path", lambda: str(tmp_path))


@pytest.fixture
def no_sdk(monkeypatch):
    """An environment without the official SDK."""
    monkeypatch.setattr(servers.importlib.util, "find_spec", lambda name: None)


# --- the toys ---


def test_a_toy_is_started_with_this_very_python():
    argv = servers.command("calendar_by_hand", "--x")
    assert (argv[0], Path(argv[1]).name, argv[2]) == (sys.executable, "calendar_by_hand.py", "--x")


@pytest.mark.parametrize("name", ["calender_by_hand", "__init__", "../workbench/servers", ""])
def test_an_unknown_toy_is_named_with_those_that_there_are(name):
    with pytest.raises(ValueError, match="calendar_by_hand"):
        servers.command(name)


def test_a_toy_gets_what_is_added_to_the_environment(monkeypatch):
    monkeypatch.setenv("PYTHONVERBOSE", "")
    with servers.open_toy("calendar_by_hand", env={"PYTHONVERBOSE": "1"}) as client:
        client.list_tools()
        assert "import " in client.exchange.transport.stderr_tail


RERUN = """
import psutil
from workbench import servers
from workbench.tape_view import show
client = servers.open_toy("calendar_by_hand")
client.list_tools()
view = show(client)
toys = [c for c in psutil.Process().children() if "calendar_by_hand" in " ".join(c.cmdline())]
print(len(toys))
view
"""


def test_a_cell_that_is_run_again_leaves_one_server(repo):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(RERUN) for _ in range(5)])
    NotebookClient(
        notebook, kernel_name="python3", resources={"metadata": {"path": repo}}
    ).execute()
    counted = [cell.outputs[0].text for cell in notebook.cells]
    assert counted == ["1\n"] * 5


# --- with Node, without it ---


@BARE
@pytest.mark.parametrize("name", OF_NODE)
def test_the_reference_server_says_what_is_on_the_tape(name, node_parts):
    live, tape = Tape(), recorded.load(name)
    scenarios.SCENARIOS[name].ask(servers.everything(name), live)
    assert compare(answers(live), answers(tape)) == []


@pytest.mark.parametrize("name", OF_SDK)
def test_the_sdk_says_what_is_on_the_tape(name):
    pytest.importorskip("mcp")
    live, tape = Tape(), recorded.load(name)
    scenarios.SCENARIOS[name].ask(servers.python_sdk(name), live)
    assert compare(answers(live), answers(tape)) == []


def answers(tape):
    """A tape without notifications and the server's own requests: when they come is chance."""
    kept = Tape()
    for entry in tape:
        if entry.direction == "→" or "method" not in (entry.message or {"method": ""}):
            kept.entries.append(entry)
    return kept


@BARE
@pytest.mark.parametrize("name", OF_NODE)
def test_without_node_the_tape_is_played_and_says_so(name, no_node, capsys):
    played = Tape()
    scenarios.SCENARIOS[name].ask(servers.everything(name), played)
    assert compare(played, recorded.load(name)) == []
    date = recorded.load(name).about["recorded"]
    assert capsys.readouterr().out == (
        f"Node is not here: this is the tape recorded on {date} with server-everything 2026.8.31.\n"
    )


@pytest.mark.parametrize("name", OF_SDK)
def test_without_the_sdk_the_tape_is_played_and_says_so(name, no_sdk, capsys):
    played = Tape()
    scenarios.SCENARIOS[name].ask(servers.python_sdk(name), played)
    assert compare(played, recorded.load(name)) == []
    assert capsys.readouterr().out.startswith("The Python SDK is not here: this is the tape rec")


def test_node_without_its_packages_is_no_reference_server(monkeypatch, capsys):
    monkeypatch.setattr(node, "ready", lambda: node.Ready(False, "node_modules is missing"))
    assert isinstance(servers.everything("everything_bare")(), ReplayTransport)
    assert capsys.readouterr().out.startswith("The npm parts are not here (node_modules is missing")


@pytest.mark.parametrize("ask", [servers.everything, servers.python_sdk])
def test_a_wrong_name_is_wrong_also_with_the_server(ask):
    with pytest.raises(ValueError, match="everything_bare"):
        ask("everything_else")


def test_a_recording_can_be_played_again_and_be_left_early(no_node):
    for _ in range(2):
        client, verdict = era.connect(servers.everything("everything_probe"))
        with client:
            assert (verdict.era, client.version) == ("legacy", "2025-11-25")
            assert len(client.list_tools()) == 13


def test_the_reference_server_is_node_itself_with_an_environment_of_its_own(node_parts):
    transport = servers.everything("everything_bare")()
    assert isinstance(transport, StdioTransport)
    assert Path(transport.command[0]).read_bytes()[:2] != b"#!"
    assert set(servers.bare_environment()) <= {"PATH", "SYSTEMROOT", "TEMP", "TMP"}


# --- the chapter's figures ---


@pytest.mark.parametrize(
    ("name", "tools"),
    [("everything_bare", 12), ("everything_initialized", 13), ("everything_probe", 13)],
)
def test_how_many_tools_depends_on_what_was_said_before(name, tools):
    results = [(entry.message or {}).get("result", {}) for entry in recorded.load(name)]
    assert [len(result["tools"]) for result in results if "tools" in result] == [tools]


def test_how_many_tools_depends_on_what_the_client_claims(no_node):
    found = reference.tools_by_claim(servers.everything("everything_claims"))
    assert [len(names) for names in found.values()] == [13, 14, 14, 14, 15, 17, 19]


@pytest.mark.parametrize(
    ("open_it", "name"),
    [(servers.everything, "everything_initialize"), (servers.python_sdk, "sdk_initialize")],
)
def test_initialize_never_settles_on_the_current_revision(open_it, name):
    with Client(open_it(name)(), version=LEGACY) as client:
        settled = client.request("initialize", scenarios.ASKS_CURRENT)["protocolVersion"]
    assert settled == LEGACY


# --- recording ---


def test_every_scenario_is_recorded_and_every_tape_has_its_scenario():
    assert recorded.names() == sorted(scenarios.SCENARIOS)
    for name in recorded.names():
        about = recorded.load(name).about
        assert {"what", "recorded", "server", "on"} <= about.keys()


def test_a_tape_is_recorded_again(monkeypatch, tmp_path):
    pytest.importorskip("mcp")
    monkeypatch.setattr(recorded, "TAPES", tmp_path / "recorded")
    scenarios.record("sdk_modern")
    again = recorded.load("sdk_modern")
    monkeypatch.undo()
    assert compare(again, recorded.load("sdk_modern")) == []
    assert again.about["server"] == recorded.load("sdk_modern").about["server"]


def test_where_the_server_is_missing_nothing_is_recorded(no_node):
    with pytest.raises(scenarios.NothingToRecord, match="everything_bare"):
        scenarios.record("everything_bare")


def test_waiting_for_what_never_comes_ends():
    with servers.open_toy("calendar_by_hand") as client:
        client.list_tools()
        assert reference.wait_for(client, reference.CHANGED, seconds=0.05) is False
