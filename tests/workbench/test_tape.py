"""A tape: what it prints, what it keeps, and what it plays back."""

import json

import pytest

from mcp_bare.arrows import clipped, masked, visible, wrapped
from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse, TransportClosed
from mcp_bare.tape import CAME, NOTE, SENT, Entry, ReplayTransport, Tape, compare


def tape_of(*rows):
    tape = Tape()
    for direction, payload, *remark in rows:
        tape.record(direction, payload, *remark)
    return tape


def line(**message):
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()


# --- what it prints ---


@pytest.mark.parametrize(
    ("entry", "how", "shown"),
    [
        (Entry(SENT, line(id=1, method="tools/list")), {}, "→ tools/list"),
        (Entry(SENT, line(id=1, method="a", params={"_meta": {"x": 1}})), {}, "→ a"),
        (
            Entry(SENT, line(id=1, method="a", params={"_meta": {"x": 1}})),
            {"meta": True, "ids": True},
            '→ [1] a {"_meta":{"x":1}}',
        ),
        (Entry(CAME, line(method="n")), {"ids": True}, "← [·] n"),
        (Entry(CAME, line(id="é", result={"b": "é"})), {"ids": True}, '← [é] {"b":"é"}'),
        (
            Entry(CAME, line(id=1, error={"code": -1, "message": "m"})),
            {},
            '← error {"code":-1,"message":"m"}',
        ),
        (Entry(NOTE, b"", remark="nobody waits"), {}, "! nobody waits"),
        (Entry(NOTE, b"banner", remark="not a message"), {"ids": True}, "! not a message: banner"),
        (Entry(CAME, b"\xff\x1b[31m"), {}, r"! \xff\u001b[31m"),
    ],
)
def test_an_entry_reads_as_in_the_chapters(entry, how, shown):
    assert entry.show(**how) == shown


def test_what_cannot_be_seen_is_written_out_and_stays_json():
    hidden = {"description": "safe\u202e\u200b\x9b31m\u2028 ș 日本 👍"}
    (shown,) = tape_of((CAME, line(id=1, result=hidden))).lines()
    assert shown.isprintable()
    assert "ș 日本 👍" in shown
    assert json.loads(shown.removeprefix("← ")) == hidden


def test_a_mask_hides_a_value_everywhere_the_longest_first():
    names = {"abc": "<short>", "abcdef": "<long>", "": "never"}
    assert masked("abcdef abc", names) == "<long> <short>"
    tape = tape_of((CAME, line(id=1, result={"handle": "abcdef", "_meta": {"h": "abcdef"}})))
    assert "abc" not in "".join(tape.lines(meta=True, mask=names))


@pytest.mark.parametrize("width", [20, 40, 96])
@pytest.mark.parametrize("text", ["", "→ a", "x" * 300, "word " * 60, '{"a":1,"b":[1,2,3]},' * 20])
def test_wrapping_loses_nothing_and_fits(text, width):
    parts = wrapped(text, width)
    assert all(len(part) <= width for part in parts)
    assert "".join(part.strip() for part in parts).replace(" ", "") == text.replace(" ", "")


def test_wrapping_does_not_cut_an_address_where_a_comma_is_near():
    text = '"a":1,"$schema":"http://json-schema.org/draft-07/schema#","type":"object"'
    assert wrapped(text, 50)[0] == '"a":1,'


def test_a_clipped_line_says_how_long_the_message_is():
    assert clipped("short", 10, 99) == "short"
    assert clipped('{"a":1,"b":2,"c":3}', 14, 7697) == '{"a":1,"b":2, … (7,697 bytes)'
    assert clipped("x" * 50, 10, 50) == "x" * 10 + " … (50 bytes)"


def test_the_size_that_is_shown_does_not_depend_on_a_masked_value():
    sizes = {
        entry.size({value: "path"})
        for value in ("/tmp/a", "/home/somebody/else")
        for entry in tape_of((CAME, line(id=1, result={"where": value})))
    }
    assert len(sizes) == 1


