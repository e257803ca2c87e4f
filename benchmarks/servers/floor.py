"""No server: fixed bytes come back as soon as a line, or an HTTP request, is whole.

What is measured against it is what the client and the operating system take for themselves.
"""

from __future__ import annotations

import os
import selectors
import socket
import sys

BODY = b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text"}]}}'


def over_pipes() -> None:
    while chunk := os.read(0, 65536):
        os.write(1, (BODY + b"\n") * chunk.count(b"\n"))


def over_http() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    answer = head % len(BODY) + BODY
    listening = socket.create_server(("127.0.0.1", 0), backlog=128)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    ready = selectors.DefaultSelector()
    ready.register(0, selectors.EVENT_READ)
    ready.register(listening, selectors.EVENT_READ)
    while True:
        for key, _ in ready.select():
            if key.fileobj == 0:
                return
            if key.fileobj is listening:
                ready.register(listening.accept()[0], selectors.EVENT_READ)
            elif key.fileobj.recv(65536):
                key.fileobj.sendall(answer)
            else:
                ready.unregister(key.fileobj)
                key.fileobj.close()


over_http() if sys.argv[1] == "http" else over_pipes()
