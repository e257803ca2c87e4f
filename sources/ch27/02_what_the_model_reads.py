# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 2. What the model reads
#
# *Chapter 27, from two spaces in an answer to a schema that nobody wrote. 15 minutes to read, 10 to
# do.*
#
# The same two incidents, read from two servers:
#
# ```
# ← ... "text":"[{\"id\":\"INC-1\",\"title\":\"Checkout failing in Frankfurt\", ...
# ← ... "text":"[\n  {\n    \"id\": \"INC-1\",\n    \"title\": \"Checkout failing in Frankfurt\", ...
# ```
#
# No reader of JSON sees a difference. Who pays for it?

# %% [markdown]
# ## You will
# - weigh one answer of six servers, in characters and in tokens;
# - weigh their catalogues key by key, and find the key that nobody wrote;
# - derive that schema yourself, from type hints, in a dozen lines;
# - hold the chapter's figures against today's, and see which of them cannot be had that way;
# - switch off what you do not want to send.

# %%
import inspect
import json
import sys
import typing

import pydantic
from pydantic_core import to_json

from toy_servers import incidents_sdk
from workbench import hands, tokens
from workbench.charts import stacked
from workbench.tables import table

ALL = ["bare", "typescript", "typescript-v1", "python", "python-chapter", "fastmcp"]

# %% [markdown]
# ## Two incidents
#
# Six servers, named by what they are written with: `mcp` is the official Python SDK, `server` the
# official TypeScript SDK and `sdk` the line before it, `fastmcp` a framework on top of `mcp`. The
# chapter measured `mcp` 2.1.1 and `sdk` 1.30.0.
#
# We ask each for its catalogue and for `incidents://open`, once, and keep what comes. What cannot be
# started here is played as it was recorded, and a line says so.

# %%
catalogues, bodies, replies = {}, {}, {}
for name in ALL:
    with hands.open(name, or_tape=True) as client:
        catalogues[name] = client.list_tools()
        bodies[name] = client.read_resource("incidents://open")["contents"][0]["text"]
        replies[name] = client.call_tool("search_incidents")
print(bodies["typescript"], bodies["python"], sep="\n\n")

# %% [markdown]
# **Predict:** the second text is 49 characters longer. How many tokens is that?

# %%
CHAPTER = {"typescript-v1": (136, 37), "python-chapter": (185, 62)}
table(
    [
        (hands.hand(name).label, len(text), tokens.count(text), *CHAPTER.get(name, ("", "")))
        for name, text in bodies.items()
    ],
    ["server", "characters", "tokens", "the chapter's characters", "its tokens"],
)

# %% [markdown]
# 62 tokens for what fits in 37: two thirds more, on every read, by everyone who puts the resource
# into a prompt. The chapter did not print its two rows; ours are made to be of the same size. What
# could not be chosen is the difference. The Python SDK writes resources, tool results and prompts with
# `pydantic_core.to_json(..., indent=2)`. We do the same, and then ask which lists would have grown by
# just 49 characters:

# %%
rows = json.loads(bodies["typescript"])
ours = to_json(rows, fallback=str, indent=2).decode()
print(ours == bodies["python"])
sizes = {
    (count, keys): len(json.dumps(x, indent=2)) - len(json.dumps(x, separators=(",", ":")))
    for count in range(1, 9)
    for keys in range(1, 9)
    for x in [[dict.fromkeys("abcdefgh"[:keys])] * count]
}
for count, keys in (shape for shape, more in sizes.items() if more == 49):
    print(f"49 more characters: rows {count}, keys {keys}")

# %% [markdown]
# Three shapes, and one of them has two rows: three keys each, like ours. That much of the chapter's
# log can be read off its figure.
#
# The remedy is one line: hand the SDK a text, and it leaves it alone.

# %%
SMALL = """
import json
from mcp.server import MCPServer
from toy_servers.incidents_sdk import OPEN
server = MCPServer("small")
@server.resource("incidents://open")
def compact() -> str:
    return json.dumps(OPEN, separators=(",", ":"))
server.run()
"""
env = {**hands.servers.bare_environment(), "PYTHONPATH": str(hands.node.ROOT)}
with hands.connect([sys.executable, "-c", SMALL], env) as client:
    text = client.read_resource("incidents://open")["contents"][0]["text"]
print(len(text), "characters,", tokens.count(text), "tokens")

