"""The exam itself: it ends whatever the server does, calls what it may, and reads well."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

from mcp_bare import check, child, json_schema
from mcp_bare.errors import TransportClosed
from mcp_bare.exam import samples
from mcp_bare.exam.ids import Ids
from mcp_bare.exam.learned import Learned
from mcp_bare.exam.lines import Line, LineReader
from mcp_bare.exam.process import Sitting
from mcp_bare.exam.record import Exchange, Record, Sent
from mcp_bare.exam.rule import ABSENT, BROKEN, HOLDS, Exam, verdict
from tests.check.rows import CALENDAR, PYTHON, ROOT
from tests.wire.helpers import eventually

QUICK = check.Patience(answer=1.5, leave=0.5, sitting=20)
MESSAGE = b'{"jsonrpc":"2.0","id":1,"result":{}}'


def script(code):
    return [PYTHON, "-c", code]


def cli(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "mcp_bare", "check", *words],
        capture_output=True, text=True, cwd=ROOT, timeout=60, **options,
    )  # fmt: skip


# --- it ends ---

HOPELESS = {
    "floods with noise": "while True: print('x' * 1000)",
    "floods with messages": """
import json
while True: print(json.dumps({"jsonrpc": "2.0", "method": "notifications/exam", "params": {}}))
""",
    "floods one line": "import sys\nwhile True: sys.stdout.write('x' * 65536)",
    "closes its output": "import os, time; os.close(1); time.sleep(60)",
    "closes its input": "import os, time; os.close(0); time.sleep(60)",
    "is killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "is not there": None,
}


@pytest.mark.parametrize("what", HOPELESS)
def test_no_server_can_hang_the_exam(what):
    command = script(HOPELESS[what]) if HOPELESS[what] else ["/no/such/server"]
    if HOPELESS[what] is None:
        with pytest.raises(TransportClosed, match="no/such/server"):
            list(check.run(command, patience=QUICK))
        return
    begun = time.monotonic()
    verdicts = list(check.run(command, patience=QUICK))
    assert time.monotonic() - begun < 3 * QUICK.sitting
    assert not check.passed(verdicts)
    assert "answers" in {each.name for each in verdicts if each.outcome == BROKEN}


def test_what_was_asked_of_a_server_that_is_gone_has_no_answer():
    """It is kept although it could not be written: else nothing would be there to judge."""
    with Sitting("meet", script(""), {}, QUICK) as sitting:
        assert child.waits(sitting.process, 20)
        sitting.ask(Ids().request("server/discover"))
    record = sitting.record()
    assert [(each.method, each.line) for each in record.exchanges] == [("server/discover", None)]
    assert record.died == "it ended, with exit code 0"


def test_an_interrupted_exam_ends_at_once_and_leaves_nothing(tmp_path):
    pids = tmp_path / "pids"
    server = f"open({str(pids)!r}, 'a').write('one\\n'); import time; time.sleep(60)"
    words = [sys.executable, "-m", "mcp_bare", "check", "--timeout", "50", "--", *script(server)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=-1) as exam:
        assert eventually(pids.exists)
        exam.send_signal(signal.SIGINT)
        exam.communicate(timeout=20)
    assert exam.returncode == 130


# --- it calls what it may ---

RECORDER = """
import sys
from mcp_bare.server import Server
from mcp_bare.stdio import serve
server = Server("recorder", "1.0.0")
NOTES = {"reads": {"readOnlyHint": True}, "writes": {}, "destroys": {"destructiveHint": True}}
for name, notes in NOTES.items():
    @server.tool({"name": name, "inputSchema": {"type": "object"}, "annotations": notes})
    def called(call, name=name):
        open(sys.argv[1], "a").write(f"{name} {call.arguments}\\n")
        return name
