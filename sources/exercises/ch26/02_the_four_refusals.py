# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Exercise 26.2. Write the four refusals
#
# *After notebook `ch26/02_every_request_stands_alone`. Six stages, 13 points, about 30 minutes.*
#
# Every request brings its own version and capabilities, so every request can be refused on its own.
# You write the four refusals one after another, put them in order, and then mend a server that
# remembers what it must not, and a trace in which three answers are wrong.
#
# A refusal is the `error` of a response: a dict with `code`, `message`, and often `data`. The
# message is for people: its words are yours. Where nothing is wrong, return `None`.
#
# **How it works.** Run the cells from the top, with Shift+Enter; after a restart, all of them again.
# Write in those that begin with `# Stage`, and run them; the cell below each one checks what you
# wrote. Keep the line `# Stage ...`: by that line your cell is found.

# %%
import json

from mcp_bare import revision
from workbench.checks import check, tally

# %% role="given"
# Given: these are yours; another learner may have others.
OLD = "1900-01-01"  # or "2024-11-05", "2025-11-25"
TOOL = "create_event"  # or "book_room", "send_invitation"
FIRST_ID = 4  # or 21, 60

# %% [markdown]
# The two keys of `_meta` that every request must have, and what belongs to them:

# %%
for key, kind in zip(revision.REQUIRED_META, ("a string", "an object, maybe an empty one")):
    print(f"{key}: {kind}")

# %% [markdown]
# ## Stage `meta`: is the request whole?
#
# Write `check_meta(params)`. `params` is whatever stood there: a dict, `None` where there was
# nothing, or worse. A request without both keys, or with a value of another kind, is refused with
# -32602 (`basic/index`, "`_meta`"). Name in the message what is missing. Roughly seven lines.


# %% stage="meta"
# Stage meta: an error, or None where both keys are sound.
def check_meta(params):
    ### BEGIN SOLUTION
    meta = params.get("_meta") if isinstance(params, dict) else None
    meta = meta if isinstance(meta, dict) else {}
    kinds = zip(revision.REQUIRED_META, (str, dict))
    unsound = [key for key, kind in kinds if not isinstance(meta.get(key), kind)]
    if not unsound:
        return None
    return {"code": -32602, "message": f"missing, or of the wrong kind: {', '.join(unsound)}"}
    ### END SOLUTION


# %% wrong="meta" says="an empty object is still an object"
# Stage meta: whoever can do nothing is refused.
def check_meta(params):
    meta = (params or {}).get("_meta") or {}
    for key in revision.REQUIRED_META:
        if not meta.get(key):
            return {"code": -32602, "message": key}


# %% wrong="meta" says="AttributeError"
# Stage meta: params may be missing as a whole.
def check_meta(params):
    meta = params.get("_meta", {})
    for key in revision.REQUIRED_META:
        if key not in meta:
            return {"code": -32602, "message": key}


# %% wrong="meta" says="not the message as a whole"
# Stage meta: the code of another mistake.
def check_meta(params):
    meta = (params or {}).get("_meta") or {}
    for key in revision.REQUIRED_META:
        if key not in meta:
            return {"code": -32600, "message": f"Invalid Request: {key}"}


# %% wrong="meta" says="look at its type"
# Stage meta: a value of any kind will do.
def check_meta(params):
    meta = (params or {}).get("_meta") or {}
    for key in revision.REQUIRED_META:
        if key not in meta:
            return {"code": -32602, "message": key}