# %% [markdown]
# ## The catalogue, key by key
#
# A resource is read when somebody wants it. The catalogue is read on every turn. We weigh each key
# of the three tools on its own: the tokens of `json.dumps` of its value.

# %%
KEYS = ("name", "description", "annotations", "inputSchema", "outputSchema")


def weigh(tools):
    parts = {key: sum(tokens.count_json(t[key]) for t in tools if key in t) for key in KEYS}
    more = [{key: value for key, value in tool.items() if key not in KEYS} for tool in tools]
    return {**parts, "other": sum(tokens.count_json(each) for each in more if each)}


weighed = {hands.hand(name).label: weigh(tools) for name, tools in catalogues.items()}
stacked(weighed, "tokens (o200k_base)", "Three tools, in six hands")

# %% [markdown]
# Name, description and annotations are the same words everywhere. The input schemas differ: each SDK
# adds something of its own to the 134 tokens that we wrote. And one colour is in three rows alone,
# those of `mcp` and of `fastmcp`.
#
# ## A schema that nobody wrote
#
# `resolve_incident` is annotated `-> Resolved`. The SDK reads that, too, and ships a schema of what the
# tool returns. This is it:

# %%
[resolve] = [tool for tool in catalogues["python"] if tool["name"] == "resolve_incident"]
print(json.dumps(resolve["outputSchema"], indent=1))

# %% [markdown]
# **Predict:** the chapter counted 187 tokens for one such schema. How many is this one, with four
# fields, and how many are all three?

# %%
outputs = {t["name"]: tokens.count_json(t["outputSchema"]) for t in catalogues["python"]}
for name, count in outputs.items():
    print(f"{name:<17} {count:>4}")
print(f"{'all three':<17} {sum(outputs.values()):>4}")

# %% [markdown]
# Every return annotation makes a schema, and one of four fields is far from 187. How many fields
# would it take?


# %%
def output_of(fields):
    """The schema that the SDK derives for a return type with so many text fields."""
    names = ["id", "title", "severity", "cause", "owner", "service", "region", "opened", "closed"]
    model = pydantic.create_model("Incident", **dict.fromkeys(names[:fields], (str, ...)))
    return model.model_json_schema()


{fields: tokens.count_json(output_of(fields)) for fields in range(3, 10)}

# %% [markdown]
# More than nine, or several tools that are annotated. The chapter's sentence, one schema of 187 tokens
# from one `-> Incident`, does not hold for an incident of three or four fields. Its point does: this
# came into the context because of a type hint.
#
# ## Where it comes from
#
# There is no magic in it. The interpreter keeps a function's hints, and `pydantic` turns types into
# JSON Schema. A dozen lines:


# %%
def derive(function):
    """The input and output schema of a function, from its signature."""
    hints = typing.get_type_hints(function, include_extras=True)
    returns = hints.pop("return")
    arguments = {
        name: (hints[name], ... if one.default is one.empty else one.default)
        for name, one in inspect.signature(function).parameters.items()
    }
    model = pydantic.create_model(f"{function.__name__}Arguments", **arguments)
    return model.model_json_schema(), pydantic.TypeAdapter(returns).json_schema()


mine = derive(incidents_sdk.resolve_incident)
print(mine == (resolve["inputSchema"], resolve["outputSchema"]))

# %% [markdown]
# The same, to the last key. Now we know who wrote the `title`s: pydantic makes one of every name. They
# go to the model as well.
#
# ## What else is stamped on a tool
#
# The TypeScript SDK has no type hints to read, for types are gone when the program runs. It converts
# the schema value, and the conversion leaves marks. **Predict:** which keys at the top of an input
# schema did we not write?

# %%
WRITTEN = {"type", "properties", "required"}
rows = []
for name, tools in catalogues.items():
    stamps = {key for tool in tools for key in set(tool["inputSchema"]) - WRITTEN}
    plain = [{k: t["inputSchema"][k] for k in WRITTEN & set(t["inputSchema"])} for t in tools]
    extra = sum(tokens.count_json(t["inputSchema"]) for t in tools) - sum(
        map(tokens.count_json, plain)
    )
    beside = {key for tool in tools for key in set(tool) - set(KEYS)}
    rows.append((hands.hand(name).label, " ".join(sorted(stamps)), extra, " ".join(sorted(beside))))
table(rows, ["server", "at the top of the input schemas", "tokens", "new keys of the tool"])

