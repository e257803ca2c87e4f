# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 10. Asking for a generation
#
# *Chapter 26, from the client's features to what was deprecated. 12 minutes to read, 8 to do.*
#
# A server without a model, without a key and without an account wrote a good summary. Its answer to
# our call was this:
#
# ```
# ← {"resultType":"input_required","inputRequests":{"draft":{"method":"sampling/createMessage", ...}}}
# ```
#
# Who paid for the tokens?

# %% [markdown]
# ## You will
# - let a server ask the host's model for a text, with a stand-in that is not a model;
# - see what the host must check before it says yes;
# - ask for roots, the folders a client offers;
# - ask for log messages, per request;
# - find all three in the registry of what is deprecated, with what to do instead.

# %%
from mcp_bare import revision
from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse
from mcp_bare.memory import MemoryTransport
from mcp_bare.server import Server
from workbench.servers import open_toy
from workbench.tables import table
from workbench.tape_view import show

# %% [markdown]
# ## A word with two meanings
#
# In this protocol *sampling* means: a server asks the host's model for a generation. It has nothing
# to do with temperature or top-p. It is a nested call of a model, and it travels in an answer, like
# the form of notebook 5, under another method.
#
# Here is a server that needs a summary and has no model. On the first call it asks; on the retry
# the text is there.

# %%
server = Server("minutes", "1.0.0", logging=True)
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@server.tool({"name": "summarize", "inputSchema": TEXT})
def summarize(call):
    drafted = call.input_responses.get("draft")
    if drafted is None:
        said = {"type": "text", "text": f"One sentence: {call.arguments['text']}"}
        wanted = {"messages": [{"role": "user", "content": said}], "maxTokens": 60}
        return call.ask({"draft": {"method": "sampling/createMessage", "params": wanted}})
    return f"Summary: {drafted['content']['text']}"


# %% [markdown]
# And a host with a model. Ours is a **stand-in**: a function that answers from a script, and says so
# in the field where a host must name its model. No notebook of this course calls a model.


# %%
def stand_in(params):
    question = params["messages"][0]["content"]["text"]
    text = "They moved the launch." if "launch" in question else "Nothing happened."
    return {
        "role": "assistant",
        "content": {"type": "text", "text": text},
        "model": "a script, not a model",
        "stopReason": "endTurn",
    }


minutes = {"text": "A long talk, at the end of which the launch was moved to May."}
with Client(MemoryTransport(server), handlers={"sampling/createMessage": stand_in}) as client:
    print(client.call_tool("summarize", minutes)["content"][0]["text"])
show(client)

# %% [markdown]
# Two requests with two ids, and between them a generation that the server never saw being made.
# The host paid, and the host's model read whatever the server put into `messages`: text by a
# stranger. So a host shows it to the person first, and may change it or refuse.
#
# ## A host that refuses
#
# **Predict:** the client does not declare `sampling`. May the server ask all the same?

# %%
with Client(MemoryTransport(server), capabilities={}) as client:
    try:
        client.call_tool("summarize", minutes)
    except ErrorResponse as refusal:
        print(refusal.code, refusal.data)

# %% [markdown]
# -32021, and the question was not sent: the toolkit's server checks every input request against
# what this request declared (`basic/patterns/mrtr`). A host that has a model but wants to be asked
# by nobody leaves the capability out.
#
# ## Roots
#
# *Roots* are the folders, as URIs, that a client offers to a server. They inform; they do not
# confine: a server that can read the disk can read all of it. They are asked for in the same way.


# %%
@server.tool({"name": "where", "inputSchema": {"type": "object"}})
def where(call):
    told = call.input_responses.get("roots")
    if told is None:
        return call.ask({"roots": {"method": "roots/list"}})
    return "I may look at " + ", ".join(root["uri"] for root in told["roots"])


def my_roots(params):
    return {"roots": [{"uri": "file:///home/ana/minutes", "name": "minutes"}]}


with Client(MemoryTransport(server), handlers={"roots/list": my_roots}) as client:
    print(client.call_tool("where")["content"][0]["text"])