# %% check="meta" points=2
@check("meta", points=2)
def meta_is_whole(it, version="2026-07-28", odd=(None, 7)):
    sound = revision.request_meta({}, {"name": "me", "version": "1"}, version)
    for good in (sound, {key: sound[key] for key in revision.REQUIRED_META}):
        refusal = it.call("check_meta", {"_meta": good, "more": 1})
        clause = "basic/index: version and capabilities are required, clientInfo should be there"
        hint = "an empty object is still an object: it says that this client can do nothing"
        it.expect(
            refusal is None,
            sent=f"{it.show(refusal)} for {it.show(good)}",
            clause=clause,
            hint=hint,
        )
    bad = [(None, "is params there at all?"), ({}, "is _meta there at all?")]
    for key in revision.REQUIRED_META:
        without = {name: value for name, value in sound.items() if name != key}
        bad.append(({"_meta": without}, f"without {key}, what do you return?"))
        bad += [({"_meta": {**sound, key: value}}, "look at its type, too") for value in odd]
    for params, hint in bad:
        refusal = it.call("check_meta", params)
        clause = "basic/index: a request that lacks a required field is refused: invalid params"
        sent = f"{it.show(refusal)} for {it.show(params)}"
        refused = isinstance(refusal, dict) and isinstance(refusal.get("message"), str)
        it.expect(refused, sent=sent, clause=clause, hint=hint)
        hint = "it is the params that are wrong, not the message as a whole"
        it.expect(
            refusal.get("code") == revision.INVALID_PARAMS, sent=sent, clause=clause, hint=hint
        )


# %% hidden="meta"
def hidden(it, rng):
    meta_is_whole(it, f"{rng.randint(1000, 9999)}-01-01", [[], True, rng.random(), [{}]])
    for params in ([1], "x", {"_meta": []}, {"_meta": rng.choice(["", "x"])}):
        refusal = it.call("check_meta", params)
        clause = "basic/index: params and _meta are objects"
        hint = "what if it is a list, or a text?"
        it.expect(refusal is not None, sent=it.show(refusal), clause=clause, hint=hint)
    key = rng.choice(revision.REQUIRED_META)
    (left,) = set(revision.REQUIRED_META) - {key}
    said = it.call("check_meta", {"_meta": {left: "2026-07-28" if "Version" in left else {}}})
    clause = "the text above: the message names what is missing"
    it.expect(key in said["message"], sent=said, clause=clause, hint="name the key, and only it")


# %% [markdown]
# ## Stage `version`: do we speak it?
#
# Write `check_version(meta, spoken)`: `spoken` is the list of versions that this server speaks. Any
# other is refused with -32022, and `data` has what the client needs in order to choose again: the
# list, as `supported`, and what arrived, as `requested` (`basic/versioning`). Roughly five lines.


# %% stage="version"
# Stage version: an error, or None where the version is spoken here.
def check_version(meta, spoken):
    ### BEGIN SOLUTION
    asked = meta[revision.PROTOCOL_VERSION]
    if asked in spoken:
        return None
    data = {"supported": list(spoken), "requested": asked}
    return {"code": -32022, "message": "Unsupported protocol version", "data": data}
    ### END SOLUTION


# %% wrong="version" says="a date is compared with a list, not with a day"
# Stage version: newer is better.
def check_version(meta, spoken):
    asked = meta[revision.PROTOCOL_VERSION]
    if asked >= min(spoken):
        return None
    data = {"supported": spoken, "requested": asked}
    return {"code": -32022, "message": "no", "data": data}


# %% wrong="version" says="a code of its own"
# Stage version: it is treated as a malformed request.
def check_version(meta, spoken):
    if meta[revision.PROTOCOL_VERSION] not in spoken:
        return {"code": -32602, "message": f"this server speaks {spoken}"}


# %% wrong="version" says="two things in data"
# Stage version: the list has another name.
def check_version(meta, spoken):
    if (asked := meta[revision.PROTOCOL_VERSION]) not in spoken:
        return {
            "code": -32022,
            "message": "no",
            "data": {"supportedVersions": spoken, "requested": asked},
        }


# %% check="version" points=2
@check("version", points=2)
def version_is_spoken(it, spoken=("2026-07-28",), others=("2099-01-01",)):
    spoken = list(spoken)
    page = "basic/versioning"
    for version in (*spoken, it.given["OLD"], *others):
        refusal = it.call("check_version", revision.request_meta({}, None, version), spoken)
        sent = f"{it.show(refusal)} for {version}, where {', '.join(spoken)} is spoken"
        hint = "a date is compared with a list, not with a day: a later one is not spoken either"
        clause = f"{page}: a version that the server does not support is refused"
        it.expect((refusal is None) == (version in spoken), sent=sent, clause=clause, hint=hint)
        if refusal is not None:
            clause = f"{page}: the error is UnsupportedProtocolVersion"
            right = refusal.get("code") == revision.UNSUPPORTED_PROTOCOL_VERSION
            it.expect(
                right, sent=sent, clause=clause, hint="the request is whole: a code of its own"
            )
            told = refusal.get("data") or {}
            right = told.get("supported") == spoken and told.get("requested") == version
            hint = "two things in data: what we speak, and what arrived, by the names of the clause"
            clause = (
                f"{page}: the client selects from what is supported and sends the request again"
            )
            it.expect(right, sent=sent, clause=clause, hint=hint)


