"""The small parts that single notebooks lean on: timeline, dating exercise, budget, glossary."""

import pytest

from mcp_bare import jsonrpc, revision
from mcp_bare.tape import CAME, SENT, Tape
from workbench import budget, dating
from workbench.glossary import GLOSSARY
from workbench.timeline import lanes, timeline


def tape_of(*messages):
    tape = Tape()
    for direction, message in messages:
        tape.record(direction, jsonrpc.dumps(message))
    return tape


CALL = (SENT, jsonrpc.request(1, "tools/call", {"name": "count"}))
PROGRESS = (CAME, jsonrpc.notification(revision.PROGRESS, {"progressToken": 1, "progress": 1}))
DONE = (CAME, jsonrpc.result(1, {"resultType": "complete"}))
FAILED = (CAME, {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}})
STOP = (SENT, jsonrpc.notification(revision.CANCELLED, {"requestId": 1}))
LISTEN = (SENT, jsonrpc.request(2, revision.LISTEN, {"notifications": {"toolsListChanged": True}}))
NEWS = (CAME, jsonrpc.notification("x", {"_meta": {revision.SUBSCRIPTION_ID: 2}}))


@pytest.mark.parametrize(
    ("messages", "how", "end", "notes"),
    [
        ([CALL, DONE], "done", 1, []),
        ([CALL, PROGRESS, DONE], "done", 2, [1]),
        ([CALL, FAILED], "failed", 1, []),
        ([CALL, PROGRESS, STOP, DONE], "cancelled", 2, [1]),
        ([CALL, PROGRESS], "open", None, [1]),
        ([LISTEN, NEWS, NEWS], "open", None, [1, 2]),
    ],
)
def test_a_lane_for_each_request(messages, how, end, notes):
    [lane] = lanes(tape_of(*messages))
    assert (lane.how, lane.end, lane.notes) == (how, end, notes)


def test_a_timeline_is_the_same_bytes_twice_and_says_what_it_shows():
    tape = tape_of(CALL, PROGRESS, DONE)
    one, other = timeline(tape), timeline(tape)
    assert one.png == other.png
    assert repr(one) == "tools/call count: opened at message 0, 1 notifications, done at message 2"


@pytest.mark.parametrize("name", dating.SNIPPETS)
def test_every_snippet_has_a_span_and_its_answer_is_not_in_what_is_printed(name, capsys):
    due = dating.span(dating.SNIPPETS[name])
    assert due
    dating.check({name: ("1999-01-01", "1999-01-01")})
    told = capsys.readouterr().out
    assert f"{name}: the first revision is another one" in told
    assert not any(date in told for date in (*revision.MODERN, *revision.LEGACY))
    dating.check({name: (due[0], due[-1])})
    assert f"{name}: right." in capsys.readouterr().out


def test_one_answer_does_not_fit_most_snippets():
    spans = {dating.span(snippet) for snippet in dating.SNIPPETS.values()}
    assert len(spans) >= 4


@pytest.mark.parametrize(
    ("servers", "window", "says"),
    [
        (5, 128_000, "5 servers of 1,619 tokens: 8,095 of 128,000, 6.3 %"),
        (60, 32_000, "they do not fit"),
        (0, 32_000, "0.0 %"),
    ],
)
def test_the_budget_says_in_words_what_it_draws(servers, window, says):
    assert says in budget.words(servers, 1619, window)
    assert says in budget.bar(servers, 1619, window)


def test_the_budget_follows_slider_and_window():
    box = budget.budget(1619, servers=5, window=128_000)
    slider, choice, picture = box.children
    slider.value = 10
    assert "16,190 of 128,000" in picture.value
    choice.value = 32_000
    assert "16,190 of 32,000" in picture.value


def test_the_glossary_has_each_word_once_in_both_languages():
    assert len({english for english, _, _ in GLOSSARY}) == len(GLOSSARY)
    assert all(all(part.strip() for part in row) for row in GLOSSARY)
