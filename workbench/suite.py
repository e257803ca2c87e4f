"""The specification's conformance suite, run from Python, and what it found.

    with replicas("everything", 1) as [url]:
        report = suite.against_server(url, tell=print)
    report.failed                                    # (), or the results with what the suite said

The suite is npm's `@modelcontextprotocol/conformance`, pinned in `tests/conformance`. It runs in a
process group of its own, which ends with the run, with the time allowed, or with this process.
What counts is what it writes to its own result files; a scenario without one has failed.

Does not handle: installing it (`node`), or knowing what a scenario is about (`exam`).
"""

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_bare import reaper, revision
from workbench import node, servers

PLACE = node.CONFORMANCE
PACKAGE = "@modelcontextprotocol/conformance"
SERVER, CLIENT = "server", "client"
GOOD = frozenset({"SUCCESS", "INFO", "SKIPPED"})  # what the suite itself does not count against us
PATIENCE_S = 300.0
SLOW = ("--timeout", "60000")  # for one scenario: all clients are started at once
_STARTED = re.compile(r"(?:Running client scenario '|Starting scenario: )([\w/-]+)")
_SUMMED_UP = re.compile(r"^[✓✗] ([\w/-]+): \d+ passed", re.MULTILINE)
_DATED = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")


@dataclass(frozen=True)
class Check:
    """One thing that the suite looked at; `said` is its complaint."""

    id: str
    name: str
    status: str
    said: str

    @property
    def good(self) -> bool:
        return self.status in GOOD


@dataclass(frozen=True)
class Result:
    """One scenario: its checks, and what the client under test wrote to stderr."""

    scenario: str
    checks: tuple[Check, ...]
    stderr: str = ""

    @property
    def passed(self) -> bool:
        """Nothing failed or was warned of, and something was seen to hold."""
        held = any(check.status == "SUCCESS" for check in self.checks)
        return held and all(check.good for check in self.checks)

    @property
    def held(self) -> int:
        return sum(check.status == "SUCCESS" for check in self.checks)

    def why(self) -> str:
        """What the suite said against it, a line for each check; the client's last words."""
        lines = [f"{c.status} {c.id}: {c.said}" for c in self.checks if not c.good]
        return "\n".join([*(lines or ["no result"]), self.stderr[-2000:]]).strip()


@dataclass(frozen=True)
class Report:
    """One run: which end was examined, the scenarios in their order, the exit code."""

    end: str
    results: tuple[Result, ...]
    code: int

    @property
    def failed(self) -> tuple[Result, ...]:
        return tuple(result for result in self.results if not result.passed)

    def only(self, names: Sequence[str]) -> "Report":
        """The results of these scenarios, in this order; one that did not run has failed."""
        found = {result.scenario: result for result in self.results}
        kept = tuple(found.get(name, Result(name, ())) for name in names)
        return Report(self.end, kept, self.code)


def missing() -> str:
    """Why the suite cannot run here, in a few words; "" where it can."""
    try:
        node.find()
    except node.NodeUnavailable:
        return "Node is not here"
    state = node.ready(PLACE)
    return "" if state else f"The conformance suite is not here ({state.why})"


def required() -> dict[str, list[str]]:
    """The scenarios that this revision requires, as the suite lists them, for either end."""
    told = run_suite(["list", "--requirements", revision.CURRENT], None, 60.0)
    found: dict[str, list[str]] = {SERVER: [], CLIENT: []}
    end = ""
    for line in told.splitlines():
        if line and not line.startswith(" "):
            end = next((each for each in found if line.lower().startswith(f"{each} scen")), "")
        elif end and line.startswith("  - "):
            found[end].append(line[4:].strip())
    return found


def against_server(
    url: str, scenario: str = "", tell: Callable[[str], object] | None = None, **how: float
) -> Report:
    """Examine the server at this address: all scenarios of the revision, or one.

    `tell` hears the name of each scenario as it starts; `patience` bounds the run, in seconds.
    Raises NodeUnavailable, TimeoutError; RuntimeError where the suite itself went wrong.
    """
    return _examine(SERVER, ["--url", url], scenario, tell, **how)


