"""Odd input to a server, row by row: what it is given, and what it answers.

Every row runs on the toolkit's server and must hold, and on a tutorial's (`naive`) and must not.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

import pytest

from tests.wire.helpers import LAB, NAIVE, PATIENCE, call, environment, exchange, line, say

OK = "result"
LAST = say("last", "tools/list")  # the server must still be there after whatever came before
STILL_THERE = ("last", OK)


@dataclass(frozen=True)
class Row:
    """Lines to a server, and its answers as (id, error code or OK)."""

    name: str
    given: bytes
    answers: list
    env: dict = field(default_factory=dict)
    says: str | None = None  # the text of the first result


def bad(name, given, code, id=None):
    """A row in which one line is refused and the server goes on."""
    return Row(name, given + b"\n" + LAST, [(id, code), STILL_THERE])


def envelope(**members):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", **members}).encode()


def note(method, **params):
    return line({"jsonrpc": "2.0", "method": method, "params": params})


CP1252 = {"PYTHONIOENCODING": "cp1252"}
TABLE = [
    # One odd line kills the server: only a JSON decode error was caught
    bad("a 5,000-digit integer", b'{"n":' + b"9" * 5000 + b"}", -32700),
    bad("a 400-digit integer", b'{"n":' + b"9" * 400 + b"}", -32700),
    bad("50,000 opening brackets", b"[" * 50_000, -32700),
    bad("129 levels", envelope()[:-1] + b',"x":' + b"[" * 129 + b"]" * 129 + b"}", -32700),
    bad("1e400", envelope()[:-1] + b',"x":1e400}', -32700),
    bad("NaN", envelope()[:-1] + b',"x":NaN}', -32700),
    bad("a key given twice", envelope()[:-1] + b',"id":2}', -32700),
    # A bad byte ends server or client
    bad("FF FE", b"\xff\xfe", -32700),
    bad("UTF-8 cut short inside a string", b'{"text":"\xe6\x97"}', -32700),
    # Valid JSON that is no object crashes the loop or is met with silence
    bad("a number", b"42", -32600),
    bad("null", b"null", -32600),
    bad("an empty array", b"[]", -32600),
    bad("a batch", b"[" + envelope() + b"]", -32600),
    bad("no jsonrpc", b'{"id":1,"method":"tools/list"}', -32600, 1),
    bad("jsonrpc 1.0", envelope(jsonrpc="1.0"), -32600, 1),
    bad("params as an array", envelope(params=[1]), -32602, 1),
    bad("method as a number", envelope(method=7), -32600, 1),
    # A notification is answered, or id: null taken for one
    Row("an unknown notification", note("notifications/x") + LAST, [STILL_THERE]),
    Row("tools/call with no id", note("tools/call", name="echo") + LAST, [STILL_THERE]),
    bad("id null", envelope(id=None), -32600),
    bad("id true", envelope(id=True), -32600),
    bad("id 1.5", envelope(id=1.5), -32600),
    # The system code page and CRLF creep in
    Row("a code page without these", call(1, "echo", text="✓ 日本"), [(1, OK)], CP1252, "✓ 日本"),
    Row("CR LF and blank lines", b"\r\n\n  \n" + LAST[:-1] + b"\r\n\n", [STILL_THERE]),
    # A lone surrogate cannot be written back
    Row("half a pair comes in", call(1, "echo", text="\ud83d"), [(1, OK)], says="\ud83d"),
    Row("half a pair goes out", call(1, "half_a_pair"), [(1, OK)], says="\ud83d"),
    # A banner on stdout breaks the handshake: ours cannot do it
    Row("a tool that prints in every way", call(1, "shout"), [(1, OK)], says="done"),
    Row("a tool that asks", call(1, "prompt") + LAST, [(1, OK), STILL_THERE], says="nobody there"),
]  # fmt: skip


def holds(row, command):
    """The row's claim, on this server."""
    answers, done = exchange(command, row.given, **row.env)
    found = [(a.get("id"), a["error"]["code"] if "error" in a else OK) for a in answers]
    assert sorted(found, key=str) == sorted(row.answers, key=str)
    if row.says is not None:
        first = next(a for a in answers if a.get("id") == 1)
        assert first["result"]["content"] == [{"type": "text", "text": row.says}]
    assert done.returncode == 0, "it leaves in peace at the end of its input"
    assert done.stdout.endswith(b"\n") and b"\r" not in done.stdout


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_row(row):
    holds(row, LAB)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_a_naive_server_fails(row):
    with pytest.raises((AssertionError, ValueError)):
        holds(row, NAIVE)


def test_input_that_ends_without_a_newline_is_answered():
    """printf '%s' request | server. (A naive server does this too: its readline allows it.)"""
    answers, _ = exchange(LAB, LAST.rstrip(b"\n"))
    assert [a["id"] for a in answers] == ["last"]


