# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Exercise 27.4. One stray line
#
# *After notebook `ch27/04_one_stray_line`. Six stages, 13 points and 1 for words of your own, about
# 25 minutes.*
#
# A line on standard output that is no message: some clients die of it, some skip it and say nothing.
# You find it in recorded bytes, and say who wrote it and when. You write the reader that skips it
# aloud, mend a server that prints in five places, and then make printing harmless altogether.
#
# **How it works.** Run the cells from the top, with Shift+Enter; after a restart, all of them again.
# Write in those that begin with `# Stage`, and run them; the cell below each one checks what you
# wrote. Keep the line `# Stage ...`: by that line your cell is found.

# %%
import io
import json
import logging
import os
import subprocess
import sys

from workbench.checks import check, tally

# %% role="given"
# Given: these are yours; another learner may have others.
LINE = "incidents server starting"  # or "notes server is up", "loaded 12 rules"
TOKEN = "p-7"  # or "count-1", "job/42"
STEPS = 3  # or 4, 5

# %% [markdown]
# ## Stage `find`: what is no message, and where does it stand?
#
# A server must not write anything to its standard output that is not a message
# (`basic/transports/stdio`). Write two functions:
#
# - `is_message(line)`: whether these bytes are a JSON object that says `"jsonrpc": "2.0"`. It is
#   false for everything else, and never raises: a banner, a blank line, bytes that are no UTF-8, and
#   JSON that is no message (`42`, a list, a line of a log).
# - `find(stream)`: takes all that a server wrote, as bytes, and returns `[number, place]` for each
#   line that is no message. Numbers count from 1; what follows the last line feed is a line, if it
#   is not empty. The place is `"before"` the first message, `"between"` two, or `"after"` the last
#   one; without any message it is `"before"`.
#
# Roughly fifteen lines.


# %% stage="find"
# Stage find: each stray line, with its number and its place.
### BEGIN SOLUTION
def is_message(line):
    try:
        found = json.loads(line)
    except ValueError:
        return False
    return isinstance(found, dict) and found.get("jsonrpc") == "2.0"


def find(stream):
    lines = stream.removesuffix(b"\n").split(b"\n")
    good = [n for n, line in enumerate(lines, 1) if is_message(line)] or [len(lines) + 1]
    stray = [n for n in range(1, len(lines) + 1) if n not in good]
    return [[n, "before" if n < good[0] else "after" if n > good[-1] else "between"] for n in stray]


### END SOLUTION


# %% wrong="find" says="JSON, and no message"
# Stage find: whatever is JSON will do.
def is_message(line):
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def find(stream):
    return []


# %% wrong="find" says="or it is none"
# Stage find: what looks like an object.
def is_message(line):
    return line.startswith(b"{") and b'"jsonrpc"' in line and b'"2.0"' in line


def find(stream):
    return []


# %% wrong="find" says="UnicodeDecodeError"
# Stage find: everything is text.
def is_message(line):
    text = line.decode().strip()
    return text.startswith("{") and text.endswith("}") and '"jsonrpc":"2.0"' in text


def find(stream):
    return []


# %% wrong="find" says="a blank line is a line"
# Stage find: blank lines are dropped, and the numbers go wrong.
def is_message(line):
    try:
        return json.loads(line).get("jsonrpc") == "2.0"
    except (ValueError, AttributeError):
        return False


def find(stream):
    lines = [line for line in stream.split(b"\n") if line]
    good = [n for n, line in enumerate(lines, 1) if is_message(line)] or [99]
    places = {n: "before" if n < good[0] else "after" for n in range(1, len(lines) + 1)}
    places |= {n: "between" for n in places if good[0] < n < good[-1]}
    return [[n, places[n]] for n in places if n not in good]


