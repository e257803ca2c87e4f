"""Server-Sent Events by the WHATWG rules: bytes in any pieces, and the events that they are.

Each row is fed whole, byte by byte, and cut at every place. The naive parser fails on all but those
that say so.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_bare.errors import ProtocolViolation
from mcp_bare.sse import KEEP_ALIVE, Event, EventParser, write_event
from tests.http import naive
from tests.protocol.asking import examples


@dataclass(frozen=True)
class Row:
    """A stream, its events, and whether a naive parser gets them right too."""

    why: str
    stream: bytes
    events: list[Event]
    naive: bool = False


E = Event
TABLE = [
    Row("a byte order mark", b"\xef\xbb\xbfdata: a\n\n", [E(b"a")]),
    Row("one only at the start", b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [E(b"a")], naive=True),
    Row("no space after the colon", b"data:a\n\n", [E(b"a")]),
    Row("one space goes, two are data", b"data:  a\n\n", [E(b" a")], naive=True),
    Row("several data lines", b"data: a\ndata: b\n\n", [E(b"a\nb")]),
    Row("an empty line within", b"data: a\ndata:\ndata: b\n\n", [E(b"a\n\nb")]),
    Row("a field without a colon", b"data\ndata: b\n\n", [E(b"\nb")]),
    Row("CR LF", b"data: a\r\n\r\ndata: b\r\n\r\n", [E(b"a"), E(b"b")]),
    Row("CR", b"data: a\r\rdata: b\r\r", [E(b"a"), E(b"b")]),
    Row("all three", b"data: a\r\n\ndata: b\n\rdata: c\r\r", [E(b"a"), E(b"b"), E(b"c")]),
    Row("LF CR is two ends", b"data: a\n\rdata: b\n\n", [E(b"a"), E(b"b")]),
    Row("an empty event", b"data:\n\n", [E(b"")]),
    Row("a name that only begins alike", b"data: a\ndatax: b\nDATA: c\n\n", [E(b"a")], naive=True),
    Row("comments", b": hello\n\n:\ndata:a\n:data: b\n\n", [E(b"a")]),
    Row("no data, no event", b"event: x\nid: 1\n\ndata:a\n\n", [E(b"a", id="1")]),
    Row("a type of its own", b"event: ping\ndata:a\n\ndata:b\n\n", [E(b"a", "ping"), E(b"b")]),
    Row("an id is kept", b"id: 7\ndata:a\n\ndata:b\n\n", [E(b"a", id="7"), E(b"b", id="7")]),
    Row("until it is unset", b"id: 7\ndata:a\n\nid\ndata:b\n\n", [E(b"a", id="7"), E(b"b")]),
    Row("never with a NUL", b"id: 7\nid: \0\ndata:a\n\n", [E(b"a", id="7")]),
    Row("a half event at the end", b"data: a\n\ndata: b\n", [E(b"a")], naive=True),
    Row("and one within a line", b"data: a\n\ndata: b", [E(b"a")], naive=True),
    Row("colons in data", b"data:a:b: c\n\n", [E(b"a:b: c")]),
    Row("NUL, tab and form feed are data", b"data:\0\t\x0c\x85\n\n", [E(b"\0\t\x0c\x85")]),
]
SPLIT = "data: é✓\n\n".encode()


def fed(chunks: list[bytes]) -> list[Event]:
    parser = EventParser()
    return [event for chunk in chunks for event in parser.feed(chunk)]


def bytewise(stream: bytes) -> list[bytes]:
    return [stream[n : n + 1] for n in range(len(stream))]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.why)
def test_row(row):
    assert fed([row.stream]) == row.events
    assert fed(bytewise(row.stream)) == row.events
    for cut in range(len(row.stream)):
        assert fed([row.stream[:cut], b"", row.stream[cut:]]) == row.events


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.why)
def test_where_a_naive_parser_fails(row):
    try:
        found = [Event(text.encode()) for text in naive.events([row.stream])]
    except UnicodeDecodeError:
        found = None
    assert (found == row.events) == row.naive


def test_a_character_cut_in_half():
    assert fed(bytewise(SPLIT)) == [Event("é✓".encode())]
    with pytest.raises(UnicodeDecodeError):
        naive.events(bytewise(SPLIT))


def test_an_event_comes_as_soon_as_it_is_whole():
    """Not one byte later: a parser that waits to see what follows a CR holds the answer back."""
    for stream in (b"data: a\n\n", b"data: a\r\r", b"data: a\r\n\r"):
        parser = EventParser()
        assert [parser.feed(byte) for byte in bytewise(stream)][-1] == [Event(b"a")]
    assert parser.feed(b"\n") == [], "the LF of the CR before it"
    assert naive.events([b"data: a\r\r"]) == []


def test_what_is_unfinished_is_known():
    parser = EventParser()
    assert not parser.unfinished
    parser.feed(b"data: a")
    assert parser.unfinished
    parser.feed(b"\n")
    assert parser.unfinished
    parser.feed(b"\n")
    assert not parser.unfinished


@pytest.mark.parametrize(
    ("given", "kept"),
    [(b"3000", 3000), (b"0", 0), (b"-1", None), (b"1.5", None), (b"", None), (b"9" * 5000, None)],
)
def test_retry(given, kept):
    parser = EventParser()
    parser.feed(b"retry: " + given + b"\n\n")
    assert parser.retry == kept


@pytest.mark.parametrize(
    "stream",
    [b"data: " + b"x" * 200, b"data: x\n" * 30, b": " + b"x" * 200, b"event: x\n" * 30],
    ids=["a line without end", "an event without end", "a comment without end", "no data at all"],
)
def test_an_event_is_bounded(stream):
    parser = EventParser(limit=100)
    with pytest.raises(ProtocolViolation, match="100 bytes"):
        parser.feed(stream)


def test_a_long_life_is_not_bounded():
    parser = EventParser(limit=100)
    for _ in range(50):
        assert parser.feed(b": nothing\n\ndata: 0123456789\n\n") == [Event(b"0123456789")]


# --- writing ---


@pytest.mark.parametrize(
    ("written", "stream"),
    [
        (write_event(b'{"a":1}'), b'data: {"a":1}\n\n'),
        (write_event(b"a\nb\r\nc\rd"), b"data: a\ndata: b\ndata: c\ndata: d\n\n"),
        (write_event(b""), b"data: \n\n"),
        (write_event(b"a", type="x", id="", retry=5), b"event: x\nid: \nretry: 5\ndata: a\n\n"),
        (KEEP_ALIVE, b": keep-alive\n\n"),
    ],
)
def test_what_is_written(written, stream):
    assert written == stream


@pytest.mark.parametrize("how", [{"type": "a\nb"}, {"id": "a\rb"}, {"id": "\0"}])
def test_nothing_breaks_out_of_its_line(how):
    with pytest.raises(ValueError, match="one line"):
        write_event(b"x", **how)


TEXT = st.text(st.characters(blacklist_characters="\r\n\0", blacklist_categories=("Cs",)))
EVENTS = st.lists(st.tuples(st.binary(), TEXT, st.none() | TEXT), max_size=4)


@examples(300)
@given(EVENTS, st.randoms(use_true_random=False))
def test_what_is_written_is_read_however_it_is_cut(given_events, chance):
    stream, expected, last = b"", [], ""
    for data, type, id in given_events:
        stream += chance.choice([b"", KEEP_ALIVE]) + write_event(data, type=type, id=id)
        last = last if id is None else id
        plain = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        expected.append(Event(plain, type or "message", last))
    chunks = []
    while stream:
        size = chance.randint(1, len(stream))
        chunks.append(stream[:size])
        stream = stream[size:]
    assert fed(chunks) == expected


@examples(500)
@given(st.lists(st.binary(max_size=30) | st.sampled_from([b"data: ", b"\r", b"\n", b"id:", b":"])))
def test_any_bytes_are_read_without_harm_and_alike_in_any_pieces(chunks):
    assert fed(chunks) == fed([b"".join(chunks)]) == fed(bytewise(b"".join(chunks)))
