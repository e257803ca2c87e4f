"""Processes pile up: a cell run five times, an exception, a kernel restarted. Nothing is left.

Not shown on the naive client: that it leaves processes stands in `test_client_rows` (has-children,
ignores-sigterm); that it has no answer at all to being killed needs no test.
"""

import gc
import os
import signal
import subprocess
import sys
import threading

import psutil
import pytest

from mcp_bare import reaper
from mcp_bare.errors import McpError, RequestTimeout, TransportClosed
from mcp_bare.stdio import StdioTransport
from tests.wire.helpers import (
    HERE,
    LAB,
    PATIENCE,
    environment,
    eventually,
    gone,
    open_client,
    ours,
    rude,
)
from tests.wire.helpers import text_of as text

ECHO = ("echo", {"text": "hello"})


@pytest.fixture
def no_collector():
    """No cyclic garbage collection: what is dropped must go at once, by itself."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def pid_of(client):
    return client.exchange.transport._child.process.pid


# --- dropped, rebound, left by an exception ---


def just_dropped(client):
    client.call_tool(*ECHO)


def after_an_error(client):
    with pytest.raises(McpError):
        client.call_tool("no such tool")


def after_a_timeout(client):
    with pytest.raises(RequestTimeout):
        client.call_tool("work", timeout=0.05)


def while_in_flight(client):
    client.start("tools/call", {"name": "work"})


def while_subscribed(client):
    client.listen({"toolsListChanged": True}, print)


def after_closing(client):
    client.close()
    with pytest.raises(TransportClosed):
        client.call_tool(*ECHO)


WAYS = [
    just_dropped,
    after_an_error,
    after_a_timeout,
    while_in_flight,
    while_subscribed,
    after_closing,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.usefixtures("no_collector")
def test_a_client_that_is_dropped_closes(way):
    client = open_client(LAB, grace=0.2)
    process = client.exchange.transport._child.process
    way(client)
    del client
    assert process.returncode is not None, "ended and reaped before `del` returned"
    assert gone(process.pid)


@pytest.mark.usefixtures("no_collector")
def test_a_cell_run_five_times():
    processes = []
    for _ in range(5):
        client = open_client(LAB)
        client.call_tool(*ECHO)
        processes.append(client.exchange.transport._child.process)
    assert [p.poll() is None for p in processes] == [False] * 4 + [True]
    client.close()


def test_an_exception_leaves_nothing():
    with pytest.raises(ZeroDivisionError), open_client(rude("ignores-eof"), grace=0.1) as client:
        client.call_tool(*ECHO)
        pid = pid_of(client)
        1 / 0  # noqa: B018
    assert gone(pid)


@pytest.mark.usefixtures("no_collector")
def test_who_kept_only_the_pending_call_learns_that_the_client_is_gone():
    client = open_client(LAB, grace=0.2)
    pending = client.start("tools/call", {"name": "work"})
    del client
    with pytest.raises(TransportClosed, match="dropped"):
        pending.result(PATIENCE)


# --- the process that started them ends ---


def starts(how):
    """A parent in a session of its own, and all the processes that it has started."""
    before = ours()
    parent = subprocess.Popen(
        [sys.executable, str(HERE / "parent.py"), how],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        start_new_session=True,
    )
    assert parent.stdout.readline() == b"ready\n", parent.stderr.read().decode()
    return parent, ours() - before


def ends(parent, processes):
    parent.wait(PATIENCE)
    said = parent.stderr.read().decode()
    parent.stdout.close()
    parent.stderr.close()
    assert all(gone(process.pid) for process in processes), "all of them, the reaper too"
    return said


KILLED = [
    ("wait", signal.SIGKILL),  # a kernel restart: the reaper's case
    ("wait", signal.SIGTERM),
    ("wait", signal.SIGHUP),
    ("wait", signal.SIGINT),
    ("call", signal.SIGINT),  # Ctrl-C, or the stop button, in a script
    ("lose-the-reaper", signal.SIGKILL),
]


@pytest.mark.parametrize(("how", "by"), KILLED, ids=lambda value: str(value))
def test_a_parent_that_is_killed(how, by):
    parent, processes = starts(how)
    assert len(processes) >= 3
    parent.send_signal(by)
    ends(parent, processes)


@pytest.mark.parametrize("how", ["leave", "fail", "fork-and-call", "fork-and-start", "no-reaper"])
def test_a_parent_that_ends_by_itself(how):
    parent, processes = starts(how)
    said = ends(parent, processes)
    assert parent.returncode == (1 if how == "fail" else 0), said
    assert ("Traceback" in said) == (how == "fail") and "ResourceWarning" not in said


def test_a_parent_that_is_killed_while_its_fork_lives_on():
    """The fork must not keep the reaper waiting."""
    parent, processes = starts("fork-and-wait")
    forked = [p for p in processes if "parent.py" in " ".join(p.cmdline()) and p.pid != parent.pid]
    assert len(forked) == 1
    parent.kill()
    try:
        assert all(gone(process.pid) for process in processes - {forked[0]})
    finally:
        forked[0].kill()
        ends(parent, forked)


def test_garbage_collected_inside_the_reaper_does_not_lock_it():
    """A collection may run anywhere, and may close a dropped transport, which calls `forget`."""
    done = threading.Event()

    def collect_inside():
        with reaper._lock:
            reaper.forget(0x7FFFFFFF)
        done.set()

    threading.Thread(target=collect_inside, daemon=True).start()
    assert done.wait(5)


# --- the end of one server ---


def test_a_group_is_signalled_at_its_end_and_never_later(monkeypatch):
    """Later its number may belong to a stranger: numbers come round."""
    killed = []
    killpg = os.killpg
    monkeypatch.setattr(os, "killpg", lambda *what: (killed.append(what), killpg(*what)))
    client = open_client(rude("exit-3"))
    pid = pid_of(client)
    with pytest.raises(TransportClosed):
        client.call_tool(*ECHO)
    assert killed == [(pid, signal.SIGKILL)] and pid not in reaper._groups
    client.close()
    assert len(killed) == 1


def opened(command, **how):
    """A bare transport, what it delivered, and how often it said that it is over."""
    payloads, ends = [], []
    transport = StdioTransport(command, env=environment(), **how)
    transport.open(payloads.append, ends.append)
    return transport, payloads, ends


ENDINGS = {
    "it leaves": ("exit-at-start", lambda transport: None),
    "it is killed": ("no-fault", lambda transport: transport._child.process.kill()),
    "we close": ("no-fault", lambda transport: transport.close()),
    "we close twice": ("no-fault", lambda transport: (transport.close(), transport.close())),
    "we kill": ("ignores-sigterm", lambda transport: transport.close()),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_end_is_announced_once(ending):
    fault, act = ENDINGS[ending]
    transport, _, ends = opened(rude(fault), grace=0.2)
    act(transport)
    assert eventually(lambda: ends)
    transport.close()
    transport._child._reader.join(PATIENCE)
    assert len(ends) == 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("mistake", [SystemExit(1), ZeroDivisionError()], ids=repr)
def test_a_reader_that_fails_says_that_it_is_over(mistake):
    """Whatever stops the reading, nobody may wait for answers that nobody reads."""
    ends = []

    def fail(payload):
        raise mistake

    transport = StdioTransport(rude("stdout-banner"))
    transport.open(fail, ends.append)
    assert eventually(lambda: ends)
    transport.close()
    assert len(ends) == 1


def test_closing_from_many_threads_returns_when_it_is_over():
    transport, _, ends = opened(rude("ignores-sigterm"), grace=0.2)
    process = transport._child.process
    seen = []

    def close():
        transport._child.close()
        seen.append(process.returncode)

    threads = [threading.Thread(target=close) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(seen) == 4 and None not in seen and len(ends) == 1


def test_a_listener_may_close_the_client():
    client = open_client(LAB, grace=0.2)
    pid = pid_of(client)
    with pytest.raises(TransportClosed):
        client.call_tool("work", on_progress=lambda _: client.close())
    assert gone(pid)
    assert eventually(lambda: not client.exchange.transport._child._reader.is_alive())


# --- a server that does not read ---

MEGABYTE = {"name": "echo", "arguments": {"text": "x" * 1_000_000}}


def test_a_server_that_never_reads_is_given_up():
    with open_client(rude("never-reads"), write_timeout=0.3, grace=0.1) as client:
        with pytest.raises(TransportClosed, match="does not read its input"):
            client.start("tools/call", MEGABYTE)
        with pytest.raises(TransportClosed):
            client.discover()
        assert client.exchange.in_flight == 0


def test_closing_while_a_write_is_blocked():
    """The writer is told at once, and never writes into a descriptor that is somebody else's."""
    client = open_client(rude("never-reads"), write_timeout=PATIENCE, grace=0.1)
    told = []

    def send():
        try:
            client.start("tools/call", MEGABYTE)
        except TransportClosed as end:
            told.append(end.reason)

    writer = threading.Thread(target=send)
    writer.start()
    assert eventually(client.exchange.transport._child._writing.locked)
    client.close()
    writer.join(PATIENCE / 2)
    assert told and not writer.is_alive()


