"""Anything may arrive. One answer goes out for a request, and only our own errors come up."""

from __future__ import annotations

import contextlib
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_bare import jsonrpc, revision
from mcp_bare.call import Caller
from mcp_bare.connection import Connection
from mcp_bare.errors import McpError
from tests.oracle.servers.toolkit_server import SECRET, build
from tests.protocol.asking import examples, meta
from tests.protocol.fake import client_of
from tests.protocol.test_client import SOUND, VERBS

TEXT = st.one_of(
    st.text(max_size=8),
    st.sampled_from(["", "\ud83d", "\x00", "日本", "../..", "%ff", "<|endoftext|>", "\u2028"]),
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXT
)
NAMES = st.sampled_from(
    ["name", "uri", "arguments", "ref", "argument", "value", "type", "cursor", "context", "text",
     "notifications", "toolsListChanged", "resourceSubscriptions", "inputResponses", "when",
     "requestState", "action", "content", "at", "how", "to", "a", "b", "_meta", "title", "what"]
)  # fmt: skip
USEFUL = st.sampled_from(
    ["echo", "add", "count", "fail", "book", "ask", "greet", "careful", "memo://one",
     "memo://monday/tea", "memo://guarded", "ref/prompt", "ref/resource", "memo://{day}/{title}",
     "form", "url", "sampling", "accept", "decline", "exception", "exit", "who", "day", 1, 2, True]
)  # fmt: skip
JSON = st.recursive(
    st.one_of(SCALARS, USEFUL),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(NAMES, TEXT), inner, max_size=4)
    ),
    max_leaves=10,
)
METHODS = sorted(
    {revision.DISCOVER, revision.LISTEN, *revision.LISTS, *revision.MULTI_ROUND_TRIP,
     "completion/complete", "initialize", "no/such"}
)  # fmt: skip
PARAMS = st.one_of(st.dictionaries(NAMES, JSON, max_size=4), JSON)
METAS = st.one_of(
    st.just(meta()),
    st.builds(lambda more: meta(**more), st.dictionaries(TEXT, JSON, max_size=2)),
    st.builds(lambda token: meta(progressToken=token), JSON),
    st.builds(
        lambda level: meta(**{revision.LOG_LEVEL: level}), st.sampled_from(["debug", 7, None])
    ),
    st.builds(lambda declared: meta(declared), st.dictionaries(NAMES, JSON, max_size=2)),
    JSON,
)
IDS = st.one_of(st.integers(), st.text(max_size=5))


def raw(message) -> bytes:
    return json.dumps(message).encode()


@examples(300)
@given(st.sampled_from(METHODS), PARAMS, METAS, IDS)
def test_a_server_answers_every_request_exactly_once(method, params, of_meta, id):
    if isinstance(params, dict):
        params = {**params, "_meta": of_meta}
    message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    lines: list[bytes] = []
    with contextlib.redirect_stderr(io.StringIO()):
        server = build(page_size=2)
        Connection(server, lines.append).receive(raw(message) + b"\n")
    sent = [jsonrpc.parse(line.rstrip(b"\n")) for line in lines]
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    answers = [m for m in sent if "method" not in m]
    listening = any(m.get("method") == revision.ACKNOWLEDGED for m in sent)
    assert len(answers) == (0 if listening else 1)
    for answer in answers:
        assert answer["id"] == id
        assert type(answer["id"]) is type(id)
        assert answer is sent[-1]
    wire = b"".join(lines)
    assert b"Traceback" not in wire
    assert SECRET.encode() not in wire


# --- a good message with one thing wrong: every thing, in every way ---

MISFITS = [[], {}, None, 7, -1, True, 1.5, "", "\ud83d", [[]], {"a": []}, ["greet"], "x" * 5000]
BOOKED = {"when": {"action": "accept", "content": {"at": "2030-01-31T09:00:00Z"}}}
GOOD = [
    ("server/discover", {}),
    ("tools/list", {"cursor": "61"}),
    ("tools/call", {"name": "echo", "arguments": {"text": "hi"}}),
    ("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}),
    ("tools/call", {"name": "count", "arguments": {"to": 1}}),
    ("tools/call", {"name": "ask", "arguments": {"what": "url"}}),
    (
        "tools/call",
        {
            "name": "book",
            "arguments": {"title": "Dentist"},
            "inputResponses": BOOKED,
            "requestState": "v1.a.b",
        },
    ),
    ("resources/read", {"uri": "memo://one"}),
    ("resources/read", {"uri": "memo://monday/tea"}),
    ("resources/read", {"uri": "memo://guarded", "inputResponses": {}, "requestState": "x"}),
    ("prompts/get", {"name": "greet", "arguments": {"who": "Ada", "tone": "warm"}}),
    ("prompts/get", {"name": "careful", "inputResponses": {"sure": {"action": "accept"}}}),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "greet"},
            "argument": {"name": "who", "value": "A"},
            "context": {"arguments": {"tone": "warm"}},
        },
    ),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/resource", "uri": "memo://{day}/{title}"},
            "argument": {"name": "day", "value": ""},
        },
    ),
    (
        "subscriptions/listen",
        {"notifications": {"toolsListChanged": True, "resourceSubscriptions": ["memo://one"]}},
    ),
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}}),
]