# %% check="find" points=2
@check("find", points=2)
def found(it, layouts=None, stray=None):
    stray = (stray or it.given["LINE"]).encode()
    page = "basic/transports/stdio: standard output carries messages, and nothing but messages"
    answer, tells = b'{"jsonrpc":"2.0","id":1,"result":{}}', b'{"jsonrpc":"2.0","method":"x"}'
    halves = [answer[:-1], answer + answer, b"\r 10%\r 20%" + answer, answer + b" done}"]
    kinds = {
        "requests, answers and notifications are messages": [answer, tells, answer + b"\r"],
        "this is JSON, and no message": [b"42", b"[]", b'{"level":"info"}', b'{"jsonrpc":"1.0"}'],
        "the whole line is one message, or it is none": [stray, b"", b"\xff\xfe", *halves],
    }
    for number, (hint, lines) in enumerate(kinds.items()):
        for line in lines:
            said = it.call("is_message", line)
            right = said is (number == 0)
            it.expect(right, sent=f"{said} for {line}", clause=page, hint=hint)
    letters = {"m": answer, "n": tells, "s": stray, "_": b""}
    for layout in layouts or ["smm", "mm_s", "m_mns", "s", "sm", "mnm"]:
        stream = b"\n".join(letters[letter] for letter in layout)
        marks, due = layout.replace("n", "m"), []
        first, last = marks.find("m") % 99, marks.rfind("m")
        for number, letter in enumerate(marks):
            place = "between" if first < number < last else "before" if number < first else "after"
            due += [[number + 1, place]] if letter != "m" else []
        clause = "the text above: each line that is no message, with its number and its place"
        hint = "a blank line is a line, with a number; is the first message before or behind it?"
        for data in (stream + b"\n", stream)[: 1 + (layout[-1] != "_")]:
            said = it.call("find", data)
            it.expect(said == due, sent=f"{it.show(said)} for {data}", clause=clause, hint=hint)


# %% hidden="find"
def hidden(it, rng):
    layouts = ["".join(rng.choices("mns_", k=rng.randint(2, 9))) + "ms" for _ in range(8)]
    found(it, layouts, rng.choice(["true", '"jsonrpc"', "{}", "[2026-11-30] ok", "null"]))


# %% [markdown]
# ## Stage `who`: four suspects
#
# Here is one server with four ways to print, `number` says which, and below it four recordings of
# what came out of its pipe. It was asked for its tools, then a tool was called, then its input
# ended. It writes its answers past the buffer of `print`, as a server with a transport of its own
# does.
#
# Whose is which recording? Write `WHO`: for each letter a number. The place says when a line was
# written to the pipe. It does not say when it was printed: that is another moment, if a buffer lies
# between.


# %%
def suspect(stdin, stdout, number):
    """A server with one stray line."""
    if number == 1:
        print(LINE)
    if number == 2:
        print(LINE, flush=True)
    for line in stdin:
        asked = json.loads(line)
        if asked["method"] == "tools/call" and number == 3:
            print(LINE, flush=True)
        if asked["method"] == "tools/call" and number == 4:
            print(f"\r{LINE}", end="", flush=True)
        os.write(1, ANSWER % asked["id"])


# %%
ANSWER = b'{"jsonrpc":"2.0","id":%d,"result":{"resultType":"complete"}}\n'
ONE, TWO, STRAY = ANSWER % 1, ANSWER % 2, LINE.encode()
RECORDED = {
    "A": ONE + b"\r" + STRAY + TWO,
    "B": STRAY + b"\n" + ONE + TWO,
    "C": ONE + TWO + STRAY + b"\n",
    "D": ONE + STRAY + b"\n" + TWO,
}
for letter, stream in RECORDED.items():
    print(letter, *io.BytesIO(stream), sep="\n   ")

# %% stage="who"
# Stage who: {"A": the number of a suspect, ...}
### BEGIN SOLUTION
WHO = {"A": 4, "B": 2, "C": 1, "D": 3}
### END SOLUTION

