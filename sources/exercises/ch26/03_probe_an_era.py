# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Exercise 26.3. Probe an era
#
# *After notebook `ch26/03_which_era_is_this`. Five stages, 12 points and 1 for words of your own,
# about 25 minutes.*
#
# There are servers of two eras in the world, and a stack of them waits below: polite ones, silent
# ones, one that leaves when it is asked. You write the client that tells them apart by one question
# and never by a guess.
#
# **How it works.** Run the cells from the top, with Shift+Enter; after a restart, all of them again.
# Write in those that begin with `# Stage`, and run them; the cell below each one checks what you
# wrote. Keep the line `# Stage ...`: by that line your cell is found.

# %%
import json
import subprocess
import sys
from pathlib import Path

import toy_servers
from workbench.checks import check, tally

# %% role="given"
# Given: these are yours; another learner may have others.
LATER = "2027-03-01"  # or "2027-05-20", "2028-01-31"
LEGACY_CODE = -32602  # or -32603, -32000

# %% [markdown]
# ## Stage `read`: one answer, one era
#
# The question is `server/discover`, which only one era has. A server of this era answers with a
# result that lists its `supportedVersions`, or with an error that only this era knows: -32020,
# -32021 or -32022. Everything else means the era before: any other error, a result of another
# shape, silence (`basic/transports/stdio`, "Backward Compatibility").
#
# Write `era_of(answer)`. It takes the response as a dict, or `None` where none came, and returns
# `"modern"` or `"legacy"`. Roughly six lines.


# %% stage="read"
# Stage read: the era that one answer shows.
def era_of(answer):
    ### BEGIN SOLUTION
    answer = answer or {}
    versions = answer.get("result", {}).get("supportedVersions")
    if isinstance(versions, list) and versions:
        return "modern"
    code = answer.get("error", {}).get("code")
    return "modern" if code in (-32020, -32021, -32022) else "legacy"
    ### END SOLUTION


# %% wrong="read" says="tied to one code"
# Stage read: the one error that everybody expects.
def era_of(answer):
    code = (answer or {}).get("error", {}).get("code")
    return "legacy" if code == -32601 or answer is None else "modern"


# %% wrong="read" says="an error can be an answer of this era"
# Stage read: whoever answers with an error is old.
def era_of(answer):
    return "modern" if "supportedVersions" in (answer or {}).get("result", {}) else "legacy"


# %% wrong="read" says="AttributeError"
# Stage read: there is always an answer.
def era_of(answer):
    if "supportedVersions" in answer.get("result", {}):
        return "modern"
    return "modern" if answer.get("error", {}).get("code") in range(-32022, -32019) else "legacy"


# %% check="read" points=2
@check("read", points=2)
def answers_are_read(it, legacy_codes=(), versions=("2026-07-28",)):
    head = {"jsonrpc": "2.0", "id": 1}
    result = {"resultType": "complete", "supportedVersions": list(versions), "capabilities": {}}
    news = [{**head, "result": result}]
    for code in (-32020, -32021, -32022):
        news.append({**head, "error": {"code": code, "message": "No"}})
    olds = [{**head, "error": {"code": code, "message": "Hm"}} for code in (-32601, *legacy_codes)]
    olds.append({**head, "error": {"code": it.given["LEGACY_CODE"], "message": "Invalid"}})
    olds += [{**head, "result": {}}, {**head, "result": {"protocolVersion": "2025-11-25"}}, None]
    page = "basic/transports/stdio"
    for answer in news:
        said = it.call("era_of", answer)
        hint = "an error can be an answer of this era, too: which codes did no server have before?"
        clause = f"{page}: a list of versions, or an error that only this era has, is modern"
        it.expect(said == "modern", sent=f"{said} for {it.show(answer)}", clause=clause, hint=hint)
    for answer in olds:
        said = it.call("era_of", answer)
        clause = f"{page}: whatever is no answer of this era means the era before"
        hint = "the rule is never tied to one code; what would an old server say to a new question?"
        it.expect(said == "legacy", sent=f"{said} for {it.show(answer)}", clause=clause, hint=hint)


