"""Tapes of published servers, for where they cannot be started; always labelled as recorded.

A tape answers the requests that it was recorded with, in their order, and says what it has where it
is asked for something else. Does not handle: recording them (`scenarios`).
"""

from collections.abc import Callable
from pathlib import Path

from mcp_bare.tape import ReplayTransport, Tape

TAPES = Path(__file__).resolve().parent / "recorded"


def names() -> list[str]:
    """The names of the tapes."""
    return sorted(file.stem for file in TAPES.glob("*.jsonl"))


def load(name: str) -> Tape:
    """The tape itself. Raises ValueError, naming those that there are."""
    if name not in names():
        raise ValueError(f"no tape is called {name!r}; there are {', '.join(names())}")
    return Tape.load(TAPES / f"{name}.jsonl")


def play(name: str, why: str) -> Callable[[], ReplayTransport]:
    """What stands in for a server: its connections go through the tape, one after another.

    Prints one line that says `why`, and what is played.
    """
    tape = load(name)
    head = tape.about
    print(f"{why}: this is the tape recorded on {head['recorded']} with {head['server']}.")
    transport = ReplayTransport(tape)
    return lambda: transport


def write(name: str, tape: Tape, about: dict[str, str]) -> Path:
    """Keep a tape: {"what": ..., "recorded": its date, "server": its name and version, ...}."""
    TAPES.mkdir(exist_ok=True)
    path = TAPES / f"{name}.jsonl"
    tape.about = about
    tape.save(path)
    return path
