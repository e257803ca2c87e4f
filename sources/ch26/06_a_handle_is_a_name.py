# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 6. A handle is a name
#
# *Chapter 26, from process C to the handle. 12 minutes to read, 8 to do.*
#
# The server said `Created e3`. Then somebody read the week:
#
# ```
# ← {"resultType":"complete","contents":[{"uri":"calendar://week","text":"[{\"id\":\"e1\", ...},{\"id\":\"e2\", ...}]"}]}
# ```
#
# Two events. Nobody deleted anything, and nobody lied.

# %% [markdown]
# ## You will
# - run one exchange in three processes, and find the event missing in the third;
# - find the line of the server that is at fault;
# - replace it by a handle: an ordinary string in a result, an ordinary argument in a call;
# - run each message in a process of its own, and miss nothing;
# - use a handle that is somebody else's.

# %%
import ast
import json
import secrets
import tempfile
from pathlib import Path

from mcp_bare import elicitation
from mcp_bare.errors import ErrorResponse
from workbench.servers import command, open_toy
from workbench.tape_view import show

# %% [markdown]
# ## Three processes
#
# Process A is asked for an event and asks back. Process B gets the answer and creates the event.
# Process C is asked for the week. Each is new, and ends when its block does.

# %%
CALL = {"name": "create_event", "arguments": {"title": "Dentist"}}
FORMS = {"elicitation": {"form": {}}}
yes = {"when": elicitation.accept({"startsAt": "2026-09-10T08:30:00Z"})}

with open_toy("calendar_by_hand", capabilities=FORMS) as process_a:
    asked = process_a.request("tools/call", CALL)
with open_toy("calendar_by_hand", capabilities=FORMS) as process_b:
    done = process_b.retry("tools/call", CALL, asked, yes)

print("process A  resultType:", asked["resultType"])
print("process B  resultType:", done["resultType"], "|", done["content"][0]["text"])

# %% [markdown]
# **Predict:** how many events does process C see?

# %%
with open_toy("calendar_by_hand") as process_c:
    week = process_c.read_resource("calendar://week")
events = json.loads(week["contents"][0]["text"])
print("process C  events:", len(events), [event["title"] for event in events])

# %% [markdown]
# Two. The call that was finished by a stranger worked, and the event that it created is gone.
#
# ## The line at fault
#
# Which line is it? Something that a process keeps for itself. We look for names in the module that
# the code changes while it runs:

# %%
source = Path(command("calendar_by_hand")[-1]).read_text()
for node in ast.walk(ast.parse(source)):
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("append", "pop", "add"):
        print(f"line {node.lineno}: {ast.unparse(node)}")

# %%
lines = source.splitlines()
start = next(n for n, line in enumerate(lines) if line.startswith("EVENTS"))
print("\n".join(lines[start : start + 4]))

# %% [markdown]
# `EVENTS` is a list in the module, and a list in the module is state of the connection: it begins
# and ends with the process. The specification names the mistake: "a server must not treat
# connection or process identity as a proxy for conversation or session continuity"
# (`basic/index`, "Statelessness").
#
# Within one process the bug does not show at all, which is why it passes every test that keeps its
# server running:

# %%
with open_toy("calendar_by_hand") as one_process:
    one_process.call_tool("create_event", CALL["arguments"] | yes["when"]["content"])
    week = one_process.read_resource("calendar://week")
print(len(json.loads(week["contents"][0]["text"])), "events")

# %% [markdown]
# And in one process it has a second face. Two people who share it share the calendar.
#
# ## The handle
#
# The cure is not a session: the protocol has none. A tool creates the thing and returns an opaque
# identifier; every later call takes it as an ordinary argument (`server/tools`, "Stateful Tools").
# The model carries it, and the server looks it up. `calendar_handles` does that, with SQLite
# behind it. What its processes share is in the environment.

# %%
folder = tempfile.TemporaryDirectory()
shared = {
    "CALENDAR_DB": f"{folder.name}/calendar.sqlite3",
    "CALENDAR_STATE_KEY": secrets.token_hex(16),
}


def process(user):
    return open_toy("calendar_handles", env={**shared, "CALENDAR_USER": user}, capabilities=FORMS)