# %% hidden="read"
def hidden(it, rng):
    codes = [rng.randint(-32019, -32000), rng.randint(-32700, -32604), rng.randint(1, 500), 0]
    answers_are_read(it, codes, [f"20{rng.randint(27, 40)}-01-01" for _ in range(3)])


# %% [markdown]
# ## Stage `choose`: which version to speak
#
# A modern answer lists versions: a result in `supportedVersions`, an error -32022 in its
# `data.supported`. The client takes the newest that both know; where there is none it says so, and
# does not fall back (`basic/versioning`).
#
# Write `choose(answer, ours)`: `ours` is a list, newest first. It returns a version, or raises
# `LookupError`. Roughly six lines.


# %% stage="choose"
# Stage choose: the newest version that both speak.
def choose(answer, ours):
    ### BEGIN SOLUTION
    if "result" in answer:
        theirs = answer["result"]["supportedVersions"]
    else:
        theirs = answer["error"].get("data", {}).get("supported", [])
    for version in ours:
        if version in theirs:
            return version
    raise LookupError(f"they speak {theirs}, we speak {ours}")
    ### END SOLUTION


# %% wrong="choose" says="both know"
# Stage choose: their first.
def choose(answer, ours):
    listed = answer.get("result", {}).get("supportedVersions")
    return (listed or answer["error"]["data"]["supported"])[0]


# %% wrong="choose" says="KeyError"
# Stage choose: an error lists nothing.
def choose(answer, ours):
    common = set(answer["result"]["supportedVersions"]) & set(ours)
    if not common:
        raise LookupError("none")
    return max(common)


# %% wrong="choose" says="does not fall back"
# Stage choose: something is better than nothing.
def choose(answer, ours):
    listed = answer.get("result", {}).get("supportedVersions")
    listed = listed or answer["error"]["data"]["supported"]
    return next((version for version in ours if version in listed), ours[-1])


# %% check="choose" points=2
@check("choose", points=2)
def versions_are_chosen(it, sets=None):
    current, later = "2026-07-28", it.given["LATER"]
    sets = sets or [
        ([later, current], [current]),
        ([current, later], [later, current]),
        ([later], [current]),
    ]
    for theirs, ours in sets:
        refusal = {"code": -32022, "message": "Unsupported", "data": {"supported": theirs}}
        result = {"resultType": "complete", "supportedVersions": theirs}
        for answer in ({"id": 1, "result": result}, {"id": 1, "error": refusal}):
            said = it.attempt("choose", answer, ours)
            sent = f"{said} for {it.show(answer)} and ours {ours}"
            shared = sorted(set(theirs) & set(ours), key=ours.index)
            if not shared:
                clause = "basic/versioning: without a version in common a client does not fall back"
                refused = "LookupError" in getattr(said, "types", [])
                it.expect(refused, sent=sent, clause=clause, hint="raise LookupError")
                continue
            clause = "basic/versioning: the client takes the newest that both know"
            hint = "two lists, and their order is not yours; where does each answer keep its list?"
            it.expect(said == shared[0], sent=sent, clause=clause, hint=hint)


# %% hidden="choose"
def hidden(it, rng):
    years = [f"{year}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}" for year in range(2026, 2034)]
    sets = []
    for _ in range(6):
        ours = sorted(rng.sample(years, 3), reverse=True)
        sets.append((rng.sample(years, rng.randint(1, 5)), ours))
    versions_are_chosen(it, sets)


# %% [markdown]
# Every request says which version it is written in, and what its sender can do:


# %%
def meta(version):
    """The params of a request without any others, in this version."""
    keys = {"protocolVersion": version, "clientCapabilities": {}}
    return {"_meta": {f"io.modelcontextprotocol/{key}": value for key, value in keys.items()}}


# %% [markdown]
# ## Stage `mend`: a client that guesses
#
# This client runs as a process; its pipes lead to a server. It is to probe first. With a modern
# server it goes on with `tools/list`, in the version that both speak; with any other it writes
# nothing more and returns, since the fallback needs a fresh process. It has four bugs. Run the
# check, read what it says, mend, run again. `era_of` and `choose` from above are there to be used.


