# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 8. What a server costs
#
# *Chapter 26, from the schema in every prompt to the stranger in it. 15 minutes to read, 10 to do.*
#
# A server is connected. Nobody has called it yet. Somebody has paid already:
#
# ```
# ← {"tools":[{"name":"gzip-file-as-resource","description":"Compresses a single file using gzip ...
# ```
#
# How much, and for how long?

# %% [markdown]
# ## You will
# - count the tokens of a real catalogue, tool by tool, and find the cheap and the costly one;
# - see why two right counts of the same catalogue differ, and which one is meant;
# - set five such servers against a context window;
# - read `instructions` as what it is;
# - let a model look for its tools instead of carrying all of them, and measure that.

# %%
import json

from mcp_bare import era, revision
from mcp_bare.client import Client
from mcp_bare.jsonrpc import dumps
from mcp_bare.memory import MemoryTransport
from mcp_bare.server import Server, text_result
from workbench import tokens
from workbench.budget import budget
from workbench.charts import bars
from workbench.reference import CHANGED, wait_for
from workbench.servers import everything
from workbench.tables import table

# %% [markdown]
# ## A real catalogue
#
# The published reference server, `@modelcontextprotocol/server-everything` 2026.8.31. It is of the
# older era, so there is a handshake first. The tokenizer is `o200k_base`; its ranks came with the
# environment, and nothing is asked of the network.

# %%
client, verdict = era.connect(everything("everything_probe"))
with client:
    wait_for(client, CHANGED)
    tools = client.list_tools()
    instructions = client.initialize_result["instructions"]
len(tools)

# %% [markdown]
# A host puts three keys of each tool into the prompt: name, description and input schema. We count
# them as JSON, as Python's `json.dumps` writes it. **Predict:** how many tokens are 13 tools?

# %%
each = {tool["name"]: tokens.tool_tokens(tool) for tool in tools}
total = tokens.catalogue_tokens(tools)
print(f"{total:,} tokens")
print("cheapest: ", min(each.items(), key=lambda pair: pair[1]))
print("costliest:", max(each.items(), key=lambda pair: pair[1]))

# %%
bars(
    dict(sorted(each.items(), key=lambda pair: pair[1])),
    unit="tokens (name, description, inputSchema)",
    title="The reference server, tool by tool",
)

# %% [markdown]
# ## Two right counts
#
# The same catalogue has other sizes, all of them right. What is counted: the three keys or all of
# them? How is it written: with a space after every comma, or as the wire sends it? In one piece,
# or tool by tool?

# %%
table(
    [
        ("three keys, json.dumps, one list", total),
        ("three keys, json.dumps, tool by tool", sum(each.values())),
        ("three keys, compact", tokens.catalogue_tokens(tools, compact=True)),
        ("every key, json.dumps", tokens.count_json(tools)),
    ],
    ["what is counted", "tokens"],
)

# %% [markdown]
# The first is the chapter's 1,307. Its other figure, 7,663 bytes, is the size of another object:
# the whole result as it travels, every key, compact.

# %%
print(f"{len(dumps({'tools': tools})):,} bytes")
every_key = {key for tool in tools for key in tool}
print("keys that travel and were not counted:", *sorted(every_key - set(tokens.MODEL_KEYS)))

# %% [markdown]
# ## Without a handshake
#
# The chapter counted 13 tools with and without the handshake. **Predict:** we ask this server for
# its tools and say nothing before.

# %%
with Client(everything("everything_bare")(), version=revision.LEGACY[0]) as client:
    early = client.list_tools()
missing = {tool["name"] for tool in tools} - {tool["name"] for tool in early}
print(len(early), "tools, without", *missing)
print(f"{tokens.catalogue_tokens(early):,} tokens")

# %% [markdown]
# Twelve. The thirteenth is registered when the client says that it is initialized. In the older era
# a catalogue could depend on what had been said before; in this one it must not.
#
# ## Instructions
#
# A server may give the host a text for its system prompt. This one does, on `initialize`; a server
# of the current revision does it on `server/discover`.

# %%
spent = tokens.count(instructions)
print(f"{spent} tokens, {len(instructions.encode()):,} bytes. It begins:")
print(instructions[:220])

# %% [markdown]
# Read it as what it is: text by a stranger, in the system prompt, next to the words of the
# application's author. So are the descriptions. The specification says that descriptions and
# annotations are untrusted unless the server is trusted; to connect a server is not to add a
# dependency, it is to give a stranger so many tokens of your prompt, and the right to be called.

# %%
bill = total + spent
table(
    [
        ("13 tool definitions", f"{total:,}"),
        ("instructions", f"{spent:,}"),
        ("one server", f"{bill:,}"),
    ],
    ["connected, before it is used", "tokens"],
)

# %% [markdown]
# ## Five of them
#
# **Predict:** five servers of this size, in a window of 128,000 tokens: what share is gone on every
# turn? Move the slider. How many fit before half of it is gone?

# %%
budget(bill, servers=5)

