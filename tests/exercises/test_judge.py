"""The judge against code that means no good, or means well and hangs: real processes, no mock.

Whatever the code does, the verdict comes in time, says what happened, and nothing is left running.
"""

import ast
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from workbench.checks import inside, parts
from workbench.checks.judge import INSIDE, Judge, NotStarted, Verdict, start_command
from workbench.checks.parts import Cell
from workbench.checks.wrong import LABELS, NotYet, Wrong, shown

HONEST = Cell("def honest(value):\n    return value\n", "honest")
LIMIT = 1.5  # seconds for a check here, in place of five


def echo(it) -> None:
    value = [1, "ä\n", None, {"k": [b"\xff\x00", 1.5]}]
    it.expect(it.call("honest", value) == value, sent="x", clause="y", hint="z")


def judged(*cells: Cell, stage: str, function, **options) -> tuple[Verdict, Verdict, float]:
    """The verdict on a stage, then the one on an honest stage of the same notebook."""
    with Judge([*cells, HONEST], seconds=LIMIT, load_seconds=1.0, **options) as judge:
        judge.load()
        start = time.monotonic()
        verdict = judge.check(stage, function)
        took = time.monotonic() - start
        return verdict, judge.check("honest", echo), took


def call(name: str, *args):
    return lambda it: it.call(name, *args)