# %% wrong="who" says="leave its buffer"
# Stage who: the first line is the first to come.
WHO = {"A": 4, "B": 1, "C": 2, "D": 3}

# %% wrong="who" says="each of the four letters"
# Stage who: three of four.
WHO = {"B": 2, "C": 1, "D": 3}

# %% wrong="who" says="ends a line"
# Stage who: two prints in a tool, mistaken for each other.
WHO = {"A": 3, "B": 2, "C": 1, "D": 4}


# %% check="who" points=1
@check("who", points=1)
def accused(it):
    said, recorded = it.value("WHO"), it.value("RECORDED")
    clause = "the text above: each of the four letters has a number of its own, from 1 to 4"
    whole = isinstance(said, dict) and set(said) == set(recorded)
    whole = whole and sorted(str(number) for number in said.values()) == ["1", "2", "3", "4"]
    it.expect(whole, sent=said, clause=clause, hint='{"A": ..., "B": ..., "C": ..., "D": ...}')
    head = {"jsonrpc": "2.0", "params": {}}
    for letter, number in sorted(said.items()):
        with it.serve("suspect", number) as pipe:
            pipe.send({**head, "id": 1, "method": "tools/list"})
            pipe.send({**head, "id": 2, "method": "tools/call"})
            came = pipe.rest()
        clause = "the text above: the recording is what came out of this suspect's pipe"
        hint = "when is it printed, and when does it leave its buffer?"
        if number in (3, 4):
            hint = "both print within the call; what is it that ends a line?"
        sent = f"{letter} by suspect {number}; I ran suspect {number}, and out came\n{came}"
        it.expect(came == recorded[letter], sent=sent, clause=clause, hint=hint)


# %% hidden="who"
def hidden(it, rng):
    accused(it)


# %% [markdown]
# ## Stage `read`: a reader that skips aloud
#
# This reader stands between a server and a client: what it reads on `stdin` is the server's output,
# what it writes to `stdout` goes to the client. It takes the rule at its word, and the first stray
# line ends it. Mend it:
#
# - messages go on at once, and byte for byte;
# - a line that is no message is skipped, and a line on standard error says so: it holds the number
#   of the line and its beginning, and is never longer than 200 characters;
# - when the input ends, the last line on standard error is `skipped: 2`, with the number that it is.
#
# A client may be tolerant. It should not be silent: somebody wants to mend that server. Use
# `is_message`.


# %% stage="read"
# Stage read: what is no message is skipped, counted and told.
def reader(stdin, stdout):
    skipped = 0
    for number, raw in enumerate(stdin, 1):
        if is_message(raw):
            stdout.write(raw)
            stdout.flush()
            continue
        skipped += 1
        print(f"line {number} is no message: {raw[:40]!r}", file=sys.stderr)
    print(f"skipped: {skipped}", file=sys.stderr)


# %% blank="read"
# Stage read: one stray line, and all is over.
def reader(stdin, stdout):
    for raw in stdin:
        json.loads(raw)
        stdout.write(raw)
        stdout.flush()


# %% wrong="read" says="in silence"
# Stage read: no word about it.
def reader(stdin, stdout):
    for raw in stdin:
        if is_message(raw):
            stdout.write(raw)
            stdout.flush()


# %% wrong="read" says="how many"
# Stage read: it tells, and does not count.
def reader(stdin, stdout):
    for number, raw in enumerate(stdin, 1):
        if is_message(raw):
            stdout.write(raw)
            stdout.flush()
        else:
            print("skipped:", number, raw[:30], file=sys.stderr)


# %% wrong="read" says="byte for byte"
# Stage read: everything that is JSON goes on, and is written anew.
def reader(stdin, stdout):
    for raw in stdin:
        try:
            stdout.write(json.dumps(json.loads(raw)).encode() + b"\n")
        except ValueError as trouble:
            print(trouble, file=sys.stderr)
        stdout.flush()


