"""What is measured: each case runs all stacks in turns and tells their costs, turn by turn.

    cold start       seconds from the start of a process to its first `tools/list` answer
    round trip       seconds from a request on a pipe to its answer, one after the other
    http, 1/8/64     seconds for a request, where so many connections ask at once
                     both: client and server on one processor, and again on any processor
    memory           bytes that a server holds after a list and a call
    catalogue        seconds for `tools/list`, by how many tools there are
    message          seconds for a call that gives its text back, by how long the text is
    subscriptions    seconds from a call that changes the list until every open subscription has
                     heard of it, by how many are open on the pipe

A cost has a place in every turn, or the stack is not in the case: what it refuses is told in
`refused`, in its own words.

Does not handle: what the figures mean (`report`).
"""

from __future__ import annotations

import contextlib
import functools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks.http_load import Web
from benchmarks.pipe import Pipe, Silent, call, request
from benchmarks.stacks import FLOOR, Stack, floor
from workbench import measure

INTERPRETER = "interpreter"
ANY_PROCESSOR = ", any processor"  # after the name of a case that is measured both ways
LIST = request(1, "tools/list")
CONNECTIONS = (1, 8, 64)


@dataclass(frozen=True)
class Size:
    """How much is measured: turns, what a turn holds, and the sizes of the curves."""

    turns: int = 12
    starts: int = 12
    curve_turns: int = 6
    calls: int = 300
    requests: int = 320
    tools: tuple[int, ...] = (10, 100, 1_000, 10_000)
    letters: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000, 4_000_000, 16_000_000)
    streams: tuple[int, ...] = (1, 10, 100, 1_000)


FULL = Size()
QUICK = Size(5, 5, 3, 100, 128, (10, 100, 1_000), (1_000, 100_000, 1_000_000), (1, 10, 100))


