"""A host that is nothing but pipes, and what a recording says of each direction."""

import subprocess
import sys
from pathlib import Path

from mcp_bare.tape import CAME, NOTE, SENT, Tape
from tests.wire.helpers import ROOT, environment

PARTS = Path(__file__).resolve().parent / "parts.py"


def part(name):
    return [sys.executable, str(PARTS), name]


def tapped(out, command, *options):
    """The command, with the tap before it."""
    return [sys.executable, "-m", "mcp_bare", "tap", "--out", str(out), *options, "--", *command]


def start(command, **how):
    """A process with three pipes, none of them buffered."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(
        command, env=environment(), cwd=ROOT, bufsize=0, start_new_session=True, **{**pipes, **how}
    )


def stream(out, direction):
    """Every byte that went this way: the lines, each with its LF, the last one perhaps without."""
    rows = [entry for entry in Tape.load(out) if entry.direction == direction]
    return b"".join(e.payload + (b"" if e.remark else b"\n") for e in rows)


def sent(out):
    return stream(out, SENT)


def came(out):
    return stream(out, CAME)


def remarks(out):
    return [entry.remark for entry in Tape.load(out) if entry.direction == NOTE]
