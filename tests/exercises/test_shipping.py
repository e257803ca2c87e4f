"""The capstone's judges: the exam through a stand-in, HTTP through a front, the suite before both.

A server is the same server whether the exam starts it itself or through the stand-in; whatever it
does, the check ends in time and says what was wrong; and over HTTP its own bytes arrive.
"""

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_bare import check, jsonrpc, revision
from tests.conftest import missing
from workbench import node, shipping, suite
from workbench.checks import exam, front
from workbench.checks.judge import Judge, NotStarted, Verdict
from workbench.checks.parts import Cell
from workbench.checks.wrong import Wrong

IMPORTS = Cell(
    "import io, os, signal, subprocess, sys, time\n"
    "from mcp_bare import http_request, http_rules, jsonrpc, stdio\n"
    "from mcp_bare.connection import Connection\n"
    "from mcp_bare.errors import Refused\n"
    "from mcp_bare.server import Server\n"
    "def make():\n"
    "    server = Server('small', '1')\n"
    "    tool = {'name': 'now', 'description': 'The time.', 'inputSchema': {'type': 'object'}}\n"
    "    server.tool(tool)(lambda call: 'noon')\n"
    "    return server\n"
)
GOOD = "def serve(stdin, stdout):\n    stdio.serve(make())\n"
WAIT = "def serve(stdin, stdout):\n    stdio.serve(make())\n    time.sleep(60)\n"
SERVERS = {
    "good": (GOOD, "passed", ""),
    "logs to stderr": (
        "def serve(stdin, stdout):\n    print('ready', file=sys.stderr)\n    stdio.serve(make())\n",
        "passed",
        "",
    ),
    "a cell prints": ("print('hello')\n" + GOOD, "passed", ""),
    "a cell writes on its pipe": (
        "for fd in range(3, 20):\n    try:\n        os.write(fd, b'{\"x\": 1}\\n')\n"
        "    except OSError:\n        pass\n" + GOOD,
        "passed",
        "",
    ),
    "prints": (
        "def serve(stdin, stdout):\n    print('ready', flush=True)\n    stdio.serve(make())\n",
        "wrong",
        "stdout carries nothing but messages",
    ),
    "deaf": ("def serve(stdin, stdout):\n    time.sleep(60)\n", "late", "each request is answered"),
    "stays": (WAIT, "wrong", "at the end of its input the server leaves"),
    "stays against the will of all": (
        WAIT.replace("    stdio", "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    stdio"),
        "wrong",
        "at the end of its input the server leaves",
    ),
    "leaves a child": (
        WAIT.replace(
            "    time.sleep(60)",
            "    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])",
        ),
        "wrong",
        "at the end of its input the server leaves",
    ),
    "floods": (
        "def serve(stdin, stdout):\n    while True:\n        stdout.write(b'x' * 99 + b'\\n')\n",
        "wrong",
        "stdout carries nothing but messages",
    ),
    "not written": ("def serve(stdin, stdout):\n    raise NotImplementedError('stage musts')\n",
                    "not yet", "Not written yet: stage musts"),
    "not there": ("x = 1\n", "not yet", "Not written yet"),
    "does not run": ("def serve(:\n", "wrong", "SyntaxError"),
}  # fmt: skip


def judged(source: str) -> Verdict:
    with Judge([IMPORTS, Cell(f"# Stage musts: x\n{source}", "musts")]) as judge:
        judge.load()
        return judge.check("musts", lambda it: exam.sit(it, "serve"))


@pytest.mark.parametrize("name", SERVERS)
def test_the_exam_says_what_is_wrong_in_time(name: str) -> None:
    source, kind, says = SERVERS[name]
    start = time.monotonic()
    verdict = judged(source)
    took = time.monotonic() - start
    if verdict.kind != kind and took > 3:  # a busy machine: what was slow may be late
        verdict = judged(source)
    assert verdict.kind == kind, str(verdict.wrong)
    assert says in " ".join(str(verdict.wrong).split())
    assert took < 12, "a check waits for five seconds; the rest is for a busy machine"


def test_a_wrong_names_the_rule_and_the_others_that_are_broken() -> None:
    source = SERVERS["prints"][0] + "    time.sleep(60)\n"
    wrong = judged(source).wrong
    assert wrong.sent.startswith("ready\nfor {")
    assert wrong.clause == "stdout carries nothing but messages (basic/transports/stdio)"
    assert wrong.hint.endswith("(Broken as well: leaves.)")


