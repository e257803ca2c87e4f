"""Headers that repeat the body: how a value is written and read, whose argument has one, who lies.

All of it without a socket. Where a row says what a naive implementation makes of it, that is wrong.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared import inbound as official

from mcp_bare import headers, revision
from mcp_bare.errors import HeaderMismatch, IllegalSchema, RpcError
from mcp_bare.http_learned import Learned, why_unusable
from mcp_bare.mirrors import Mirror, mirrors
from mcp_bare.server import Server
from tests.http import lab, naive
from tests.protocol.asking import examples

# --- one value ---

ENCODED = [
    # the text, its header, whether naive code gets it right too
    ("us-west1", "us-west1", True),
    ("", "", True),
    ("two words", "two words", True),
    ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?=", True),
    (" padded ", "=?base64?IHBhZGRlZCA=?=", False),
    ("\tindented", "=?base64?CWluZGVudGVk?=", False),
    ("a\tb", "=?base64?YQli?=", False),
    ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?=", False),
    ("a\r\nMcp-Method: evil", "=?base64?YQ0KTWNwLU1ldGhvZDogZXZpbA==?=", False),
    ("\x7f", "=?base64?fw==?=", False),
    ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", False),
    ("=?base64??=", "=?base64?PT9iYXNlNjQ/Pz0=?=", False),
    ("=?BASE64?SGk=?=", "=?BASE64?SGk=?=", True),
    ("=?base64?SGk=", "=?base64?SGk=", True),
]


@pytest.mark.parametrize(("text", "header", "naively"), ENCODED)
def test_a_value_is_encoded_where_it_must_be(text, header, naively):
    assert headers.encode(text) == header
    assert headers.decode(header) == text
    assert (naive.encode(text) == header) == naively


BROKEN = [
    "=?base64?SGVsbG8?=",  # the padding is missing
    "=?base64?SGVsbG8==?=",  # there is too much of it
    "=?base64?SGVs!!!bG8=?=",
    "=?base64?SGVs bG8=?=",
    "=?base64?SGVsbG9=?=",  # bits left over: a second spelling of "Hello"
    "=?base64?_-8=?=",  # the alphabet of URLs
    "=?base64?/w==?=",  # not UTF-8
    "=?base64?7aCA?=",  # a surrogate, in the clothes of UTF-8
    "=?base64?=SGk?=",
]


@pytest.mark.parametrize("header", BROKEN)
def test_a_broken_base64_form_is_no_text(header):
    with pytest.raises(ValueError):
        headers.decode(header)
    assert official.decode_header_value(header) is None, "the official SDK agrees"


def test_a_naive_decoder_takes_what_is_broken():
    assert naive.decode("=?base64?SGVsbG8?=") == "Hello"
    assert naive.decode("=?BASE64?SGVsbG8=?=") == "Hello"


@examples(500)
@given(st.text() | st.from_regex(r"=\?base64\?.*\?=", fullmatch=True))
def test_any_text_survives_and_fits_into_a_header(text):
    try:
        header = headers.encode(text)
    except UnicodeEncodeError:
        assert any("\ud800" <= letter <= "\udfff" for letter in text)
        return
    assert headers.decode(header) == text
    assert all(" " <= letter <= "~" for letter in header)
    assert header == header.strip()
    assert official.decode_header_value(header) == text
    try:
        theirs = official.encode_header_value(text)
    except UnicodeEncodeError:
        return
    assert headers.decode(theirs) == text


@examples(500)
@given(st.text(st.characters(max_codepoint=127)) | st.sampled_from(BROKEN))
def test_any_header_is_a_text_or_a_clear_refusal(header):
    try:
        text = headers.decode(header)
    except ValueError:
        assert official.decode_header_value(header) is None
    else:
        assert official.decode_header_value(header) == text


# --- whose argument has a header ---

S, N, B = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}


def on(name: Any, where: dict[str, Any] = S) -> dict[str, Any]:
    return {**where, "x-mcp-header": name}


def props(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


LEGAL = [
    (props(region=on("Region")), [("Region", "region")]),
    (props(a=on("A"), b=on("B", N), c=on("C", B)), [("A", "a"), ("B", "b"), ("C", "c")]),
    (props(where=props(city=on("City"))), [("City", "where/city")]),
    (props(a=on("!#$%&'*+-.^_`|~9")), [("!#$%&'*+-.^_`|~9", "a")]),
    (props(a=S), []),
    ({"type": "object"}, []),
    ({**props(a=S), "default": {"x-mcp-header": 1}, "enum": [{"x-mcp-header": 1}]}, []),
    (props(**{"x-mcp-header": S}), []),  # an argument of that name
    (props(**{"x-mcp-header": on("X")}), [("X", "x-mcp-header")]),
    ({"$ref": "#/$defs/a", "$defs": {"a": props(b=S)}}, []),
    (None, []),
    (42, []),
]
ILLEGAL = [
    (props(a=on("")), "no header name"),
    (props(a=on("My Region")), "no header name"),
    (props(a=on("Région")), "no header name"),
    (props(a=on("Region:Primary")), "no header name"),
    (props(a=on("Region\t1")), "no header name"),
    (props(a=on("Region\n")), "no header name"),
    (props(a=on("Evil\r\nX: y")), "no header name"),
    (props(a=on(None)), "no header name"),
    (props(a=on(7)), "no header name"),
    (props(a=on(["A"])), "no header name"),
    (props(a=on("A", {"type": "number"})), "of type 'number'"),
    (props(a=on("A", {"type": "object"})), "of type 'object'"),
    (props(a=on("A", {"type": "array"})), "of type 'array'"),
    (props(a=on("A", {"type": "null"})), "of type 'null'"),
    (props(a=on("A", {"type": ["string", "null"]})), "of type"),
    (props(a=on("A", {"enum": ["x"]})), "of type None"),
    (props(a=on("A", {"$ref": "#/$defs/s"})), "of type None"),
    (props(a=on("A"), b=on("A")), "twice"),
    (props(a=on("Region"), b=props(c=on("rEGION"))), "twice"),
    (on("Root", {"type": "object"}), "no chain"),
    (props(a={"type": "array", "items": on("A")}), "no chain"),
    (props(a={"type": "array", "prefixItems": [on("A")]}), "no chain"),
    (props(a={"type": "array", "items": props(b=on("A"))}), "no chain"),
    ({**props(), "anyOf": [props(a=on("A"))]}, "no chain"),
    ({**props(), "not": props(a=on("A"))}, "no chain"),
    ({**props(), "if": props(a=on("A"))}, "no chain"),
    ({**props(), "then": props(a=on("A"))}, "no chain"),
    ({**props(), "additionalProperties": on("A")}, "no chain"),
    ({**props(), "patternProperties": {"a": on("A")}}, "no chain"),
    ({**props(), "$defs": {"a": on("A")}}, "no chain"),
    ({**props(), "dependentSchemas": {"a": props(b=on("A"))}}, "no chain"),
]


@pytest.mark.parametrize(("schema", "found"), LEGAL)
def test_annotations(schema, found):
    expected = [Mirror(f"Mcp-Param-{name}", tuple(path.split("/"))) for name, path in found]
    assert sorted(mirrors(schema), key=str) == sorted(expected, key=str)
    assert official.find_invalid_x_mcp_header(schema) is None
    assert why_unusable({"inputSchema": schema}) is None


@pytest.mark.parametrize(("schema", "says"), ILLEGAL)
def test_an_annotation_that_breaks_a_rule(schema, says):
    with pytest.raises(IllegalSchema, match=says):
        mirrors(schema)
    assert official.find_invalid_x_mcp_header(schema) is not None, "the official SDK agrees"
    assert says in why_unusable({"name": "x", "inputSchema": schema})
    if schema.get("type") == "object":
        with pytest.raises(IllegalSchema):
            Server("x", "1").tool({"name": "x", "inputSchema": schema})


@examples(300)
@given(st.recursive(
    st.none() | st.sampled_from(["A", "string", "integer", "a b"]) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["properties", "type", "x-mcp-header", "items", "anyOf", "$defs", "a"]),
        inner, max_size=4),
    max_leaves=12,
))  # fmt: skip
def test_what_the_official_sdk_refuses_is_refused_here(schema):
    """We refuse a little more: an annotation in an `anyOf` that is no list, say."""
    if official.find_invalid_x_mcp_header(schema) is not None:
        assert why_unusable({"inputSchema": schema}) is not None


# --- what a client derives ---

DERIVED = [
    (lab.request("tools/list"), {"Mcp-Method": "tools/list"}),
    (lab.call("echo"), {"Mcp-Method": "tools/call", "Mcp-Name": "echo"}),
    (lab.request("prompts/get", {"name": "héllo"}),
     {"Mcp-Method": "prompts/get", "Mcp-Name": "=?base64?aMOpbGxv?="}),
    (lab.request("resources/read", {"uri": "file:///a b"}),
     {"Mcp-Method": "resources/read", "Mcp-Name": "file:///a b"}),
    (lab.request("tools/list", {"name": "x", "": "y"}), {"Mcp-Method": "tools/list"}),
    (lab.request("tools/call", {"name": 7}), {"Mcp-Method": "tools/call"}),
    ({"jsonrpc": "2.0", "method": "notifications/x"}, {"Mcp-Method": "notifications/x"}),
]  # fmt: skip


@pytest.mark.parametrize(("message", "found"), DERIVED)
def test_standard_headers(message, found):
    version = {"MCP-Protocol-Version": revision.CURRENT}
    assert Learned().headers_for(message) == {**version, **found}


MIRRORED = [
    ({"region": "us-west1"}, {"Region": "us-west1"}),
    ({"region": "Iași"}, {"Region": "=?base64?SWHImWk=?="}),
    ({"region": ""}, {"Region": ""}),
    ({"priority": 42}, {"Priority": "42"}),
    ({"priority": -7}, {"Priority": "-7"}),
    ({"priority": 42.0}, {"Priority": "42"}),
    ({"priority": 2**53 - 1}, {"Priority": "9007199254740991"}),
    ({"loud": False}, {"Loud": "false"}),
    ({"loud": True}, {"Loud": "true"}),
    ({"where": {"city": "Cluj"}}, {"City": "Cluj"}),
    ({"where": "elsewhere"}, {}),
    ({"region": None, "query": "SELECT 1"}, {}),
    ({"region": ["a"], "where": {"city": {}}}, {}),  # for the schema to refuse
    ({}, {}),
    (None, {}),
]


@pytest.mark.parametrize(("arguments", "found"), MIRRORED)
def test_mirrored_arguments(arguments, found):
    learned = Learned()
    listed = {"tools": [{"name": "route", "inputSchema": lab.ROUTED}]}
    answer = json.dumps({"jsonrpc": "2.0", "id": 1, "result": listed}).encode()
    learned.hear(lab.request("tools/list"), answer, None)
    message = lab.request("tools/call", {"name": "route", "arguments": arguments})
    sent = learned.headers_for(message)
    assert {k[10:]: v for k, v in sent.items() if k.startswith("Mcp-Param-")} == found


@pytest.mark.parametrize("value", [2**53, -(2**53), 1e300])
def test_an_integer_that_no_header_may_carry(value):
    with pytest.raises(ValueError, match="beyond"):
        headers.mirrored(mirrors(lab.ROUTED), {"priority": value})


@pytest.mark.parametrize(
    "answer",
    [b"{", b"[]", b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}',
     b'{"jsonrpc":"2.0","id":1,"result":{"tools":7}}',
     b'{"jsonrpc":"2.0","id":1,"result":{"tools":[7,{},{"name":7},{"name":"a"}]}}'],
)  # fmt: skip
def test_nothing_is_learned_from_nonsense(answer):
    learned = Learned()
    for method in ("tools/list", "initialize"):
        learned.hear({"method": method}, answer, "session")
    assert learned.legacy is None
    assert "Mcp-Name" in learned.headers_for(lab.call("a"))


# --- who lies ---


def agrees(message: dict[str, Any], **changes: Any) -> None:
    """The server's judgement of a message and its headers but for the changes.

    A changed header is named with underscores; a list is a header that is given several times.
    """
    annotated = mirrors(lab.ROUTED) if message["method"] == "tools/call" else []
    given = {**lab.due(message), **headers.mirrored(annotated, ARGUMENTS)}
    for name, value in changes.items():
        given[name.replace("_", "-")] = value
    lower = {name.lower(): value for name, value in given.items() if value is not None}

    def values(name: str) -> list[str]:
        found = lower.get(name.lower(), [])
        return found if isinstance(found, list) else [found]

    headers.agree(values, message, annotated)


ARGUMENTS = {"region": "Iași", "priority": 42, "loud": True, "where": {"city": "Cluj"}}
ROUTE = lab.call("route", **ARGUMENTS)

TRUE = [
    {},
    {"Mcp_Name": "=?base64?cm91dGU=?="},  # encoded though it need not be
    {"Mcp_Param_Priority": "42.0"},
    {"Mcp_Param_Priority": "042"},
    {"Mcp_Param_Priority": "=?base64?NDI=?="},
    {"Mcp_Param_Unheard_Of": "anything"},
    {"Mcp_Param_City": "Cluj"},
]
FALSE = [
    ({"MCP_Protocol_Version": None}, -32020),
    ({"MCP_Protocol_Version": "1999-01-01"}, -32020),
    ({"MCP_Protocol_Version": [revision.CURRENT, revision.CURRENT]}, -32020),
    ({"Mcp_Method": None}, -32020),
    ({"Mcp_Method": "tools/list"}, -32020),
    ({"Mcp_Method": "TOOLS/CALL"}, -32020),
    ({"Mcp_Method": "=?base64?dG9vbHMvY2FsbA==?="}, -32020),  # only names and arguments have it
    ({"Mcp_Name": None}, -32020),
    ({"Mcp_Name": "Route"}, -32020),
    ({"Mcp_Name": "ro\xfbte"}, -32020),
    ({"Mcp_Name": ["route", "route"]}, -32020),
    ({"Mcp_Name": "=?base64?cm91dGU?="}, -32020),
    ({"Mcp_Name": "=?BASE64?cm91dGU=?="}, -32020),
    ({"Mcp_Param_Region": None}, -32020),
    ({"Mcp_Param_Region": "Iasi"}, -32020),
    ({"Mcp_Param_Region": "=?base64?SWHImWk?="}, -32020),
    ({"Mcp_Param_Priority": "43"}, -32020),
    ({"Mcp_Param_Priority": "42.5"}, -32020),
    ({"Mcp_Param_Priority": "4.2e1"}, -32020),
    ({"Mcp_Param_Priority": "forty-two"}, -32020),
    ({"Mcp_Param_Priority": ""}, -32020),
    ({"Mcp_Param_Loud": "True"}, -32020),
    ({"Mcp_Param_Loud": "1"}, -32020),
    ({"Mcp_Param_City": ["Cluj", "Iasi"]}, -32020),
]


@pytest.mark.parametrize("changes", TRUE, ids=str)
def test_headers_that_say_what_the_body_says(changes):
    agrees(ROUTE, **changes)


@pytest.mark.parametrize(("changes", "code"), FALSE, ids=str)
def test_headers_that_do_not(changes, code):
    with pytest.raises(RpcError) as caught:
        agrees(ROUTE, **changes)
    assert caught.value.code == code
    name = next(iter(changes)).replace("_", "-")
    assert name in caught.value.message


def test_a_header_without_its_argument():
    """A proxy would route by what the body does not say."""
    without = lab.call("route", **{**ARGUMENTS, "region": None})
    with pytest.raises(HeaderMismatch, match="no such argument"):
        agrees(without)
    agrees(without, Mcp_Param_Region=None)
    odd = lab.call("route", **{**ARGUMENTS, "region": ["Iași"]})
    with pytest.raises(HeaderMismatch, match="no such argument"):
        agrees(odd)
    agrees(odd, Mcp_Param_Region=None)  # and the schema says what is wrong


def test_an_integer_that_two_machines_read_differently():
    with pytest.raises(HeaderMismatch, match="beyond"):
        agrees(lab.call("route", **{**ARGUMENTS, "priority": 2**53}))


VERSIONS = [
    # what the body says, what the header says, the code
    (revision.CURRENT, revision.CURRENT, None),
    ("1999-01-01", "1999-01-01", -32022),
    ("1999-01-01", revision.CURRENT, -32020),
    (None, "1999-01-01", -32022),
    (None, revision.CURRENT, None),  # -32602 is for the server to say
    (7, revision.CURRENT, None),
    (None, None, -32020),
]


@pytest.mark.parametrize(("body", "header", "code"), VERSIONS)
def test_versions(body, header, code):
    message = lab.request("tools/list", None, 1, **{revision.PROTOCOL_VERSION: body})
    if body is None:
        del message["params"]["_meta"][revision.PROTOCOL_VERSION]
    if code is None:
        agrees(message, MCP_Protocol_Version=header)
        return
    with pytest.raises(RpcError) as caught:
        agrees(message, MCP_Protocol_Version=header)
    assert caught.value.code == code
    if code == -32022:
        expected = {"supported": [revision.CURRENT], "requested": "1999-01-01"}
        assert caught.value.data == expected


ANY = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text()


@examples(300)
@given(st.dictionaries(st.sampled_from(["region", "priority", "loud", "query"]), ANY), ANY)
def test_what_a_client_derives_a_server_finds_true(arguments, city):
    arguments["where"] = {"city": city}
    message = lab.call("route", **arguments)
    try:
        found = {**lab.due(message), **headers.mirrored(mirrors(lab.ROUTED), arguments)}
    except UnicodeEncodeError:  # a lone surrogate
        return
    lower = {name.lower(): value for name, value in found.items()}
    headers.agree(
        lambda name: [lower[name.lower()]] if name.lower() in lower else [],
        message,
        mirrors(lab.ROUTED),
    )
    theirs = official.validate_mcp_param_headers(lab.ROUTED, arguments, found)
    assert theirs is None, "and so does the official SDK"
