# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 1. Messages on a wire
#
# *Chapter 26, from the arithmetic of integrations to the framing of stdio. 15 minutes to read,
# 10 to do.*
#
# A server wrote three lines to its standard output. Which of them is the bug?
#
# ```
# {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete", ...}}
# Loading calendar... done
# {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete", ...}}
# ```
#
# The second, of course. The question of this notebook is why nobody noticed.

# %% [markdown]
# ## You will
# - count what a shared protocol saves, and from when on;
# - tell a request, a notification, a result and an error apart by their keys;
# - frame messages as lines, and cut a stream back into messages;
# - send a request with `json` and `subprocess` alone, then with the toolkit: the same bytes;
# - watch a stray print break one reader and slip past another.

# %%
import json
import selectors
import subprocess
import sys

from mcp_bare import jsonrpc
from mcp_bare.client import Client
from mcp_bare.framing import LineSplitter
from mcp_bare.memory import MemoryTransport
from mcp_bare.server import Server
from mcp_bare.stdio import StdioTransport
from workbench.charts import integrations
from workbench.servers import command, open_toy
from workbench.tape_view import raw, show

# %% [markdown]
# ## N times M, or N plus M
#
# N applications, M things they should reach: a calendar, a ticket system, a database. Without a
# contract somebody writes an integration for each pair. With one, each application gets a client
# and each thing gets a server, once.
#
# **Predict:** with 3 applications, from how many things on does the contract save work?

# %%
for things in (1, 2, 3, 10):
    print(
        f"3 applications, {things:>2} things:  {3 * things:>2} integrations or {3 + things} halves"
    )

# %% [markdown]
# From the second thing on, and then the gap only opens. The value of a protocol is in how many
# speak it, not in how elegant it is: a protocol that two products speak is a file format with
# ceremony. The idea is borrowed, and the specification says from whom: the Language Server
# Protocol did the same for editors and programming languages.

# %%
integrations()

# %% [markdown]
# ## Four kinds of message
#
# MCP speaks JSON-RPC 2.0. There are four kinds of message, and the keys tell which is which: a
# request has a `method` and an `id`; a notification has a `method` and no `id`; a response has
# an `id` and either a `result` or an `error`.

# %%
messages = [
    {"jsonrpc": "2.0", "id": 7, "method": "tools/list"},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}},
    {"jsonrpc": "2.0", "id": 7, "result": {"resultType": "complete", "tools": []}},
    {"jsonrpc": "2.0", "id": 7, "error": {"code": -32601, "message": "Method not found"}},
]
for message in messages:
    print(f"{jsonrpc.kind(message):<13}", json.dumps(message))

# %% [markdown]
# MCP adds three rules of its own (`basic/index`, "Messages"): an `id` is a string or an integer and
# never null; it is not used twice while the first is in flight; every result names its
# `resultType`.
#
# A parser that is kind to strangers is a hole. **Predict:** which of these does the toolkit let
# through?

# %%
suspects = [
    b'{"jsonrpc":"2.0","id":"seven","method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}',
    b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]',
    b'{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"limit":NaN}}',
]
for suspect in suspects:
    try:
        print("passes:", jsonrpc.parse(suspect))
    except jsonrpc.RpcError as refusal:
        print("refused:", refusal)

# %% [markdown]
# Only the first. Python's `json` module would have read the last two without a word: the second
# `id` wins, and `NaN` becomes a number. Two programs that read the same bytes differently are how
# a message slips past a filter.
#
# ## One line, one message
#
# A pipe carries bytes and knows nothing of messages. On stdio the rule is: a message is one line,
# ended by a line feed, with none inside (`basic/transports/stdio`). `json.dumps` writes no line
# feed unless it is asked to. **Predict:** how many messages does a server see if we ask for pretty
# printing?

# %%
pretty = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}, indent=2)
lines = LineSplitter().feed(pretty.encode() + b"\n")
print(len(lines), "lines:", lines)

# %% [markdown]
# Five, and none of them is a message. The other way round, a reader must not trust the chunks that
# it is given: a pipe may cut anywhere, in the middle of a word or of a letter. The splitter keeps
# what is unfinished.

# %%
stream = '{"id":1,"title":"Zahnärztin"}\n{"id":2}\n'.encode()
splitter = LineSplitter()
for start in range(0, len(stream), 12):
    chunk = stream[start : start + 12]
    print(f"{chunk!r:<40} -> {splitter.feed(chunk)}")

# %% [markdown]
# The cut went right through the two bytes of `ä`, and nothing was lost, because a line is decoded
# only when it is whole.
#
# ## By hand, once
#
# Now for real: `json`, `subprocess`, and a server in its own process. We ask it what it is.

# %%
meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bare-hands", "version": "0.0.1"},
}
request = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}}
line = json.dumps(request, separators=(",", ":")).encode()
print(line)

# %% [markdown]
# We write that line and forget one byte: the line feed. **Predict:** what does the server answer?

