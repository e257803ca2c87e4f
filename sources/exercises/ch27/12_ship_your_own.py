# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Exercise 27.12. Ship your own
#
# *After notebook `ch27/12_the_final_exam`, and after everything before it. Five stages, 16 points
# and 3 for words of your own, about 40 minutes.*
#
# You ship a server of your own choice: one that you would like to use, about recipes, tides, chess
# openings, your shelves. It talks on a pipe and over HTTP, keeps every MUST that `mcp_bare check`
# knows, and holds the core scenarios of the specification's own suite. Write it on `mcp_bare`, or
# wholly by hand: what is judged is what comes out.
#
# **How it works.** Run the cells from the top, with Shift+Enter; after a restart, all of them again.
# Write in those that begin with `# Stage`, and run them; the cell below each one checks what you
# wrote. Keep the line `# Stage ...`: by that line your cell is found. Long code
# may go into cells of your own above it. Your server runs without a network, and on Python's
# standard library, `mcp_bare` and `toy_servers` alone.

# %%
import io
import json
import time

from mcp_bare import http_request, http_rules, jsonrpc, revision, sse, stdio
from mcp_bare.call import Caller
from mcp_bare.connection import Connection
from mcp_bare.errors import Refused, ToolError
from mcp_bare.http_answer import JSON_HEADERS, STREAM_HEADERS
from mcp_bare.server import Server
from workbench.checks import check, tally
from workbench.checks.exam import sit
from workbench.shipping import core_holds, suite_says

# %% [markdown]
# ## Stage `mend`: a lighthouse that fails the exam
#
# First somebody else's, to see how the exam speaks. `tower()` is right. What puts it on a pipe
# breaks rules in three ways, and a check shows one of them at a time: the first broken rule, in the
# words of `mcp_bare check`. Mend `lighthouse`. (`Connection.receive` takes bytes as they come, and
# calls `write` with one whole line for each answer.)


# %%
def tower():
    """A server with one tool; nothing is wrong in here."""
    server = Server("lighthouse", "1.0.0")
    text = {"type": "string", "description": "Who passes by"}
    schema = {"type": "object", "properties": {"ship": text}, "required": ["ship"]}

    @server.tool({"name": "flash", "description": "Flash at a ship.", "inputSchema": schema})
    def flash(call):
        return f"Three flashes for {call.arguments['ship']}"

    return server


# %% stage="mend"
# Stage mend: the tower, on a pipe.
def lighthouse(stdin, stdout):
    def write(line):
        stdout.write(line)
        stdout.flush()

    connection = Connection(tower(), write)
    for line in stdin:
        connection.receive(line)
    connection.end(1.0)


# %% blank="mend"
# Stage mend: three rules are broken in these lines.
def lighthouse(stdin, stdout):
    print("The lighthouse is lit", flush=True)

    def write(line):
        pretty = json.dumps(json.loads(line), indent=2)
        stdout.write(pretty.encode() + b"\n")
        stdout.flush()

    connection = Connection(tower(), write)
    for line in stdin:
        connection.receive(line)
    connection.end(1.0)
    time.sleep(600)  # somebody may come back


# %% wrong="mend" says="no newline inside"
# Stage mend: it says nothing of itself, and is still pretty.
def lighthouse(stdin, stdout):
    def write(line):
        pretty = json.dumps(json.loads(line), indent=2)
        stdout.write(pretty.encode() + b"\n")
        stdout.flush()

    connection = Connection(tower(), write)
    for line in stdin:
        connection.receive(line)
    connection.end(1.0)


# %% wrong="mend" says="leave"
# Stage mend: it does not go.
def lighthouse(stdin, stdout):
    def write(line):
        stdout.write(line)
        stdout.flush()

    connection = Connection(tower(), write)
    for line in stdin:
        connection.receive(line)
    connection.end(1.0)
    time.sleep(600)


