"""Decline must not perform the action, nor must anything but an accepted answer that fits."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mcp_bare import elicitation, jsonrpc
from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse, InvalidParams, TransportClosed
from mcp_bare.memory import MemoryTransport
from mcp_bare.stdio import StdioTransport
from tests.elicitation.rows import ASKED, BOOKED, NO, REFUSED, rows
from tests.oracle.servers.toolkit_server import WHEN, build

ROOT = Path(__file__).resolve().parents[2]
AT = "2030-01-31T09:00:00Z"
FORM = {"elicitation": {"form": {}}}
TOOLKIT = ROOT / "tests" / "oracle" / "servers" / "toolkit_server.py"
BY_HAND = ROOT / "toy_servers" / "calendar_by_hand.py"
NAIVE = ROOT / "tests" / "elicitation" / "naive.py"


@dataclass
class Booking:
    """A server that asks when: the tool to call, and how to count what it did."""

    client: Client
    tool: str = "book"

    def outcome(self, responses: Any) -> str:
        """What a retry with these responses leads to, and whether anything was done meanwhile."""
        params: dict[str, Any] = {"name": self.tool, "arguments": {"title": "Dentist"}}
        asked = self.client.request("tools/call", params)
        assert asked["resultType"] == "input_required"
        state = {k: v for k, v in asked.items() if k == "requestState"}
        before = self.done()
        try:
            found = self.past_the_oracle({**params, "inputResponses": responses, **state})
        except TransportClosed:
            return "died"
        except ErrorResponse as refusal:
            outcome = REFUSED if refusal.code == -32602 else f"error {refusal.code}"
        else:
            outcome = ASKED if found["resultType"] == "input_required" else verb(found)
        performed = self.done() - before
        assert performed in (0, 1)
        return outcome if performed == (outcome == BOOKED) else f"{outcome}, but performed it"

    def past_the_oracle(self, params: dict[str, Any]) -> dict[str, Any]:
        """Most rows hold what no client of ours would send."""
        exchange = self.client.exchange
        exchange.send = lambda message: exchange.transport.send(jsonrpc.dumps(message))
        try:
            return self.client.request("tools/call", params)
        finally:
            del exchange.send

    def done(self) -> int:
        if self.tool == "book":
            return int(text(self.client.call_tool("bookings")))
        week = self.client.read_resource("calendar://week", refresh=True)
        return len(json.loads(week["contents"][0]["text"]))


def text(result: dict[str, Any]) -> str:
    return result["content"][0]["text"]


def verb(result: dict[str, Any]) -> str:
    beginning = {"booked": BOOKED, "Created": BOOKED, "not booked": NO, "Nothing was created": NO}
    found = [due for begin, due in beginning.items() if text(result).startswith(begin)]
    return found[0] if found else f"said {text(result)!r}"


def over_stdio(path: Path, tool: str) -> Booking:
    return Booking(Client(StdioTransport([sys.executable, str(path)]), capabilities=FORM), tool)


@pytest.fixture(scope="module", params=["in memory", "over stdio"])
def ours(request: pytest.FixtureRequest) -> Iterator[Booking]:
    if request.param == "in memory":
        booking = Booking(Client(MemoryTransport(build()), capabilities=FORM))
    else:
        booking = over_stdio(TOOLKIT, "book")
    with booking.client:
        yield booking


@pytest.fixture
def by_hand() -> Iterator[Booking]:
    booking = over_stdio(BY_HAND, "create_event")
    with booking.client:
        yield booking


@pytest.fixture
def naive() -> Iterator[Booking]:
    booking = over_stdio(NAIVE, "book")
    with booking.client:
        yield booking


@pytest.mark.parametrize("row", rows("at", AT))
def test_a_server_on_the_toolkit(ours, row):
    responses, due = rows("at", AT)[row]
    assert ours.outcome(responses) == due


@pytest.mark.parametrize("row", rows("startsAt", AT))
def test_the_calendar_by_hand(by_hand, row):
    responses, due = rows("startsAt", AT)[row]
    assert by_hand.outcome(responses) == due


def test_the_calendar_by_hand_asks_by_form_only_where_forms_are_declared(by_hand):
    params = {"name": "create_event", "arguments": {"title": "Dentist"}}
    for declared, may in ((FORM, True), ({"elicitation": {}}, True), ({}, False),
                          ({"elicitation": {"url": {}}}, False)):  # fmt: skip
        by_hand.client.capabilities = declared
        if may:
            asked = by_hand.client.request("tools/call", params)
            assert asked["resultType"] == "input_required"
        else:
            with pytest.raises(ErrorResponse) as caught:
                by_hand.client.request("tools/call", params)
            assert caught.value.code == -32021


SAFE_BY_LUCK = {"accept", "accept, and more than was asked", "no key"}


@pytest.mark.parametrize("row", rows("at", AT))
def test_the_naive_server_fails_this_row(naive, row):
    responses, due = rows("at", AT)[row]
    assert (naive.outcome(responses) == due) == (row in SAFE_BY_LUCK)


# --- the pieces that make it so ---


@pytest.mark.parametrize("row", rows("at", AT))
def test_reading_an_answer(row):
    responses, due = rows("at", AT)[row]
    if due == REFUSED:
        with pytest.raises(InvalidParams, match="accept, decline, cancel"):
            elicitation.read(responses, "when", WHEN)
        return
    answer = elicitation.read(responses, "when", WHEN)
    assert {"accept": BOOKED, "missing": ASKED}.get(answer.action, NO) == due
    assert answer.content == ({"at": AT} if due == BOOKED else {})
    assert bool(answer.problems) == (due == ASKED and "when" in responses)


def test_what_was_not_asked_for_is_left_out():
    answer = elicitation.read({"when": elicitation.accept({"at": AT, "x": 1})}, "when", WHEN)
    assert (answer.action, answer.content) == ("accept", {"at": AT})


OPTIONAL = elicitation.form("Anything else?", {"note": {"type": "string"}})


@pytest.mark.parametrize(
    ("given", "action"),
    [
        ({"action": "accept", "content": {}}, "accept"),  # sent, and nothing filled in
        ({"action": "accept"}, "missing"),  # not sent at all
        ({"action": "accept", "content": None}, "missing"),
    ],
)
def test_a_form_in_which_nothing_is_required_must_still_be_sent(given, action):
    assert elicitation.read({"q": given}, "q", OPTIONAL).action == action


@pytest.mark.parametrize(
    ("given", "action"),
    [
        ({"action": "accept"}, "accept"),
        ({"action": "accept", "content": {"secret": "x"}}, "accept"),
        ({"action": "decline"}, "decline"),
        ({"action": "cancel"}, "cancel"),
    ],
)
def test_a_page_is_agreed_to_without_content(given, action):
    page = elicitation.url("Connect", "https://example.com/connect")
    answer = elicitation.read({"q": given}, "q", page)
    assert (answer.action, answer.content) == (action, {})


def test_the_three_ways_out_are_what_the_wire_has():
    assert elicitation.accept({"a": 0}) == {"action": "accept", "content": {"a": 0}}
    assert elicitation.accept({}) == {"action": "accept", "content": {}}
    assert elicitation.accept() == {"action": "accept"}
    assert elicitation.decline() == {"action": "decline"}
    assert elicitation.cancel() == {"action": "cancel"}