# %% hidden="version"
def hidden(it, rng):
    spoken = sorted({f"20{rng.randint(26, 60)}-0{month}-11" for month in range(1, 4)})
    version_is_spoken(
        it, spoken, ["", f" {spoken[0]}", spoken[0][:7], f"19{rng.randint(10, 99)}-01-01"]
    )


# %% [markdown]
# ## Stage `capability`: can the client do what we need?
#
# Write `check_capability(meta, needed)`: `needed` has the shape of a capabilities object, such as
# `{"elicitation": {}, "roots": {}}`. What the client did not declare is refused with -32021, and
# `requiredCapabilities` in `data` has what is missing, in the shape in which it was needed, and
# nothing else (`basic/index`). Compare the names only; what is inside of them is for another day.
# Roughly five lines.


# %% stage="capability"
# Stage capability: an error, or None where the client declared enough.
def check_capability(meta, needed):
    ### BEGIN SOLUTION
    declared = meta[revision.CLIENT_CAPABILITIES]
    lacking = {name: shape for name, shape in needed.items() if name not in declared}
    if not lacking:
        return None
    data = {"requiredCapabilities": lacking}
    return {"code": -32021, "message": f"needs {', '.join(lacking)}", "data": data}
    ### END SOLUTION


# %% wrong="capability" says="declares it"
# Stage capability: an empty object is taken for a no.
def check_capability(meta, needed):
    declared = meta[revision.CLIENT_CAPABILITIES]
    lacking = {name: needed[name] for name in needed if not declared.get(name)}
    if lacking:
        return {"code": -32021, "message": "no", "data": {"requiredCapabilities": lacking}}


# %% wrong="capability" says="in the shape"
# Stage capability: a list of names.
def check_capability(meta, needed):
    lacking = [name for name in needed if name not in meta[revision.CLIENT_CAPABILITIES]]
    if lacking:
        return {"code": -32021, "message": "no", "data": {"requiredCapabilities": lacking}}


# %% wrong="capability" says="only what is missing"
# Stage capability: all that is needed, although some of it is there.
def check_capability(meta, needed):
    if set(needed) - set(meta[revision.CLIENT_CAPABILITIES]):
        return {"code": -32021, "message": "no", "data": {"requiredCapabilities": needed}}


# %% check="capability" points=2
@check("capability", points=2)
def capability_is_declared(it, rows=None):
    form, roots = {"elicitation": {"form": {}}}, {"roots": {}}
    rows = rows or [
        ({}, {}, set()),
        (form, form, set()),
        ({"elicitation": {}, **roots}, {**form, **roots}, set()),
        ({}, form, {"elicitation"}),
        (roots, {**roots, **form}, {"elicitation"}),
    ]
    page = "basic/index"
    for declared, needed, missing in rows:
        refusal = it.call("check_capability", revision.request_meta(declared), needed)
        sent = f"{it.show(refusal)}, where {it.show(declared)} is declared and {it.show(needed)} needed"
        clause = f"{page}: a server does not rely on what the client has not declared"
        hint = "who names a capability declares it, also with nothing inside"
        it.expect((refusal is None) == (not missing), sent=sent, clause=clause, hint=hint)
        if missing:
            right = refusal.get("code") == revision.MISSING_REQUIRED_CLIENT_CAPABILITY
            clause = f"{page}: the error is MissingRequiredClientCapability"
            it.expect(right, sent=sent, clause=clause, hint="look it up: revision.CODE_NAMES")
            listed = (refusal.get("data") or {}).get("requiredCapabilities")
            clause = f"{page}: data lists the missing capabilities, in the shape of the object"
            it.expect(
                isinstance(listed, dict), sent=sent, clause=clause, hint="names and shapes: a dict"
            )
            due = {name: needed[name] for name in missing}
            it.expect(
                listed == due, sent=sent, clause=clause, hint="only what is missing, as needed"
            )


