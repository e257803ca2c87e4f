# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 3. Which era is this?
#
# *Chapter 26, from "the command worked" to the legacy servers that serve what they should refuse.
# 18 minutes to read, 12 to do.*
#
# We asked a server for revision 2026-07-28 and got this. Does it speak it?
#
# ```
# ← {"protocolVersion":"2025-11-25","capabilities":{...},"serverInfo":{...}}
# ```
#
# The tempting answer is no. The right answer is that this line does not tell.

# %% [markdown]
# ## You will
# - probe the published reference server as the specification says, and read the third branch;
# - fall back to its handshake, in a fresh process;
# - list its tools without any handshake, and count them again and again with other results;
# - see a server that speaks the current revision answer `initialize` exactly like one that does not;
# - let `era.connect` do all this, against servers that make it hard.

# %%
from mcp_bare import era, revision
from mcp_bare.client import CLIENT_INFO, Client
from mcp_bare.errors import ErrorResponse
from mcp_bare.stdio import StdioTransport
from workbench.reference import CHANGED, tools_by_claim, wait_for
from workbench.servers import command, everything, python_sdk
from workbench.tables import table
from workbench.tape_view import show

LEGACY = revision.LEGACY[0]

# %% [markdown]
# ## Why ask at all?
#
# There are two eras. In the *modern* one every request carries its version and capabilities; in the
# *legacy* one a connection opens with `initialize`, and what is said there is remembered. A client
# that speaks to the world must find out which era a server is of, before it sends anything that
# both eras would read, and read differently.
#
# ## The probe
#
# `server/discover` exists in one era only, so it is the question to ask
# (`basic/transports/stdio`, "Backward Compatibility"). We put it to the official reference server,
# npm `@modelcontextprotocol/server-everything`, version 2026.8.31, published a month after this
# revision. **Predict:** what does it say?

# %%
with Client(everything("everything_probe")()) as client:
    try:
        client.discover()
    except ErrorResponse as refusal:
        print(refusal)

# %% [markdown]
# "Method not found". The rule for reading an answer has three branches, and this is the third:
#
# | the answer | the server is | so |
# |---|---|---|
# | a `DiscoverResult` | modern | choose one of its `supportedVersions`, go on |
# | an error that only this era has, such as -32022 | modern, of another version | choose one of its `supported`; do not fall back |
# | anything else: any other error, silence, an exit | legacy | a fresh process, and `initialize` |
#
# The third branch must not be tied to one code: a legacy server may answer an unknown method with
# whatever it likes, or not at all.
#
# ## The handshake, asked for today
#
# So it is legacy. We open the connection as that era does, and ask for the current revision.

# %%
wanted = {"protocolVersion": revision.CURRENT, "capabilities": {}, "clientInfo": CLIENT_INFO}
with Client(everything("everything_initialize")(), version=LEGACY) as client:
    opened = client.request("initialize", wanted)
print("asked for: ", wanted["protocolVersion"])
print("answered:  ", opened["protocolVersion"])
print("server:    ", opened["serverInfo"]["name"], opened["serverInfo"]["version"])
print("can do:    ", ", ".join(opened["capabilities"]))

# %% [markdown]
# It settled on 2025-11-25. The chapter concludes from this line that the server does not speak the
# current revision. The conclusion is true, and it does not follow.
#
# ## The same line from a server that does
#
# The official Python SDK, version 2.3.0, speaks the current revision. First the proof, by
# `server/discover`:

# %%
with Client(python_sdk("sdk_discover")()) as client:
    print(client.discover()["supportedVersions"])

# %% [markdown]
# **Predict:** the same server gets `initialize`, asked for 2026-07-28. What does it settle on?

# %%
with Client(python_sdk("sdk_initialize")(), version=LEGACY) as client:
    opened = client.request("initialize", wanted)
print("asked for: ", wanted["protocolVersion"])
print("answered:  ", opened["protocolVersion"])

# %% [markdown]
# On 2025-11-25, like the other one. `initialize` belongs to the legacy era and can only ever settle
# on a legacy version. It says nothing about the modern era; only `server/discover` does. The same
# goes for a constant called `LATEST_PROTOCOL_VERSION` in some package.
#
# And our own server, which speaks the current revision only, and says so to whoever opens with a
# handshake:

# %%
with Client(StdioTransport(command("calendar_handles")), version=LEGACY) as client:
    try:
        client.request("initialize", wanted)
    except ErrorResponse as refusal:
        print(refusal.code, refusal.data)

