# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 11. Streams of change
#
# *Chapter 26, what long calls and changing lists look like on a pipe. 15 minutes to read, 10 to do.*
#
# A request went out with the id 1. Three messages came back before its answer did, and none of
# them has an id:
#
# ```
# ← notifications/progress {"progressToken":1,"progress":1,"total":3}
# ← notifications/tools/list_changed
# ← notifications/resources/updated {"uri":"weather://now"}
# ```
#
# Whose are they?

# %% [markdown]
# ## You will
# - ask for progress, and see why nothing comes if you do not;
# - run a slow and a quick request on one pipe, and see who is answered first;
# - cancel a call in the middle, and time one out, with nothing lost for the next;
# - listen for changes, and tell two subscriptions apart;
# - watch a kept list go stale the moment a change is announced.

# %%
import threading

from mcp_bare import revision
from mcp_bare.errors import RequestTimeout
from workbench.servers import open_toy
from workbench.tape_view import show
from workbench.timeline import timeline

# %% [markdown]
# `toy_servers/changing.py` counts slowly, learns new tools and changes its weather. The client of
# this notebook stays open from here to the end; all that follows goes over one pipe.

# %%
client = open_toy("changing")

# %% [markdown]
# ## Progress, if you ask
#
# A client that wants to hear of progress puts a `progressToken` into `_meta`: a string or an
# integer that no other active request has (`basic/patterns/progress`). The toolkit takes the
# request's own id. **Predict:** we count to three without a token, then with one. How many
# messages come back each time?

# %%
mark = len(client.tape)
client.call_tool("count", {"to": 3})
show(client.tape.since(mark))

# %%
mark = len(client.tape)
client.call_tool("count", {"to": 3}, on_progress=lambda note: print(note["message"]))
show(client.tape.since(mark), ids=True)

# %% [markdown]
# The notifications have no id, since nobody may answer them. The token says which request they
# belong to. `progress` has to grow with each one; `total` may be missing where it is not known.
#
# ## Two on one pipe
#
# A pipe is no queue of one. **Predict:** a slow count goes out first, a quick read second. Which
# answer comes first?

# %%
mark = len(client.tape)
slow = client.start("tools/call", {"name": "count", "arguments": {"to": 2, "pause": 0.4}})
quick = client.start("resources/read", {"uri": "weather://now"})
print(quick.result()["contents"][0]["text"], "| slow one done:", slow.done())
print(slow.result()["content"][0]["text"])
timeline(client.tape.since(mark))

# %% [markdown]
# Each bar is a request, from the message that opens it to the message that answers it; time runs
# to the right, a step for each message on the wire. The quick one opened later and closed first.
#
# ## Changing your mind
#
# To give up a request on stdio a client sends `notifications/cancelled` with its id. The server
# should stop, and must not send anything more for it (`basic/patterns/cancellation`). We cancel as
# soon as the first step is reported.

# %%
mark = len(client.tape)
first_step = threading.Event()
counting = client.start(
    "tools/call",
    {"name": "count", "arguments": {"to": 1000, "pause": 0.5}},
    on_progress=lambda note: first_step.set(),
)
first_step.wait(10)
counting.cancel("that will do")
timeline(client.tape.since(mark))

# %% [markdown]
# There is no answer to a cancelled request, and none is missing: the bar ends with the
# cancellation. An answer that was on its way already is dropped when it arrives.
#
# ## Out of time
#
# A timeout is a cancellation by the clock. The classic mistake is to give up waiting and to take
# the next line for the answer to the next request: from then on every answer belongs to the call
# before. **Predict:** after this timeout, what does the next call return?

# %%
try:
    client.call_tool("count", {"to": 1000, "pause": 0.5}, timeout=0.7)
except RequestTimeout as late:
    print(type(late).__name__, late.method)
print(client.call_tool("count", {"to": 1})["content"][0]["text"])

# %% [markdown]
# Answers are matched by exact id, so nothing shifts. The pipe goes on as if nothing had happened.
#
# ## Listening
#
# Change is announced to those who asked for it. `subscriptions/listen` is a request whose answer
# is held back: first an acknowledgement, then notifications, for as long as it is open. It replaced
# `resources/subscribe` and, over HTTP, a separate stream. We ask for two kinds of news, one of
# which this server does not have.

# %%
mark = len(client.tape)
news = []
tools = client.listen({"toolsListChanged": True, "promptsListChanged": True}, news.append)
print("agreed:", tools.agreed)

# %% [markdown]
# The acknowledgement lists what the server will honour: it has no prompts, so there will be no
# news of them. A client compares, and does not wait for what will never come. Now a second
# subscription, for one resource:

# %%
weather = client.listen({"resourceSubscriptions": ["weather://now"]}, news.append)
client.call_tool("learn")
client.call_tool("move")
for note in news:
    of = note["params"]["_meta"][revision.SUBSCRIPTION_ID]
    print(
        f"{note['method']:<35} for subscription",
        {tools.pending.id: "1", weather.pending.id: "2"}[of],
    )

# %% [markdown]
# On stdio all subscriptions share one pipe, so each notification carries the id of the request that
# opened its stream. Another look at the same minute:

# %%
timeline(client.tape.since(mark))

# %% [markdown]
# ## What was kept goes stale
#
# This server lets its lists be kept for five minutes. **Predict:** we list the tools, the server
# learns a trick, we list them again. How many times is `tools/list` sent, and how many tools are
# in the second answer?

# %%
mark = len(client.tape)
before = client.list_tools()
client.list_tools()
client.call_tool("learn")
after = client.list_tools()
sent = [entry.message["method"] for entry in client.tape.since(mark) if entry.direction == "→"]
print(sent)
print(len(before), "->", len(after), "tools")

# %% [markdown]
# Twice in three listings: the second one was answered from what was kept, and the announcement
# made it stale before its time was up. `ttlMs` alone would have shown the old list for five
# minutes; the notification alone would have cost a request each time. They are made for each other
# (`server/utilities/caching`).
#
# Without a subscription there is no announcement. The same server, a client that does not listen:

# %%
with open_toy("changing") as deaf:
    before = deaf.list_tools()
    deaf.call_tool("learn")
    print(len(before), "->", len(deaf.list_tools()), "tools,", "and after a fresh look:", end=" ")
    print(len(deaf.list_tools(refresh=True)))

# %% [markdown]
# ## The end of a stream
#
# A subscription ends when the client cancels it, when the pipe closes, or when the server ends it.
# A server that means it says so: it answers the request that it had held back.

# %%
mark = len(client.tape)
client.call_tool("close")
print("ended:", tools.ended, weather.ended)
show(client.tape.since(mark), ids=True)

# %% [markdown]
# A stream that stops without that answer was cut, and the client may open it again. Nothing of it
# is remembered by the server: after a restart every subscription has to be asked for anew.

# %%
client.close()

# %% [markdown]
# ## You saw
# - progress only where a token asked for it;
# - two requests on one pipe, the later one answered first;
# - a call cancelled and a call timed out, and the next answers still in their places;
# - two subscriptions told apart by the id that every notification carries;
# - a kept list gone stale at the announcement, and kept for its five minutes without one.
#
# ## Your turn
# Open a subscription and close the client without closing the subscription. What does the server
# write, and who reads it? Then write the one line that a client needs after a restart.

# %%
# Your cell.
