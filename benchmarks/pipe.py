"""A server behind pipes, and the barest client there is: bytes written ahead, line ends counted.

    with Pipe(stack.command("stdio")) as pipe:
        pipe.ask(line)                 write a line that was made before, wait for one
        pipe.ask(line, lines=1001)     ... or for many

Nothing is parsed while the clock runs. A watchdog ends a server that says nothing for too long,
which the reader then sees as the end of its output.

Does not handle: whether an answer is right; `check` looks at one before anything is measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from statistics import median
from typing import Any

import psutil

from mcp_bare import jsonrpc, revision
from workbench import servers

META = {"_meta": revision.request_meta({}, {"name": "benchmark", "version": "1"})}
PATIENCE = 120.0
CHUNK = 1 << 16  # as much as a pipe holds; to ask for more is to clear memory for nothing


class Silent(RuntimeError):
    """The server ended, or had to be ended, before it had said everything."""


def request(id: int, method: str, **params: Any) -> bytes:
    """One request as one line."""
    return jsonrpc.dumps(jsonrpc.request(id, method, {**META, **params})) + b"\n"


def call(id: int, text: str) -> bytes:
    """A call of the tool that gives its text back."""
    return request(id, "tools/call", name="echo", arguments={"text": text})


class Pipe:
    """A child process with its two pipes."""

    def __init__(self, command: Sequence[str], patience: float = PATIENCE):
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `close`)
        self._patience = patience
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=servers.bare_environment(),
            bufsize=0,
        )
        self._in, self._out = self.process.stdin.fileno(), self.process.stdout.fileno()

    def ask(self, line: bytes, lines: int = 1) -> bytes:
        """Write, and wait for so many line ends; the last chunk. Raises Silent."""
        watchdog = threading.Timer(self._patience, self.process.kill)
        watchdog.start()
        try:
            return self.turn(line, lines)
        finally:
            watchdog.cancel()
            watchdog.join()

    def turn(self, line: bytes, lines: int = 1) -> bytes:
        """The same without a watchdog: for the inside of a burst that has one."""
        try:
            view = memoryview(line)
            while view:
                view = view[os.write(self._in, view) :]
        except BrokenPipeError:
            raise Silent(self.last_words()) from None
        while True:
            chunk = os.read(self._out, CHUNK)
            if not chunk:
                raise Silent(self.last_words())
            lines -= chunk.count(b"\n")
            if lines <= 0:
                return chunk

    def burst(self, lines: Sequence[bytes], ends: int = 1) -> float:
        """One after the other, each when the one before is answered; the median of their seconds.

        A call during which the machine did something else does not count for more than its place.
        """
        watchdog = threading.Timer(self._patience, self.process.kill)
        watchdog.start()
        try:
            taken = []
            for line in lines:
                begun = time.perf_counter()
                self.turn(line, ends)
                taken.append(time.perf_counter() - begun)
            return median(taken)
        finally:
            watchdog.cancel()
            watchdog.join()

    def check(self, line: bytes, wanted: str) -> None:
        """Look at one answer. Raises Silent where it has not what is wanted."""
        answer = json.loads(self.ask(line))
        if wanted not in json.dumps(answer.get("result", {})):
            raise Silent(f"no {wanted} in {str(answer)[:300]}")

    def memory(self) -> int:
        """The memory it holds (resident set), in bytes."""
        return psutil.Process(self.process.pid).memory_info().rss

    def last_words(self) -> str:
        """The end of what it wrote to stderr."""
        self._errors.seek(0)
        return self._errors.read()[-400:].decode("utf-8", "replace").strip() or "no answer"

    def close(self) -> None:
        """End it: by the end of its input, and by force where that does not do."""
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self._errors.close()

    def __enter__(self) -> Pipe:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
