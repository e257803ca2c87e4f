"""An ASGI application on a free port of loopback, until the standard input ends."""

from __future__ import annotations

import socket
import sys
import threading
from typing import Any

import uvicorn


def serve(app: Any) -> None:
    """Say the address on standard output, then serve."""
    # The protocol is said, or asyncio does not turn Nagle's algorithm off, and each answer of two
    # writes waits 40 ms for an acknowledgement: what is measured must not be our own mistake.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(128)
    http = uvicorn.Server(
        uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1)
    )

    def until_the_input_ends() -> None:
        sys.stdin.read()
        http.should_exit = True

    threading.Thread(target=until_the_input_ends, daemon=True).start()
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    http.run(sockets=[listening])
