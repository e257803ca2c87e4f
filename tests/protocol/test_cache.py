"""What a client keeps, for how long, and what makes it stale (server/utilities/caching)."""

from __future__ import annotations

import pytest

from mcp_bare.cache import MAX_KEPT, Cache
from mcp_bare.client import Client
from mcp_bare.memory import MemoryTransport
from tests.oracle.servers.toolkit_server import build
from tests.protocol.fake import client_of

LISTS = {
    "tools/list": ("list_tools", "tools"),
    "resources/list": ("list_resources", "resources"),
    "resources/templates/list": ("list_resource_templates", "resourceTemplates"),
    "prompts/list": ("list_prompts", "prompts"),
}
STALE = {
    "notifications/tools/list_changed": {"tools/list"},
    "notifications/prompts/list_changed": {"prompts/list"},
    "notifications/resources/list_changed": {"resources/list", "resources/templates/list"},
    "notifications/progress": set(),
    "notifications/no/such/thing": set(),
}


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def counting(ttl, **more):
    """A client, its peer, and a clock; every list is one item that counts the requests."""
    hints = {} if ttl == "absent" else {"ttlMs": ttl, "cacheScope": "public"}

    def script(request):
        number = sum("id" in message for message in peer.sent)
        kind = LISTS.get(request["method"], (0, "contents"))[1]
        return {kind: [{"n": number}], **hints, **more}

    one, peer = client_of(script)
    one.cache._clock = clock = Clock()
    return one, peer, clock


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize(
    ("ttl", "after", "asked"),
    [
        (1000, 0.0, 1),
        (1000, 0.999, 1),
        (1000, 1.0, 2),  # fresh while now < arrival + ttl
        (1000, 5.0, 2),
        (0, 0.0, 2),
        (-1000, 0.0, 2),
        ("absent", 0.0, 2),
        (None, 0.0, 2),
        ("1000", 0.0, 2),
        (True, 0.0, 2),
        ([], 0.0, 2),
        (0.5, 0.0, 1),
        (10**300, 10.0, 1),  # not an OverflowError
    ],
)
def test_a_list_is_fresh_for_as_long_as_the_server_says(method, ttl, after, asked):
    one, peer, clock = counting(ttl)
    list_it = getattr(one, LISTS[method][0])
    list_it()
    clock.now += after
    list_it()
    assert len(peer.sent) == asked


def test_a_resource_is_kept_under_its_uri():
    one, peer, clock = counting(1000)
    assert one.read_resource("a://1")["contents"] == one.read_resource("a://1")["contents"]
    assert one.read_resource("a://2")["contents"] != one.read_resource("a://1")["contents"]
    assert len(peer.sent) == 2
    one.read_resource("a://1", refresh=True)
    assert len(peer.sent) == 3
    clock.now += 2
    one.read_resource("a://2")
    assert len(peer.sent) == 4


def test_discovery_is_kept():
    made = {"supportedVersions": ["x"], "capabilities": {}, "ttlMs": 1000, "cacheScope": "public"}
    one, peer = client_of(lambda request: made)
    assert one.discover() == one.discover() == made
    assert len(peer.sent) == 1


def test_what_is_not_cacheable_is_not_kept():
    made = {"content": [], "messages": [], "ttlMs": 1000, "cacheScope": "public"}
    one, peer = client_of(lambda request: made)
    for _ in range(2):
        one.call_tool("t")
        one.get_prompt("p")
    assert len(peer.sent) == 4


@pytest.mark.parametrize("notification", STALE)
@pytest.mark.parametrize("method", LISTS)
def test_a_change_makes_its_list_stale_at_once(notification, method):
    one, peer, _ = counting(60_000)
    list_it = getattr(one, LISTS[method][0])
    list_it()
    peer.deliver(b'{"jsonrpc":"2.0","method":"%s"}' % notification.encode())
    list_it()
    assert len(peer.sent) == (2 if method in STALE[notification] else 1)


