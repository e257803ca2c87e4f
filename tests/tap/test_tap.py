"""The tap between real processes: nothing is changed, everything is kept, nobody is left behind."""

import contextlib
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from statistics import median

import anyio
import pytest
from mcp.client import Client as OfficialClient
from mcp.client.stdio import StdioServerParameters

from mcp_bare import tap
from mcp_bare.client import Client
from mcp_bare.errors import TransportClosed
from mcp_bare.stdio import StdioTransport
from mcp_bare.tape import CAME, SENT, Tape, compare
from tests.tap import parts
from tests.tap.helpers import came, part, remarks, sent, start, tapped
from tests.wire.helpers import PATIENCE, ROOT, environment, eventually, gone, open_client, text_of

BY_HAND = [sys.executable, str(ROOT / "toy_servers" / "calendar_by_hand.py")]
BY_SDK = [sys.executable, str(ROOT / "tests" / "oracle" / "servers" / "sdk_server.py")]
OURS = [sys.executable, str(ROOT / "tests" / "oracle" / "servers" / "toolkit_server.py")]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "wire.jsonl"


# --- bytes in are bytes out ---

STREAMS = {
    "nothing": b"",
    "a message": b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n',
    "half a line at the end": b'{"jsonrpc":"2.0"}\n{"json',
    "blank lines and CR": b"\n\r\n  \n\r\n\r",
    "no UTF-8": b"\xff\xfe\x00\n\xed\xa0\xbd\n\xc3",
    "a line separator in a string": '{"t":"\u2028\x85"}\n'.encode(),
    "what looks like a row of ours": b'{"tape": 1}\n{"at": 0, "dir": "!", "line": ""}\n',
    "every byte there is": bytes(range(256)) * 3,
    "a line of 16 MB": b'"' + b"x" * (16 << 20) + b'"\n',
    "noise in 16,000 lines": parts.noise(4 << 20),
}


@pytest.mark.parametrize("name", STREAMS)
def test_every_byte_passes_and_is_kept(out, name):
    given = STREAMS[name]
    ran = run(tapped(out, part("echo")), given)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert sha(ran.stdout) == sha(given)
    assert sha(sent(out)) == sha(came(out)) == sha(given)
    assert remarks(out) == ["the host closed its end", "the server ended: exit code 0"]


def test_a_server_that_speaks_first_and_much(out):
    ran = run(tapped(out, part("shout")), b"")
    assert sha(ran.stdout) == sha(came(out)) == sha(parts.noise(16 << 20))


def test_a_server_that_reads_first_and_much(out):
    given = parts.noise(16 << 20)
    ran = run(tapped(out, part("digest")), given)
    assert ran.stdout.decode().split() == [str(len(given)), sha(given)]


def test_pieces_pass_as_they_come_and_are_in_the_file_at_once(out):
    """No line has ended yet, and the other side has it already."""
    with start(tapped(out, part("echo"))) as host:
        for piece in (b'{"jsonrpc":', b'"2.0"', b"\xff", b"}\n"):
            host.stdin.write(piece)
            assert host.stdout.read(len(piece)) == piece
            assert sent(out).endswith(piece)
        host.stdin.close()
        assert host.wait(PATIENCE) == 0


def test_stderr_is_the_server_s_own(out):
    ran = run(tapped(out, part("exits")), b"x")
    assert (ran.returncode, ran.stderr) == (7, b"last words\n")


# --- clients and servers that know of no tap ---


def book(command, tape=None):
    """A conversation with a question in it; the calendar's answers."""
    person = {"elicitation/create": lambda asked: {"action": "accept", "content": START}}
    transport = StdioTransport(command, env=environment(), cwd=ROOT)
    with Client(transport, handlers=person, tape=tape, timeout=PATIENCE) as client:
        client.discover()
        tools = client.list_tools()
        booked = client.call_tool("create_event", {"title": "Dentist"})
    return [tool["name"] for tool in tools], text_of(booked)


START = {"startsAt": "2026-09-10T08:30:00Z"}