# %%
print(f"five servers: {5 * bill:,} tokens, on every turn, whether or not they are used")

# %% [markdown]
# ## Looking for a tool instead of carrying it
#
# The definitions have to be in the prompt only if the model has to choose among all of them. A
# server, or a host, can offer a search instead. Here are two hundred generated tools; sizes like
# these are no rarity behind one company's gateway.

# %%
VERBS = ("list", "get", "create", "update", "delete")
AREAS = ("billing", "crm", "hr", "stock", "travel", "legal", "site", "lab")
KINDS = ("order", "contact", "invoice", "ticket", "report")
THINGS = [f"{area}_{kind}" for area in AREAS for kind in KINDS]


def define(verb, thing):
    words = thing.replace("_", " ")
    key = {"type": "string", "description": f"The {words} to {verb}, by its identifier."}
    fields = {"type": "object", "description": f"The fields of the {words}, by name."}
    needs = {"list": {}, "get": {"id": key}, "delete": {"id": key}, "create": {"fields": fields},
             "update": {"id": key, "fields": fields}}[verb]  # fmt: skip
    schema = {"type": "object", "properties": needs, "required": list(needs)}
    text = f"{verb.capitalize()} a {words}. Returns the {words} as JSON."
    return {"name": f"{verb}_{thing}", "description": text, "inputSchema": schema}


catalogue = [define(verb, thing) for thing in THINGS for verb in VERBS]
print(len(catalogue), "tools,", f"{tokens.catalogue_tokens(catalogue):,} tokens")

# %% [markdown]
# The other way: one tool that finds tools. It returns the definitions that match, and only those
# enter the conversation, once, as a tool's result.

# %%
finder = Server("gateway", "1.0.0")
FIND = {
    "name": "find_tools",
    "description": "Find tools by words. Returns the definitions of the best matches.",
    "inputSchema": {
        "type": "object",
        "properties": {"words": {"type": "string"}, "most": {"type": "integer", "default": 3}},
        "required": ["words"],
    },
}


@finder.tool(FIND)
def find_tools(call):
    wanted = set(call.arguments["words"].lower().split())
    ranked = sorted(catalogue, key=lambda tool: -len(wanted & set(tool["name"].split("_"))))
    best = ranked[: call.arguments.get("most", 3)]
    return text_result(dumps({"tools": best}).decode())


# %% [markdown]
# **Predict:** the person wants a travel invoice deleted. What does the model have to read now, all
# in all, in place of two hundred definitions?

# %%
with Client(MemoryTransport(finder)) as client:
    carried = client.list_tools()
    found = client.call_tool("find_tools", {"words": "delete travel invoice"})
answer = found["content"][0]["text"]
search, result = tokens.catalogue_tokens(carried), tokens.count(answer)
print("found:", [tool["name"] for tool in json.loads(answer)["tools"]])
table(
    [
        ("all 200 definitions, every turn", tokens.catalogue_tokens(catalogue)),
        ("find_tools, every turn", search),
        ("its answer, once", result),
    ],
    ["what the model reads", "tokens"],
)

# %%
share = (search + result) / tokens.catalogue_tokens(catalogue)
print(f"{share:.1%} of the whole catalogue, and one round trip more")

# %% [markdown]
# That is the mechanism behind figures like "150,000 to 2,000". It is not free: a search that does
# not find the tool is a tool that does not exist, and there is one more round trip.
#
# ## What is kept is not sent again
#
# The tokens of a catalogue are spent on every turn. Its bytes need not be: `ttlMs` says how long a
# client may keep the list. Twenty turns of a host that looks at the list each time, with a server
# that allows five minutes and one that allows nothing:


# %%
def listings(ttl_ms, turns=20):
    server = Server("catalogue", "1.0.0", list_ttl_ms=ttl_ms)
    for definition in catalogue:
        server.tool(definition)(lambda call: "done")
    with Client(MemoryTransport(server)) as client:
        for _ in range(turns):
            client.list_tools()
        return len(client.tape) // 2, sum(len(entry.payload) for entry in client.tape)


for ttl in (300_000, 0):
    requests, size = listings(ttl)
    print(f"ttlMs {ttl:>7,}: {requests:>2} requests, {size:>9,} bytes on the wire")

# %% [markdown]
# ## You saw
# - 1,307 tokens for thirteen tools, 52 for the cheapest and 235 for the costliest;
# - the same catalogue at 1,307, 1,305 and 1,082 tokens and at 7,663 bytes, each of another object;
# - five servers and a window: a share of every turn, used or not;
# - instructions: a stranger's text in the system prompt;
# - two hundred tools behind one search, and what `ttlMs` saves and what it does not.
#
# ## Your turn
# The exercise of this notebook is [Half the bill](../../exercises/ch26/08_what_a_server_costs.ipynb).
#
# Count a server that you use, tool by tool. Then shorten the description of its costliest tool until
# a colleague can no longer tell what it does. How much did you save before that point?

# %%
# Your cell.