# %% wrong="read" says="no longer than"
# Stage read: a whole book on standard error.
def reader(stdin, stdout):
    strays = 0
    for number, raw in enumerate(stdin, 1):
        if is_message(raw):
            stdout.write(raw)
            stdout.flush()
        else:
            strays += 1
            print("line", number, raw, file=sys.stderr)
    print("skipped:", strays, file=sys.stderr)


# %% check="read" points=2
@check("read", points=2)
def read_on(it, strays=None, title="Zahnärztin"):
    strays = [s.encode() for s in strays or [it.given["LINE"], '{"level":"info"}', "na" * 2000]]
    page = "basic/transports/stdio"
    message = '{"jsonrpc": "2.0", "id": %d, "result": {"title": "%s"}}\n'
    lines, passed = [], []
    with it.serve("reader") as pipe:
        for number, stray in enumerate([None, *strays]):
            passed.append((message % (number, title)).encode())
            lines += ([] if stray is None else [stray + b"\n"]) + [passed[-1]]
            pipe.write(b"".join(lines[-2:]))
            came = pipe.line() + b"\n"
            clause = f"{page}: a message is a message, whatever stood before it; byte for byte"
            hint = (
                "compare what went in with what came out; does the reader go on after a stray line?"
            )
            sent = f"{came} for {lines[-2:]}"
            it.expect(came == passed[-1], sent=sent, clause=clause, hint=hint)
        rest = pipe.rest()
        it.expect(rest == b"", sent=rest, clause=clause, hint="and nothing more than that")
        pipe.exit_code()
        told = pipe.stderr().splitlines()
    clause = "the text above: what is skipped is told, with its number and its beginning"
    for number, line in enumerate(lines, 1):
        start = line[:10].decode("ascii", "replace").strip()
        if line not in passed and not any(start in t and str(number) in t for t in told):
            said = f"{told or 'nothing'} on standard error, for line {number}: {line[:40]}"
            it.expect(False, sent=said, clause=clause, hint="nothing is swallowed in silence")
    clause = "the text above: a line of standard error is no longer than 200 characters"
    long = [line[:60] + "..." for line in told if len(line) > 200]
    it.expect(not long, sent=long, clause=clause, hint="its beginning is enough to find it")
    clause = "the text above: the last line says how many were skipped"
    right = told[-1] == f"skipped: {len(strays)}"
    it.expect(right, sent=told[-1], clause=clause, hint="count them, and tell when the input ends")


# %% hidden="read"
def hidden(it, rng):
    pool = ["42", "[1, 2, 3]", "Loading model", '{"jsonrpc": "1.0"}', "x" * rng.randint(300, 900)]
    read_on(it, rng.sample(pool, 4), rng.choice(["naïve", "東京", "a b"]))


# %% [markdown]
# ## Stage `mend`: five places
#
# This server says something on standard output in five places: a banner, a progress bar, a child
# process that has the same descriptor 1, a library that logs, and a print that somebody forgot. Mend
# each where it stands. What is said stays said, only elsewhere: a server may write whatever it likes
# to standard error (`basic/transports/stdio`). The check reads the raw bytes.

# %%
CHILD_SAYS = f"child of {LINE.split()[0]}"
CHILD = [sys.executable, "-I", "-S", "-c", f"print({CHILD_SAYS!r})"]


# %% stage="mend"
# Stage mend: messages on standard output, everything else on standard error.
def server(stdin, stdout):
    print(LINE, file=sys.stderr)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO)
    for line in stdin:
        asked = json.loads(line)
        tool = asked["params"]["name"]
        if tool == "count":
            for done in range(STEPS):
                print(f"\r{done + 1} of {STEPS}", end="", file=sys.stderr, flush=True)
        if tool == "child":
            subprocess.run(CHILD, check=True, stdout=sys.stderr)
        if tool == "log":
            logging.info("library: %s", asked["id"])
        print("DEBUG", tool, file=sys.stderr)
        stdout.write(ANSWER % asked["id"])
        stdout.flush()