serve(server)
"""


@pytest.mark.parametrize(
    ("options", "called"),
    [
        ({}, {"reads {}", "writes {}"}),
        ({"read_only": True}, {"reads {}"}),
        ({"arguments": {"destroys": {"sure": True}}},
         {"reads {}", "writes {}", "destroys {'sure': True}"}),
    ],
    ids=["by default", "read only", "told to"],
)  # fmt: skip
def test_a_tool_that_destroys_is_not_called_unless_told_to(tmp_path, options, called):
    told = tmp_path / "told"
    verdicts = list(check.run([*script(RECORDER), str(told)], cwd=ROOT, **options))
    assert check.passed(verdicts)
    assert set(told.read_text().splitlines()) == called


# --- what could not be asked is not held for good ---

LATE = """
import os, sys, time
from mcp_bare.connection import Connection
from mcp_bare.server import Server
connection = Connection(Server("late", "1.0.0"), lambda line: os.write(1, line))
time.sleep(1.7)
for line in sys.stdin.buffer:
    connection.receive(line)
"""


def test_a_server_whose_answers_come_when_the_exam_has_given_up_does_not_pass():
    """They are read at the end, and nothing else was asked: no other rule can be broken."""
    patience = check.Patience(answer=1.5, leave=5, sitting=20)
    verdicts = list(check.run(script(LATE), patience=patience, cwd=ROOT))
    [broken] = [each for each in verdicts if each.outcome == BROKEN]
    assert broken.name == "answers" and not check.passed(verdicts)
    assert broken.findings[0].came == "nothing: it says nothing for 1.5 s"
    assert "too late" in broken.findings[0].why


def hostile(*sent, exchanges=(), gave_up="", died="", lines=()):
    record = Record("hostile", sent, lines, exchanges, gave_up, died, "by itself", False, 0, "")
    return {rule.name: verdict(rule, Exam((record,), Learned())) for rule in check.RULES}


def test_a_bad_line_that_could_not_be_sent_any_more_does_not_count_as_survived():
    gone = "it ended, with exit code 1"
    found = hostile(Sent(b"hello", None), gave_up=gone, died=gone)["bad-lines"]
    assert (found.outcome, found.findings[0].came) == (BROKEN, gone)


def test_a_bad_line_whose_follower_is_answered_too_late_does_not_count_as_survived():
    asked = Sent(b"{}", {"jsonrpc": "2.0", "id": 1, "method": "x"})
    line = Line(MESSAGE, json.loads(MESSAGE), "", "", 2)
    late = Exchange(asked, [line], given_up=True)
    said = "it says nothing for 10 s"
    found = hostile(Sent(b"hello", None), asked, exchanges=(late,), gave_up=said, lines=(line,))
    assert found["bad-lines"].outcome == BROKEN
    assert found["answers"].outcome == ABSENT


def test_a_server_that_is_gone_when_a_notification_is_due_has_not_answered_all():
    gone = "it ended, with exit code 0"
    note = Sent(b"{}", {"jsonrpc": "2.0", "method": "notifications/exam"})
    found = hostile(note, gave_up=gone, died=gone)["answers"]
    assert (found.outcome, found.findings[0].came) == (BROKEN, gone)


# --- it sits what it is told to ---


@pytest.mark.parametrize(
    ("sittings", "processes"),
    [((), 1), (("calls",), 2), (("second", "listen"), 3), (check.SITTINGS, 6)],
)
def test_each_sitting_is_a_process_and_the_first_is_always_sat(tmp_path, sittings, processes):
    begun = tmp_path / "begun"
    server = script(f"open({str(begun)!r}, 'a').write('one\\n')\n{RECORDER}")
    run = check.run([*server, str(tmp_path / "told")], cwd=ROOT, sittings=sittings)
    verdicts = {each.name: each for each in run}
    assert len(begun.read_text().splitlines()) == processes
    assert list(verdicts) == [rule.name for rule in check.RULES]
    assert (verdicts["bad-lines"].outcome == HOLDS) == ("hostile" in sittings)
    assert check.passed(verdicts.values())


def test_a_sitting_that_there_is_not_is_an_error():
    with pytest.raises(ValueError, match="no such sitting: call; there are calls, second"):
        list(check.run(CALENDAR, sittings=["call"]))


# --- it knows what a server can have heard ---

SLOW = """
import os, sys, threading, time
from mcp_bare.connection import Connection, run_now
from mcp_bare.server import Server
server = Server("slow", "1.0.0")
@server.tool({"name": "slow", "inputSchema": {"type": "object"}})
def slow(call):
    time.sleep(1.0)
    return "done"
