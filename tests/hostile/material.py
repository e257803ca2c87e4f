"""Good messages and what can be done to them; headers, streams, challenges, tokens, schemas.

A hostile input is a good one with a few things wrong, because a parser that survives noise can
still trip over what is almost right. A mutation is drawn as (kind, place, value),
so that hypothesis
can shrink what it finds.
"""

import json

from hypothesis import strategies as st

from mcp_bare import revision
from tests.http.lab import call, request

# --- values that nobody expects; those between @ are no JSON values, and put in afterwards ---

RAW = {
    "@LONG@": b"9" * 5000,
    "@HUGE@": b"1e999",
    "@NAN@": b"NaN",
    "@DEEP@": b"[" * 200 + b"]" * 200,
    "@DEEPER@": b'{"a":' * 3000,
    "@HALF@": b'"\\ud83d"',
    "@BIG@": b'"' + b"x" * 70_000 + b"\\u0000" * 100 + b'"',
    "@MINUS@": b"-0",
    "@TWICE@": b'{"a":1,"a":2}',
}
MISFITS = st.sampled_from(
    [None, True, False, 0, -1, 1.5, 10**30, 2**63, "", "1", "\u0000", "\u2028", "日本", "../..", [],
     "%ff", "=?base64?x?=", "a\r\nX-Injected: yes", "x" * 300, [[]], {}, {"a": []}, [None, {}],
     "echo",
     {"type": "object"}, {"$ref": "#"}, "memo://one", "tools/call", "2025-11-25", *RAW]
)  # fmt: skip
NAMES = st.sampled_from(
    ["jsonrpc", "id", "method", "params", "result", "error", "_meta", "name", "arguments", "uri",
     "cursor", "requestState", "inputResponses", "progressToken", "code", "message", "data",
     "__proto__",
     revision.PROTOCOL_VERSION, revision.CLIENT_CAPABILITIES, revision.SUBSCRIPTION_ID, ""]
)  # fmt: skip
PLACES = st.integers(0, 1000)
IN_JSON = st.tuples(st.sampled_from(["replace", "delete", "rename", "add", "wrap"]), PLACES,
                    st.tuples(NAMES, MISFITS))  # fmt: skip
PIECES = st.sampled_from(
    [b"\xff", b"\x00", b"\r", b"\n", b"\r\n", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc0\xaf",
     b" " * 50,
     b"\xe2\x80\xa8", b"\x1b[31m", b",", b"}", b"]", b'"', b"\\", b"0", b"/**/", b"\x85",
     b"{" * 300]
)  # fmt: skip
IN_BYTES = st.tuples(st.sampled_from(["insert", "cut", "head", "repeat", "overwrite"]),
                     st.integers(0, 4000), PIECES)  # fmt: skip


def paths(value, here=()):
    """Every place in a JSON value, the root first."""
    yield here
    inner = {}
    if isinstance(value, dict | list):
        inner = value if isinstance(value, dict) else dict(enumerate(value))
    for key, below in inner.items():
        yield from paths(below, (*here, key))


def changed(value, mutation):
    """A copy with one thing wrong, at any depth."""
    what, place, (name, other) = mutation
    value = json.loads(json.dumps(value))
    found = list(paths(value))
    *above, last = found[place % len(found)] or (None,)
    if last is None:
        return {"replace": other, "wrap": [value]}.get(what, value)
    holder = value
    for key in above:
        holder = holder[key]
    if what == "replace":
        holder[last] = other
    elif what == "wrap":
        holder[last] = [holder[last]]
    elif what == "delete":
        del holder[last]
    elif isinstance(holder, dict):
        holder[name] = holder.pop(last) if what == "rename" else other
    return value


def spoiled(data, mutation):
    """Bytes with one thing wrong."""
    what, place, piece = mutation
    at = place % (len(data) + 1)
    if what == "insert":
        return data[:at] + piece + data[at:]
    if what == "overwrite":
        return data[:at] + piece + data[at + len(piece) :]
    return {"cut": data[:at], "head": piece + data, "repeat": data[:at] * 2 + data[at:]}[what]


def written(value):
    data = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    for name, raw in RAW.items():
        data = data.replace(json.dumps(name).encode(), raw).replace(name.encode(), b"x")
    return data


def hostile(good, most=3):
    """Bytes: one of the good values, with up to three things wrong in it, and two in its bytes."""
    return st.builds(_made, good, st.lists(IN_JSON, max_size=most), st.lists(IN_BYTES, max_size=2))


def _made(value, in_json, in_bytes):
    for mutation in in_json:
        value = changed(value, mutation)
    data = written(value)
    for mutation in in_bytes:
        data = spoiled(data, mutation)
    return data


