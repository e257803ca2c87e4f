# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 12. Dates and deprecations
#
# *Chapter 26, from the revisions to MCP, A2A and ACP. 15 minutes to read, 10 to do.*
#
# A blog post shows this and calls it "how MCP works". When was it written?
#
# ```
# ← {"jsonrpc":"2.0","id":"s1","method":"elicitation/create","params":{"message":"Which day?", ...}}
# ```
#
# A server sends a request to a client. By the end you can date that to a year.

# %% [markdown]
# ## You will
# - read a revision's date as what it is, and see five of them on one line;
# - do one task in two eras, on one server, and compare the wire;
# - look up what is deprecated, and from when on it may be gone;
# - date five snippets by what they use;
# - put MCP, A2A, ACP and "an API" in one table.

# %%
from mcp_bare import revision
from mcp_bare.client import Client
from mcp_bare.tape import Tape
from workbench import dating
from workbench.charts import spans
from workbench.reference import handshake
from workbench.servers import python_sdk
from workbench.tables import table
from workbench.tape_view import show

# %% [markdown]
# ## A date, not a number
#
# A revision is named `YYYY-MM-DD`: the day of the last change that older code cannot understand.
# No semantic versions, no promises in the name. Two of our constants hold all of them:

# %%
print("modern:", *revision.MODERN)
print("legacy:", *revision.LEGACY)

# %% [markdown]
# "Modern" means that every request carries its own metadata; "legacy", that a connection opens with
# `initialize`. **Predict:** of the fifteen features in this chart, how many exist in the current
# revision and in no earlier one?

# %%
spans(
    [(what, first, last) for what, first, last in revision.FEATURES],
    ticks=tuple(reversed((*revision.MODERN, *revision.LEGACY))),
    title="What came and went",
)

# %%
news = [what for what, first, _ in revision.FEATURES if first == revision.CURRENT]
gone = [what for what, _, last in revision.FEATURES if last == revision.LEGACY[0]]
print("only in the current revision:", *news, sep="\n  ")
print("not in it any more:", *gone, sep="\n  ")

# %% [markdown]
# Read that twice. Most of what was written about MCP describes the second list: a handshake, a
# session, requests from the server. When you read anything about MCP, this page included, the
# first thing to look for is a date.
#
# ## One task, two eras
#
# The official Python SDK's server serves both. We call its tool in each and keep the tapes. First
# the era of today:

# %%
modern = Tape()
dentist = {"title": "Dentist", "startsAt": "2026-09-10T08:30:00Z"}
with Client(python_sdk("sdk_modern")(), tape=modern) as client:
    client.call_tool("create_event", dentist)
show(modern, ids=True)

# %% [markdown]
# Then the same call as a client of revision 2025-11-25 makes it. **Predict:** how many messages
# before the answer is there?

# %%
legacy = Tape()
with handshake(python_sdk("sdk_legacy"), {}, legacy) as client:
    client.call_tool("create_event", dentist)
show(legacy, ids=True)

# %% [markdown]
# Five messages where two did it, and the first three are remembered: the server knows from then on
# which version this *connection* speaks and what its client can do. Lose the connection and you
# lose that.

# %%
rows = []
for name, tape in (("2026-07-28", modern), ("2025-11-25", legacy)):
    sizes = [len(entry.payload) for entry in tape]
    rows.append((name, len(tape), sum(sizes), sum(sizes[-2:])))
table(rows, ["revision", "messages", "bytes in all", "bytes of each call and its answer"])

# %% [markdown]
# The price of statelessness is in the last column: each call carries what the handshake said once,
# so from the second call on, over one connection, the old way sends fewer bytes. It just cannot be
# spread over two machines.
#
# ## Deprecated is a date
#
# Since this revision a feature is Active, Deprecated or Removed. What is deprecated says how to
# migrate, and stays for at least twelve months; a registry lists all of it. Before that,
# "deprecated" in an AI protocol was whatever the last blog post said.

# %%
table(
    [(d["feature"], d["since"], d["earliestRemoval"]) for d in revision.DEPRECATED],
    ["feature", "deprecated in", "removed not before"],
)

# %%
spans(
    [
        (d["feature"], d["since"], d["earliestRemoval"])
        for d in revision.DEPRECATED
        if d["earliestRemoval"][:2] == "20"
    ],
    ticks=(revision.CURRENT, "2027-07-28"),
    title="Deprecated now, and the earliest day on which it may be gone",
)

# %% [markdown]
# "Not before" is not "on". After that day a revision may leave the feature out, and until one does
# it works. HTTP+SSE has a shorter clock than the rest: it was on its way out before the policy.
#
# ## Date these
#
# Five snippets of our own making, shortened; where one would name its own version, that is left out.
# For each, say the first and the last revision in which all of it is possible. The chart above has
# what you need.

# %%
for name, snippet in dating.SNIPPETS.items():
    print(f"{name}\n{snippet.text}\n")

# %% [markdown]
# Fill in what you are sure of; the check says where to look, and leaves the date to you. The line
# from the top of this page is not among them: which features does it use?

# %%
answers = {
    # "A": ("2024-11-05", "2026-07-28"),
}
dating.check(answers)

# %% [markdown]
# ## What else has three letters
#
# | | what is at the other end | who speaks it | what it fixes |
# |---|---|---|---|
# | an API | one program | its own clients | nothing: you design all of it |
# | MCP | a server with tools, resources, prompts | any host | names of methods, discovery, who decides, isolation |
# | A2A | another agent, with its own plan and memory | agents | how a task is handed over and followed |
# | ACP (Agent Communication Protocol) | another agent | nobody new: it is now part of A2A | |
# | ACP (Agent *Client* Protocol) | a coding agent | editors | how an editor drives an agent |
#
# MCP and A2A do not compete: an application reaches another agent by A2A, and that agent reaches
# its tools by MCP. "MCP or ACP?" has a premise that expired, and since then the same three letters
# also name something else, so ask which one is meant.
#
# MCP *is* an API. You give up the freedom to design your own interface and get every host that
# speaks the protocol: the trade that every protocol has ever offered.

# %% [markdown]
# ## You saw
# - five revisions, and what each brought and took;
# - one call in two eras: five messages with a memory, or two without one;
# - the registry: from when on a feature *may* be gone;
# - that a snippet can be dated by what it uses;
# - where MCP ends and another protocol begins.
#
# ## Your turn
# Take the last three things that you read about MCP and write the span of revisions beside each.
# How many of them name a date themselves?

# %%
# Your cell.
