# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Exercise 26.1. Frame and parse a message
#
# *After notebook `ch26/01_messages_on_a_wire`. Five stages, 11 points and 2 for words of your own,
# about 25 minutes.*
#
# A pipe carries bytes and knows nothing of messages. You write both directions: a message out as a
# line, and a stream of bytes back into lines and messages. Then you mend a server that somebody
# wrote in a hurry, and read a trace that is wrong in three places.
#
# **How it works.** Run the cells from the top, with Shift+Enter; after a restart, all of them again.
# Write in those that begin with `# Stage`, and run them. The cell below each one checks what you
# wrote: it starts your cells in a process of their own and looks at the bytes that come out. Keep
# the line `# Stage ...`: by that line your cell is found. Your own cells, anywhere between, are
# welcome. The other cells are locked.

# %%
import json

from workbench.checks import check, tally

# %% role="given"
# Given: these are yours; another learner may have others.
TITLE = "Zahnärztin"  # or "Crème brûlée", "Șezătoare"
METHOD = "tools/list"  # or "prompts/list", "resources/list"
FIRST_ID = 7  # or 12, 31

# %% [markdown]
# ## Stage `frame`: a message as a line
#
# On stdio a message is one line of JSON in UTF-8, ended by a line feed, with none inside
# (`basic/transports/stdio`, "Message Format").
#
# Write `frame(message)`: it takes a dict and returns bytes. Roughly one line.


# %% stage="frame"
# Stage frame: one message as one line of bytes.
def frame(message):
    ### BEGIN SOLUTION
    return json.dumps(message, ensure_ascii=False).encode("utf-8") + b"\n"
    ### END SOLUTION


# %% wrong="frame" says="line feed at its end"
# Stage frame: without the last byte.
def frame(message):
    return json.dumps(message).encode()


# %% wrong="frame" says="2 line feeds"
# Stage frame: printed prettily.
def frame(message):
    return json.dumps(message, indent=None).replace(", ", ",\n", 1).encode() + b"\n"


# %% wrong="frame" says="not bytes"
# Stage frame: text.
def frame(message):
    return json.dumps(message) + "\n"


# %% wrong="frame" says="not JSON"
# Stage frame: as Python prints it.
def frame(message):
    return str(message).encode() + b"\n"


# %% check="frame" points=2
@check("frame", points=2)
def framed(it, message=None):
    message = message or {"jsonrpc": "2.0", "id": 1, "method": it.given["METHOD"]}
    clause = "basic/transports/stdio: a message is one line, ended by a line feed, with none inside"
    line = it.call("frame", message)
    kind = f"{type(line).__name__}, not bytes: {it.show(line)}"
    it.expect(
        isinstance(line, bytes), sent=kind, clause=clause, hint="a pipe carries bytes: encode"
    )
    hint = "the reader waits for a line feed at its end"
    it.expect(line.endswith(b"\n"), sent=line, clause=clause, hint=hint)
    count = line.count(b"\n")
    it.expect(count == 1, sent=line, clause=clause, hint=f"{count} line feeds make {count} lines")
    try:
        read = json.loads(line.decode("utf-8"))
    except ValueError as trouble:
        read = trouble
    hint = f"this is not JSON in UTF-8 ({read}); which module writes JSON?"
    clause = "basic/index: messages follow JSON-RPC 2.0, and that is JSON"
    it.expect(not isinstance(read, ValueError), sent=line, clause=clause, hint=hint)
    clause = "basic/transports/stdio: the line is the message, and nothing but the message"
    it.expect(read == message, sent=line, clause=clause, hint="read it back and compare")