# %% wrong="mend" says="nothing but messages"
# Stage mend: the banner alone is left.
def lighthouse(stdin, stdout):
    print("The lighthouse is lit", flush=True)

    def write(line):
        stdout.write(line)
        stdout.flush()

    connection = Connection(tower(), write)
    for line in stdin:
        connection.receive(line)
    connection.end(1.0)


# %% check="mend" points=3
@check("mend", points=3)
def lighthouse_passes(it):
    sit(it, "lighthouse")


# %% hidden="mend"
def hidden(it, rng):
    ship = f"ship {rng.random()}\n東京"
    with it.client("lighthouse") as client:
        said = client.call_tool("flash", {"ship": ship})
    shown = said["content"][0].get("text") == f"Three flashes for {ship}"
    clause = "the text above: the tower is as it was"
    it.expect(shown, sent=said, clause=clause, hint="mend lighthouse")


# %% [markdown]
# ## Stage `offer`: what is on your table
#
# Your server has at least one of each: a tool, which the model calls; a resource, which the
# application attaches; a prompt, which the person picks (`server/index`). Each tool and each prompt
# has a description, and so has each argument of a tool: a model reads nothing else. Each resource in
# the list can be read.
#
# Write `make()`: it returns your server, an object whose `handle(message)` gives back the messages
# that answer a request, as `mcp_bare.server.Server` does. Each message may meet another `make()`,
# in another process, and what is to last is in neither. Roughly twenty lines.


# %%
def heard(message):
    """What your server answers to one message."""
    return list(make().handle(message))


# %% stage="offer"
# Stage offer: a server of your own.
def make():
    ### BEGIN SOLUTION
    books = {"Solaris": "shelf 3", "Niebla": "shelf 1"}
    text = {"type": "string", "description": "The title, as it is on the cover"}
    schema = {"type": "object", "properties": {"title": text}, "required": ["title"]}
    tool = {"name": "find_book", "description": "Say where a book stands.", "inputSchema": schema}

    def find_book(call):
        if (title := call.arguments["title"]) not in books:
            raise ToolError(f"No such book. There are {', '.join(books)}: try one of these.")
        return f"{title} is on {books[title]}"

    server = Server("shelves", "1.0.0")
    server.tool(tool)(find_book)
    server.resource({"uri": "shelves://all", "name": "all"})(lambda call: "\n".join(books))
    tonight = {"name": "tonight", "description": "A book for tonight."}
    server.prompt(tonight)(lambda call: "Choose me a book from my shelves.")
    return server
    ### END SOLUTION


# %% wrong="offer" says="one of each"
# Stage offer: everything is a tool.
def make():
    server = Server("shelves", "1.0.0")
    text = {"type": "string", "description": "What to look for"}
    schema = {"type": "object", "properties": {"what": text}}
    tool = {"name": "find", "description": "Find something on a shelf.", "inputSchema": schema}
    server.tool(tool)(lambda call: "there")
    return server


# %% wrong="offer" says="a model reads"
# Stage offer: the name says it all.
def make():
    server = Server("shelves", "1.0.0")
    schema = {"type": "object", "properties": {"what": {"type": "string"}}}
    server.tool({"name": "find", "inputSchema": schema})(lambda call: "there")
    server.resource({"uri": "a://b", "name": "b"})(lambda call: "text")
    server.prompt({"name": "c"})(lambda call: "text")
    return server


# %% wrong="offer" says="can be read"
# Stage offer: a list that promises more than there is.
def make():
    server = Server("shelves", "1.0.0")
    schema = {"type": "object", "properties": {}}
    tool = {"name": "find", "description": "Find something on a shelf.", "inputSchema": schema}
    server.tool(tool)(lambda call: "there")
    server.resource({"uri": "a://b", "name": "b"})(lambda call: open("/nowhere").read())
    server.prompt({"name": "c", "description": "Say something."})(lambda call: "text")
    return server