# %% hidden="capability"
def hidden(it, rng):
    names = ["elicitation", "sampling", "roots", "experimental"]
    rows = []
    for _ in range(10):
        needed = {name: rng.choice([{}, {"tools": {}}]) for name in rng.sample(names, 3)}
        declared = {name: {} for name in rng.sample(names, rng.randint(0, 4))}
        rows.append((declared, needed, set(needed) - set(declared)))
    capability_is_declared(it, rows)


# %% [markdown]
# ## Stage `order`: one answer
#
# A request can be wrong in several ways at once. Write `refuse(message, methods)`: `methods` is a
# dict, from each method that there is to the capabilities that it needs. It returns the whole
# response, with the first refusal that applies: a malformed request is not read any further; a
# method means something within a version only; and what a method needs one knows once there is
# such a method (-32601 where there is none). `None` where nothing is to be refused, and for a
# notification. The server speaks `["2026-07-28"]`. Use what you have. Roughly twelve lines.


# %% stage="order"
# Stage order: the whole response, or None.
def refuse(message, methods):
    ### BEGIN SOLUTION
    if "id" not in message:
        return None
    params, method = message.get("params"), message["method"]
    problem = check_meta(params) or check_version(params["_meta"], ["2026-07-28"])
    if problem is None and method not in methods:
        problem = {"code": -32601, "message": f"no method {method!r}"}
    if problem is None:
        problem = check_capability(params["_meta"], methods[method])
    return problem and {"jsonrpc": "2.0", "id": message["id"], "error": problem}
    ### END SOLUTION


# %% wrong="order" says="in which order"
# Stage order: the method first, as a router does it.
def refuse(message, methods):
    if "id" not in message:
        return None
    head = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] not in methods:
        return {**head, "error": {"code": -32601, "message": "no such method"}}
    params = message.get("params")
    error = check_meta(params) or check_version(params["_meta"], ["2026-07-28"])
    error = error or check_capability(params["_meta"], methods[message["method"]])
    return {**head, "error": error} if error else None


# %% wrong="order" says="the id of the request"
# Stage order: whom does it answer?
def refuse(message, methods):
    if "id" not in message:
        return None
    params = message.get("params")
    error = check_meta(params) or check_version(params["_meta"], ["2026-07-28"])
    if not error and message["method"] not in methods:
        error = {"code": -32601, "message": "no such method"}
    error = error or check_capability(params["_meta"], methods[message["method"]])
    return {"jsonrpc": "2.0", "id": None, "error": error} if error else None


# %% wrong="order" says="never answered"
# Stage order: a notification is refused.
def refuse(message, methods):
    params = message.get("params")
    error = check_meta(params) or check_version(params["_meta"], ["2026-07-28"])
    if not error and message["method"] not in methods:
        error = {"code": -32601, "message": "no such method"}
    error = error or check_capability(params["_meta"], methods[message["method"]])
    return {"jsonrpc": "2.0", "id": message.get("id"), "error": error} if error else None