# %% hidden="frame"
def hidden(it, rng):
    words = ["a\nb", "\u2028", "\t", "naïve", "東京", it.given["TITLE"], "", "\\n", '"']
    for number in range(12):
        arguments = {rng.choice(words): [rng.choice(words), rng.random(), None, {"a": number}]}
        params = {"name": "create_event", "arguments": arguments}
        framed(it, {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


# %% [markdown]
# ## Stage `split`: a stream back into lines
#
# A pipe may cut anywhere: in the middle of a message, or in the middle of a letter. A reader keeps
# what is unfinished.
#
# Write a class `Lines` with one method, `feed(chunk)`: it takes the next bytes, and returns the
# list of the lines that they complete, as bytes without the line feed. A line ends at a line feed
# and nowhere else. Blank lines are left out. Roughly eight lines.


# %% stage="split"
# Stage split: bytes in, whole lines out.
class Lines:
    ### BEGIN SOLUTION
    def __init__(self):
        self.unfinished = b""

    def feed(self, chunk):
        *whole, self.unfinished = (self.unfinished + chunk).split(b"\n")
        return [line for line in whole if line]

    ### END SOLUTION


# %% wrong="split" says="keeps what is unfinished"
# Stage split: nothing is kept.
class Lines:
    def feed(self, chunk):
        return [line for line in chunk.split(b"\n") if line]


# %% wrong="split" says="UnicodeDecodeError"
# Stage split: decoded too early.
class Lines:
    def __init__(self):
        self.text = ""

    def feed(self, chunk):
        *whole, self.text = (self.text + chunk.decode()).split("\n")
        return [line.encode() for line in whole if line]


# %% wrong="split" says="for splitlines"
# Stage split: at everything that Python calls the end of a line.
class Lines:
    kept = b""

    def feed(self, chunk):
        pieces = (self.kept + chunk).splitlines(keepends=True)
        self.kept = pieces.pop() if pieces and not pieces[-1].endswith((b"\n", b"\r")) else b""
        return [line.rstrip(b"\r\n") for line in pieces if line.strip()]


# %% check="split" points=2
@check("split", points=2)
def splits(it, lines=None, sizes=(9, 1, 1000)):
    lines = lines or [
        f'{{"id":1,"title":"{it.given["TITLE"]}"}}'.encode(),
        b'{"a"\r:2}',
        b"",
        b"{}",
    ]
    stream = b"\n".join(lines) + b"\n"
    clause = "basic/transports/stdio: a message ends at a line feed and nowhere else"
    for size in sizes:
        it.call("Lines", keep="lines")
        came = []
        for start in range(0, len(stream), size):
            chunk = stream[start : start + size]
            found = it.call("lines.feed", chunk)
            sent = f"for the chunk {chunk!r}: {it.show(found)}"
            right = isinstance(found, list) and all(isinstance(line, bytes) for line in found)
            due = "the text above: feed returns a list of lines, as bytes"
            hint = "what does feed return when no line is complete?"
            it.expect(right, sent=sent, clause=due, hint=hint)
            came += found
        hint = "a reader keeps what is unfinished, and puts the next chunk behind it"
        if came == [line for line in stream.splitlines() if line]:
            hint = "which other bytes end a line for splitlines?"
        sent = f"{came} for the stream {stream!r} in chunks of {size}"
        it.expect(came == [line for line in lines if line], sent=sent, clause=clause, hint=hint)


# %% hidden="split"
def hidden(it, rng):
    letters = ["a", "ß", "→", "😀", "\r", "\u2028", "\x0b", " ", "{"]
    for _ in range(8):
        lines = [
            "".join(rng.choices(letters, k=rng.randint(0, 30))).encode()
            for _ in range(rng.randint(1, 6))
        ]
        splits(it, lines, [rng.randint(1, 40)])


# %% [markdown]
# ## Stage `kind`: four kinds of message
#
# Write `kind(message)`. It returns `"request"`, `"notification"`, `"result"` or `"error"`, and it
# raises `ValueError` for what is none of them (`basic/index`, "Messages"):
#
# - a request has a `method` and an `id`; a notification a `method` and no `id`;
# - a response has an `id`, and either a `result` or an `error`, never both;
# - an `id` is a string or an integer, and never null.
#
# (In JSON `true` is no integer. In Python `isinstance(True, int)` holds.) Roughly ten lines.


# %% stage="kind"
# Stage kind: tell the four apart, and refuse the rest.
def kind(message):
    ### BEGIN SOLUTION
    if "id" in message and type(message["id"]) not in (str, int):
        raise ValueError(f"no id: {message['id']!r}")
    if "method" in message:
        return "request" if "id" in message else "notification"
    outcomes = [name for name in ("result", "error") if name in message]
    if len(outcomes) != 1 or "id" not in message:
        raise ValueError("neither a question nor one answer")
    return outcomes[0]
    ### END SOLUTION


# %% wrong="kind" says="no id is not the same as an id of 0"
# Stage kind: an id of 0 is taken for none.
def kind(message):
    if message.get("id") is True or type(message.get("id", 1)) not in (str, int):
        raise ValueError("id")
    if "method" in message:
        return "request" if message.get("id") else "notification"
    if ("result" in message) == ("error" in message):
        raise ValueError("both")
    return "result" if "result" in message else "error"


# %% wrong="kind" says="null"
# Stage kind: whatever has an id is fine.
def kind(message):
    if "method" in message:
        return "request" if "id" in message else "notification"
    if "result" in message and "error" in message:
        raise ValueError("both")
    return "result" if "result" in message else "error"


# %% wrong="kind" says="never both"
# Stage kind: the first key that is found decides.
def kind(message):
    if "id" in message and (isinstance(message["id"], bool) or message["id"] is None):
        raise ValueError("id")
    for key, name in (("method", "request"), ("result", "result"), ("error", "error")):
        if key in message:
            return name if key != "method" or "id" in message else "notification"


# %% check="kind" points=2
@check("kind", points=2)
def told_apart(it, ids=(0, "seven"), no_ids=(None, True)):
    head, fault = {"jsonrpc": "2.0"}, {"code": -32601, "message": "Method not found"}
    clause = "basic/index: a method and an id, a method alone, or an id with a result or an error"
    cases = [({"method": it.given["METHOD"]}, "notification")]
    for id in ids:
        cases.append(({"id": id, "method": it.given["METHOD"]}, "request"))
        cases += [({"id": id, "result": {}}, "result"), ({"id": id, "error": fault}, "error")]
    for keys, due in cases:
        said = it.call("kind", {**head, **keys})
        sent = f"{it.show(said)} for {it.show(keys)}"
        hint = "look for the key, not at its value: no id is not the same as an id of 0"
        it.expect(said == due, sent=sent, clause=clause, hint=hint)
    bad = [
        ({"id": id, "method": "x"}, "an id is a string or an integer, never null") for id in no_ids
    ]
    bad.append(({"id": ids[0], "result": {}, "error": fault}, "a result or an error, never both"))
    bad.append(({"result": {}}, "a response names the id of what it answers"))
    for keys, rule in bad:
        said = it.attempt("kind", {**head, **keys})
        refused = "ValueError" in getattr(said, "types", [])
        sent = f"{said} for {it.show(keys)}"
        it.expect(refused, sent=sent, clause=f"basic/index: {rule}", hint="raise ValueError for it")


# %% hidden="kind"
def hidden(it, rng):
    ids = [rng.randint(-9, 10**9), "", str(rng.randint(0, 9)), -1]
    told_apart(it, ids, [None, False, rng.random(), [rng.randint(0, 9)], {}])


# %% [markdown]
# ## Stage `mend`: a server in a hurry
#
# This server runs as a process; `stdin` and `stdout` are its pipes, in bytes. It is to answer each
# request with an empty result, each on its line, for as long as its input lasts, and to leave
# notifications unanswered. It has four bugs. Run the check, read what it says, mend, run again; use
# what you have.


# %% stage="mend"
# Stage mend: a server that keeps to the rules of its pipe.
def serve(stdin, stdout):
    for line in stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"resultType": "complete"}}
        stdout.write(frame(answer))
        stdout.flush()


