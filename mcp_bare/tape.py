"""What went over a wire, byte for byte: record, print with arrows, save, replay, compare.

    → tools/call {"name":"create_event","arguments":{"title":"Dentist"}}
    ← {"resultType":"input_required","inputRequests":{"when":...}}
    ! not a message: 'incidents server starting'

A printed line leaves out `_meta` and the ids unless asked, and shows what cannot be seen (a colour
code, a direction mark) as an escape; the tape itself keeps every byte. Does not handle: a saved
tape's format (`tape_file`), being the wire (`exchange` and `tap` record, `ReplayTransport` plays
back).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_bare import jsonrpc, tape_file
from mcp_bare.arrows import clipped, compact, fold, masked, visible, wrapped
from mcp_bare.errors import RpcError, TransportClosed
from mcp_bare.tape_file import CAME, NOTE, SENT, Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcp_bare.revision import JsonObject

__all__ = [
    "CAME", "NOTE", "SENT", "Entry", "ReplayTransport", "Tape", "compact", "compare", "fold"
]  # fmt: skip

MAX_ENTRIES = 100_000
MAX_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True)
class Entry:
    """One message (or one remark), with the time since the tape began, in seconds."""

    direction: str
    payload: bytes
    at: float = 0.0
    remark: str = ""

    @property
    def message(self) -> JsonObject | None:
        """The message as a dict, or None where the bytes are no message."""
        try:
            return jsonrpc.parse(self.payload)
        except RpcError:
            return None

    @property
    def text(self) -> str:
        """The bytes as text in which everything can be seen."""
        return visible(self.payload.decode("utf-8", "backslashreplace"))

    def size(self, mask: Mapping[str, str] | None = None) -> int:
        """The bytes of the message; with the names in place of what a mask hides."""
        return len(masked(self.payload.decode("latin-1"), mask)) if mask else len(self.payload)

    def parts(self, *, meta: bool = False) -> tuple[str, str]:
        """What stands out and the rest: ("tools/call", "{...}"), ("", "{...}"), ("error", "{...}").

        Of a remark, and of what is no message: ("", all of it).
        """
        message = None if self.direction == NOTE else self.message
        if message is None:
            return "", ": ".join(part for part in (visible(self.remark), self.text) if part)
        seen = message if meta else fold(message)
        if "method" in seen:
            params = seen.get("params")
            return visible(str(seen["method"])), compact(params) if params else ""
        if "result" in seen:
            return "", compact(seen["result"])
        return "error", compact(seen["error"])

    def show(self, *, meta: bool = False, ids: bool = False) -> str:
        """The entry as the chapters print it: arrow, method, the rest."""
        message = None if self.direction == NOTE else self.message
        number = f"[{message.get('id', '·')}]" if ids and message else ""
        arrow = NOTE if message is None else self.direction
        return " ".join(part for part in (arrow, number, *self.parts(meta=meta)) if part)


class Tape:
    """A recording in order of time; safe to write from a reader thread."""

    def __init__(self, about: JsonObject | None = None):
        self.about = about or {}
        self.entries: deque[Entry] = deque()
        self._began = time.monotonic()
        self._size, self._lock = 0, threading.Lock()

    def record(self, direction: str, payload: bytes, remark: str = "") -> None:
        """Add one entry, stamped now. The oldest go where there are too many, or too large ones."""
        with self._lock:
            self.entries.append(Entry(direction, payload, time.monotonic() - self._began, remark))
            self._size += len(payload)
            while len(self.entries) > MAX_ENTRIES or (
                self._size > MAX_BYTES and len(self.entries) > 1
            ):
                self._size -= len(self.entries.popleft().payload)

    def __iter__(self) -> Iterator[Entry]:
        return iter(list(self.entries))

    def __len__(self) -> int:
        return len(self.entries)

    def since(self, mark: int) -> Tape:
        """What was recorded after the first `mark` entries: tape.since(len(tape_before))."""
        part = Tape(self.about)
        part.entries.extend(list(self.entries)[mark:])
        return part

    def last(self, count: int = 1) -> Tape:
        """From our `count`-th last request on."""
        marks = [
            mark
            for mark, entry in enumerate(self)
            if entry.direction == SENT and {"method", "id"} <= (entry.message or {}).keys()
        ]
        return self.since(marks[-count]) if 0 < count <= len(marks) else self.since(0)

    def lines(
        self,
        *,
        meta: bool = False,
        ids: bool = False,
        width: int | None = None,
        mask: Mapping[str, str] | None = None,
        clip: int | None = None,
    ) -> list[str]:
        """Every entry as text, wrapped at `width`; `mask` puts a stable name on a random value.

        An entry longer than `clip` characters ends in … and the size of its message.
        """
        shown = []
        for entry in self:
            line = masked(entry.show(meta=meta, ids=ids), mask)
            if clip is not None:
                line = clipped(line, clip, entry.size(mask))
            shown += [line] if width is None else wrapped(line, width)
        return shown

    def print(self, **how: Any) -> None:
        """Print the tape with arrows; the keywords are those of `lines`."""
        print("\n".join(self.lines(**{"width": 100, **how})))

    def save(self, path: str | Path) -> None:
        """Write the tape as JSON Lines."""
        rows = (Row(e.direction, e.payload, e.at, e.remark) for e in self)
        Path(path).write_bytes(b"".join([tape_file.head(self.about), *map(tape_file.row, rows)]))

    @classmethod
    def load(cls, path: str | Path) -> Tape:
        """Read a saved tape. Raises ValueError, naming the line that is not one of ours."""
        try:
            about, rows = tape_file.read(Path(path).read_bytes())
        except ValueError as trouble:
            raise ValueError(f"{path}, {trouble}") from None
        tape = cls(about)
        tape.entries.extend(Entry(*row) for row in rows)
        return tape


class ReplayTransport:
    """Plays a tape's answers to a client that sends what was sent then; ids may differ.

    Opened again, it goes on where it was: a tape may hold several connections, one after another.
    """

    def __init__(self, tape: Tape):
        self._rest = deque(entry for entry in tape if entry.direction != NOTE or entry.payload)
        self._ids: dict[Any, Any] = {}

    def open(
        self,
        on_payload: Callable[[bytes], None],
        on_close: Callable[[TransportClosed], None],
    ) -> None:
        """Take the client's callbacks; nothing is started."""
        self._on_payload = on_payload

    def send(self, payload: bytes) -> None:
        """Answer as recorded. Raises TransportClosed where the tape goes on differently."""
        while self._rest and self._rest[0].direction != SENT:
            self._rest.popleft()
        recorded = self._rest.popleft() if self._rest else None
        sent, then = jsonrpc.parse(payload), recorded.message if recorded else None
        if then is None or _nameless(sent) != _nameless(then):
            due = recorded.show() if recorded else "nothing more"
            raise TransportClosed(f"the tape has {due}; it was asked {Entry(SENT, payload).show()}")
        if "id" in then and "method" in then:
            self._ids[jsonrpc.id_key(then["id"])] = sent["id"]
        while self._rest and self._rest[0].direction != SENT:
            self._on_payload(_with_id(self._rest.popleft().payload, self._ids))

    def close(self) -> None:
        """Nothing to end."""


def compare(one: Tape, other: Tape) -> list[str]:
    """The lines in which two recordings differ, as a unified diff without heads; [] if equal."""
    import difflib

    diff = difflib.unified_diff(one.lines(meta=True), other.lines(meta=True), lineterm="", n=0)
    return [line for line in diff if not line.startswith(("---", "+++", "@@"))]


def _nameless(message: JsonObject) -> JsonObject:
    """A message without what differs from run to run: its id, and a progress token like it."""
    params = message.get("params", {})
    meta = {k: v for k, v in params.get("_meta", {}).items() if k != "progressToken"}
    return {**message, "id": None, "params": {**params, "_meta": meta}}


def _with_id(payload: bytes, ids: dict[Any, Any]) -> bytes:
    try:
        message = jsonrpc.parse(payload)
    except RpcError:
        return payload
    if "method" not in message and jsonrpc.is_id(message.get("id")):
        message["id"] = ids.get(jsonrpc.id_key(message["id"]), message["id"])
        return jsonrpc.dumps(message)
    return payload