kind = sys.argv[1]
def beside(work):
    threading.Thread(target=work).start()
connection = Connection(
    server, lambda line: os.write(1, line), spawn=run_now if kind == "one thread" else beside
)
for line in sys.stdin.buffer:
    if kind != "does not care" or b"notifications/cancelled" not in line:
        connection.receive(line)
connection.end(2.0)
"""


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        ("hears", HOLDS),
        ("does not care", BROKEN),
        ("one thread", ABSENT),  # its answer is out before it reads that nobody wants it
    ],
)
def test_an_answer_from_before_the_cancellation_was_read_is_no_breach(kind, outcome):
    run = check.run([*script(SLOW), kind], cwd=ROOT, sittings=["cancel"])
    verdicts = {each.name: each.outcome for each in run}
    assert verdicts["cancelled"] == outcome
    assert {name for name in verdicts if verdicts[name] == BROKEN} <= {"cancelled"}


# --- it asks again what may do better with a handle ---

HANDLES = """
from mcp_bare.errors import ToolError
from mcp_bare.server import Server
from mcp_bare.stdio import serve
server = Server("handles", "1.0.0")
USE = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
@server.tool({"name": "use", "inputSchema": USE})
def use(call):
    yield call.progress(1, 2)
    if call.arguments["key"] != "k-1":
        raise ToolError("no such key")
    yield call.progress(2, 2)
    return "used"
@server.tool({"name": "make", "inputSchema": {"type": "object"}})
def make(call):
    return {"content": [], "structuredContent": {"key": "k-1"}}