# %% check="offer" points=3
@check("offer", points=3)
def table_is_laid(it, id=1):
    meta = revision.request_meta({}, {"name": "check", "version": "1"})

    def ask(method, **params):
        message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params | {"_meta": meta}}
        said = it.call("heard", message)
        last = said[-1] if isinstance(said, list) and said else None
        clause = f"basic/index: {method} is answered, and the answer has the id of the request"
        right = isinstance(last, dict) and last.get("id") == id
        it.expect(right, sent=said, clause=clause, hint="what does handle(message) give back?")
        return last.get("result", {})

    versions = ask("server/discover").get("supportedVersions")
    clause = "server/discover: a server says which versions it speaks"
    it.expect("2026-07-28" in (versions or []), sent=versions, clause=clause, hint="this one")
    lists = {kind: ask(f"{kind}/list").get(kind) for kind in ("tools", "resources", "prompts")}
    counts = {kind: len(found or []) for kind, found in lists.items()}
    clause = "the text above: at least one of each, for each who decides"
    it.expect(all(counts.values()), sent=counts, clause=clause, hint="notebook ch26/04 has them")
    for tool in lists["tools"]:
        parts = [tool, *tool["inputSchema"].get("properties", {}).values()]
        told = all(len(str(each.get("description", ""))) > 9 for each in parts + lists["prompts"])
        clause = "server/tools: a model reads descriptions: a tool has one, its arguments, a prompt"
        hint = "a sentence for each: what is it for?"
        it.expect(told, sent=[tool, *lists["prompts"]], clause=clause, hint=hint)
    for resource in lists["resources"]:
        contents = ask("resources/read", uri=resource["uri"]).get("contents") or [{}]
        clause = "server/resources: what is listed can be read, as text or as a blob"
        fine = {"text", "blob"} & set(contents[0])
        it.expect(fine, sent=f"{contents} for {resource['uri']}", clause=clause, hint="read it")


# %% hidden="offer"
def hidden(it, rng):
    table_is_laid(it, rng.choice([f"id {rng.random()}", rng.randint(2, 10**6)]))
    meta = revision.request_meta({}, {"name": "check", "version": "1"})
    name = f"n{rng.getrandbits(40):x}"
    absent = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
    for method, field in absent.items():
        asked = name if field == "name" else f"{name}://{name}"
        params = {field: asked, "_meta": meta}
        message = {"jsonrpc": "2.0", "id": name, "method": method, "params": params}
        said = it.call("heard", message)
        error = said[-1].get("error", {})
        clause = f"server/index: {method} of what there is not is an error, -32602"
        it.expect(error.get("code") == -32602, sent=said, clause=clause, hint="look it up first")


# %% [markdown]
# ## Stage `calls`: it does something
#
# Show what your tool does. Write `EXAMPLE`: the name of a `tool`, arguments that are `good`,
# `other` arguments that are good too and get another answer, and arguments that are `bad`: of the
# right shape, and still nothing that the tool can do. For these it answers with `isError`, in words
# that tell a model what to do instead (`server/tools`, "Error Handling"). Roughly six lines.


# %% stage="calls"
# Stage calls: {"tool": name, "good": {...}, "other": {...}, "bad": {...}}
### BEGIN SOLUTION
EXAMPLE = {
    "tool": "find_book",
    "good": {"title": "Solaris"},
    "other": {"title": "Niebla"},
    "bad": {"title": "The Castle"},
}
### END SOLUTION

# %% wrong="calls" says="another answer"
# Stage calls: two times the same.
EXAMPLE = {
    "tool": "find_book",
    "good": {"title": "Solaris"},
    "other": {"title": "Solaris"},
    "bad": {"title": "The Castle"},
}

# %% wrong="calls" says="isError"
# Stage calls: what is bad works.
EXAMPLE = {
    "tool": "find_book",
    "good": {"title": "Solaris"},
    "other": {"title": "Niebla"},
    "bad": {"title": "Solaris"},
}

# %% wrong="calls" says="four keys"
# Stage calls: a call, and no more.
EXAMPLE = {"tool": "find_book", "good": {"title": "Solaris"}}