def test_our_client_and_the_calendar(out):
    direct, through = Tape(), Tape()
    assert book(BY_HAND, direct) == book(tapped(out, BY_HAND), through)
    assert compare(direct, through) == []
    recorded = Tape.load(out)
    wire = [(e.direction, e.payload) for e in recorded if e.direction in (SENT, CAME)]
    assert wire == [(e.direction, e.payload) for e in through], "byte for byte what the client saw"
    times = [entry.at for entry in recorded]
    assert times == sorted(times) and times[-1] > 0


def test_our_client_and_the_official_sdk_s_server(out):
    with open_client(tapped(out, BY_SDK)) as client:
        client.discover()
        names = [tool["name"] for tool in client.list_tools()]
    assert names and names == [
        tool["name"]
        for entry in Tape.load(out)
        if entry.direction == CAME and entry.message
        for tool in entry.message.get("result", {}).get("tools", [])
    ]


def test_the_official_sdk_s_client_and_our_server(out):
    command, *args = tapped(out, OURS)

    async def main():
        server = StdioServerParameters(command=command, args=args, env={"PYTHONPATH": str(ROOT)})
        with anyio.fail_after(PATIENCE):
            async with OfficialClient(server) as client:
                assert client.protocol_version == "2026-07-28"
                told = await client.call_tool("echo", {"text": "✓ 日本"})
                return told.content[0].text

    assert anyio.run(main) == "✓ 日本"
    methods = [e.message.get("method") for e in Tape.load(out) if e.direction == SENT]
    assert methods[0] == "server/discover" and "tools/call" in methods
    assert remarks(out)[-1].startswith("the server ended: ")


# --- either side's end ---


def test_a_server_that_is_killed(out):
    """The host sees the end of output, in the middle of a line, and dies its server's death."""
    direct, ran = run(part("dies"), b"x"), run(tapped(out, part("dies")), b"x")
    assert ran.returncode == direct.returncode == -signal.SIGKILL
    assert ran.stdout == direct.stdout == came(out) == b"whole\nhal"
    assert sent(out) == b"x"
    assert remarks(out)[-1] == "the server ended: by signal 9"


def test_a_server_that_exits(out):
    ran = run(tapped(out, part("exits")), b"x")
    assert (ran.returncode, ran.stdout, came(out)) == (7, b"whole\nhal", b"whole\nhal")


def test_our_client_tells_the_server_s_death_through_the_tap(out):
    client = open_client(tapped(out, part("exits")))
    with client, pytest.raises(TransportClosed) as end:
        client.discover()
    assert end.value.exit_code == 7 and "last words" in end.value.stderr_tail


def test_a_server_that_leaves_a_child_with_its_output(out):
    began = time.monotonic()
    ran = run(tapped(out, part("parent")), b"")
    child = int(re.search(rb"child (\d+)", ran.stdout)[1])
    assert ran.returncode == 0 and gone(child)
    assert time.monotonic() - began < PATIENCE


def test_a_host_that_closes_ends_a_server_that_stays(out):
    """End of input, SIGTERM, SIGKILL; the test lends its patience to the tap's."""
    script = f"from mcp_bare import tap; tap.leave(tap.run({part('stays')!r}, {str(out)!r}, 0.3))"
    ran = run([sys.executable, "-c", script], b"")
    assert tap.GRACE_S > 5, "longer than any host's own patience"
    assert ran.returncode == -signal.SIGKILL and gone(int(ran.stdout))
    assert remarks(out) == [
        "the host closed its end",
        "the server stays; SIGTERM",
        "the server stays; SIGKILL",
        "the server ended: by signal 9",
    ]


def test_a_server_that_is_busy_when_the_host_closes_may_finish(out):
    slow = [sys.executable, "-c", "import sys,time; sys.stdin.read(); time.sleep(1); print('done')"]
    ran = run(tapped(out, slow), b"")
    assert (ran.returncode, ran.stdout, came(out)) == (0, b"done\n", b"done\n")


