"""The view: everything from the wire is escaped, `_meta` and bytes are one click away."""

import gc
import json
import weakref
from html.parser import HTMLParser

import pytest

from mcp_bare.tape import CAME, NOTE, SENT, Tape
from workbench import servers
from workbench.tape_view import WIDTH, raw, show

EVIL = '<script>alert(1)</script> <img src=x onerror="alert(1)"> & \u202e \x1b[31m'
PLAIN_TAGS = {"div", "span", "b", "nobr", "details", "summary", "pre"}


def line(**message):
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()


@pytest.fixture
def tape():
    made = Tape()
    made.record(SENT, line(id=1, method="tools/call", params={"name": "x", "_meta": {"k": "v"}}))
    made.record(CAME, line(id=1, result={"content": [], "isError": True, "_meta": {"s": 1}}))
    made.record(CAME, line(id=2, error={"code": -32601, "message": EVIL}))
    made.record(CAME, line(id=3, result={"tools": [{"name": EVIL, "description": EVIL}]}))
    made.record(CAME, line(method=EVIL, params={"_meta": {EVIL: EVIL}}))
    made.record(NOTE, EVIL.encode() + b"\xff", "not a message")
    made.record(NOTE, b"", "nobody waits for the answer with id 4")
    return made


class Seen(HTMLParser):
    """The tags of a page, and its text inside and outside <details>."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.styles, self.open, self.shown, self.folded = [], [], [], "", ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open.append(tag)
        self.styles += [value for name, value in attrs if name == "style"]
        assert {name for name, _ in attrs} <= {"style", "title"}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "details" in self.open:
            self.folded += data
        else:
            self.shown += data


@pytest.mark.parametrize("how", [{}, {"meta": True, "ids": True}, {"clip": 40}, {"clip": None}])
def test_nothing_from_the_wire_becomes_html(tape, how):
    seen = Seen(show(tape, **how).html)
    assert set(seen.tags) == PLAIN_TAGS or set(seen.tags) == PLAIN_TAGS - {"nobr"}
    assert seen.open == []
    assert "\u202e" not in seen.shown + seen.folded
    assert "\x1b" not in seen.shown + seen.folded


def test_meta_and_the_exact_line_are_folded(tape):
    seen = Seen(show(tape).html)
    assert "_meta" not in seen.shown
    assert '"_meta": {\n  "k": "v"\n}' in seen.folded
    for entry in list(tape)[:2]:
        assert entry.payload.decode() in seen.folded
    assert seen.tags.count("details") == 6, "all but the remark without bytes"


def test_meta_and_ids_are_written_out_when_asked_for(tape):
    seen = Seen(show(tape, meta=True, ids=True).html)
    assert '[1] tools/call {"name":"x","_meta":{"k":"v"}}' in seen.shown


def test_the_text_is_what_the_tape_prints(tape):
    assert repr(show(tape)) == "\n".join(tape.lines(width=WIDTH))
    assert max(map(len, repr(show(tape)).split("\n"))) <= WIDTH


def test_errors_stand_out_by_name_and_not_by_colour_alone(tape):
    seen = Seen(show(tape).html).shown
    assert "error MethodNotFound" in seen
    assert "the tool failed" in seen


def test_a_mask_reaches_every_corner():
    tape = Tape()
    secret = "cal_Zq8-x_9"
    sent = {"handle": secret, "_meta": {secret: secret}}
    tape.record(SENT, line(id=1, method="tools/call", params=sent))
    tape.record(NOTE, secret.encode(), f"about {secret}")
    view = show(tape, mask={secret: "cal_1"}, meta=True)
    assert secret not in view.text + view.html
    assert "cal_1" in view.text
    assert "cal_1" in view.html


def test_a_long_message_is_cut_and_whole_below_the_fold(capsys):
    tape = Tape()
    tape.record(CAME, line(id=1, result={"tools": [{"name": f"tool {n}"} for n in range(400)]}))
    view, (entry,) = show(tape, clip=200), tape
    seen = Seen(view.html)
    assert len(seen.shown) < 300
    assert f"… ({len(entry.payload):,} bytes)" in seen.shown
    assert f"… ({len(entry.payload):,} bytes)" in view.text
    assert entry.payload.decode() in seen.folded
    raw(tape, clip=200)
    assert len(capsys.readouterr().out) < 300


def test_a_date_is_not_broken_in_two():
    tape = Tape()
    tape.record(CAME, line(id=1, result={"startsAt": "2026-09-10T08:30:00Z", "v": "2026-07-28"}))
    html = show(tape).html
    assert "<nobr>2026-09-10T08:30:00Z</nobr>" in html
    assert "<nobr>2026-07-28</nobr>" in html


def test_raw_prints_the_lines_and_nothing_else(tape, capsys):
    raw(tape.since(0))
    printed = capsys.readouterr().out
    assert '→ {"jsonrpc":"2.0","id":1,"method":"tools/call"' in printed
    assert "! nobody waits" in printed
    assert "\x1b" not in printed
    assert max(map(len, printed.split("\n"))) <= WIDTH


def test_two_runs_show_the_same():
    views = []
    for _ in range(2):
        with servers.open_toy("calendar_by_hand") as client:
            client.discover()
            client.call_tool("create_event", {"title": "A", "startsAt": "2026-09-10T08:30:00Z"})
            views.append(show(client, meta=True, ids=True))
    assert views[0] == views[1]


def test_last_shows_the_last_request():
    with servers.open_toy("calendar_by_hand") as client:
        client.discover()
        client.list_tools()
        assert repr(show(client, last=1)).startswith("→ tools/list\n←")


def test_a_view_keeps_no_client_alive():
    client = servers.open_toy("calendar_by_hand")
    client.list_tools()
    view, alive = show(client), weakref.ref(client)
    del client
    gc.collect()
    assert alive() is None
    assert "tools/list" in view.text