@pytest.mark.parametrize(
    ("params", "asked"),
    [({"uri": "a://1"}, 3), ({"uri": "a://2"}, 3), ({"uri": "a://3"}, 2), ({}, 2), ([], 2),
     (None, 2), ({"uri": None}, 2), ({"uri": ["a://1"]}, 2)],
)  # fmt: skip
def test_an_update_makes_one_resource_stale(params, asked):
    import json

    one, peer, _ = counting(60_000)
    one.read_resource("a://1"), one.read_resource("a://2")
    update = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params}
    peer.deliver(json.dumps(update).encode())
    one.read_resource("a://1"), one.read_resource("a://2")
    assert len(peer.sent) == asked


def test_what_was_asked_for_before_a_change_is_not_kept_after_it():
    """The answer may have been on its way already when the list changed."""
    change = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'

    def script(request):
        kept = {"tools": [], "ttlMs": 60_000, "cacheScope": "public"}
        return [change, {"jsonrpc": "2.0", "id": request["id"], "result": kept}]

    one, peer = client_of(script)
    one.list_tools(), one.list_tools()
    assert len(peer.sent) == 2


def test_pages_are_kept_apart_and_each_has_its_own_clock():
    def script(request):
        cursor = request["params"].get("cursor")
        page = {"tools": [{"name": cursor or "first"}], "cacheScope": "public"}
        if cursor is None:
            return {**page, "nextCursor": "second", "ttlMs": 60_000}
        return {**page, "ttlMs": 1000}

    one, peer = client_of(script)
    one.cache._clock = clock = Clock()
    assert [tool["name"] for tool in one.list_tools()] == ["first", "second"]
    assert one.list_tools() and len(peer.sent) == 2
    clock.now += 2
    one.list_tools()
    assert [m["params"].get("cursor") for m in peer.sent] == [None, "second", "second"]


def test_a_cursor_that_became_invalid_takes_every_kept_page_with_it():
    server = build(page_size=2)
    with Client(MemoryTransport(server)) as one:
        first = {"cursor": one._cached("tools/list", {})["nextCursor"]}
        server.remove("tools", "add")  # the cursor that is kept points at it
        names = [tool["name"] for tool in one.list_tools()]
    assert first
    assert names[:3] == ["echo", "count", "fail"]


def test_an_invalid_cursor_twice_is_an_error():
    from mcp_bare.errors import ErrorResponse

    def script(request):
        if "cursor" in request["params"]:
            refusal = {"code": -32602, "message": "no such cursor"}
            return [{"jsonrpc": "2.0", "id": request["id"], "error": refusal}]
        return {"tools": [], "nextCursor": "x", "ttlMs": 1000, "cacheScope": "public"}

    one, peer = client_of(script)
    with pytest.raises(ErrorResponse, match="no such cursor"):
        one.list_tools()
    assert len(peer.sent) == 4


def test_refresh_asks_again():
    one, peer, _ = counting(60_000)
    one.list_tools(), one.list_tools(refresh=True), one.list_tools()
    assert len(peer.sent) == 2


def test_what_a_caller_does_to_a_result_stays_his_own():
    with Client(MemoryTransport(build())) as one:
        for _ in range(3):
            found, tools = one.discover(), one.list_tools()
            assert found["capabilities"]["tools"]
            assert tools[0]["inputSchema"]["properties"]
            found["capabilities"].clear(), tools[0]["inputSchema"].clear(), tools.clear()


def test_the_cache_does_not_grow_without_end():
    cache = Cache()
    for number in range(MAX_KEPT + 50):
        cache.keep("resources/read", {"uri": f"a://{number}"}, {"contents": [], "ttlMs": 1e9})
    assert len(cache._kept) == MAX_KEPT
    assert cache.get("resources/read", {"uri": "a://0"}) is None
    assert cache.get("resources/read", {"uri": f"a://{MAX_KEPT}"}) is not None


def test_a_listener_that_asks_again_gets_the_news():
    server, seen = build(), []
    with Client(MemoryTransport(server)) as one:
        one.list_tools()
        with one.listen({"toolsListChanged": True}, lambda m: seen.append(len(one.list_tools()))):
            one.call_tool("change")
    assert seen == [len(build().defined["tools"]) + 1]
