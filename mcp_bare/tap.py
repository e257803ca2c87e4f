"""A wire tap: stands between any host and any stdio server, changes nothing, writes the tape.

    host  ⇄  python -m mcp_bare tap --out wire.jsonl -- python server.py  ⇄  server

Bytes pass as they come, in pieces as they come, whether or not they are messages; each piece is in
the recording before it is passed on. stderr is the server's own. What either side does reaches the
other one: an end that closes, a death, a signal. The tap's exit code is the server's.

    the server dies             the host reads the end of output, and finds the server's exit code
    the host dies or closes     the server reads the end of its input; one that stays is ended
    the host stops reading      the server's next write fails, as it would have without a tap
    a signal comes              the server gets it, and says how to go on
    the tap is killed           both sides read an end, and `reaper` ends the server

Does not handle: HTTP; a host that looks at its child's process id, which is the tap's.

Spec: basic/transports/stdio, "Shutdown".
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from typing import TYPE_CHECKING

from mcp_bare import child, pipe_io, reaper, stdio
from mcp_bare.errors import TransportClosed
from mcp_bare.recording import Recording
from mcp_bare.tape_file import CAME, SENT

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path
    from typing import Any

GRACE_S = 10.0
"""For a server whose input has ended. A host that lives has less patience, and sends a signal."""
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGBREAK")


def run(command: list[str], out: str | Path, grace: float = GRACE_S) -> int:
    """Start the server and pass everything through until it has ended.

    Takes over this process: its standard streams, its signals. Returns the server's exit code,
    or minus the number of the signal that ended it. Raises NoRecording, or TransportClosed where
    the command cannot be started.
    """
    recording = Recording(out, {"command": command})
    forward = _Forward()
    host_in, host_out = stdio.take_over_standard_streams()
    try:
        process = child.start(command, {"stderr": None})
    except TransportClosed as trouble:
        recording.remark(str(trouble))
        raise
    forward.to(process)
    tap = _Tap(process, recording, host_in, host_out, grace)
    threading.Thread(target=tap.from_host, daemon=True).start()
    answers = threading.Thread(target=tap.from_server, daemon=True)
    answers.start()
    process.wait()
    answers.join()  # what it said last is still on its way
    tap.end_group()
    recording.remark(f"the server ended: {_how(process.returncode)}")
    recording.close()
    return process.returncode


def leave(code: int) -> int:
    """An exit code to leave with; where a signal ended the server, that signal ends us."""
    if code >= 0 or os.name == "nt":
        return code
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the server's core is the one to look at
    with contextlib.suppress(OSError):  # SIGKILL, which nobody handles
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    return 128 - code


class _Tap:
    """Two pumps, a thread each. They share the process and the recording, and nothing else."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        recording: Recording,
        host_in: int,
        host_out: int,
        grace: float,
    ):
        self._process, self._recording, self._grace = process, recording, grace
        self._host_in, self._host_out = host_in, host_out
        self._patience_ends: float | None = None

    def from_host(self) -> None:
        """Until the host closes or dies: then end the server as its client should have."""
        stdin = self._process.stdin
        assert stdin
        if os.name != "nt":
            os.set_blocking(stdin.fileno(), False)
        try:
            while chunk := os.read(self._host_in, pipe_io.CHUNK):
                self._recording.heard(SENT, chunk)
                pipe_io.write_all(stdin.fileno(), chunk, self._when_full)
        except BrokenPipeError:
            self._recording.remark("the server closed its input")
            os.close(self._host_in)  # the host's next write fails, as it would have without us
            return
        except OSError:  # a terminal that hung up, or a server deaf after its host has gone
            pass
        self._recording.remark("the host closed its end")
        stdin.close()
        if not child.waits(self._process, self._grace):
            self._recording.remark("the server stays; SIGTERM")
            child.signal_group(self._process, "SIGTERM")
            if not child.waits(self._process, self._grace):
                self._recording.remark("the server stays; SIGKILL")
                child.signal_group(self._process, "SIGKILL")

    def _when_full(self) -> None:
        """A server may be slow for as long as there is a host; after that, for the grace."""
        if not _hung_up(self._host_in):
            return
        now = time.monotonic()
        self._patience_ends = self._patience_ends or now + self._grace
        if now > self._patience_ends:
            raise TimeoutError

    def from_server(self) -> None:
        """Until the end of its output, or until the host reads no more."""
        try:
            for chunk in child.output(self._process, self._process.stdout):
                self._recording.heard(CAME, chunk)
                pipe_io.write_all(self._host_out, chunk)
        except OSError:
            self._recording.remark("the host does not read any more")
        finally:
            os.close(self._host_out)

    def end_group(self) -> None:
        """What the server leaves behind in its group, no host could find."""
        child.signal_group(self._process, "SIGKILL")
        reaper.forget(self._process.pid)


class _Forward:
    """Passes signals on to the server; to ourselves, where it has ended and we are still busy."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        for name in SIGNALS:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._came)

    def to(self, process: subprocess.Popen[bytes]) -> None:
        """From now on it is this process; what came before it started goes to it now."""
        self._process = process
        for number in self._early:
            self._came(number, None)

    def _came(self, number: int, frame: Any) -> None:
        if self._process is None:
            self._early.append(number)
        elif self._process.returncode is None:
            with contextlib.suppress(OSError, ValueError):  # gone, or a signal of another system
                self._process.send_signal(number)
        else:
            leave(-number)


def _hung_up(fd: int) -> bool:
    """Whether nobody can write to this pipe any more, also where it still holds something."""
    import select

    if not hasattr(select, "poll"):
        return False
    waiting = select.poll()
    waiting.register(fd, 0)
    return bool(waiting.poll(0))


def _how(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"by signal {-code}"