# %% check="order" points=2
@check("order", points=2)
def refused_in_order(it, ids=(1, "two"), other="tools/invent"):
    methods = {"tools/list": {}, "tools/call": {"elicitation": {}}}
    note = it.call("refuse", {"jsonrpc": "2.0", "method": other}, methods)
    it.expect(
        note is None,
        sent=note,
        clause="basic/index: a notification is never answered",
        hint="what tells it from a request?",
    )
    old = it.given["OLD"]
    rows = [  # method, version, capabilities, code
        ("tools/list", "2026-07-28", {}, None),
        ("tools/call", "2026-07-28", {"elicitation": {}}, None),
        ("tools/call", "2026-07-28", {}, revision.MISSING_REQUIRED_CLIENT_CAPABILITY),
        (other, "2026-07-28", {}, revision.METHOD_NOT_FOUND),
        (other, old, {}, revision.UNSUPPORTED_PROTOCOL_VERSION),
        ("tools/call", old, {}, revision.UNSUPPORTED_PROTOCOL_VERSION),
        (other, old, None, revision.INVALID_PARAMS),
    ]
    for id in ids:
        for method, version, declared, code in rows:
            params = {"_meta": revision.request_meta(declared, None, version)}
            answer = it.call(
                "refuse", {"jsonrpc": "2.0", "id": id, "method": method, "params": params}, methods
            )
            sent = f"{it.show(answer)} for {method}, version {version}, capabilities {it.show(declared)}"
            found = (answer or {}).get("error", {}).get("code")
            clause = "the text above: the first refusal that applies, one after another"
            it.expect(found == code, sent=sent, clause=clause, hint="in which order do you look?")
            named = answer is None or answer.get("id") == id
            clause = "basic/index: an error response has the id of the request that it answers"
            it.expect(named, sent=sent, clause=clause, hint="whom do you answer?")


# %% hidden="order"
def hidden(it, rng):
    ids = [rng.randint(-99, 10**6), str(rng.randint(0, 9)), 0]
    refused_in_order(it, ids, rng.choice(["ping", "tools/List", "", "initialize"]))


# %% [markdown]
# ## Stage `mend`: a server that remembers
#
# This server is asked with `answer(message)`, request after request. It was written for an older
# revision and has four bugs under this one. (It speaks any version: leave that as it is.)


# %% stage="mend"
# Stage mend: each request stands alone.
class Calendar:
    def answer(self, message):
        head = {"jsonrpc": "2.0", "id": message["id"]}
        declared = message["params"]["_meta"].get(revision.CLIENT_CAPABILITIES)
        if declared is None:
            return {**head, "error": {"code": -32602, "message": "no clientCapabilities"}}
        if message["method"] != "tools/call":
            return {**head, "error": {"code": -32601, "message": "no such method"}}
        if "elicitation" not in declared:
            data = {"requiredCapabilities": {"elicitation": {"form": {}}}}
            return {**head, "error": {"code": -32021, "message": "needs forms", "data": data}}
        return {**head, "result": {"resultType": "complete", "content": []}}


# %% blank="mend"
# Stage mend: four bugs in these lines.
class Calendar:
    declared = None

    def answer(self, message):
        head = {"jsonrpc": "2.0", "id": message["id"]}
        meta = message["params"]["_meta"]
        self.declared = meta.get(revision.CLIENT_CAPABILITIES, self.declared)
        if self.declared is None:
            return {**head, "error": {"code": -32002, "message": "Server not initialized"}}
        if message["method"] != "tools/call":
            text = {"type": "text", "text": "no such method"}
            return {
                **head,
                "result": {"resultType": "complete", "isError": True, "content": [text]},
            }
        if "elicitation" not in self.declared:
            return {**head, "error": {"code": -32021, "message": "this client cannot be asked"}}
        return {**head, "result": {"resultType": "complete", "content": []}}


# %% wrong="mend" says="it does not stand alone"
# Stage mend: the code is right, and it still remembers.
class Calendar:
    declared = None

    def answer(self, message):
        head = {"jsonrpc": "2.0", "id": message["id"]}
        meta = message["params"]["_meta"]
        self.declared = meta.get(revision.CLIENT_CAPABILITIES, self.declared)
        if self.declared is None:
            return {**head, "error": {"code": -32602, "message": "Invalid params"}}
        if message["method"] != "tools/call":
            return {**head, "error": {"code": -32601, "message": "no such method"}}
        if "elicitation" not in self.declared:
            asks = {"requiredCapabilities": {"elicitation": {}}}
            return {**head, "error": {"code": -32021, "message": "forms", "data": asks}}
        return {**head, "result": {"resultType": "complete", "content": []}}


