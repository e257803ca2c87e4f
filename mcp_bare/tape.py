"""What went over a wire, byte for byte: record, print with arrows, save, replay, compare.

    → tools/call {"name":"create_event","arguments":{"title":"Dentist"}}
    ← {"resultType":"input_required","inputRequests":{"when":...}}
    ! not a message: 'incidents server starting'

A printed line leaves out `_meta` and the ids unless asked; the tape itself keeps every byte.
A saved tape is JSON Lines: a head that says when and with what it was recorded, then an entry a
line. Does not handle: being the wire (`exchange` records, `ReplayTransport` plays back).
"""

from __future__ import annotations

import json
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_bare import jsonrpc
from mcp_bare.errors import RpcError, TransportClosed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcp_bare.revision import JsonObject

SENT, CAME, NOTE = "→", "←", "!"
MAX_ENTRIES = 100_000


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

    def show(self, *, meta: bool = False, ids: bool = False) -> str:
        """The entry as the chapters print it: arrow, method, the rest."""
        message = self.message
        if self.direction == NOTE or message is None:
            text = self.payload.decode("utf-8", "backslashreplace")
            return f"{NOTE} {self.remark}{': ' if self.remark and text else ''}{text}".rstrip()
        number = f"[{message.get('id', '·')}] " if ids else ""
        return f"{self.direction} {number}{_gist(message, meta)}"


class Tape:
    """A recording in order of time; safe to write from a reader thread."""

    def __init__(self, about: JsonObject | None = None):
        self.about = about or {}
        self.entries: deque[Entry] = deque(maxlen=MAX_ENTRIES)
        self._began = time.monotonic()

    def record(self, direction: str, payload: bytes, remark: str = "") -> None:
        """Add one entry, stamped now."""
        self.entries.append(Entry(direction, payload, time.monotonic() - self._began, remark))

    def __iter__(self) -> Iterator[Entry]:
        return iter(list(self.entries))

    def __len__(self) -> int:
        return len(self.entries)

    def since(self, mark: int) -> Tape:
        """What was recorded after the first `mark` entries: tape.since(len(tape_before))."""
        part = Tape(self.about)
        part.entries.extend(list(self.entries)[mark:])
        return part

    def lines(
        self,
        *,
        meta: bool = False,
        ids: bool = False,
        width: int | None = None,
        mask: Mapping[str, str] | None = None,
    ) -> list[str]:
        """Every entry as text, wrapped at `width`; `mask` puts a stable name on a random value."""
        shown = [entry.show(meta=meta, ids=ids) for entry in self]
        for secret, name in (mask or {}).items():
            shown = [line.replace(secret, name) for line in shown]
        return shown if width is None else [part for line in shown for part in _wrap(line, width)]

    def print(self, **how: Any) -> None:
        """Print the tape with arrows; the keywords are those of `lines`."""
        print("\n".join(self.lines(**{"width": 100, **how})))

    def save(self, path: str | Path) -> None:
        """Write the tape as JSON Lines."""
        head = {"tape": 1, **self.about}
        rows = [json.dumps(head, ensure_ascii=False)]
        for entry in self:
            row: JsonObject = {"at": round(entry.at, 4), "dir": entry.direction}
            try:
                row["line"] = entry.payload.decode()
            except UnicodeDecodeError:
                row["hex"] = entry.payload.hex()
            rows.append(json.dumps({**row, "remark": entry.remark} if entry.remark else row,
                                   ensure_ascii=False))  # fmt: skip
        Path(path).write_text("\n".join(rows) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Tape:
        """Read a saved tape. Raises ValueError, naming the line that is not one of ours."""
        rows = Path(path).read_text(encoding="utf-8").splitlines()
        tape = cls()
        for number, text in enumerate(rows, 1):
            try:
                row = json.loads(text)
                if number == 1:
                    tape.about = {k: v for k, v in row.items() if k != "tape" or row["tape"] != 1}
                    continue
                payload = bytes.fromhex(row["hex"]) if "hex" in row else row["line"].encode()
                tape.entries.append(Entry(row["dir"], payload, row["at"], row.get("remark", "")))
            except (ValueError, KeyError, TypeError, AttributeError) as trouble:
                raise ValueError(f"{path}, line {number}: not a tape entry ({trouble!r})") from None
        return tape


class ReplayTransport:
    """Plays a tape's answers to a client that sends what was sent then; ids may differ."""

    def __init__(self, tape: Tape):
        self._rest = deque(tape)

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
        ids = {jsonrpc.id_key(then["id"]): sent["id"]} if "id" in then else {}
        while self._rest and self._rest[0].direction != SENT:
            self._on_payload(_with_id(self._rest.popleft().payload, ids))

    def close(self) -> None:
        """Nothing to end."""


def compare(one: Tape, other: Tape) -> list[str]:
    """The lines in which two recordings differ, as a unified diff without heads; [] if equal."""
    import difflib

    diff = difflib.unified_diff(one.lines(meta=True), other.lines(meta=True), lineterm="", n=0)
    return [line for line in diff if not line.startswith(("---", "+++", "@@"))]


def fold(value: Any) -> Any:
    """The value without any `_meta`, at any depth."""
    if isinstance(value, dict):
        return {k: fold(v) for k, v in value.items() if k != "_meta"}
    return [fold(v) for v in value] if isinstance(value, list) else value


def _gist(message: JsonObject, meta: bool) -> str:
    seen = message if meta else fold(message)
    if "method" in seen:
        params = seen.get("params")
        return f"{seen['method']} {compact(params)}" if params else str(seen["method"])
    return compact(seen["result"]) if "result" in seen else f"error {compact(seen['error'])}"


def compact(value: Any) -> str:
    """JSON as the wire writes it, but readable: no spaces, no escapes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _wrap(line: str, width: int) -> list[str]:
    """Cut after a comma or a space where there is one near the edge; indent what follows."""
    parts, indent = [], ""
    while len(line) > width:
        at = max(line.rfind(mark, width // 2, width - 1) for mark in (",", " "))
        cut = at + 1 if at > 0 else width
        parts.append(line[:cut].rstrip(" "))
        line, indent = "   " + line[cut:], "   "
    return [*parts, line] if line.strip() or not indent else parts


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
