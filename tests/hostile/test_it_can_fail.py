"""What judges the hostile run is judged: each thing that must not happen is made to happen once."""

import json
import re

import pytest

from mcp_bare import json_schema, jsonrpc
from tests.hostile import in_memory
from tests.hostile.bounds import check_answer, within
from tests.hostile.over_http import check_first
from tests.hostile.over_stdio import check_answers

ASKED = jsonrpc.dumps(jsonrpc.request(1, "tools/list"))
TOLD = jsonrpc.dumps(jsonrpc.notification("notifications/initialized"))
DONE = {"jsonrpc": "2.0", "id": 1, "result": {}}
NAMELESS = {"jsonrpc": "2.0", "error": {"code": -32700, "message": "no"}}

RIGHT = [
    (ASKED, []),
    (ASKED, [DONE]),
    (ASKED + b"\n{", [NAMELESS, DONE]),
    (TOLD, []),
    (b'{"jsonrpc":"2.0","id":1,"method":7}', [{**NAMELESS, "id": 1}]),
]
WRONG = [
    (ASKED, [DONE, DONE]),
    (ASKED, [{**DONE, "id": "1"}]),
    (ASKED, [NAMELESS]),
    (TOLD, [DONE]),
    (TOLD, [NAMELESS]),
    (b"{", [DONE]),
    (b"{", [{**NAMELESS, "error": {"code": -32602, "message": "no"}}]),
    (b"{", [NAMELESS, NAMELESS]),
    (ASKED, [jsonrpc.request(1, "ping")]),
]


@pytest.mark.parametrize(("sent", "came"), RIGHT)
def test_what_is_right_passes(sent, came):
    check_answers(sent, came)


@pytest.mark.parametrize(("sent", "came"), WRONG)
def test_what_is_wrong_does_not(sent, came):
    with pytest.raises(AssertionError):
        check_answers(sent, came)


@pytest.mark.parametrize(
    "error",
    [
        {"code": -1, "message": "no"},
        {"code": -32602, "message": "Traceback (most recent call last)"},
        {"code": -32602, "message": "x" * 9000},
    ],
)
def test_an_error_that_is_not_clean(error):
    with pytest.raises(AssertionError):
        check_answer({"jsonrpc": "2.0", "id": 1, "error": error})


def response(status, body, **headers):
    rows = [f"HTTP/1.1 {status}", *(f"{k}: {v}" for k, v in headers.items())]
    rows += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*rows, "", ""]).encode() + body


@pytest.mark.parametrize(
    "came",
    [
        response("500 Internal Server Error", b"{}"),
        response("200 OK", json.dumps({**DONE, "id": 2}).encode()),
        response("200 OK", json.dumps(DONE).encode(), X="a\x00b"),
        b"Traceback (most recent call last)",
    ],
)
def test_a_response_that_is_not_right(came):
    with pytest.raises((AssertionError, ValueError, IndexError)):
        check_first(came, ASKED)


def test_a_hang_is_found():
    with pytest.raises(AssertionError, match="processor time"), within(0.2):
        while True:
            pass


def test_a_matcher_that_tries_one_way_after_the_other_is_found(monkeypatch):
    """`re` in the place of ours; the alarm breaks into a call that is one step to Python."""
    monkeypatch.setattr(
        json_schema, "found", lambda pattern, text, budget: re.search(pattern, text) is not None
    )
    with pytest.raises(AssertionError, match="processor time"), within(0.5):
        json_schema.problems({"pattern": "^(a+)+$"}, "a" * 40 + "!")


@pytest.mark.parametrize("data", [b'{"a":' * 100_000, b"9" * 5000, b"\xff"])
def test_a_parser_that_lets_python_s_errors_through_is_found(monkeypatch, data):
    """json.loads in the place of ours."""
    in_memory.messages.check(data)
    monkeypatch.setattr(jsonrpc, "loads", json.loads)
    with pytest.raises((RecursionError, ValueError)):
        in_memory.messages.check(data)
