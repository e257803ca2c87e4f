"""A tape as a file: JSON Lines, a head, then a row for each entry, so that it grows as it goes.

    {"tape": 1, "recorded": "...", "command": ["python", "server.py"]}
    {"at": 0.0056, "dir": "→", "line": "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1", "more": true}
    {"at": 0.0057, "dir": "→", "line": ",\\"method\\":\\"tools/list\\"}"}

A row says `more` where the line goes on in the next row of its direction, so that half a message is
in the file before the other half has come; `hex` stands for `line` where the bytes are no UTF-8.
A head further down begins another run. A row that was cut off (whoever wrote it was killed) is told
apart from a row that is none of ours. Does not handle: what the entries mean (`tape`).
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from mcp_bare.revision import JsonObject

SENT, CAME, NOTE = "→", "←", "!"
VERSION = 1
MARK = b'{"tape":'  # how every head begins
UNENDED = "the line has no end"
CUT = "the recording was cut off here"
AGAIN = "another run begins"


class Row(NamedTuple):
    """One entry: which way it went, its bytes, when, and what there is to say about it."""

    direction: str
    payload: bytes
    at: float = 0.0
    remark: str = ""


def head(about: JsonObject) -> bytes:
    """The first line of a file, or of another run in the same file."""
    return _line({"tape": VERSION, **about})


def row(entry: Row, *, more: bool = False) -> bytes:
    """The entry as a line of the file."""
    told: JsonObject = {"at": round(entry.at, 4), "dir": entry.direction}
    try:
        told["line"] = entry.payload.decode()
    except UnicodeDecodeError:
        told["hex"] = entry.payload.hex()
    if entry.remark:
        told["remark"] = entry.remark
    return _line({**told, "more": True} if more else told)


def read(data: bytes) -> tuple[JsonObject, list[Row]]:
    """What the head says, and the entries. Raises ValueError, naming the line that is not ours."""
    lines = data.split(b"\n")
    about = _parsed(lines[0], 1)
    if about.pop("tape", None) != VERSION:
        raise ValueError(f"line 1: no head of a tape of version {VERSION}")
    return about, _entries(lines)


def _entries(lines: list[bytes]) -> list[Row]:
    found: list[Row] = []
    begun: dict[str, _Begun] = {}  # by direction
    for number, text in enumerate(lines[1:], 2):
        after = lines[number] if number < len(lines) else None
        if not text and after is None:
            break
        try:
            row = _parsed(text, number)
        except ValueError:
            last = after is None or after.startswith(MARK)
            if not last or not b'{"at": '.startswith(text[:7]):
                raise
            found.append(Row(NOTE, b"", remark=CUT))
            continue
        if "tape" in row:
            _keep_unended(found, begun)
            found.append(Row(NOTE, b"", remark=AGAIN))
            continue
        entry = _entry(row, number)
        line = begun.setdefault(entry.direction, _Begun(entry.direction))
        line.grow(entry, len(found))
        if not row.get("more"):
            found.append(entry._replace(payload=bytes(begun.pop(entry.direction).payload)))
    _keep_unended(found, begun)
    return found


class _Begun:
    """A line that has come in part, and where it would stand if nothing more came."""

    def __init__(self, direction: str):
        self.direction, self.payload, self.at, self.place = direction, bytearray(), 0.0, 0

    def grow(self, entry: Row, place: int) -> None:
        self.payload += entry.payload
        self.at, self.place = entry.at, place


def _keep_unended(found: list[Row], begun: dict[str, _Begun]) -> None:
    """What came after the last LF of each direction, at the time of its last piece."""
    for line in sorted(begun.values(), key=lambda line: line.place, reverse=True):
        found.insert(line.place, Row(line.direction, bytes(line.payload), line.at, UNENDED))
    begun.clear()


def _parsed(text: bytes, number: int) -> JsonObject:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as trouble:
        raise ValueError(f"line {number}: not JSON ({trouble!r})") from None
    if not isinstance(value, dict):
        raise ValueError(f"line {number}: not a tape entry (an object is due)")
    return value


def _entry(row: JsonObject, number: int) -> Row:
    """One row of a file. Raises ValueError."""
    try:
        payload = bytes.fromhex(row["hex"]) if "hex" in row else row["line"].encode()
        entry = Row(row["dir"], payload, float(row["at"]), row.get("remark", ""))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as trouble:
        raise ValueError(f"line {number}: not a tape entry ({trouble!r})") from None
    sound = entry.direction in (SENT, CAME, NOTE) and isinstance(entry.remark, str)
    if not sound or not math.isfinite(entry.at):
        raise ValueError(f"line {number}: not a tape entry ({entry!r})"[:500])
    return entry


def _line(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"
