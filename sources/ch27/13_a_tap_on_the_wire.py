# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 13. A tap on the wire
#
# *Beside chapter 27: what does a host say that you did not write? 12 minutes to read, 10 to do.*
#
# In a file that two programs left behind, neither of them knowing that it was written:
#
# ```
# {"dir": "→", "line": "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"par", "more": true}
# ```
#
# Half a message. Nobody reads half a message, so who wrote this down, and why so early?

# %% [markdown]
# ## You will
# - build a tap by hand, in twenty lines, and find what it changes without wanting to;
# - put the toolkit's tap between a client and a server that know nothing of it;
# - open the recording, bytes first, and hold it against what the client saw;
# - record the official SDK's client with the same server, and compare what the two say;
# - kill each of the three in the middle of a message, and read what is left.

# %%
import hashlib
import json
import stat
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mcp_bare import elicitation
from mcp_bare.arrows import wrapped
from mcp_bare.client import Client
from mcp_bare.errors import TransportClosed
from mcp_bare.stdio import StdioTransport
from mcp_bare.tape import CAME, NOTE, SENT, Tape, compare
from workbench.servers import command
from workbench.tables import table
from workbench.tape_view import raw, show

# %% [markdown]
# ## By hand
#
# On stdio a host starts its server and holds two pipes (`basic/transports/stdio`). A program that
# starts the server in the host's place can hold both ends: it reads here and writes there, twice.

# %%
BY_HAND = """
import subprocess, sys, threading
server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
tape = open(sys.argv[1], "wb")

def pass_on(source, target, arrow):
    for line in source:
        tape.write(arrow + line)
        target.write(line)
        target.flush()
    target.close()

threading.Thread(target=pass_on, args=(server.stdout, sys.stdout.buffer, b"< ")).start()
pass_on(sys.stdin.buffer, server.stdin, b"> ")
"""
folder = tempfile.TemporaryDirectory()
here = Path(folder.name)
(here / "by_hand.py").write_text(BY_HAND)
calendar = command("calendar_by_hand")
by_hand = [sys.executable, f"{here}/by_hand.py", f"{here}/by_hand.tape"]

# %% [markdown]
# The client starts the tap and takes it for the server. It does not notice.


# %%
def converse(words, tape):
    """The same conversation each time: what is there, and a booking with a question in it."""
    accept = elicitation.accept({"startsAt": "2026-09-10T08:30:00Z"})
    answers = {"elicitation/create": lambda asked: accept}
    with Client(StdioTransport(words), handlers=answers, tape=tape) as client:
        client.discover()
        return client.call_tool("create_event", {"title": "Dentist"})["content"][0]["text"]


print(converse([*by_hand, *calendar], Tape()))
for line in (here / "by_hand.tape").read_text().splitlines():
    print(line[:74])

# %% [markdown]
# Twenty lines, and for this conversation they do. Now a server that dies in the middle of a line,
# with exit code 3. **Predict:** what does a host behind this tap see of it?


# %%
def ending(words):
    """What a host sees of the end: the last bytes, the exit code."""
    ran = subprocess.run(words, input=b"hello\n", capture_output=True, timeout=30)
    return ran.stdout, ran.returncode


dying = [sys.executable, "-c", "input(); print('whole\\nhal', end='', flush=True); exit(3)"]
rows = [("none", *ending(dying)), ("by hand", *ending([*by_hand, *dying]))]
table(rows, ["tap", "the last bytes", "exit code"])

# %% [markdown]
# The bytes came, and the exit code is a lie: 0, all is well. A host that starts its server again
# after a crash would not have. More is wrong that this cell does not show: the tape is in a buffer,
# so what is in the file when the tap is killed is nothing; a message of sixteen megabytes is held
# back until its newline; a signal ends the tap and not the server.
#
# A tap that changes what it watches is of no use. That is why the real one passes bytes, not lines.
#
# ## The toolkit's
#
# `python -m mcp_bare tap --out FILE -- COMMAND`. The same two checks:


# %%
def tapped(name, words):
    """The command, with the tap before it."""
    return [sys.executable, "-m", "mcp_bare", "tap", "--out", f"{here}/{name}", "--", *words]


print(converse(tapped("ours.jsonl", calendar), Tape()))
rows.append(("the toolkit's", *ending(tapped("dying.jsonl", dying))))
table(rows, ["tap", "the last bytes", "exit code"])

# %% [markdown]
# ## The recording, bytes first
#
# A file of JSON Lines: a head, then a row for each line that went by. We leave out the times, which
# no two runs have in common.

# %%
for text in (here / "ours.jsonl").read_text().splitlines()[1:]:
    row = json.loads(text)
    del row["at"]
    print(json.dumps(row, ensure_ascii=False)[:96])

# %% [markdown]
# Each line is a string inside of JSON, with every quote escaped, so that a line that is no JSON at
# all fits as well; bytes that are no text stand in hexadecimals. Now the lines as they were:

# %%
tape = Tape.load(here / "ours.jsonl")
raw(tape, clip=200)

# %% [markdown]
# And as a tape. The last two rows are no messages: they say how it ended, and who went first.

# %%
show(tape)

# %% [markdown]
# The client kept a tape of its own, without any tap in between. **Predict:** how do the two differ?

# %%
direct, through = Tape(), Tape()
converse(calendar, direct)
converse(tapped("again.jsonl", calendar), through)


def wire(tape):
    return [(entry.direction, entry.payload) for entry in tape if entry.direction != NOTE]


recorded = Tape.load(here / "again.jsonl")
print("what the client saw, with and without the tap:", wire(direct) == wire(through))
print("what the client saw, and what the tap wrote:  ", wire(through) == wire(recorded))

# %% [markdown]
# Not in a byte. Nor does it have to be a message: here are two megabytes of noise through a server
# that returns what it gets.

# %%
noise = hashlib.shake_256(b"noise").digest(2_000_000)
cat = [
    sys.executable,
    "-c",
    "import sys, shutil; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)",
]
ran = subprocess.run(tapped("noise.jsonl", cat), input=noise, capture_output=True, timeout=60)
entries = list(Tape.load(here / "noise.jsonl"))
kept = b"".join(e.payload + b"\n" * (not e.remark) for e in entries if e.direction == CAME)
print("lines:", sum(e.direction == CAME for e in entries), " bytes:", len(kept))
print("as it was:", ran.stdout == noise == kept)

# %% [markdown]
# ## Another host
#
# So far we knew what the client says, because we wrote it. The official Python SDK's client is
# another matter. It runs in a process of its own, and is told to start the tap.

# %%
SDK_HOST = """
import sys, anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import ElicitResult

async def answer(context, params):
    return ElicitResult(action="accept", content={"startsAt": "2026-09-10T08:30:00Z"})

async def main():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with Client(server, elicitation_callback=answer) as client:
        result = await client.call_tool("create_event", {"title": "Dentist"})
        print(result.content[0].text)

anyio.run(main)
"""
sdk_host = [sys.executable, "-c", SDK_HOST, *tapped("sdk.jsonl", calendar)]
print(subprocess.run(sdk_host, capture_output=True, text=True, timeout=60).stdout)

# %% [markdown]
# The same server, the same booking. **Predict:** does the other client send the same messages?

# %%
theirs = Tape.load(here / "sdk.jsonl")
show(theirs)

# %% [markdown]
# It lists the tools after it has called one: the answer had `structuredContent`, and this client
# wants to hold that against the tool's `outputSchema`. What is folded away differs as well:


# %%
def methods(tape):
    return [entry.message["method"] for entry in tape if entry.direction == SENT]


def metas(tape):
    """What stands in the `_meta` of each request, by its short name."""
    first = next(entry.message for entry in tape if entry.direction == SENT)
    return {key.rpartition("/")[2]: value for key, value in first["params"]["_meta"].items()}


rows = [(name, ours, metas(theirs).get(name)) for name, ours in metas(tape).items()]
print(methods(tape))
print(methods(theirs))
table(rows, ["_meta", "our client", "the official client"])