@dataclass
class Measured:
    """The costs of one case, or of one point of a curve."""

    case: str
    unit: str
    size: int | None = None
    costs: dict[str, list[float]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


def cold_start(stacks: Sequence[Stack], much: Size) -> list[Measured]:
    """Against an interpreter that imports json and says one line."""
    starts: dict[str, Callable[[], float]] = {INTERPRETER: _bare_interpreter}
    starts |= {stack.name: functools.partial(_first_answer, stack) for stack in stacks}
    costs = measure.side_by_side(starts, much.starts, warm=2)
    return [Measured("cold start", "s", None, costs)]


def _bare_interpreter() -> float:
    words = [sys.executable, "-c", "import json; print(json.dumps({}), flush=True)"]
    return _until_a_line(words, b"")


def _first_answer(stack: Stack) -> float:
    return _until_a_line(stack.command("stdio"), LIST)


def _until_a_line(words: Sequence[str], said: bytes) -> float:
    begun = time.perf_counter()
    with Pipe(words) as pipe:
        pipe.ask(said)
        return time.perf_counter() - begun


def round_trip(stacks: Sequence[Stack], much: Size) -> list[Measured]:
    """Calls of a tool that gives its text back; and of a peer whose answer is always there."""
    lines = [call(number, "hello") for number in range(much.calls)]

    def trips() -> list[Measured]:
        with contextlib.ExitStack() as ends:
            pipes = {s.name: ends.enter_context(_checked(s)) for s in (floor(), *stacks)}
            things = {name: functools.partial(pipe.burst, lines) for name, pipe in pipes.items()}
            costs = measure.side_by_side(things, much.turns, warm=2)
        return [Measured("round trip", "s", None, costs)]

    return _both_ways(trips)


def http(stacks: Sequence[Stack], much: Size) -> list[Measured]:
    """The same call over HTTP, on kept connections."""

    def loads() -> list[Measured]:
        found = []
        with contextlib.ExitStack() as ends:
            webs = {s.name: ends.enter_context(Web(s.command("http"))) for s in (floor(), *stacks)}
            for count in CONNECTIONS:
                things = {
                    name: functools.partial(web.load, count, much.requests)
                    for name, web in webs.items()
                }
                costs = measure.side_by_side(things, much.turns)
                found.append(Measured("http", "s", count, costs))
        return found

    return _both_ways(loads)


def _both_ways(measured: Callable[[], list[Measured]]) -> list[Measured]:
    """With client and server on one processor, and on any; only so where it cannot be chosen."""
    with measure.one_processor() as chosen:
        found = measured()
    if chosen:
        for point in measured():
            point.case += ANY_PROCESSOR
            found.append(point)
    return found


def memory(stacks: Sequence[Stack], much: Size) -> list[Measured]:
    """The resident set, which holds the interpreter too."""

    def held(stack: Stack) -> float:
        with _checked(stack) as pipe:
            pipe.ask(LIST)
            return float(pipe.memory())

    things = {stack.name: functools.partial(held, stack) for stack in stacks}
    return [Measured("memory", "bytes", None, measure.side_by_side(things, much.curve_turns))]


def catalogue(stacks: Sequence[Stack], much: Size) -> list[Measured]:
    """`tools/list` of a server that runs."""
    found = []
    for count in much.tools:
        with contextlib.ExitStack() as ends:
            pipes = {
                s.name: ends.enter_context(Pipe(s.command("stdio", count - 2))) for s in stacks
            }
            found.append(_curve_point("catalogue", count, pipes, (LIST, 1), much))
    return found


def message(stacks: Sequence[Stack], much: Size) -> list[Measured]:
    """A text there and back."""
    found = []
    for letters in much.letters:
        line = call(1, "x" * letters)
        with contextlib.ExitStack() as ends:
            pipes = {s.name: ends.enter_context(Pipe(s.command("stdio"))) for s in stacks}
            found.append(_curve_point("message", letters, pipes, (line, 1), much))
    return found


def subscriptions(stacks: Sequence[Stack], much: Size) -> list[Measured]:
    """News for many streams on one pipe."""
    found = []
    change = request(0, "tools/call", name="change", arguments={})
    for count in much.streams:
        with contextlib.ExitStack() as ends:
            pipes, refused = {}, {}
            for stack in stacks:
                pipe = ends.enter_context(Pipe(stack.command("stdio")))
                try:
                    _listen(pipe, count)
                    pipes[stack.name] = pipe
                except Silent as why:
                    refused[stack.name] = str(why)
            point = _curve_point("subscriptions", count, pipes, (change, count + 1), much)
            point.refused |= refused
            found.append(point)
    return found


def _listen(pipe: Pipe, count: int) -> None:
    wanted = {"toolsListChanged": True}
    for number in range(count):
        line = request(number + 1, "subscriptions/listen", notifications=wanted)
        if b"acknowledged" not in (answer := pipe.ask(line)):
            raise Silent(answer.decode("utf-8", "replace").strip()[:120])


def _curve_point(
    case: str, size: int, pipes: dict[str, Pipe], said: tuple[bytes, int], much: Size
) -> Measured:
    """One size, all that take it, in turns; `said` is a line, and how many come back."""
    point = Measured(case, "s", size)
    things: dict[str, Callable[[], float]] = {}
    for name, pipe in pipes.items():
        try:
            begun = time.perf_counter()
            if b'"error":' in (answer := pipe.ask(*said)):
                raise Silent(answer[:120].decode("utf-8", "replace").strip())
            once = time.perf_counter() - begun
        except Silent as why:
            point.refused[name] = str(why).splitlines()[-1][:120]
            continue
        things[name] = functools.partial(
            pipe.burst, [said[0]] * min(50, int(0.05 / once) + 1), said[1]
        )
    point.costs = measure.side_by_side(things, much.curve_turns)
    return point


@contextlib.contextmanager
def _checked(stack: Stack) -> Iterator[Pipe]:
    """A server on a pipe that has given a text back."""
    with Pipe(stack.command("stdio")) as pipe:
        if stack.name != FLOOR:
            pipe.check(call(1, "hello"), "hello")
        yield pipe


CASES: dict[str, Callable[[Sequence[Stack], Size], list[Measured]]] = {
    "cold-start": cold_start,
    "round-trip": round_trip,
    "http": http,
    "memory": memory,
    "catalogue": catalogue,
    "message": message,
    "subscriptions": subscriptions,
}
"""The cases by the name that the command line takes."""