def test_the_last_request_and_what_came_after_it():
    tape = tape_of(
        (SENT, line(id=1, method="one")),
        (CAME, line(id=1, result={})),
        (SENT, line(id=2, method="two")),
        (CAME, line(method="note")),
        (SENT, line(method="notifications/cancelled")),
    )
    assert [len(tape.last(count)) for count in (1, 2, 3)] == [3, 5, 5]


# --- what it keeps ---


def test_a_saved_tape_comes_back_byte_for_byte(tmp_path):
    tape = tape_of(
        (SENT, line(id=1, method="tools/list")),
        (CAME, '{"jsonrpc":"2.0","id":1,"result":{"t":"\u2028 \x85 ș"}}'.encode()),
        (NOTE, b"\xff\xfe", "not a message"),
        (NOTE, b"", "nobody waits"),
    )
    tape.about = {"recorded": "2026-11-30"}
    tape.save(tmp_path / "t.jsonl")
    again = Tape.load(tmp_path / "t.jsonl")
    assert again.about == tape.about
    assert [(e.direction, e.payload, e.remark) for e in again] == [
        (e.direction, e.payload, e.remark) for e in tape
    ]
    assert compare(tape, again) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "line 1"),
        ("[]", "line 1"),
        ('{"server": "x"}', "line 1"),
        ('{"tape": 2}', "line 1"),
        ('{"tape": 1}\n\n', "line 2"),
        ('{"tape": 1}\n{"at": 0, "dir": "?", "line": ""}', "direction"),
        ('{"tape": 1}\n{"at": 0, "dir": "→", "hex": "zz"}', "line 2"),
        ('{"tape": 1}\n{"at": 0, "dir": "→", "line": 7}', "line 2"),
        ('{"tape": 1}\n{"at": "now", "dir": "→", "line": "x"}', "line 2"),
        ('{"tape": 1}\n{"at": 0, "dir": "→", "line": "x", "remark": 7}', "remark"),
        ('{"tape": 1}\n' + "[" * 100_000, "line 2"),
    ],
)
def test_what_is_no_tape_is_refused_by_the_line(tmp_path, text, complaint):
    (tmp_path / "t.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=complaint):
        Tape.load(tmp_path / "t.jsonl")


# --- what it plays back ---

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bare-hands", "version": "0.0.1"},
}
LIST = {"method": "tools/list", "params": {"_meta": META}}
EMPTY = {"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private"}


def test_answers_come_back_under_the_ids_of_the_new_requests():
    tape = tape_of(
        (SENT, line(id=1, **LIST)),
        (NOTE, b"", "a listener failed"),
        (CAME, line(id=1, result=EMPTY)),
        (SENT, line(id=2, **LIST)),
        (NOTE, b"a banner", "not a message"),
        (CAME, line(id=2, error={"code": -32601, "message": "no"})),
    )
    with Client(ReplayTransport(tape), ids=iter(["a", "b"])) as client:
        assert client.list_tools() == []
        with pytest.raises(ErrorResponse, match="no"):
            client.list_tools()
    assert compare(tape, client.tape) == ["-! a listener failed"]


def test_another_request_than_the_recorded_one_is_told_apart():
    tape = tape_of((SENT, line(id=1, **LIST)), (CAME, line(id=1, result=EMPTY)))
    other = pytest.raises(TransportClosed, match="the tape has → tools/list; it was asked → p")
    with Client(ReplayTransport(tape)) as client, other:
        client.list_prompts()
    with Client(ReplayTransport(tape)) as client:
        client.list_tools()
        with pytest.raises(TransportClosed, match="the tape has nothing more"):
            client.list_tools()


def test_a_tape_may_hold_two_connections_one_after_another():
    rows = [(SENT, line(id=1, **LIST)), (CAME, line(id=1, result=EMPTY))]
    transport = ReplayTransport(tape_of(*rows, *rows))
    for _ in range(2):
        with Client(transport) as client:
            assert client.list_tools() == []


def test_visible_leaves_ordinary_text_alone():
    assert visible("día șț → 👍") == "día șț → 👍"
