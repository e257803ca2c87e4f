"""What is kept of one process: what was sent, what came for it, how it ended. The rules judge this.

    Sent(b'{"jsonrpc":"2.0","id":1,...}', {...})    what we wrote
    Exchange(sent, answers=[Line(...)])             a request, and all that came for it
    Record("meet", sent=..., lines=..., ...)        the whole sitting, when the process is gone

Does not handle: asking (`process`), what a line is (`lines`), what is right (`rules_*`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcp_bare import jsonrpc, revision

if TYPE_CHECKING:
    from mcp_bare.exam.lines import Line
    from mcp_bare.revision import JsonObject

NO_ID = (type(None), None)


@dataclass(frozen=True)
class Sent:
    """What we sent: its bytes without the newline, and the message, where it was one."""

    raw: bytes
    message: JsonObject | None

    @property
    def cancels(self) -> object:
        """The id that it cancels, as a key; None where it is no cancellation."""
        if (self.message or {}).get("method") != revision.CANCELLED:
            return None
        params = (self.message or {}).get("params")
        return key_of({"id": params.get("requestId")} if isinstance(params, dict) else None)


@dataclass
class Exchange:
    """A request, all that came for it, and what came while it was in flight."""

    sent: Sent
    answers: list[Line] = field(default_factory=list)
    stray: Line | None = None  # taken for the answer: the only one there was, under another id
    seconds: float | None = None
    given_up: bool = False  # waited for in vain; what came at the end came too late

    @property
    def key(self) -> tuple[type, Any]:
        """Its id, so that 1 and "1" differ."""
        return key_of(self.sent.message)

    @property
    def method(self) -> str:
        return str((self.sent.message or {}).get("method"))

    @property
    def params(self) -> JsonObject:
        params = (self.sent.message or {}).get("params")
        return params if isinstance(params, dict) else {}

    @property
    def bare(self) -> JsonObject:
        """Its params without `_meta`."""
        return {name: value for name, value in self.params.items() if name != "_meta"}

    @property
    def line(self) -> Line | None:
        """The answer, or what was taken for it."""
        return self.answers[0] if self.answers else self.stray

    @property
    def result(self) -> JsonObject | None:
        return self._member("result")

    @property
    def error(self) -> JsonObject | None:
        return self._member("error")

    def _member(self, name: str) -> JsonObject | None:
        found = self.line.message.get(name) if self.line and self.line.message else None
        return found if isinstance(found, dict) else None


@dataclass(frozen=True)
class Record:
    """All of one sitting: what was sent and what came, and how the process ended."""

    name: str
    sent: tuple[Sent, ...]
    lines: tuple[Line, ...]
    exchanges: tuple[Exchange, ...]
    gave_up: str  # why the sitting was given up, or ""
    died: str  # how the server ended before its input did, or ""
    left: str  # "by itself", "after SIGTERM", "after SIGKILL"
    survivors: bool  # whether something it started outlived it
    stderr_size: int
    stderr_tail: str

    def cancelled_at(self, exchange: Exchange) -> int | None:
        """Where in what we sent this request was cancelled, if it was."""
        for at, sent in enumerate(self.sent):
            if sent.cancels == exchange.key:
                return at
        return None


def is_answer(line: Line) -> bool:
    """Whether this is a response, to whatever."""
    return line.message is not None and "method" not in line.message


def key_of(message: JsonObject | None) -> tuple[type, Any]:
    """The id by type and value: 1 and "1" differ. All that is no id is one key."""
    found = (message or {}).get("id")
    return jsonrpc.id_key(found) if jsonrpc.is_id(found) else NO_ID