HOST = """
import subprocess, sys, time
process = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
process.stdin.write(b"hello\\nhal")
print(process.pid, process.stdout.readline().decode(), flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("server", ["echo", "talker"])
def test_a_host_that_is_killed(out, server):
    with start([sys.executable, "-c", HOST, *tapped(out, part(server))]) as host:
        between = int(host.stdout.readline().split()[0])
        host.kill()
        host.wait(PATIENCE)
        assert gone(between)
    assert sent(out) == b"hello\nhal", "up to its last byte"
    assert remarks(out)[-1].startswith("the server ended")


@pytest.mark.parametrize("server", ["echo", "stays", "talker"])
def test_a_tap_that_is_killed(out, server):
    """Both sides read an end, and the file can be read."""
    with start(tapped(out, part(server))) as host:
        host.stdin.write(b"hello\nhal")
        assert eventually(lambda: out.exists() and len(out.read_bytes().splitlines()) >= 3)
        [behind] = children(host.pid, "parts.py")
        host.kill()
        host.wait(PATIENCE)
        assert host.stdout.read() is not None, "the end of output, not a hang"
        assert gone(behind)
    assert sent(out) == b"hello\nhal"


def test_a_host_that_reads_no_more(out):
    """The server's next write fails, as it would have without us."""
    with start(tapped(out, part("talker"))) as host:
        host.stdout.readline()
        host.stdout.close()
        assert host.wait(PATIENCE) == 1
        assert b"BrokenPipeError" in host.stderr.read()
    assert "the host does not read any more" in remarks(out)


def test_a_server_that_closes_its_output_and_goes_on(out):
    with start(tapped(out, part("mute"))) as host:
        assert host.stdout.read() == b""
        assert host.poll() is None, "the end of output is not the end of the server"
        host.stdin.write(b"still read\n")
        assert eventually(lambda: sent(out) == b"still read\n")
        host.stdin.close()
        assert host.wait(PATIENCE) == 0


def test_a_server_that_closes_its_input_and_goes_on(out):
    with start(tapped(out, part("deaf"))) as host:
        assert host.stdout.readline() == b"deaf\n"
        with pytest.raises(BrokenPipeError):
            for _ in range(1000):
                host.stdin.write(b"is anybody there\n")
                time.sleep(0.01)
        assert host.stdout.read(1) == b"."
        host.stdout.close()
        host.wait(PATIENCE)
    assert "the server closed its input" in remarks(out)


def test_a_host_that_dies_before_a_server_that_does_not_read(out):
    """A full pipe hides the end behind it; the end is found all the same."""
    script = f"from mcp_bare import tap; tap.run({part('reluctant')!r}, {str(out)!r}, 0.3)"
    with start([sys.executable, "-c", script]) as host:
        server = int(host.stdout.readline())
        os.set_blocking(host.stdin.fileno(), False)
        assert eventually(lambda: not host.stdin.write(b"x" * 65536))
        host.stdin.close()
        host.stdout.close()
        host.wait(PATIENCE)
        assert gone(server)


# --- signals ---


def test_signals_reach_the_server_and_its_answer_counts(out):
    with start(tapped(out, part("obeys"))) as host:
        assert host.stdout.readline() == b"ready\n"
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGTERM):
            host.send_signal(number)
            assert host.stdout.readline().decode().strip() == number.name
        assert host.wait(PATIENCE) == 3, "as the server chose"


def test_a_signal_that_the_server_does_not_handle_ends_both(out):
    with start(tapped(out, part("echo"))) as host:
        host.stdin.write(b"x")
        assert host.stdout.read(1) == b"x"
        host.terminate()
        assert host.wait(PATIENCE) == -signal.SIGTERM


def test_what_was_ignored_when_it_began_stays_ignored(out):
    """nohup, and a shell's background."""
    ignoring = after("import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)")
    with start([*ignoring, *tapped(out, part("echo"))]) as host:
        host.stdin.write(b"x")
        assert host.stdout.read(1) == b"x"
        host.send_signal(signal.SIGHUP)
        host.stdin.write(b"y")
        assert host.stdout.read(1) == b"y"
        host.stdin.close()
        assert host.wait(PATIENCE) == 0


# --- the file ---


def test_another_run_is_appended(out):
    for text in (b"one\n", b"two\nhal"):
        run(tapped(out, part("echo")), text)
    tape = Tape.load(out)
    assert tape.about["command"] == part("echo")
    assert [e.payload for e in tape if e.direction == SENT] == [b"one", b"two", b"hal"]
    assert "another run begins" in remarks(out)


def test_two_at_the_same_time_do_not_mix(out):
    with start(tapped(out, part("echo"))) as first:
        first.stdin.write(b"first\n")
        first.stdout.readline()
        run(tapped(out, part("echo")), b"second\n")
        first.stdin.close()
        first.wait(PATIENCE)
    assert sent(out) == b"first\n"
    assert sent(out.with_name("wire-2.jsonl")) == b"second\n"


