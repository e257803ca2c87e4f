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
# `hands.command(name, before=...)` is the command of a server with one more line in front of its
# program. `raw_stream.talk` starts it, sends a request, waits for the answer, closes the input, and
# keeps every line that came, as a reader would find it.


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
# As in the chapter. The second is the worse one: the damage is not where the bug is. Its cause is not
# MCP. **Predict:** a program prints a line, then writes another past the buffer of `print`. In which
# order do they come through a pipe?

# %%
program = "import os; print('printed first'); os.write(1, b'written second\\n')"
ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
print(ran.stdout, end="")

# %% [markdown]
# To a terminal, Python sends a line when it ends. Into a pipe it fills a block of some kilobytes
# first, and a server that says little never fills it; the block goes out when the program exits, after
# answers that were written past it. Node's `console.log` does not wait: the line is there at once.
#
# So the place depends on things that have nothing to do with the server. **Predict:** where is the line
# when we flush it? And where, not flushed, when `PYTHONUNBUFFERED` is set, as it is in many container
# images?

# %%
for name in hands.here("python"):
    print("flush=True:")
    stream(name, f"print({LINE!r}, flush=True)")
    print("PYTHONUNBUFFERED=1:")
    stream(name, PYTHON_LINE, env={"PYTHONUNBUFFERED": "1"})

# %% [markdown]
# In such an image the bug corrupts the beginning of the stream, on a developer's machine its end.
# Whoever says "I cannot reproduce it" is right.
#
# ## By hand
#
# **Predict:** where does the same line, not flushed, come out of the server on our toolkit?

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
# More common than a line at the start: a print in a tool, left over from a search for a bug. With
# `failing=True` each server has a tool called `mutter`, which prints `looking` and flushes it.
# **Predict:** whose stream suffers?

# %%
rows = []
for name in hands.here("bare", "python", "typescript"):
    said = talk(name, asks=("tools/call", {"name": "mutter", **META}), failing=True)
    strays = [line for line in said.out if raw_stream.message(line) is None]
    rows.append((name, ", ".join(strays) or "none", "yes" if "looking" in said.err else "no"))
table(rows, ["server", "stray lines on the wire", "on standard error"])

# %% [markdown]
# The official Python SDK takes the descriptor over as ours does, while it serves. So the tutorial's
# warning, which names `print()`, is truest in TypeScript, where a `console.log` inside a tool lands
# among the messages.
#
# ## First reader: seven lines
#
# The chapter's takes the rule at its word: every line is a message. Its heart is two lines long. Here it
# is in Python, on the lines that we have. **Predict:** how far does it get in each stream?


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
# Both streams kill it. The chapter says "at once", and so it is with the first. With the buffered one it
# has its answer already, and dies at the end, when nobody is waiting for anything. The chapter's reader
# is in TypeScript; so is the next one, which starts the server itself, and its words are the chapter's:


# %%
def run(words, cwd=None):
    """Run a client to its end."""
    with hands.scratch() as folder:
        options = {"cwd": cwd or folder, "env": hands.environment(folder), "timeout": 60}
        return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def dirty(name):
    return hands.command(name, before=NODE_LINE if name == "typescript" else PYTHON_LINE)


def script(file):
    return [hands.interpreter("typescript"), str(hands.TYPESCRIPT / file)]


# %%
there = hands.here("typescript")
if not there:
    print("On 2026-12-01 it died of the first line of the one, and after two answers of the other.")
for name in there and ["typescript", "python"]:
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
        tools = ran.stdout.partition("\n")[0].count("_incident")
        rows.append((label, f"{tools} tools", ran.stderr.strip() or "nothing"))
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
if not rows:
    print("Not run. On 2026-12-01 each had 3 tools. On the line, in this order: an error to")
    print("its onerror, nothing, an error in its log, a note on its tape.")
table(rows, ["client", "it has", "what it says"]) if rows else None

# %% [markdown]
# All of them go on. The chapter's client tells its `onerror`, if the host has set one; today's
# TypeScript client says nothing to anybody; the Python one writes an error to its log; ours puts the
# line on the tape.
#
# ## Third reader: the Inspector
#
# The tool that people debug with. Its `--cli` asks one thing, prints the answer and ends, with no
# browser and no network. (It is not small: 120 packages, some 80 MB, so it comes only when it is
# asked for, with `uv run python -m workbench environment inspector`.)

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
# The three readers side by side:
#
# | reader of a dirty server | the chapter | here |
# |:--|:--|:--|
# | seven naive lines | die | die: at the start, or after the last answer |
# | an SDK's client | lists the tools | all four list the tools, one of them in silence |
# | the Inspector | full catalogue, no warning | the same, to the byte |
#
# A rule that breaks only the clients that nobody uses gets to production unharmed. That is why it is
# worth breaking here.
#
# ## The check that none of them makes
#
# Some mention the line; none of them fails the server for it. The check that does is one line: what is
# on the wire and is not a message?


# %%
def strays(said):
    return [line for line in said.out if raw_stream.message(line) is None]


for name in hands.here("bare", "python", "typescript"):
    before = NODE_LINE if name == "typescript" else PYTHON_LINE
    print(f"{name:<11} clean {strays(talk(name))}, dirty {strays(talk(name, before))}")

# %% [markdown]
# It has to read to the end of the stream, after the input was closed: the Python line comes when the
# server exits. A check that stops after the last answer finds nothing there. The toolkit's own `check`
# makes this one first, before all its others:

# %%
for name in hands.here("bare", "python", "typescript"):
    for how, words in (("clean", hands.command(name)), ("dirty", dirty(name))):
        examined = [sys.executable, "-m", "mcp_bare", "check", "--read-only", "--", *words]
        print(f"{name:<11} {how}:", run(examined, node.ROOT).stdout.partition("\n")[0])

# %% [markdown]
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
# - a naive reader that dies, early or late, and clients that shrug, one of them in silence;
# - a check of one line, which must read to the end.
#
# ## Your turn
# The exercise of this notebook is [One stray line](../../exercises/ch27/04_one_stray_line.ipynb).
#
# **Try:** let a child process write the line. Hand these two to `stream` as what comes before the server,
# and predict for each whether the line comes first or last:
#
# ```
# python      import subprocess; subprocess.run(["echo", "from a child"])
# typescript  import {spawnSync} from "node:child_process"; spawnSync("echo", ["from a child"], {stdio: "inherit"})
# ```
#
# Then start the same child inside a tool, in `mutter` of `toy_servers/failing/sdk.py`, and call it as
# above. On whose standard output does it write now?

# %%
# Your cell.
