"""Several requests on one pipe: out of order, cancelled, interrupted, listened to."""

import json
import os
import signal
import sys
import threading
import time

import pytest

from mcp_bare import jsonrpc, revision
from mcp_bare.client import Client
from mcp_bare.connection import Connection
from mcp_bare.errors import McpError, RequestTimeout, TransportClosed
from mcp_bare.exchange import Exchange
from mcp_bare.memory import MemoryTransport
from mcp_bare.tape import CAME, Tape
from tests.wire import lab
from tests.wire.helpers import (
    LAB,
    PATIENCE,
    ROOT,
    call,
    eventually,
    exchange,
    line,
    open_client,
    rude,
    say,
    text_of,
)


def tool(client, name, **arguments):
    return client.start("tools/call", {"name": name, "arguments": arguments})


def came(client):
    return [entry.message for entry in client.tape if entry.direction == CAME]


# --- out of order ---


def test_answers_come_in_any_order():
    """Two calls wait; a third opens the gates, in the opposite order."""
    with open_client(LAB) as client:
        first, second = tool(client, "wait", gate="a"), tool(client, "wait", gate="b")
        for gate, pending in (("b", second), ("a", first)):
            assert not pending.done()
            client.call_tool("open", {"gate": gate})
            assert text_of(pending.result()) == gate
        ids = [m["id"] for m in came(client) if "result" in m]
        assert ids.index(second.id) < ids.index(first.id)


def test_twenty_threads_share_one_client():
    with open_client(LAB) as client:
        said = {}

        def ask(n):
            for k in range(10):
                said[n, k] = text_of(client.call_tool("echo", {"text": f"{n}/{k}"}))

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert said == {(n, k): f"{n}/{k}" for n in range(20) for k in range(10)}


def test_a_slow_completer_does_not_stop_the_reading():
    """It is an author's code like a tool's: a ping of any kind must get through meanwhile."""
    with open_client(LAB) as client:
        ref = {"type": "ref/prompt", "name": "greet"}
        argument = {"name": "who", "value": ""}
        slow = client.start("completion/complete", {"ref": ref, "argument": argument})
        assert "supportedVersions" in client.discover()
        client.call_tool("open", {"gate": "completer"})
        assert slow.result()["completion"]["values"] == ["world"]


def test_an_id_in_flight_is_not_accepted_twice():
    """basic/index, "Requests": the id MUST NOT match one that still waits for its response."""
    given = say(1, "tools/call", {"name": "wait", "arguments": {"gate": "x"}})
    opens = say(2, "tools/call", {"name": "open", "arguments": {"gate": "x"}})
    answers, _ = exchange(LAB, given + given + opens)
    of_one = [a for a in answers if a["id"] == 1]
    assert sorted("error" in a for a in of_one) == [False, True]
    assert next(a["error"]["code"] for a in of_one if "error" in a) == -32600


# --- cancellation ---


def test_nothing_more_is_sent_for_a_cancelled_call():
    """basic/transports/stdio, "Cancellation": neither its progress nor its result."""
    with open_client(LAB) as client:
        heard = []
        working = client.start("tools/call", {"name": "work"}, on_progress=heard.append)
        assert eventually(lambda: heard)
        assert working.cancel("enough") is True
        assert working.cancel("again") is False
        assert eventually(lambda: text_of(client.call_tool("confess")) == "cancelled")
        about = [
            m
            for m in came(client)
            if working.id in (m.get("id"), m.get("params", {}).get("progressToken"))
        ]
        assert len(about) == 1 and about[0]["params"]["progress"] == 1, "what came before"


def test_nothing_about_a_cancelled_call_follows_what_was_read_after_the_cancellation():
    """Calls of all lengths around the moment in which another thread begins to read."""
    given, count = b"", 60
    for n in range(count):
        arguments = {"to": 1 + n % 3, "pause": (n % 12) / 400}
        note = {"method": "notifications/cancelled", "params": {"requestId": f"call {n}"}}
        given += call(f"call {n}", "count", **arguments)
        given += line({"jsonrpc": "2.0", **note}) + say(n, "server/discover")
    messages, _ = exchange([sys.executable, str(ROOT / "toy_servers" / "changing.py")], given)
    ids = [message.get("id") for message in messages]
    assert [id for id in ids if isinstance(id, int)] == list(range(count))
    answered = [n for n in range(count) if f"call {n}" in ids]
    assert len(answered) < count, "most last longer than it takes to read that nobody waits"
    assert all(ids.index(f"call {n}") < ids.index(n) for n in answered)


