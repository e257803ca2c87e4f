"""A server that says whatever a test wants, byte for byte, and remembers what it was asked."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

from mcp_bare import http_request
from mcp_bare.errors import Refused
from mcp_bare.http_request import Request

Script = Callable[[Any, Request], Any]


class Scripted:
    """`script` takes a message and its request and gives bytes, or pieces to write one by one.

    A piece that is a callable is called (to wait for something). After an answer of None the
    connection is closed; after bytes it stays open unless they say `Connection: close`.
    """

    def __init__(self, script: Script):
        self.script = script
        self.asked: list[tuple[Any, Request]] = []
        self.connections = 0
        self.hung_up = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"

    @property
    def methods(self) -> list[str]:
        """The methods of the messages that came."""
        return [message["method"] for message, _ in self.asked if message]

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self._listener.accept()
                self.connections += 1
                self._open.append(sock)
                self._start(self._serve, sock)

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError, EOFError, Refused), sock, sock.makefile("rb") as stream:
            while found := http_request.read(stream, 1 << 24, lambda: None):
                message = json.loads(found.body) if found.body else None
                self.asked.append((message, found))
                if not self._answer(sock, self.script(message, found)):
                    return
            self.hung_up.set()

    def _answer(self, sock: socket.socket, answer: Any) -> bool:
        """False where the connection is to be closed."""
        pieces = [answer] if isinstance(answer, bytes | type(None)) else answer
        said = b""
        for piece in pieces:
            if piece is None:
                return False
            if callable(piece):
                piece()
            else:
                said += piece[:2000]
                sock.sendall(piece)
        return b"Connection: close" not in said

    def _start(self, target: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def __enter__(self) -> Scripted:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        for sock in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(10)


# --- what it may say ---


def response(status: str = "200 OK", body: bytes = b"", **headers: str) -> bytes:
    """response("200 OK", b"{}", Content_Type="application/json")"""
    named = {"Content-Length": str(len(body))}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    rows = [f"{name}: {value}" for name, value in named.items() if value]
    return "\r\n".join([f"HTTP/1.1 {status}", *rows, "", ""]).encode() + body


def as_json(message: Any, status: str = "200 OK", **headers: str) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return response(status, body, **{"Content_Type": "application/json", **headers})


def stream(*pieces: bytes, end: bool = True, **headers: str) -> Iterator[bytes]:
    """A stream in chunks, each piece one of them; without `end` it just stops."""
    kind = {"Content_Type": "text/event-stream", "Transfer_Encoding": "chunked"}
    yield response(**{"Content_Length": "", **kind, **headers})
    for piece in pieces:
        yield b"%x\r\n%b\r\n" % (len(piece), piece)
    yield b"0\r\n\r\n" if end else None


def event(message: Any, line: bytes = b"data: ") -> bytes:
    return line + json.dumps(message, ensure_ascii=False).encode() + b"\n\n"


def result(message: Any, text: str = "hé", **changes: Any) -> dict[str, Any]:
    """The answer to a tool's call."""
    content = {"resultType": "complete", "content": [{"type": "text", "text": text}]}
    return {"jsonrpc": "2.0", "id": message["id"], "result": content, **changes}


def error(code: int, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "error": {"code": code, "message": "no"}, **more}


def progress(message: Any, value: float = 1) -> dict[str, Any]:
    token = message["params"]["_meta"].get("progressToken", message["id"])
    params = {"progressToken": token, "progress": value}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