# %% blank="mend"
# Stage mend: five things on standard output that are no messages.
def server(stdin, stdout):
    print(LINE)
    logging.basicConfig(stream=sys.stdout, level=logging.INFO)
    for line in stdin:
        asked = json.loads(line)
        tool = asked["params"]["name"]
        if tool == "count":
            for done in range(STEPS):
                print(f"\r{done + 1} of {STEPS}", end="", flush=True)
        if tool == "child":
            subprocess.run(CHILD, check=True)
        if tool == "log":
            logging.info("library: %s", asked["id"])
        print("DEBUG", tool)
        stdout.write(ANSWER % asked["id"])
        stdout.flush()


# %% wrong="mend" says="stays said"
# Stage mend: who is silent makes no mistake.
def server(stdin, stdout):
    for line in stdin:
        stdout.write(ANSWER % json.loads(line)["id"])
        stdout.flush()


# %% wrong="mend" says="carriage return"
# Stage mend: everything but the progress bar.
def server(stdin, stdout):
    print(LINE, file=sys.stderr)
    for line in stdin:
        asked = json.loads(line)
        tool = asked["params"]["name"]
        if tool == "count":
            for done in range(STEPS):
                print(f"\r{done + 1} of {STEPS}", end="", flush=True)
        print("DEBUG", tool, file=sys.stderr)
        stdout.write(ANSWER % asked["id"])
        stdout.flush()


# %% wrong="mend" says="whose descriptor"
# Stage mend: sys.stdout is another, descriptor 1 is not.
def server(stdin, stdout):
    sys.stdout = sys.stderr
    print(LINE)
    for line in stdin:
        asked = json.loads(line)
        tool = asked["params"]["name"]
        if tool == "child":
            subprocess.run(CHILD, check=True)
        stdout.write(ANSWER % asked["id"])
        stdout.flush()


# %% wrong="mend" says="printed long before"
# Stage mend: a banner that hides in its buffer.
def server(stdin, stdout):
    print(LINE)
    for line in stdin:
        stdout.write(ANSWER % json.loads(line)["id"])
        stdout.flush()


# %% check="mend" points=3
@check("mend", points=3)
def all_elsewhere(it, tools=("log", "plain", "child", "count"), start=1):
    line, says, steps = it.given["LINE"], it.value("CHILD_SAYS"), it.given["STEPS"]
    with it.serve("server") as pipe:
        for id, tool in enumerate(tools, start):
            params = {"name": tool, "arguments": {}}
            pipe.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
        came = pipe.rest()
        if pipe.exit_code():
            pipe.line()  # there is none: it raises, with the last words of the process
        told = pipe.stderr()
    page = "basic/transports/stdio"
    hints = {
        line: "the banner was printed long before; and where does it go?",
        "\r": "a carriage return ends no line: what does your message stand behind?",
        says: "a child process writes: whose descriptor 1 does it have?",
        "library": "a library has a handler: which stream was it given?",
    }
    ids = []
    for raw in came.splitlines(keepends=True) if b"\r" not in came else [came]:
        try:
            ids.append(json.loads(raw)["id"])
        except ValueError:
            text = raw.decode("utf-8", "replace")
            hint = next((hints[mark] for mark in hints if mark in text), "who prints this?")
            clause = f"{page}: what is no message stays off standard output"
            it.expect(False, sent=raw, clause=clause, hint=hint)
    clause = f"{page}: each request has its answer, in bytes that nobody else touched"
    right = ids == list(range(start, start + len(tools)))
    it.expect(right, sent=came, clause=clause, hint="one answer a request, with its id")
    marks = [line, f"{steps} of {steps}", says, "library", "DEBUG"]
    lost = [mark for mark in marks if mark not in told]
    clause = f"{page}: a server may write to standard error, so what is said stays said"
    it.expect(not lost, sent=f"no {lost} on standard error", clause=clause, hint="mend, do not cut")


