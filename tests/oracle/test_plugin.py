"""The oracle itself: it lets through what is right, and it does not sleep."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mcp_bare import elicitation, era, jsonrpc, revision
from mcp_bare.client import Client
from mcp_bare.memory import MemoryTransport
from mcp_bare.server import Server
from mcp_bare.stdio import StdioTransport
from tests.oracle import plugin
from tests.oracle.plugin import Refused
from tests.oracle.servers.toolkit_server import build
from tests.protocol.asking import meta

ROOT = Path(__file__).resolve().parents[2]
NAMED = {revision.SERVER_INFO: {"name": "x", "version": "1"}}


def request(method: str, _meta: object = None, **params: object) -> dict:
    return jsonrpc.request(1, method, {**params, "_meta": meta() if _meta is None else _meta})


def answer(**result: object) -> dict:
    return jsonrpc.result(1, {"resultType": "complete", "_meta": NAMED, **result})


def refusal(code: int, data: object = None, **more: object) -> dict:
    body = {"code": code, "message": "no", **({} if data is None else {"data": data})}
    return {"jsonrpc": "2.0", "id": 1, "error": body, **more}


WRONG_REQUESTS = {
    "a parameter is missing": request("tools/call"),
    "a parameter has another type": request("tools/call", name=7),
    "a number for a string is not converted": request("resources/read", uri=7),
    "a parameter that is not in the types": request("tools/call", name="x", args={}),
    "no metadata": jsonrpc.request(1, "tools/list", {}),
    "no parameters": jsonrpc.request(1, "tools/list"),
    "no version": request("tools/list", {revision.CLIENT_CAPABILITIES: {}}),
    "no capabilities": request("tools/list", {revision.PROTOCOL_VERSION: "2026-07-28"}),
    "capabilities of no shape": request("tools/list", meta({"elicitation": True})),
    "an unknown method without metadata": jsonrpc.request(1, "x/y", {}),
    "an id that is null": {**request("tools/list"), "id": None},
    "an id that is true": {**request("tools/list"), "id": True},
    "an id that is a fraction": {**request("tools/list"), "id": 1.5},
    "no jsonrpc": {k: v for k, v in request("tools/list").items() if k != "jsonrpc"},
    "a stray member": {**request("tools/list"), "extra": 1},
    "an answer with no action": request("tools/call", name="x", inputResponses={"q": {}}),
    "an answer with another action": request(
        "tools/call", name="x", inputResponses={"q": {"action": "perhaps"}}
    ),
    "an answer with a nested value": request(
        "tools/call", name="x", inputResponses={"q": elicitation.accept({"a": {"b": 1}})}
    ),
    "a cursor that is a number": request("tools/list", cursor=7),
    "a state that is an object": request("tools/call", name="x", requestState={}),
}


@pytest.mark.parametrize("what", WRONG_REQUESTS)
def test_a_wrong_request_is_refused(what):
    with pytest.raises(Refused):
        plugin.client_request(WRONG_REQUESTS[what])


FORM = elicitation.form("?", {"a": {"type": "string"}})["params"]
NESTED = {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}}


def asking(**more: object) -> dict:
    request = {"method": "elicitation/create", "params": {**FORM, **more}}
    return answer(resultType="input_required", inputRequests={"q": request})


WRONG_RESULTS = {
    "no resultType": ("x/y", jsonrpc.result(1, {"_meta": NAMED})),
    "no server": ("prompts/get", jsonrpc.result(1, {"resultType": "complete", "messages": []})),
    "no content": ("tools/call", answer()),
    "content of no type": ("tools/call", answer(content=[{"text": "x"}])),
    "content of an unknown type": ("tools/call", answer(content=[{"type": "video"}])),
    "no ttl": ("tools/list", answer(tools=[], cacheScope="public")),
    "no scope": ("tools/list", answer(tools=[], ttlMs=1)),
    "another scope": ("tools/list", answer(tools=[], ttlMs=1, cacheScope="shared")),
    "a negative ttl": ("tools/list", answer(tools=[], ttlMs=-1, cacheScope="public")),
    "a fractional ttl": ("tools/list", answer(tools=[], ttlMs=1.5, cacheScope="public")),
    "a tool without a schema": (
        "tools/list",
        answer(tools=[{"name": "x"}], ttlMs=1, cacheScope="public"),
    ),
    "a member that is not in the types": ("tools/call", answer(content=[], error=True)),
    "a result of another method": ("tools/call", answer(messages=[])),
    "a hint where none is due": ("tools/call", answer(content=[], ttlMs=1, cacheScope="public")),
    "101 completions": ("completion/complete", answer(completion={"values": ["x"] * 101})),
    "asking where one may not": ("tools/list", asking()),
    "asking with a hint": (
        "tools/call",
        answer(resultType="input_required", requestState="x", ttlMs=1, cacheScope="public"),
    ),
    "a nested form": ("tools/call", asking(requestedSchema=NESTED)),
    "a form without a message": ("tools/call", asking(message=None)),
    "a form of an unknown mode": ("tools/call", asking(mode="voice")),
}


@pytest.mark.parametrize("what", WRONG_RESULTS)
def test_a_wrong_result_is_refused(what):
    with pytest.raises(Refused):
        plugin.result(*WRONG_RESULTS[what])


WRONG_ERRORS = {
    "-32002 is retired": refusal(-32002),
    "-32042 is retired": refusal(-32042),
    "-32050 is reserved": refusal(-32050),
    "-32021 without data": refusal(-32021),
    "-32021 with other data": refusal(-32021, {"missing": []}),
    "-32022 without requested": refusal(-32022, {"supported": []}),
    "-32022 with a string": refusal(-32022, {"supported": "2026-07-28", "requested": "x"}),
    "a code that is a string": {"jsonrpc": "2.0", "id": 1, "error": {"code": "1", "message": ""}},
    "no message": {"jsonrpc": "2.0", "id": 1, "error": {"code": 1}},
    "a result too": refusal(-32603, result={}),
}


@pytest.mark.parametrize("what", WRONG_ERRORS)
def test_a_wrong_error_is_refused(what):
    with pytest.raises(Refused):
        plugin.error(WRONG_ERRORS[what])


@pytest.mark.parametrize(
    ("sender", "method", "params"),
    [
        (plugin.CLIENT, "notifications/initialized", {}),
        (plugin.CLIENT, "notifications/progress", {"progressToken": 1, "progress": 1}),
        (plugin.CLIENT, "notifications/cancelled", {}),
        (plugin.CLIENT, "notifications/cancelled", {"requestId": 1.5}),
        (plugin.SERVER, "notifications/progress", {"progressToken": 1}),
        (plugin.SERVER, "notifications/progress", {"progressToken": True, "progress": 1}),
        (plugin.SERVER, "notifications/message", {"level": "loud", "data": 1}),
        (plugin.SERVER, "notifications/resources/updated", {}),
        (plugin.SERVER, "notifications/elicitation/complete", {"elicitationId": "x"}),
        (plugin.SERVER, "notifications/nothing", {}),
    ],
)
def test_a_wrong_notification_is_refused(sender, method, params):
    with pytest.raises(Refused):
        plugin.notification(jsonrpc.notification(method, params), sender)


def test_what_is_right_is_let_through():
    plugin.client_request(request("tools/call", name="x", arguments={}, requestState=""))
    plugin.client_request(request("x/y", anything=1))
    plugin.result("tools/call", asking())
    plugin.result("tools/call", answer(content=[{"type": "text", "text": ""}], isError=False))
    plugin.error(refusal(-32021, {"requiredCapabilities": {"elicitation": {"form": {}}}}))
    plugin.error({"jsonrpc": "2.0", "error": {"code": -32700, "message": "what?"}})
    plugin.notification(
        jsonrpc.notification("notifications/cancelled", {"requestId": 1}), plugin.CLIENT
    )


# --- it hears all four places ---


@pytest.mark.off_the_record("the client is made to send a cursor that is a number")
def test_it_hears_a_client():
    with Client(MemoryTransport(build())) as one, pytest.raises(Exception, match="cursor"):
        one.request("tools/list", {"cursor": 7})
    (complaint,) = plugin.COMPLAINTS
    assert "our client" in complaint
    assert "cursor" in complaint


@pytest.mark.off_the_record("the server is made to send content of no type")
def test_it_hears_a_server_without_a_wire():
    server = Server("x", "1")
    server.tool({"name": "t", "inputSchema": {"type": "object"}})(lambda call: {"content": [7]})
    list(server.handle(request("tools/call", name="t")))
    (complaint,) = plugin.COMPLAINTS
    assert "our server" in complaint


WRONG_CHILD = """
from mcp_bare.server import Server
from mcp_bare.stdio import serve
server = Server("x", "1", list_ttl_ms=-1)
server.tool({"name": "t", "inputSchema": {"type": "object"}})(lambda call: "x")
serve(server)
"""


@pytest.mark.off_the_record("the child is made to send a negative ttl")
def test_it_hears_a_child_process_of_ours():
    with Client(StdioTransport([sys.executable, "-c", WRONG_CHILD], cwd=ROOT)) as one:
        one.list_tools()
        one.call_tool("t")
    (complaint,) = plugin.COMPLAINTS
    assert "our server" in complaint
    assert "ttlMs" in complaint


def test_it_hears_the_calendar_by_hand_and_leaves_strangers_alone():
    toys = ROOT / "toy_servers"
    before = plugin.SEEN[plugin.SERVER]
    with Client(StdioTransport([sys.executable, str(toys / "calendar_by_hand.py")])) as one:
        one.discover()
    assert plugin.SEEN[plugin.SERVER] == before + 1
    assert not plugin._names_ours(str(toys / "rude.py"))
    assert not plugin._names_ours(str(ROOT / "tests" / "oracle" / "servers" / "sdk_server.py"))


def test_a_legacy_connection_is_held_against_the_legacy_types():
    legacy = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    m = json.loads(line)\n"
        "    r = {'protocolVersion': '2025-11-25', 'capabilities': {}, 'tools': [],"
        " 'serverInfo': {'name': 'old', 'version': '1'}}\n"
        "    known = m['method'] in ('initialize', 'tools/list')\n"
        "    e = {'error': {'code': -32601, 'message': 'no'}}\n"
        "    a = {'jsonrpc': '2.0', 'id': m.get('id'), **({'result': r} if known else e)}\n"
        "    if 'id' in m: print(json.dumps(a), flush=True)\n"
    )
    one, verdict = era.connect(lambda: StdioTransport([sys.executable, "-c", legacy]))
    with one:
        assert verdict.era == "legacy"
        assert one.list_tools() == []
        assert one.exchange.spoken == "2025-11-25"
