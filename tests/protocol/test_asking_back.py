"""Multi round-trip requests: the server asks, the client answers and sends the call again."""

from __future__ import annotations

import itertools

import pytest

from mcp_bare import elicitation, jsonrpc
from mcp_bare.client import MAX_ROUNDS, Client
from mcp_bare.errors import ErrorResponse, InputNeeded, ProtocolViolation
from mcp_bare.memory import MemoryTransport
from mcp_bare.server import Server
from mcp_bare.tape import SENT
from tests.oracle.servers.toolkit_server import CONFIRM, build
from tests.protocol.asking import ask, call, error

AT = {"at": "2030-01-31T09:00:00Z"}
BOOK = {"name": "book", "arguments": {"title": "Dentist"}}


def client(server: Server, answer=None, **more) -> Client:
    handlers = {} if answer is None else {"elicitation/create": answer}
    return Client(MemoryTransport(server), handlers=handlers, **more)


def sent(one: Client, method: str) -> list[dict]:
    messages = [entry.message for entry in one.tape if entry.direction == SENT]
    return [message for message in messages if message["method"] == method]


def test_the_retry_is_a_new_request_with_the_state_as_it_came():
    asked = []

    def person(params):
        asked.append(params)
        return elicitation.accept(AT)

    with client(build(), person) as one:
        found = one.call_tool("book", {"title": "Dentist"})
        first, second = sent(one, "tools/call")
    assert found["content"][0]["text"] == "booked Dentist at 2030-01-31T09:00:00Z"
    assert asked[0]["message"] == "When?"
    assert first["id"] != second["id"]
    assert "inputResponses" not in first["params"]
    assert "requestState" not in first["params"]
    assert second["params"]["inputResponses"] == {"when": {"action": "accept", "content": AT}}
    for name in ("name", "arguments", "_meta"):
        assert first["params"][name] == second["params"][name]


STATES = ["", " ", "x", "opaque=/+ état", '{"a": 1}', "日本 ✓", "a\nb\t\\\"", "\x00\x1f", "e\u0301",
          "x" * 100_000]  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_the_state_is_echoed_exactly(state):
    server, came = Server("x", "1"), []

    @server.tool({"name": "t", "inputSchema": {"type": "object"}})
    def t(call):
        came.append(call.request_state)
        return "done" if len(came) > 1 else call.ask({}, state)

    with client(server) as one:
        one.call_tool("t")
    assert came == [None, state]


def test_where_there_is_no_state_none_is_sent():
    with client(build(), lambda params: elicitation.accept({"sure": True})) as one:
        one.get_prompt("careful")
        _, retry = sent(one, "prompts/get")
    assert "requestState" not in retry["params"]


def test_the_state_of_one_round_is_not_the_state_of_the_next():
    server, came = Server("x", "1"), []

    @server.tool({"name": "t", "inputSchema": {"type": "object"}})
    def t(call):
        came.append((call.request_state, sorted(call.input_responses)))
        rounds = {1: ({"a": CONFIRM}, "one"), 2: ({"b": CONFIRM}, None), 3: ({}, "three")}
        return call.ask(*rounds[len(came)]) if len(came) in rounds else "done"

    with client(server, lambda params: elicitation.decline()) as one:
        one.call_tool("t")
    assert came == [(None, []), ("one", ["a"]), (None, ["b"]), ("three", [])]


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_no_is_an_answer(action):
    with client(build(), lambda params: {"action": action}) as one:
        found = one.call_tool("book", {"title": "Dentist"})
    assert found["content"][0]["text"] == f"not booked: {action}"
    assert found["isError"] is False


def test_a_resource_may_ask_more_than_once_and_is_not_kept():
    with client(build(), lambda params: elicitation.accept({"sure": True})) as one:
        for _ in range(2):
            assert one.read_resource("memo://guarded")["contents"][0]["text"] == "guarded"
        assert len(sent(one, "resources/read")) == 6, "nothing of it came from the cache"
        for _ in range(2):
            one.read_resource("memo://one")
        assert len(sent(one, "resources/read")) == 7, "what needs no answer is kept"


def test_a_server_that_never_stops_asking_is_left_alone():
    with client(build(), lambda params: elicitation.accept({"sure": True})) as one:
        with pytest.raises(ProtocolViolation, match=f"after {MAX_ROUNDS} rounds"):
            one.call_tool("ask_forever")
        assert len(sent(one, "tools/call")) == MAX_ROUNDS + 1
        assert one.call_tool("echo", {"text": "still here"})["isError"] is False


@pytest.mark.parametrize("rounds", [1, MAX_ROUNDS - 1, MAX_ROUNDS])
def test_the_last_round_counts(rounds):
    server, count = Server("x", "1"), itertools.count(1)

    @server.tool({"name": "t", "inputSchema": {"type": "object"}})
    def t(call):
        return "done" if next(count) > rounds else call.ask({}, "again")

    with client(server) as one:
        assert one.call_tool("t")["content"][0]["text"] == "done"


