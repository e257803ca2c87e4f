"""A small exercise of the tests' own, as the builder makes it: three stages and a question.

The real exercises change with their lessons; the bad submissions beside this file stay as they are.
"""

import json
from pathlib import Path
from typing import Any

import nbformat

from sources import exercise

NAME = "ch26/01_tiny"
PREAMBLE = "import json\n\nfrom workbench.checks import check, tally"
GIVEN = '# Given: yours.\nTITLE = "Dentist"  # or "Optician", "Barber"'

FRAME = """\
# Stage frame: write a message as one line of bytes.
def frame(message):
    return json.dumps(message).encode() + b"\\n\""""
PARSE = """\
# Stage parse: read one line; raise ValueError where it is no JSON object.
def parse(line):
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError("no object")
    return message"""
SERVE = """\
# Stage serve: answer each request with the title, until the input ends.
def serve(stdin, stdout):
    for line in stdin:
        asked = json.loads(line)
        result = {"title": TITLE}
        stdout.write(frame({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
        stdout.flush()"""
MODEL = {"frame": FRAME, "parse": PARSE, "serve": SERVE}
BLANK = {
    name: "\n".join([*text.splitlines()[:2], f'    raise NotImplementedError("stage {name}")'])
    for name, text in MODEL.items()
}
WHY = "Why does a server write its log to stderr?\n\n"
BECAUSE = "Its stdout is the wire."

VISIBLE = {
    "frame": """\
@check("frame", points=2)
def _(it):
    line = it.call("frame", {"id": 1})
    it.expect(
        isinstance(line, bytes) and line.endswith(b"\\n"),
        sent=line,
        clause="basic/transports/stdio: each message is one line",
        hint="what tells the reader that the message is over?",
    )
    it.expect(json.loads(line) == {"id": 1}, sent=line, clause="JSON", hint="json.dumps")""",
    "parse": """\
@check("parse", points=2)
def _(it):
    read = it.call("parse", b'{"id": 1}\\n')
    it.expect(read == {"id": 1}, sent=read, clause="basic/index: an object", hint="json.loads")
    raised = it.attempt("parse", b"[]\\n")
    it.expect(
        "ValueError" in getattr(raised, "types", []),
        sent=raised,
        clause="basic/index: a message is an object",
        hint="what is a list?",
    )""",
    "serve": """\
@check("serve", points=3)
def _(it):
    with it.serve("serve") as pipe:
        answer = pipe.ask({"jsonrpc": "2.0", "id": 7, "method": "title"})
        it.expect(
            answer == {"jsonrpc": "2.0", "id": 7, "result": {"title": it.given["TITLE"]}},
            sent=answer,
            clause="basic/index: an answer has the id of its request",
            hint="look at the id, then at the result",
        )""",
}
HIDDEN = {
    "frame": """\
def hidden(it, rng):
    message = {"secret": f"two\\nlines {rng.randrange(10**9)}"}
    line = it.call("frame", message)
    it.expect(
        isinstance(line, bytes) and line.count(b"\\n") == 1 and json.loads(line) == message,
        sent=line,
        clause="basic/transports/stdio: no line feed within a message",
        hint="escape it",
    )""",
    "parse": """\
def hidden(it, rng):
    message = {"secret": rng.randrange(10**9)}
    read = it.call("parse", json.dumps(message).encode())
    it.expect(read == message, sent=read, clause="basic/index: an object", hint="read it")""",
    "serve": """\
def hidden(it, rng):
    ids = [rng.randrange(10**9), str(rng.randrange(10**9))]
    with it.serve("serve") as pipe:
        for each in ids:
            answer = pipe.ask({"jsonrpc": "2.0", "id": each, "method": "title"})
            right = {"jsonrpc": "2.0", "id": each, "result": {"title": it.given["TITLE"]}}
            it.expect(answer == right, sent=answer, clause="basic/index: the id", hint="the id")""",
}
POINTS = {"frame": 2, "parse": 2, "serve": 3}


def source() -> str:
    """The text that the builder reads."""
    made = ["# %% [markdown]\n# # Tiny\n#\n# Frame, parse, serve.", f"# %%\n{PREAMBLE}"]
    made.append(f'# %% role="given"\n{GIVEN}')
    for name, answer in MODEL.items():
        marks = f'says="a"\n# Stage {name}: wrong.\n'
        made += [
            f"# %% [markdown]\n# ## Stage {name}",
            f'# %% stage="{name}"\n{answer}',
            f'# %% blank="{name}"\n{BLANK[name]}',
            f'# %% check="{name}" points={POINTS[name]}\n{VISIBLE[name]}',
            f'# %% hidden="{name}"\n{HIDDEN[name]}',
            *(f'# %% wrong="{name}" {marks}{name} = {number}' for number in (1, 2)),
        ]
    written = f"{WHY}### BEGIN SOLUTION\n{BECAUSE}\n### END SOLUTION"
    commented = "\n".join(f"# {line}".rstrip() for line in written.splitlines())
    made.append(f'# %% [markdown] written="why" points=1\n{commented}')
    return "\n\n".join([*made, "# %%\ntally()"])


EXERCISE = exercise.read(source(), f"exercises/{NAME}")


def write(folder: Path) -> tuple[Path, Path]:
    """The folders of exercises and of check sets, with this one in each."""
    for place, text in (
        (f"exercises/{NAME}.ipynb", json.dumps(blank())),
        (f"checks/{NAME}.json", exercise.check_set(EXERCISE)),
    ):
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "exercises", folder / "checks"


def blank() -> dict[str, Any]:
    """The notebook as it is released."""
    return json.loads(nbformat.writes(exercise.notebook(EXERCISE, answers=False)))


def notebook(answers: dict[str, str] | None = None, why: str = "") -> dict[str, Any]:
    """A notebook that was handed in, with the model answers where no others are given."""
    made = blank()
    for name, text in {**MODEL, **(answers or {})}.items():
        cell(made, f"stage-{name}")["source"] = text
    if why:
        cell(made, "written-why")["source"] = WHY + why
    return made


def cell(notebook: dict[str, Any], grade_id: str) -> dict[str, Any]:
    """The first cell with this grade id."""
    return next(c for c in notebook["cells"] if c["metadata"]["nbgrader"]["grade_id"] == grade_id)