def test_only_its_owner_may_read_it(out):
    run(tapped(out, part("echo")), b"secret\n")
    assert out.stat().st_mode & 0o077 == 0


def test_a_row_that_was_cut_off_is_told(out):
    """The machine lost its power, say; the next run begins a line of its own."""
    run(tapped(out, part("echo")), b"one\ntwo\n")
    whole = out.read_bytes()
    out.write_bytes(whole[: whole.index(b"two") + 1])
    assert remarks(out) == ["the recording was cut off here"]
    run(tapped(out, part("echo")), b"three\n")
    assert sent(out) == b"one\nthree\n"
    assert remarks(out)[:2] == ["the recording was cut off here", "another run begins"]


@pytest.mark.parametrize(("holds", "told"), [("my notes\n", "something else"), (None, "directory")])
def test_what_is_no_recording_is_left_alone(tmp_path, holds, told):
    path = tmp_path / "notes"
    path.mkdir() if holds is None else path.write_text(holds)
    ran = run(tapped(path, part("echo")), b"x\n")
    assert (ran.returncode, ran.stdout) == (1, b"") and told in ran.stderr.decode()
    assert holds is None or path.read_text() == holds


def test_a_disk_that_is_full_does_not_stop_the_wire(out):
    limited = after("import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))")
    given = b"x" * 100 + b"\n"
    ran = run([*limited, *tapped(out, part("echo"))], given * 1000)
    assert (ran.returncode, ran.stdout) == (0, given * 1000)
    assert ran.stderr.count(b"the recording ends here") == 1
    assert Tape.load(out).about["command"] == part("echo")


def test_a_command_that_cannot_be_started(out):
    ran = run(tapped(out, ["/no/such/server"]), b"")
    assert ran.returncode == 1 and b"cannot start" in ran.stderr
    assert "cannot start" in remarks(out)[0]


# --- time ---


def test_it_costs_little_time(out, record_property):
    """MEASURED. A round trip through the tap beside one without it, in turns, loosely."""
    with start(part("echo")) as bare, start(tapped(out, part("echo"))) as through:
        turns = [(rounds(bare), rounds(through)) for _ in range(7)]
        for host in (bare, through):
            host.stdin.close()
            host.wait(PATIENCE)
    ratio = median(ours for _, ours in turns) / median(direct for direct, _ in turns)
    record_property("ratio", round(ratio, 1))
    assert ratio < 30, f"{ratio:.1f} times a bare pipe's round trip"


def rounds(host, count=100):
    began = time.perf_counter()
    for _ in range(count):
        host.stdin.write(b"0123456789\n")
        host.stdout.readline()
    return time.perf_counter() - began


# --- the line in a host's configuration ---


def test_the_readme_s_configuration_runs(tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"```json\n(\{\s*\"mcpServers\".*?)```", text, re.S)
    [server] = json.loads(shown)["mcpServers"].values()
    args = [
        str(tmp_path / "out.jsonl") if arg.endswith(".jsonl") else arg for arg in server["args"]
    ]
    args = [sys.executable if arg == "python" else arg for arg in args]
    args = [
        str(ROOT / arg[arg.index("toy_servers") :]) if "toy_servers" in arg else arg for arg in args
    ]
    assert server["command"] == "python" and set(server["env"]) == {"PYTHONPATH"}
    transport = StdioTransport([sys.executable, *args], env=environment(), cwd=tmp_path)
    with Client(transport, timeout=PATIENCE) as client:
        assert client.list_tools()
    assert sent(tmp_path / "out.jsonl")


def run(command, given):
    return subprocess.run(
        command, input=given, capture_output=True, env=environment(), cwd=ROOT, timeout=PATIENCE
    )


def after(statement):
    """What goes before a command that is to run after a statement, in the same process."""
    return [
        sys.executable,
        "-c",
        f"{statement}; import os, sys; os.execv(sys.argv[1], sys.argv[1:])",
    ]


def sha(data):
    return hashlib.sha256(data).hexdigest()


def children(pid, word):
    import psutil

    found = []
    for child in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            found += [child.pid] if word in " ".join(child.cmdline()) else []
    return found
