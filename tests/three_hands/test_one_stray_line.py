"""A line printed where only messages may go: where it lands in the stream, and who minds."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from mcp_bare import revision
from workbench import hands, node, raw_stream

LINE = "incidents server starting"
PRINTS = f"print({LINE!r})"
FLUSHES = f"print({LINE!r}, flush=True)"
LOGS = f"console.log({LINE!r})"
WHO = {"name": "test", "version": "0"}
MODERN = {"_meta": revision.request_meta({}, WHO)}
LEGACY = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": WHO}
TOOLS = "tools: search_incidents, open_incident, resolve_incident"


def stream(name: str, before: str, *requests: tuple, failing=False, **env: str):
    """What the server says to (method, params), as "stray" and "answer" in their order."""
    method = "initialize" if name == "typescript-v1" else "tools/list"
    asked = requests or ((method, LEGACY if name == "typescript-v1" else MODERN),)
    messages = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(asked, 1)
    ]
    with hands.scratch() as folder:
        words = hands.command(name, before=before, failing=failing)
        said = raw_stream.talk(words, messages, {**hands.environment(folder), **env})
    return ["answer" if raw_stream.message(line) else "stray" for line in said.out], said.err


@pytest.mark.parametrize(
    ("name", "before", "env", "lands"),
    [
        ("typescript", LOGS, {}, ["stray", "answer"]),
        ("typescript-v1", LOGS, {}, ["stray", "answer"]),
        ("python", PRINTS, {}, ["answer", "stray"]),  # a block buffer, flushed at the end
        ("python-chapter", PRINTS, {}, ["answer", "stray"]),
        ("fastmcp", PRINTS, {}, ["answer", "stray"]),
        ("python", FLUSHES, {}, ["stray", "answer"]),
        ("python", PRINTS, {"PYTHONUNBUFFERED": "1"}, ["stray", "answer"]),
        ("bare", PRINTS, {}, ["answer"]),  # flushed when output is stderr already
        ("bare", FLUSHES, {}, ["stray", "answer"]),
    ],
)
def test_where_it_lands(hand, name: str, before: str, env: dict, lands: list[str]) -> None:
    found, err = stream(hand(name), before, **env)
    assert found == lands
    assert (LINE in err) is ("stray" not in lands)  # it is somewhere


@pytest.mark.parametrize(
    ("name", "corrupts"),
    [("bare", 0), ("python", 0), ("python-chapter", 0), ("typescript", 1), ("typescript-v1", 1)],
)
def test_a_print_inside_a_tool(hand, name: str, corrupts: int) -> None:
    call = ("tools/call", {"name": "mutter", **MODERN})
    asked = (("initialize", LEGACY), call) if name == "typescript-v1" else (call,)
    found, err = stream(hand(name), "", *asked, failing=True)
    assert (found.count("stray"), found.count("answer")) == (corrupts, len(asked))
    assert ("looking" in err) is (not corrupts)


# --- three readers ---


def run(words: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a client to its end, in a folder of its own."""
    with hands.scratch() as folder:
        return subprocess.run(
            words, cwd=folder, env=hands.environment(folder), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip


def typescript(script: str) -> list[str]:
    return [hands.interpreter("typescript"), str(hands.TYPESCRIPT / script)]


def dirty(name: str) -> list[str]:
    return hands.command(name, before=LOGS if name.startswith("typescript") else PRINTS)


@pytest.mark.parametrize(("name", "got"), [("typescript", []), ("python", ["id 1", "id 2"])])
def test_seven_naive_lines_die(hand, name: str, got: list[str]) -> None:
    """At once where the line comes first; after both answers where it comes at the end."""
    ran = run([*typescript("naive.ts"), *dirty(hand(name))])
    assert ran.returncode == 1 and ran.stdout.splitlines() == got
    assert "Unexpected token 'i', \"incidents \"... is not valid JSON" in ran.stderr


def test_seven_naive_lines_live_on_a_clean_server(hand) -> None:
    ran = run([*typescript("naive.ts"), *hands.command(hand("typescript"))])
    assert ran.stdout.splitlines() == ["id 1", "id 2", "the end"]


@pytest.mark.parametrize(("client", "says"), [("client.ts", ""), ("chapter/client.ts", "Syntax")])
def test_an_sdk_client_shrugs(hand, client: str, says: str) -> None:
    """Today's says nothing at all; the chapter's tells its `onerror`, where there is one."""
    hand("typescript-v1")
    ran = run([*typescript(client), *dirty(hand("typescript"))])
    assert ran.returncode == 0 and ran.stdout.splitlines()[0] == TOOLS
    assert ran.stderr.startswith(says) and bool(ran.stderr) is bool(says)


def test_the_python_client_goes_on_and_says_so(hand) -> None:
    script = node.ROOT / "workbench" / "ledger" / "sdk" / "sdk_client.py"
    ran = run([sys.executable, str(script), json.dumps(dirty(hand("typescript")))])
    assert json.loads(ran.stdout) == {
        "tools": 3,
        "log": ["ERROR Failed to parse JSONRPC message from server"],
    }


@pytest.mark.parametrize("name", ["typescript", "python"])
def test_the_inspector_shows_the_same_bytes_as_of_a_clean_server(hand, inspector, name) -> None:
    ran = [run(hands.inspect(each, "tools/list")) for each in (dirty(name), hands.command(name))]
    assert ran[0].stdout == ran[1].stdout and len(json.loads(ran[0].stdout)["tools"]) == 3
    assert [each.returncode for each in ran] == [0, 0] and not ran[0].stderr


# --- who can be talked to at all ---


def test_clients_that_open_with_initialize_do_not_reach_a_server_of_this_revision(
    hand, inspector
) -> None:
    bare = hands.command(hand("bare"))
    hand("typescript-v1")
    found_out = run([*typescript("client.ts"), *bare])
    assert found_out.stdout.splitlines()[0] == TOOLS  # it is told to find out
    for words in (
        [*typescript("chapter/client.ts"), *bare],
        hands.inspect(bare, "tools/list", "legacy"),
    ):
        refused = run(words)
        assert refused.returncode and "Unsupported protocol version" in refused.stderr
    assert run(hands.inspect(bare, "tools/list")).returncode == 0


def test_the_chapters_client_sees_no_difference_between_servers(hand) -> None:
    """27-04: the same names, the same handle, whoever serves."""
    told = []
    for name in ("python-chapter", "typescript-v1", "python", "typescript"):
        ran = run([*typescript("chapter/client.ts"), *hands.command(hand(name))])
        tools, opened = ran.stdout.splitlines()
        [content] = json.loads(opened.removeprefix("open_incident -> "))
        told.append((tools, json.loads(content["text"])))
    assert told == [(TOOLS, {"id": "INC-3"})] * 4


def test_without_close_the_chapters_client_never_ends(hand, tmp_path) -> None:
    """27-04: ten of its lines do all the work; the eleventh lets it go."""
    hand("typescript-v1")
    text = (hands.V1 / "client.ts").read_text()
    assert "await client.close();" in text
    node_itself = [hands.interpreter("typescript"), "--input-type=module-typescript"]
    code = ["--eval", text.replace("await client.close();", ""), "in place of the script's name"]
    with subprocess.Popen(
        [*node_itself, *code, *hands.command("typescript")],
        cwd=hands.V1, env=hands.environment(tmp_path), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout.readline().strip() == TOOLS
            assert "INC-3" in process.stdout.readline()
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(3)
        finally:
            process.terminate()
            process.wait(10)