# %% [markdown]
# The chapter's SDK stamped `$schema` and `additionalProperties` on every schema, and `execution` on
# every tool, which the chapter's account leaves out. Today's has `$schema` alone. (The `title`s further
# down, one for each argument, are in the chart: `mcp` sends 192 tokens of input schemas in all, today's
# TypeScript SDK 188.)
#
# ## The chapter's arithmetic
#
# Now the gap. The chapter: Python's catalogue is 138 tokens heavier; its input schemas save 49, its
# output schema costs 187. Two of its three tools were not printed, so we cannot have its numbers; we
# can have its sum.

# %%
old, new = weigh(catalogues["typescript-v1"]), weigh(catalogues["python-chapter"])
today_ts, today_py = weigh(catalogues["typescript"]), weigh(catalogues["python"])
parts = {
    "output schemas": lambda ts, py: py["outputSchema"] - ts["outputSchema"],
    "input schemas": lambda ts, py: py["inputSchema"] - ts["inputSchema"],
    "execution": lambda ts, py: py["other"] - ts["other"],
    "Python against TypeScript": lambda ts, py: sum(py.values()) - sum(ts.values()),
}
chapter = ("+187", "-49", "", "+138")
table(
    [
        (what, told, f"{gap(old, new):+}", f"{gap(today_ts, today_py):+}")
        for (what, gap), told in zip(parts.items(), chapter, strict=True)
    ],
    ["in tokens", "the chapter", "its pins, measured here", "today's"],
)

# %% [markdown]
# The direction holds: the output schemas cost more than everything else saves. The chapter's 49 tokens
# of savings are 39 here, and most of them are not input schemas: they are `execution`, for which the
# chapter's sum has no place. With today's packages nothing is saved at all.
#
# ## What the schema is good for
#
# It lets a client check `structuredContent` before it believes it. That content is sent beside a text
# that says the same: the specification asks for both (a SHOULD), so that a client which knows only
# text can read it (`server/tools`, "Structured Content"). **Predict:** which of the six answer a search
# twice, and what does that cost?

# %%
rows = []
for name, reply in replies.items():
    text = tokens.count(reply["content"][0]["text"])
    again = tokens.count_json(reply["structuredContent"]) if "structuredContent" in reply else 0
    rows.append((hands.hand(name).label, text, again, text + again))
table(rows, ["server", "as text", "as structuredContent", "both"])

# %% [markdown]
# Which of the two the model reads is for the host to say. Our server by hand sends both as well, and no
# schema, which is allowed. The TypeScript ones send what their tool returned, and ours returns text.
#
# ## Off
#
# The chapter does not say that the Python SDK can be told not to: `structured_output=False`, tool by
# tool. Here are the same three functions, registered so (and without annotations):

# %%
OFF = """
from mcp.server import MCPServer
from toy_servers import incidents_sdk as sdk
server = MCPServer("off")
for tool in (sdk.search_incidents, sdk.open_incident, sdk.resolve_incident):
    server.tool(structured_output=False)(tool)
server.run()
"""
with hands.connect([sys.executable, "-c", OFF], env) as client:
    listed, reply = client.list_tools(), client.call_tool("search_incidents")
print("keys of a tool:", sorted({key for tool in listed for key in tool}))
print("keys of an answer:", sorted(set(reply) - {"_meta", "resultType"}))
then, now = (weigh(tools)["inputSchema"] for tools in (catalogues["python"], listed))
print("input schemas:", then, "tokens before,", now, "now")
print("saved on every turn:", sum(outputs.values()), "tokens")

# %% [markdown]
# Is it worth it? A model that plans several calls ahead may want to know what will come back. A tool
# whose answer is one sentence needs no schema. Decide tool by tool; the default decides for all of
# them.
#
# ## You saw
# - the same two rows at 37, 48 and 62 tokens, for spaces alone;
# - name, description and annotations alike in six hands, and one key that three of them add;
# - that key derived by hand, equal to the SDK's;
# - 187 tokens that cannot be one small return type, and a gap whose direction holds;
# - an answer that is sent twice, and the switch.
#
# ## Your turn
# Take a function of your own, with hints for its arguments and its return, and `derive` it. Then
# shorten: how many tokens (`tokens.count_json`) does a `Literal` cost against a sentence that lists
# the values?

# %%
# Your cell.