# %%
server = subprocess.Popen(
    command("calendar_by_hand"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
)
watch = selectors.DefaultSelector()
watch.register(server.stdout, selectors.EVENT_READ)
server.stdin.write(line)
print("an answer within a second:", bool(watch.select(timeout=1)))

# %% [markdown]
# Nothing, and no error either: the server waits for the end of a line, and we wait for the server.
# A plain `server.stdout.readline()` would have hung this notebook here; that is why every wait in
# this course has a timeout. We send the missing byte.

# %%
server.stdin.write(b"\n")
print("an answer within ten seconds:", bool(watch.select(timeout=10)))
by_hand = server.stdout.readline()
print(by_hand)

# %% [markdown]
# Then we leave as the specification says: close the server's input, and wait for it to go
# (`basic/transports/stdio`, "Shutdown").

# %%
server.stdin.close()
print("exit code:", server.wait(timeout=10))
server.stdout.close()
watch.close()

# %% [markdown]
# ## The same bytes with the toolkit
#
# `StdioTransport` starts the process, reads both of its pipes all the time, and ends it. `Client`
# writes `_meta` for us. The tape says whether that is all the same on the wire.

# %%
with Client(StdioTransport(command("calendar_by_hand"))) as client:
    client.discover()
    sent, came = (entry.payload for entry in client.tape)
print("same request: ", sent == line)
print("same answer:  ", came + b"\n" == by_hand)

# %%
show(client)

# %% [markdown]
# ## A stray print
#
# "The server MUST NOT write anything to its stdout that is not a valid MCP message": the most
# broken rule of all, by a debugging print, a progress bar, a warning of some library.
# `toy_servers/rude.py` breaks rules on request. Here it greets us before it serves. First, a reader
# of the kind that every tutorial has:

# %% tags=["raises-exception"]
rude = subprocess.run(
    command("rude", "stdout-banner"), input=line + b"\n", capture_output=True, timeout=10
)
for text in rude.stdout.splitlines():
    print(json.loads(text)["result"]["supportedVersions"])

# %% [markdown]
# It dies on the first line, loudly. That is the good case. **Predict:** what does the toolkit's
# client do with the same server?

# %%
with open_toy("rude", "stdout-banner") as client:
    print(client.discover()["supportedVersions"])
    strays = [entry for entry in client.tape if entry.direction == "!"]
print(len(strays), "stray line:", strays[0].payload)

# %% [markdown]
# It skips the line, goes on, and keeps the line on the tape with a `!`. The official clients skip
# it as well, and that is how such a server reaches production: the rule is broken for those who
# wrote their own seven-line parser, and for nobody else. A client that skips should at least tell.

# %%
show(client)

# %% [markdown]
# ## A server that cannot do it
#
# Better: a server that is unable to break the rule. Before the toolkit's server reads its first
# byte it puts the pipe away and points standard output at stderr, where anything may be said.
# `rude` keeps its pipe in the open; this server prints in the middle of a tool:

# %%
chatty = Server("chatty", "1.0.0")


@chatty.tool({"name": "add", "inputSchema": {"type": "object"}})
def add(call):
    print("adding ...")
    return str(sum(call.arguments.values()))


with Client(MemoryTransport(chatty)) as client:
    client.call_tool("add", {"a": 1, "b": 2})
raw(client.tape)

# %% [markdown]
# In memory the print lands in our notebook, above the tape. Over a real pipe it must land on
# stderr. We write the same server to run as a process:

# %%
program = """
from mcp_bare.server import Server
from mcp_bare.stdio import serve
chatty = Server("chatty", "1.0.0")
@chatty.tool({"name": "add", "inputSchema": {"type": "object"}})
def add(call):
    print("adding ...", flush=True)
    return str(sum(call.arguments.values()))
serve(chatty)
"""
transport = StdioTransport([sys.executable, "-c", program])
with Client(transport) as client:
    print(client.call_tool("add", {"a": 1, "b": 2})["content"][0]["text"])
print("on the wire:", [entry.direction for entry in client.tape])
print("on stderr:  ", transport.stderr_tail)

# %% [markdown]
# The wire has one line out and one line in, and the print went where people look for it. A line on
# stderr is no sign of trouble either: a client should not take it for one.

# %% [markdown]
# ## You saw
# - N×M against N+M: the contract wins from the second thing on;
# - four kinds of message, told apart by their keys, and a parser that refuses what is none;
# - a message is a line: forget the line feed and both ends wait, without an error;
# - the toolkit's request and ours are the same bytes;
# - a stray print kills a naive reader and slips past a forgiving one; a careful server moves its
#   standard output away before any tool can reach it.
#
# ## Your turn
# The exercise of this notebook is [Frame and parse a message](../../exercises/ch26/01_frame_and_parse.ipynb).
#
# Run `rude` with the fault `progress-bar` and read its standard output raw. Where does the bar end
# and the message begin, and what does the toolkit's client make of it?

# %%
# Your cell.
