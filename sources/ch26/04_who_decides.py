# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 4. Who decides?
#
# *Chapter 26, from the three primitives to the calendar exposed three times. 12 minutes to read,
# 8 to do.*
#
# A tool, a resource and a prompt can all hand over the same week. On the wire the three answers
# look much alike:
#
# ```
# ← {"resultType":"complete","contents":[{"uri":"calendar://week", ...}]}
# ← {"resultType":"complete","messages":[{"role":"user", ...}]}
# ← {"resultType":"complete","content":[{"type":"text", ...}],"isError":false}
# ```
#
# So what is the difference?

# %% [markdown]
# ## You will
# - ask one calendar the three questions, and read three shapes of answer;
# - derive from what a server offers who decides that it is used;
# - build the server that most people build, all tools, and weigh what it costs;
# - see what a model is told about approval, and what it is not.

# %%
import json

from mcp_bare import revision
from mcp_bare.client import Client
from mcp_bare.jsonrpc import dumps
from mcp_bare.memory import MemoryTransport
from mcp_bare.server import Server
from toy_servers import calendar_handles
from workbench.charts import bars
from workbench.servers import open_toy
from workbench.tables import table
from workbench.tape_view import show

# %% [markdown]
# ## One calendar, three questions
#
# The application attaches a resource to the conversation, because it wants the model to know the
# week. Nobody asked the model, and nobody pressed a button.

# %%
with open_toy("calendar_by_hand") as client:
    week = client.read_resource("calendar://week")
show(client)

# %% [markdown]
# A person picks a prompt: a slash command, a menu entry, a button. What comes back is a message,
# ready to be sent in the person's name.

# %%
with open_toy("calendar_by_hand") as client:
    client.get_prompt("prepare_week", {"focus": "deep work"})
show(client)

# %% [markdown]
# The model calls a tool, because it judged that the conversation needs it. This one writes.

# %%
with open_toy("calendar_by_hand") as client:
    arguments = {"title": "Dentist", "startsAt": "2026-09-10T08:30:00Z"}
    client.call_tool("create_event", arguments)
show(client)

# %% [markdown]
# Three methods, three shapes, one calendar. These are not three ways to expose a capability. They
# are three answers to one question: **who decides that this happens?** The specification has a
# table for it that hardly anyone quotes (`server/index`): prompts are controlled by the user,
# resources by the application, tools by the model.
#
# ## The table, from the server itself
#
# Nothing in a definition says who decides. It is decided by the list that a thing stands in. So we
# can derive the table from what the server lists. **Predict:** how many rows?

# %%
with open_toy("calendar_by_hand") as client:
    offered = {
        "tools": client.list_tools(),
        "resources": client.list_resources(),
        "prompts": client.list_prompts(),
    }

rows = [
    (definition["name"], kind, revision.CONTROL[kind])
    for kind, definitions in offered.items()
    for definition in definitions
]
table(rows, ["what", "stands in the list of", "decides that it is used"])

# %% [markdown]
# ## Everything as a tool
#
# Most servers have one list only. We build that server: the same calendar, with the reading and
# the planning as tools as well. It works. That is the trouble with it.

# %%
all_tools = Server("calendar-all-tools", "1.0.0")
CREATE = offered["tools"][0]
READ = {
    "name": "read_week",
    "description": "Read the events of the week, as JSON. Does not write.",
    "inputSchema": {"type": "object", "additionalProperties": False},
}
focus = {"type": "string", "description": "What the week should favour."}
PLAN = {
    "name": "prepare_week",
    "description": "Read the week and draft a plan.",
    "inputSchema": {"type": "object", "properties": {"focus": focus}},
}
text = week["contents"][0]["text"]
all_tools.tool(CREATE)(lambda call: "Created e3")
all_tools.tool(READ)(lambda call: text)
all_tools.tool(PLAN)(lambda call: f"Draft a plan. Focus: {call.arguments.get('focus')}.")
print(list(all_tools.capabilities()))

# %% [markdown]
# Every definition in `tools/list` goes into the model's prompt, on every turn. The lists of
# resources and prompts do not: the application and the person read those. **Predict:** how much
# larger is what the model has to read?

# %%
with Client(MemoryTransport(all_tools)) as client:
    everything_a_tool = client.list_tools()


def size(definitions):
    return len(dumps({"tools": definitions}))


sizes = {"one tool": size(offered["tools"]), "all three as tools": size(everything_a_tool)}
print(sizes, f"{sizes['all three as tools'] / sizes['one tool']:.2f} times as many bytes")

# %%
bars(sizes, unit="bytes of tools/list", title="What the model reads before anyone asks anything")

# %% [markdown]
# The bytes are the smaller half of the bill (chapter 26 counts tokens, and so does a later
# notebook). The larger half is attention. A read that the application should have attached in
# silence now competes with a write that needs approval, and the one thing that a person wanted a
# button for is buried in a schema.
#
# ## What about approval?
#
# A host should ask the person before a tool runs. Which of the three tools needs that? We look at
# all that a host has to go by:

# %%
for definition in everything_a_tool:
    print(definition["name"], "->", sorted(definition))

# %% [markdown]
# A name, a description, a schema. "Does not write" is a sentence in English, by the server's
# author. There are annotations for it, and `calendar_handles` sets one: `readOnlyHint`. But a hint
# by a server is a claim of that server, and a host must take it as untrusted unless it trusts the
# server (`server/tools`).

# %%
with Client(MemoryTransport(calendar_handles.server)) as client:
    for tool in client.list_tools():
        print(f"{tool['name']:<16}", tool.get("annotations", "no annotations"))

# %% [markdown]
# A resource needs no such hint. `resources/read` is a read by what it is, and a host can attach
# it without asking anyone to believe a sentence.
#
# ## Can it be undone later?
#
# Moving a thing to another list is cheap for the author before the first release, and a broken
# integration for everyone after it. **Predict:** what does a client get that still calls
# `read_week` on the calendar that has it as a resource?

# %%
with open_toy("calendar_by_hand") as client:
    try:
        client.call_tool("read_week")
    except Exception as refusal:
        print(refusal)

# %% [markdown]
# -32602, "unknown", and no pointer to where it went. The decision is made before the first line of
# code, and it costs nothing then.
#
# A quick test for your own server: say the sentence aloud with each subject, and keep the one that
# sounds right. "*The model* decides to read the week." "*The application* decides to attach the
# week." "*The person* decides to plan the week."

# %%
sentences = [
    ("create an event", "model", "tool"),
    ("attach the current week", "application", "resource"),
    ("plan my week", "person", "prompt"),
]
table(sentences, ["what happens", "who decides", "so it is a"])

# %% [markdown]
# The three can point at each other. The prompt of this calendar names the resource by its URI and
# leaves the reading to the application:

# %%
with open_toy("calendar_by_hand") as client:
    message = client.get_prompt("prepare_week")["messages"][0]
    uri = offered["resources"][0]["uri"]
    print(json.dumps(message, indent=2))
    print("names the resource:", uri in message["content"]["text"])

# %% [markdown]
# ## You saw
# - one calendar in three shapes: `contents`, `messages`, `content`;
# - who decides: the application a resource, the person a prompt, the model a tool, and nothing on
#   the wire says so but the list it stands in;
# - everything as a tool: more than the catalogue's bytes, the model's attention;
# - that approval rests on hints which a host cannot trust, where a resource needs none.
#
# ## Your turn
# The exercise of this notebook is [Who decides?](../../exercises/ch26/04_who_decides.ipynb).
#
# Take a server that you use and write its table: what it lists, and who ought to decide. Count the
# rows that stand in the wrong list.

# %%
# Your cell.
