"""A client and a peer that breaks the rules: only our own errors come out, and at once."""

from __future__ import annotations

import time

import pytest

from mcp_bare import jsonrpc, revision
from mcp_bare.call import Caller
from mcp_bare.client import Client
from mcp_bare.errors import (
    ErrorResponse,
    InputNeeded,
    McpError,
    ProtocolViolation,
    RequestTimeout,
    TransportClosed,
)
from mcp_bare.memory import MemoryTransport
from mcp_bare.server import Server
from tests.oracle.servers.toolkit_server import build
from tests.protocol.asking import ask, error
from tests.protocol.fake import client_of

REF = {"type": "ref/prompt", "name": "p"}
VERBS = {
    "server/discover": lambda c: c.discover(),
    "tools/list": lambda c: c.list_tools(),
    "resources/list": lambda c: c.list_resources(),
    "resources/templates/list": lambda c: c.list_resource_templates(),
    "prompts/list": lambda c: c.list_prompts(),
    "tools/call": lambda c: c.call_tool("t"),
    "resources/read": lambda c: c.read_resource("a://b"),
    "prompts/get": lambda c: c.get_prompt("p"),
    "completion/complete": lambda c: c.complete(REF, "a", ""),
}
SOUND = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {}},
    "tools/list": {"tools": []},
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
    "prompts/list": {"prompts": []},
    "tools/call": {"content": []},
    "resources/read": {"contents": []},
    "prompts/get": {"messages": []},
    "completion/complete": {"completion": {"values": []}},
}


def answered(made, **options) -> Client:
    return client_of(lambda request: made, **options)[0]


@pytest.mark.parametrize("method", VERBS)
def test_an_absent_result_type_means_complete(method):
    """basic/index, "ResultType": servers of earlier versions do not send it."""
    assert VERBS[method](answered(SOUND[method])) is not None
    assert VERBS[method](answered({**SOUND[method], "resultType": "complete"})) is not None


@pytest.mark.parametrize("kind", ["later", "", "Complete", None, 7, [], {}, True])
@pytest.mark.parametrize("method", VERBS)
def test_an_unknown_result_type_is_a_violation(method, kind):
    with pytest.raises(ProtocolViolation, match="resultType"):
        VERBS[method](answered({**SOUND[method], "resultType": kind}))


@pytest.mark.parametrize("bad", ["absent", None, 7, "x", True, [7], ["x"], {}, [None], [[]]])
@pytest.mark.parametrize("method", VERBS)
def test_a_result_without_what_it_must_have_is_a_violation(method, bad):
    for name, sound in SOUND[method].items():
        fits = isinstance(sound, dict) and isinstance(bad, dict)
        if fits or (name == "supportedVersions" and bad == ["x"]):
            continue
        made = {k: v for k, v in SOUND[method].items() if k != name}
        made = made if bad == "absent" else {**made, name: bad}
        with pytest.raises(ProtocolViolation, match=name):
            VERBS[method](answered(made))


@pytest.mark.parametrize("method", [m for m in VERBS if m not in revision.MULTI_ROUND_TRIP])
def test_most_methods_may_not_be_answered_input_required(method):
    with pytest.raises(ProtocolViolation, match="may not"):
        VERBS[method](answered({"resultType": "input_required", "requestState": "x"}))


QUESTION = {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": {}}}


@pytest.mark.parametrize("method", sorted(revision.MULTI_ROUND_TRIP))
@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"inputRequests": {}},
        {"inputRequests": [QUESTION]},
        {"inputRequests": None},
        {"inputRequests": "elicitation/create"},
        {"inputRequests": {"q": None}},
        {"inputRequests": {"q": []}},
        {"inputRequests": {"q": {}}},
        {"inputRequests": {"q": {"method": 7}}},
        {"inputRequests": {"q": {"method": "elicitation/create", "params": []}}},
        {"requestState": None},
        {"requestState": 7},
        {"requestState": {}, "inputRequests": {"q": QUESTION}},
    ],
)
def test_a_malformed_question_is_a_violation(method, extra):
    one = answered({"resultType": "input_required", **extra}, handlers={"elicitation/create": dict})
    with pytest.raises(ProtocolViolation):
        VERBS[method](one)