# %% hidden="mend"
def hidden(it, rng):
    tools = ["log", "child", "count", rng.choice(["other", "date"]), "count"]
    rng.shuffle(tools)
    all_elsewhere(it, tools, rng.randint(2, 10**6))


# %% [markdown]
# ## Stage `guard`: printing made harmless
#
# Five places were found; the sixth comes with the next library. So a server may do what the toolkit
# does, and the official Python SDK: take the pipe for itself, and leave descriptor 1 to whoever wants
# to print.
#
# Write `guard()`. It returns a binary file that leads to where standard output led before. From then
# on whatever is written to descriptor 1 arrives on standard error: by a print, by `os.write`, by a
# child process. And what was printed before, and still waits in the buffer of `sys.stdout`, arrives
# there as well. (`os.dup(1)` gives a second descriptor for the same pipe; `os.dup2(a, b)` makes `b`
# lead to where `a` leads.) Roughly four lines.


# %%
def noisy(stdin, stdout, texts):
    """A server on your guard: it prints as it starts, and each of its tools makes a noise."""
    print(texts["banner"])
    library = logging.StreamHandler(sys.stdout)
    wire = guard()
    for line in stdin:
        asked = json.loads(line)
        noise = asked["params"]["name"]
        text = texts[noise]
        if noise == "print":
            print(text, flush=True)
        elif noise == "descriptor":
            os.write(1, text.encode() + b"\n")
        elif noise == "child":
            subprocess.run([sys.executable, "-I", "-S", "-c", f"print({text!r})"], check=True)
        elif noise == "library":
            library.emit(logging.makeLogRecord({"msg": text}))
        wire.write(ANSWER % asked["id"])
        wire.flush()


# %% stage="guard"
# Stage guard: the pipe for messages, descriptor 1 for everybody else.
def guard():
    ### BEGIN SOLUTION
    wire = os.dup(1)
    os.dup2(2, 1)
    sys.stdout.flush()  # after the change: what waited goes where 1 leads now
    return open(wire, "wb")
    ### END SOLUTION


# %% wrong="guard" says="descriptor"
# Stage guard: a name is changed, the descriptor is not.
def guard():
    wire = sys.stdout.buffer
    sys.stdout = sys.stderr
    return wire


# %% wrong="guard" says="the banner"
# Stage guard: flushed one line too early.
def guard():
    sys.stdout.flush()
    wire = os.dup(1)
    os.dup2(2, 1)
    return open(wire, "wb")


# %% wrong="guard" says="no message came"
# Stage guard: there is no way back.
def guard():
    os.dup2(2, 1)
    return open(1, "wb", closefd=False)


# %% wrong="guard" says="arrives on standard error"
# Stage guard: into the void.
def guard():
    wire = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return open(wire, "wb")


# %% check="guard" points=3
@check("guard", points=3)
def guarded(it, texts=None, order=("print", "descriptor", "child", "library"), start=1):
    texts = texts or {name: f"{it.given['LINE']}, {name}" for name in ("banner", *order)}
    page = "basic/transports/stdio"
    with it.serve("noisy", texts) as pipe:
        for id, noise in enumerate(order, start):
            params = {"name": noise, "arguments": {}}
            pipe.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
        came = pipe.rest()
        if pipe.exit_code():
            pipe.line()  # there is none: it raises, with the last words of the process
        told = pipe.stderr()
    answered = b'"result"' in came
    clause = f"{page}: the messages go to standard output, as it was before"
    sent = f"no message came; standard error has\n{told[-300:]}"
    it.expect(answered, sent=sent, clause=clause, hint="who still leads to the pipe?")
    for raw in came.splitlines():
        names = [name for name, text in texts.items() if text.encode() in raw]
        clause = f"{page}: nothing but messages is on the wire"
        sent = f"{raw}, by {' and '.join(f'the {name}' for name in names)}"
        hint = "a name in Python is one thing, descriptor 1 another: which do others write to?"
        if names == ["banner"]:
            hint = "it waited in a buffer; where did 1 lead when it was let go?"
        it.expect(not names, sent=sent, clause=clause, hint=hint)
    ids = [json.loads(raw).get("id") for raw in came.splitlines()]
    right = ids == list(range(start, start + len(order)))
    clause = f"{page}: each request has its answer"
    it.expect(right, sent=came, clause=clause, hint="the wire carries whole lines")
    lost = [name for name, text in texts.items() if text not in told]
    clause = "the text above: whatever is printed arrives on standard error"
    it.expect(not lost, sent=f"nothing of {lost}", clause=clause, hint="where does 1 lead now?")


