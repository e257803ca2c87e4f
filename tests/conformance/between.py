"""Somebody between a client and a server, over HTTP, with one bad habit.

    with Between(url, Habit(say=without_hints)) as between:
        ...                                     # between.url is now a server without caching hints

Our server and our client stay as they are; what is wrong is done to their bytes. A habit may change
a request's headers and message on the way in, a response's status and messages on the way out. With
no habit at all everything passes, which a test shows first.

Does not handle: methods other than POST, or a request that waits for 100-continue.
"""

import contextlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from mcp_bare import sse

Message = dict[str, Any]
Headers = dict[str, str]
HOP_BY_HOP = {"connection", "content-length", "transfer-encoding", "keep-alive"}
PATIENCE_S = 30.0


def same(*given: Any) -> Any:
    """No habit: whatever comes last goes on as it is."""
    return given[-1]


@dataclass(frozen=True)
class Habit:
    """What is done to what passes.

    `ask` may change the headers in place and returns the message; `status` returns another status
    for an answer; `say` returns the message, or several, or none, to pass on for one of the answer.
    """

    ask: Callable[[Headers, Message], Message] = same
    status: Callable[[Message, int], int] = same
    say: Callable[[Message, Message], Message | list[Message]] = same


class Between(ThreadingHTTPServer):
    """Passes each POST on to the server at `target`; `url` is where it listens."""

    daemon_threads = True
    block_on_close = False  # a stream that is held open must not hold up the end

    def __init__(self, target: str, habit: Habit):
        super().__init__(("127.0.0.1", 0), _Passing)
        self.target, self.habit = urlsplit(target), habit
        self.url = f"http://127.0.0.1:{self.server_port}{self.target.path}"
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> "Between":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing to say: one of the two ends hung up, as both may."""


class _Passing(BaseHTTPRequestHandler):
    server: Between

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {k: v for k, v in self.headers.items() if k.lower() not in HOP_BY_HOP}
        asked = self.server.habit.ask(headers, asked)
        there = HTTPConnection(self.server.target.netloc, timeout=PATIENCE_S)
        with contextlib.closing(there), contextlib.suppress(OSError, HTTPException):
            there.request("POST", self.path, json.dumps(asked).encode(), headers)
            with contextlib.closing(there.getresponse()) as answer:
                if answer.getheader("Content-Type", "").startswith(sse.MEDIA_TYPE):
                    self._stream(asked, answer)
                else:
                    self._whole(asked, answer)

    def _whole(self, asked: Message, answer: Any) -> None:
        body = answer.read()
        try:
            message = json.loads(body)
        except ValueError:
            return self._head(answer.status, answer, body)
        said = _listed(self.server.habit.say(asked, message))
        status = self.server.habit.status(asked, answer.status)
        if len(said) == 1:
            return self._head(status, answer, json.dumps(said[0]).encode())
        self._head(status, answer, b"".join(map(_event, said)), sse.MEDIA_TYPE)

    def _stream(self, asked: Message, answer: Any) -> None:
        self._head(self.server.habit.status(asked, answer.status), answer, b"")
        parser = sse.EventParser()
        while chunk := answer.read1(65536):
            for event in parser.feed(chunk):
                for message in _listed(self.server.habit.say(asked, json.loads(event.data))):
                    self.wfile.write(_event(message))
            self.wfile.flush()

    def _head(self, status: int, answer: Any, body: bytes, kind: str = "") -> None:
        """The status, the other side's headers, and what there is of a body; then it closes."""
        self.send_response(status)
        for name, value in answer.getheaders():
            if name.lower() not in HOP_BY_HOP | {"date", "server", "content-type"}:
                self.send_header(name, value)
        if kind or answer.getheader("Content-Type"):
            self.send_header("Content-Type", kind or answer.getheader("Content-Type"))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def _listed(said: Message | list[Message]) -> list[Message]:
    return said if isinstance(said, list) else [said]


def _event(message: Message) -> bytes:
    return sse.write_event(json.dumps(message).encode())