def test_a_question_that_no_client_knows_has_no_answer():
    made = {"resultType": "input_required", "inputRequests": {"q": {"method": "tasks/new"}}}
    with pytest.raises(InputNeeded, match="tasks/new"):
        answered(made).call_tool("t")


@pytest.mark.parametrize("cursor", [7, True, [], {}, 1.5])
def test_a_cursor_that_is_no_string_is_a_violation_and_not_sent_back(cursor):
    one, peer = client_of(lambda request: {"tools": [], "nextCursor": cursor})
    with pytest.raises(ProtocolViolation, match="nextCursor"):
        one.list_tools()
    assert len(peer.sent) == 1


def test_an_empty_cursor_is_a_cursor_like_any_other():
    """server/utilities/pagination: MUST NOT be treated as the end of results."""

    def script(request):
        cursor = request["params"].get("cursor")
        following = {None: "", "": "again", "again": None}[cursor]
        last = {} if following is None else {"nextCursor": following}
        return {"tools": [{"name": f"after {cursor!r}"}], **last}

    one, peer = client_of(script)
    assert [tool["name"] for tool in one.list_tools()] == [
        "after None",
        "after ''",
        "after 'again'",
    ]
    assert [message["params"].get("cursor") for message in peer.sent] == [None, "", "again"]


def test_a_null_cursor_is_the_end():
    one, peer = client_of(lambda request: {"tools": [], "nextCursor": None})
    assert one.list_tools() == []
    assert len(peer.sent) == 1


def test_pages_without_end_end(monkeypatch):
    monkeypatch.setattr("mcp_bare.client.MAX_PAGES", 50)
    one, peer = client_of(lambda request: {"tools": [], "nextCursor": "again"})
    with pytest.raises(ProtocolViolation, match="pages"):
        one.list_tools()
    assert len(peer.sent) == 50


@pytest.mark.parametrize("size", [1, 2, 3, 100, None])
def test_all_pages_of_a_list_are_fetched(size):
    with Client(MemoryTransport(build(page_size=size))) as one:
        names = [tool["name"] for tool in one.list_tools()]
        assert names[:3] == ["echo", "add", "count"]
        assert len(names) == len(set(names)) == len(build().defined["tools"])
        assert len(one.list_resources()) == 3
        assert len(one.list_resource_templates()) == 1
        assert len(one.list_prompts()) == 2


# --- errors ---


@pytest.mark.parametrize("code", [-32602, -32601, -32603, -32002, -32000, -32022, -32021, 7, 0])
@pytest.mark.parametrize("data", [None, {}, [1], "x", 0])
def test_an_error_keeps_its_code_and_data(code, data):
    def script(request):
        body = {"code": code, "message": "no", "data": data}
        return [{"jsonrpc": "2.0", "id": request["id"], "error": body}]

    one, _ = client_of(script)
    with pytest.raises(ErrorResponse) as caught:
        one.call_tool("t")
    assert (caught.value.code, caught.value.data, caught.value.message) == (code, data, "no")


@pytest.mark.parametrize("id", ["absent", None])
def test_an_error_without_an_id_belongs_to_the_only_request(id):
    head = {"jsonrpc": "2.0"} if id == "absent" else {"jsonrpc": "2.0", "id": None}
    one, _ = client_of(lambda r: [{**head, "error": {"code": -32700, "message": "what?"}}])
    with pytest.raises(ErrorResponse, match="what"):
        one.call_tool("t")


@pytest.mark.parametrize(
    "line",
    [b"", b"hello", b"{}", b"[]", b"null", b"\xff\xfe", b'{"jsonrpc":"2.0"}', b"[" * 5000,
     b'{"jsonrpc":"2.0","id":99,"result":{}}', b'{"jsonrpc":"2.0","method":"x"}',
     b'{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}'],
)  # fmt: skip
def test_what_is_no_answer_is_skipped(line):
    def script(request):
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": {"content": []}}
        return [line, answer, line, answer]

    one, _ = client_of(script)
    for _ in range(2):
        assert one.call_tool("t") == {"content": []}


@pytest.mark.parametrize(
    "answer",
    [{"result": 7}, {"result": None}, {"error": {}}, {}, {"error": "x"},
     {"result": {}, "error": {"code": 1, "message": ""}}],
)  # fmt: skip
def test_an_answer_that_is_no_answer_fails_the_request_at_once(answer):
    one, _ = client_of(lambda r: [{"jsonrpc": "2.0", "id": r["id"], **answer}], timeout=30)
    before = time.monotonic()
    with pytest.raises(McpError):
        one.call_tool("t")
    assert time.monotonic() - before < 5