# %% blank="mend"
# Stage mend: four bugs in these lines.
def serve(stdin, stdout):
    print("calendar server is ready", flush=True)
    while chunk := stdin.read1(64):
        message = json.loads(chunk)
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"resultType": "complete"}}
        stdout.write(json.dumps(answer, indent=2).encode() + b"\n")
        stdout.flush()


# %% wrong="mend" says="JSONDecodeError"
# Stage mend: it says nothing, and still reads 64 bytes.
def serve(stdin, stdout):
    while chunk := stdin.read1(64):
        message = json.loads(chunk)
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"resultType": "complete"}}
        stdout.write(json.dumps(answer).encode() + b"\n")
        stdout.flush()


# %% wrong="mend" says="nothing but messages"
# Stage mend: lines are read, and written on several.
def serve(stdin, stdout):
    for line in stdin:
        message = json.loads(line)
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"resultType": "complete"}}
        stdout.write(json.dumps(answer, indent=2).encode() + b"\n")
        stdout.flush()


# %% wrong="mend" says="KeyError: 'id'"
# Stage mend: a notification ends it.
def serve(stdin, stdout):
    for line in stdin:
        message = json.loads(line)
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"resultType": "complete"}}
        stdout.write(json.dumps(answer).encode() + b"\n")
        stdout.flush()


