"""What is sent to the server under examination: six processes, each with questions of its own.

meet      discovery, the lists; requests that must be refused, ids, notifications
calls     tools, resources and prompts with made-up arguments; the first half of a call that asks
second    a fresh process: the second half of that call, and what an undeclared client is told
hostile   lines that are no message, each followed by a request that must still be answered
listen    two subscriptions, a request beside them, one cancelled, one open at the end
cancel    a call that is cancelled while it runs; and the opening of a client of the era before

Nothing is judged here.

Does not handle: when each is sat (`order`), what is right (`rules_*`), processes (`process`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from mcp_bare import jsonrpc, revision
from mcp_bare.exam import halves
from mcp_bare.exam.ids import CLIENT

if TYPE_CHECKING:
    from mcp_bare.exam.ids import Ids
    from mcp_bare.exam.learned import Learned
    from mcp_bare.exam.process import Sitting
    from mcp_bare.revision import JsonObject, RequestId

NOBODY = "exam-no-such-thing"
LONG_AGO = "1900-01-01"
MAX_PAGES, MAX_READS, MAX_ASKING = 20, 3, 4

POKES: tuple[bytes, ...] = (
    b"hello",
    b'{"jsonrpc":"2.0","id":"half","method":',
    b'{"jsonrpc":"2.0","id":"latin","method":"tools/list","params":{"x":"\xe9\xff"}}',
    b"[]",
    b'[{"jsonrpc":"2.0","id":"in a batch","method":"no/such"}]',
    b"7",
    b'{"jsonrpc":"2.0","id":"no method"}',
    b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":true,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":{"a":1},"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":"params of no shape","method":"tools/list","params":7}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}',
    b"[" * 5000,
)
"""Lines that are no MCP message, or hardly one. Each is answered as an error, or by nothing."""


def meet(sitting: Sitting, learned: Learned, ids: Ids) -> None:
    """What is this server, and what has it got?"""
    found = sitting.ask(ids.request(revision.DISCOVER))
    learned.discovered = found.result or {}
    code = (found.error or {}).get("code")
    learned.other_revision = code == revision.UNSUPPORTED_PROTOCOL_VERSION
    if not learned.other_revision:
        read_lists(sitting, learned.pages, ids)


def read_lists(sitting: Sitting, pages: dict[str, list[JsonObject]], ids: Ids) -> None:
    """Every page of every list."""
    for method in revision.LISTS:
        pages[method] = []
        params: JsonObject = {}
        while len(pages[method]) < MAX_PAGES:
            result = sitting.ask(ids.request(method, params)).result
            if result is None:
                break
            pages[method].append(result)
            if not isinstance(result.get("nextCursor"), str):
                break
            params = {"cursor": result["nextCursor"]}


def refusals(sitting: Sitting, learned: Learned, ids: Ids) -> None:
    """In the same process: requests to refuse, ids of every kind, notifications."""
    for method in (learned.spare_request()[0], "tools/list"):
        for lacking in ("protocolVersion", "clientCapabilities"):
            sitting.ask(ids.request(method, **{lacking: None}))
        sitting.ask(ids.request(method, protocolVersion=LONG_AGO))
        bare = ids.request(method)
        sitting.ask(jsonrpc.request(bare["id"], method, {}))
        sitting.ask(jsonrpc.request(ids.request(method)["id"], method))
    sitting.ask(ids.request("exam/no-such-method"))
    sitting.ask(ids.request("tools/call", {"name": NOBODY, "arguments": {}}))
    sitting.ask(ids.request("resources/read", {"uri": f"exam://{NOBODY}"}))
    sitting.ask(ids.request("prompts/get", {"name": NOBODY}))
    sitting.ask(ids.request("tools/list", {"cursor": NOBODY}))
    method, params = learned.spare_request()
    odd: tuple[RequestId, ...] = ("7", 700, "700", "", "é ✓", 0, -1, 2**53 - 1, "x" * 200)
    together = [sitting.start(ids.request(method, params, id=id)) for id in odd]
    for exchange in together:
        sitting.wait(exchange)
    for note in ("notifications/exam", "exam/no-such-method", "tools/list"):
        sitting.tell(jsonrpc.notification(note))
    sitting.tell(jsonrpc.notification(revision.CANCELLED, {"requestId": NOBODY}))
    sitting.ask(ids.request(method, params))
    sitting.linger()


def calls(sitting: Sitting, learned: Learned, ids: Ids) -> None:
    """Everything once; then again what may do better with a handle that another tool gave."""
    known: dict[str, Any] = {}
    done: list[JsonObject] = []
    for _ in range(2):
        for params in learned.calls(known):
            if params in done:
                continue
            done.append(params)
            exchange = sitting.ask(
                ids.request("tools/call", params, progressToken=f"{len(done)}: {params['name']}")
            )
            result = exchange.result or {}
            gave = result.get("structuredContent")
            known |= gave if isinstance(gave, dict) else {}
            if result.get("resultType") == "input_required":
                learned.asking.append(exchange)
        if not known:
            break
    learned.asking = learned.asking[:MAX_ASKING]
    for exchange in learned.asking:  # are the capabilities of the call before remembered?
        sitting.ask(halves.again(ids, exchange, capabilities={}))
    read_things(sitting, learned, ids)
    sitting.linger()


def read_things(sitting: Sitting, learned: Learned, ids: Ids) -> None:
    """A few resources and prompts."""
    for resource in learned.listed("resources/list")[:MAX_READS]:
        if isinstance(resource.get("uri"), str):
            sitting.ask(ids.request("resources/read", {"uri": resource["uri"]}))
    for prompt in learned.listed("prompts/list")[:MAX_READS]:
        wanted = prompt.get("arguments")
        names = [a["name"] for a in wanted if isinstance(a, dict) and isinstance(a.get("name"), str)
                 ] if isinstance(wanted, list) else []  # fmt: skip
        params = {"name": prompt.get("name"), "arguments": dict.fromkeys(names, "exam")}
        sitting.ask(ids.request("prompts/get", params))


def second(sitting: Sitting, learned: Learned, ids: Ids) -> None:
    """In a process that has seen nothing: the second half of each call that asked."""
    for exchange in learned.asking:  # before any request that declares a capability
        sitting.ask(halves.again(ids, exchange, capabilities={}))
    pages: dict[str, list[JsonObject]] = {}
    read_lists(sitting, pages, ids)
    for exchange in learned.asking:
        retry = sitting.ask(halves.again(ids, exchange, **halves.answers(exchange)))
        if halves.outcome(retry) != "complete":  # would it have gone well in one process?
            own = sitting.ask(halves.again(ids, exchange))
            if halves.outcome(own) == "input_required":
                sitting.ask(halves.again(ids, own, **halves.answers(own)))


def hostile(sitting: Sitting, learned: Learned, ids: Ids) -> None:
    """Send what is no message, one by one; a new process goes on where this one ended."""
    for poke in POKES[len(learned.poked) :]:
        learned.poked.append(poke)
        sitting.write(poke)
        sitting.ask(ids.request(*learned.spare_request()))
    sitting.linger()


def listen(sitting: Sitting, learned: Learned, ids: Ids) -> None:
    """Two subscriptions with ids of two types; a request beside them; one cancelled."""
    sitting.ask(ids.request(*learned.spare_request()))  # it is up
    uris = [r["uri"] for r in learned.listed("resources/list")[:1] if "uri" in r]
    everything: JsonObject = {name: True for name in revision.FILTERS if name.endswith("Changed")}
    filters = [{**everything, "resourceSubscriptions": uris}, {"toolsListChanged": True}]
    streams: tuple[RequestId, ...] = ("exam stream", 41)
    for id, wanted in zip(streams, filters, strict=True):
        before = len(sitting.heard.lines)
        sitting.start(ids.request(revision.LISTEN, {"notifications": wanted}, id=id))
        sitting.until(partial(_more_than, sitting, before))
    sitting.ask(ids.request(*learned.spare_request()))
    sitting.tell(jsonrpc.notification(revision.CANCELLED, {"requestId": 41}))
    for _ in range(2):  # with the first answer it has heard; nothing may come beside the second
        sitting.ask(ids.request(*learned.spare_request()))
    sitting.linger()


def _more_than(sitting: Sitting, count: int) -> bool:
    return len(sitting.heard.lines) > count


def cancel(sitting: Sitting, learned: Learned, ids: Ids) -> None:
    """Find a call that takes a moment, cancel it, and see whether it is answered all the same."""
    sitting.ask(ids.request(revision.DISCOVER))
    tries = [("tools/call", params) for params in learned.calls({})] or [("tools/list", {})]
    for method, params in tries:
        exchange = sitting.start(ids.request(method, params))
        if not sitting.until(partial(sitting.is_answered, exchange), 0.2):
            note = {"requestId": (exchange.sent.message or {})["id"], "reason": "an exam"}
            sitting.tell(jsonrpc.notification(revision.CANCELLED, note))
            sitting.ask(ids.request(*learned.spare_request()))  # now it has heard
            sitting.ask(ids.request(method, params))  # takes as long as the first would have
            sitting.linger(0.3)
            break
    old_client(sitting)


def old_client(sitting: Sitting) -> None:
    """The opening of a client of the era before; last, since it may change what a process is."""
    hello = {"protocolVersion": revision.LEGACY[0], "capabilities": {}, "clientInfo": CLIENT}
    sitting.ask(jsonrpc.request("old", "initialize", hello))
