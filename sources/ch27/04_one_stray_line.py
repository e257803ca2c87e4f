# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 4. One stray line
#
# *Chapter 27, from "never write to standard output" to three readers who do or do not mind. 14 minutes
# to read, 10 to do.*
#
# Somebody adds a line to a server, to see that it starts. The same line, before anything else, and
# this is what comes out:
#
# ```
# TypeScript   incidents server starting
#              {"result":{"tools":[{"name":"search_incidents", ...
# Python       {"jsonrpc":"2.0","id":1,"result":{"tools":[ ...
#              incidents server starting
# ```
#
# Why is the second one at the end, when it was printed at the start?

# %% [markdown]
# ## You will
# - put the line into three servers, and read the raw stream;
# - find out who holds it back, with three lines of Python and no MCP;
# - see a server whose line goes astray without harm, and why;
# - hand the dirty streams to readers: seven naive lines, four clients, the Inspector;
# - write the check that none of them makes.

# %%
import inspect
import json
import subprocess
import sys

from mcp_bare import revision, stdio
from mcp_bare.client import CLIENT_INFO
from workbench import hands, node, raw_stream
from workbench.tables import table

LINE = "incidents server starting"
PYTHON_LINE = f"print({LINE!r})"
NODE_LINE = f"console.log({LINE!r})"
META = {"_meta": revision.request_meta({}, CLIENT_INFO)}

# %% [markdown]
# ## The rule
#
# On stdio, standard output is the wire. A server must not write anything to it that is not a message
# (`basic/transports/stdio`). The tutorial says it to the beginner, and names `print()`.
#
# ## The stream
#
# `hands.command(name, before=...)` starts a server with one more line in front of its program.
# `raw_stream.talk` sends a request, waits for the answer, closes the input, and keeps every line that
# came, as a reader would find it.


# %%
def talk(name, before="", asks=("tools/list", META), **how):
    env = how.pop("env", {})
    requests = [{"jsonrpc": "2.0", "id": 1, "method": asks[0], "params": asks[1]}]
    with hands.scratch() as folder:
        words = hands.command(name, before=before, **how)
        return raw_stream.talk(words, requests, {**hands.environment(folder), **env})


def stream(name, before, **how):
    """Print what is on standard output, each line cut short."""
    for line in talk(name, before, **how).out:
        print(f"{name:<11}", line if len(line) < 60 else f"{line[:60]}...")


# %%
for name in hands.here("typescript", "python"):
    stream(name, NODE_LINE if name == "typescript" else PYTHON_LINE)

# %% [markdown]
# As in the chapter. The second is the worse one: the damage is not where the bug is. And its cause is
# not MCP. **Predict:** a program prints a line, then writes another past the buffer of `print`. In
# which order do they come through a pipe?

# %%
program = "import os; print('printed first'); os.write(1, b'written second\\n')"
ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
print(ran.stdout)

# %% [markdown]
# To a terminal, Python sends a line when it ends. Into a pipe it fills a block of some kilobytes
# first, and a server that says little never fills it; the block goes out when the program exits, after
# answers that were written past it. Node's `console.log` does not wait: the line is there at once.
#
# So the place depends on things that have nothing to do with the server. **Predict:** we flush; then
# we take the line back to what it was, and set `PYTHONUNBUFFERED`, as many container images do.

# %%
for name in hands.here("python"):
    stream(name, f"print({LINE!r}, flush=True)")
    stream(name, PYTHON_LINE, env={"PYTHONUNBUFFERED": "1"})

# %% [markdown]
# The same bug corrupts the beginning in production and the end on a developer's machine. Whoever says
# "I cannot reproduce it" is right.
#
# ## By hand
#
# **Predict:** the same line, not flushed, in the server on our toolkit.

# %%
stream("bare", PYTHON_LINE)

# %% [markdown]
# No stray line at all. It was printed; where is it?

