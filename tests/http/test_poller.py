"""One thread serves all connections: nobody is held up by who is slow, and threads stay few."""

from __future__ import annotations

import contextlib
import io
import socket
import subprocess
import sys
import threading
import time

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_bare import http_request
from mcp_bare.errors import Refused
from mcp_bare.http_server import HttpServer
from mcp_bare.http_wire import Wire as ServerWire
from mcp_bare.server import Server
from tests.http import lab
from tests.http.lab import Wire, call, written
from tests.protocol.asking import examples

ECHO = call("echo", text="hé")
MANY = 32


def threads() -> int:
    return sum("mcp-http" in thread.name for thread in threading.enumerate())


def seconds(wire: Wire) -> float:
    """How long a quick call takes here."""
    begun = time.monotonic()
    assert wire.post(ECHO).status == 200
    return time.monotonic() - begun


@contextlib.contextmanager
def wires(http: HttpServer, count: int):
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(Wire(http.port)) for _ in range(count)]


def test_connections_have_no_threads(http):
    with wires(http, MANY) as many:
        for wire in many * 3:
            assert wire.post(ECHO).status == 200
        assert lab.eventually(lambda: threads() == 1), "one that waits for all of them"


@pytest.mark.parametrize("size", [1, 40, len(written(ECHO)) - 1])
def test_halves_of_requests_hold_nobody_up(http, size):
    with wires(http, MANY) as many, Wire(http.port) as quick:
        usual = max(seconds(quick) for _ in range(5))
        for wire in many:
            wire.send(written(ECHO)[:size])
        assert seconds(quick) < max(1.0, 20 * usual), "far less than a request may take"
        for wire in many:
            wire.send(written(ECHO)[size:])
        assert [wire.reply().status for wire in many] == [200] * MANY
        assert lab.eventually(lambda: threads() == 1)


def test_clients_that_do_not_read_hold_nobody_up():
    server = Server("large", "1")
    for name, letters in (("large", 8_000_000), ("echo", 1)):
        tool = {"name": name, "inputSchema": {"type": "object"}}
        server.tool(tool)(lambda call, letters=letters: "x" * letters)
    with HttpServer(server) as http, wires(http, 4) as many, Wire(http.port) as quick:
        for wire in many:
            wire.send(written(call("large")))
        assert lab.eventually(lambda: threads() > len(many)), "each waits for its reader"
        assert seconds(quick) < 1.0
        for wire in many:
            assert len(lab.said(wire.reply().json["result"])) == 8_000_000
        assert lab.eventually(lambda: threads() == 1)


def test_calls_that_last_run_side_by_side(http):
    """Each begins although those before it have not ended."""
    with wires(http, MANY) as many, Wire(http.port) as other:
        for wire in many:
            wire.send(written(call("work")))
        told = lambda: lab.said(other.post(call("confess")).json["result"])  # noqa: E731
        assert lab.eventually(lambda: told().count("began") == MANY)
        for wire in many:
            wire.close()
        assert lab.eventually(lambda: told().count("cancelled") == MANY)
        assert lab.eventually(lambda: threads() == 1)


def test_calls_that_are_a_little_slow_run_side_by_side():
    """None of them lasts long enough to be noticed by the watch."""
    server = Server("nap", "1")
    nap = lambda call: time.sleep(0.005) or "slept"  # noqa: E731
    server.tool({"name": "nap", "inputSchema": {"type": "object"}})(nap)

    def calls(wire: Wire, count: int = 20) -> None:
        for _ in range(count):
            assert wire.post(call("nap")).status == 200

    with HttpServer(server) as http, wires(http, 8) as many:
        begun = time.monotonic()
        calls(many[0])
        one_after_the_other = len(many) * (time.monotonic() - begun)
        clients = [threading.Thread(target=calls, args=(wire,)) for wire in many]
        begun = time.monotonic()
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        assert time.monotonic() - begun < 0.6 * one_after_the_other


def test_a_handler_s_mistake_leaves_the_thread_alive(http):
    with Wire(http.port) as wire:
        for how in ("exception", "exit") * 3:
            wire.post(call("fail", how=how))
        assert wire.post(ECHO).status == 200


FEW_FILES = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
from mcp_bare.http_server import HttpServer
from tests.http import lab
with HttpServer(lab.build()) as http:
    print(http.port, flush=True)
    sys.stdin.read()
"""


def test_a_server_without_file_descriptors_waits_for_some(repo):
    """It serves those it has, turns no circles, and takes in the others when there is room."""
    command = [sys.executable, "-c", FEW_FILES]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=repo, text=True, **pipes) as server:
        port = int(server.stdout.readline())
        with Wire(port) as early, contextlib.ExitStack() as stack:
            assert early.post(ECHO).status == 200
            many = [stack.enter_context(Wire(port)) for _ in range(80)]
            late = many[-1]
            late.send(written(ECHO))
            process = psutil.Process(server.pid)
            began = sum(process.cpu_times()[:2])
            time.sleep(1.0)
            assert early.post(ECHO).status == 200
            assert sum(process.cpu_times()[:2]) - began < 0.5, "seconds of work in one of waiting"
            for wire in many[:-1]:
                wire.close()
            assert late.reply().status == 200
        said = server.communicate(timeout=30)[1]
    assert "cannot accept a connection" in said
    assert server.returncode == 0


# --- a head in one piece is what it is in many ---

PIECES = st.sampled_from([
    b"POST /mcp HTTP/1.1", b"\r\n", b"\n", b"\r", b"Host: h", b"Content-Length: 2", b"{}", b": ",
    b"Transfer-Encoding: chunked", b"\r\n\r\n", b"2\r\n", b"\x85", b"\0", b"A: b\r\n", b"\n\n",
])  # fmt: skip


def outcome(source: http_request.Stream, head: bytes = b"") -> object:
    try:
        return http_request.read(source, 100, lambda: None, head)
    except Refused as refusal:
        return refusal.status, refusal.body
    except EOFError:
        return "half"


@pytest.fixture(scope="module")
def ended():
    """The server's end of a connection on which nothing more comes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        socket.create_connection(listening.getsockname()).close()
        wire = ServerWire(listening.accept()[0], 1.0)
        yield wire
        wire.close()


@examples(1000)
@given(st.lists(PIECES, max_size=12).map(b"".join))
def test_a_head_that_came_whole_is_read_as_line_by_line(ended, data):
    ended._hold(data)
    assert outcome(ended, ended.head()) == outcome(io.BytesIO(data))