# %% check="calls" points=2
@check("calls", points=2)
def it_works(it, id=1):
    example = it.value("EXAMPLE")
    whole = isinstance(example, dict) and set(example) == {"tool", "good", "other", "bad"}
    four = "the text above: four keys, one of them the tool's name"
    it.expect(whole, sent=example, clause=four, hint="one call for each")
    meta = revision.request_meta({}, {"name": "check", "version": "1"})

    def result(which):
        params = {"name": example["tool"], "arguments": example[which], "_meta": meta}
        message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
        said = it.call("heard", message)
        found = said[-1].get("result", {}) if said else {}
        content = found.get("content")
        clause = "server/tools: a call is answered with content, for the model to read"
        it.expect(content, sent=f"{it.show(said)} for {which}", clause=clause, hint="try it")
        return found, json.dumps(content)

    answers = [result("good"), result("other")]
    for found, _ in answers:
        clause = "server/tools: what worked is no error"
        it.expect(not found.get("isError"), sent=found, clause=clause, hint="which arguments work?")
    differ = answers[0][1] != answers[1][1]
    clause = "the text above: other arguments get another answer"
    it.expect(differ, sent=answers[0][1], clause=clause, hint="does the tool look at them?")
    found, words = result("bad")
    clause = "server/tools: a call that did not work says so in its result, with isError"
    it.expect(found.get("isError"), sent=found, clause=clause, hint="raise ToolError(words)")
    clause = "server/tools: the words are for a model, which is to try again"
    it.expect(len(words) > 60, sent=words, clause=clause, hint="what is wrong, and what to do?")


# %% hidden="calls"
def hidden(it, rng):
    it_works(it, f"id {rng.random()}")
    example = it.value("EXAMPLE")
    meta = revision.request_meta({}, {"name": "check", "version": "1"})
    known = example["good"] | example["other"] | example["bad"]
    odd = {k: [rng.random()] if type(known[k]) is str else f"x{rng.random()}" for k in known}
    params = {"name": example["tool"], "arguments": odd, "_meta": meta}
    said = it.call("heard", {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params})
    refused = said[-1].get("result", {}).get("isError") or "error" in said[-1]
    clause = "server/tools: arguments are checked before anything is done with them"
    it.expect(refused, sent=f"{said}\nfor {odd}", clause=clause, hint="what does the schema say?")


# %% [markdown]
# ## Stage `musts`: on a pipe
#
# Write `serve(stdin, stdout)`: your server as a process, with its pipes in bytes. The check is
# `mcp_bare check`, with all its rules: it starts your server several times, sends what it should
# understand and what it should not, and shows the first rule that is broken. It calls your tools
# with made-up arguments. One line on the toolkit (`stdio.serve`), a hundred by hand.


# %% stage="musts"
# Stage musts: your server on standard input and output.
def serve(stdin, stdout):
    ### BEGIN SOLUTION
    stdio.serve(make())
    ### END SOLUTION


# %% wrong="musts" says="it ended"
# Stage musts: whatever cannot be read ends it.
def serve(stdin, stdout):
    server = make()
    for line in stdin:
        for answer in server.handle(json.loads(line)):
            stdout.write(json.dumps(answer).encode() + b"\n")
            stdout.flush()


# %% wrong="musts" says="the id of its request"
# Stage musts: answers are numbered anew.
def serve(stdin, stdout):
    def write(line):
        message = json.loads(line)
        if "id" in message:
            message["id"] = str(message["id"])
        stdout.write(json.dumps(message).encode() + b"\n")
        stdout.flush()

    connection = Connection(make(), write)
    for line in stdin:
        connection.receive(line)
    connection.end(1.0)


# %% check="musts" points=4
@check("musts", points=4)
def every_must_holds(it):
    sit(it, "serve")