def test_a_plain_tool_that_cannot_be_stopped_is_still_not_answered():
    with open_client(LAB) as client:
        heard = []
        params = {"name": "wait", "arguments": {"gate": "a"}}
        waiting = client.start("tools/call", params, on_progress=heard.append)
        assert eventually(lambda: heard)
        waiting.cancel()
        client.call_tool("open", {"gate": "a"})
        client.call_tool("echo", {"text": ""})
        assert waiting.id not in [m.get("id") for m in came(client)] and len(heard) == 1


def test_who_waits_for_a_cancelled_call_learns_it_at_once():
    with open_client(LAB) as client:
        working = tool(client, "work")
        threading.Timer(0.1, working.cancel).start()
        with pytest.raises(McpError, match="was cancelled: not wanted any more"):
            working.result(PATIENCE)
        assert working.done()


BAD_CANCELLATIONS = [
    {},
    {"requestId": None},
    {"requestId": True},
    {"requestId": [1]},
    {"requestId": "unknown"},
    {"requestId": 1},  # answered already
    [],
]


@pytest.mark.parametrize("params", BAD_CANCELLATIONS, ids=json.dumps)
def test_an_invalid_cancellation_is_ignored(params):
    """basic/patterns/cancellation, "Error Handling"."""
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
    server = lab.build()
    out = []
    connection = Connection(server, out.append)
    connection.receive(
        say(1, "tools/list") + json.dumps(note).encode() + b"\n" + say(2, "tools/list")
    )
    assert [json.loads(line)["id"] for line in out] == [1, 2]


