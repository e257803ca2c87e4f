"""An address before a learner's code: each HTTP request goes in as bytes, and bytes come out.

    with front.at(lambda request: it.call("answer", request)) as url:
        ...                                  # url is http://127.0.0.1:PORT/mcp

The learner's code runs where the judge starts it, which may be a room without a network. So the
socket is out here. Of HTTP this knows where a request ends, and nothing else: whatever is wrong
with one is handed on as it came, and what comes back is written as it is. One request at a time.

Does not handle: chunked requests (a client of ours sends none), or whether an answer is right.
"""

import contextlib
import re
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator

MOST = 4 * 1024 * 1024  # bytes of one request
PATIENCE = 30.0  # seconds for a client to say something
LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,9})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
CLOSE = re.compile(rb"^connection:[ \t]*close[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
FAILED = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

Answer = Callable[[bytes], object]


class Front(socketserver.ThreadingTCPServer):
    """Listens, and asks `answer`; `trouble` is what that raised first."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, answer: Answer):
        super().__init__(("127.0.0.1", 0), _Connection)
        self._answer, self._one_by_one = answer, threading.Lock()
        self.trouble: Exception | None = None
        self.open: set[socket.socket] = set()

    def asked(self, request: bytes) -> bytes:
        """The response, or a 500 where there is none."""
        with self._one_by_one:
            if self.trouble is not None:
                return FAILED
            try:
                said = self._answer(request)
            except Exception as trouble:
                self.trouble = trouble
                return FAILED
        return said if isinstance(said, bytes) and said else FAILED


class _Connection(socketserver.BaseRequestHandler):
    server: Front
    request: socket.socket

    def handle(self) -> None:
        self.server.open.add(self.request)
        self.request.settimeout(PATIENCE)
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        kept = b""
        with contextlib.suppress(OSError):
            while kept := self._more(kept, b"\r\n\r\n"):
                end = kept.index(b"\r\n\r\n") + 4
                length = LENGTH.search(kept[:end])
                size = end + int(length[1]) if length else end
                if size > MOST:
                    return
                while len(kept) < size:
                    kept += self._chunk()
                said, kept = self.server.asked(kept[:size]), kept[size:]
                self.request.sendall(said)
                head = said.partition(b"\r\n\r\n")[0]
                if CLOSE.search(head) or not LENGTH.search(head):
                    return  # its end is the end of the connection

    def finish(self) -> None:
        self.server.open.discard(self.request)

    def _more(self, kept: bytes, due: bytes) -> bytes:
        """Read until a head is whole; nothing where the client leaves."""
        while due not in kept and len(kept) <= MOST:
            chunk = self.request.recv(65536)
            if not chunk:
                return b""
            kept += chunk
        return kept if due in kept else b""

    def _chunk(self) -> bytes:
        chunk = self.request.recv(65536)
        if not chunk:
            raise ConnectionError("the client left within a request")
        return chunk


@contextlib.contextmanager
def at(answer: Answer) -> Iterator[str]:
    """The address, until the `with` ends; then what `answer` raised, if it did, is raised.

    It comes before whatever else went wrong meanwhile, which it is probably the cause of.
    """
    with Front(answer) as front:
        thread = threading.Thread(target=front.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{front.server_address[1]}/mcp"
        finally:
            front.shutdown()
            thread.join()
            for each in list(front.open):
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            if front.trouble is not None:
                raise front.trouble
