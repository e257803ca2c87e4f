# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Start here
#
# *10 minutes to read, 5 to do*
#
# Can a whole conversation with a server fit on one screen? This is one half of it:
#
# ```
# {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_event", ...}}
# ```
#
# One line of JSON into a pipe; one line of JSON back. That is the wire of the Model Context
# Protocol, revision 2026-07-28, and by the end of this page you have written one yourself.

# %% [markdown]
# ## You will
# - check that this machine has what the course needs;
# - send one request by hand and read its answer;
# - send the same request with the toolkit, and see that the bytes are the same;
# - find your way: alone, in a workshop, or in a class.

# %%
import json
import subprocess

from mcp_bare import doctor
from mcp_bare.client import Client
from mcp_bare.stdio import StdioTransport
from workbench.course import COURSE, number
from workbench.servers import command
from workbench.tables import table
from workbench.tape_view import raw, show

# %% [markdown]
# ## The pre-flight check
#
# `doctor` looks at this machine and installs nothing. What is needed must say `ok`. The same check
# in a terminal: `python -m mcp_bare doctor`.

# %%
findings = list(doctor.examine())
for finding in findings:
    if finding.needed:
        print(finding)

# %% [markdown]
# Some things are good to have. Where one is missing, the notebook that wants it says so in one
# line, shows what was recorded earlier, and goes on. If the next cell prints nothing but its last
# line, all of it is here.

# %%
for finding in findings:
    if not finding.needed and not finding.found:
        print(finding)
print("That is all.")

# %% [markdown]
# ## One exchange in a minute
#
# `toy_servers/calendar_by_hand.py` is a whole MCP server in one short file that imports nothing but
# the standard library. We want it to create an event. A request is a JSON object: which version of
# JSON-RPC, a number to recognise the answer by, a method, and its parameters. The `_meta` part
# is new in this revision: every request says which version it speaks and what its client can do.

# %%
request = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {
        "name": "create_event",
        "arguments": {"title": "Dentist", "startsAt": "2026-09-10T08:30:00Z"},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "bare-hands", "version": "0.0.1"},
        },
    },
}

# %% [markdown]
# On the wire it is one line: no spaces, no line breaks inside, one line feed at the end.

# %%
line = json.dumps(request, separators=(",", ":")).encode() + b"\n"
print(line)

# %% [markdown]
# Start the server, write the line to its standard input, and read what its standard output says.
# **Predict:** how many lines come back?

# %%
server = subprocess.run(command("calendar_by_hand"), input=line, capture_output=True, timeout=10)
print(server.stdout)

# %% [markdown]
# One. It has the same `id`, and a `result` whose `resultType` says that the matter is `complete`.
# That was a full conversation: there was no greeting before it, and none was missing.

# %%
answer = json.loads(server.stdout)
print("id:     ", answer["id"])
print("result: ", answer["result"]["content"][0]["text"])

# %% [markdown]
# ## The same with the toolkit
#
# `mcp_bare` is the toolkit of this course: the standard library and nothing else, small enough to
# read in an evening. A `Client` talks over a transport; here, a child process and its pipes. The
# `with` block ends the process.

# %%
with Client(StdioTransport(command("calendar_by_hand"))) as client:
    arguments = {"title": "Dentist", "startsAt": "2026-09-10T08:30:00Z"}
    result = client.call_tool("create_event", arguments)
    tape = client.tape
result["content"][0]["text"]

# %% [markdown]
# Every client keeps a tape of what went over its wire, byte for byte. First the raw bytes:

# %%
raw(tape)

# %% [markdown]
# **Predict:** is the first of these lines the one we wrote by hand, byte for byte?

# %%
sent = next(entry.payload for entry in tape)
print(sent + b"\n" == line)

# %% [markdown]
# Then the same tape with arrows, as the chapters print it: `→` is what we sent, `←` is what came.
# `_meta` is on every message, so it is folded away; click a row to see the whole line.

# %%
show(tape)

# %% [markdown]
# ## How to use this kit
#
# **Alone.** Read from the top, and answer each **Predict** before you run the cell under it: being
# wrong in private is the point. `Run > Restart Kernel and Run All Cells` always works and always
# gives the outputs that you see here; where a cell is a measurement, it says so.
#
# **In a workshop.** Open the notebook beside your own empty one and write the cells live. The
# committed outputs are your notes. Nothing on these pages needs the network.
#
# **In a class.** Everything is deterministic: two learners with the same cells have the same
# outputs, so a difference is a finding. The notebooks are built from `sources/`; change the text
# there and run `python sources/build.py`.
#
# ## Where things are
#
# | folder | what is in it |
# |---|---|
# | `mcp_bare/` | the toolkit; start with `revision.py` and `jsonrpc.py` |
# | `toy_servers/` | servers to talk to, to break and to mend |
# | `notebooks/` | what you are reading |
# | `workbench/` | how the notebooks show things |
# | `tests/` | what is proved, and how |

# %%
table([(number(path), question, minutes) for path, question, minutes in COURSE],
      ["notebook", "question", "minutes"])  # fmt: skip

# %% [markdown]
# ## You saw
# - the pre-flight check: what is needed is there;
# - one request and one answer, each a line of JSON in a pipe;
# - that the toolkit sends the very bytes that we wrote by hand;
# - where to go on: `ch26/01_messages_on_a_wire`.
#
# ## Your turn
# Change the title in the request to something of your own and run the notebook again. Then take
# `_meta` out of the request altogether. What does the server say, and which page of the
# specification does it name?

# %%
# Your cell: change the request here, and send it.
