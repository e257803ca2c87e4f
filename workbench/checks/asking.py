"""What a check asks of the learner's code: `it`, and the pipe of a server that `it` started.

    def framed(it, message={"a": 1}):
        line = it.call("frame", message)
        it.expect(line.endswith(b"\\n"), sent=line, clause="basic/transports/stdio: ...", hint="")

Every way in which the learner's code can fail here ends as a `Wrong`: the check need not look.

Does not handle: what is right (the checks say that).
"""

import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_bare.client import Client
from workbench.checks import inside
from workbench.checks.inside import Strange
from workbench.checks.pipe import Pipe
from workbench.checks.process import Ended, Flooded, Late, as_dict
from workbench.checks.reasons import (
    Raised,
    as_call,
    cell_failed,
    crashed,
    ended,
    not_written,
)
from workbench.checks.wrong import NotYet, Wrong, shown

if TYPE_CHECKING:
    from workbench.checks.judge import Judge

STAND_IN = Path(__file__).with_name("stand_in.py")


class Given(dict[str, Any]):
    """The constants of the `# Given` cell; without them a check cannot ask."""

    def __missing__(self, name: str) -> Any:
        raise NotYet(
            "Not run yet: the cell that begins with `# Given`.", "Run it, then run this one again."
        )


class It:
    """One check's view of the learner's code, with one deadline for all that it waits for."""

    def __init__(self, judge: "Judge", stage: str, deadline: float):
        self._judge, self.stage, self.deadline = judge, stage, deadline
        self.given, self.cells = Given(judge.given), tuple(judge.cells)
        self._pipes: list[Pipe] = []
        self._returned_none = ""  # the last function called, if that is what it returned

    # --- asking ---

    def call(self, name: str, *args: Any, keep: str = "", **options: Any) -> Any:
        """Call a function of the learner's, by name ("frame", "box.add"); its value.

        What it raises is wrong here. `keep` gives the value a name on their side instead of
        bringing it back, for the next call: it.call("Box", keep="box"); it.call("box.add", 1).
        """
        value = self.attempt(name, *args, keep=keep, **options)
        if isinstance(value, Raised):
            raise crashed(value, asked=as_call(name, args, options))
        self._returned_none = name if value is None and not keep else ""
        return value

    def attempt(self, name: str, *args: Any, keep: str = "", **options: Any) -> Any:
        """As `call`, but what it raises comes back, as a `Raised`: for code that is to refuse."""
        command = {"do": "call", "is_call": True, "name": name, "keep": keep}
        sent = {"args": inside.encode(list(args)), "options": inside.encode(options)}
        return self._answered({**command, **sent}, as_call(name, args, options))

    def value(self, name: str) -> Any:
        """What a name of the learner's stands for."""
        return self._answered({"do": "call", "is_call": False, "name": name}, name)

    def new_process(self) -> None:
        """End the process that answers calls: the next call is answered by another, that knows
        nothing of the one before."""
        self._judge.drop()

    def serve(self, name: str, *args: Any) -> Pipe:
        """Start a new process of their code and give it the raw pipe: with it.serve("main") as p:

        A server object (it has `handle`) is served over stdio; a function is called, with `stdin`
        and `stdout` where its first parameters have these names, and finds them in `sys` anyway.
        """
        with self._judged():
            process = self._judge.fresh(self.deadline)
            pipe = Pipe(process, self.deadline)
            self._pipes.append(pipe)
            command = {"do": "serve", "name": name, "args": inside.encode(list(args))}
            process.write(json.dumps(command).encode() + b"\n", self.deadline)
            told = as_dict(process.line(self.deadline))
        if "missing" in told:
            raise self._not_defined(str(told["missing"]))
        return pipe

    @contextlib.contextmanager
    def client(self, name: str, *args: Any, **options: Any) -> Iterator[Client]:
        """The toolkit's client, connected to what `serve` started."""
        with self.serve(name, *args) as pipe:
            left = max(0.1, self.deadline - time.monotonic() - 0.3)
            with Client(pipe, **{"timeout": left, **options}) as client:
                yield client

    @contextlib.contextmanager
    def command(self, name: str) -> Iterator[list[str]]:
        """The command that starts what `serve` would: for an examiner who starts it himself."""
        self.serve(name).close()  # a name that is missing is said now
        with tempfile.TemporaryDirectory() as folder:
            task = Path(folder, "task.json")
            task.write_text(json.dumps(self._judge.task(name)), encoding="utf-8")
            yield [sys.executable, "-I", "-S", str(STAND_IN), str(task)]

    def left(self) -> float:
        """How many seconds this check still has."""
        return max(0.1, self.deadline - time.monotonic())

    def more_time(self, seconds: float) -> None:
        """Let a hidden check wait for as long, from now on. A visible one must not: people wait."""
        self.deadline = time.monotonic() + seconds

    # --- judging ---

    def expect(self, condition: object, *, sent: object, clause: str, hint: str) -> None:
        """Go on where the condition holds; else this is what the learner reads.

        `sent` is shown: bytes and JSON as such, a text as it stands. `clause` names its page:
        "basic/transports/stdio: one message a line". `hint` helps, and never holds the answer.
        """
        if not condition:
            if self._returned_none and "None" in shown(sent):
                hint += f" (`{self._returned_none}` returned None: is there a `return`?)"
            raise Wrong(sent, clause, hint)

    def show(self, value: object) -> str:
        """A value as it would be shown alone; for a `sent` of several parts."""
        return repr(value) if isinstance(value, str) else shown(value)

    def must_be_written(self) -> None:
        """Raise where the stage's cell was not run, is blank, or does not run."""
        cell = next((cell for cell in self._judge.cells if cell.stage == self.stage), None)
        if cell is None:
            raise NotYet(
                f"Not written yet, or not run: the cell that begins with `# Stage {self.stage}`.",
                "Keep that line, run the cell, then run this one again.",
            )
        with self._judged():
            self._judge.load(self.deadline)
        if reason := self._judge.left_out.get(cell):
            raise cell_failed(reason)
        if error := self._judge.errors.get(cell):
            raise crashed(Raised(error), "the cell does not run: ")

    def close(self) -> None:
        """End what this check started and did not end."""
        for pipe in self._pipes:
            pipe.close()

    def _answered(self, command: dict, asked: str) -> Any:
        with self._judged(asked):
            told = self._judge.obey(command, self.deadline)
        if "missing" in told:
            raise self._not_defined(str(told["missing"]))
        if isinstance(error := told.get("error"), dict):
            raised = Raised(error)
            if "NotImplementedError" in raised.types:
                raise not_written(raised.message)
            return raised
        try:
            return inside.decode(told.get("value"))
        except (ValueError, KeyError, TypeError, RecursionError):
            return Strange("value", "unreadable on the pipe")

    def _not_defined(self, name: str) -> Wrong:
        """A name that is missing: because its cell failed, or because nobody wrote it."""
        for cell in self._judge.cells:
            error = self._judge.errors.get(cell)
            if error and cell.stage and f"{name.split('.')[0]}" in cell.source:
                return crashed(Raised(error), f"stage {cell.stage} does not run: ")
        return NotYet(
            f"Not written yet, or not run: stage {self.stage}. There is no `{name}` so far.",
            f"Write it in the cell that begins with `# Stage {self.stage}`, or run the cell above "
            "that has it; then run this one again.",
        )

    @contextlib.contextmanager
    def _judged(self, asked: str = "") -> Iterator[None]:
        """Turn the ends that a process can come to into what the learner reads."""
        try:
            yield
        except (Late, Ended, Flooded) as trouble:
            said = self._judge.last_words()
            self._judge.drop()
            kind = {Late: "late", Ended: "died", Flooded: "flood"}[type(trouble)]
            raise ended(kind, said, asked) from None