# %%
said = talk("bare", PYTHON_LINE)
print("on standard output:", LINE in "\n".join(said.out))
print("on standard error: ", LINE in said.err)

# %% [markdown]
# Before it serves, the toolkit keeps the pipe for itself and points descriptor 1 at standard error.
# What sits in the buffer of `print` goes there when it is flushed, and so does all that is printed
# later, also by a library or a child process.

# %%
print(inspect.getsource(stdio.take_over_standard_streams).split("    if sys.platform")[0])

# %% [markdown]
# It is no cure for everything: a line that is flushed before `serve` is on the wire already.

# %%
stream("bare", f"print({LINE!r}, flush=True)")

# %% [markdown]
# ## A print inside a tool
#
# More common than a line at the start: a print in a tool, left over from a search for a bug. The
# servers with tools that go wrong have one, `mutter`, and flush it. **Predict:** whose stream suffers?

# %%
rows = []
for name in hands.here("bare", "python", "typescript"):
    said = talk(name, asks=("tools/call", {"name": "mutter", **META}), failing=True)
    strays = [line for line in said.out if raw_stream.message(line) is None]
    rows.append((name, ", ".join(strays) or "none", "looking" in said.err))
table(rows, ["server", "stray lines on the wire", "it is on standard error"])

# %% [markdown]
# The official Python SDK takes the descriptor over as ours does, while it serves. So the tutorial's
# warning, which names `print()`, is truest in TypeScript, where a `console.log` inside a tool lands
# between two messages.
#
# ## First reader: seven lines
#
# A reader that takes the rule at its word: every line is a message.


# %%
def naive(lines):
    for line in lines:
        message = json.loads(line)
        print("  id", message["id"])


for name in hands.here("typescript", "python"):
    print(name)
    try:
        naive(talk(name, NODE_LINE if name == "typescript" else PYTHON_LINE).out)
    except json.JSONDecodeError as trouble:
        print("  JSONDecodeError:", trouble)

# %% [markdown]
# Both streams kill it, and the chapter says "at once". With the buffered one it has its answer
# already, and dies at the end, when nobody is waiting for anything. The chapter's reader is in
# TypeScript; so is this one, and its words are the chapter's:


# %%
def run(words):
    """Run a client to its end."""
    with hands.scratch() as folder:
        options = {"cwd": folder, "env": hands.environment(folder), "timeout": 60}
        return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def dirty(name):
    return hands.command(name, before=NODE_LINE if name == "typescript" else PYTHON_LINE)


def script(file):
    return [hands.interpreter("typescript"), str(hands.TYPESCRIPT / file)]


for name in hands.here("typescript") and ["typescript", "python"]:
    ran = run([*script("naive.ts"), *dirty(name)])
    words = [line for line in ran.stderr.splitlines() if line.startswith("SyntaxError")]
    print(f"{name:<11}", *ran.stdout.split("\n")[:-1], "|", *words)

# %% [markdown]
# ## Second reader: an SDK's client
#
# Four of them: the chapter's, today's TypeScript, today's Python, and ours. **Predict:** who gets the
# catalogue, and who says a word about the line?

# %%
rows = []
if hands.here("typescript", "typescript-v1") == ["typescript", "typescript-v1"]:
    for label, file in (("sdk 1.30.0", "chapter/client.ts"), ("client 2.4.0", "client.ts")):
        ran = run([*script(file), *dirty("typescript")])
        rows.append(
            (label, "3 tools" * ("resolve_incident" in ran.stdout), ran.stderr.strip() or "nothing")
        )
    sdk_client = node.ROOT / "workbench" / "ledger" / "sdk" / "sdk_client.py"
    ran = run([sys.executable, str(sdk_client), json.dumps(dirty("typescript"))])
    found = json.loads(ran.stdout)
    rows.append(("mcp 2.3.0", f"{found['tools']} tools", *found["log"]))
    with hands.scratch() as folder:
        with hands.connect(dirty("typescript"), hands.environment(folder)) as client:
            count = len(client.list_tools())
        notes = [f"{e.payload.decode()}: {e.remark}" for e in client.tape if e.direction == "!"]
    rows.append(("ours", f"{count} tools", "on its tape: " + " ".join(notes)))