# %% hidden="guard"
def hidden(it, rng):
    order = ["library", "descriptor", "print", "child"]
    rng.shuffle(order)
    texts = {name: f"{rng.getrandbits(40):x} {name}" for name in ["banner", *order]}
    guarded(it, texts, order, rng.randint(5, 999))


# %% [markdown]
# ## Stage `spot`: a bar of progress, in messages
#
# A progress bar has a form of its own on the wire, and needs no print. Somebody's tutorial shows this
# conversation (`_meta` is cut down to what matters). Three of its lines break a rule of
# `basic/patterns/progress`. Which ones, and how should they read?
#
# Write `MENDED`: the number of each line that is wrong, and the line as it should be, without its
# arrow; `None` for a line that must not be there at all. What a line counts stays as it is.

# %%
ASKS = f',"_meta":{{"progressToken":"{TOKEN}"}}'
CALL = '"method":"tools/call","params":{"name":"count","arguments":{}'
DONE = '"result":{"resultType":"complete","content":[{"type":"text","text":"counted"}]}'
TOLD = '"method":"notifications/progress","params":'
TRACE = {
    1: f'→ {{"jsonrpc":"2.0","id":{STEPS},{CALL}{ASKS}}}}}',
    2: f'← {{"jsonrpc":"2.0","id":{STEPS},"method":"progress",'
    f'"params":{{"progress":1,"total":{STEPS}}}}}',
    3: f'← {{"jsonrpc":"2.0",{TOLD}{{"progressToken":{STEPS},"progress":2,"total":{STEPS}}}}}',
    4: f'← {{"jsonrpc":"2.0","id":{STEPS},{DONE}}}',
    5: f'← {{"jsonrpc":"2.0",{TOLD}'
    f'{{"progressToken":"{TOKEN}","progress":{STEPS},"total":{STEPS}}}}}',
    6: f'→ {{"jsonrpc":"2.0","id":"{TOKEN}",{CALL}}}}}',
    7: f'← {{"jsonrpc":"2.0","id":"{TOKEN}",{DONE}}}',
}
for number, line in TRACE.items():
    print(number, line)

# %% stage="spot"
# Stage spot: {number of a line: the line as it should be, or None}
### BEGIN SOLUTION
COUNTED = f'"params":{{"progressToken":"{TOKEN}","progress":%d,"total":{STEPS}}}'
MENDED = {
    2: f'{{"jsonrpc":"2.0","method":"notifications/progress",{COUNTED % 1}}}',
    3: f'{{"jsonrpc":"2.0","method":"notifications/progress",{COUNTED % 2}}}',
    5: None,
}
### END SOLUTION

# %% wrong="spot" says="has no id"
# Stage spot: the method is mended, the id is left.
MENDED = {
    2: f'{{"jsonrpc":"2.0","id":{STEPS},"method":"notifications/progress",'
    f'"params":{{"progressToken":"{TOKEN}","progress":1,"total":{STEPS}}}}}',
    3: None,
    5: None,
}