# %%
with process("ana") as first:
    created = first.call_tool("create_calendar")
handle = created["structuredContent"]["calendar"]
print(len(handle), "characters, beginning with", handle[:4])

# %% [markdown]
# A handle says nothing about what it names, so that nobody is invited to guess the next one: this
# one has 128 random bits. On this page it is shown as `cal_1`.

# %%
show(first, mask={handle: "cal_1"})

# %% [markdown]
# ## A process for every message
#
# The test that the first calendar failed, made harder: each message gets a process of its own.

# %%
CALL = {"name": "create_event", "arguments": {"calendar": handle, "title": "Dentist"}}
with process("ana") as process_a:
    asked = process_a.request("tools/call", CALL)
with process("ana") as process_b:
    done = process_b.retry("tools/call", CALL, asked, yes)
with process("ana") as process_c:
    week = process_c.read_resource(f"calendar://{handle}/week")

print("process A  resultType:", asked["resultType"])
print("process B ", done["content"][0]["text"])
print("process C  events:", [event["title"] for event in json.loads(week["contents"][0]["text"])])

# %% [markdown]
# Everything that a call needs is in the call: the handle in its arguments, the question's state in
# `requestState`, and the caller in the environment of the process, where stdio keeps credentials.
#
# ## A name is not a permission
#
# A handle travels through a model, a log, a screenshot. Sooner or later somebody else has it.
# **Predict:** Bob sends Ana's handle. What should he be told?

# %%
with process("bob") as bob:
    refused = bob.call_tool("list_events", {"calendar": handle})
show(bob, mask={handle: "cal_1"})

# %% [markdown]
# Not "forbidden": that would confirm that the calendar exists. He reads what anyone reads who made
# a handle up:

# %%
with process("bob") as bob:
    made_up = bob.call_tool("list_events", {"calendar": "cal_made_up"})
words = refused["content"][0]["text"].replace(handle, "cal_made_up")
print(made_up["content"][0]["text"])
print("the same words:", words == made_up["content"][0]["text"])

# %% [markdown]
# The refusal is a tool's result with `isError`, not a protocol error: the model can read it, and
# knows what to do next. For the resource, which has no `isError`, the calendar does not exist for
# him:

# %%
with process("bob") as bob:
    try:
        bob.read_resource(f"calendar://{handle}/week")
    except ErrorResponse as refusal:
        print(refusal.code, str(refusal.message).replace(handle, "cal_1"))

# %% [markdown]
# And the half-finished call? Bob saw Ana's question, state and all, and sends the answer in her
# place.

# %%
with process("bob") as bob:
    stolen = bob.retry("tools/call", CALL, asked, yes)
print(stolen["content"][0]["text"].replace(handle, "cal_1"))

# %% [markdown]
# The handle was checked first. Had Bob a calendar of his own to put there, the seal would have
# refused him: it is bound to Ana and to her arguments.

# %%
with process("bob") as bob:
    own = bob.call_tool("create_calendar")["structuredContent"]["calendar"]
    try:
        mine = {"name": "create_event", "arguments": {"calendar": own, "title": "Dentist"}}
        bob.retry("tools/call", mine, asked, yes)
    except ErrorResponse as refusal:
        print(refusal)

# %% [markdown]
# Where callers are not authenticated, the handle itself is all there is: whoever has it is in. Then
# it needs its randomness, and an end: the description of `create_calendar` tells the model when a
# calendar is deleted, since a handle outlives every connection.

# %%
with process("ana") as client:
    print(client.list_tools()[0]["description"])
folder.cleanup()

# %% [markdown]
# ## You saw
# - processes A, B and C: created, and gone;
# - one list in the module, harmless in one process and wrong in two;
# - a handle: on the wire an ordinary string in a result and an ordinary argument in a call;
# - a process for every message, and every event there;
# - somebody else's handle, refused in the words that a made-up one gets: a handle is a name.
#
# ## Your turn
# The exercise of this notebook is [A handle is a name](../../exercises/ch26/06_a_handle_is_a_name.ipynb).
#
# Chapter 27 ships an incident log whose handles are `INC-3`, `INC-4`, `INC-5`. Name two things that
# are wrong with them before you have read its code.

# %%
# Your cell.