def against_client(
    command: Sequence[str],
    scenario: str = "",
    tell: Callable[[str], object] | None = None,
    **how: float,
) -> Report:
    """Examine the client that this command starts; the suite adds the address to it."""
    if any(" " in word for word in command):
        raise ValueError(f"{command!r}: the suite splits a command at its spaces")
    return _examine(CLIENT, ["--command", " ".join(command)], scenario, tell, **how)


def _examine(
    end: str,
    what: list[str],
    scenario: str,
    tell: Callable[[str], object] | None,
    patience: float = PATIENCE_S,
) -> Report:
    one = ["--scenario", scenario, "--spec-version", revision.CURRENT, "--force"]
    which = [*(one if scenario else ["--requirements", revision.CURRENT]), *SLOW]
    with tempfile.TemporaryDirectory() as folder:
        code, said = _run([end, *what, *which, "--output-dir", folder], tell, patience)
        found = {name: _read(place, name) for name, place in _places(Path(folder), end)}
    order = list(found) if scenario else _SUMMED_UP.findall(said)
    results = tuple(found.pop(name, Result(name, ())) for name in order)
    if not results or found:
        raise RuntimeError(f"the suite ended with {code}, and said:\n{said[-4000:]}")
    return Report(end, results, code)


def _places(folder: Path, end: str) -> list[tuple[str, Path]]:
    """The folder of each scenario's results; its name ends in a date, and may hold a slash."""
    prefix = f"{SERVER}-" if end == SERVER else ""
    places = [file.parent for file in folder.rglob("checks.json")]
    names = [_DATED.sub("", place.relative_to(folder).as_posix()) for place in places]
    return [(name.removeprefix(prefix), each) for name, each in zip(names, places, strict=True)]


def _read(place: Path, name: str) -> Result:
    listed = json.loads((place / "checks.json").read_text(encoding="utf-8"))
    checks = tuple(
        Check(c["id"], c["name"], c["status"], c.get("errorMessage") or c.get("description", ""))
        for c in listed
    )
    errors = place / "stderr.txt"
    return Result(name, checks, errors.read_text(encoding="utf-8") if errors.exists() else "")


# --- the process ---


def run_suite(args: list[str], tell: Callable[[str], object] | None, patience: float) -> str:
    """Run the suite and return what it said. Raises RuntimeError where it ended badly."""
    code, said = _run(args, tell, patience)
    if code:
        raise RuntimeError(f"the suite ended with {code}, and said:\n{said[-4000:]}")
    return said


def _run(args: list[str], tell: Callable[[str], object] | None, patience: float) -> tuple[int, str]:
    if why := missing():
        raise node.NodeUnavailable(why)
    script = PLACE / "node_modules" / PACKAGE / "dist" / "index.js"
    process = subprocess.Popen(
        [servers.node_itself(node.find().node), str(script), *args],
        env=node.env(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    reaper.watch(process.pid)
    late = threading.Event()
    clock = threading.Timer(patience, lambda: (late.set(), _kill(process)))
    clock.start()
    try:
        said = "".join(_lines(process, tell))
        code = process.wait()
    finally:
        clock.cancel()
        _kill(process)
        process.wait()
        process.stdout.close()
        reaper.forget(process.pid)
        clock.join()
    if late.is_set():
        raise TimeoutError(f"the suite did not end in {patience:g} s; it had said:\n{said[-2000:]}")
    return code, said


def _lines(process: subprocess.Popen, tell: Callable[[str], object] | None):
    """What it says, line by line; `tell` hears of each scenario as it starts."""
    for raw in process.stdout:
        line = raw.decode("utf-8", "replace")
        if tell is not None and (found := _STARTED.search(line)):
            tell(found[1])
        yield line


def _kill(process: subprocess.Popen) -> None:
    """End the suite, and whatever client it started."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except (ProcessLookupError, PermissionError):
        pass