def test_the_exam_says_the_same_through_the_stand_in(tmp_path: Path, repo: Path) -> None:
    source = SERVERS["prints"][0]
    script = tmp_path / "server.py"
    start = f"import sys\nsys.path.insert(0, {str(repo)!r})\n"
    end = "serve(sys.stdin.buffer, sys.stdout.buffer)\n"
    script.write_text(start + IMPORTS.source + source + end, encoding="utf-8")
    alone = list(check.run([sys.executable, str(script)]))
    with Judge([IMPORTS, Cell(source, "musts")]) as judge:
        found = []

        def compare(it) -> None:
            with it.command("serve") as command:
                found.extend(check.run(command))

        assert judge.check("musts", compare).passed
    told = [[(each.name, each.outcome, each.findings) for each in run] for run in (alone, found)]
    assert told[0] == told[1]
    assert [each.name for each in found if each.outcome == "broken"] == ["stdout-pure"]


@contextlib.contextmanager
def standing_in(source: str) -> Iterator[subprocess.Popen]:
    """A process of the stand-in, as whoever examines it would start it."""
    with Judge([Cell(source, "x")], seconds=30) as judge:
        started: list[subprocess.Popen] = []

        def start(it) -> None:
            with it.command("serve") as command:
                pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
                process = subprocess.Popen(command, **pipes)
                started.append(process)
                # The task has been read once the server says something.
                assert process.stdout.readline() == b"up\n"

        verdict = judge.check("x", start)
        assert verdict.passed, str(verdict.wrong)
        with started[0] as process:
            yield process


ECHO = """
def serve(stdin, stdout):
    stdout.write(b"up\\n")
    stdout.flush()
    while chunk := stdin.read1(65536):
        stdout.write(chunk)
        stdout.flush()
    raise SystemExit(7)
"""


def test_the_stand_in_passes_on_every_byte_and_the_exit_code() -> None:
    data = bytes(range(256)) * 20_000
    with standing_in(ECHO) as process:
        said, _ = process.communicate(data, timeout=30)
        assert said == data
        assert process.returncode == 7


def test_the_stand_in_leaves_when_the_server_does() -> None:
    source = ECHO.replace("while chunk := stdin.read1(65536)", "while chunk := stdin.read(1)[1:]")
    with standing_in(source) as process:
        process.stdin.write(b"x")
        process.stdin.flush()
        assert process.wait(30) == 7


# --- the front ---


