"""A server behind HTTP, and the barest client there is: one thread, many connections, fixed bytes.

    with Web(stack.command("http")) as web:
        seconds = web.load(connections=8, requests=400)

Each connection sends the same request again as soon as its answer is whole. Of an answer only its
status and its length are read.

Does not handle: TLS, redirects, streams (an answer here is one JSON body).
"""

from __future__ import annotations

import re
import selectors
import socket
import time
from itertools import pairwise
from statistics import median
from urllib.parse import urlsplit

from benchmarks.pipe import PATIENCE, Pipe, Silent, call
from mcp_bare import headers, jsonrpc, revision

LAST_CHUNK = b"\r\n0\r\n\r\n"  # of an answer that does not say its length
_LENGTH = re.compile(rb"\r\nContent-Length: *(\d+)", re.IGNORECASE)


class Web(Pipe):
    """The child process, and where it listens; it ends with its input."""

    def __init__(self, command: list[str], patience: float = PATIENCE):
        super().__init__(command, patience)
        try:
            address = urlsplit(self.ask(b"").decode().strip())
        except Silent:
            self.close()
            raise
        self.address = (str(address.hostname), int(address.port or 80))
        self.bytes = post(call(1, "hello"), f"{address.hostname}:{address.port}", address.path)

    def load(self, connections: int, requests: int) -> float:
        """Seconds for one request, where so many connections ask at once. Raises Silent.

        The median over stretches of the run: a stretch during which the machine did something else
        does not count for more than its place.
        """
        with selectors.DefaultSelector() as ready:
            talks = [_Talk(self.address) for _ in range(connections)]
            try:
                for talk in talks:
                    ready.register(talk.socket, selectors.EVENT_READ, talk)
                return self._run(ready, talks, requests)
            finally:
                for talk in talks:
                    talk.socket.close()

    def _run(self, ready: selectors.BaseSelector, talks: list[_Talk], requests: int) -> float:
        begun = time.perf_counter()
        for talk in talks:
            talk.socket.send(self.bytes)
        asked, answered, stretch = len(talks), 0, max(len(talks), 8)
        marks = [begun]
        while answered < requests:
            events = ready.select(5.0)
            if not events or time.perf_counter() - begun > self._patience:
                raise Silent(f"{answered} of {requests} answered; {self.last_words()}")
            for key, _ in events:
                if key.data.whole():
                    answered += 1
                    if answered % stretch == 0:
                        marks.append(time.perf_counter())
                    if asked < requests:
                        key.data.socket.send(self.bytes)
                        asked += 1
        return median(two - one for one, two in pairwise(marks)) / stretch


class _Talk:
    """One connection and what has come of an answer."""

    def __init__(self, address: tuple[str, int]):
        self.socket = socket.create_connection(address, timeout=5.0)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        self._came, self._due = b"", -1

    def whole(self) -> bool:
        """Take what came; is the answer complete? Raises Silent for anything but a good one."""
        chunk = self.socket.recv(65536)
        if not chunk:
            raise Silent("the server closed a connection")
        self._came += chunk
        if self._due < 0:
            end = self._came.find(b"\r\n\r\n")
            if end < 0:
                return False
            length = _LENGTH.search(self._came, 0, end)
            if not self._came.startswith(b"HTTP/1.1 200 "):
                raise Silent(f"answered {self._came[:300]!r}")
            self._due = end + 4 + int(length[1]) if length else 0
        if len(self._came) < self._due or (not self._due and not self._came.endswith(LAST_CHUNK)):
            return False
        self._came, self._due = b"", -1
        return True


def post(line: bytes, host: str, path: str) -> bytes:
    """The message as a whole HTTP request."""
    message = jsonrpc.parse(line)
    fields = {
        "Host": host,
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **headers.standard(message, revision.CURRENT),
        "Content-Length": str(len(line)),
    }
    head = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*head, "", ""]).encode() + line
