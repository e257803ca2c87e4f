"""What learners hand in, on purpose or not: each case, and the score and the finding it is due.

    python tests/classroom/bad_submissions.py        # writes the files of tests/classroom/bad again

The exercise is the tests' own (`tiny`): stage frame has 2 points, parse 2, serve 3.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, from anywhere

from tests.classroom.tiny import FRAME, MODEL, PARSE, SERVE, cell, notebook

FOLDER = Path(__file__).resolve().parent / "bad"
ALL, NO_PARSE = (2, 2, 3), (2, 0, 3)


@dataclass(frozen=True)
class Case:
    """One file: what is in it, and what must come of it."""

    file: str
    make: Callable[[], dict[str, Any] | bytes]
    scores: tuple[float, ...] = NO_PARSE
    says: str = ""
    """A part of a finding or of a note; "" where nothing must be said."""
    kinds: tuple[str, ...] = ()
    """What the first stage that fails may be said to be; () where any will do."""

    def data(self) -> bytes:
        made = self.make()
        if isinstance(made, bytes):
            return made
        return json.dumps(made, indent=1, ensure_ascii=False).encode() + b"\n"


def parse(body: str, top: str = "") -> Callable[[], dict[str, Any]]:
    """A notebook whose stage parse does this first, then as it should."""
    lines = [f"    {line}" for line in body.strip("\n").splitlines()]
    head, first, *rest = PARSE.splitlines()
    source = "\n".join([head, *top.strip("\n").splitlines(), first, *lines, *rest])
    return lambda: notebook({"parse": source})


def answers(**given: str) -> Callable[[], dict[str, Any]]:
    """A notebook with these answers, each given without its first line."""
    texts = {name: f"{MODEL[name].splitlines()[0]}\n{text}" for name, text in given.items()}
    return lambda: notebook(texts)


def edited(change: Callable[[dict[str, Any]], object]) -> Callable[[], dict[str, Any]]:
    """The model answers, after a change to the notebook."""

    def make() -> dict[str, Any]:
        made = notebook()
        change(made)
        return made

    return make


def doubled(text: str | None = None) -> Callable[[dict[str, Any]], object]:
    def change(made: dict[str, Any]) -> None:
        copy = json.loads(json.dumps(cell(made, "stage-parse")))
        copy["id"] = "copy"
        copy["source"] = text or copy["source"]
        made["cells"].append(copy)

    return change


def renamed(made: dict[str, Any], first_line: str | None = None) -> None:
    theirs = cell(made, "stage-parse")
    theirs["metadata"]["nbgrader"]["grade_id"] = "my-own-name"
    if first_line is not None:
        theirs["source"] = theirs["source"].replace(PARSE.splitlines()[0], first_line)


def deleted(grade_id: str) -> Callable[[dict[str, Any]], object]:
    return lambda made: made["cells"].remove(cell(made, grade_id))


def patched(made: dict[str, Any]) -> None:
    cell(made, "check-parse")["source"] = 'print("stage parse: the visible checks pass")'
    cell(made, "stage-parse")["source"] = "# Stage parse: none\nparse = print"


def helper(source: str) -> Callable[[dict[str, Any]], object]:
    made_up = {"id": "mine", "cell_type": "code", "metadata": {}, "source": source}
    return lambda made: made["cells"].insert(3, {**made_up, "execution_count": 1, "outputs": []})


def markdown(made: dict[str, Any]) -> None:
    theirs = cell(made, "stage-parse")
    theirs["cell_type"] = "markdown"
    del theirs["outputs"], theirs["execution_count"]


def another_exercise(made: dict[str, Any]) -> None:
    made["metadata"]["mcp_by_bare_hands"]["exercise"] = "ch26/99_other"


def windows() -> bytes:
    made = notebook()
    for each in made["cells"]:
        each["source"] = "".join(each["source"]).replace("\n", "\r\n")
    return json.dumps(made, indent=1).replace("\n", "\r\n").encode()


TO_THE_WIRE = """
for fd in range(3, 64):
    try:
        if stat.S_ISFIFO(os.fstat(fd).st_mode): os.write(fd, DATA)
    except OSError: pass
"""
WITH_OS = "import os, stat"
NOISE = WITH_OS + '\nDATA = b"\\x00\\xff garbage\\n{\\n[1]\\nnull\\n"' + TO_THE_WIRE
FORGED = 'DATA = b\'\'.join(b\'{"id": %d, "value": {"id": 1}}\\n\' % n for n in range(1, 1000))'
FOUND = """
import os
for folder, _, files in os.walk("/"):
    if folder.startswith("/proc"): continue
    for file in files:
        if "01_tiny" in file or "solutions" in folder or "classroom" in folder:
            raise ValueError("FOUND " + folder + "/" + file)