def request(url: str, body: bytes = b"{}", **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(url.split("/")[2], timeout=10)
    with contextlib.closing(connection):
        connection.request("POST", "/mcp", body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_the_front_hands_on_bytes_as_they_came() -> None:
    seen: list[bytes] = []
    said = b"HTTP/1.1 299 Odd\r\ncontent-LENGTH: 3\r\nX-Strange: \xff\r\n\r\na\r\n"

    def answer(data: bytes) -> bytes:
        seen.append(data)
        return said

    head = b"POST /x HTTP/1.1\r\nHost: \xfe\r\nContent-Length: 5\r\n\r\n"
    with front.at(answer) as url:
        place = ("127.0.0.1", int(url.split(":")[2].split("/")[0]))
        with socket.create_connection(place, timeout=10) as link:
            link.sendall(head[:20])
            time.sleep(0.05)
            link.sendall(head[20:] + b"he")
            time.sleep(0.05)
            link.sendall(b"llo" + b"GET / HTTP/1.1\r\n\r\n")  # two requests on one connection
            came = b""
            while len(came) < 2 * len(said):
                came += link.recv(65536)
        assert came == said * 2
    assert seen == [head + b"hello", b"GET / HTTP/1.1\r\n\r\n"]


@pytest.mark.parametrize("said", [None, "text", b"", 7, {"status": 200}])
def test_what_is_no_response_is_a_500(said: object) -> None:
    with front.at(lambda data: said) as url:
        assert request(url)[0] == 500


def test_what_went_wrong_inside_is_raised_outside() -> None:
    def answer(data: bytes) -> bytes:
        raise Wrong("x", "y", "z")

    with pytest.raises(Wrong), front.at(answer) as url:
        assert request(url)[0] == 500


def test_a_response_without_a_length_ends_with_its_connection() -> None:
    with front.at(lambda data: b"HTTP/1.1 200 OK\r\n\r\nall of it") as url:
        assert request(url) == (200, b"all of it")


# --- the suite ---

ANSWER = """# Stage http: x
def answer(data):
    try:
        request = http_request.read(io.BytesIO(data), len(data), lambda: None)
        message, _ = http_rules.Rules().admit(request, make())
    except Refused as refusal:
        return reply(refusal.status, refusal.body)
    said = list(make().handle(message))
    return reply(200, jsonrpc.dumps(said[-1])) if said else reply(202, b"")


def reply(status, body):
    head = f"HTTP/1.1 {status} x\\r\\nContent-Type: application/json\\r\\n"
    return f"{head}Content-Length: {len(body)}\\r\\n\\r\\n".encode() + body
"""


@pytest.fixture(scope="module")
def conformance() -> None:
    try:
        node.ensure(node.CONFORMANCE)
    except node.NodeUnavailable as trouble:
        missing(str(trouble))


def test_a_server_over_http_is_judged_by_the_suite(conformance: None) -> None:
    """Its tool alone is on the table: whatever else the suite lists is found to be missing."""
    with Judge([IMPORTS, Cell(ANSWER, "http")]) as judge:
        verdict = judge.check("http", lambda it: shipping.core_holds(it, "answer"))
        again = judge.check("http", lambda it: shipping.core_holds(it, "answer"))
    assert not verdict.passed
    assert "the scenario resources-list of the conformance suite: " in str(verdict.wrong)
    assert str(again.wrong) == str(verdict.wrong)
    (kept,) = [each for key, each in shipping._reports.items() if IMPORTS in key]
    assert "tools-list" not in {result.scenario for result in kept.failed}
    assert len(kept.results) == 9


@pytest.mark.parametrize(
    ("statuses", "holds"),
    [
        (["SUCCESS"], True),
        (["SUCCESS", "INFO", "SKIPPED"], True),
        (["SUCCESS", "WARNING"], True),
        (["SUCCESS", "FAILURE"], False),
        (["SUCCESS", "a status of tomorrow"], False),
        (["SKIPPED"], False),
        ([], False),
    ],
)
def test_a_warning_takes_no_points_and_nothing_seen_is_nothing_held(
    statuses: list[str], holds: bool
) -> None:
    checks = tuple(suite.Check("id", "name", status, "said") for status in statuses)
    assert shipping.holds(suite.Result("caching", checks)) is holds


def test_without_the_suite_it_says_so_and_fails_nobody(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(suite, "missing", lambda: "Node is not here")
    with Judge([IMPORTS, Cell(ANSWER, "http")]) as judge:
        assert judge.check("http", lambda it: shipping.core_holds(it, "answer")).passed
    assert capsys.readouterr().err == "Node is not here: stage http is judged without it.\n"
    shipping.suite_says("answer")
    assert capsys.readouterr().out.startswith("Node is not here. ")


def test_what_is_not_written_does_not_wait_for_the_suite(
    monkeypatch: pytest.MonkeyPatch, conformance: None
) -> None:
    monkeypatch.setattr(suite, "against_server", None)  # it is not to be called
    blank = "# Stage http: x\ndef answer(data):\n    raise NotImplementedError('stage http')\n"
    with Judge([IMPORTS, Cell(blank, "http")]) as judge:
        assert judge.check("http", lambda it: shipping.core_holds(it, "answer")).kind == "not yet"


@pytest.mark.parametrize(
    ("trouble", "due"), [(RuntimeError("it broke"), NotStarted), (TimeoutError("late"), "late")]
)
def test_where_the_suite_goes_wrong_it_is_nobodys_zero(
    trouble: Exception, due: object, monkeypatch: pytest.MonkeyPatch, conformance: None
) -> None:
    def broken(url: str, **how: float) -> None:
        raise trouble

    monkeypatch.setattr(suite, "against_server", broken)
    cells = [IMPORTS, Cell(f"{ANSWER}\n# {trouble}", "http")]
    with Judge(cells) as judge:
        if due is NotStarted:
            with pytest.raises(NotStarted, match="it broke"):
                judge.check("http", lambda it: shipping.core_holds(it, "answer"))
        else:
            verdict = judge.check("http", lambda it: shipping.core_holds(it, "answer"))
            assert verdict.kind == due


def test_what_the_learners_code_raised_comes_before_the_suites_trouble(
    monkeypatch: pytest.MonkeyPatch, conformance: None
) -> None:
    def against(url: str, **how: float) -> None:
        assert request(url)[0] == 500
        raise RuntimeError("the suite ended with 1")

    monkeypatch.setattr(suite, "against_server", against)
    source = ANSWER.replace("    try:", "    if data[:4] == b'POST':\n        1 / 0\n    try:")
    with Judge([IMPORTS, Cell(source, "http")]) as judge:
        verdict = judge.check("http", lambda it: shipping.core_holds(it, "answer"))
    assert "ZeroDivisionError" in str(verdict.wrong)


def test_the_front_and_a_judge_together() -> None:
    message = {"jsonrpc": "2.0", "id": "é", "method": "server/discover"}
    message["params"] = {"_meta": revision.request_meta({}, {"name": "t", "version": "1"})}
    headers = {"Content-Type": "application/json", "Mcp-Method": "server/discover"}
    headers["MCP-Protocol-Version"] = revision.CURRENT

    def ask(it) -> None:
        with front.at(lambda data: it.call("answer", data)) as url:
            status, body = request(url, jsonrpc.dumps(message), **headers)
        it.expect(status == 200, sent=body, clause="x", hint="y")
        it.expect(json.loads(body)["id"] == "é", sent=body, clause="x", hint="y")

    with Judge([IMPORTS, Cell(ANSWER, "http")]) as judge:
        verdict = judge.check("http", ask)
    assert verdict.passed, str(verdict.wrong)
