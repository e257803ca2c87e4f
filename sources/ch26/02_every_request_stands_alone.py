# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 2. Every request stands alone
#
# *Chapter 26, from the first command to discovery. 15 minutes to read, 10 to do.*
#
# Most pages about MCP open with this request, sent as it stands. What should a server of today
# answer?
#
# ```
# {"jsonrpc":"2.0","id":1,"method":"tools/list"}
# ```

# %% [markdown]
# ## You will
# - send that line and read the refusal;
# - write a request in full, with all that must be in it;
# - provoke each of the four refusals, and see what its `data` is for;
# - show that the server remembers nothing, on one connection and across two;
# - ask a server what it is, without a handshake.

# %%
import json
import subprocess

from mcp_bare import revision
from workbench.servers import command, open_toy
from workbench.tables import table
from workbench.tape_view import show

# %% [markdown]
# A small helper for this notebook: start the calendar, write some lines, close its input, and
# return what it wrote. One process for each call.


# %%
def ask(*requests):
    lines = b"".join(json.dumps(request).encode() + b"\n" for request in requests)
    calendar = subprocess.run(
        command("calendar_by_hand"), input=lines, capture_output=True, timeout=10
    )
    return [json.loads(line) for line in calendar.stdout.splitlines()]


ask({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})

# %% [markdown]
# Refused, with -32602: the request is malformed. Under an older revision it would have been served,
# since there the versions and capabilities were agreed once, in a handshake, and remembered. From
# this revision on MCP is stateless: what a server needs to process a request is in the request
# (`basic/index`, "Statelessness").
#
# ## The request in full
#
# What used to be in the handshake is now in `params._meta`, on every request. Two of its keys are
# required: the version of the protocol, and what the client is able to do. The third, who the
# client says it is, should be there. This is the last time that we print it in full.

# %%
full = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/list",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
            "io.modelcontextprotocol/clientInfo": {"name": "bare-hands", "version": "0.0.1"},
        }
    },
}
[answer] = ask(full)
answer["result"]["tools"][0]["name"]

# %% [markdown]
# The toolkit's client writes the same request. `message` builds it without sending:

# %%
with open_toy("calendar_by_hand", capabilities={"elicitation": {"form": {}}}, ids=[2]) as client:
    print(client.message("tools/list") == full)

# %% [markdown]
# ## The four refusals
#
# There are four things that a server must check before it does anything, and each has its own
# code. We provoke them one after another, by changing one thing at a time in a good request.


# %%
def changed(method="tools/list", params=None, **meta):
    request = json.loads(json.dumps(full))
    request["method"] = method
    request["params"] |= params or {}
    for key, value in meta.items():
        name = f"io.modelcontextprotocol/{key}"
        if value is None:
            del request["params"]["_meta"][name]
        else:
            request["params"]["_meta"][name] = value
    return request


# %% [markdown]
# **First:** a required field is missing. **Predict:** which of the three keys can go?

# %%
for key in ("protocolVersion", "clientCapabilities", "clientInfo"):
    [answer] = ask(changed(**{key: None}))
    print(f"without {key:<19}", answer.get("error", "served"))

# %% [markdown]
# `clientInfo` is for display and for logs; nobody has verified it, and a server should not base a
# decision on it. The other two are required, and -32602 says which is missing.
#
# **Second:** a version that the server does not speak. The refusal carries what a client needs in
# order to try again: `supported` is the list to choose from, `requested` is what arrived.

# %%
[answer] = ask(changed(protocolVersion="1900-01-01"))
answer["error"]

# %% [markdown]
# **Third:** the server needs something that the client did not say it can do. Creating an event
# without a start makes this server ask the person, by `elicitation`. We say that we can do nothing.

# %%
dentist = {"name": "create_event", "arguments": {"title": "Dentist"}}
[answer] = ask(changed("tools/call", dentist, clientCapabilities={}))
answer["error"]

# %% [markdown]
# `requiredCapabilities` has the shape of the capabilities object that was missing, so a client can
# compare it with what it has, or tell its author.
#
# **Fourth:** a method that does not exist.

# %%
[answer] = ask(changed("tools/invent"))
answer["error"]

# %% [markdown]
# ## In what order?
#
# A request can be wrong in more than one way. **Predict:** this one has an unknown version, lacks
# its capabilities, and names no method that there is. Which code comes back?