serve(server)
"""


def test_progress_of_the_second_call_of_a_tool_is_not_taken_for_that_of_the_first():
    run = check.run(script(HANDLES), cwd=ROOT, sittings=["calls"])
    verdicts = {each.name: each.outcome for each in run}
    assert verdicts["progress"] == HOLDS
    assert BROKEN not in verdicts.values()


SCHEMAS = [
    {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}, "required": ["n"]},
    {"type": "object", "properties": {"n": {"type": "number", "maximum": -2}}, "required": ["n"]},
    {"type": "object", "properties": {"s": {"enum": ["x", "y"]}}, "required": ["s"]},
    {"type": "object", "properties": {"s": {"type": "string", "minLength": 9}}, "required": ["s"]},
    {"type": "object", "properties": {"s": {"type": "string", "maxLength": 2}}, "required": ["s"]},
    {"type": "object", "properties": {"s": {"type": ["string", "null"]}}, "required": ["s"]},
    {"type": "object", "properties": {"d": {"type": "string", "format": "date"}},
     "required": ["d"]},
    {"type": "object", "properties": {"a": {"type": "array", "minItems": 2,
                                            "items": {"type": "boolean"}}}, "required": ["a"]},
    {"type": "object", "properties": {"o": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
     "required": ["o"]},
    {"type": "object", "properties": {"o": {"type": "object", "required": ["x"],
     "properties": {"x": {"type": "boolean"}}}}, "required": ["o"]},
    {"type": "object"},
]  # fmt: skip


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_made_up_arguments_keep_their_schema(schema):
    assert json_schema.problems(schema, samples.arguments(schema, {}), formats=True) == []


@pytest.mark.parametrize("schema", [None, 7, {"required": 3}, {"required": [1, "x"]},
                                    {"properties": [], "required": ["x"]}])  # fmt: skip
def test_a_schema_of_no_shape_does_no_harm(schema):
    assert isinstance(samples.arguments(schema, {}), dict)


# --- lines ---

READ = [
    # what comes: the messages that are made out, the rules that are broken
    ([MESSAGE + b"\n"], 1, []),
    ([MESSAGE + b"\r\n"], 1, []),
    ([b"\r\n"], 0, ["stdout-pure"]),
    ([b"hello\n", MESSAGE + b"\n"], 1, ["stdout-pure"]),
    ([b"hello " + MESSAGE + b"\n"], 1, ["stdout-pure"]),
    ([MESSAGE + MESSAGE + b"\n"], 1, ["stdout-pure"]),
    ([b"[" + MESSAGE + b"]\n"], 1, ["stdout-pure"]),
    ([b"[" + MESSAGE + b"," + MESSAGE + b"]\n"], 0, ["stdout-pure"]),
    ([MESSAGE], 1, []),
    ([MESSAGE[:9]], 0, ["stdout-pure"]),
    ([b"\xff\n"], 0, ["utf-8"]),
    ([b'{"jsonrpc":"2.0","id":1,"result":{"x":"\xe9"}}\n'], 1, ["utf-8"]),
    ([b"{\n", b'"jsonrpc":"2.0",\n', b'"id":1,\n', b'"result":{}}\n'], 1, ["one-line"]),
    ([b"{\n", MESSAGE + b"\n"], 1, ["stdout-pure"]),
    ([b'{"id":1,"result":{}}\n'], 1, ["envelope"]),
    ([b'{"jsonrpc":"2.0","id":1,"result":[]}\n'], 1, ["envelope"]),
    ([b'{"jsonrpc":"2.0","id":1,"result":{"x":NaN}}\n'], 1, ["stdout-pure"]),
    ([b'{"jsonrpc":"2.0","id":1,"result":{"x":1,"x":2}}\n'], 1, []),  # JSON allows it
    ([b"7\n"], 0, ["stdout-pure"]),
]


@pytest.mark.parametrize(("given", "messages", "broken"), READ)
def test_a_line_is_judged_by_its_bytes_and_read_all_the_same(given, messages, broken):
    reader = LineReader()
    lines = [line for raw in given for line in reader.feed(raw)] + reader.flush()
    assert len([line for line in lines if line.message]) == messages
    assert [line.breaks for line in lines if line.breaks] == broken
    assert b"".join(line.raw for line in lines) == b"".join(given), "no byte is lost"


# --- the command line ---


def test_a_good_server_ends_with_0_and_a_line_for_each_rule():
    done = cli("--", *CALENDAR)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    for rule in check.RULES:
        assert len([line for line in lines if line[7:].startswith(f"{rule.name} ")]) == 1
    assert lines[-1].endswith("not applicable: the server passes the exam of 2026-07-28")
    assert max(map(len, lines)) <= 100


def test_a_broken_rule_is_shown_with_what_was_sent_what_came_and_the_clause():
    done = cli("--timeout", "3", "--", PYTHON, "toy_servers/rude.py", "string-id")
    assert done.returncode == 1
    told = done.stdout[done.stdout.index("BROKEN ids") :]
    labels = [line.split()[0] for line in told.splitlines()[1:] if line[7:8].strip()][:6]
    assert labels == ["sent", "came", "but", "and", "clause", "try"]
    assert '"id":2' in told and '"id":"2"' in told and "basic/index: MUST" in told


def test_with_all_every_rule_has_its_page():
    done = cli("--all", "--", PYTHON, "toy_servers/rude.py", "no-fault")
    assert "(basic/patterns/mrtr)" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "after `--`"),
        (["--timeout", "soon", "--", "x"], 2, "--timeout"),
        (["--timeout", "0", "--", "x"], 2, "--timeout"),
        (["--args", "echo", "[]", "--", "x"], 2, "no JSON object"),
        (["--args", "echo", "{", "--", "x"], 2, "is not JSON"),
        (["--what", "--", "x"], 2, "--what"),
        (["--", "/no/such/server"], 1, "cannot start"),
    ],
)
def test_wrong_usage_is_told_and_ends_with_2(words, code, said):
    done = cli(*words)
    assert done.returncode == code
    assert said in done.stderr and "Traceback" not in done.stderr