# %% [markdown]
# Two questions may travel in one answer, each under its key. **Predict:** how many requests does a
# tool take that needs both a root and a summary?


# %%
@server.tool({"name": "report", "inputSchema": {"type": "object"}})
def report(call):
    given = call.input_responses
    if not {"draft", "roots"} <= given.keys():
        said = {"type": "text", "text": "A title for the report on the launch."}
        wanted = {"messages": [{"role": "user", "content": said}], "maxTokens": 20}
        asked = {"method": "sampling/createMessage", "params": wanted}
        return call.ask({"draft": asked, "roots": {"method": "roots/list"}})
    return f"{given['draft']['content']['text']} -> {given['roots']['roots'][0]['uri']}"


handlers = {"sampling/createMessage": stand_in, "roots/list": my_roots}
with Client(MemoryTransport(server), handlers=handlers) as client:
    print(client.call_tool("report")["content"][0]["text"])
    print([entry.message.get("id") for entry in client.tape if entry.direction == "→"])

# %% [markdown]
# ## Logging
#
# A server may send log messages along with an answer, if the request asks for them by a level in
# its `_meta`. There is no setting that lasts: a request without the level gets none. **Predict:**
# which of the two calls brings `notifications/message`?

# %%
level = {revision.LOG_LEVEL: "info"}
with open_toy("changing") as client:
    client.request("tools/call", {"name": "count", "arguments": {"to": 2}})
    client.request("tools/call", {"name": "count", "arguments": {"to": 2}, "_meta": level})
show(client, ids=True)

# %% [markdown]
# Levels have an order, and one asks for a level and everything above it. `warning` leaves this
# server's `info` out:

# %%
for wanted in ("debug", "info", "warning"):
    with open_toy("changing") as client:
        params = {"name": "count", "arguments": {"to": 2}, "_meta": {revision.LOG_LEVEL: wanted}}
        client.request("tools/call", params)
        print(f"{wanted:<8}", len(client.tape) - 2, "log messages")

# %% [markdown]
# ## All three are on their way out
#
# Sampling, roots and logging are deprecated in this revision, under SEP-2577. They work until they
# are removed, and the registry says when that may be at the earliest, and what to do instead.

# %%
table(
    [(d["feature"], d["since"], d["earliestRemoval"], d["migration"]) for d in revision.DEPRECATED],
    ["feature", "deprecated in", "removed not before", "instead"],
)

# %% [markdown]
# None of them failed technically. Few servers used them, and each was one more thing that every
# client had to build, show and secure. A protocol that can take things away is in better health
# than one that cannot.
#
# ## What to write instead
#
# Roots: an argument. The folder stands in the schema, the model and the person can see it, and it
# goes through consent like any other argument.


# %%
@server.tool(
    {
        "name": "report_on",
        "description": "Write a report on the minutes in a folder.",
        "inputSchema": {
            "type": "object",
            "properties": {"folder": {"type": "string", "format": "uri"}},
            "required": ["folder"],
        },
    }
)
def report_on(call):
    return f"Report on {call.arguments['folder']}"


with Client(MemoryTransport(server)) as client:
    result = client.call_tool("report_on", {"folder": "file:///home/ana/minutes"})
print(result["content"][0]["text"], "|", len(client.tape), "messages")

# %% [markdown]
# Two messages, where `where` took four. Logging: stderr, which needs no capability, no level and
# no notification, and which nobody takes for an answer. Sampling: the server's own account with a
# provider, or a tool that returns the material and leaves the writing to the model that called it.

# %% [markdown]
# ## You saw
# - a nested generation, asked for in an answer and paid for by the host, with a stand-in for the
#   model;
# - a question that was not sent, because the client had not declared that it can answer it;
# - two questions in one answer, and log messages for one request at a time;
# - the registry: what goes, not before when, and what to use instead.
#
# ## Your turn
# `summarize` sends the whole text to the host's model. Rewrite it so that the tool returns the text
# and a prompt of the server asks for the summary. Who decides now, and who pays?

# %%
# Your cell.