# %% wrong="mend" says="time is up"
# Stage mend: what is written stays in a buffer.
def serve(stdin, stdout):
    for line in stdin:
        message = json.loads(line)
        if "id" in message:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"resultType": "complete"}}
            stdout.write(json.dumps(answer).encode() + b"\n")


# %% check="mend" points=3
@check("mend", points=3)
def mended(it, titles=None, ids=(1, "two", 3)):
    titles = titles or [it.given["TITLE"], it.given["TITLE"] * 20]
    with it.serve("serve") as pipe:
        for id in ids:
            for title in titles:
                event = {"name": "create_event", "arguments": {"title": title}}
                head = {"jsonrpc": "2.0", "method": "tools/call", "params": event}
                answer = pipe.ask({**head, "id": id})
                clause = "basic/index: a response has the id of the request that it answers"
                hint = "one answer for one request, and its id as it came"
                right = isinstance(answer, dict) and answer.get("id") == id and "result" in answer
                it.expect(right, sent=answer, clause=clause, hint=hint)
                pipe.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}})
        rest = pipe.rest()
        clause = "basic/index: a notification is never answered"
        it.expect(rest == b"", sent=rest, clause=clause, hint="what tells it from a request?")


# %% hidden="mend"
def hidden(it, rng):
    titles = ["é" * rng.randint(1, 3000), "a\nb", it.given["TITLE"]]
    mended(it, titles, [rng.randint(0, 99), "0", str(rng.random())])


# %% [markdown]
# ## Stage `spot`: three lines of a trace
#
# Somebody's tutorial prints this conversation over stdio (`_meta` is left out, to keep it short).
# Three of its lines break a rule of `basic/index`. Which ones, and how should they read?
#
# Write `MENDED`: the number of each line that is wrong, and the line as it should be.

# %%
TRACE = {
    1: f'→ {{"jsonrpc":"2.0","id":{FIRST_ID},"method":"tools/list"}}',
    2: f'← {{"jsonrpc":"2.0","id":"{FIRST_ID}","result":{{"resultType":"complete","tools":[]}}}}',
    3: f'→ {{"jsonrpc":"2.0","id":{FIRST_ID + 1},"method":"prompts/list"}}',
    4: f'→ {{"jsonrpc":"2.0","id":null,"method":"notifications/cancelled",'
    f'"params":{{"requestId":{FIRST_ID + 1}}}}}',
    5: f'→ {{"jsonrpc":"2.0","id":{FIRST_ID + 2},"method":"prompts/list"}}',
    6: f'← {{"jsonrpc":"2.0","id":{FIRST_ID + 2},"result":{{"prompts":[]}}}}',
}
for number, line in TRACE.items():
    print(number, line)