# %%
table(rows, ["client", "it has", "what it says"])

# %% [markdown]
# All of them go on. The chapter's client tells its `onerror`, if the host has set one; today's
# TypeScript client says nothing to anybody; the Python one writes an error to its log; ours puts the
# line on the tape.
#
# ## Third reader: the Inspector
#
# The tool that people debug with. Its `--cli` asks one thing, prints the answer and ends, with no
# browser and no network. (It is not small: 120 packages, some 80 MB, so it comes only when it is
# asked for, with `python -m workbench environment inspector`.)

# %%
why = hands.why_no_inspector()
if why:
    print(f"Not run: {why}. On 2026-11-30 it gave 3 tools, exit code 0, no warning.")
for name in [] if why else hands.here("typescript", "python"):
    clean, stray = (run(hands.inspect(w, "tools/list")) for w in (hands.command(name), dirty(name)))
    count = len(json.loads(stray.stdout)["tools"])
    print(f"{name:<11}", count, "tools, exit code", stray.returncode, end="; ")
    print("the same bytes as from the clean server:", clean.stdout == stray.stdout, end="; ")
    print("on standard error:", stray.stderr or "nothing")

# %% [markdown]
# A full catalogue, no warning, as in the chapter. Three readers:

# %%
table(
    [
        ("seven naive lines", "die", "die: at the start, or after the last answer"),
        ("an SDK's client", "lists the tools", "list the tools; one of four is silent"),
        ("the Inspector", "full catalogue, no warning", "the same, to the byte"),
    ],
    ["reader of a dirty server", "the chapter", "here"],
)

# %% [markdown]
# A rule that breaks only the clients that nobody uses gets to production unharmed. That is why it is
# worth breaking here.
#
# ## The check that none of them makes
#
# It is one line: what is on the wire and is not a message?


# %%
def strays(said):
    return [line for line in said.out if raw_stream.message(line) is None]


for name in hands.here("bare", "python", "typescript"):
    before = NODE_LINE if name == "typescript" else PYTHON_LINE
    print(f"{name:<11} clean {strays(talk(name))}, dirty {strays(talk(name, before))}")

# %% [markdown]
# It has to read to the end of the stream, after the input was closed: the Python line comes when the
# server exits. A check that stops after the last answer finds nothing.
#
# ## Where the line belongs
#
# On standard error, in every language: `print(..., file=sys.stderr)`, `logging`, `console.error`. A
# host may show it, keep it or drop it, and should not take it for a failure
# (`basic/transports/stdio`).

# %%
for name in hands.here("python", "typescript"):
    better = f"console.error({LINE!r})"
    if name == "python":
        better = f"import sys; print({LINE!r}, file=sys.stderr)"
    said = talk(name, better)
    print(f"{name:<11} stray lines: {len(strays(said))}; on standard error: {LINE in said.err}")

# %% [markdown]
# ## You saw
# - one line at the start of the stream, at its end, and nowhere, for the same print;
# - a buffer that decides it, and a setting that moves it;
# - two servers that take standard output over, and one that leaves it to every tool;
# - a naive reader that dies, late or early, and clients that shrug, one of them in silence;
# - a check of one line, which must read to the end.
#
# ## Your turn
# The exercise of this notebook is [One stray line](../../exercises/ch27/04_one_stray_line.ipynb).
#
# Let a tool of a Python server start a child process that prints (`subprocess.run(["date"])`). On
# whose standard output does the child write, and why is it the right one? Then do the same in
# TypeScript with `stdio: 'inherit'`.

# %%
# Your cell.