# %% hidden="musts"
def hidden(it, rng):
    meta = revision.request_meta({}, {"name": "check", "version": "1"})
    with it.serve("serve") as wire:
        for _ in range(4):
            id, name = rng.choice([rng.randint(0, 10**9), f"ș{rng.random()}"]), rng.random()
            version = rng.choice(["2026-07-28", f"20{rng.randint(30, 99)}-01-01"])
            params = {"_meta": meta | {revision.PROTOCOL_VERSION: version}}
            said = wire.ask({"jsonrpc": "2.0", "id": id, "method": f"m/{name}", "params": params})
            due = -32601 if version == "2026-07-28" else -32022
            right = said.get("id") == id and said.get("error", {}).get("code") == due
            clause = "basic/index: an unknown method is -32601, an unknown version -32022"
            hint = "look at the version first, then at the method"
            it.expect(right, sent=f"{it.show(said)}\nfor {version}", clause=clause, hint=hint)
            wire.send({"jsonrpc": "2.0", "method": f"notifications/n{name}", "params": params})
        wire.end_input()
        last, code = wire.rest(), wire.exit_code()
        sent = f"{it.show(last)}, and the exit code {code}"
        clause = "basic/index: notifications stay unanswered, and at the end of its input it leaves"
        it.expect((last, code) == (b"", 0), sent=sent, clause=clause, hint="with exit code 0")


# %% [markdown]
# ## Stage `http`: the same server at an address
#
# Write `answer(data)`: the bytes of one HTTP request in, the bytes of its response out. A listener
# outside hands you each request whole, and writes what you return as it is; so the socket is not
# yours, and the HTTP is (`basic/transports/streamable-http`). A notification is 202 without a body;
# each refusal has its status (notebook `ch27/06_post_and_stream`); a response that comes with
# notifications before it is a stream of events. `response` is given. On the toolkit,
# `http_request.read` and `http_rules.Rules` do most of it. Roughly twenty lines.
#
# The check below looks at seven requests. The suite's core scenarios take longer than a check may,
# and a grader runs them: to hear them now, call `suite_says("answer")` in a cell of your own, and
# wait for half a minute. It says so where the suite is not installed. A warning of the suite is about
# a SHOULD, and takes no points.


