"""The judge: it starts the learner's process, runs a check against it, and gives a verdict.

    with Judge(cells, given) as judge:
        verdict = judge.check("frame", function)

A check is a function of one argument, `it` (`asking.It`), or of more, which are handed on. It has
five seconds for all its waits together; then the process is ended and that is the verdict. A cell
that never ends, or ends the process, is left out from then on, so it costs only its own stage.

Does not handle: which cells to take (`parts`), points (`notebook`, `classroom`), or a sandbox: the
command that starts `inside` is a parameter.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_bare.errors import McpError
from workbench.checks import asking
from workbench.checks.parts import Cell
from workbench.checks.process import Ended, Flooded, Late, Process, as_dict
from workbench.checks.reasons import unreadable
from workbench.checks.wrong import Wrong

INSIDE = Path(__file__).with_name("inside.py")
ROOT = INSIDE.parent.parent.parent
SECONDS = 5.0
LOAD_SECONDS = 2.0
GARBAGE = 100


class NotStarted(Exception):
    """The learner's process did not start. That is our trouble, and nobody's wrong answer."""


def start_command(prefix: Sequence[str] = (), root: Path = ROOT) -> list[str]:
    """What starts `inside`, with this very Python; `prefix` may be a sandbox."""
    return [*prefix, sys.executable, "-I", "-S", str(INSIDE), str(root)]


@dataclass(frozen=True)
class Verdict:
    """What became of one check; `wrong` is None where it passed."""

    stage: str
    wrong: Wrong | None

    @property
    def passed(self) -> bool:
        return self.wrong is None

    @property
    def kind(self) -> str:
        """ "passed", or the kind of what was wrong."""
        return "passed" if self.wrong is None else self.wrong.kind


class Judge:
    """One learner's cells and the process that runs them, started when a check needs it."""

    def __init__(
        self,
        cells: Sequence[Cell],
        given: Mapping[str, Any] | None = None,
        *,
        command: Sequence[str] | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        seconds: float = SECONDS,
        load_seconds: float = LOAD_SECONDS,
        left_out: dict[Cell, str] | None = None,
    ):
        self.cells, self.given = list(cells), dict(given or {})
        self._command = list(command or start_command())
        self._env, self._cwd = None if env is None else dict(env), cwd
        self.seconds, self._load_seconds = seconds, load_seconds
        self.left_out = {} if left_out is None else left_out
        """Cells that are not run any more, with the reason: "late", "died" or "flood"."""
        self.errors: dict[Cell, dict] = {}
        """What the cells raised when they were last run."""
        self._process: Process | None = None
        self._number = 0

    def __enter__(self) -> "Judge":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process, if one runs."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def check(self, stage: str, function: Callable[..., object], *more: object) -> Verdict:
        """Run one check. Raises NotStarted, and nothing else."""
        it = asking.It(self, stage, time.monotonic() + self.seconds)
        try:
            it.must_be_written()
            function(it, *more)
        except Wrong as wrong:
            wrong.stage = stage
            return Verdict(stage, wrong)
        except NotStarted:
            raise
        except Exception as trouble:
            wrong = unreadable(trouble, isinstance(trouble, McpError | TimeoutError))
            wrong.stage = stage
            return Verdict(stage, wrong)
        finally:
            it.close()
        return Verdict(stage, None)

    # --- the process ---

    def load(self, deadline: float | None = None) -> Process:
        """The process with every cell run; started anew without a cell that hung or killed it.

        Without a deadline each cell has its seconds; with one, that ends it all: raises Late.
        """
        if self._process is None:
            self._process = self.fresh(deadline)
        return self._process

    def fresh(self, deadline: float | None = None) -> Process:
        """A new process with every cell run, besides the one that answers calls."""
        while True:
            process = self._started(deadline)
            culprit = None
            try:
                culprit = self._run_cells(process, deadline)
                if culprit is None:
                    return process
            except BaseException:
                process.kill()
                raise
            process.kill()
            cell, reason = culprit
            self.left_out[cell] = reason

    def task(self, name: str) -> dict:
        """For `stand_in`: the command, and the lines that make it serve what has this name."""
        serve = {"do": "serve", "name": name, "args": []}
        return {
            "command": self._command,
            "env": self._env,
            "cwd": None if self._cwd is None else str(self._cwd),
            "first": [json.dumps(_sent(self._kept())), json.dumps(serve)],
        }

    def last_words(self) -> str:
        """The end of what the process wrote to stderr."""
        return self._process.stderr() if self._process else ""

    def drop(self) -> None:
        """The process is of no use any more: the next call starts another."""
        self.close()

    def _started(self, deadline: float | None) -> Process:
        until = time.monotonic() + 2 * self.seconds if deadline is None else deadline
        try:
            process = Process(self._command, self._env, self._cwd)
        except OSError as trouble:
            raise NotStarted(f"cannot start {self._command[0]!r}: {trouble}") from None
        try:
            hello = process.line(until)
        except (Late, Ended, Flooded) as trouble:
            process.kill()
            if isinstance(trouble, Late) and deadline is not None:
                raise
            said = process.stderr().strip()[-2000:]
            raise NotStarted(
                f"the process did not start ({type(trouble).__name__}): {said}"
            ) from None
        if hello != b'{"hello": 1}':
            process.kill()
            raise NotStarted(f"the process began with {hello[:200]!r}")
        return process

    def _kept(self) -> list[Cell]:
        return [cell for cell in self.cells if cell not in self.left_out]

    def _run_cells(self, process: Process, deadline: float | None) -> tuple[Cell, str] | None:
        """Run the cells; None, or the one that did not come back, and what became of it."""
        cells = self._kept()
        self.errors = {}
        until = self._until(deadline)
        process.write(json.dumps(_sent(cells)).encode() + b"\n", until)
        for number, cell in enumerate(cells):
            began = time.monotonic()
            try:
                told = self._told(process, "ended", number, self._until(deadline))
            except Late:
                if deadline is not None and time.monotonic() >= deadline:
                    if time.monotonic() - began >= self._load_seconds / 2:  # it had its time
                        self.left_out[cell] = "late"
                    raise
                return cell, "late"
            except Ended:
                return cell, "died"
            except Flooded:
                return cell, "flood"
            if isinstance(error := told.get("error"), dict):
                self.errors[cell] = error
        return None

    def _until(self, deadline: float | None) -> float:
        mine = time.monotonic() + self._load_seconds
        return mine if deadline is None else min(mine, deadline)

    @staticmethod
    def _told(process: Process, key: str, value: object, deadline: float) -> dict:
        """The next line that is about this; others are skipped, for a while."""
        for _ in range(GARBAGE):
            message = as_dict(process.line(deadline))
            if message.get(key) == value and type(message.get(key)) is type(value):
                return message
        raise Flooded

    def obey(self, command: dict, deadline: float) -> dict:
        """Send a command to the process that answers calls; the answer to it."""
        process = self.load(deadline)
        process.allow_more()
        self._number += 1
        command["id"] = self._number
        process.write(json.dumps(command).encode() + b"\n", deadline)
        return self._told(process, "id", command["id"], deadline)


def _sent(cells: Sequence[Cell]) -> dict:
    """The first line that `inside` is told."""
    return {"cells": [{"label": cell.label, "source": cell.source} for cell in cells]}
