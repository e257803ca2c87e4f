# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 10. Three replicas, no session
#
# *Chapter 27, a handle that presumes no process, with chapter 26's mistake behind a load balancer.
# 12 minutes to read, 8 to do.*
#
# A person created an event and was told so. Then they looked at the week, three times in a row:
#
# ```
# 2 events
# 2 events
# 3 events
# ```
#
# Nobody deletes anything. Nobody is being lied to by a cache, either.

# %% [markdown]
# ## You will
# - start three copies of a server and put a front before them that remembers nobody;
# - find the event again, one time in three;
# - put the calendar with handles in their place, and find everything, every time;
# - begin a question on one copy and answer it on another;
# - break it on purpose, by giving each copy a key of its own.

# %%
import contextlib
import json
import secrets
import tempfile
from collections import Counter

from mcp_bare import elicitation
from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse
from mcp_bare.streamable_http import HttpTransport
from toy_servers.front import Front
from workbench.charts import bars
from workbench.replicas import replicas
from workbench.tables import table

# %% [markdown]
# ## A front that remembers nobody
#
# One server is a toy. A service has several copies, and a front that hands each request to the next
# one. In the older era that needed a session: every request of a client had to reach the copy that
# had shaken hands with it. In this one nothing in the protocol asks for that. `toy_servers/front.py`
# is a page long: it counts to three, over and over. (The tests put nginx in its place, with the same
# results; ours can tell which copy it went to.)
#
# `three` starts three copies, the front, and one client that knows only the front.

# %%
FORMS = {"elicitation": {"form": {}}}


@contextlib.contextmanager
def three(name, env=None):
    with (
        replicas(name, 3, env) as urls,
        Front(urls) as front,
        Client(HttpTransport(front.url), capabilities=FORMS) as client,
    ):
        yield client, front


# %% [markdown]
# First the calendar that we know: a list in the module. Three processes, one address.

# %%
with three("calendar_forgetful") as (client, front):
    client.call_tool("create_event", {"title": "Dentist", "startsAt": "2026-09-10T08:30:00Z"})
    seen = []
    for _ in range(3):
        week = client.read_resource("calendar://week", refresh=True)
        seen.append(len(json.loads(week["contents"][0]["text"])))
    taken = list(front.taken)
print("events seen, in three looks:", seen)
print("answered by copy:           ", taken)

# %% [markdown]
# The event is on copy 0. Copies 1 and 2 have never heard of it, and they are not wrong: "a server
# must not treat connection or process identity as a proxy for conversation". **Predict:** of thirty
# looks, how many miss the event?

# %%
with three("calendar_forgetful") as (client, front):
    client.call_tool("create_event", {"title": "Dentist", "startsAt": "2026-09-10T08:30:00Z"})
    looks = Counter()
    for _ in range(30):
        week = client.read_resource("calendar://week", refresh=True)
        looks["Dentist" in week["contents"][0]["text"]] += 1
in_the_list = looks[True]
print("found", in_the_list, "times, missed", looks[False], "times")

# %% [markdown]
# Twenty. On one copy, in every test that its author ran, it was none. This is how a list in a module
# gets through: it fails only where there is more than one of it.
#
# And it does worse than to forget. Each copy counts its own events. **Predict:** two people create
# an event each. What are the two called?

# %%
with three("calendar_forgetful") as (client, front):
    for title in ("Dentist", "Lunch", "Concert"):
        event = {"title": title, "startsAt": "2026-09-10T12:00:00Z"}
        made = client.call_tool("create_event", event)
        print(made["content"][0]["text"])

# %% [markdown]
# All three are `e3`. A name that was minted in a process is a name in that process only.

# %% [markdown]
# ## The same with handles
#
# `calendar_handles` keeps its events in a file that the copies share, and its questions in the
# messages. What the copies share is told to them from outside: the file, and the key that seals.