# %%
def response(status, headers, body):
    """The bytes of a response: response(202, {}, b"") begins with b"HTTP/1.1 202 "."""
    lines = [f"HTTP/1.1 {status} ", *(f"{name}: {text}" for name, text in headers.items())]
    lines += [f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace") + body


# %% stage="http"
# Stage http: one request in, one response out.
def answer(data):
    ### BEGIN SOLUTION
    server, said = make(), []
    try:
        request = http_request.read(io.BytesIO(data), len(data), lambda: None)
        message, _ = http_rules.Rules().admit(request, server)
    except Refused as refusal:
        return response(refusal.status, refusal.headers, refusal.body)
    if "id" not in message:
        return response(202, {}, b"")
    said += list(server.handle(message, Caller(None, said.append)))
    server.subscriptions.close()  # what would go on for ever ends here
    if "method" in said[0]:
        kept = [each for each in said if each.get("method") != "notifications/cancelled"]
        events = [sse.write_event(jsonrpc.dumps(each)) for each in kept]
        return response(200, STREAM_HEADERS, b"".join(events))
    status = http_rules.STATUS.get(said[0].get("error", {}).get("code"), 200)
    return response(status, JSON_HEADERS, jsonrpc.dumps(said[0]))
    ### END SOLUTION


# %% wrong="http" says="another site"
# Stage http: whatever comes is a POST.
def answer(data):
    message = json.loads(data.partition(b"\r\n\r\n")[2] or b"{}")
    said = list(make().handle(message)) if "id" in message else []
    return response(
        200 if said else 202, JSON_HEADERS if said else {}, jsonrpc.dumps(said[-1]) if said else b""
    )


# %% wrong="http" says="Content-Type"
# Stage http: nobody says what it is.
def answer(data):
    try:
        request = http_request.read(io.BytesIO(data), len(data), lambda: None)
        message, _ = http_rules.Rules().admit(request, make())
    except Refused as refusal:
        return response(refusal.status, refusal.headers, refusal.body)
    said = list(make().handle(message))
    return response(200 if said else 202, {}, jsonrpc.dumps(said[0]) if said else b"")


# %% wrong="http" says="for a method that there is not"
# Stage http: an error is an answer like any other, with 200.
def answer(data):
    try:
        request = http_request.read(io.BytesIO(data), len(data), lambda: None)
        message, _ = http_rules.Rules().admit(request, make())
    except Refused as refusal:
        return response(refusal.status, refusal.headers, refusal.body)
    said = list(make().handle(message))
    return response(200 if said else 202, JSON_HEADERS, jsonrpc.dumps(said[0]) if said else b"")


# %% check="http" points=4
@check("http", points=4)
def address_answers(it, id=1, evil="https://evil.example", unknown="no/such"):
    page = "basic/transports/streamable-http"
    meta = revision.request_meta({}, {"name": "check", "version": "1"})
    discover, note = "server/discover", "notifications/cancelled"
    cases = [
        ("a request", {}, discover, 200, None),
        ("a page of another site (Origin)", {"Origin": evil}, discover, 403, None),
        ("a header that differs from the body", {"Mcp-Method": "tools/list"}, discover, 400, -32020),
        ("a body that is not JSON", {"Content-Type": "text/plain"}, discover, 415, None),
        ("a method that there is not", {}, unknown, 404, -32601),
        ("a GET", {"GET": "1"}, discover, 405, None),
        ("a notification", {}, note, 202, None),
    ]  # fmt: skip
    for what, changes, method, status, code in cases:
        params = {"_meta": meta} | ({"requestId": 99} if method == note else {})
        message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        body = json.dumps({k: v for k, v in message.items() if method != note or k != "id"})
        head = {"Host": "127.0.0.1", "Content-Type": "application/json", "Mcp-Method": method,
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": "2026-07-28", **changes}  # fmt: skip
        lines = [f"{'GET' if head.pop('GET', 0) else 'POST'} /mcp HTTP/1.1"]
        lines += [f"{name}: {text}" for name, text in head.items()]
        lines += [f"Content-Length: {len(body.encode())}", "", body]
        said = it.call("answer", "\r\n".join(lines).encode())
        top, _, rest = said.partition(b"\r\n\r\n") if isinstance(said, bytes) else (b"", b"", b"")
        hint = "the status first, then the headers, then the body: print what you return"
        clause = f"{page}: {status} for {what}, with the code {code}" if code else (
            f"{page}: {status} for {what}")  # fmt: skip
        right = top.startswith(f"HTTP/1.1 {status} ".encode()) and str(code or "").encode() in rest
        it.expect(right, sent=said, clause=clause, hint=hint)
        clause = f"{page}: a response says its Content-Type, JSON or a stream; a 202 has no body"
        typed = b"content-type: application/json" in top.lower() or status not in (200, 404)
        it.expect(typed and bool(rest) is (status != 202), sent=said, clause=clause, hint=hint)


# %% hidden="http"
def hidden(it, rng):
    unknown, evil = f"a{rng.random()}/b", f"https://e{rng.getrandbits(30):x}.example"
    address_answers(it, rng.choice([rng.randint(2, 10**6), f"id{rng.random()}"]), evil, unknown)
    core_holds(it, "answer")


# %% [markdown] written="who" points=3
# ## In your own words
#
# What does your server do, and for whom? For each thing on its table: who decides that it happens?
# And what would you rather not have a model decide?
#
# ### BEGIN SOLUTION
# It knows on which shelf of a house a book stands. That a book is looked for, the model decides, in
# the middle of a conversation: it reads, and costs nothing. That the whole list is attached, the
# application decides, since it knows how much room there is. What to read tonight is a prompt: the
# person asks for it. Lending a book away is not here: it writes, and a person would have to agree.
# ### END SOLUTION

# %%
tally()