def spoiled(good):
    """Every copy of a value in which one part, at any depth, is a misfit or not there."""
    if isinstance(good, dict):
        for name, inner in good.items():
            yield {k: v for k, v in good.items() if k != name}
            for bad in [*MISFITS, *spoiled(inner)]:
                yield {**good, name: bad}
    elif isinstance(good, list):
        for index, inner in enumerate(good):
            for bad in [*MISFITS, *spoiled(inner)]:
                yield [*good[:index], bad, *good[index + 1 :]]


@pytest.mark.parametrize("number", range(len(GOOD)))
def test_a_client_s_mistake_is_never_an_internal_error(number, capsys):
    """What only the client decides may be refused, but it must not break our own code."""
    method, good = GOOD[number]
    server = build()
    whole = {**good, "_meta": meta(progressToken=1, **{revision.LOG_LEVEL: "info"})}
    for params in [whole, *spoiled(whole)]:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answers = list(server.handle(message, Caller(deliver=lambda m: None)))
        answer = answers[-1] if answers else {}
        assert answer.get("error", {}).get("code") != -32603, (params, answer)
    assert capsys.readouterr().err == ""


@examples(200)
@given(st.lists(st.one_of(JSON.map(raw), st.binary(max_size=20)), max_size=5))
def test_a_server_outlives_any_lines(lines):
    answers: list[bytes] = []
    connection = Connection(build(), answers.append)
    for line in lines:
        connection.receive(line + b"\n")
    answers.clear()
    request = {"jsonrpc": "2.0", "id": "last", "method": "tools/list", "params": {"_meta": meta()}}
    connection.receive(raw(request) + b"\n")
    assert json.loads(answers[-1])["id"] == "last"


RESULT_NAMES = st.sampled_from(
    ["resultType", "tools", "resources", "resourceTemplates", "prompts", "contents", "content",
     "messages", "completion", "values", "supportedVersions", "capabilities", "inputRequests",
     "requestState", "nextCursor", "ttlMs", "cacheScope", "_meta", "method", "params", "q"]
)  # fmt: skip
RESULT_VALUES = st.one_of(
    JSON,
    st.sampled_from(["complete", "input_required", "elicitation/create", 1000, 10**305, -1, []]),
    st.just({"q": {"method": "elicitation/create", "params": {"message": "?"}}}),
    st.just({"q": {"method": "roots/list"}}),
)
RESULTS = st.one_of(
    st.dictionaries(RESULT_NAMES, RESULT_VALUES, max_size=5),
    st.builds(
        lambda sound, more: {**sound, **more},
        st.sampled_from(list(SOUND.values())),
        st.dictionaries(RESULT_NAMES, RESULT_VALUES, max_size=3),
    ),
    JSON,
)
NOTES = st.builds(
    lambda method, params: {"jsonrpc": "2.0", "method": method, "params": params},
    st.sampled_from(
        ["notifications/progress", "notifications/cancelled", "notifications/tools/list_changed",
         "notifications/resources/updated", revision.ACKNOWLEDGED, "elicitation/create", "x"]
    ),
    st.one_of(JSON, st.dictionaries(
        st.sampled_from(["_meta", "requestId", "progressToken", "uri", "notifications"]),
        st.one_of(JSON, st.just({revision.SUBSCRIPTION_ID: 1})),
    )),
)  # fmt: skip


def answering(result, notes, error):
    def script(request):
        body = {"result": result} if error is None else {"error": error}
        return [*notes, {"jsonrpc": "2.0", "id": request["id"], **body}]

    return script


VERB_NAMES = [*VERBS, "listen"]
HANDLERS = {"elicitation/create": lambda params: {"action": "decline"}}
ASKED = {
    "resultType": "input_required",
    "inputRequests": {"q": {"method": "elicitation/create", "params": {"message": "?"}}},
    "requestState": "s",
}
FULL = {
    method: {**sound, "resultType": "complete", "ttlMs": 1000, "cacheScope": "public", "_meta": {}}
    for method, sound in SOUND.items()
}


def asking(verb, one):
    return VERBS.get(verb, lambda c: c.listen({"toolsListChanged": True}, lambda m: None))(one)


@pytest.mark.parametrize("verb", VERBS)
def test_a_result_with_one_thing_wrong_raises_only_errors_of_ours(verb):
    kind = revision.LISTS.get(verb)
    full = {**FULL[verb], kind: [{"name": "x"}]} if kind else FULL[verb]
    cursors = [{**full, "nextCursor": bad} for bad in MISFITS]
    for result in [*spoiled(full), *cursors, *spoiled({**full, **ASKED}), *spoiled(ASKED)]:
        one, peer = client_of(lambda request, made=result: made, handlers=HANDLERS, timeout=0.01)
        peer.limit = 3
        with contextlib.suppress(McpError):
            asking(verb, one)


@examples(200)
@given(
    st.sampled_from(VERB_NAMES),
    RESULTS,
    st.lists(st.one_of(NOTES, JSON), max_size=3),
    st.one_of(st.none(), st.none(), JSON),
)
def test_a_client_raises_only_errors_of_ours(verb, result, notes, error):
    one, _ = client_of(answering(result, notes, error), handlers=HANDLERS, timeout=0.05)
    with contextlib.suppress(McpError):
        assert asking(verb, one) is not None
    assert one.exchange.in_flight <= 1


@pytest.mark.parametrize("verb", VERB_NAMES)
def test_a_result_of_another_method_is_no_answer(verb):
    for method, sound in SOUND.items():
        if method == verb:
            continue
        one, _ = client_of(lambda request, sound=sound: sound, timeout=0.05)
        with pytest.raises(McpError):
            asking(verb, one)