# %% wrong="spot" says="which token"
# Stage spot: the id is taken for a token.
MENDED = {
    2: f'{{"jsonrpc":"2.0","method":"notifications/progress",'
    f'"params":{{"progressToken":{STEPS},"progress":1,"total":{STEPS}}}}}',
    5: None,
    7: None,
}

# %% wrong="spot" says="three lines"
# Stage spot: one of them.
MENDED = {5: None}

# %% wrong="spot" says="line 5, as it is now"
# Stage spot: the one that comes too late is left.
MENDED = {
    n: f'{{"jsonrpc":"2.0","method":"notifications/progress",'
    f'"params":{{"progressToken":"{TOKEN}","progress":{n - 1},"total":{STEPS}}}}}'
    for n in (2, 3)
}
MENDED[6] = TRACE[6][2:]


# %% check="spot" points=2
@check("spot", points=2)
def spotted(it):
    mended, trace = it.value("MENDED"), it.value("TRACE")
    clause = "the text above: three lines, each by its number"
    three = isinstance(mended, dict) and len(mended) == 3 and set(mended) <= set(trace)
    it.expect(three, sent=mended, clause=clause, hint="{1: '{...}', 2: None, ...}: three lines")
    page, active, last = "basic/patterns/progress", {}, 0
    for number, line in sorted(({n: line[2:] for n, line in trace.items()} | mended).items()):
        try:
            message = json.loads("{}" if line is None else line)
        except (TypeError, ValueError):
            message = None
        clause = "basic/index: a message is a JSON object"
        hint = "the line as it should be, without its arrow"
        it.expect(isinstance(message, dict), sent=line, clause=clause, hint=hint)
        params, method = message.get("params", {}), message.get("method", "")
        if method == "tools/call":
            active[message["id"]] = params.get("_meta", {}).get("progressToken")
        elif "progress" in method:
            told = method.startswith("notifications/") and "id" not in message
            hint = "what is its method called, and does it ask anything?"
            clause = f"{page}: progress is told by a notification, and who only tells has no id"
            it.expect(told, sent=f"line {number}, as it is now", clause=clause, hint=hint)
            clause = f"{page}: it carries the token of a request that is still waited for"
            token = params.get("progressToken")
            hint = "which token did the request bring, and is that request over by now?"
            sent = f"line {number}, as it is now, with the token {token!r}"
            it.expect(token in active.values(), sent=sent, clause=clause, hint=hint)
            clause = f"{page}: each says more than the one before"
            it.expect(params.get("progress", 0) > last, sent=sent, clause=clause, hint="count")
            last = params["progress"]
        active = {
            id: t for id, t in active.items() if "result" not in message or message["id"] != id
        }


# %% hidden="spot"
def hidden(it, rng):
    spotted(it)
    mended, token, steps = it.value("MENDED"), it.given["TOKEN"], it.given["STEPS"]
    due = dict.fromkeys((2, 3, 5))
    for number, done in ((2, 1), (3, 2)):
        params = {"progressToken": token, "progress": done, "total": steps}
        due[number] = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
    read = {number: json.loads(line) if line else None for number, line in mended.items()}
    clause = "the text above: the three lines that are wrong, and nothing else in them changed"
    hint = "mend as little as you can; a line goes away only where no change would help"
    it.expect(read == due, sent=mended, clause=clause, hint=hint)


# %% [markdown] written="why" points=1
# ## In your own words
#
# A user writes: "your server breaks my client at the start". On your machine the stray line comes
# after the last answer, and nothing breaks. Neither of you has changed the program. What differs,
# how would you make it happen on your side, and what else does a test have to read?
#
# ### BEGIN SOLUTION
# The buffer of `print` differs: there it is off, as with PYTHONUNBUFFERED in many container images,
# or the output is a terminal. I start the server with this variable set. A test has to read to the
# end of the stream, after the input was closed, since the line may come when the program exits.
# ### END SOLUTION

# %%
tally()
