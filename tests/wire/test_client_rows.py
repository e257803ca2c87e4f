"""A client and a rude server, row by row: the fault, and what a caller sees of it.

Every row runs on the toolkit's client and must hold, and on a tutorial's (`naive`) and must not,
but for those that say why they cannot be shown that way.
"""

import contextlib
import json
import queue
import subprocess
import sys
from dataclasses import dataclass

import psutil
import pytest

from mcp_bare.errors import ErrorResponse, ProtocolViolation, RequestTimeout, TransportClosed
from mcp_bare.tape import NOTE, SENT
from tests.wire.helpers import HERE, PATIENCE, eventually, gone, open_client, ours, rude, text_of
from tests.wire.naive import NaiveClient, NaiveError, clear_away


class NoAnswer(Exception):
    """The call was not answered in time."""


class Dead(Exception):
    """The server is gone, and this is what is known of its end."""


class Refused(Exception):
    """An error response."""


class Invalid(Exception):
    """An answer that the specification does not allow."""


class Ours:
    """The toolkit's client, with what both clients can do."""

    def __init__(self, command):
        self.client = open_client(command, grace=0.3)

    def call(self, text, timeout=PATIENCE):
        try:
            return text_of(self.client.call_tool("echo", {"text": text}, timeout=timeout))
        except RequestTimeout:
            raise NoAnswer from None
        except TransportClosed as end:
            raise Dead(end.exit_code, end.stderr_tail) from None
        except ErrorResponse as error:
            raise Refused(error.code) from None
        except ProtocolViolation as trouble:
            raise Invalid(str(trouble)) from None

    def notify(self):
        self.client.start("tools/list").cancel()  # the only notification that a client sends

    def skipped(self):
        assert self.client.exchange.skipped == len(
            [entry for entry in self.client.tape if entry.remark == "not a message"]
        )
        return self.client.exchange.skipped

    def processes(self):
        process = psutil.Process(self.client.exchange.transport._child.process.pid)
        return [process, *process.children()]

    def close(self):
        self.client.close()


class Naive:
    """The tutorial's client."""

    def __init__(self, command):
        self.client = NaiveClient(command)

    def call(self, text, timeout=0.7):
        params = {"name": "echo", "arguments": {"text": text}}
        try:
            return text_of(self.client.request("tools/call", params, min(timeout, 0.7)))
        except queue.Empty:
            raise NoAnswer from None
        except NaiveError as error:
            raise Refused(error.code) from None

    def notify(self):
        note = {"jsonrpc": "2.0", "method": "notifications/unheard_of"}
        self.client.process.stdin.write(json.dumps(note) + "\n")

    def skipped(self):
        return 0

    def processes(self):
        process = psutil.Process(self.client.process.pid)
        return [process, *process.children()]

    def close(self):
        self.client.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.client.process.wait(0.7)


# --- what is seen ---


def works(client):
    assert [client.call("one"), client.call("two")] == ["one", "two"]


def works_and_counts_noise(lines):
    def seen(client):
        works(client)
        assert client.skipped() == lines

    return seen


def no_answer(client):
    with pytest.raises(NoAnswer):
        client.call("one", timeout=0.3)


def no_answer_then_the_right_one(client):
    with pytest.raises(NoAnswer):
        client.call("slow", timeout=0.3)
    works(client)


def works_after_a_notification(client):
    client.notify()
    works(client)


def first_answers_only(client):
    assert [client.call(text) for text in "abc"] == ["a", "b", "c"]


def death(code, words):
    """At once: a wait for an answer that cannot come would end in NoAnswer."""

    def seen(client):
        with pytest.raises(Dead) as end:
            client.call("one")
        assert end.value.args[0] == code and words in end.value.args[1]
        with pytest.raises(Dead):
            client.call("two")

    return seen


def refusal(code):
    def seen(client):
        with pytest.raises(Refused) as refused:
            client.call("one")
        assert refused.value.args == (code,)

    return seen


def invalid(words):
    def seen(client):
        with pytest.raises(Invalid, match=words):
            client.call("one")

    return seen


def nothing_is_left(client):
    """Nor a zombie of ours; whoever is left is ended here, for the sake of the other tests."""
    works(client)
    started = client.processes()
    client.close()
    left = [process for process in started if not gone(process.pid, 1.0)]  # SIGKILL takes a moment
    for process in left:
        process.kill()
        assert gone(process.pid)
    assert not left


@dataclass(frozen=True)
class Row:
    """A fault of toy_servers/rude.py, what a caller sees of it, and how a naive client fails."""

    fault: str
    seen: object
    naive: type | None = None


Surprise = pytest.fail.Exception  # something that should have been raised was not
NotJson = json.JSONDecodeError

