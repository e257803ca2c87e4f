"""One process of the server under examination: asked, waited for, ended the polite way, reaped.

A `Sitting` starts the server, sends what it is told to, and keeps what comes (`heard`), in order.
Every wait ends: at an answer, at the server's death, at the patience given, at the flood limit.
`close` ends its input, notes how it left, and reaps its group. What remains is a `Record`, which
the rules judge and which holds no process any more.

Does not handle: what to send (`sittings`), what is right (`rules_*`).

Spec: basic/transports/stdio, "Shutdown".
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_bare import child, jsonrpc, pipe_io, reaper
from mcp_bare.exam.heard import MAX_LINES, MAX_TOTAL, Heard
from mcp_bare.exam.record import NO_ID, Exchange, Record, Sent, key_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_bare.exam.lines import Line
    from mcp_bare.revision import JsonObject

MAX_STRAYS = 3  # answers under a wrong id, until the sitting is given up
LINGER = 0.1  # seconds to wait for what should not come


@dataclass(frozen=True)
class Patience:
    """How long, in seconds, the exam waits: for an answer, for the server to leave, in all."""

    answer: float = 10.0
    leave: float = 3.0
    sitting: float = 60.0


class GaveUp(Exception):
    """This sitting cannot go on: the server is gone, silent, or floods us."""


class Sitting:
    """The server, started; a context manager that leaves no process behind."""

    def __init__(self, name: str, command: list[str], options: dict[str, Any], patience: Patience):
        self.name, self._patience = name, patience
        self.sent: list[Sent] = []
        self.exchanges: list[Exchange] = []
        self.gave_up, self.died, self.left = "", "", ""
        self._survivors = False
        self._deadline = time.monotonic() + patience.sitting
        self.process = child.start(command, options)
        assert self.process.stdin
        self._stdin = self.process.stdin
        if os.name != "nt":
            os.set_blocking(self._stdin.fileno(), False)
        self.heard = Heard(self.process, lambda: len(self.sent))

    def __enter__(self) -> Sitting:
        return self

    def __exit__(self, kind: object, *_: object) -> bool:
        self.close()
        return kind is GaveUp

    # --- asking ---

    def write(self, raw: bytes, message: JsonObject | None = None) -> None:
        """One line to the server. Raises GaveUp where it is gone or does not read."""
        sent = Sent(raw, message)
        with self.heard.came:
            self.sent.append(sent)
        self._put(sent)

    def _put(self, sent: Sent) -> None:
        until = time.monotonic() + self._patience.answer

        def when_full() -> None:
            if time.monotonic() > until:
                raise TimeoutError

        try:
            pipe_io.write_all(self._stdin.fileno(), sent.raw + b"\n", when_full)
        except TimeoutError:
            raise self._giving_up("it does not read its input") from None
        except (OSError, ValueError):
            raise self._giving_up(self._end()) from None

    def start(self, message: JsonObject) -> Exchange:
        """Send a request and do not wait. It is kept also where the server is gone already."""
        exchange = Exchange(Sent(jsonrpc.dumps(message), message))
        with self.heard.came:
            self.sent.append(exchange.sent)
            self.exchanges.append(exchange)
        self._put(exchange.sent)
        return exchange

    def ask(self, message: JsonObject) -> Exchange:
        """Send a request and wait for its answer. Raises GaveUp where none comes."""
        begun = time.monotonic()
        exchange = self.start(message)
        self.wait(exchange)
        exchange.seconds = time.monotonic() - begun
        return exchange

    def tell(self, message: JsonObject) -> None:
        """Send a notification."""
        self.write(jsonrpc.dumps(message), message)

    def wait(self, exchange: Exchange) -> None:
        """Until it is answered; a lone answer under another id is taken for it, late."""
        if self.until(lambda: self.is_answered(exchange)):
            exchange.answers = self._answered(exchange)
            return
        exchange.stray = self._stray(exchange)
        if exchange.stray is None:
            exchange.given_up = True
            raise self._giving_up(self._end())
        if len([other for other in self.exchanges if other.stray]) >= MAX_STRAYS:
            raise self._giving_up("its answers have other ids")

    def is_answered(self, exchange: Exchange) -> bool:
        """Whether a response with its id has come."""
        return bool(self._answered(exchange))

    def until(self, true: Callable[[], bool], seconds: float | None = None) -> bool:
        """Wait until it is true; False where time ran out, or no more can come."""
        until = min(time.monotonic() + (seconds or self._patience.answer), self._deadline)
        lone = None
        with self.heard.came:
            while not true():
                left = until - time.monotonic()
                if left <= 0 or self.heard.ended or self.heard.too_much or self.heard.unreadable:
                    return true()
                if self._lone_answer():  # no other will come; but wait for it a moment
                    lone = lone or time.monotonic() + LINGER * 5
                    if time.monotonic() > lone:
                        return False
                self.heard.came.wait(min(left, 0.05))
        return True

    def linger(self, seconds: float = LINGER) -> None:
        """Leave the server a moment to say what it should not."""
        self.until(lambda: False, seconds)

    def _answered(self, exchange: Exchange) -> list[Line]:
        return self.heard.answers.get(exchange.key, [])

    def _lone_answer(self) -> bool:
        waiting = [e for e in self.exchanges if not self._answered(e) and not e.stray]
        return len(waiting) == 1 and self._stray(waiting[0]) is not None

    def _stray(self, exchange: Exchange) -> Line | None:
        """An answer to nothing that was asked, which came after this was."""
        pokes = [sent.raw for sent in self.sent if sent.message is None]
        known = {key_of(sent.message) for sent in self.sent}
        taken = [other.stray for other in self.exchanges]
        at = self.sent.index(exchange.sent)
        for key, lines in self.heard.answers.items():
            if pokes and (key == NO_ID or any(_said(key[1]) in poke for poke in pokes)):
                continue  # it may well answer a line that was no message
            for line in lines if key not in known or key == NO_ID else ():
                if line.sent_before > at and line not in taken:
                    return line
        return None

    # --- the end ---

    def close(self) -> None:
        """End the input, see how the server leaves, make sure that it is gone, and reap it."""
        if self.left:
            return
        self.left = "by itself"
        self._stdin.close()
        if not child.waits(self.process, self._patience.leave):
            self.left = "after SIGTERM"
            child.signal_group(self.process, "SIGTERM")
            if not child.waits(self.process, self._patience.leave / 3):
                self.left = "after SIGKILL"
        self.heard.join(4 * pipe_io.TICK, stderr=False)
        self._survivors = self.left == "by itself" and (self.heard.held_open or self._group_lives())
        child.signal_group(self.process, "SIGKILL")
        reaper.forget(self.process.pid)
        self.process.wait()
        self.heard.join(2.0)
        for exchange in self.exchanges:
            exchange.answers = self._answered(exchange)

    def abandon(self) -> None:
        """Kill it now; whoever waits for it gives up, and `close` reaps it."""
        if not self.left:
            child.signal_group(self.process, "SIGKILL")

    def record(self) -> Record:
        """Everything, once it is closed."""
        return Record(
            self.name, tuple(self.sent), tuple(self.heard.lines), tuple(self.exchanges),
            self.gave_up, self.died, self.left, self._survivors,
            self.heard.stderr_size, self.heard.tail,
        )  # fmt: skip

    def _giving_up(self, why: str) -> GaveUp:
        self.gave_up = why
        return GaveUp(why)

    def _end(self) -> str:
        """Why nothing comes any more."""
        if self.heard.too_much:
            return f"it floods its output: more than {MAX_LINES} lines or {MAX_TOTAL} bytes"
        if self.heard.unreadable:
            return f"what came is too long to be read: {self.heard.unreadable}"
        if not self.heard.ended and not child.waits(self.process, 0):
            late = time.monotonic() > self._deadline
            seconds = self._patience.sitting if late else self._patience.answer
            return f"{'the sitting took' if late else 'it says nothing for'} {seconds:g} s"
        if not child.waits(self.process, 1.0):
            self.died = "it closed its output and lives on"
        else:
            self.heard.join(0.5, stdout=False)
            last = self.heard.tail.strip().splitlines()
            words = f'; its last words: "{last[-1][:200]}"' if last else ""
            self.died = f"it ended, with exit code {self.process.returncode}{words}"
        return self.died

    def _group_lives(self) -> bool:
        """Whether anything that it started is still there a moment after it left."""
        try:
            os.killpg(self.process.pid, 0)
            time.sleep(LINGER * 3)
            os.killpg(self.process.pid, 0)
        except (ProcessLookupError, PermissionError, AttributeError):
            return False
        return True


def _said(id: object) -> bytes:
    return json.dumps(id).encode()