def test_without_a_handler_the_question_is_handed_over():
    capabilities = {"elicitation": {"form": {}}}
    with client(build(), capabilities=capabilities) as one:
        with pytest.raises(InputNeeded) as caught:
            one.call_tool("book", {"title": "Dentist"})
        asked = caught.value.result
        assert asked["inputRequests"]["when"]["params"]["message"] == "When?"
        found = one.retry("tools/call", BOOK, asked, {"when": elicitation.accept(AT)})
    assert found["content"][0]["text"].startswith("booked Dentist")


def test_no_question_is_answered_unless_all_can_be():
    server, asked = Server("x", "1"), []
    both = {"a": CONFIRM, "b": {"method": "roots/list", "params": {}}}
    server.tool({"name": "t", "inputSchema": {"type": "object"}})(lambda call: call.ask(both))
    capabilities = {"elicitation": {}, "roots": {}}
    one = client(server, asked.append, capabilities=capabilities)
    with one, pytest.raises(InputNeeded, match="roots/list"):
        one.call_tool("t")
    assert asked == []


def test_the_handlers_are_what_the_client_declares():
    with client(build(), lambda params: {"action": "cancel"}) as one:
        assert one.capabilities == {"elicitation": {"form": {}}}
    with client(build()) as one:
        assert one.capabilities == {}
        with pytest.raises(ErrorResponse) as caught:
            one.call_tool("book", {"title": "Dentist"})
    assert caught.value.code == -32021


def test_two_calls_in_flight_keep_their_states_apart():
    server = build()
    with client(server, capabilities={"elicitation": {}}) as one:
        with pytest.raises(InputNeeded) as dentist:
            one.call_tool("book", {"title": "Dentist"})
        with pytest.raises(InputNeeded) as tea:
            one.call_tool("book", {"title": "Tea"})
        first, second = dentist.value.result, tea.value.result
        answers = {"when": elicitation.accept(AT)}
        with pytest.raises(ErrorResponse) as refused:
            one.retry("tools/call", BOOK, second, answers)
        assert refused.value.code == -32602
        assert "booked Dentist" in str(one.retry("tools/call", BOOK, first, answers))


# --- the server's half ---


def test_the_server_remembers_nothing_between_two_rounds():
    """basic/index, "Statelessness": a fresh process finishes what another began."""
    asked = ask(build(), "tools/call", BOOK)[0]["result"]
    again = {
        "inputResponses": {"when": elicitation.accept(AT)},
        "requestState": asked["requestState"],
    }
    found = call(build(), "book", {"title": "Dentist"}, **again)
    assert found["content"][0]["text"].startswith("booked Dentist")


def test_what_is_missing_is_asked_again():
    """basic/patterns/mrtr, "Error Handling": a new InputRequiredResult rather than an error."""
    for responses in ({}, {"other": elicitation.accept(AT)}, {"when": elicitation.accept({})}):
        found = call(build(), "book", {"title": "Dentist"}, inputResponses=responses)
        assert found["resultType"] == "input_required"
        assert list(found["inputRequests"]) == ["when"]


def test_what_is_not_needed_is_ignored():
    asked = ask(build(), "tools/call", BOOK)[0]["result"]
    answers = {"when": elicitation.accept({**AT, "colour": "red"}), "other": {"anything": 1}}
    found = call(
        build(),
        "book",
        {"title": "Dentist"},
        inputResponses={**answers, "other": elicitation.cancel()},
        requestState=asked["requestState"],
    )
    assert "booked" in found["content"][0]["text"]


@pytest.mark.parametrize(
    "made",
    [
        {"resultType": "input_required"},
        {"resultType": "input_required", "inputRequests": {}},
        {"resultType": "input_required", "requestState": 7},
        {"resultType": "input_required", "inputRequests": {"q": {"method": "ping"}}},
        {"resultType": "input_required", "inputRequests": {"q": {"method": "elicitation/create"}}},
        {"resultType": "input_required", "inputRequests": [1]},
    ],
)
def test_a_malformed_question_of_our_own_is_an_internal_error(made, capsys):
    server = Server("x", "1")
    server.tool({"name": "t", "inputSchema": {"type": "object"}})(lambda call: made)
    assert error(server, "tools/call", {"name": "t"})["code"] == -32603


def test_an_answer_needs_no_state_and_a_state_no_answer():
    server = Server("x", "1")

    @server.tool({"name": "t", "inputSchema": {"type": "object"}})
    def t(call):
        return f"{call.request_state} {sorted(call.input_responses)}"

    assert call(server, "t", requestState="s")["content"][0]["text"] == "s []"
    answers = {"a": elicitation.cancel()}
    assert call(server, "t", inputResponses=answers)["content"][0]["text"] == "None ['a']"
    assert jsonrpc.dumps(answers) == b'{"a":{"action":"cancel"}}'