# %% [markdown]
# The version was right; the handshake is what is gone. So it answers with an error that only this
# era has, and lists what it speaks: an old client can show that to its user, and a client of both
# eras that took it for an old server learns better.
#
# ## Why a probe, and not the first real request?
#
# Because of this. We send the reference server a bare `tools/list`, with no handshake before it and
# no `_meta` in it. Neither era allows that. **Predict:** how many tools come back?

# %%
with Client(everything("everything_bare")(), version=LEGACY) as client:
    early = client.list_tools()
print(len(early), "tools")

# %% [markdown]
# Twelve. A request that should have been refused was served, under rules that nobody had agreed on.
# A probe fails in a way that can be relied on; this succeeds in a way that cannot.
#
# The chapter has thirteen here. **Predict:** which single message brings the thirteenth?

# %%
with Client(everything("everything_initialized")(), version=LEGACY) as client:
    client.notify("notifications/initialized")
    wait_for(client, CHANGED)
    later = client.list_tools()
print(len(later), "tools; new:", *{t["name"] for t in later} - {t["name"] for t in early})

# %% [markdown]
# A notification, after which the server registers one tool more. So the same list depends on what
# was said before on the same connection, which this revision forbids. It depends on the client's
# capabilities as well, as told in the handshake:

# %%
offered = tools_by_claim(everything("everything_claims"))
rows = [(claim, len(names)) for claim, names in offered.items()]
table(rows, ["what the client claims it can do", "tools it is offered"])

# %% [markdown]
# So how many tools has the reference server? 12 without a handshake, 13 after a bare one, 17 for a
# client with roots, sampling and elicitation, 19 with tasks as well. Each answer is right, and an
# article that names one of them should name what it had said before it asked.
#
# ## All of it in one call
#
# `era.connect` takes a way to open a connection, not a connection: for the third branch it needs a
# fresh process, since the first has already heard a question it did not understand. It returns a
# client that speaks the server's era, and the verdict with its evidence.

# %%
client, verdict = era.connect(everything("everything_probe"))
with client:
    wait_for(client, CHANGED)
    print(verdict.era, "|", verdict.why, "|", client.version)
    print(len(client.list_tools()), len(client.list_resources()), len(client.list_prompts()))

# %% [markdown]
# 13 tools, 7 resources, 4 prompts: the chapter's figures, after a whole handshake. The beginning of
# that tape, with the probe, the fallback and the answers:

# %%
show(client, clip=300)

# %% [markdown]
# ## Servers that make it hard
#
# Legacy servers were written before there was a probe, and react to it in their own ways. `rude`
# can do them all. **Predict:** for which of these does waiting take longest, and what should a
# client do about it?

# %%
hard = [
    "no-fault",
    "legacy",
    "legacy-32602",
    "legacy-silent",
    "exit-at-discover",
    "modern-other-version",
]


def verdict_on(fault):
    try:
        client, verdict = era.connect(
            lambda: StdioTransport(command("rude", fault)), probe_timeout=1.0
        )
    except Exception as refusal:
        return "nothing in common", type(refusal).__name__
    with client:
        return f"{verdict.era}, {client.version}", verdict.why


# %%
table([(fault, *verdict_on(fault)) for fault in hard], ["the server", "verdict", "evidence"])

# %% [markdown]
# Silence is an answer, after a time that you choose. An exit is one at once: nobody waits for a
# process that has gone. And the last row is the second branch: an error that only this era has
# means that the server is modern, so there is nothing to fall back to, only a version to choose.
#
# ## From a terminal
#
# The same, for any command that starts a server:
#
# ```
# python -m mcp_bare probe -- npx @modelcontextprotocol/server-everything stdio
# ```
#
# The verdict belongs to the server, not to a request: keep it for as long as the process lives, and
# ask again when something stops working.

# %% [markdown]
# ## You saw
# - -32601 to `server/discover`: the third branch, whatever the code;
# - a fallback in a fresh process, settled on 2025-11-25;
# - 12, 13, 17 and 19 tools, from one server;
# - two servers, one of this era and one not, with the same answer to `initialize`;
# - six servers and their verdicts, with silence and an exit among the evidence.
#
# ## Your turn
# The exercise of this notebook is [Probe an era](../../exercises/ch26/03_probe_an_era.ipynb).
#
# Probe a server that you use. Which branch is it, and what is its evidence? Then look at its
# documentation: does it name a revision?

# %%
# Your cell.