def test_a_server_that_reads_slowly_gets_it_all():
    """The same megabyte, to one that reads: not blocked, not cut, not mixed with other lines."""
    with open_client(LAB) as client:
        calls = [client.start("tools/call", MEGABYTE) for _ in range(4)]
        assert {len(text(call.result())) for call in calls} == {1_000_000}


# --- nothing piles up ---


def test_two_hundred_times_open_and_close():
    """No descriptor, no thread, no child more than before. `cat` leaves at the end of its input."""

    def cycle(command):
        transport, _, _ = opened(command)
        transport.close()

    cycle(["cat"])  # the first one starts the reaper
    here = psutil.Process()
    before = here.num_fds(), threading.active_count(), len(here.children())
    for _ in range(200):
        cycle(["cat"])
    for _ in range(50):
        with pytest.raises(TransportClosed):
            cycle(["/no/such/command"])
    assert (here.num_fds(), threading.active_count(), len(here.children())) == before
    assert not reaper._groups


def test_a_server_whose_children_escape_its_group():
    """They hold its pipes; we cannot end them, but no thread and no descriptor of ours stays."""
    stray = "import os, time; os.setsid(); print('up', flush=True); time.sleep(600)"
    script = (
        "import subprocess, sys\n"
        f"subprocess.Popen([sys.executable, '-I', '-S', '-c', {stray!r}], stdin=-3)\n"
        "sys.stdin.read()\n"
    )
    before, here = ours(), psutil.Process()
    fds, threads = here.num_fds(), threading.active_count()
    transport, payloads, ends = opened([sys.executable, "-c", script])
    assert eventually(lambda: payloads == [b"up"])
    transport.close()
    try:
        assert len(ends) == 1
        assert (here.num_fds(), threading.active_count()) == (fds, threads)
    finally:
        for process in ours() - before:
            if process.ppid() != here.pid:
                process.kill()


def test_an_interrupt_while_the_process_is_new_does_not_lose_it(monkeypatch):
    """Ctrl-C between its start and the first note of it."""
    pids = []

    def interrupted(pid):
        pids.append(pid)
        raise KeyboardInterrupt

    monkeypatch.setattr(reaper, "watch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        open_client(rude("ignores-eof"))
    assert gone(pids[0])