# %%
[answer] = ask(changed("tools/invent", protocolVersion="1900-01-01", clientCapabilities=None))
answer["error"]["code"]

# %% [markdown]
# -32602: a request that is malformed is not read any further. And a method means something only
# within a version, so the version is judged before the method. The codes and what they are called
# stand in one module, `mcp_bare.revision`, the only one in the toolkit that knows a date.

# %%
provoked = {
    -32602: "a required key of _meta is missing",
    -32022: "the version is not spoken here",
    -32021: "a capability is needed and was not declared",
    -32601: "there is no such method",
}
table(
    [(str(code), revision.CODE_NAMES[code], why) for code, why in provoked.items()],
    ["code", "name", "provoked by"],
)

# %% [markdown]
# -32020 to -32099 belong to the specification, and a server may not invent codes there
# (`basic/index`, "Error Codes"). A code from that range has a second use, which the next notebook
# lives on: no server of the older era ever sends one.
#
# ## Nothing is remembered
#
# One connection, one process, two requests. The first says that it can answer forms; the second
# says nothing of the kind. **Predict:** will the server remember?

# %%
can, cannot = {"elicitation": {"form": {}}}, {}
first = changed("tools/call", dentist, clientCapabilities=can)
second = changed("tools/call", dentist, clientCapabilities=cannot) | {"id": 3}
for answer in ask(first, second):
    print(answer["id"], answer.get("error") or answer["result"]["resultType"])

# %% [markdown]
# It must not: "Servers MUST NOT rely on prior requests over the same connection to establish
# context". Each request stood alone, and got what it asked for. That is what lets the two be
# answered by two processes, or by two machines behind a load balancer.
#
# The same rule lets unrelated requests share one pipe. Here three go out before any answer is
# read; the toolkit's client matches the answers by `id`.

# %%
with open_toy("calendar_by_hand") as client:
    sent = [
        client.start("resources/read", {"uri": "calendar://week"}),
        client.start("tools/list"),
        client.start("prompts/list"),
    ]
    for pending in reversed(sent):
        print(pending.id, pending.method, "->", ", ".join(pending.result()))

# %% [markdown]
# ## What every result carries
#
# The answers above have keys in common. `resultType` says whether the matter is finished. Lists,
# reads and discovery also say how long the answer may be kept and by whom (`ttlMs`, `cacheScope`),
# and `_meta` names the server.

# %%
[answer] = ask(full)
{key: value for key, value in answer["result"].items() if key != "tools"}

# %% [markdown]
# Five minutes, for anybody: the catalogue of this server is the same for all. The week itself is
# private, and goes stale in one.

# %%
[answer] = ask(changed("resources/read", {"uri": "calendar://week"}))
answer["result"]["ttlMs"], answer["result"]["cacheScope"]

# %% [markdown]
# The client keeps what it may keep. **Predict:** how many messages does it take to list the tools
# twice?

# %%
with open_toy("calendar_by_hand") as client:
    client.list_tools()
    client.list_tools()
    print(len(client.tape), "messages on the tape")

# %% [markdown]
# ## Asking a server what it is
#
# A client that wants to know before it asks has one method for it: `server/discover`. Calling it is
# optional. Implementing it is not.

# %%
with open_toy("calendar_by_hand") as client:
    client.discover()
show(client)

# %% [markdown]
# And the handshake? A server that speaks this revision only should name its versions in whatever
# error it gives to `initialize` (`basic/versioning`): an old client has no other way to learn
# what is wrong, and its user may see nothing but this sentence.

# %%
hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
ask({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})

# %% [markdown]
# ## You saw
# - the line that most pages open with, refused with -32602;
# - a request in full: version, capabilities and name in `_meta`, on every request;
# - four refusals: -32602, -32022 with the versions to choose from, -32021 with the capability that
#   was missing, -32601;
# - two requests on one connection that shared nothing, and three in flight on one pipe;
# - `server/discover`, optional to call and mandatory to answer.
#
# ## Your turn
# The exercise of this notebook is [Write the four refusals](../../exercises/ch26/02_the_four_refusals.ipynb).
#
# Send a request whose `clientCapabilities` is a list, `[]`, to this server, then to
# `calendar_handles`. Only one of the two refuses it. Which one is right, and what could go wrong
# with the other?

# %%
# Your cell.