# %% wrong="mend" says="a result is for what worked"
# Stage mend: it forgets, and reports an unknown method as a result.
class Calendar:
    def answer(self, message):
        head = {"jsonrpc": "2.0", "id": message["id"]}
        can = message["params"]["_meta"].get(revision.CLIENT_CAPABILITIES)
        if can is None:
            return {**head, "error": {"code": -32602, "message": "Invalid params"}}
        if message["method"] == "tools/call" and "elicitation" not in can:
            asks = {"requiredCapabilities": {"elicitation": {}}}
            return {**head, "error": {"code": -32021, "message": "forms", "data": asks}}
        return {**head, "result": {"resultType": "complete", "isError": True, "content": []}}


# %% wrong="mend" says="what should the client do next"
# Stage mend: the refusal does not say what is missing.
class Calendar:
    def answer(self, message):
        head = {"jsonrpc": "2.0", "id": message["id"]}
        can = message["params"]["_meta"].get(revision.CLIENT_CAPABILITIES)
        if can is None:
            return {**head, "error": {"code": -32602, "message": "Invalid params"}}
        if message["method"] != "tools/call":
            return {**head, "error": {"code": -32601, "message": "no such method"}}
        if "elicitation" not in can:
            return {**head, "error": {"code": -32021, "message": "this client cannot be asked"}}
        return {**head, "result": {"resultType": "complete", "content": []}}


# %% check="mend" points=3
@check("mend", points=3)
def stands_alone(it, rows=None):
    can, cannot = {"elicitation": {}}, {"roots": {}}
    call, other = "tools/call", "tools/invent"
    rows = rows or [(call, None), (call, can), (call, None), (call, cannot), (other, can)]
    it.call("Calendar", keep="calendar")
    for id, (method, declared) in enumerate(rows):
        meta = {revision.PROTOCOL_VERSION: "2026-07-28"}
        due, hint = revision.INVALID_PARAMS, "it does not stand alone: something is missing in it"
        if declared is not None:
            meta[revision.CLIENT_CAPABILITIES] = declared
            due, hint = None, "what is wrong with this request?"
            if declared != can:
                due, hint = (
                    revision.MISSING_REQUIRED_CLIENT_CAPABILITY,
                    "whose capabilities are they?",
                )
            if method != call:
                due, hint = revision.METHOD_NOT_FOUND, "a result is for what worked"
        params = {"name": it.given["TOOL"], "arguments": {}, "_meta": meta}
        request = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        answer = it.call("calendar.answer", request)
        sent = f"{it.show(answer)} as request {id} of this server, {method}, with {it.show(meta)}"
        clause = "basic/index: a server does not rely on prior requests over the same connection"
        it.expect(answer.get("error", {}).get("code") == due, sent=sent, clause=clause, hint=hint)
        if due == revision.MISSING_REQUIRED_CLIENT_CAPABILITY:
            listed = "elicitation" in str(answer["error"].get("data"))
            clause = "basic/index: data lists the capabilities that are missing"
            it.expect(listed, sent=sent, clause=clause, hint="what should the client do next?")


# %% hidden="mend"
def hidden(it, rng):
    declared = [None, {"elicitation": {}}, {"roots": {}}]
    stands_alone(
        it, [(rng.choice(["tools/call"] * 3 + ["ping"]), rng.choice(declared)) for _ in range(20)]
    )


# %% [markdown]
# ## Stage `spot`: three answers
#
# A tutorial shows four refusals (of `_meta` only what matters here). One is right. Write `MENDED`:
# the number of each line that is wrong, and the line as it should be.

# %%
ASKED = f'"name":"{TOOL}","arguments":{{}}'
TRACE = {
    1: f'→ {{"jsonrpc":"2.0","id":{FIRST_ID},"method":"tools/list",'
    f'"params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"{OLD}"}}}}}}',
    2: f'← {{"jsonrpc":"2.0","id":{FIRST_ID},"error":{{"code":-32022,"message":"Unsupported protocol '
    f'version","data":{{"supportedVersions":["2026-07-28"],"requested":"{OLD}"}}}}}}',
    3: f'→ {{"jsonrpc":"2.0","id":{FIRST_ID + 1},"method":"tools/invent"}}',
    4: f'← {{"jsonrpc":"2.0","id":{FIRST_ID + 1},"result":{{"resultType":"complete","isError":true,'
    f'"content":[{{"type":"text","text":"Method not found"}}]}}}}',
    5: f'→ {{"jsonrpc":"2.0","id":{FIRST_ID + 2},"method":"resources/read","params":{{"uri":"memo://x"}}}}',
    6: f'← {{"jsonrpc":"2.0","id":{FIRST_ID + 2},"error":{{"code":-32602,"message":"No such resource"}}}}',
    7: f'→ {{"jsonrpc":"2.0","id":{FIRST_ID + 3},"method":"tools/call","params":{{{ASKED}}}}}',
    8: '← {"jsonrpc":"2.0","id":null,"error":{"code":-32021,"message":"This client cannot be asked",'
    '"data":{"requiredCapabilities":{"elicitation":{"form":{}}}}}}',
}
for number, line in TRACE.items():
    print(number, line)