# %%
folder = tempfile.TemporaryDirectory()
shared = {
    "CALENDAR_DB": f"{folder.name}/calendar.sqlite3",
    "CALENDAR_STATE_KEY": secrets.token_hex(16),
}

with three("calendar_handles", shared) as (client, front):
    handle = client.call_tool("create_calendar")["structuredContent"]["calendar"]
    for title in ("Dentist", "Lunch", "Concert"):
        event = {"calendar": handle, "title": title, "startsAt": "2026-09-10T12:00:00Z"}
        made = client.call_tool("create_event", event)
        print(made["content"][0]["text"])
    looks = Counter()
    for _ in range(30):
        week = client.read_resource(f"calendar://{handle}/week", refresh=True)
        looks[len(json.loads(week["contents"][0]["text"]))] += 1
print("events seen, and how often:", dict(looks))

# %% [markdown]
# e1, e2, e3, whichever copy minted them, and three events in every look.

# %%
bars(
    {"a list in the module": in_the_list, "a handle": looks[3]},
    unit="looks out of 30 that found the event",
    title="Three copies behind one address",
)

# %% [markdown]
# ## A question that changes hands
#
# Now the hard case. The server asks back: the question comes from one copy, and the answer will
# reach another. **Predict:** which copies?

# %%
with three("calendar_handles", shared) as (client, front):
    params = {"name": "create_event", "arguments": {"calendar": handle, "title": "Board"}}
    asked = client.request("tools/call", params)
    yes = {"when": elicitation.accept({"startsAt": "2026-09-11T09:00:00Z"})}
    done = client.retry("tools/call", params, asked, yes)
    taken = list(front.taken)
print(asked["inputRequests"]["when"]["params"]["message"], "-> copy", taken[0])
print(done["content"][0]["text"], "-> copy", taken[1])

# %% [markdown]
# Copy 1 had never seen the question. It had the sealed state, which came with the answer, and the
# key. No session was kept, and none was missed.
#
# ## Without the shared key
#
# What if each copy makes up its own key when it starts? That is what the official Python SDK does
# unless it is told otherwise. **Predict:** the same exchange.

# %%
unshared = {"CALENDAR_DB": shared["CALENDAR_DB"], "CALENDAR_STATE_KEY": ""}
with three("calendar_handles", unshared) as (client, front):
    asked = client.request("tools/call", params)
    try:
        client.retry("tools/call", params, asked, yes)
    except ErrorResponse as refusal:
        print("the next copy:    ", refusal)
    client.list_tools()  # one request goes by, so that the first copy has its turn again
    done = client.retry("tools/call", params, asked, yes)
    print("the copy that asked:", done["content"][0]["text"], "| copies", list(front.taken))

# %% [markdown]
# The seal is good, and the key is somewhere else. With one copy it works, after a restart it does
# not, and with three it works one time in three: a bug that looks like bad luck. A secret that
# several processes need is configuration, like the address of a database.
#
# ## What may be kept in a process
#
# Not everything has to move out. The rule is in the question "may another copy answer the next
# request?"

# %%
table(
    [
        ("a catalogue that is the same for all", "yes", "every copy has it"),
        ("a cache of what can be fetched again", "yes", "a miss costs time, not truth"),
        ("an open subscription", "yes", "it is one request, and ends with its stream"),
        ("what a call created", "no", "a handle, and a store that is shared"),
        ("a question that waits for its answer", "no", "a sealed state, and a key that is shared"),
        ("who the caller is", "no", "a token, on every request"),
    ],
    ["what", "in a process?", "because"],
)

# %%
folder.cleanup()

# %% [markdown]
# ## You saw
# - three copies of a list, and an event found one time in three;
# - the same name given out three times;
# - a handle and a shared store: thirty looks, thirty finds;
# - a question asked by one copy and answered at another, with no session anywhere;
# - a key for each copy, and a bug that looks like chance.
#
# ## Your turn
# Start the incident log of this chapter three times behind the front, with one file and then with a
# file each. Which of its handles are still right, and which are right for somebody else?

# %%
# Your cell.