# --- what a client sends ---

ANSWERS = {"when": {"action": "accept", "content": {"at": "2030-01-31T09:00:00Z"}}}
GOOD = [
    request("server/discover"),
    request("tools/list", {"cursor": "61"}),
    call("echo", text="hi"),
    call("add", id="seven", a=1, b=2),
    call("route", region="eu", priority=7, loud=True, where={"city": "Iași"}),
    request("tools/call", {"name": "book", "arguments": {"title": "x"}, "requestState": "v1.a.b",
                           "inputResponses": ANSWERS}),
    call("fail", how="words"),
    request("resources/read", {"uri": "memo://monday/tea"}),
    request("prompts/get", {"name": "greet", "arguments": {"who": "Ada"}}),
    request("completion/complete", {"ref": {"type": "ref/prompt", "name": "greet"},
                                    "argument": {"name": "who", "value": "A"}}),
    request("subscriptions/listen", {"notifications": {"toolsListChanged": True}}),
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 1, "result": {}},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "no"}},
    {"jsonrpc": "2.0", "id": 1, "method": "initialize",
     "params": {"protocolVersion": "2025-11-25"}},
]  # fmt: skip
MESSAGES = hostile(st.sampled_from(GOOD)) | st.binary(max_size=30)

# --- what a server sends ---

