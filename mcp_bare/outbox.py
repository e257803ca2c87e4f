"""The messages of one response, between those who have something to say and the thread that writes.

A handler's notifications wait for room: a client that reads slowly slows the handler down. An event
of a subscription does not wait, for it may come from anywhere: a stream whose reader is so slow
that the outbox is full is ended, and its client listens again.

A response ends the outbox. After a cancellation nothing more goes out.

Does not handle: bytes on a connection (`http_answer`).
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

from mcp_bare import revision
from mcp_bare.connection import encode

if TYPE_CHECKING:
    from mcp_bare.call import Caller
    from mcp_bare.revision import JsonObject
    from mcp_bare.server import Server

ROOM = 1024


class Ended(Exception):
    """Nothing more will come."""


class Outbox:
    """Filled by a handler and by subscriptions, emptied by one thread."""

    def __init__(self, room: int = ROOM):
        self._room = room
        self._waiting: deque[tuple[JsonObject, bytes]] = deque()
        self._changed = threading.Condition()
        self._ended = self._cancelled = False

    def put(self, message: JsonObject) -> None:
        """A handler's message; waits for room, and is dropped once nobody reads any more."""
        said = encode(message)
        with self._changed:
            if len(self._waiting) >= self._room:
                self._changed.wait_for(lambda: self._ended or len(self._waiting) < self._room)
            self._add(said)

    def offer(self, message: JsonObject) -> None:
        """A subscription's message. Raises OSError where the stream is gone or does not keep up."""
        said = encode(message)
        with self._changed:
            if len(self._waiting) >= self._room:
                self._cancel()
            if self._ended:
                raise BrokenPipeError("nobody reads this stream")
            self._add(said)

    def _add(self, said: tuple[JsonObject, bytes] | None) -> None:
        if said is None or self._ended:
            return
        self._waiting.append(said)
        self._ended = is_response(said[0])
        self._changed.notify_all()

    def end(self) -> None:
        """Whoever fills it is done, with or without a response."""
        if self._ended:
            return
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def cancel(self) -> None:
        """Nobody reads any more; what waits is dropped."""
        if self._ended and not self._waiting:  # all was said, and nobody waits for more
            self._cancelled = True
            return
        with self._changed:
            self._cancel()

    def _cancel(self) -> None:
        self._ended = self._cancelled = True
        self._waiting.clear()
        self._changed.notify_all()

    def cancelled(self) -> bool:
        """Should the handler stop?"""
        return self._cancelled

    def is_empty(self) -> bool:
        """Would `take` wait?"""
        return not self._waiting and not self._ended

    def take(self, seconds: float) -> tuple[JsonObject, bytes] | None:
        """The next message and its bytes, None where none comes in time. Raises Ended."""
        with self._changed:
            if not self._waiting:
                self._changed.wait_for(lambda: self._waiting or self._ended, seconds)
            if self._waiting:
                if len(self._waiting) >= self._room:
                    self._changed.notify_all()
                return self._waiting.popleft()
            if self._ended:
                raise Ended
            return None


def is_response(message: JsonObject) -> bool:
    """A result or an error, after which a stream has nothing more to say."""
    return "method" not in message


def fill(outbox: Outbox, server: Server, message: JsonObject, caller: Caller) -> None:
    """Have the server answer into the outbox."""
    try:
        for said in server.handle(message, caller, outbox.cancelled):
            outbox.put(said)
    finally:
        if message["method"] != revision.LISTEN:  # which goes on until it is closed
            outbox.end()