FLOOD = "import os\ndef bad():\n    for _ in range(200):\n        os.write(FD, b'x' * 100_000)\n"
ROWS = {
    "raises": ("def bad():\n    return 1 / 0\n", "wrong", "ZeroDivisionError: division by zero"),
    "says where": ("def bad():\n    x = 1\n    return x / 0\n", "wrong", "`return x / 0`"),
    "never ends": ("def bad():\n    while True:\n        pass\n", "late", "the time is up"),
    "sleeps, and catches all": (
        "import time\ndef bad():\n    while True:\n        try:\n            time.sleep(9)\n"
        "        except BaseException:\n            pass\n",
        "late",
        "the time is up",
    ),
    "exit": ("def bad():\n    exit()\n", "wrong", "NameError"),
    "sys.exit": ("import sys\ndef bad():\n    sys.exit(0)\n", "wrong", "SystemExit"),
    "os._exit": ("import os\ndef bad():\n    os._exit(0)\n", "died", "ended its process"),
    "a crash": ("import ctypes\ndef bad():\n    ctypes.string_at(0)\n", "died", "its process"),
    "recursion": ("def bad():\n    return bad()\n", "wrong", "RecursionError"),
    "no such import": ("def bad():\n    import jupyter_client\n", "wrong", "the standard library"),
    "not the checks": ("def bad():\n    import workbench.checks\n", "wrong", "standard library"),
    "a flood on the pipe": (
        f"FD = next(n for n in range(3, 9) if __import__('os').path.exists(f'/proc/self/fd/{{n}}')"
        f" and 'pipe' in __import__('os').readlink(f'/proc/self/fd/{{n}}') and n != 3)\n{FLOOD}",
        "flood",
        "more output than anybody can read",
    ),
    "closes every pipe": (
        "import os, time\ndef bad():\n    os.closerange(0, 99)\n    time.sleep(60)\n",
        "died",
        "nothing",
    ),
    "an unprintable error": (
        "class E(Exception):\n    def __str__(self):\n        raise E\n"
        "def bad():\n    raise E\n",
        "wrong",
        "while it was printed",
    ),
    "not written": (
        "def bad():\n    raise NotImplementedError('stage bad')\n",
        "not yet",
        "Not written yet: stage bad",
    ),
    "another stage is not written": (
        "def bad():\n    raise NotImplementedError('stage first')\n",
        "not yet",
        "Not written yet: stage first",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", ROWS)
def test_a_bad_call_is_told_and_costs_only_itself(what: str) -> None:
    source, kind, says = ROWS[what]
    verdict, next_one, took = judged(Cell(source, "bad"), stage="bad", function=call("bad"))
    assert verdict.kind == kind, str(verdict.wrong)
    assert says in " ".join(str(verdict.wrong).split())
    if kind != "not yet":
        assert all(f"{label}:" in str(verdict.wrong) for label in LABELS)
    assert next_one.passed, str(next_one.wrong)
    assert took < LIMIT + 2


CELLS = {
    "never ends": ("while True:\n    pass\n", "late", "never ends"),
    "os._exit": ("import os\nos._exit(1)\n", "died", "ends its process"),
    "sys.exit": ("import sys\nsys.exit()\n", "wrong", "SystemExit"),
    "a syntax error": ("def bad(:\n", "wrong", "SyntaxError"),
    "an error": ("bad = 1 / 0\n", "wrong", "the cell does not run: ZeroDivisionError"),
    "kills its group": ("import os\nos.killpg(0, 9)\n", "died", "ends its process"),
    "print without end": ("while True:\n    print('x' * 1000)\n", "late", "never ends"),
}


@pytest.mark.parametrize("what", CELLS)
def test_a_bad_cell_costs_only_its_own_stage(what: str) -> None:
    source, kind, says = CELLS[what]
    verdict, next_one, _ = judged(
        Cell(source), Cell(source, "bad"), stage="bad", function=call("bad")
    )
    assert verdict.kind == kind, str(verdict.wrong)
    assert says in " ".join(str(verdict.wrong).split())
    assert next_one.passed, str(next_one.wrong)


def test_a_cell_that_hung_is_left_out_the_next_time_as_well() -> None:
    left_out: dict[Cell, str] = {}
    hangs = Cell("while True:\n    pass\n", "bad")
    with Judge([hangs, HONEST], seconds=LIMIT, load_seconds=0.5, left_out=left_out) as judge:
        assert judge.check("honest", echo).passed
    start = time.monotonic()
    with Judge([hangs, HONEST], seconds=LIMIT, left_out=left_out) as judge:
        assert judge.check("honest", echo).passed
        assert judge.check("bad", echo).kind == "late"
    assert time.monotonic() - start < LIMIT


def test_many_cells_that_hang_do_not_add_up() -> None:
    """A learner waits for five seconds at most, whatever there is to leave out."""
    hang = [Cell(f"while True:\n    x = {n}\n") for n in range(4)]
    left_out: dict[Cell, str] = {}
    kinds = []
    while kinds[-1:] != ["passed"] and len(kinds) < len(hang):
        with Judge([*hang, HONEST], seconds=LIMIT, load_seconds=0.7, left_out=left_out) as judge:
            start = time.monotonic()
            kinds.append(judge.check("honest", echo).kind)
            assert time.monotonic() - start < LIMIT + 1
    assert kinds[0] == "late" and kinds[-1] == "passed"


def test_children_are_ended_with_the_process() -> None:
    child = "import subprocess, sys\ndef bad():\n    return subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)']).pid\n"  # noqa: E501
    pids = []
    with Judge([Cell(child, "bad")]) as judge:
        assert judge.check("bad", lambda it: pids.append(it.call("bad"))).passed
        assert psutil.pid_exists(pids[0])
    deadline = time.monotonic() + 5
    while psutil.pid_exists(pids[0]) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not psutil.pid_exists(pids[0])


def test_prints_do_not_reach_the_pipe_and_input_finds_nothing() -> None:
    loud = "print('at first')\ndef bad():\n    import os\n    print('x'); os.write(1, b'{\"id\": 1}\\n')\n    try:\n        return input()\n    except EOFError:\n        return 'nothing'\n"  # noqa: E501
    with Judge([Cell(loud, "bad")]) as judge:
        assert judge.check(
            "bad", lambda it: it.expect(it.call("bad") == "nothing", sent="", clause="", hint="")
        ).passed


@pytest.mark.parametrize(
    ("forged", "kind"),
    [
        (b'{"id": 1, "value": 7}\n', "passed"),  # their answer, whichever way it came
        (b'garbage\n[1]\n{"id": "1"}\n{"id": true, "value": 8}\n', "wrong"),
        (b'{"id": 1, "value": {"$bytes": "%"}}\n', "wrong"),
        (b'{"id": 1, "error": []}\n', "wrong"),
        (b'{"id": 1, "error": {"types": 3, "message": {}}}\n', "wrong"),
        (b"[" * 100_000 + b"\n", "wrong"),
    ],
)
def test_what_is_forged_on_the_pipe_is_their_answer_and_no_more(forged: bytes, kind: str) -> None:
    source = f"""
import os
FORGED = {forged!r}
def bad():
    for n in range(3, 9):
        try:
            os.write(n, FORGED)
        except OSError:
            pass
    return 0
"""
    with Judge([Cell(source, "bad")]) as judge:
        verdict = judge.check(
            "bad", lambda it: it.expect(it.call("bad") == 7, sent="", clause="", hint="")
        )
    assert verdict.kind == kind, str(verdict.wrong)


def test_a_process_that_does_not_start_is_our_error() -> None:
    for command in (["/no/such/program"], [sys.executable, "-c", "print('hi')"], ["false"]):
        with Judge([HONEST], command=command) as judge, pytest.raises(NotStarted):
            judge.check("honest", echo)


def test_the_command_may_have_a_prefix() -> None:
    with Judge([HONEST], command=start_command(["env", "-i"])) as judge:
        assert judge.check("honest", echo).passed


VALUES = {
    "(1, 2)": [1, 2],
    "b'\\x00'": b"\x00",
    "bytearray(b'x')": b"x",
    "{1: 'a', None: b'b'}": {1: "a", None: b"b"},
    "{'$bytes': 'x'}": {"$bytes": "x"},
    "(n for n in 'ab')": ["a", "b"],
    "10**400": "a int: 1000",
    "float('nan')": "a float: nan",
    "{1, 2}": "a set: {1, 2}",
    "object": "a type: <class 'object'>",
    "'\\ud800'": "\ud800",
}


@pytest.mark.parametrize("expression", VALUES)
def test_values_cross(expression: str) -> None:
    found = []
    with Judge([Cell(f"def bad():\n    return {expression}\n", "bad")]) as judge:
        verdict = judge.check("bad", lambda it: found.append(it.call("bad")))
    assert verdict.passed, str(verdict.wrong)
    due = VALUES[expression]
    same = repr(found[0]).startswith(due) if isinstance(found[0], inside.Strange) else None
    assert same if same is not None else found[0] == due


def test_a_new_process_knows_nothing_of_the_one_before() -> None:
    source = "seen = []\ndef bad(value):\n    seen.append(value)\n    return len(seen)\n"

    def function(it) -> None:
        counts = [it.call("bad", 1), it.call("bad", 1)]
        it.new_process()
        it.expect([*counts, it.call("bad", 1)] == [1, 2, 1], sent="x", clause="y", hint="z")

    with Judge([Cell(source, "bad")]) as judge:
        assert judge.check("bad", function).passed


def test_what_a_cell_defines_is_at_home_in_main() -> None:
    """As in a notebook: what looks its own module up finds the cells."""
    source = """
from __future__ import annotations
import asyncio, dataclasses, typing
@dataclasses.dataclass
class Row:
    size: int
async def later(value):
    await asyncio.sleep(0)
    return value
def bad():
    return [typing.get_type_hints(Row)["size"].__name__, __name__]
"""

    def function(it) -> None:
        found = [*it.call("bad"), it.call("later", 3)]
        it.expect(found == ["int", "__main__", 3], sent=found, clause="y", hint="z")

    with Judge([Cell(source, "bad")]) as judge:
        verdict = judge.check("bad", function)
    assert verdict.passed, str(verdict.wrong)


def test_a_value_that_holds_itself_is_strange() -> None:
    loop: list = []
    loop.append(loop)
    assert isinstance(inside.decode(json.loads(json.dumps(inside.encode(loop)))), inside.Strange)


def test_code_that_refuses_shows_its_code_and_data() -> None:
    source = "from mcp_bare.errors import InvalidParams\ndef bad():\n    raise InvalidParams('no', {'missing': ['x']})\n"  # noqa: E501
    seen = []
    with Judge([Cell(source, "bad")]) as judge:
        verdict = judge.check("bad", lambda it: seen.append(it.attempt("bad")))
    assert verdict.passed, str(verdict.wrong)
    assert (seen[0].code, seen[0].data) == (-32602, {"missing": ["x"]})
    assert "RpcError" in seen[0].types


# --- a server on the raw pipe ---

ECHO = "import sys\ndef main():\n    for line in sys.stdin:\n        print(line.upper(), end='', flush=True)\n"  # noqa: E501
SERVERS = {
    "sys": (ECHO, "main"),
    "pipes": (
        "def main(stdin, stdout):\n    for line in stdin:\n        stdout.write(line.upper())\n"
        "        stdout.flush()\n",
        "main",
    ),
}


@pytest.mark.parametrize("what", SERVERS)
def test_a_function_gets_the_pipe(what: str) -> None:
    source, name = SERVERS[what]

    def function(it) -> None:
        with it.serve(name) as pipe:
            pipe.write(b"a")
            assert pipe.silent()
            pipe.write(b"b\nc\n")
            assert (pipe.line(), pipe.line(), pipe.rest(), pipe.exit_code()) == (
                b"AB",
                b"C",
                b"",
                0,
            )

    with Judge([Cell(source, "s")]) as judge:
        verdict = judge.check("s", function)
    assert verdict.passed, str(verdict.wrong)


def test_a_server_object_is_served_and_the_client_talks_to_it() -> None:
    source = """
from mcp_bare.server import Server
server = Server("s", "1")
@server.tool({"name": "pid", "inputSchema": {"type": "object"}})
def pid(call):
    import os
    print("to stderr")
    return str(os.getpid())
"""
    pids = set()

    def function(it) -> None:
        for _ in range(2):
            with it.client("server") as client:
                pids.add(client.call_tool("pid", {})["content"][0]["text"])

    with Judge([Cell(source, "s")]) as judge:
        verdict = judge.check("s", function)
    assert verdict.passed, str(verdict.wrong)
    assert len(pids) == 2, "each time a new process"
    assert str(os.getpid()) not in pids


BAD_SERVERS = {
    "says nothing": ("import time\ndef main():\n    time.sleep(60)\n", "late", "the time is up"),
    "no line feed": (
        "def main(stdin, stdout):\n    stdin.readline()\n    stdout.write(b'{}')\n"
        "    stdout.flush()\n    stdin.read()\n",
        "late",
        "the last byte of a message is missing",
    ),
    "ends": ("def main():\n    raise KeyError('id')\n", "died", "KeyError: 'id'"),
    "prints": ("def main():\n    print('hello')\n", "wrong", "b'hello'"),
    "is missing": ("x = 1\n", "not yet", "There is no `main` so far"),
}


@pytest.mark.parametrize("what", BAD_SERVERS)
def test_a_bad_server_is_told(what: str) -> None:
    source, kind, says = BAD_SERVERS[what]

    def function(it) -> None:
        with it.serve("main") as pipe:
            pipe.ask({"jsonrpc": "2.0", "id": 1, "method": "x"})

    verdict, next_one, _ = judged(Cell(source, "s"), stage="s", function=function)
    assert verdict.kind == kind, str(verdict.wrong)
    assert says in " ".join(str(verdict.wrong).split())
    assert next_one.passed


def test_what_was_not_run_and_what_was_not_returned_is_said() -> None:
    def doubled(it) -> None:
        value = it.call("double", 2)
        it.expect(value == 4, sent=value, clause="a rule", hint="count")

    prints = Cell("def double(value):\n    print(2 * value)\n", "double")
    with Judge([prints]) as judge:
        verdict = judge.check("double", doubled)
        no_given = judge.check("double", lambda it: it.given["TITLE"])
    assert "count (`double` returned None: is there a `return`?)" in str(verdict.wrong)
    assert no_given.kind == "not yet" and "`# Given`" in str(no_given.wrong)
    with Judge([Cell("def double(value):\n    return value\n", "double")]) as judge:
        assert "returned None" not in str(judge.check("double", doubled).wrong)


def test_a_check_that_falls_over_an_answer_is_the_answers_fault() -> None:
    with Judge([HONEST]) as judge:
        verdict = judge.check("honest", lambda it: it.call("honest", {})["result"])
    assert "KeyError: 'result'" in str(verdict.wrong)
    assert all(f"{label}:" in str(verdict.wrong) for label in LABELS)


# --- messages, and a notebook taken apart ---


def test_a_message_is_three_parts_without_a_traceback() -> None:
    wrong = Wrong(b"x" * 999, "basic/index: a rule", "look")
    lines = wrong._render_traceback_()
    assert [line.partition(":")[0] for line in lines if line[0] != " "] == list(LABELS)
    assert "a rule (basic/index)" in str(wrong)
    assert "(1002 characters)" in wrong.sent
    assert len(shown({"a": "x" * 9999})) < 400
    assert NotYet("Not written yet: x")._render_traceback_() == ["Not written yet: x"]


def test_the_latest_run_of_each_cell_counts() -> None:
    found = parts.from_history(
        [
            "import json\nfrom workbench.checks import check, tally",
            "# Given: yours\nSIZE = 3",
            "# Stage a: x\nold = 1",
            '@check("a", points=1)\ndef f(it): ...',
            "def mine():\n    return 1\n\nmine()\nfor x in []: pass",
            "# a comment of theirs\n\n# Stage a: x\nnew = 2",
            "%timeit mine()",
            "tally({})",
            "x = 1\n!ls\nif x:\n    %time 3",
            "def broken(:",
            "print('only this')",
        ]
    )
    assert found.given == {"SIZE": 3}
    assert [(cell.stage, cell.source) for cell in found.cells] == [
        (None, "import json\n"),
        (None, "# Given: yours\nSIZE = 3"),
        (None, "def mine():\n    return 1"),
        ("a", "# a comment of theirs\n\n# Stage a: x\nnew = 2"),
        (None, "x = 1\nif x:\n    pass"),
    ]


def test_one_thread_parses_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPython 3.11 may end two parses at once with SystemError."""
    inside, most = 0, 0

    def parse(source: str) -> ast.Module:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        time.sleep(0.01)
        inside -= 1
        return real(source)

    real = ast.parse
    with monkeypatch.context() as patched, ThreadPoolExecutor(4) as pool:
        patched.setattr(ast, "parse", parse)
        found = list(pool.map(parts.helper, [f"X = {number}" for number in range(8)]))
    assert [cell and cell.source for cell in found] == [f"X = {number}" for number in range(8)]
    assert most == 1


# --- what it leans on ---


@pytest.mark.parametrize("file", sorted(INSIDE.parent.glob("*.py")), ids=lambda file: file.stem)
def test_the_library_imports_the_toolkit_and_nothing_else_of_ours(file: Path) -> None:
    allowed = {*sys.stdlib_module_names, "mcp_bare"}
    own = set() if file == INSIDE else {"workbench.checks"}
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [str(node.module)]
        for name in names:
            ours = any(name == each or name.startswith(f"{each}.") for each in own)
            in_notebook = name == "IPython" and file.stem == "notebook"
            assert ours or in_notebook or name.partition(".")[0] in allowed, name