# %% stage="spot"
# Stage spot: {number of a line: the line as it should be}, without the arrow.
### BEGIN SOLUTION
MENDED = {
    2: TRACE[2][2:].replace("supportedVersions", "supported"),
    4: f'{{"jsonrpc":"2.0","id":{FIRST_ID + 1},"error":{{"code":-32601,"message":"Method not found"}}}}',
    8: TRACE[8][2:].replace('"id":null', f'"id":{FIRST_ID + 3}'),
}
### END SOLUTION


# %% wrong="spot" says="three lines are wrong"
# Stage spot: all four answers.
MENDED = {number: TRACE[number][2:] for number in (2, 4, 6, 8)}

# %% wrong="spot" says="compare it with what"
# Stage spot: the old code for a resource that is not there.
MENDED = {
    2: TRACE[2][2:],
    6: TRACE[6][2:].replace("-32602", "-32002"),
    8: TRACE[8][2:].replace("null", str(FIRST_ID + 3)),
}

# %% wrong="spot" says="no line with an arrow"
# Stage spot: copied with the arrow.
MENDED = {number: TRACE[number] for number in (2, 4, 8)}


# %% check="spot" points=2
@check("spot", points=2)
def spotted(it):
    mended, trace = it.value("MENDED"), it.value("TRACE")
    clause = "the text above: three lines, each by its number"
    three = isinstance(mended, dict) and len(mended) == 3 and set(mended) <= set(trace)
    it.expect(three, sent=mended, clause=clause, hint="{1: '{...}', ...}: three lines are wrong")
    for number, line in mended.items():
        try:
            message = json.loads(line)
        except (TypeError, ValueError):
            message = None
        clause = "basic/index: a message is a JSON object"
        it.expect(isinstance(message, dict), sent=line, clause=clause, hint="no line with an arrow")
        asked = json.loads(trace[number - 1][2:]) if number - 1 in trace else {}
        clause = "basic/index: a refusal is an error, with the id of its request"
        hint = "where does a client look for a refusal, and how does it know whose it is?"
        right = message.get("id") == asked.get("id") and "error" in message and asked
        it.expect(right, sent="a trace still wrong", clause=clause, hint=hint)
    told = json.loads(mended.get(2, trace[2][2:]))["error"].get("data", {})
    clause = "basic/versioning: the refusal says which versions are supported"
    hint = "compare it with what your own check_version returns"
    it.expect("supported" in told, sent="a trace still wrong", clause=clause, hint=hint)


# %% hidden="spot"
def hidden(it, rng):
    spotted(it)
    first, old = it.given["FIRST_ID"], it.given["OLD"]
    read = {number: json.loads(line) for number, line in it.value("MENDED").items()}
    clause = "the text above: the three lines that are wrong, and as little in them as can be"
    hint = "look again at each line: which code, which data, which id?"
    right = (
        set(read) == {2, 4, 8}
        and read[2]["error"]["data"] == {"requested": old, "supported": ["2026-07-28"]}
        and [read[number]["error"]["code"] for number in (2, 4, 8)] == [-32022, -32601, -32021]
        and [read[number]["id"] for number in (2, 4, 8)] == [first, first + 1, first + 3]
        and "elicitation" in read[8]["error"]["data"]["requiredCapabilities"]
        and not any("result" in message for message in read.values())
    )
    it.expect(right, sent=it.value("MENDED"), clause=clause, hint=hint)


# %%
tally()
