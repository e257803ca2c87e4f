# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Exercise 27.6. Post and stream
#
# *After notebook `ch27/06_post_and_stream`. Six stages, 14 points and 1 for words of your own,
# about 30 minutes.*
#
# Over HTTP a message is the body of a POST, and much can be wrong before anybody reads it. You refuse
# a bad request in nine ways, from the network up to the message; then you read a stream of events
# however it was cut, and a conversation that is half of another era.
#
# | status | code | refused is |
# |---|---|---|
# | 403 | | a page of another site, or a name that is not ours |
# | 404 | | another path |
# | 405 | | another verb than POST |
# | 415 | | a body that is not JSON |
# | 406 | | a client that does not take both kinds of answer |
# | 400 | -32020 | headers that do not say what the body says |
# | 400 | -32602 | a request without its metadata |
# | 400 | -32022 | a version that we do not speak |
# | 404 | -32601 | a method that we do not have |
#
# **How it works.** Run the cells from the top, with Shift+Enter; after a restart, all of them again.
# Write in those that begin with `# Stage`, and run them; the cell below each one checks what you
# wrote. Keep the line `# Stage ...`: by that line your cell is found.

# %%
import base64
import json

from mcp_bare.headers import decode
from mcp_bare.revision import CLIENT_CAPABILITIES, PROTOCOL_VERSION
from workbench.checks import check, tally

# %% role="given"
# Given: these are yours; another learner may have others.
PATH = "/mcp"  # or "/notes/mcp", "/api/mcp"
ORIGIN = "https://notes.example"  # or "https://app.notes.example", "https://desk.example"
URI = "note://grüße"  # or "note://żółw", "note://東京"

# %% [markdown]
# ## The bytes
#
# `parse` takes a request apart, and `reply` puts an answer together. The headers are pairs, as they
# came. `respond` is the server: bytes in, bytes out, and what you write in between.


# %%
def parse(raw):
    """Method, path, headers and body of a request; the query is of no use here."""
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    return method, target.partition("?")[0], headers, body


