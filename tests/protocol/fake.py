"""The other end of a wire that answers whatever a test wants, with no server behind it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from mcp_bare.client import Client

Script = Callable[[dict[str, Any]], Any]


class FakeTransport:
    """`script` takes a request and returns a result, a list of raw lines, or None for silence."""

    def __init__(self, script: Script):
        self.script = script
        self.sent: list[dict[str, Any]] = []
        self.limit = 100_000  # requests; then it goes silent, so that endless pages end

    def open(self, on_payload, on_close) -> None:
        self.deliver, self.lose = on_payload, on_close

    def send(self, payload: bytes) -> None:
        message = json.loads(payload)
        self.sent.append(message)
        if "id" not in message or len(self.sent) > self.limit:
            return
        made = self.script(message)
        if isinstance(made, list):
            for line in made:
                self.deliver(line if isinstance(line, bytes) else json.dumps(line).encode())
        elif made is not None:
            self.deliver(
                json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": made}).encode()
            )

    def close(self) -> None:
        """Nothing to end."""


def client_of(script: Script, **options: Any) -> tuple[Client, FakeTransport]:
    transport = FakeTransport(script)
    return Client(transport, **{"timeout": 0.5, **options}), transport
