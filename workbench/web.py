"""What the HTTP notebooks need beside the toolkit: a free port, an answer in brief, stable names.

Does not handle: being a server or a client; `mcp_bare.streamable_http` is both.
"""

import json
import socket
from collections.abc import Mapping

SHOWN = ("content-type", "allow", "www-authenticate", "location")
"""The response headers that a lesson is about."""


def free_port() -> int:
    """A port that nobody has at the moment, for a server whose address must be known before it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Masked:
    """Prints with stable names for what differs from run to run: masked = Masked({url: "..."})."""

    def __init__(self, names: Mapping[str, str]):
        self._names = dict(sorted(names.items(), key=lambda pair: -len(pair[0])))

    def __call__(self, text: object) -> str:
        """The text with each value replaced by its name."""
        shown = str(text)
        for value, name in self._names.items():
            shown = shown.replace(value, name)
        return shown

    def print(self, *parts: object) -> None:
        """As print, masked."""
        print(*(self(part) for part in parts))


def brief(status: int, headers: Mapping[str, str], body: bytes) -> str:
    """One response as a lesson shows it: status, the headers that matter, the error or the type."""
    lines = [str(status)]
    lines += [f"{name}: {headers[name]}" for name in SHOWN if name in headers]
    try:
        message = json.loads(body)
    except ValueError:
        return "\n".join([*lines, body.decode("utf-8", "replace")] if body else lines)
    if isinstance(message, dict) and "error" in message:
        error = message["error"]
        told = f"{error['code']} {error['message']}" if isinstance(error, dict) else str(error)
        return "\n".join([*lines, told])
    return "\n".join([*lines, json.dumps(message, separators=(",", ":"))[:300]])