def test_a_silent_peer_is_a_timeout_and_the_next_call_is_its_own():
    answers = iter([None, {"content": [{"type": "text", "text": "second"}]}])
    one, peer = client_of(lambda request: next(answers), timeout=0.1)
    with pytest.raises(RequestTimeout):
        one.call_tool("t")
    first = peer.sent[0]["id"]
    late = {"jsonrpc": "2.0", "id": first, "result": {"content": []}}
    peer.deliver(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}' % late["id"])
    assert one.call_tool("t")["content"][0]["text"] == "second"
    cancelled = [m for m in peer.sent if m["method"] == "notifications/cancelled"]
    assert [message["params"]["requestId"] for message in cancelled] == [first]


def test_ids_are_matched_by_value_and_type():
    def script(request):
        right = {"jsonrpc": "2.0", "id": request["id"], "result": {"content": ["right"]}}
        return [{**right, "id": str(request["id"]), "result": {"content": ["wrong"]}}, right]

    one, _ = client_of(script)
    assert one.request("x/y")["content"] == ["right"]


def test_the_caller_s_own_dicts_are_left_alone():
    params = {"name": "t", "_meta": {"example.com/a": 1}}
    one, peer = client_of(lambda request: {"content": []})
    one.start("tools/call", params, on_progress=print).result()
    assert params == {"name": "t", "_meta": {"example.com/a": 1}}
    assert peer.sent[0]["params"]["_meta"]["example.com/a"] == 1
    assert peer.sent[0]["params"]["_meta"]["progressToken"] == peer.sent[0]["id"]


# --- progress and subscriptions ---


def test_progress_arrives_while_the_call_runs():
    heard = []
    with Client(MemoryTransport(build())) as one:
        one.call_tool("count", {"to": 3}, on_progress=heard.append)
    assert [note["progress"] for note in heard] == [1, 2, 3]


def test_a_subscription_hears_what_was_agreed_and_nothing_else():
    server, heard = build(), []
    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["memo://one"]}
    with Client(MemoryTransport(server)) as one:
        with one.listen(wanted, heard.append) as stream:
            assert stream.agreed == wanted
            assert not stream.ended
            server.changed("tools")
            server.changed("prompts")
            server.updated("memo://one")
            server.updated("memo://two")
        server.changed("tools")
        assert [message["method"] for message in heard] == [
            "notifications/tools/list_changed",
            "notifications/resources/updated",
        ]
        key = revision.SUBSCRIPTION_ID
        assert {message["params"]["_meta"][key] for message in heard} == {stream.pending.id}


def test_templates_belong_to_the_list_of_resources():
    server, heard = build(), []
    with (
        Client(MemoryTransport(server)) as one,
        one.listen({"resourcesListChanged": True}, heard.append),
    ):
        server.changed("resourceTemplates")
    assert [message["method"] for message in heard] == ["notifications/resources/list_changed"]
    with pytest.raises(KeyError):
        server.changed("tool")


def test_only_what_the_server_offers_is_agreed():

    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["a://b"]}
    with Client(MemoryTransport(Server("bare", "1"))) as one, one.listen(wanted, print) as stream:
        assert stream.agreed == {}


@pytest.mark.parametrize(
    "bad",
    [[], "x", {"toolsListChanged": 1}, {"resourceSubscriptions": "a://b"},
     {"resourceSubscriptions": [7]}, {"toolsListChanged": None}],
)  # fmt: skip
def test_a_refused_subscription_fails_at_once(bad):
    transport = MemoryTransport(build())
    with Client(transport, timeout=30) as one:
        before = time.monotonic()
        one.exchange.send = raw_sender(one)
        with pytest.raises(ErrorResponse) as caught:
            one.listen(bad, print)
        assert time.monotonic() - before < 5
    assert caught.value.code == -32602


def raw_sender(one: Client):
    """Send past the oracle: what goes out here is malformed on purpose."""

    return lambda message: one.exchange.transport.send(jsonrpc.dumps(message))


