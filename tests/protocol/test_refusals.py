"""What a server refuses, with which code and which data (basic/index, basic/versioning)."""

from __future__ import annotations

import pytest

from mcp_bare import revision
from mcp_bare.server import Server
from tests.oracle.servers.toolkit_server import build
from tests.protocol.asking import ask, error, meta, raw

VERSION, CAPABILITIES = revision.PROTOCOL_VERSION, revision.CLIENT_CAPABILITIES
METHODS = [
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "subscriptions/listen",
    "no/such/method",
]


@pytest.fixture(scope="module")
def server() -> Server:
    return build()


def with_meta(value: object, **more: object) -> dict:
    return {"_meta": value, **more}


def without(key: str) -> dict:
    return {k: v for k, v in meta().items() if k != key}


MISSHAPEN = {
    "no params": None,
    "params is null": {"params": None},
    "params is an array": {"params": [1]},
    "params is a string": {"params": "x"},
    "no _meta": {"params": {}},
    "_meta is null": {"params": with_meta(None)},
    "_meta is an array": {"params": with_meta([])},
    "_meta is a string": {"params": with_meta("x")},
    "_meta is empty": {"params": with_meta({})},
    "no protocolVersion": {"params": with_meta(without(VERSION))},
    "no clientCapabilities": {"params": with_meta(without(CAPABILITIES))},
    "version is null": {"params": with_meta({**meta(), VERSION: None})},
    "version is a number": {"params": with_meta({**meta(), VERSION: 20260728})},
    "version is a list": {"params": with_meta({**meta(), VERSION: [revision.CURRENT]})},
    "capabilities is null": {"params": with_meta({**meta(), CAPABILITIES: None})},
    "capabilities is an array": {"params": with_meta({**meta(), CAPABILITIES: []})},
    "capabilities is true": {"params": with_meta({**meta(), CAPABILITIES: True})},
    "elicitation is true": {"params": with_meta(meta({"elicitation": True}))},
    "sampling is null": {"params": with_meta(meta({"sampling": None}))},
    "roots is an array": {"params": with_meta(meta({"roots": []}))},
    "extensions is a string": {"params": with_meta(meta({"extensions": "x"}))},
    "clientInfo is a string": {"params": with_meta(meta(**{revision.CLIENT_INFO: "me"}))},
    "clientInfo has no version": {
        "params": with_meta(meta(**{revision.CLIENT_INFO: {"name": "me"}}))
    },
    "logLevel is unknown": {"params": with_meta(meta(**{revision.LOG_LEVEL: "loud"}))},
    "logLevel is a number": {"params": with_meta(meta(**{revision.LOG_LEVEL: 3}))},
    "progressToken is a fraction": {"params": with_meta(meta(progressToken=1.5))},
    "progressToken is true": {"params": with_meta(meta(progressToken=True))},
    "progressToken is an object": {"params": with_meta(meta(progressToken={}))},
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("what", MISSHAPEN)
def test_a_request_without_sound_metadata_is_invalid_params(server, what, method):
    message = {"jsonrpc": "2.0", "id": "q-7", "method": method, **(MISSHAPEN[what] or {})}
    (answer,) = raw(server, message)
    assert answer["id"] == "q-7"
    assert answer["error"]["code"] == -32602
    assert "result" not in answer


def test_the_missing_fields_are_named(server):
    answer = raw(
        server, {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {}}}
    )
    assert answer[0]["error"]["data"] == {"missing": [VERSION, CAPABILITIES]}
    assert VERSION in answer[0]["error"]["message"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("asked", ["1900-01-01", "2025-11-25", "DRAFT-2027", "", " 2026-07-28"])
def test_another_version_is_refused_with_those_we_speak(server, method, asked):
    refusal = error(server, method, **{VERSION: asked})
    assert refusal["code"] == -32022
    assert refusal["data"] == {"supported": ["2026-07-28"], "requested": asked}


def test_a_missing_capability_field_is_found_before_the_version(server):
    message = {"_meta": {VERSION: "1900-01-01"}}
    (answer,) = raw(server, {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": message})
    assert answer["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("method", "why"),
    [
        ("no/such/method", "unknown"),
        ("tools/List", "methods are case-sensitive"),
        ("", "empty"),
        ("ping", "gone in this revision"),
        ("logging/setLevel", "gone in this revision"),
        ("resources/subscribe", "gone in this revision"),
        ("notifications/cancelled", "a notification with an id is a request"),
        ("elicitation/create", "what a server asks a client"),
    ],
)
def test_an_unknown_method_is_not_found(server, method, why):
    refusal = error(server, method)
    assert refusal["code"] == -32601, why
    assert refusal["data"] == {"method": method}


@pytest.mark.parametrize(
    "method",
    ["tools/list", "prompts/list", "resources/list", "resources/templates/list",
     "completion/complete"],
)  # fmt: skip
def test_a_feature_that_the_server_does_not_have_is_not_found(method):
    assert error(Server("bare", "1"), method)["code"] == -32601


FORM, URL = {"elicitation": {"form": {}}}, {"elicitation": {"url": {}}}
NEEDS = [
    # asked, declared, requiredCapabilities or None where it may be asked
    ("form", {}, FORM),
    ("form", {"elicitation": {}}, None),  # an empty object means form
    ("form", FORM, None),
    ("form", URL, FORM),
    ("form", {"sampling": {}, "roots": {}}, FORM),
    ("url", {}, URL),
    ("url", {"elicitation": {}}, URL),
    ("url", FORM, URL),
    ("url", URL, None),
    ("url", {"elicitation": {"form": {}, "url": {}}}, None),
    ("sampling", {}, {"sampling": {}}),
    ("sampling", FORM, {"sampling": {}}),
    ("sampling", {"sampling": {}}, None),
    ("sampling with tools", {}, {"sampling": {"tools": {}}}),
    ("sampling with tools", {"sampling": {}}, {"sampling": {"tools": {}}}),
    ("sampling with tools", {"sampling": {"tools": {}}}, None),
    ("roots", {}, {"roots": {}}),
    ("roots", {"roots": {}}, None),
    ("roots", {"roots": {"listChanged": True}}, None),
]


@pytest.mark.parametrize(("asked", "declared", "required"), NEEDS)
def test_nothing_is_asked_that_the_client_did_not_declare(server, asked, declared, required):
    params = {"name": "ask", "arguments": {"what": asked}}
    (answer,) = ask(server, "tools/call", params, capabilities=declared)
    if required is None:
        assert answer["result"]["resultType"] == "input_required"
    else:
        assert answer["error"]["code"] == -32021
        assert answer["error"]["data"] == {"requiredCapabilities": required}


def test_capabilities_are_not_remembered_from_the_request_before(server):
    params = {"name": "ask", "arguments": {"what": "form"}}
    assert "result" in ask(server, "tools/call", params, capabilities=FORM)[0]
    assert ask(server, "tools/call", params, capabilities={})[0]["error"]["code"] == -32021


@pytest.mark.parametrize(
    ("params", "requested"),
    [
        ({"protocolVersion": "2025-11-25", "capabilities": {}}, "2025-11-25"),
        ({"protocolVersion": "2026-07-28", "capabilities": {}}, "2026-07-28"),
        ({}, ""),
        ({"protocolVersion": 7}, ""),
        (None, ""),
        ([], ""),
    ],
)
def test_initialize_is_refused_and_told_what_we_speak(server, params, requested):
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    (answer,) = raw(server, message)
    assert answer["id"] == 0
    assert answer["error"]["code"] == -32022
    assert answer["error"]["data"] == {"supported": ["2026-07-28"], "requested": requested}
    assert "2026-07-28" in answer["error"]["message"]
    assert "server/discover" in answer["error"]["message"]


UNKNOWN = [
    ("tools/call", {"name": "nobody"}, "nobody"),
    ("tools/call", {"name": "Echo"}, "Echo"),
    ("tools/call", {}, "None"),
    ("tools/call", {"name": 7}, "7"),
    ("tools/call", {"name": "echo", "arguments": None}, "arguments"),
    ("tools/call", {"name": "echo", "arguments": ["x"]}, "arguments"),
    ("tools/call", {"name": "echo", "inputResponses": []}, "inputResponses"),
    ("tools/call", {"name": "echo", "requestState": {}}, "requestState"),
    ("resources/read", {"uri": "memo://nobody"}, "memo://nobody"),
    ("resources/read", {"uri": "memo://a/b/c"}, "memo://a/b/c"),
    ("resources/read", {"uri": "memo://monday/none"}, "memo://monday/none"),
    ("resources/read", {"uri": ["memo://one"]}, "uri"),
    ("resources/read", {}, "uri"),
    ("prompts/get", {"name": "nobody"}, "nobody"),
    ("prompts/get", {"name": "greet"}, "who"),
    ("prompts/get", {"name": "greet", "arguments": {"tone": "warm"}}, "who"),
    ("prompts/get", {"name": "greet", "arguments": {"who": 7}}, "who"),
    ("completion/complete", {}, "complete"),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "greet"}}, "complete"),
    *[
        ("completion/complete", {"ref": ref, "argument": {"name": "who", "value": ""}}, "complete")
        for ref in (
            {"type": "ref/prompt", "name": "nobody"},
            {"type": "ref/prompt", "name": ["greet"]},
            {"type": "ref/resource", "name": "greet"},
            {"type": "ref/tool", "name": "echo"},
            {"name": "greet"},
            {"type": ["ref/prompt"], "name": "greet"},
            {"type": "ref/resource", "uri": "memo://{nobody}"},
        )
    ],
    *[
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": argument},
            "",
        )
        for argument in ({"name": "who"}, {"value": "A"}, {"name": "who", "value": 7}, "who", None)
    ],
    ("subscriptions/listen", {}, "filter"),
    ("subscriptions/listen", {"notifications": []}, "filter"),
]


@pytest.mark.parametrize(("method", "params", "named"), UNKNOWN)
def test_what_does_not_exist_or_has_no_shape_is_invalid_params(
    server, capsys, method, params, named
):
    from mcp_bare.call import Caller

    refusal = error(server, method, params, caller=Caller(deliver=lambda message: None))
    assert refusal["code"] == -32602
    assert named in refusal["message"]
    assert capsys.readouterr().err == "", "no traceback for a client's mistake"


def test_a_refusal_is_not_larger_than_what_it_refuses(server):
    long = "x" * 100_000
    for method, params in (
        ("tools/call", {"name": [long]}),
        ("resources/read", {"uri": {"a": long}}),
        ("prompts/get", {"name": "greet", "arguments": {"who": [long]}}),
        ("tools/list", {"cursor": [long]}),
    ):
        assert len(error(server, method, params)["message"]) < 500


def test_a_notification_is_never_answered(server):
    for method in ("no/such/method", "notifications/cancelled", "tools/list", "initialize"):
        assert raw(server, {"jsonrpc": "2.0", "method": method}) == []


def test_a_response_is_never_answered(server):
    assert raw(server, {"jsonrpc": "2.0", "id": 1, "result": {}}) == []
    assert raw(server, {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}}) == []
