"""What every result carries, and what each primitive answers (server/*, basic/index)."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mcp_bare import jsonrpc, revision
from mcp_bare.errors import IllegalSchema
from mcp_bare.server import Server, text_result
from tests.oracle.servers.toolkit_server import CONFIRM, SECRET, build
from tests.protocol.asking import ask, call, error, meta, result, text

READ = {"uri": "memo://one"}
CACHEABLE = [
    ("server/discover", {}),
    ("tools/list", {}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("prompts/list", {}),
    ("resources/read", READ),
]
NOT_CACHEABLE = [
    ("tools/call", {"name": "echo", "arguments": {"text": "hi"}}),
    ("prompts/get", {"name": "greet", "arguments": {"who": "Ada"}}),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "who", "value": ""}},
    ),
]
INTERIM = [
    ("tools/call", {"name": "book", "arguments": {"title": "Dentist"}}),
    ("resources/read", {"uri": "memo://guarded"}),
    ("prompts/get", {"name": "careful"}),
]


@pytest.fixture(scope="module")
def server() -> Server:
    return build()


@pytest.mark.parametrize(("method", "params"), CACHEABLE + NOT_CACHEABLE + INTERIM)
def test_every_result_says_its_type_and_its_server(server, method, params):
    for id in (1, "1", 0, "", -5):
        (*_, answer) = ask(server, method, params, id=id)
        assert (answer["jsonrpc"], answer["id"], type(answer["id"])) == ("2.0", id, type(id))
        assert answer["result"]["resultType"] in ("complete", "input_required")
        assert answer["result"]["_meta"][revision.SERVER_INFO] == {
            "name": "everything of ours",
            "version": "1.0.0",
        }


@pytest.mark.parametrize(("method", "params"), CACHEABLE)
def test_a_cacheable_result_has_both_hints(server, method, params):
    found = result(server, method, params)
    assert found["resultType"] == "complete"
    assert type(found["ttlMs"]) is int
    assert found["ttlMs"] >= 0
    assert found["cacheScope"] in ("public", "private")


@pytest.mark.parametrize(("method", "params"), NOT_CACHEABLE + INTERIM)
def test_no_other_result_has_a_hint(server, method, params):
    assert not {"ttlMs", "cacheScope"} & set(result(server, method, params))


@pytest.mark.parametrize(("method", "params"), INTERIM)
def test_an_interim_result_asks_or_carries_state(server, method, params):
    found = result(server, method, params)
    assert found["resultType"] == "input_required"
    assert found.get("inputRequests") or found.get("requestState")


def test_the_hints_are_what_the_author_said():
    server = Server("hints", "1", list_ttl_ms=0, list_scope="private")
    server.resource({"uri": "a://b", "name": "b"}, ttl_ms=7, scope="public")(lambda call: "x")
    own = {"contents": [], "ttlMs": 9, "cacheScope": "public"}
    server.template({"uriTemplate": "t://{x}", "name": "t"})(lambda call: own)
    for method, params, due in (
        ("server/discover", {}, (0, "private")),
        ("resources/list", {}, (0, "private")),
        ("resources/read", {"uri": "a://b"}, (7, "public")),
        ("resources/read", {"uri": "t://1"}, (9, "public")),  # the handler knows better
    ):
        found = result(server, method, params)
        assert (found["ttlMs"], found["cacheScope"]) == due


def test_discovery_says_what_is_there_and_only_that(server):
    found = result(server, "server/discover")
    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["instructions"] == "Ask away."
    assert found["capabilities"] == {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "prompts": {"listChanged": True},
        "completions": {},
        "logging": {},
    }
    bare = result(Server("bare", "1"), "server/discover")
    assert bare["capabilities"] == {}
    assert "instructions" not in bare


@pytest.mark.parametrize("method", ["server/discover", "tools/list", "prompts/list",
                                    "resources/list", "completion/complete"])  # fmt: skip
def test_only_three_methods_may_ask_back(method):
    """basic/patterns/mrtr, "Supported Requests": anything else would be our own mistake."""
    server = build()
    server.completion("greet", "tone")(lambda call: call.ask({"q": CONFIRM}))
    params = {
        "ref": {"type": "ref/prompt", "name": "greet"},
        "argument": {"name": "tone", "value": ""},
    }
    (answer,) = ask(server, method, params)
    assert answer.get("result", {}).get("resultType") != "input_required"


# --- lists ---


@pytest.fixture(params=[1, 2, 3, 4, 5, 6, 7, 100, None])
def paged(request: pytest.FixtureRequest) -> Server:
    server = Server("paged", "1", page_size=request.param)
    for number in range(5):
        server.tool({"name": f"t{number}", "inputSchema": {"type": "object"}})(lambda call: "")
    return server


def pages(server: Server, method: str = "tools/list") -> list[dict]:
    found = [result(server, method)]
    while "nextCursor" in found[-1]:
        found.append(result(server, method, {"cursor": found[-1]["nextCursor"]}))
        assert len(found) < 20
    return found


def test_pages_hold_each_item_once_in_order(paged):
    found = pages(paged)
    assert [tool["name"] for page in found for tool in page["tools"]] == [
        "t0",
        "t1",
        "t2",
        "t3",
        "t4",
    ]
    size = paged.page_size or 5
    assert [len(page["tools"]) for page in found[:-1]] == [size] * (len(found) - 1)
    assert all(page["tools"] for page in found), "no empty page at the end"
    assert len({page["cacheScope"] for page in found}) == 1


@pytest.mark.parametrize("size", [0, -1])
def test_a_page_holds_at_least_one_item(size):
    with pytest.raises(ValueError, match="at least 1"):
        Server("none", "1", page_size=size)


def test_a_cursor_survives_a_new_process():
    first = result(build(page_size=2), "tools/list")
    again = (
        "import json, sys; from tests.oracle.servers.toolkit_server import build;"
        "from tests.protocol.asking import result;"
        "print(json.dumps(result(build(page_size=2), 'tools/list', {'cursor': sys.argv[1]})))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", again, first["nextCursor"]], capture_output=True, check=True
    )
    other = jsonrpc.loads(ran.stdout.strip())
    here = result(build(page_size=2), "tools/list", {"cursor": first["nextCursor"]})
    assert other["tools"] == here["tools"] != first["tools"]


@pytest.mark.parametrize(
    "cursor", ["x", "zz", "", "ff", "74", "00", "6563686f6563686f", 7, [], {}, True]
)
def test_a_cursor_that_nobody_gave_is_invalid_params(cursor):
    refusal = error(build(page_size=2), "tools/list", {"cursor": cursor})
    assert refusal["code"] == -32602
    assert refusal["data"] == {"cursor": cursor}


def test_a_cursor_of_another_list_is_invalid_params():
    server = build(page_size=1)
    cursor = result(server, "tools/list")["nextCursor"]
    assert error(server, "prompts/list", {"cursor": cursor})["code"] == -32602


def test_a_cursor_to_an_item_that_was_removed_is_invalid_and_the_list_goes_on():
    server = build(page_size=2)
    cursor = result(server, "tools/list")["nextCursor"]
    server.remove("tools", "add")
    assert error(server, "tools/list", {"cursor": cursor})["code"] == -32602
    assert result(server, "tools/list")["tools"][1]["name"] == "count"


def test_a_list_that_ran_empty_is_still_a_list():
    """server/tools: a server that declares tools MUST answer tools/list; it MAY be empty."""
    server = Server("one", "1")
    server.tool({"name": "only", "inputSchema": {"type": "object"}})(lambda call: "")
    server.remove("tools", "only")
    assert result(server, "server/discover")["capabilities"] == {"tools": {"listChanged": True}}
    assert result(server, "tools/list")["tools"] == []


def test_the_order_of_a_list_is_the_same_every_time():
    one, other = build(), build()
    for method, kind in revision.LISTS.items():
        assert result(one, method)[kind] == result(one, method)[kind] == result(other, method)[kind]


def test_a_definition_is_listed_as_it_stands(server):
    definition = {
        "name": "odd",
        "title": "Odd",
        "annotations": {"readOnlyHint": True},
        "icons": [{"src": "https://example.com/i.png"}],
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
        },
    }
    server = Server("odd", "1")
    server.tool(definition)(lambda call: "")
    assert result(server, "tools/list")["tools"] == [definition]


@pytest.mark.parametrize("schema", [None, {}, [], {"type": "array"}, {"type": ["object"]}, True])
def test_a_tool_needs_an_object_schema(schema):
    with pytest.raises(IllegalSchema, match="inputSchema"):
        Server("x", "1").tool({"name": "bad", "inputSchema": schema})


# --- tools ---


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, '"a" is missing'),
        ({"a": 1}, '"b" is missing'),
        ({"a": 1, "b": "2"}, '"b" is'),
        ({"a": 1, "b": None}, '"b" is'),
        ({"a": True, "b": 2}, '"a" is'),
        ({"a": 1.5, "b": 2}, '"a" is'),
    ],
)
def test_invalid_arguments_are_for_the_model_to_mend(server, arguments, said):
    found = call(server, "add", arguments)
    assert found["isError"] is True
    assert found["resultType"] == "complete"
    assert said in text(found)


def test_structured_content_goes_with_its_text(server):
    found = call(server, "add", {"a": 2, "b": 3})
    assert (text(found), found["structuredContent"], found["isError"]) == ("5", {"sum": 5}, False)


@pytest.mark.parametrize(
    "made", [text_result("5", {"sum": "5"}), text_result("5"), {"content": []}]
)
def test_a_result_that_breaks_its_output_schema_is_our_error(made):
    server = Server("x", "1")
    schema = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
    definition = {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema}
    server.tool(definition)(lambda call: made)
    assert error(server, "tools/call", {"name": "t"})["code"] == -32603


def test_a_failed_tool_needs_no_structured_content():
    server = Server("x", "1")
    definition = {
        "name": "t",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object"},
    }
    server.tool(definition)(lambda call: text_result("no", is_error=True))
    assert call(server, "t")["isError"] is True


@pytest.mark.parametrize("tool", ["fail", "fail_midway"])
@pytest.mark.parametrize("how", ["exception", "exit", "upstream"])
def test_what_a_tool_raises_stays_here(server, capsys, tool, how):
    found = call(server, tool, {"how": how})
    assert found["isError"] is True
    assert text(found) == f"The tool {tool} failed."
    assert SECRET in capsys.readouterr().err, "but its author can read it"


@pytest.mark.parametrize("tool", ["fail", "fail_midway"])
def test_what_an_author_puts_into_words_reaches_the_model(server, tool):
    found = call(server, tool, {"how": "words"})
    assert (found["isError"], text(found)) == (True, "The calendar is closed on Sundays.")


@pytest.mark.parametrize("tool", ["fail", "fail_midway"])
def test_a_protocol_error_of_ours_is_one(server, tool):
    refusal = error(server, "tools/call", {"name": tool, "arguments": {"how": "protocol"}})
    assert (refusal["code"], refusal["message"]) == (-32602, "not like this")


@pytest.mark.parametrize("made", [None, 7, ["text"], object(), {"_meta": 7, "content": []}])
def test_a_tool_that_returns_nonsense_is_an_internal_error(made, capsys):
    server = Server("x", "1")
    server.tool({"name": "t", "inputSchema": {"type": "object"}})(lambda call: made)
    assert error(server, "tools/call", {"name": "t"})["message"] == "Internal error"


@pytest.mark.parametrize("kind", ["resources", "prompts"])
@pytest.mark.parametrize("trouble", [RuntimeError(SECRET), SystemExit(SECRET)])
def test_what_other_handlers_raise_stays_here_too(kind, trouble, capsys):
    server = Server("x", "1")

    def bad(call):
        raise trouble

    server.resource({"uri": "a://b", "name": "b"})(bad)
    server.prompt({"name": "p"})(bad)
    method, params = {
        "resources": ("resources/read", {"uri": "a://b"}),
        "prompts": ("prompts/get", {"name": "p"}),
    }[kind]
    refusal = error(server, method, params)
    assert (refusal["code"], refusal["message"]) == (-32603, "Internal error")


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        ({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}, "draft-07"),
        ({"type": "object", "$ref": "https://example.com/schema.json"}, "https://example.com"),
        ({"type": "object", "unevaluatedProperties": False}, "unevaluatedProperties"),
    ],
)
def test_a_schema_that_cannot_be_judged_is_named(schema, named):
    """basic/index, "Schema Dialect": an error that says the dialect is not supported."""
    server = Server("x", "1")
    server.tool({"name": "t", "inputSchema": schema})(lambda call: "ran")
    refusal = error(server, "tools/call", {"name": "t"})
    assert refusal["code"] == -32603
    assert named in refusal["message"]


# --- progress and logs ---


def test_progress_is_sent_only_where_it_was_asked_for(server):
    params = {"name": "count", "arguments": {"to": 3}}
    assert [m for m in ask(server, "tools/call", params) if "method" in m] == []
    for token in (7, "seven", 0, ""):
        *notes, answer = ask(server, "tools/call", params, progressToken=token)
        assert [note["params"] for note in notes] == [
            {"progressToken": token, "progress": n, "total": 3, "message": f"step {n}"}
            for n in (1, 2, 3)
        ]
        assert answer["result"]["content"] == [{"type": "text", "text": "counted"}]


def test_progress_increases_or_is_not_sent():
    server = Server("x", "1")

    @server.tool({"name": "t", "inputSchema": {"type": "object"}})
    def t(call):
        for value in (0, 0.5, 0.5, 0.2, 1):
            yield call.progress(value)
        return "done"

    *notes, _ = ask(server, "tools/call", {"name": "t"}, progressToken=1)
    assert [note["params"]["progress"] for note in notes] == [0, 0.5, 1]


@pytest.mark.parametrize(
    ("level", "heard"),
    [(None, []), ("debug", ["info", "debug"]), ("info", ["info"]), ("warning", []),
     ("emergency", [])],
)  # fmt: skip
def test_logs_are_sent_only_at_the_level_asked_for(server, level, heard):
    wanted = {} if level is None else {revision.LOG_LEVEL: level}
    *notes, _ = ask(server, "tools/call", {"name": "count", "arguments": {"to": 1}}, **wanted)
    assert [note["params"]["level"] for note in notes] == heard


def test_a_server_that_logs_says_so():
    server = Server("quiet", "1")
    server.tool({"name": "t", "inputSchema": {"type": "object"}})(lambda call: call.log("info", 1))
    assert error(server, "tools/call", {"name": "t"})["code"] == -32603


def test_nothing_is_sent_for_a_request_that_was_cancelled():
    """basic/transports/stdio: MUST NOT send any further messages for it."""
    server, sent, stopped = Server("x", "1"), [], []

    @server.tool({"name": "t", "inputSchema": {"type": "object"}})
    def t(call):
        try:
            for step in range(10):
                yield call.progress(step)
        finally:
            stopped.append(step)

    params = {"name": "t", "_meta": meta(progressToken=1)}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    for note in server.handle(message, cancelled=lambda: len(sent) == 3):
        sent.append(note["params"]["progress"])
    assert (sent, stopped) == ([0, 1, 2], [3]), "the tool stops at its next yield"
    for name in ("tools/list", "no/such"):
        message = {"jsonrpc": "2.0", "id": 1, "method": name, "params": {"_meta": meta()}}
        assert list(server.handle(message, cancelled=lambda: True)) == []


# --- resources, prompts, completion ---


def test_text_and_bytes_are_told_apart(server):
    (one,) = result(server, "resources/read", READ)["contents"]
    assert one == {"uri": "memo://one", "mimeType": "text/plain", "text": "the first memo"}
    (other,) = result(server, "resources/read", {"uri": "memo://bytes"})["contents"]
    assert other == {"uri": "memo://bytes", "mimeType": "image/png", "blob": "iVBOR/8A"}


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("memo://monday/tea", "tea on monday"),
        ("memo://monday/caf%C3%A9%20cr%C3%A8me", "café crème on monday"),
        ("memo://a%2Fb/c", "c on a/b"),
        ("memo://{day}/x", "x on {day}"),
        ("memo://50%25/x", "x on 50%"),
        ("memo://✓/日本", "日本 on ✓"),
    ],
)
def test_a_template_matches_and_decodes_its_parts(server, uri, said):
    (found,) = result(server, "resources/read", {"uri": uri})["contents"]
    assert (found["uri"], found["text"]) == (uri, said)


@pytest.mark.parametrize("uri", ["memo:///tea", "memo://monday/", "memo://a/b/c", "memo://monday",
                                 "Memo://monday/tea", "memo://monday/tea\n"])  # fmt: skip
def test_a_template_matches_nothing_else(server, uri):
    assert error(server, "resources/read", {"uri": uri})["data"] == {"uri": uri}


def test_any_name_may_stand_in_a_template():
    server = Server("x", "1")
    for template in ("one://{1}", "two://{a}.{b}", "dot://a.b/{x}"):
        server.template({"uriTemplate": template, "name": "t"})(lambda call: str(call.variables))
    for uri, said in (
        ("one://x", "{'1': 'x'}"),
        ("two://x.y", "{'a': 'x', 'b': 'y'}"),
        ("dot://a.b/1", "{'x': '1'}"),
    ):
        assert result(server, "resources/read", {"uri": uri})["contents"][0]["text"] == said
    assert error(server, "resources/read", {"uri": "dot://aXb/1"})["code"] == -32602


def test_a_prompt_becomes_messages(server):
    found = result(server, "prompts/get", {"name": "greet", "arguments": {"who": "Ada"}})
    assert found["description"] == "Say hello."
    content = {"type": "text", "text": "Say hello to Ada."}
    assert found["messages"] == [{"role": "user", "content": content}]


@pytest.mark.parametrize(
    ("value", "values", "total", "more"),
    [
        ("day-01", 10, 10, False),
        ("", 100, 150, True),
        ("day-0", 100, 100, False),
        ("x", 0, 0, False),
    ],
)
def test_completion_stops_at_a_hundred(server, value, values, total, more):
    ref = {"type": "ref/resource", "uri": "memo://{day}/{title}"}
    params = {"ref": ref, "argument": {"name": "day", "value": value}}
    found = result(server, "completion/complete", params)["completion"]
    assert (len(found["values"]), found["total"], found["hasMore"]) == (values, total, more)


def test_an_argument_that_nobody_completes_has_no_values(server):
    for ref, name in (
        ({"type": "ref/prompt", "name": "greet"}, "tone"),
        ({"type": "ref/resource", "uri": "memo://one"}, "x"),
    ):
        params = {"ref": ref, "argument": {"name": name, "value": ""}}
        found = result(server, "completion/complete", params)["completion"]
        assert found == {"values": [], "total": 0, "hasMore": False}


def test_the_metadata_of_a_handler_is_kept_beside_ours():
    server = Server("x", "1")
    made = {"content": [], "_meta": {"example.com/trace": "t-1"}}
    server.tool({"name": "t", "inputSchema": {"type": "object"}})(lambda call: made)
    found = call(server, "t")
    assert found["_meta"]["example.com/trace"] == "t-1"
    assert found["_meta"][revision.SERVER_INFO]["name"] == "x"
    assert made == {"content": [], "_meta": {"example.com/trace": "t-1"}}, "not changed in place"


def test_unknown_metadata_is_tolerated(server):
    assert result(server, "tools/list", **{"example.com/x": [1], "traceparent": "00-a-b-01"})
    assert meta()[revision.PROTOCOL_VERSION] == "2026-07-28"