def test_half_a_message_at_the_end_is_refused():
    answers, done = exchange(LAB, LAST + LAST[:20])
    assert [a.get("error", {}).get("code") for a in answers] == [None, -32700]
    assert done.returncode == 0


def test_what_a_tool_prints_goes_to_stderr():
    _, done = exchange(LAB, call(1, "shout"))
    assert set(done.stderr.decode().split("\n")) >= {
        "print", "the first stdout", "file descriptor 1", "a child"
    }  # fmt: skip


def test_a_refusal_is_not_larger_than_what_it_refuses():
    """An id that is a list of 200 kB comes back as a few words, not as 200 kB."""
    answers, done = exchange(LAB, envelope(id=["x" * 200_000], method=["y" * 200_000]) + b"\n")
    assert answers[0]["error"]["code"] == -32600 and len(done.stdout) < 1000


def test_a_great_many_keys_with_one_twice_are_refused_in_linear_time():
    """The naive way to find the second key (list.count for each) takes many minutes here."""
    keys = ",".join(f'"{n}":0' for n in range(300_000))
    answers, _ = exchange(LAB, b"{" + keys.encode() + b',"299999":1}\n' + LAST)
    assert answers[0]["error"]["message"].startswith("not JSON: the key '299999' is given twice")
    assert answers[1]["id"] == "last"


def test_what_json_cannot_say_is_an_internal_error_and_its_progress_is_left_out():
    """An error without an id, for a notification that nobody asked about, must not appear."""
    asks = say(1, "tools/call", {"name": "unsayable", "arguments": {}})
    message = json.loads(asks)
    message["params"]["_meta"] = {**message["params"]["_meta"], "progressToken": 1}
    answers, done = exchange(LAB, line(message))
    assert [(a.get("id"), a["error"]["code"]) for a in answers] == [(1, -32603)]
    assert b"notifications/progress" in done.stderr


def test_a_full_pipe_that_does_not_block_gets_every_byte():
    """Standard output may come in non-blocking mode (Node gives such pipes): nothing is lost.

    Not shown on the naive server: whether its print loses bytes depends on the size of its buffer.
    """
    ours, its = os.pipe()
    os.set_blocking(its, False)
    server = subprocess.Popen(LAB, stdin=subprocess.PIPE, stdout=its, env=environment())
    os.close(its)
    text = "x" * 1_000_000
    got = bytearray()

    def read():
        while chunk := os.read(ours, 65536):
            got.extend(chunk)

    server.stdin.write(call(1, "echo", text=text))
    server.stdin.flush()
    time.sleep(0.3)  # let it fill the pipe; a shorter wait would only test less
    reader = threading.Thread(target=read)
    reader.start()
    server.stdin.close()
    assert server.wait(PATIENCE) == 0
    reader.join(PATIENCE)
    os.close(ours)
    assert json.loads(got)["result"]["content"][0]["text"] == text


# --- how a server leaves ---


def started(**how):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(LAB, env=environment(), **{**pipes, **how})


def test_a_client_that_vanishes_is_no_crash():
    """Nobody reads any more: the server ends at the end of its input, and says nothing of it."""
    with started() as server:
        server.stdout.close()
        server.stdin.write(say(1, "tools/list") + call(2, "echo", text="x"))
        server.stdin.close()
        assert server.wait(PATIENCE) == 0
        assert server.stderr.read() == b""


def test_a_client_that_vanishes_from_a_socket_is_no_crash():
    """Node's pipes are sockets: what was not read becomes a reset, not a broken pipe."""
    ours, its = socket.socketpair()
    with its, started(stdin=its, stdout=its) as server:
        its.close()
        ours.sendall(say(1, "tools/list"))
        assert ours.recv(1), "it is up, and the rest of its answer is never read"
        ours.sendall(call(2, "shout"))
        ours.close()
        assert server.wait(PATIENCE) == 0
        assert b"Traceback" not in server.stderr.read()


def test_ctrl_c_at_the_terminal_is_no_crash():
    with started() as server:
        server.stdin.write(say(1, "tools/list"))
        server.stdin.flush()
        server.stdout.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(PATIENCE) == 0
        assert server.stderr.read() == b""


def test_a_server_without_a_stderr():
    """Started with 2>&-, as some service managers do: what tools print goes nowhere."""
    shell = ["sh", "-c", 'exec "$@" 2>&-', "sh", *LAB]
    answers, _ = exchange(shell, call(1, "shout") + call(2, "leave") + LAST)
    assert {answer["id"] for answer in answers} == {1, 2, "last"}


def test_a_server_leaves_at_the_end_of_its_input_with_everything_open():
    """A subscription, a storm of events, a call that would work for ever: `patience` bounds it."""
    listen = say(1, "subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    script = "from tests.wire import lab; lab.serve(lab.build(), patience=0.2)"
    given = listen + call(2, "storm") + call(3, "work")
    answers, done = exchange([sys.executable, "-c", script], given)
    assert done.returncode == 0
    assert {answer["id"] for answer in answers if "id" in answer} == {1, 2}