# %% stage="mend"
# Stage mend: a client that asks before it speaks.
def client(stdin, stdout):
    ours = ["2026-07-28"]

    def ask(id, method, version):
        request = {"jsonrpc": "2.0", "id": id, "method": method, "params": meta(version)}
        stdout.write(json.dumps(request).encode() + b"\n")
        stdout.flush()
        line = stdin.readline()
        return json.loads(line) if line else None

    answer = ask(1, "server/discover", ours[0])
    if era_of(answer) == "modern":
        try:
            version = choose(answer, ours)
        except LookupError:
            return
        ask(2, "tools/list", version)


# %% blank="mend"
# Stage mend: four bugs in these lines.
def client(stdin, stdout):
    ours = ["2026-07-28"]

    def ask(id, method, version):
        request = {"jsonrpc": "2.0", "id": id, "method": method, "params": meta(version)}
        stdout.write(json.dumps(request).encode() + b"\n")
        stdout.flush()
        return json.loads(stdin.readline())

    answer = ask(1, "initialize", ours[0])
    if "error" in answer and answer["error"]["code"] == -32601:
        return
    version = answer["result"]["supportedVersions"][0]
    ask(1, "tools/list", version)


# %% wrong="mend" says="server/discover"
# Stage mend: the handshake of the other era.
def client(stdin, stdout):
    stdout.write(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n')
    stdout.flush()
    stdin.readline()


# %% wrong="mend" says="fresh process"
# Stage mend: it falls back where it stands.
def client(stdin, stdout):
    ids = iter(range(9))

    def ask(method):
        request = {
            "jsonrpc": "2.0",
            "id": next(ids),
            "method": method,
            "params": meta("2026-07-28"),
        }
        stdout.write(json.dumps(request).encode() + b"\n")
        stdout.flush()
        return json.loads(stdin.readline() or b"{}")

    ask("tools/list" if era_of(ask("server/discover")) == "modern" else "initialize")


# %% wrong="mend" says="its own id"
# Stage mend: one id for everything.
def client(stdin, stdout):
    for method in ("server/discover", "tools/list"):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": meta("2026-07-28")}
        stdout.write(json.dumps(request).encode() + b"\n")
        stdout.flush()
        if era_of(json.loads(stdin.readline() or b"{}")) == "legacy":
            return


# %% check="mend" points=3
@check("mend", points=3)
def probes_first(it, answers=None):
    listed, later = "2026-07-28", it.given["LATER"]
    old = {"error": {"code": it.given["LEGACY_CODE"], "message": "Invalid request"}}
    refusal = {"code": -32022, "message": "Unsupported", "data": {"supported": [listed]}}
    both = {"result": {"resultType": "complete", "supportedVersions": [later, listed]}}
    page, key = "basic/transports/stdio", "io.modelcontextprotocol/protocolVersion"
    for answer in answers or [both, {"error": refusal}, old]:
        with it.serve("client") as pipe:
            probe = pipe.message()
            sent, told = probe, f"after the answer {it.show(answer)}: "
            clause = f"{page}: the question that tells the eras apart is server/discover"
            hint = "what does a client of both eras ask first?"
            it.expect(probe.get("method") == "server/discover", sent=sent, clause=clause, hint=hint)
            pipe.send({"jsonrpc": "2.0", "id": probe["id"], **answer})
            if not json.dumps(answer).count(listed):
                rest = pipe.rest()
                clause = f"{page}: a fallback starts with a fresh process, so nothing more comes"
                hint = "which branch is this answer?"
                it.expect(rest == b"", sent=told + it.show(rest), clause=clause, hint=hint)
                continue
            second = pipe.message()
            meta = second.get("params", {}).get("_meta", {})
            goes_on = second.get("method") == "tools/list" and meta.get(key) == listed
            clause = "basic/versioning: a modern server is asked on, in a version that both speak"
            hint = "choose() knows the version"
            it.expect(goes_on, sent=told + it.show(second), clause=clause, hint=hint)
            clause = "basic/index: each request has its own id on its connection"
            own = second.get("id") not in (None, probe["id"])
            it.expect(own, sent=second, clause=clause, hint="what was the id of the first?")


# %% hidden="mend"
def hidden(it, rng):
    codes = [rng.randint(-32019, -32000), -32601, rng.randint(1, 99)]
    answers = [{"error": {"code": code, "message": "?"}} for code in rng.sample(codes, 2)]
    answers.append({"result": {"protocolVersion": "2025-11-25", "capabilities": {}}})
    refusal = {"code": -32022, "message": "No", "data": {"supported": [it.given["LATER"]]}}
    probes_first(it, [*answers, {"error": refusal}])
    listed = [it.given["LATER"], "2026-07-28"]
    rng.shuffle(listed)
    probes_first(it, [{"result": {"resultType": "complete", "supportedVersions": listed}}])


# %% [markdown]
# ## Stage `probe`: real processes, in their moods
#
# `rude` is a toy server that can be of either era, and ill-mannered in it. Write
# `probe(command, seconds)`: start the process, send it `server/discover`, wait for at most
# `seconds`, return `"modern"` or `"legacy"`, and leave no process behind. Silence counts as an
# answer, an exit too (`basic/transports/stdio`, "Backward Compatibility"). Roughly fifteen lines.
#
# (`Popen.communicate(input, timeout)` writes, reads to the end, and raises `TimeoutExpired`. A line
# on standard output that is no JSON is to be skipped.)


# %%
def rude(fault):
    """The command that starts a toy server with this fault."""
    return [sys.executable, str(Path(toy_servers.__file__).parent / "rude.py"), fault]


class Watched(subprocess.Popen):
    """Counts who was started."""

    started = []

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.started.append(self)


# %%
def probed(fault, seconds=0.8):
    """The verdict of `probe`, and how many of its processes it did not wait for."""
    Watched.started.clear()
    subprocess.Popen = Watched
    era = probe(rude(fault), seconds)
    return {"era": era, "left": sum(each.returncode is None for each in Watched.started)}


# %% stage="probe"
# Stage probe: a process, a question, a verdict.
def probe(command, seconds):
    ### BEGIN SOLUTION
    question = {"jsonrpc": "2.0", "id": 1, "method": "server/discover"}
    line = json.dumps({**question, "params": meta("2026-07-28")}).encode() + b"\n"
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            output = process.communicate(line, seconds)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            return "legacy"
    for line in output.splitlines():
        try:
            return era_of(json.loads(line))
        except ValueError:
            pass
    return "legacy"
    ### END SOLUTION


# %% wrong="probe" says="JSONDecodeError"
# Stage probe: the first line is the answer.
def probe(command, seconds):
    question = b'{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}\n'
    process = subprocess.run(command, input=question, capture_output=True, timeout=9)
    return era_of(json.loads(process.stdout.splitlines()[0]))


# %% wrong="probe" says="left behind"
# Stage probe: read one line, and go.
def probe(command, seconds):
    question = b'{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}\n'
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, **pipes)
    process.stdin.write(question)
    process.stdin.flush()
    return era_of(json.loads(process.stdout.readline() or b"{}"))