# %% stage="spot"
# Stage spot: {number of a line: the line as it should be}, without the arrow.
### BEGIN SOLUTION
MENDED = {
    2: f'{{"jsonrpc":"2.0","id":{FIRST_ID},"result":{{"resultType":"complete","tools":[]}}}}',
    4: f'{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{FIRST_ID + 1}}}}}',
    6: f'{{"jsonrpc":"2.0","id":{FIRST_ID + 2},"result":{{"resultType":"complete","prompts":[]}}}}',
}
### END SOLUTION


# %% wrong="spot" says="an answer has the id of its request"
# Stage spot: the id is left as text.
MENDED = {
    1: f'{{"jsonrpc":"2.0","id":"{FIRST_ID}","method":"tools/list"}}',
    4: f'{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{FIRST_ID + 1}}}}}',
    6: f'{{"jsonrpc":"2.0","id":{FIRST_ID + 2},"result":{{"resultType":"complete","prompts":[]}}}}',
}

# %% wrong="spot" says="three lines"
# Stage spot: one of three.
MENDED = {4: '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}'}

# %% wrong="spot" says="without its arrow"
# Stage spot: the arrow is still there.
MENDED = {2: "← {}", 4: "→ {}", 6: "← {}"}


# %% check="spot" points=2
@check("spot", points=2)
def spotted(it):
    mended, trace = it.value("MENDED"), it.value("TRACE")
    clause = "the text above: three lines, each by its number"
    three = isinstance(mended, dict) and len(mended) == 3 and set(mended) <= set(trace)
    it.expect(three, sent=mended, clause=clause, hint="{1: '{...}', ...}: three lines are wrong")
    lines = {number: line[2:] for number, line in trace.items()} | mended
    asked, hint = [], "read the lines aloud: who asks, who answers, who only tells?"
    for _, line in sorted(lines.items()):
        try:
            message = json.loads(line)
        except (TypeError, ValueError):
            message = None
        clause = "basic/index: a message is a JSON object"
        it.expect(
            isinstance(message, dict),
            sent=line,
            clause=clause,
            hint="a text: the line without its arrow",
        )
        tells = "notifications" in message.get("method", "") and "id" not in message
        asks = "method" in message and type(message.get("id")) is int
        answers = message.get("result", {}).get("resultType") and message.get("id") in asked
        clause = "basic/index: an answer has the id of its request as it was, and a resultType; "
        clause += "who only tells has no id"
        it.expect(tells or asks or answers, sent="a trace still wrong", clause=clause, hint=hint)
        asked += [message["id"]] if asks else []


# %% hidden="spot"
def hidden(it, rng):
    spotted(it)
    mended, first = it.value("MENDED"), it.given["FIRST_ID"]
    told = {"method": "notifications/cancelled"}
    due = {
        2: {"jsonrpc": "2.0", "id": first, "result": {"resultType": "complete", "tools": []}},
        4: {"jsonrpc": "2.0", **told, "params": {"requestId": first + 1}},
        6: {"jsonrpc": "2.0", "id": first + 2, "result": {"resultType": "complete", "prompts": []}},
    }
    read = {number: json.loads(line) for number, line in mended.items()}
    clause = "the text above: the three lines that are wrong, and nothing else in them changed"
    hint = "look again at each line, and mend as little as you can"
    it.expect(read == due, sent=mended, clause=clause, hint=hint)


# %% [markdown] written="why" points=2
# ## In your own words
#
# Both official SDKs skip a line on standard output that is no message, and go on. Who is helped by
# that, who is harmed, and what should a client do at the least?
#
# ### BEGIN SOLUTION
# The user of a chatty server is helped: it works. Its author is harmed, who never hears of the bug,
# and so is whoever writes the next client, which breaks on it. A client that skips should at least
# tell: on stderr, in a log, on the tape.
# ### END SOLUTION

# %%
tally()