# %% [markdown]
# `compare` prints every line in which they differ, ids left out. This is how a bug report that says
# "it works in the other host" becomes a question with an answer.

# %%
differing = compare(tape, theirs)
print(len(differing), "lines differ; the first two:")
for line in differing[:2]:
    print("\n".join(wrapped(line, 96)))

# %% [markdown]
# ## When one of them is killed
#
# A recording is read when something went wrong, so it must be whole just then. First the server: it
# gets a request, writes half an answer and is gone.

# %%
with Client(StdioTransport(tapped("rude.jsonl", command("rude", "dies-mid-line")))) as client:
    try:
        client.call_tool("echo", {"text": "hello"})
    except TransportClosed as gone:
        print(gone)
raw(Tape.load(here / "rude.jsonl"), clip=90)

# %% [markdown]
# Now the tap itself, with SIGKILL, which nobody can prepare for. The host has sent the line from the
# top of this page: half a message. **Predict:** what is in the file?

# %%
echo = [sys.executable, "-c", "import os\nwhile c := os.read(0, 65536): os.write(1, c)"]
pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
half = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","par'
with subprocess.Popen(tapped("killed.jsonl", echo), bufsize=0, **pipes) as host:
    host.stdin.write(half)
    print(host.stdout.read(len(half)) == half, "it has passed, there and back")
    host.kill()
for entry in Tape.load(here / "killed.jsonl"):
    print(entry.direction, entry.text, f"({entry.remark})")

# %% [markdown]
# All of it. A piece is written down before it is passed on, and without waiting for its newline. The
# order matters too: an answer can never stand before its question.
#
# ## What it costs
#
# Two more pipes and a file. A round trip of one short line, through the tap and without it, in turns:


# %% tags=["measured"]
def rounds(process, count=200):
    began = time.perf_counter()
    for _ in range(count):
        process.stdin.write(b"0123456789\n")
        process.stdout.readline()
    return time.perf_counter() - began


commands = (echo, tapped("echo.jsonl", echo))
both = [subprocess.Popen(words, bufsize=0, **pipes) for words in commands]
turns = [[rounds(process) for process in both] for _ in range(9)]
for process in both:
    process.communicate(timeout=30)
bare, through_it = (statistics.median(column) for column in zip(*turns, strict=True))
print(f"through the tap: {through_it / bare:.1f} times the round trip of a bare pipe")

# %% [markdown]
# A few times nothing is still nothing beside a server that reads a database, and far from what a
# person could notice.
#
# ## What is in the file
#
# Everything: the titles of your meetings, whatever a form was filled with, every `requestState`. So
# the file is for its owner's eyes:

# %%
print(stat.filemode((here / "ours.jsonl").stat().st_mode))
folder.cleanup()

# %% [markdown]
# ## In your own host
#
# Most hosts read their servers from a file like this one. The tap goes before the command that is
# there already, and `PYTHONPATH` is where your clone is:
#
# ```json
# {
#   "mcpServers": {
#     "calendar": {
#       "command": "python",
#       "args": ["-m", "mcp_bare", "tap", "--out", "/home/ana/calendar.jsonl", "--",
#                "python", "/home/ana/mcp-by-bare-hands/toy_servers/calendar_by_hand.py"],
#       "env": {"PYTHONPATH": "/home/ana/mcp-by-bare-hands"}
#     }
#   }
# }
# ```
#
# Each start of the host is another run in the same file.

# %% [markdown]
# ## You saw
# - a tap in twenty lines that passes every byte and lies about the end;
# - a host and a server that do not notice the real one, not in a byte and not in the exit code;
# - a recording as rows, as bytes and as a tape, equal to what the client saw;
# - what the official client says to a server where ours says something else;
# - half a message in the file, kept from a process that was killed.
#
# ## Your turn
# Put the tap before a server of the host that you use every day. Which requests did it send before
# you asked it for anything?

# %%
# Your cell.