# %% wrong="probe" says="a server that"
# Stage probe: without metadata every server refuses.
def probe(command, seconds):
    question = b'{"jsonrpc":"2.0","id":1,"method":"server/discover"}\n'
    try:
        process = subprocess.run(command, input=question, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return "legacy"
    return era_of(json.loads(process.stdout.splitlines()[-1]))


# %% check="probe" points=3
@check("probe", points=3)
def processes_are_probed(it, faults=("no-fault", "legacy", "stdout-banner", "legacy-silent")):
    modern = (
        "no-fault",
        "stdout-banner",
        "modern-other-version",
        "floods-stderr",
        "modern-and-legacy",
    )
    page = "basic/transports/stdio"
    for fault in faults:
        told = it.call("probed", fault)
        sent = f"{told} for the server {fault!r}"
        clause = f"{page}: a server that lists its versions, or refuses as only this era can"
        if fault not in modern:
            clause = f"{page}: a server that answers in any other way, or not at all, is legacy"
        hint = "look at what it says: start it from a cell with the same question"
        right = told["era"] == ("modern" if fault in modern else "legacy")
        it.expect(right, sent=sent, clause=clause, hint=hint)
        clause = f"{page}: whoever starts a process also ends it, and waits for it"
        it.expect(told["left"] == 0, sent=f"{sent}, left behind", clause=clause, hint="kill, wait")


# %% hidden="probe"
def hidden(it, rng):
    quick = ["legacy-32602", "legacy-null-id", "exit-at-discover", "exit-at-start", "crlf"]
    drawn = [*rng.sample(quick[:4], 2), rng.choice(["modern-other-version", "modern-and-legacy"])]
    rng.shuffle(drawn)
    processes_are_probed(it, drawn)


# %% [markdown]
# ## Stage `spot`: five conclusions
#
# Somebody notes what five servers did, and concludes. Which conclusions follow?
#
# Write `VERDICTS`: for each letter `"modern"`, `"legacy"`, or `"unknown"` where what was asked
# cannot tell.

# %%
NOTES = {
    "A": ("initialize", {"result": {"protocolVersion": "2025-11-25"}}, "does not speak 2026-07-28"),
    "B": ("server/discover", {"error": {"code": LEGACY_CODE}}, "modern: it knows the method"),
    "C": ("server/discover", {"error": {"code": -32022, "data": {"supported": [LATER]}}}, "legacy"),
    "D": ("tools/list", {"result": {"tools": ["..."]}}, "modern: no handshake was needed"),
    "E": ("server/discover", None, "it was only slow: ask again in the same process"),
}
for letter, (method, answer, conclusion) in NOTES.items():
    print(
        f"{letter}  → {method}\n   ← {json.dumps(answer) if answer else '(nothing, for ten seconds)'}"
    )
    print(f"   “{conclusion}”")

# %% stage="spot"
# Stage spot: {"A": "modern", "legacy" or "unknown", ...}
### BEGIN SOLUTION
VERDICTS = {"A": "unknown", "B": "legacy", "C": "modern", "D": "unknown", "E": "legacy"}
### END SOLUTION

# %% wrong="spot" says="cannot tell"
# Stage spot: the notes are believed.
VERDICTS = {"A": "legacy", "B": "modern", "C": "legacy", "D": "modern", "E": "unknown"}

# %% wrong="spot" says="five letters"
# Stage spot: two of five.
VERDICTS = {"A": "unknown", "B": "legacy"}


# %% check="spot" points=2
@check("spot", points=2)
def spotted(it):
    verdicts = it.value("VERDICTS")
    words = ("modern", "legacy", "unknown")
    shape = isinstance(verdicts, dict) and sorted(verdicts) == list("ABCDE")
    shape = shape and all(word in words for word in verdicts.values())
    clause = "the text above: five letters, each with one of three words"
    it.expect(shape, sent=verdicts, clause=clause, hint='{"A": "...", ...}')
    asked = {letter: note[0] for letter, note in it.value("NOTES").items()}
    clause = (
        "basic/transports/stdio: the era shows in the answer to server/discover, silence included"
    )
    for letter, method in asked.items():
        tells = method == "server/discover"
        sent = f"{letter} is {verdicts[letter]}, and the question was {method}"
        hint = "which question can tell? The others cannot tell, whatever comes back"
        it.expect((verdicts[letter] != "unknown") == tells, sent=sent, clause=clause, hint=hint)


# %% hidden="spot"
def hidden(it, rng):
    spotted(it)
    said = it.value("VERDICTS")
    clause = (
        "basic/transports/stdio: three branches: versions listed, an error of this era, the rest"
    )
    for letter in rng.sample("BCE", 3):
        sent = f"{letter} is {said[letter]}"
        right = (said[letter] == "modern") is (letter == "C")
        it.expect(right, sent=sent, clause=clause, hint="put the answer through your own era_of")


# %% [markdown] written="why" points=1
# ## In your own words
#
# Why does the fallback begin with a fresh process, and not with `initialize` in the same one?
#
# ### BEGIN SOLUTION
# The old server has already read a question that it did not understand. It may have left, or wait
# for something, or hold a half-open handshake; and its late answer to the probe could be taken for
# the answer to `initialize`.
# ### END SOLUTION

# %%
tally()
