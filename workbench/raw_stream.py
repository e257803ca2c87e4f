"""What a server puts on its standard output, line by line, as a reader finds it; and on stderr.

    said = raw_stream.talk(hands.command("python", before="print('hello')"), requests, env)
    said.out                   ['{"jsonrpc":"2.0","id":1, ...', 'hello']

Nothing is skipped; a line is parsed only to find out which requests are answered. Does not handle:
a server that asks for something itself.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

PATIENCE_S = 30.0


class Said(NamedTuple):
    """The lines of both outputs, in the order of each."""

    out: list[str]
    err: list[str]


def talk(
    words: Sequence[str], requests: Sequence[Mapping[str, Any]], env: Mapping[str, str]
) -> Said:
    """Send the requests, wait until all are answered, end the input, and read to the end.

    Raises TimeoutError where an answer, or the end, does not come.
    """
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(list(words), env=dict(env), start_new_session=True, **pipes) as process:
        out, err = _Lines(process.stdout), _Lines(process.stderr)
        try:
            with contextlib.suppress(BrokenPipeError):  # it has ended: the outputs say why
                for request in requests:
                    process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.flush()
            said = out.until({request["id"] for request in requests if "id" in request})
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            return Said(said + out.until_the_end(), err.until_the_end())
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            out.reader.join(PATIENCE_S)
            err.reader.join(PATIENCE_S)


def message(line: str) -> dict[str, Any] | None:
    """The JSON-RPC message that a line is; None where it is something else."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and found.get("jsonrpc") == "2.0" else None


class _Lines:
    """The lines of a pipe, read as they come."""

    def __init__(self, pipe: BinaryIO):
        self._came: queue.Queue[bytes] = queue.Queue()
        self.reader = threading.Thread(target=self._read, args=(pipe,), daemon=True)
        self.reader.start()

    def _read(self, pipe: BinaryIO) -> None:
        for line in pipe:
            self._came.put(line)
        self._came.put(b"")

    def _next(self) -> str | None:
        try:
            line = self._came.get(timeout=PATIENCE_S)
        except queue.Empty:
            raise TimeoutError(f"nothing more came in {PATIENCE_S:g} s") from None
        return line.decode("utf-8", "replace").rstrip("\r\n") if line else None

    def until(self, due: set[Any]) -> list[str]:
        """Up to the line that answers the last of these ids, or to the end."""
        found: list[str] = []
        while due and (line := self._next()) is not None:
            found.append(line)
            due.discard((message(line) or {}).get("id"))
        if due:
            self._came.put(b"")  # the end, for whoever asks next
        return found

    def until_the_end(self) -> list[str]:
        """All the rest."""
        return list(iter(self._next, None))