TABLE = [
    # A banner on stdout breaks the handshake
    Row("stdout-banner", works_and_counts_noise(1), NotJson),
    Row("stdout-in-tool", works_and_counts_noise(2), NotJson),
    Row("progress-bar", works_and_counts_noise(2), NotJson),
    Row("glued", no_answer, NotJson),  # the line is lost, and with it the answer
    Row("pretty-printed", no_answer, NotJson),
    # A bad byte ends server or client; CR LF and blank lines
    Row("bad-utf8", works_and_counts_noise(2), NoAnswer),
    Row("crlf", works_and_counts_noise(0), NotJson),
    # A chatty server goes silent: nobody drains stderr
    Row("floods-stderr", works, NoAnswer),
    # After one timeout, every answer belongs to the call before
    Row("wrong-id", no_answer, Surprise),
    Row("string-id", no_answer, Surprise),
    Row("duplicate-answer", first_answers_only, AssertionError),
    Row("late", no_answer_then_the_right_one, AssertionError),
    Row("answers-notifications", works_after_a_notification, Refused),
    # Waiting the whole timeout on a server that is already dead
    Row("exit-at-start", death(1, "No module named 'acme_orm'"), NoAnswer),
    Row("exit-3", death(3, "the disk is full"), NotJson),
    Row("dies-mid-line", death(0, ""), NotJson),
    Row("dies-with-children", death(3, "out of memory"), NoAnswer),
    # Answers that are none
    Row("sends-request", works, KeyError),
    Row("result-not-object", invalid("the answer to id 1 is no message"), TypeError),
    Row("unknown-result-type", invalid("partial"), Surprise),
    # Processes pile up
    Row("has-children", nothing_is_left, AssertionError),
    Row("ignores-sigterm", nothing_is_left, AssertionError),
]
NOT_SHOWN = [
    # A naive client closes by SIGTERM, which a server that ignores end of input still obeys.
    Row("ignores-eof", nothing_is_left),
    # A naive client never looks at the id, so an error without one fails its only call too.
    Row("null-id-error", refusal(-32603)),
    # Both wait in vain.
    Row("silent", no_answer),
    Row("huge-line", no_answer),
    # Nothing that a client must mind.
    Row("no-result-type", works),  # basic/index: absent means complete
    Row("no-fault", works_and_counts_noise(0)),
]


@pytest.mark.parametrize("row", TABLE + NOT_SHOWN, ids=lambda row: row.fault)
def test_row(row):
    client = Ours(rude(row.fault))
    try:
        row.seen(client)
    finally:
        client.close()


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.fault)
def test_a_naive_client_fails(row):
    before, client = ours(), Naive(rude(row.fault))
    try:
        with pytest.raises(row.naive):
            row.seen(client)
    finally:
        client.close()
        clear_away(client.client, ours() - before)


# --- rows that no fault of a running server can show ---


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["/no/such/command"], "cannot start"),
        ([str(HERE)], "cannot start"),  # a folder
        (["nul\0byte"], "cannot start"),
        ([sys.executable, "-c", "import sys; sys.exit('no licence')"], "no licence"),
    ],
)
def test_a_server_that_never_was(command, says):
    """One kind of error, at once, with the reason. (A naive client's Popen fails at once too.)"""
    with pytest.raises(TransportClosed, match=says), open_client(command) as client:
        client.discover()


def test_a_line_of_40_megabytes_is_not_kept():
    """The tape shows its head and its size. (A naive client keeps it all; no answer shows that.)"""
    with open_client(rude("huge-line")) as client:
        call = client.start("tools/call", {"name": "echo", "arguments": {"text": ""}})
        assert eventually(lambda: client.exchange.skipped)
        noted = next(entry for entry in client.tape if entry.direction == NOTE)
        assert len(noted.payload) < 300 and b"a line of 400" in noted.payload
        assert "supportedVersions" in client.discover()  # and goes on
        call.cancel()


def test_the_timed_out_request_is_cancelled_on_the_wire():
    """basic/patterns/cancellation, "Timeouts": what we stop waiting for, we say so."""
    with open_client(rude("silent")) as client:
        with pytest.raises(RequestTimeout):
            client.call_tool("echo", {"text": ""}, timeout=0.1)
        sent = [entry.message for entry in client.tape if entry.direction == SENT]
    assert [message["method"] for message in sent] == ["tools/call", "notifications/cancelled"]
    assert sent[1]["params"]["requestId"] == sent[0]["id"]


def test_everything_in_flight_fails_when_the_server_dies():
    with open_client(rude("late")) as client:
        calls = [client.start("tools/call", {"name": "echo"}) for _ in range(5)]
        calls[4].result()  # it has read them all; the first is still unanswered ...
        more = [client.start("subscriptions/listen", {"notifications": {}}) for _ in range(5)]
        client.exchange.transport._child.process.kill()
        for pending in more:
            with pytest.raises(TransportClosed) as end:
                pending.result()
            assert end.value.exit_code == -9
        with pytest.raises(TransportClosed):
            client.start("tools/list")


def test_an_error_without_an_id_is_not_blamed_on_the_wrong_call():
    """Once a notification went out, it may be about that one; with two calls, about either."""
    with open_client(rude("null-id-error")) as client:
        first = client.start("tools/list")
        second = client.start("tools/list")
        for pending in (first, second):
            with pytest.raises(RequestTimeout):
                pending.result(0.2)
        with pytest.raises(RequestTimeout):  # two cancellations went out
            client.request("tools/list", timeout=0.2)
        assert "nobody waits" in client.tape.lines()[-2]


def test_a_code_page_that_is_not_utf8():
    """One byte that is not UTF-8 loses one answer; a sign that the page lacks ends the server."""
    with open_client(rude("cp1252")) as client:
        with pytest.raises(RequestTimeout):
            client.call_tool("echo", {"text": "déjà vu"}, timeout=0.3)
        assert text_of(client.call_tool("echo", {"text": "plain"})) == "plain"
        with pytest.raises(TransportClosed, match="UnicodeEncodeError"):
            client.call_tool("echo", {"text": "✓ 日本"})


def test_a_malformed_request_from_the_server_is_no_answer_to_ours():
    """It has an id, but of the server's own; only what lacks a method can be an answer."""
    script = (
        "import sys\n"
        "sys.stdin.readline()\n"
        'print(\'{"jsonrpc":"2.0","id":1,"method":42}\')\n'
        'print(\'{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}\', flush=True)\n'
        "sys.stdin.read()\n"
    )
    with open_client([sys.executable, "-c", script]) as client:
        assert client.start("tools/list").result() == {"resultType": "complete"}
        assert client.exchange.skipped == 1