class Link:
    """A fake link: what is sent is kept, what arrives is what the test says."""

    def __init__(self):
        self.sent, self.before_send = [], lambda message: None

    def open(self, on_payload, on_close):
        self.on_payload, self.on_close = on_payload, on_close

    def send(self, payload):
        message = jsonrpc.parse(payload)
        self.before_send(message)
        self.sent.append(message)

    def answer(self, id, **result):
        whole = {"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "public"}
        self.on_payload(jsonrpc.dumps(jsonrpc.result(id, {**whole, **result})))

    def close(self):
        pass


def linked():
    link = Link()
    return link, Client(link, timeout=PATIENCE)


def test_an_answer_that_arrives_with_the_timeout_is_taken_or_cancelled_never_lost():
    """basic/patterns/cancellation, "Timing": both orders, many times, from two threads."""
    taken = 0
    for turn in range(300):
        link, client = linked()
        pending = client.start("tools/list")
        answering = threading.Thread(target=link.answer, args=(pending.id,))
        if turn % 2:
            answering.start()
        try:
            pending.result(0.0)
            taken += 1
            assert len(link.sent) == 1, "answered, so not cancelled"
        except RequestTimeout:
            assert [m["method"] for m in link.sent] == ["tools/list", "notifications/cancelled"]
        if not turn % 2:
            answering.start()
        answering.join()
        assert client.exchange.in_flight == 0
    assert taken < 300


def test_an_answer_that_arrives_while_the_cancellation_is_written_is_dropped():
    link, client = linked()
    pending = client.start("tools/list")
    link.before_send = lambda message: link.answer(pending.id)
    with pytest.raises(RequestTimeout):
        pending.result(0.0)
    link.before_send = lambda message: link.answer(message["id"], tools=[{"name": "right"}])
    assert client.list_tools() == [{"name": "right"}]
    assert "! nobody waits for the answer with id 1" in client.tape.lines()


# --- interrupts ---


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_in_the_middle_of_a_call_leaves_the_client_usable():
    """The stop button: the call is cancelled, its server stops working, the next call works."""
    with open_client(LAB) as client:
        with pytest.raises(KeyboardInterrupt):
            client.call_tool("work", on_progress=lambda _: interrupt())
        assert client.exchange.in_flight == 0
        assert eventually(lambda: text_of(client.call_tool("confess")) == "cancelled")
        assert [tool["name"] for tool in client.list_tools()]


def test_an_interrupt_while_waiting_for_an_acknowledgement():
    with open_client(rude("silent"), grace=0.1) as client:
        threading.Timer(0.2, interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            client.listen({"toolsListChanged": True}, print)
        assert client.exchange.in_flight == 0


def test_an_interrupt_in_the_middle_of_a_write_closes_plainly():
    """Half a line may be on the wire, so that stream is of no more use."""
    client = open_client(rude("never-reads"), write_timeout=PATIENCE, grace=0.1)
    writing = client.exchange.transport._child._writing

    def when_blocked():
        eventually(writing.locked)
        time.sleep(0.05)
        interrupt()

    threading.Thread(target=when_blocked).start()
    with pytest.raises(KeyboardInterrupt):
        tool(client, "echo", text="x" * 1_000_000)
    assert client.exchange.transport.exit_code is not None
    with pytest.raises(TransportClosed):
        client.discover()


def test_an_interrupt_while_closing_still_ends_the_process():
    client = open_client(rude("ignores-eof"), grace=PATIENCE)
    child = client.exchange.transport._child

    def when_closing():
        eventually(lambda: child._closed)
        time.sleep(0.05)
        interrupt()

    threading.Thread(target=when_closing).start()
    with pytest.raises(KeyboardInterrupt):
        client.close()
    assert child.process.returncode is not None


# --- listeners ---


def test_a_listener_that_fails_is_noted_and_the_answer_still_comes():
    with open_client(LAB) as client:
        done = client.start(
            "tools/call", {"name": "wait", "arguments": {"gate": "a"}}, on_progress=1 / 1
        )
        client.call_tool("open", {"gate": "a"})
        assert text_of(done.result()) == "a"
        assert "! a listener failed: TypeError" in "\n".join(client.tape.lines())


def test_a_listener_that_waits_for_an_answer_is_told_so_at_once():
    """It runs on the thread that would read the answer: without this it waits for itself."""
    with open_client(LAB) as client:
        told = []

        def relist(event):
            try:
                client.list_tools(refresh=True)
            except McpError as trouble:
                told.append(str(trouble))

        with client.listen({"toolsListChanged": True}, relist):
            client.call_tool("change")
            assert eventually(lambda: told)
        assert "a listener cannot wait for an answer" in told[0]


def test_a_listener_may_start_a_request():
    with open_client(LAB) as client:
        started = []
        listener = lambda _: started.append(client.start("tools/list"))  # noqa: E731
        with client.listen({"toolsListChanged": True}, listener):
            client.call_tool("change")
            assert eventually(lambda: started)
            assert "tools" in started[0].result()


# --- subscriptions ---


def heard_by(client, **wanted):
    events = []
    return client.listen(wanted, events.append), events


def test_two_subscriptions_share_the_pipe():
    """Each hears what it asked for, by the id that every notification carries."""
    with open_client(LAB) as client:
        tools, on_tools = heard_by(client, toolsListChanged=True)
        prompts, on_prompts = heard_by(client, promptsListChanged=True, toolsListChanged=True)
        for kind in ("tools", "prompts", "tools"):
            client.call_tool("change", {"kind": kind})
        names = [
            [event["method"].split("/")[1] for event in each] for each in (on_tools, on_prompts)
        ]
        assert names == [["tools", "tools"], ["tools", "prompts", "tools"]]
        key = revision.SUBSCRIPTION_ID
        assert {event["params"]["_meta"][key] for event in on_tools} == {tools.pending.id}
        assert {event["params"]["_meta"][key] for event in on_prompts} == {prompts.pending.id}


def test_nothing_follows_the_end_of_a_subscription():
    with open_client(LAB) as client:
        first, heard = heard_by(client, toolsListChanged=True)
        client.call_tool("change")
        first.close()
        second, also_heard = heard_by(client, toolsListChanged=True)
        client.call_tool("change")
        assert (len(heard), len(also_heard)) == (1, 1)
        assert client.exchange.in_flight == 1, "the second"
        second.close()


def test_the_acknowledgement_comes_first_even_in_a_storm():
    """Changes are published without pause while a hundred subscriptions open and close."""
    with open_client(LAB) as client:
        client.call_tool("storm")
        subscriptions = []
        for _ in range(100):
            subscriptions.append(heard_by(client, toolsListChanged=True)[0])
            if len(subscriptions) == 3:
                subscriptions.pop(0).close()
        client.call_tool("calm")
        seen: dict = {}
        for message in came(client):
            tag = message.get("params", {}).get("_meta", {}).get(revision.SUBSCRIPTION_ID)
            if tag is not None:
                seen.setdefault(tag, []).append(message["method"])
        assert len(seen) == 100
        assert all(methods[0] == revision.ACKNOWLEDGED for methods in seen.values())
        assert sum(map(len, seen.values())) > 100, "there was a storm"


def test_after_a_cancellation_not_one_event_more():
    """The server's side, in order of its output: nothing with this id after the cancellation."""
    server, out = lab.build(), []
    connection = Connection(server, lambda line: out.append(json.loads(line)))
    stop = threading.Event()

    def storm():
        while not stop.is_set():
            server.changed("tools")

    thread = threading.Thread(target=storm)
    thread.start()
    for n in range(50):
        connection.receive(say(n, revision.LISTEN, {"notifications": {"toolsListChanged": True}}))
        note = {"jsonrpc": "2.0", "method": revision.CANCELLED, "params": {"requestId": n}}
        connection.receive(json.dumps(note).encode() + b"\n")
        length = len(out)
        server.changed("tools")
        assert len(out) == length, "nobody listens now"
    stop.set()
    thread.join()


def test_the_server_ends_its_subscriptions_when_its_input_ends():
    """basic/patterns/subscriptions, "Graceful Closure": a response each, and it leaves."""
    listen = {"notifications": {"toolsListChanged": True}}
    answers, done = exchange(
        LAB, say("a", revision.LISTEN, listen) + say("b", revision.LISTEN, listen)
    )
    assert done.returncode == 0
    for id in ("a", "b"):
        mine = [
            m
            for m in answers
            if m.get("id", m.get("params", {}).get("_meta", {}).get(revision.SUBSCRIPTION_ID)) == id
        ]
        assert mine[0]["method"] == revision.ACKNOWLEDGED
        ends = {m.get("method", "the response"): m for m in mine[1:]}  # in which order, is not said
        assert set(ends) == {"the response", revision.CANCELLED}
        assert ends["the response"]["result"]["_meta"][revision.SUBSCRIPTION_ID] == id


def test_a_call_in_flight_at_the_end_of_input_is_answered_first():
    given = say(1, "tools/call", {"name": "wait", "arguments": {"gate": "x"}})
    opens = say(2, "tools/call", {"name": "open", "arguments": {"gate": "x"}})
    answers, done = exchange(LAB, given + opens)
    assert {a["id"] for a in answers} == {1, 2} and done.returncode == 0


def test_a_tool_that_exits_is_answered_and_the_server_stays():
    """sys.exit inside a tool is the tool's end, not the server's, and its caller is told."""
    with open_client(LAB) as client:
        assert client.call_tool("leave")["isError"] is True
        assert text_of(client.call_tool("echo", {"text": "here"})) == "here"


# --- in memory ---


def test_threads_share_a_client_in_memory():
    """No splitter is shared: a message of one thread never ends up in the line of another."""
    client = Client(MemoryTransport(lab.build()))
    wrong = []

    def ask(n):
        for k in range(200):
            text = f"{n}/{k}"
            if text_of(client.call_tool("echo", {"text": text})) != text:
                wrong.append(text)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not wrong and client.exchange.skipped == 0


def test_a_client_in_memory_that_is_dropped_stops_listening():
    server = lab.build()
    client = Client(MemoryTransport(server))
    client.listen({"toolsListChanged": True}, print)
    assert len(server.subscriptions._open) == 1
    del client
    assert not server.subscriptions._open


def test_a_listener_in_memory_may_call():
    """Nothing is waited for there: the answer has come before the listener would wait."""
    client, names = Client(MemoryTransport(lab.build())), []
    with client.listen({"toolsListChanged": True}, lambda _: names.extend(client.list_tools())):
        client.call_tool("change")
    assert names


def test_a_lost_exchange_raises_a_fresh_error_each_time():
    """The same exception raised twice would carry, and keep alive, the frames of both."""
    link = Link()
    desk = Exchange(link, Tape())
    link.on_close(TransportClosed("gone", 3, "last words"))
    errors = []
    for _ in range(2):
        with pytest.raises(TransportClosed) as end:
            desk.start(jsonrpc.request(1, "tools/list"))
        errors.append(end.value)
    assert errors[0] is not errors[1]
    assert (errors[1].exit_code, errors[1].stderr_tail) == (3, "last words")