def test_a_subscription_that_nobody_acknowledges_is_given_up():
    one, peer = client_of(lambda request: None, timeout=0.1)
    with pytest.raises(RequestTimeout, match=r"subscriptions/listen.*0\.1 s"):
        one.listen({"toolsListChanged": True}, print)
    assert peer.sent[-1]["method"] == "notifications/cancelled"


def test_a_subscription_that_ends_before_it_began_is_a_violation():
    one, _ = client_of(lambda request: {}, timeout=30)
    with pytest.raises(ProtocolViolation, match="unacknowledged"):
        one.listen({"toolsListChanged": True}, print)


def acknowledged(request, *more):
    tag = {revision.SUBSCRIPTION_ID: request["id"]}
    ack = {
        "jsonrpc": "2.0",
        "method": revision.ACKNOWLEDGED,
        "params": {"_meta": tag, **dict(more)},
    }
    return [ack]


@pytest.mark.parametrize("agreed", [{}, {"notifications": None}, {"notifications": [1]}])
def test_an_acknowledgement_that_agrees_to_nothing_readable(agreed):
    one, _ = client_of(lambda request: acknowledged(request, *agreed.items()))
    with one.listen({"toolsListChanged": True}, print) as stream:
        assert stream.agreed == {}


def test_a_cancellation_by_the_server_ends_the_subscription():
    """basic/patterns/cancellation: the cancellation is a MUST, the response after it is not."""
    heard = []
    one, peer = client_of(acknowledged)
    with one.listen({"toolsListChanged": True}, heard.append) as stream:
        assert not stream.ended
        peer.deliver(
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}'
            % stream.pending.id
        )
        assert stream.ended
    assert heard == []


def test_the_server_ends_a_subscription_in_good_order():
    server = build()
    with Client(MemoryTransport(server)) as one:
        with one.listen({"toolsListChanged": True}, print) as stream:
            mark = len(one.tape)
            server.subscriptions.close()
            assert stream.ended
            closed, torn = [entry.message for entry in one.tape.since(mark)]
        id = stream.pending.id
        tag = {revision.SUBSCRIPTION_ID: id}
        assert torn["method"] == "notifications/cancelled"
        assert (torn["params"]["requestId"], torn["params"]["_meta"]) == (id, tag)
        assert closed["id"] == id
        assert closed["result"]["_meta"].items() >= tag.items()
        assert stream.pending.result()["resultType"] == "complete"


def test_an_id_may_not_be_listened_to_twice():
    with Client(MemoryTransport(build()), ids=iter([5, 5, 6])) as one:
        one.listen({"toolsListChanged": True}, print)
        with pytest.raises(ValueError, match="in flight"):
            one.listen({"toolsListChanged": True}, print)
    server, heard = build(), []
    caller = Caller(deliver=heard.append)
    wanted = {"notifications": {"toolsListChanged": True}}
    assert ask(server, "subscriptions/listen", wanted, id=5, caller=caller) == []
    (answer,) = ask(server, "subscriptions/listen", wanted, id=5, caller=caller)
    assert answer["error"]["code"] == -32600
    assert ask(server, "subscriptions/listen", wanted, id="5", caller=caller) == []
    server.changed("tools")
    assert len(heard) == 4, "two acknowledgements, two events"


def test_a_stream_that_is_gone_does_not_harm_the_others():
    server, heard, alive = build(), [], []

    def broken(message):
        heard.append(message)
        if len(heard) > 1:
            raise BrokenPipeError

    wanted = {"notifications": {"toolsListChanged": True}}
    ask(server, "subscriptions/listen", wanted, caller=Caller(deliver=broken))
    ask(server, "subscriptions/listen", wanted, caller=Caller(deliver=alive.append))
    for _ in range(3):
        server.changed("tools")
    assert (len(heard), len(alive)) == (2, 4)
    server.subscriptions.close()


def test_a_transport_that_keeps_no_stream_has_no_subscriptions():

    refusal = error(build(), "subscriptions/listen", {"notifications": {}})
    assert refusal["code"] == -32601


def test_a_lost_connection_fails_what_is_in_flight_and_what_follows():
    one, peer = client_of(lambda request: None, timeout=30)
    pending = one.start("tools/list")
    peer.lose(TransportClosed("gone", 3, "last words"))
    with pytest.raises(TransportClosed, match="last words"):
        pending.result()
    with pytest.raises(TransportClosed):
        one.list_tools()