raise LookupError("nothing found")
"""
OUTSIDE = """
import os
for place in ("/", "/kit", "/kit/mcp_bare", "/usr/lib", "/etc", "/dev", "/root", "/home"):
    try: open(place + "/evil", "w").close()
    except OSError: continue
    raise ValueError("WROTE " + place)
raise LookupError("nothing written")
"""
NETWORK = """
import socket
socket.create_connection(("192.0.2.1", 80), timeout=1)
"""
KILLS = """
import ctypes, os, signal
for pid in (os.getppid(), 1, -1):
    try: os.kill(pid, signal.SIGKILL)
    except OSError: pass
ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0)
"""
CHILD = """
import subprocess, sys
program = "import time; time.sleep(1000)"
subprocess.Popen([sys.executable, "-c", program], start_new_session=True)
"""
PATCHES = """
import builtins, gc, sys
for module in list(sys.modules.values()):
    for name in ("expect", "check", "Wrong", "Judge"):
        if hasattr(module, name): setattr(module, name, lambda *a, **k: None)
builtins.isinstance = lambda *a: True
try: get_ipython().ast_transformers.append(None)
except NameError: pass
def parse(line):
    return {"id": 1}
"""
HARD_CODED = """
def parse(line):
    if line[:1] == b"[": raise ValueError
    return {"id": 1}
"""
TELLS = """
def frame(message):
    if "secret" in message: raise ValueError(str(message))
    return json.dumps(message).encode() + b"\\n"