def reply(status, headers, message=None):
    """The bytes of an answer, with a message as its body, or without one."""
    body = b"" if message is None else json.dumps({"jsonrpc": "2.0", **message}).encode()
    if body:
        headers = {"Content-Type": "application/json", **headers}
    lines = [f"HTTP/1.1 {status}", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


# %%
def respond(raw):
    """One request, as bytes, to its answer, as bytes."""
    method, path, headers, body = parse(raw)
    refused = door(method, path, headers) or media(headers)
    if refused:
        return reply(*refused)
    try:
        message = json.loads(body)
    except ValueError:
        return reply(400, {}, {"error": {"code": -32700, "message": "Parse error"}})
    if "id" not in message:
        return reply(202, {})
    refused = refuse(headers, message)
    if refused:
        status, error = refused
        return reply(status, {}, {"id": message["id"], "error": error})
    return reply(200, {}, {"id": message["id"], "result": {"resultType": "complete"}})


# %% [markdown]
# ## Stage `door`: who knocks, where, and how
#
# A page that somebody visits can let their browser send a request to a server on their machine, also
# through a name of its own that suddenly points there (DNS rebinding). A browser says whose page it
# is, in `Origin`; a foreign one must be answered with 403 (`basic/transports/streamable-http`,
# "Security & Endpoint").
#
# Write two functions:
#
# - `header(headers, name)`: the value of a header, or `None`. Names are the same in any case.
# - `door(method, path, headers)`: `None` for who may come in, otherwise `(status, headers)` of the
#   refusal, the first of these: 403 if the host in `Host` is neither `127.0.0.1` nor `localhost` (a
#   port may follow); 403 if there is an `Origin`, and it is not `ORIGIN`; 404 if the path is not
#   `PATH`; 405 if the method is not POST, with the header `Allow`, which says what is.
#
# Roughly fifteen lines.


# %% stage="door"
# Stage door: 403, 404, 405, or come in.
def header(headers, name):
    ### BEGIN SOLUTION
    return next((value for key, value in headers if key.lower() == name.lower()), None)
    ### END SOLUTION


def door(method, path, headers):
    ### BEGIN SOLUTION
    host = (header(headers, "Host") or "").partition(":")[0]
    if host.lower() not in ("127.0.0.1", "localhost"):
        return 403, {}
    if header(headers, "Origin") not in (None, ORIGIN):
        return 403, {}
    if path != PATH:
        return 404, {}
    if method != "POST":
        return 405, {"Allow": "POST"}
    return None
    ### END SOLUTION


# %% wrong="door" says="in any case"
# Stage door: headers by the letter.
def header(headers, name):
    return dict(headers).get(name)


def door(method, path, headers):
    return None


# %% wrong="door" says="begins like one of ours"
# Stage door: what begins well is taken for good.
def header(headers, name):
    return {key.lower(): value for key, value in headers}.get(name.lower())


def door(method, path, headers):
    if not header(headers, "Host").startswith(("127.0.0.1", "localhost")):
        return 403, {}
    if not (header(headers, "Origin") or ORIGIN).startswith(ORIGIN):
        return 403, {}
    if path != PATH:
        return 404, {}
    return None if method == "POST" else (405, {"Allow": "POST"})


# %% wrong="door" says="only a browser sends"
# Stage door: nobody without an Origin.
def header(headers, name):
    return {key.lower(): value for key, value in headers}.get(name.lower())


def door(method, path, headers):
    if header(headers, "Origin") != ORIGIN:
        return 403, {}
    return None


# %% wrong="door" says="Allow"
# Stage door: a 405 that does not say what is allowed.
def header(headers, name):
    return {key.lower(): value for key, value in headers}.get(name.lower())


def door(method, path, headers):
    if header(headers, "Host").lower().split(":")[0] not in ("127.0.0.1", "localhost"):
        return 403, {}
    if header(headers, "Origin") not in (None, ORIGIN):
        return 403, {}
    if path != PATH:
        return 404, {}
    return None if method == "POST" else (405, {})


# %% check="door" points=2
@check("door", points=2)
def kept(it, port=8931, verbs=("GET", "DELETE"), foreign="attacker.example"):
    page, ours, path = "basic/transports/streamable-http", it.given["ORIGIN"], it.given["PATH"]
    for name, due in (("X-Sent-By", "me"), ("x-sent-by", "me"), ("x-sent", None)):
        said = it.call("header", [["Host", "a"], ["x-Sent-By", "me"]], name)
        clause = f"{page}: names of headers are the same in any case"
        sent = f"{said} for {name}, of Host and x-Sent-By"
        it.expect(said == due, sent=sent, clause=clause, hint="compare them in small letters")
    local, evil = f"localhost:{port}", f"https://{foreign}"
    alike = "what begins like one of ours is not ours"
    cases = [
        ("POST", path, local, None, None, "a program has no page: only a browser sends an Origin"),
        ("POST", path, f"127.0.0.1:{port}", ours, None, "our own page, and our own name"),
        ("POST", path, local, evil, 403, "whose page asks?"),
        ("POST", path, local, "null", 403, "a page without a site is no page of ours"),
        ("POST", path, local, f"{ours}.{foreign}", 403, alike),
        ("POST", path, f"localhost.{foreign}:{port}", None, 403, alike),
        ("POST", path, foreign, ours, 403, "by which name were we called?"),
        ("POST", path, "LocalHost", None, None, "names of hosts are the same in any case"),
        ("POST", path + "/x", local, None, 404, "there is one address, and this is another"),
        *[(verb, path, local, None, 405, "one verb is served") for verb in verbs],
        (verbs[0], path, local, evil, 403, "in which order does the text name them?"),
        (verbs[0], "/", local, None, 404, "in which order does the text name them?"),
    ]
    for method, where, host, origin, status, hint in cases:
        headers = [["HOST", host]] + ([["origin", origin]] if origin else [])
        said = it.call("door", method, where, headers)
        right = said is None if status is None else isinstance(said, list) and said[0] == status
        sent = f"{it.show(said)} for {method} {where} with {headers}"
        it.expect(right, sent=sent, clause=f"{page}: who may come in, and who not", hint=hint)
        allow = status != 405 or [*said[1].items()] == [("Allow", "POST")]
        clause = "the text above: a 405 has the header Allow"
        it.expect(allow, sent=sent, clause=clause, hint="it says which verb is allowed")


# %% hidden="door"
def hidden(it, rng):
    verbs = rng.sample(["PUT", "HEAD", "OPTIONS", "PATCH", "GET", "post"], 3)
    kept(it, rng.randint(1024, 65535), verbs, f"site{rng.randint(1, 99)}.example")


# %% [markdown]
# ## Stage `media`: types, compared as types
#
# The body is JSON, and says so in `Content-Type`; else the answer is 415. The client must take both
# kinds of answer, `application/json` and `text/event-stream`, and say so in `Accept`
# (`basic/transports/streamable-http`, "Sending Messages"); else it is 406.
#
# A media type is no string: its letters may be large or small, parameters may follow behind a
# semicolon, `Accept` is a list, and `*/*`, `text/*` and `application/*` stand for many.
#
# Write `media(headers)`: `None`, or `(status, {})`. Roughly ten lines.


# %% stage="media"
# Stage media: 415, 406, or fine.
def media(headers):
    ### BEGIN SOLUTION
    def media_type(value):
        return value.partition(";")[0].strip().lower()

    if media_type(header(headers, "Content-Type") or "") != "application/json":
        return 415, {}
    taken = {media_type(part) for part in (header(headers, "Accept") or "").split(",")}
    for due in ("application/json", "text/event-stream"):
        if taken.isdisjoint((due, due.partition("/")[0] + "/*", "*/*")):
            return 406, {}
    return None
    ### END SOLUTION


# %% wrong="media" says="415 is due"
# Stage media: it begins like JSON.
def media(headers):
    if not (header(headers, "Content-Type") or "").lower().startswith("application/json"):
        return 415, {}
    return None


# %% wrong="media" says="for the body {"
# Stage media: types as texts.
def media(headers):
    if header(headers, "Content-Type") != "application/json":
        return 415, {}
    accept = header(headers, "Accept") or ""
    if "application/json" not in accept or "text/event-stream" not in accept:
        return 406, {}
    return None


# %% wrong="media" says="stand for many"
# Stage media: no stars.
def media(headers):
    kinds = [part.split(";")[0].strip().lower() for part in header(headers, "Accept").split(",")]
    if (header(headers, "Content-Type") or "").split(";")[0].lower() != "application/json":
        return 415, {}
    if "application/json" not in kinds or "text/event-stream" not in kinds:
        return 406, {}
    return None


# %% check="media" points=2
@check("media", points=2)
def types_compared(it, bodies=(), accepts=()):
    page, both = "basic/transports/streamable-http", "application/json, text/event-stream"
    fine = ["application/json", "Application/JSON", "application/json; charset=UTF-8", *bodies]
    for sent_type in fine:
        said = it.call("media", [["content-type", sent_type], ["Accept", both]])
        sent = f"{it.show(said)} for the body {{}} as {sent_type}"
        clause = f"{page}: a body of JSON is taken, whatever the letters and parameters of its type"
        it.expect(said is None, sent=sent, clause=clause, hint="which part of it is the type?")
    for sent_type in ("text/plain", "application/jsonl", "application/json-seq", "text/json", None):
        headers = [["Accept", both]] + ([["Content-Type", sent_type]] if sent_type else [])
        said = it.call("media", headers)
        sent = f"{it.show(said)} for a body as {sent_type}; 415 is due"
        clause = f"{page}: the body is JSON, and nothing that only begins like it"
        it.expect(said == [415, {}], sent=sent, clause=clause, hint="compare the whole type")
    hints = {
        "read the list, part by part": [both, "text/event-stream,APPLICATION/json;q=0.9", *accepts],
        "stars stand for many": ["*/*", "text/html, */*;q=0.1", "application/*, text/*"],
        "both kinds of answer are needed": ["application/json", "text/*", "image/*, text/*"],
        "both, and the whole of each name": ["application/jsonl, text/event-stream"],
    }
    for hint, values in hints.items():
        for accept in values:
            said = it.call("media", [["Content-Type", fine[0]], ["ACCEPT", accept]])
            right = said == [406, {}] if hint.startswith("both") else said is None
            sent = f"{it.show(said)} for Accept: {accept}"
            clause = f"{page}: the client takes both kinds of answer"
            it.expect(right, sent=sent, clause=clause, hint=hint)


# %% hidden="media"
def hidden(it, rng):
    space = rng.choice(["", " ", "  "])
    bodies = [f"APPLICATION/Json{space};{space}charset=utf-{n}" for n in rng.sample((8, 16, 32), 2)]
    parts = ["text/event-stream", f"application/JSON;q=0.{rng.randint(1, 9)}", "image/png"]
    rng.shuffle(parts)
    types_compared(it, bodies, [f"{space},".join(parts)])


# %% [markdown]
# ## Stage `agree`: headers that say what the body says
#
# Gateways read headers, servers read bodies; where the two differ, each believes in another request.
# So a server that reads the body must compare (`basic/transports/streamable-http`, "Server
# Validation"). Each request has
#
# - `MCP-Protocol-Version`, as in its `_meta`;
# - `Mcp-Method`, as its `method`;
# - `Mcp-Name`, as `params.name` or `params.uri`, for the three methods in `NAMED`. A name that does
#   not fit into a header is Base64 between marks: `decode("=?base64?w58=?=")` is `"ß"`. It leaves
#   other texts as they are, and raises `ValueError` where the Base64 is broken.
#
# Write `differs(headers, message)`: the list of those headers that are missing, or say something
# else. If the body has no version at all, a version in the header is no difference: that is for the
# next stage. Roughly fifteen lines.

# %%
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


# %% stage="agree"
# Stage agree: the headers that are missing, or say something else than the body.
def differs(headers, message):
    ### BEGIN SOLUTION
    method, params = message["method"], message.get("params", {})
    version = params.get("_meta", {}).get(PROTOCOL_VERSION)
    due = {"MCP-Protocol-Version": version, "Mcp-Method": method}
    if method in NAMED:
        due["Mcp-Name"] = params.get(NAMED[method])
    wrong = []
    for name, body in due.items():
        value = header(headers, name)
        try:
            value = decode(value) if value and name == "Mcp-Name" else value
        except ValueError:
            value = None
        if value is None or (body is not None and value != body):
            wrong.append(name)
    return wrong
    ### END SOLUTION


# %% wrong="agree" says="is it there at all"
# Stage agree: a header that is missing contradicts nobody.
def differs(headers, message):
    params = message["params"]
    name = params.get(NAMED.get(message["method"]))
    due = {
        "MCP-Protocol-Version": params["_meta"][PROTOCOL_VERSION],
        "Mcp-Method": message["method"],
    }
    due |= {"Mcp-Name": name} if name else {}
    return [key for key, said in due.items() if (header(headers, key) or said) != said]


# %% wrong="agree" says="between marks"
# Stage agree: nothing is decoded.
def differs(headers, message):
    params = message["params"]
    name = params.get(NAMED.get(message["method"]))
    due = {
        "MCP-Protocol-Version": params["_meta"].get(PROTOCOL_VERSION),
        "Mcp-Method": message["method"],
    }
    due |= {"Mcp-Name": name} if name else {}
    return [key for key, said in due.items() if said and header(headers, key) != said]


# %% wrong="agree" says="values are the same by the letter"
# Stage agree: small letters for everything.
def differs(headers, message):
    params = message["params"]
    name = params.get(NAMED.get(message["method"]))
    due = {
        "MCP-Protocol-Version": params["_meta"].get(PROTOCOL_VERSION),
        "Mcp-Method": message["method"],
    }
    due |= {"Mcp-Name": name} if name else {}
    wrong = []
    for key, said in due.items():
        value = header(headers, key)
        if value is None or (said and decode(value).lower() != said.lower()):
            wrong.append(key)
    return wrong


# %% check="agree" points=2
@check("agree", points=2)
def compared(it, tool="get_note", uri=None):
    page, uri = "basic/transports/streamable-http", uri or it.given["URI"]
    version, packed = "MCP-Protocol-Version", base64.b64encode(uri.encode()).decode()
    meta = {PROTOCOL_VERSION: "2026-07-28", CLIENT_CAPABILITIES: {}}
    call = {"method": "tools/call", "params": {"name": tool, "_meta": meta}}
    read = {"method": "resources/read", "params": {"uri": uri, "_meta": meta}}
    bare = {"method": "tools/list", "params": {"_meta": {}}}
    base = {"mcp-protocol-version": "2026-07-28", "MCP-METHOD": "tools/call", "Mcp-name": tool}
    reads = base | {"MCP-METHOD": "resources/read", "Mcp-name": f"=?base64?{packed}?="}
    there, marks = "is it there at all?", "what stands between marks is decoded first"
    letter = "names are the same in any case; values are the same by the letter"
    cases = [
        (call, base, [], letter),
        (call, base | {"mcp-protocol-version": None}, [version], there),
        (call, base | {"MCP-METHOD": None}, ["Mcp-Method"], there),
        (call, base | {"Mcp-name": None}, ["Mcp-Name"], there),
        (call, base | {"mcp-protocol-version": "2025-11-25"}, [version], "which version is it?"),
        (call, base | {"MCP-METHOD": "tools/list"}, ["Mcp-Method"], "what would a gateway believe?"),
        (call, base | {"MCP-METHOD": "tools/Call"}, ["Mcp-Method"], letter),
        (call, base | {"Mcp-name": tool.upper()}, ["Mcp-Name"], letter),
        (read, reads, [], marks),
        (read, reads | {"Mcp-name": f"=?base64?{packed[:-1]}!?="}, ["Mcp-Name"], marks),
        (bare, {**base, "MCP-METHOD": "tools/list", "Mcp-name": None}, [], "what has no name, needs none"),
    ]  # fmt: skip
    for message, headers, due, hint in cases:
        pairs = [[name, value] for name, value in headers.items() if value is not None]
        said = it.call("differs", pairs, {"jsonrpc": "2.0", "id": 1, **message})
        right = isinstance(said, list) and sorted(map(str, said)) == sorted(due)
        sent = f"{it.show(said)} for {pairs} and {it.show(message)}"
        it.expect(right, sent=sent, clause=f"{page}: headers say what the body says", hint=hint)


# %% hidden="agree"
def hidden(it, rng):
    words = ["straße", "naïve notes", "メモ", "a\tb\n", "=?base64?x?="]
    compared(it, f"tool_{rng.randint(1, 999)}", f"note://{rng.choice(words)}/{rng.random()}")


# %% [markdown]
# ## Stage `refuse`: four codes
#
# Now the message itself. This function came from a server of another era, and has five bugs. It is to
# return `None` for a request that may be served, otherwise `(status, error)`, the first of these that
# fits:
#
# - headers and body differ: -32020, with the names in the message;
# - the version or the capabilities are missing in `_meta`, or the capabilities are no object: -32602
#   (`basic/index`, "`_meta`"; their keys are imported above);
# - a version that is not in `SPOKEN`: -32022, whose `data` has the versions that are `supported`, and
#   the one that was `requested` (`basic/versioning`, "Protocol Version Negotiation");
# - a method that is not in `METHODS`: -32601, and the status of a thing that is not there
#   (`basic/transports/streamable-http`, "Protocol Version Header").
#
# The check sends raw bytes to `respond`, so it needs all that you have.

# %%
SPOKEN = ["2026-07-28"]
METHODS = ["server/discover", "tools/list", "tools/call", "resources/read"]


# %% stage="refuse"
# Stage refuse: -32020, -32602, -32022, -32601, or None.
def refuse(headers, message):
    meta, method = message.get("params", {}).get("_meta", {}), message["method"]
    if names := differs(headers, message):
        return 400, {"code": -32020, "message": f"Header mismatch: {', '.join(names)}"}
    if PROTOCOL_VERSION not in meta or not isinstance(meta.get(CLIENT_CAPABILITIES), dict):
        return 400, {"code": -32602, "message": "Invalid params: _meta"}
    version = meta[PROTOCOL_VERSION]
    if version not in SPOKEN:
        data = {"supported": SPOKEN, "requested": version}
        return 400, {"code": -32022, "message": "Unsupported version", "data": data}
    if method not in METHODS:
        return 404, {"code": -32601, "message": f"Method not found: {method}"}
    return None


# %% blank="refuse"
# Stage refuse: five bugs in these lines.
def refuse(headers, message):
    meta = message.get("params", {}).get("_meta", {})
    method = message["method"]
    names = differs(headers, message)
    if names:
        return 400, {"code": -32001, "message": f"Header mismatch: {', '.join(names)}"}
    if PROTOCOL_VERSION not in meta:
        return 400, {"code": -32602, "message": "Invalid params: _meta"}
    if meta[PROTOCOL_VERSION] not in SPOKEN:
        data = {"supported": SPOKEN}
        return 400, {"code": -32602, "message": "Unsupported version", "data": data}
    if method not in METHODS:
        return 200, {"code": -32601, "message": f"Method not found: {method}"}
    return None


# %% wrong="refuse" says="both of what it needs"
# Stage refuse: nobody looks at the capabilities.
def refuse(headers, message):
    meta = message["params"].get("_meta", {})
    if names := differs(headers, message):
        return 400, {"code": -32020, "message": f"Header mismatch: {names}"}
    if PROTOCOL_VERSION not in meta:
        return 400, {"code": -32602, "message": "Invalid params"}
    return None


# %% wrong="refuse" says="what could it try next"
# Stage refuse: a refusal that helps nobody.
def refuse(headers, message):
    meta = message["params"].get("_meta", {})
    if names := differs(headers, message):
        return 400, {"code": -32020, "message": f"Header mismatch: {names}"}
    if PROTOCOL_VERSION not in meta or not isinstance(meta.get(CLIENT_CAPABILITIES), dict):
        return 400, {"code": -32602, "message": "Invalid params"}
    if meta[PROTOCOL_VERSION] not in SPOKEN:
        return 400, {"code": -32022, "message": "Unsupported version", "data": {}}
    return None


# %% wrong="refuse" says="a status for the proxies"
# Stage refuse: all is well with HTTP.
def refuse(headers, message):
    meta = message["params"].get("_meta", {})
    if names := differs(headers, message):
        return 400, {"code": -32020, "message": f"Header mismatch: {names}"}
    if PROTOCOL_VERSION not in meta or not isinstance(meta.get(CLIENT_CAPABILITIES), dict):
        return 400, {"code": -32602, "message": "Invalid params"}
    if meta[PROTOCOL_VERSION] not in SPOKEN:
        data = {"supported": SPOKEN, "requested": meta[PROTOCOL_VERSION]}
        return 400, {"code": -32022, "message": "Unsupported version", "data": data}
    if message["method"] not in METHODS:
        return 200, {"code": -32601, "message": "Method not found"}
    return None


# %% check="refuse" points=3
@check("refuse", points=3)
def nine_ways(it, id=7, other="1900-01-01", method="tools/invent"):
    page, key, tools = "basic/transports/streamable-http", "MCP-Protocol-Version", "tools/list"
    two = "a request has both of what it needs, each of the right kind"
    codes, then = "which code is due in this era?", "As the client: what could it try next?"
    cases = [
        (tools, {}, {}, 200, None, "a good request is served"),
        (tools, {"Accept": "text/html"}, {}, 406, None, "this is for the media types"),
        (tools, {"Mcp-Method": "x"}, {}, 400, -32020, codes),
        (tools, {}, {PROTOCOL_VERSION: other}, 400, -32020, codes),
        (tools, {}, {PROTOCOL_VERSION: None}, 400, -32602, two),
        (tools, {}, {CLIENT_CAPABILITIES: None}, 400, -32602, two),
        (tools, {}, {CLIENT_CAPABILITIES: ["roots"]}, 400, -32602, two),
        (tools, {key: other}, {PROTOCOL_VERSION: other}, 400, -32022, f"{codes} {then}"),
        (method, {}, {}, 404, -32601, "a code for the client, a status for the proxies"),
        (method, {"Mcp-Method": tools}, {}, 400, -32020, "which comes first?"),
    ]
    for name, headers, meta, status, code, hint in cases:
        meta = {PROTOCOL_VERSION: "2026-07-28", CLIENT_CAPABILITIES: {}, **meta}
        params = {"_meta": {each: value for each, value in meta.items() if value is not None}}
        asked = {"jsonrpc": "2.0", "id": id, "method": name, "params": params}
        head = {"Host": "localhost", "Content-Type": "application/json", "Accept": "*/*"}
        head |= {key: "2026-07-28", "Mcp-Method": name, **headers}
        lines = [f"POST {it.given['PATH']} HTTP/1.1", *(f"{k}: {v}" for k, v in head.items())]
        raw = "\r\n".join([*lines, "", json.dumps(asked)])
        came, _, body = it.call("respond", raw.encode()).partition(b"\r\n\r\n")
        error = json.loads(body or b"{}").get("error", {})
        said = f"{came.splitlines()[0].decode()}, {it.show(error)}"
        asks = f"{name}, {key}: {head[key]}, Mcp-Method: {head['Mcp-Method']}"
        sent = f"{said}\nfor {asks}\nwith the _meta {it.show(params['_meta'])}"
        right = came.startswith(b"HTTP/1.1 %d" % status) and error.get("code") == code
        it.expect(right, sent=sent, clause=f"{page}: a status, and a code with it", hint=hint)
        told = error.get("data") == {"supported": ["2026-07-28"], "requested": other}
        clause = "basic/versioning: it lists what is spoken, and what was asked for"
        it.expect(told or code != -32022, sent=sent, clause=clause, hint=hint)


# %% hidden="refuse"
def hidden(it, rng):
    for id in (rng.randint(0, 10**6), f"id-{rng.random()}"):
        other = rng.choice(["2027-01-01", "2025-11-25", "2024-11-05", "draft"])
        nine_ways(it, id, other, f"tools/{rng.choice(['run', 'delete', 'List'])}")


# %% [markdown]
# ## Stage `events`: a stream, however it was cut
#
# An answer may be a stream of server-sent events, one message in the data of each
# (`basic/transports/streamable-http`, "Receiving Messages"). `feed(chunk)` returns the data of each
# event that this chunk completes, as bytes. The format, as WHATWG has it:
#
# - a line ends in LF or in CR LF; a blank line completes the event (a lone CR is a line end as well,
#   and is left out here: `mcp_bare.sse` knows it);
# - a line is a name, a colon and a value; one space behind the colon is not of the value;
# - only `data` counts for us; several in one event are one text, with LF between; without any there
#   is no event;
# - a line that begins with a colon is a comment, to keep the line open;
# - three bytes at the very beginning, a BOM, may be skipped: EF BB BF;
# - an event that no blank line completed is kept until one comes.
#
# This parser reads what its author's server wrote. It has five bugs. Mend it, in roughly fifteen
# lines. (`read_all` feeds it a stream in chunks of one size.)


# %%
def read_all(stream, size):
    """What a new parser finds in a stream that comes in chunks of this size."""
    parser, found = Events(), []
    for start in range(0, len(stream), size):
        found += parser.feed(stream[start : start + size])
    return found


# %% stage="events"
# Stage events: bytes in, the data of whole events out.
class Events:
    def __init__(self):
        self.kept, self.data, self.bom = b"", [], b"\xef\xbb\xbf"

    def feed(self, data):
        *lines, self.kept = (self.kept + data).split(b"\n")
        found = []
        for line in lines:
            line, self.bom = line.removeprefix(self.bom).removesuffix(b"\r"), b""
            name, _, value = line.partition(b":")
            if name == b"data":
                self.data.append(value.removeprefix(b" "))
            if not line and self.data:
                found.append(b"\n".join(self.data))
                self.data = []
        return found


# %% blank="events"
# Stage events: five bugs in these lines.
class Events:
    def __init__(self):
        self.text = ""

    def feed(self, data):
        self.text += data.decode()
        found = []
        while "\n\n" in self.text:
            event, _, self.text = self.text.partition("\n\n")
            for line in event.split("\n"):
                name, value = line.split(": ", 1)
                if name == "data":
                    found.append(value.encode())
        return found


# %% wrong="events" says="UnicodeDecodeError"
# Stage events: it still decodes too early.
class Events:
    def __init__(self):
        self.text = ""

    def feed(self, data):
        self.text += data.decode().replace("\r\n", "\n")
        *events, self.text = self.text.split("\n\n")
        lines = [[x[5:].lstrip() for x in e.split("\n") if x.startswith("data:")] for e in events]
        return ["\n".join(each).encode() for each in lines if each]


# %% wrong="events" says="CR LF"
# Stage events: bytes now, and LF alone.
class Events:
    kept = b""

    def feed(self, data):
        *events, self.kept = (self.kept + data).split(b"\n\n")
        found = []
        for event in events:
            lines = event.removeprefix(b"\xef\xbb\xbf").split(b"\n")
            parts = [line[5:].removeprefix(b" ") for line in lines if line.startswith(b"data:")]
            found += [b"\n".join(parts)] if parts else []
        return found


# %% wrong="events" says="one space goes"
# Stage events: all the spaces are gone.
class Events:
    kept = b""

    def feed(self, data):
        *events, self.kept = (self.kept + data).replace(b"\r\n", b"\n").split(b"\n\n")
        found = []
        for event in events:
            lines = event.removeprefix(b"\xef\xbb\xbf").split(b"\n")
            parts = [line[5:].strip() for line in lines if line.startswith(b"data:")]
            found += [b"\n".join(parts)] if parts else []
        return found


# %% wrong="events" says="several lines of data"
# Stage events: each line of data for itself.
class Events:
    kept = b""

    def feed(self, data):
        *lines, self.kept = (self.kept + data).split(b"\n")
        lines = [line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r") for line in lines]
        return [line[5:].removeprefix(b" ") for line in lines if line.startswith(b"data:")]


# %% check="events" points=3
@check("events", points=3)
def read_whole(it, title="Zahnärztin →", sizes=(1, 4, 1000)):
    text, crlf = f'{{"title": "{title}"}}'.encode(), b"data: 1\r\n\r\ndata: 2\r\n\r\n"
    bom = "three bytes may come first, and only there are they skipped"
    cases = [
        (b'data: {"a": 1}\n\n', [b'{"a": 1}'], "the plainest event: one line of data, one blank"),
        (b"data: %s\n\n" % text, [text], "a chunk may end in the middle of a letter"),
        (b"data:1\n\ndata:  2\n\n", [b"1", b" 2"], "if there is a space, one space goes"),
        (b"data: 1\nid: 7\ndata: 2\n\n", [b"1\n2"], "several lines of data are one event"),
        (b": hello\n\n:\n\ndata: 1\n\n", [b"1"], "what begins with a colon is a comment"),
        (b"event: ping\nretry: 9\n\ndata: 1\n\n", [b"1"], "without data there is no event"),
        (crlf, [b"1", b"2"], "a line may end in CR LF as well"),
        (b"\xef\xbb\xbfdata: 1\n\ndata: 2\n\n", [b"1", b"2"], bom),
        (b"data: 1\n\n\xef\xbb\xbfdata: 2\n\n", [b"1"], bom),
        (b"data: 1\n\ndata: 2\n", [b"1"], "what is not completed is kept"),
        (b"dataset: 1\n\ndata: 2\n\n", [b"2"], "the name ends at the colon"),
    ]
    for stream, due, hint in cases:
        for size in sizes:
            came = it.call("read_all", stream, size)
            clause = "basic/transports/streamable-http: an answer may be a stream of events"
            sent = f"{it.show(came)} for {stream} in chunks of {size}"
            it.expect(came == due, sent=sent, clause=clause, hint=hint)


# %% hidden="events"
def hidden(it, rng):
    letters = "aß→😀 :{}"
    read_whole(it, "".join(rng.choices(letters, k=20)), [rng.randint(2, 5), rng.randint(6, 20)])
    for _ in range(4):
        due, stream, end = [], b"\xef\xbb\xbf" * rng.randint(0, 1), rng.choice([b"\n", b"\r\n"])
        for _ in range(rng.randint(1, 5)):
            lines = ["".join(rng.choices(letters, k=9)).encode() for _ in range(rng.randint(1, 3))]
            due.append(b"\n".join(lines))
            noise = rng.choice([b"", b":" + end, b"id: 1" + end])
            stream += noise + b"".join(b"data: " + line + end for line in lines) + end
        came = it.call("read_all", stream, rng.randint(1, 7))
        clause = "basic/transports/streamable-http: an answer may be a stream of events"
        hint = "which of the six rules is broken here?"
        it.expect(came == due, sent=f"{came} for {stream}", clause=clause, hint=hint)


# %% [markdown]
# ## Stage `spot`: half of it is of another era
#
# A tutorial shows this conversation as one of the current revision. (It leaves out headers and
# metadata that are right.) It has five lines that belong to an earlier one. The client asks who the
# server is; then an older client comes by, with lines 8 and 9, which stay as they are; then the first
# one reads a note that does not exist.
#
# Write `MENDED`: the number of each line that is wrong, and the line as it should be, without its
# arrow; `None` for a line that must not be there. (`basic/transports/streamable-http`, "Earlier
# Streamable HTTP Revisions"; `server/discover`; `server/resources`, "Error Handling".)

# %%
TRACE = {
    1: f"→ POST {PATH} HTTP/1.1",
    2: "→ MCP-Protocol-Version: 2026-07-28",
    3: "→ Mcp-Method: initialize",
    4: '→ {"jsonrpc":"2.0","id":1,"method":"initialize"}',
    5: "← HTTP/1.1 200 OK",
    6: "← Mcp-Session-Id: 1868a90c",
    7: '← {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"public",'
    '"supportedVersions":["2026-07-28"],"capabilities":{"resources":{}}}}',
    8: f"→ GET {PATH} HTTP/1.1",
    9: "→ Accept: text/event-stream",
    10: "← HTTP/1.1 200 OK",
    11: f"→ POST {PATH} HTTP/1.1",
    12: "→ Mcp-Method: resources/read",
    13: '→ {"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"note://none"}}',
    14: "← HTTP/1.1 400 Bad Request",
    15: '← {"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"Resource not found"}}',
}
for number, line in TRACE.items():
    print(f"{number:>2} {line}")

# %% stage="spot"
# Stage spot: {number of a line: the line as it should be, or None}
### BEGIN SOLUTION
MENDED = {
    3: "Mcp-Method: server/discover",
    4: '{"jsonrpc":"2.0","id":1,"method":"server/discover"}',
    6: None,
    10: "HTTP/1.1 405 Method Not Allowed",
    15: '{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Resource not found"}}',
}
### END SOLUTION

# %% wrong="spot" says="five lines"
# Stage spot: the session alone.
MENDED = {6: None}

# %% wrong="spot" says="header and the body"
# Stage spot: the header still says what the body said.
MENDED = {
    4: '{"jsonrpc":"2.0","id":1,"method":"server/discover"}',
    6: None,
    8: None,
    10: None,
    15: TRACE[15][2:],
}

# %% wrong="spot" says="no handshake"
# Stage spot: the handshake is still there.
MENDED = {6: None, 8: None, 9: None, 10: None, 15: TRACE[15][2:].replace("32002", "32602")}

# %% wrong="spot" says="is said with a status"
# Stage spot: the stream of the other era is still open.
MENDED = {
    3: "Mcp-Method: server/discover",
    4: '{"jsonrpc":"2.0","id":1,"method":"server/discover"}',
    5: "HTTP/1.1 202 Accepted",
    6: None,
    15: TRACE[15][2:].replace("32002", "32602"),
}

# %% wrong="spot" says="code has moved"
# Stage spot: not found, as it was.
MENDED = {
    3: "Mcp-Method: server/discover",
    4: '{"jsonrpc":"2.0","id":1,"method":"server/discover"}',
    6: None,
    10: "HTTP/1.1 405 Method Not Allowed",
    14: "HTTP/1.1 404 Not Found",
}


# %% check="spot" points=2
@check("spot", points=2)
def spotted(it):
    mended, trace = it.value("MENDED"), it.value("TRACE")
    clause = "the text above: five lines, each by its number"
    five = isinstance(mended, dict) and len(mended) == 5 and set(mended) <= set(trace)
    it.expect(
        five, sent=mended, clause=clause, hint="{1: '...', 2: None, ...}: five lines are wrong"
    )
    lines = {number: line[2:] for number, line in trace.items()} | mended
    page, messages = "basic/transports/streamable-http", {}
    for number in (4, 7, 13, 15):
        try:
            messages[number] = json.loads(lines[number])
        except (TypeError, ValueError):
            messages[number] = None
        clause = "basic/index: a message is a JSON object"
        is_one = isinstance(messages[number], dict)
        it.expect(is_one, sent=lines[number], clause=clause, hint="the line without its arrow")
    method = messages[4].get("method")
    clause = "server/discover: no handshake opens a conversation"
    hint = "line 7 is right; which question does it answer?"
    it.expect(method != "initialize", sent=method, clause=clause, hint=hint)
    sent = f"{lines[3]} above a body with the method {method}"
    clause = f"{page}: the header and the body name the same method"
    it.expect(lines[3] == f"Mcp-Method: {method}", sent=sent, clause=clause, hint="mend both")
    sessions = [line for line in lines.values() if line and "session" in line.lower()]
    clause = f"{page}: a server of this revision mints no session ids"
    it.expect(not sessions, sent=sessions, clause=clause, hint="what would it be good for?")
    sent = f"{lines[10]} for {lines[8]}"
    clause = f"{page}: there is no stream to GET, and that is said with a status"
    hint = "stage door knows the number; the line begins as it did"
    it.expect(f"{lines[10]} ".startswith("HTTP/1.1 405 "), sent=sent, clause=clause, hint=hint)
    code = messages[15].get("error", {}).get("code")
    clause = "server/resources: for a resource that does not exist the code has moved"
    it.expect(code != -32002, sent=code, clause=clause, hint="what kind of thing is a wrong uri?")


# %% hidden="spot"
def hidden(it, rng):
    spotted(it)
    mended = it.value("MENDED")
    error = {"code": -32602, "message": "Resource not found"}
    due = {
        4: {"jsonrpc": "2.0", "id": 1, "method": "server/discover"},
        15: {"jsonrpc": "2.0", "id": 2, "error": error},
    }
    read = {number: json.loads(line) for number, line in mended.items() if number in due}
    texts = {number: line for number, line in mended.items() if number not in due}
    right = read == due and texts.get(3, "").split() == ["Mcp-Method:", "server/discover"]
    right = right and texts.get(6, "") is None and texts.get(10, "").startswith("HTTP/1.1 405")
    clause = "the text above: the five lines that are wrong, and nothing else in them changed"
    it.expect(right, sent=mended, clause=clause, hint="look again at each line; mend little")


# %% [markdown] written="why" points=1
# ## In your own words
#
# A gateway lets everyone list tools, and only administrators call them. It reads `Mcp-Method`, since
# bodies are long. The server behind it reads the body, and does not compare. What does an attacker
# send, what happens, and why is it not enough if the gateway alone is careful?
#
# ### BEGIN SOLUTION
# A POST whose header says tools/list and whose body says tools/call: the gateway lets it pass, and the
# server makes the call. The gateway decides by what it reads, the server acts by what it reads; only
# who sees both, the server, can say that they are one request.
# ### END SOLUTION

# %%
tally()
