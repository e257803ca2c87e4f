"""Our client and a server on the official Python SDK: each message is parsed and told apart."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_types import jsonrpc as official

from mcp_bare import elicitation, era, jsonrpc, legacy, revision
from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse, InputNeeded, ProtocolViolation, RequestTimeout
from mcp_bare.stdio import StdioTransport
from mcp_bare.tape import CAME, NOTE, SENT

COMMAND = [sys.executable, str(Path(__file__).parent / "servers" / "sdk_server.py")]
BOTH = {"elicitation": {"form": {}, "url": {}}}
AT = "2030-01-31T09:00:00Z"


def person(params: dict) -> dict:
    """Fills in every form from its fields and its defaults, as a person in a hurry would."""
    if params.get("mode") == "url":
        return elicitation.accept()
    content = elicitation.defaults(params["requestedSchema"])
    typed = {"at": AT, "title": "Tea", "name": "Ada"}
    for field in elicitation.fields(params["requestedSchema"]):
        if field.required:
            content[field.name] = typed.get(field.name) or field.choices[0][0]
    assert elicitation.answer_problems(params["requestedSchema"], content) == []
    return elicitation.accept(content)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    one, verdict = era.connect(
        lambda: StdioTransport(COMMAND),
        handlers={"elicitation/create": person},
        capabilities=BOTH,
        timeout=20,
        probe_timeout=20,
    )
    assert (verdict.era, verdict.version) == ("modern", "2026-07-28")
    with one:
        yield one


@pytest.fixture(autouse=True)
def told_apart(client: Client) -> Iterator[None]:
    """After each test: what came was understood as the official types understand it."""
    mark = len(client.tape)
    yield
    for entry in client.tape.since(mark):
        assert entry.direction != NOTE, entry.show()
        if entry.direction != CAME:
            continue
        message = jsonrpc.parse(entry.payload)
        theirs = official.jsonrpc_message_adapter.validate_json(entry.payload)
        assert KINDS[type(theirs)] == jsonrpc.kind(message)
        assert theirs.model_dump(by_alias=True, exclude_unset=True) == message


KINDS = {
    official.JSONRPCRequest: "request",
    official.JSONRPCNotification: "notification",
    official.JSONRPCResponse: "result",
    official.JSONRPCError: "error",
}


def names(items: list[dict]) -> list[str]:
    return [item["name"] for item in items]


def said(result: dict) -> str:
    return result["content"][0]["text"]


def test_discovery(client):
    found = client.discover()
    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["instructions"] == "Ask away."
    assert found["capabilities"]["tools"] == {"listChanged": True}
    assert found["_meta"][revision.SERVER_INFO] == {"name": "on the SDK", "version": "2.3.0"}


def test_lists(client):
    assert names(client.list_tools())[:4] == ["book", "ask_twice", "add", "fail"]
    assert names(client.list_resources()) == ["one", "some_bytes"]
    assert names(client.list_resource_templates()) == ["of_a_day"]
    assert names(client.list_prompts()) == ["greet"]


def test_calls(client):
    found = client.call_tool("add", {"a": 2, "b": 3})
    assert (said(found), found["structuredContent"], found["isError"]) == (
        "5",
        {"result": 5},
        False,
    )
    for name, arguments in (("add", {"a": "x"}), ("fail", {"how": "hunter2"})):
        found = client.call_tool(name, arguments)
        assert found["isError"] is True
        assert "hunter2" not in said(found)


def test_reads(client):
    (text,) = client.read_resource("memo://one")["contents"]
    assert (text["text"], text["mimeType"]) == ("the first memo ✓", "text/plain")
    (blob,) = client.read_resource("memo://bytes")["contents"]
    assert blob["blob"] == "iVBORw=="
    (day,) = client.read_resource("memo://of/caf%C3%A9")["contents"]
    assert day["text"] == "memo of café"


def test_prompts_and_completion(client):
    (message,) = client.get_prompt("greet", {"who": "Ada"})["messages"]
    assert message == {"role": "user", "content": {"type": "text", "text": "Say hello to Ada."}}
    ref = {"type": "ref/prompt", "name": "greet"}
    assert client.complete(ref, "who", "Al", {"tone": "warm"})["values"] == ["Alan"]


def test_every_field_that_the_sdk_makes_of_a_type_is_a_legal_field(client):
    assert said(client.call_tool("book", {"title": "x"})) == (
        "booked Tea at 2030-01-31T09:00:00+00:00 in red"
    )
    asked = next(
        entry.message["result"]["inputRequests"]
        for entry in client.tape
        if entry.direction == CAME and b"inputRequests" in entry.payload
    )
    (request,) = asked.values()
    drawn = elicitation.fields(request["params"]["requestedSchema"])
    assert [(f.name, f.kind, f.label, f.required, f.has_default, f.default) for f in drawn] == [
        ("title", "text", "What", True, False, None),
        ("at", "text", "At", True, False, None),
        ("day", "text", "Day", False, False, None),
        ("guests", "integer", "Guests", False, True, 0),
        ("price", "number", "Price", False, True, 0.0),
        ("remind", "boolean", "Remind", False, True, False),
        ("note", "text", "Note", False, True, ""),
        ("room", "choice", "Room", False, True, "red"),
    ]


def test_asked_twice_with_a_state_of_theirs(client):
    mark = len(client.tape)
    assert said(client.call_tool("ask_twice")) == "asked page of Ada: accept"
    messages = [entry.message for entry in client.tape.since(mark)]
    states = [m["result"].get("requestState") for m in messages if "result" in m]
    echoed = [m["params"].get("requestState") for m in messages if "method" in m]
    assert (echoed, states) == ([None, *states[:2]], [*states[:2], None])
    assert len({m["id"] for m in messages}) == 3


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_no_reaches_them(client, action, monkeypatch):
    monkeypatch.setitem(client.handlers, "elicitation/create", lambda params: {"action": action})
    assert client.call_tool("book", {"title": "x"})["isError"] is True


def test_their_state_is_refused_when_tampered_with(client, monkeypatch):
    monkeypatch.setattr(client, "handlers", {})
    with pytest.raises(InputNeeded) as caught:
        client.call_tool("ask_twice")
    asked = dict(caught.value.result)
    asked["requestState"] = asked["requestState"][:-1] + "-"
    answers = {"who": elicitation.accept({"name": "Eve"})}
    with pytest.raises(ErrorResponse) as refused:
        client.retry("tools/call", {"name": "ask_twice"}, asked, answers)
    assert refused.value.code == -32602


def test_progress_and_logs(client):
    heard = []
    assert said(client.call_tool("count", {"to": 3}, on_progress=heard.append)) == "counted"
    assert [(note["progress"], note["total"], note["message"]) for note in heard] == [
        (n, 3, f"step {n}") for n in (1, 2, 3)
    ]


def test_a_call_that_takes_too_long_is_cancelled_and_they_stop(client):
    heard = []
    with pytest.raises(RequestTimeout):
        client.call_tool("wait", timeout=1.0, on_progress=heard.append)
    assert heard, "it had begun"
    assert said(client.call_tool("add", {"a": 1, "b": 1})) == "2"
    mark = len(client.tape)
    time.sleep(0.2)
    assert [e.show() for e in client.tape.since(mark)] == [], "nothing comes after a cancellation"


def test_subscriptions(client):
    heard = []
    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["memo://one"]}
    with client.listen(wanted, heard.append) as stream:
        assert stream.agreed == wanted
        client.call_tool("change")
        deadline = time.monotonic() + 10
        while len(heard) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not stream.ended
    assert [message["method"] for message in heard] == [
        "notifications/tools/list_changed",
        "notifications/resources/updated",
    ]
    assert "newcomer" in names(client.list_tools(refresh=True))


def test_several_calls_in_flight(client):
    first = client.start("tools/call", {"name": "wait"})
    others = [client.start("tools/call", add(n)) for n in range(5)]
    assert [said(pending.result(10)) for pending in others] == ["0", "2", "4", "6", "8"]
    assert not first.done()
    first.cancel()


def add(n: int) -> dict:
    return {"name": "add", "arguments": {"a": n, "b": n}}


REFUSED = [
    # what we send, their code, their data
    ("no/such/method", {}, -32601, "no/such/method"),
    ("resources/read", {"uri": "memo://nobody"}, -32602, {"uri": "memo://nobody"}),
    ("prompts/get", {"name": "nobody"}, -32603, None),  # the specification has -32602
]


@pytest.mark.parametrize(("method", "params", "code", "data"), REFUSED)
def test_their_refusals(client, method, params, code, data):
    with pytest.raises(ErrorResponse) as caught:
        client.request(method, params)
    assert (caught.value.code, caught.value.data) == (code, data)


def test_their_modern_refusals_are_recognised():
    with Client(StdioTransport(COMMAND), version="1900-01-01", timeout=20) as one:
        one.version = revision.CURRENT  # so that `message` knows how to say it
        asked = one.message("tools/list", {"_meta": {revision.PROTOCOL_VERSION: "1900-01-01"}})
        with pytest.raises(ErrorResponse) as caught:
            one.exchange.start(asked).result()
        assert caught.value.code == -32022
        assert caught.value.data["requested"] == "1900-01-01"
        assert "2026-07-28" in caught.value.data["supported"]
        verdict = era.judge(caught.value)
        assert (verdict.era, verdict.version) == ("modern", "2026-07-28")
        with pytest.raises(ErrorResponse) as caught:
            one.call_tool("book", {"title": "x"})
        assert caught.value.code == -32021
        assert caught.value.data == {"requiredCapabilities": {"elicitation": {"form": {}}}}


# --- the same server in its legacy era ---


@pytest.fixture
def old() -> Iterator[Client]:
    handlers = {"elicitation/create": person}
    version = revision.LEGACY[0]
    with Client(StdioTransport(COMMAND), handlers=handlers, version=version, timeout=20) as one:
        one.exchange.on_request = lambda message: legacy.answer(message, handlers)
        opened = legacy.handshake(
            one.exchange, one.next_id(), one.capabilities, one.client_info, revision.CURRENT
        )
        assert opened["protocolVersion"] == version, "asked for the new one, they answer the old"
        yield one


def test_the_legacy_era(old):
    assert names(old.list_tools())[:2] == ["book", "ask_twice"]
    assert said(old.call_tool("add", {"a": 2, "b": 3})) == "5"
    assert said(old.call_tool("elicit")) == "accept: red"
    with pytest.raises(ErrorResponse):
        old.call_tool("ask_twice")  # cannot be said in that era
    sent = [entry.message for entry in old.tape if entry.direction == SENT]
    assert not any(revision.PROTOCOL_VERSION in m.get("params", {}).get("_meta", {}) for m in sent)
    came = [entry.message for entry in old.tape if entry.direction == CAME]
    assert "elicitation/create" in [m.get("method") for m in came if jsonrpc.kind(m) == "request"]
    assert not any("resultType" in m.get("result", {}) for m in came)


def test_a_legacy_version_that_nobody_knows_is_a_violation(old):
    with pytest.raises(ProtocolViolation, match="protocolVersion"):
        legacy.handshake(Liar(), 1, {}, {"name": "x", "version": "1"})


class Liar:
    """An exchange whose server answers with a version from the future."""

    def start(self, message, listener=None):
        return self

    def result(self, timeout=None):
        return {"protocolVersion": "2099-01-01"}

    def close(self):
        """Nothing to close."""