DONE = {"resultType": "complete", "content": [{"type": "text", "text": "hé"}]}
ASKED = {
    "resultType": "input_required",
    "inputRequests": {"q": {"method": "elicitation/create", "params": {
        "mode": "form", "message": "?", "requestedSchema": {
            "type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}}}}},
    "requestState": "s",
}  # fmt: skip
REPLIES = [
    {"jsonrpc": "2.0", "id": "@ID@", "result": DONE},
    {"jsonrpc": "2.0", "id": "@ID@", "result": {**DONE, "structuredContent": {"sum": 3}}},
    {"jsonrpc": "2.0", "id": "@ID@", "result": ASKED},
    {"jsonrpc": "2.0", "id": "@ID@", "error": {"code": -32602, "message": "no", "data": {"a": 1}}},
    {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "no"}},
    {"jsonrpc": "2.0", "id": 7, "method": "ping"},
    {"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": {"message": "?"}},
    {"jsonrpc": "2.0", "method": "notifications/progress",
     "params": {"progressToken": "@ID@", "progress": 1, "total": 2}},
    {"jsonrpc": "2.0", "method": "notifications/tools/list_changed",
     "params": {"_meta": {revision.SUBSCRIPTION_ID: "@ID@"}}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "@ID@"}},
    {"jsonrpc": "2.0", "id": "@ID@", "result": {
        "resultType": "complete", "ttlMs": 1000, "cacheScope": "public",
        "tools": [{"name": "echo", "inputSchema": {"type": "object"},
                   "outputSchema": {"type": "object",
                                    "properties": {"a": {"pattern": "^(a+)+$"}}}}]}},
]  # fmt: skip
SAID = hostile(st.sampled_from(REPLIES)) | st.binary(max_size=30)


def with_id(data, id):
    """A reply to this very request."""
    return data.replace(b'"@ID@"', json.dumps(id).encode())


# --- headers of HTTP ---

HEADER_NAMES = st.sampled_from(
    ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-Region", "Mcp-Param-City",
     "Accept",
     "Content-Type", "Host", "Origin", "Authorization", "Content-Length", "Transfer-Encoding",
     "Expect",
     "Connection", "Content-Encoding", "Cookie", "X-Forwarded-Host", "mcp-method", "Mcp-Param-", ""]
)  # fmt: skip
HEADER_VALUES = st.one_of(
    st.sampled_from(
        [None, "", "*/*", "application/json", "text/event-stream", "application/json;q=0",
         "chunked",
         "chunked, chunked", "identity", "gzip", "0", "-1", "+5", "0x10", "1e3", "5, 5", "9" * 40,
         "100-continue", "close", "keep-alive, upgrade", "2026-07-28", "2025-11-25", "tools/call",
         "echo", "=?base64?ZWNobw==?=", "=?base64?/w==?=", "=?base64??=", "null",
         "http://evil.example",
         "http://127.0.0.1", "127.0.0.1:0", "[::1", "localhost:99999", "a" * 9000, "a\r\nX: y",
                                              "a\nb",
         "a\x00b", "Bearer x", "Bearer " + "a" * 9000, "Basic Og==", "\techo\t", "q=0" * 500]
    ),
    st.text(st.characters(max_codepoint=255), max_size=12),
)  # fmt: skip
HEADERS = st.dictionaries(HEADER_NAMES, HEADER_VALUES, max_size=4)

# --- Server-Sent Events ---

LINES = st.sampled_from(
    [b"data: ", b"data:", b"data", b"event: message", b"event: x", b"id: 1", b"id: \x00",
     b"retry: 10",
     b"retry: " + b"9" * 400, b": comment", b":", b"\xef\xbb\xbfdata: x", b"data: " + b"y" * 9000,
     b"\xff"]
)  # fmt: skip
ENDS = st.sampled_from(
    [b"\n", b"\r\n", b"\r", b"\n\n", b"\r\n\r\n", b"\r\r", b"\n\r", b"", b"\n\n\n"]
)


def events(replies):
    """Streams of events, well-formed for the most part."""
    told = st.builds(lambda data, end: b"data: " + data + end, replies, ENDS)
    other = st.builds(lambda line, end: line + end, LINES, ENDS)
    return st.lists(told | other, max_size=6)


# --- WWW-Authenticate, tokens, states ---

CHALLENGE = st.lists(
    st.sampled_from(
        ["Bearer ", "Basic ", "bearer", "DPoP ", 'error="invalid_token"', 'scope="a b"', "scope=a",
         ", ",
         ",", ",,", " ", "=", '"', "\\", '\\"', 'resource_metadata="https://h/.well-known/x"',
         "realm=x",
         'realm="\\', "abc==", "a=b=c", "\t", "\r\n ", "\r\n", "\x00", "é",
         'error_description="a, b=c"',
         "a" * 5000, '"' * 500, ", " * 2000, "Bearer a=1, " * 500, "=" * 3000, "Basic QQ==, "]
    )
    | st.text(max_size=3),
    max_size=9,
).map("".join)  # fmt: skip

# --- schemas, and values to hold against them ---

PATTERNS = st.sampled_from(
    ["^(a+)+$", "^(a|a)*$", "(x+x+)+y", "(.*)*x", "([a-z]+)*[A-Z]", "(", "[", "a{9999}{9999}",
                                                                           r"(a)\1",
     "(?<=a)b", "^[a-z]+$", "", "(?i)a", "((a{50}){50}){50}", "(?=.*.*.*.*.*.*x)", "\\", "*",
     "a" * 5000]
)  # fmt: skip
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["a" * 40 + "!", "x" * 40,
                                                                      "é", ""])
    | st.sampled_from([10**300, 0.1, -0.0, 1e308, "2026-02-30", "2026-07-28T25:00:00Z"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["a", "b", "a" * 40 + "!", "type"]), inner, max_size=4),
    max_leaves=10,
)  # fmt: skip
KEYWORDS = st.sampled_from(
    ["type", "enum", "const", "minimum", "maximum", "multipleOf", "minLength", "maxLength",
     "minItems",
     "required", "dependentRequired", "uniqueItems", "format", "$schema", "$ref", "title",
     "default",
     "$dynamicRef", "minContains", "maxContains", "$defs", "oneOf", "properties", "items",
     "enumNames"]
)  # fmt: skip
WORDS = st.sampled_from(
    ["object", "string", "array", "integer", "number", "null", "#", "#/$defs/a", "#/properties/a",
     "#/a/0",
     "#/%zz", "#a", "http://169.254.169.254/x", "#/$defs/" + "a/" * 300, "date", "date-time", "uri"]
)  # fmt: skip
SCHEMAS = st.recursive(
    st.booleans()
    | st.dictionaries(KEYWORDS, WORDS | ANY, max_size=3)
    | st.builds(lambda pattern: {"pattern": pattern}, PATTERNS)
    | st.sampled_from([{"$ref": "#"}, {"$ref": "#/$defs/a"}, {"type": ["string", "null"]}]),
    lambda inner: st.one_of(
        st.builds(lambda key, sub: {key: sub},
                  st.sampled_from(["items", "not", "contains", "propertyNames",
                                   "additionalProperties",
                                   "if", "then", "else"]), inner),
        st.builds(lambda key, subs: {key: subs},
                  st.sampled_from(["allOf", "anyOf", "oneOf", "prefixItems"]), st.lists(inner,
                                                                                        max_size=4)),
        st.builds(lambda key, subs: {key: subs},
                  st.sampled_from(["properties", "$defs", "dependentSchemas"]),
                  st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)),
        st.builds(lambda subs: {"patternProperties": subs},
                  st.dictionaries(PATTERNS, inner, max_size=2)),
        st.builds(lambda one, two: {**(one if isinstance(one, dict) else {}),
                                    **(two if isinstance(two, dict) else {})}, inner, inner),
    ),
    max_leaves=12,
)  # fmt: skip