"""
LOUD = """
import sys
print("parsing", file=sys.stderr)
print("parsing")
"""
HUNDRED = """
import sys
for _ in range(100): print("x" * 1000000)
"""
SLEEPERS = """
import threading, time
for _ in range(12): threading.Thread(target=time.sleep, args=(1000,)).start()
"""

CASES = (
    # what is no notebook, or not this one
    Case("empty.ipynb", lambda: b"", (), "the file is empty"),
    Case("blanks only.ipynb", lambda: b" \r\n\n", (), "the file is empty"),
    Case("broken_json.ipynb", lambda: Case("", notebook).data()[:700], (), "not JSON"),
    Case("not_a_notebook.ipynb", lambda: b'{"cells": []}', (), "no nbformat"),
    Case("a_picture.ipynb", lambda: b"\x89PNG\r\n\x1a\n\0\0", (), "not UTF-8"),
    Case("deep.ipynb", lambda: b"[" * 100_000, (), "nested deeper"),
    Case("format_3.ipynb", lambda: b'{"nbformat": 3, "worksheets": []}', (), "format 4"),
    Case("cells_of_numbers.ipynb", edited(lambda n: n.update(cells=[1, None, {"source": 7}])), (),
         "the source of cell 3"),
    Case("another_exercise.ipynb", edited(another_exercise), (), "ch26/99_other"),
    # what is read all the same
    Case("no_name.ipynb", edited(lambda n: n.update(metadata={})), ALL, "known by its cells"),
    Case("windows.ipynb", windows, ALL),
    Case("byte_order_mark.ipynb", lambda: b"\xef\xbb\xbf" + Case("", notebook).data(), ALL),
    Case("Ștefan Popa – lecția 1 (2).IPYNB", notebook, ALL),
    Case("copied_file.ipynb", notebook, ALL),
    Case("copied_file - Copy.ipynb", notebook, ALL),
    # cells
    Case("deleted_cell.ipynb", edited(deleted("stage-parse")), says="parse is missing"),
    Case("deleted_check.ipynb", edited(deleted("check-parse")), ALL, "check-parse is missing"),
    Case("copied_cell.ipynb", edited(doubled()), ALL, "parse is there 2 times"),
    Case("copied_cell_differs.ipynb", edited(doubled("parse = 1")), says="they differ"),
    Case("renamed_cell.ipynb", edited(renamed), ALL, "found by its first line"),
    Case("renamed_and_untitled.ipynb", edited(lambda n: renamed(n, "")), says="parse is missing"),
    Case("answer_as_text.ipynb", edited(markdown), says="no code cell any more"),
    Case("patched_check.ipynb", edited(patched), says="check-parse was changed"),
    Case("null_byte.ipynb", answers(parse="\0"), says="null bytes"),
    Case("no_python.ipynb", answers(parse="%%bash\nrm -rf ~"), says="SyntaxError"),
    # what does not come back
    Case("endless_loop.ipynb", answers(parse="while True: pass"), kinds=("late",)),
    Case("endless_call.ipynb", parse("while True: pass"), kinds=("late",)),
    Case("no_newline.ipynb", answers(serve=SERVE.replace("frame({", "frame({", 1)
         .replace("stdout.write(", "stdout.write(b''.join([").replace("}))", "})[:-1]]))")),
         (2, 2, 0), "the last byte of a message is missing", ("late",)),
    Case("asks_a_person.ipynb", parse("line = input('line? ')"), says="EOFError"),
    Case("exit.ipynb", answers(parse="import sys\nsys.exit()"), says="SystemExit"),
    Case("exit_by_name.ipynb", answers(parse="exit()"), says="exit"),
    Case("os_exit.ipynb", answers(parse="import os\nos._exit(0)"), kinds=("died",)),
    Case("os_exit_in_a_call.ipynb", parse("os._exit(0)", WITH_OS), kinds=("died",)),
    Case("kills_itself.ipynb", parse("os.kill(os.getpid(), 9)", WITH_OS), kinds=("died",)),
    Case("closes_everything.ipynb", parse("os.closerange(0, 64)", WITH_OS)),
    # what wants too much
    Case("100_megabytes_printed.ipynb", parse(HUNDRED), ALL),
    Case("100_megabytes_on_the_wire.ipynb",
         parse(TO_THE_WIRE, WITH_OS + "\nDATA = b'x' * 100_000_000"), kinds=("flood", "late")),
    Case("endless_lines_on_the_wire.ipynb",
         parse("while True:\n" + TO_THE_WIRE.strip("\n").replace("\n", "\n    ").replace(
             "for fd", "    for fd", 1), WITH_OS + "\nDATA = b'{}\\n' * 1000"),
         kinds=("flood", "late")),
    Case("6_gigabytes.ipynb", parse("line = bytes(6 * 10**9)"), says="MemoryError"),
    Case("huge_answer.ipynb", parse("return {'id': 'x' * 10**8}"), kinds=("flood", "late")),
    Case("fork_bomb.ipynb", parse("while True: os.fork()", WITH_OS)),
    Case("deep_recursion.ipynb", parse("return parse(line)"), says="RecursionError"),
    Case("deep_value.ipynb", parse("for _ in range(10**5): line = [line]\nreturn line")),
    Case("huge_integer.ipynb", parse("return 10 ** 5000")),
    Case("fills_the_disk.ipynb", parse("open('/tmp/x', 'wb').write(bytes(10**8))"), says="rror"),
    Case("sleeping_threads.ipynb", parse(SLEEPERS), ALL),
    Case("child_left_behind.ipynb", parse(CHILD), ALL),
    # what wants out
    Case("reads_for_the_checks.ipynb", answers(parse=FOUND), says="LookupError: nothing found"),
    Case("writes_outside.ipynb", answers(parse=OUTSIDE), says="LookupError: nothing written"),
    Case("asks_the_network.ipynb", answers(parse=NETWORK), says="OSError"),
    Case("kills_its_parent.ipynb", parse(KILLS), ALL),
    Case("imports_the_judge.ipynb", parse("import workbench.checks"), says="ModuleNotFoundError"),
    Case("patches_the_judge.ipynb", answers(parse=PATCHES)),
    Case("ast_trick.ipynb", edited(helper(
         "import ast\nclass NoAsserts(ast.NodeTransformer):\n    visit_Assert = visit_Expr = "
         "lambda self, node: None\nip = get_ipython()\nip.ast_transformers.append(NoAsserts())\n"
         "ip.run_line_magic = None")), ALL),
    Case("garbage_on_the_wire.ipynb", answers(parse=NOISE + PARSE), ALL),
    Case("forged_answers.ipynb", parse(TO_THE_WIRE + "\nreturn {}", WITH_OS + "\n" + FORGED)),
    Case("patches_json.ipynb", answers(parse="import json\njson.loads = lambda line: {'id': 1}\n"
         "parse = json.loads"), (2, 0, 0)),
    Case("strange_value.ipynb", answers(parse="class Yes(dict):\n    def __eq__(self, other): "
         "return True\nparse = lambda line: Yes()")),
    # what is wrong, and what is not
    Case("hard_coded.ipynb", answers(parse=HARD_CODED), says="read it", kinds=("wrong",)),
    Case("tells_what_it_was_asked.ipynb", answers(frame=TELLS), (0, 2, 3), "ValueError"),
    Case("logs_to_stderr.ipynb", parse(LOUD), ALL),
    Case("own_helper.ipynb", edited(helper("print(frame({}))\nHELP = 1\nassert False")), ALL),
    Case("html_in_words.ipynb", lambda: notebook(why="<script>alert('x')</script> & =1+1"), ALL),
    Case("frame_without_end.ipynb", answers(frame=FRAME.replace(' + b"\\n"', "")), (0, 2, 0),
         "what tells the reader"),
)  # fmt: skip


def main() -> None:
    """Write the files, and remove those of cases that are gone."""
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.iterdir():
        path.unlink()
    for case in CASES:
        (FOLDER / case.file).write_bytes(case.data())


if __name__ == "__main__":
    main()
