# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 11. Where servers live
#
# *Chapter 27, from the registry's crawl to the recommendation. 10 minutes to read, 10 to do.*
#
# > "By published servers, npm leads by 2.3 to 1." — "By downloads, Python leads."
#
# Both sentences were written on the same day, and both are true. Which one would you have quoted?

# %% [markdown]
# ## You will
# - read dated figures as what they are: counted once, by somebody, from a source with a name;
# - draw them twice, and get two opposite conclusions;
# - find one sum that counts some installs twice;
# - see where most servers are: not on your machine;
# - check by arithmetic what can be checked without counting again;
# - choose with a table whose weights are yours.

# %%
from workbench.census import MARKS, census, parts, weigh
from workbench.charts import bars
from workbench.environments import ENVIRONMENTS
from workbench.tables import table

# %% [markdown]
# ## Figures with a date
#
# Nothing in this notebook is measured in front of you: to count a registry one needs the network,
# and next week's count is another. The figures are chapter 27's, and the file that holds them says
# when they were read, and from where.

# %%
counted = census()
print(counted["date"], "-", counted["what"])
for part in ("registry", "packages", "remotes", "downloads"):
    print(f"{part:<10}", counted[part]["source"])

# %% [markdown]
# ## First reading: what is published
#
# In the registry, npm has 2.3 servers for each one of PyPI. The chapter gives the ratio and not the
# two counts, so we can draw the ratio and no more.

# %%
ratio = counted["registry"]["npm for each of PyPI"]
bars(
    {"npm": int(ratio * 10), "PyPI": 10},
    "servers for each ten on PyPI",
    "published in the registry",
)

# %% [markdown]
# This is the picture behind "the ecosystem is TypeScript".
#
# ## Second reading: what is downloaded
#
# **Predict:** now the downloads of thirty days. Who leads, and by how much?

# %%
downloads = {k: v // 100_000 / 10 for k, v in counted["downloads"].items() if k != "source"}
bars(downloads, "million downloads in thirty days", "downloaded")

# %%
mcp, sdk, fastmcp = downloads.values()
print(f"Python / TypeScript = {mcp / sdk:.2f}")
print(f"Python with fastmcp / TypeScript = {(mcp + fastmcp) / sdk:.2f}")

# %% [markdown]
# The same day, the opposite winner. Neither figure is wrong. They answer different questions: how
# many different servers somebody wrote, and how often a build machine fetched a library.
#
# ## What may not be added
#
# The chapter says that Python leads "before you add fastmcp", and invites us to add: that was the
# second line. **Predict:** may we? The benchmark's environment was made by asking for `fastmcp` 4.2.3
# and nothing else; a file of pins says what came.

# %%
pins = ENVIRONMENTS["bench"].python.read_text("utf-8")
names = [line.partition("==")[0] for line in pins.splitlines() if "==" in line]
print(len(names), "packages; mcp is among them:", "mcp" in names)

# %% [markdown]
# Whoever installs `fastmcp` installs `mcp` with it. But for caches, each of the 72.1 million is in the
# 286.7 million already. Without them, this much is left of the lead:

# %%
print(f"{mcp - fastmcp:.1f} of {mcp} million, or {(mcp - fastmcp) / sdk:.2f} of TypeScript's")

# %% [markdown]
# And the other side is counted too low: `@modelcontextprotocol/server` and `/client`, where the new
# revision lives, are packages of their own and are not in TypeScript's 194.7 million. A download
# count is a count of a name.
#
# ## Where they are
#
# The figure that matters most is neither of the two that people quote. **Predict:** of the 28,170
# servers in the registry, how many have nothing to install?

# %%
registry, packages, remotes = (counted[name] for name in ("registry", "packages", "remotes"))
local = registry["servers"] - registry["nothing to install"]
parts(
    {"nothing to install": registry["nothing to install"], "a package": local},
    "servers", "28,170 servers on 7 September 2026",
)  # fmt: skip

# %% [markdown]
# More than half of the registry is web services. "A server is a process on your laptop" describes the
# smaller part. What do the packages speak, and what the addresses?

# %%
parts(
    {"stdio": packages["stdio"], "another": packages["entries"] - packages["stdio"]},
    "package entries", "packages by transport",
)  # fmt: skip

# %%
parts(
    {"Streamable HTTP": remotes["Streamable HTTP"], "HTTP+SSE": remotes["HTTP+SSE"]},
    "remote entries", "addresses by transport",
)  # fmt: skip

# %% [markdown]
# One address in sixteen still speaks HTTP+SSE, which has been deprecated since 2025-03-26 (page
# `deprecated`). And each of the 14,696 needs what notebooks 27.6 to 27.9 are about: a check of
# `Host` and `Origin`, a token made for this server, a refusal that says where to get one.
#
# ## Arithmetic
#
# Some of the chapter's figures must add up, whoever counted them. **Predict:** do they?

# %%
checks = [
    ["remote entries are HTTP and HTTP+SSE",
     remotes["Streamable HTTP"] + remotes["HTTP+SSE"] == remotes["entries"]],
    ["no fewer package entries than servers with one", packages["entries"] >= local],
    ["no fewer remote entries than servers with nothing to install",
     remotes["entries"] >= registry["nothing to install"]],
]  # fmt: skip
table([[what, "yes" if holds else "NO"] for what, holds in checks], ["must hold", "holds"])

# %% [markdown]
# They do. An entry is not a server: one server may name an npm package and a PyPI package, or a
# package and an address. So the entries are more than the servers:

# %%
print(f"{local:,} servers have a package, and name {packages['entries']:,}")
both = remotes["entries"] - registry["nothing to install"]
print(f"{both:,} remote entries more than servers that are remote and nothing else")

# %% [markdown]
# ## What to choose
#
# The chapter's advice is short: in a web application that you run already, TypeScript; around data
# tools, Python; and whatever speaks the revision, before both. Advice of that kind is a table with
# weights that nobody wrote down. Here they are written down. The marks, 0 to 3:

# %%
criteria = list(next(iter(MARKS.values())))
table([[c, *(MARKS[name][c] for name in MARKS)] for c in criteria], ["", *MARKS])

# %% [markdown]
# The first three rows follow from what 27.5, 27.6 and the benchmark measure. The others are an
# opinion. Now three people with three sets of weights. **Predict** the winner of each:

# %%
PEOPLE = {
    "a host restarts it all day": {"start-up": 5, "few packages": 2, "somebody else mends it": 3},
    "it wraps a warehouse": {"wraps data tools": 5, "somebody else mends it": 4, "start-up": 1},
    "it is an endpoint beside others": {"lives in a web app": 5, "speaks the revision": 3},
}


def ranked(weights):
    return ", ".join(f"{name} {points}" for name, points in weigh(MARKS, weights))


for who, weights in PEOPLE.items():
    print(f"{who}:\n   {ranked(weights)}")

# %% [markdown]
# Now yours. Change the weights, and if you do not believe a mark, change that too: `MARKS` is a
# dict. If no weight that is one more or one less gives you another winner, the choice was easy.

# %%
MINE = {"start-up": 2, "few packages": 2, "speaks the revision": 3, "wraps data tools": 3}
first = weigh(MARKS, MINE)[0][0]
print(ranked(MINE))
for criterion, weight in MINE.items():
    for other in (weight - 1, weight + 1):
        winner = weigh(MARKS, {**MINE, criterion: other})[0][0]
        if winner != first:
            print(f"with {criterion!r} at {other}, {winner} wins")

# %% [markdown]
# Nothing is printed under the ranking: with these weights no single point makes another winner. The
# toolkit wins because nobody weighed who mends it. We add that with a weight of 5, and look again:

# %%
print(ranked({**MINE, "somebody else mends it": 5}))

# %% [markdown]
# This is what "it depends" means when it is honest: the inputs are on the table.
#
# ## You saw
# - two figures of one day with opposite winners, each of them right;
# - that downloads of a package and of what it depends on must not be added;
# - that more than half of the servers have nothing to install;
# - sums that must hold whoever counted, and that they do;
# - a choice made with weights that one can see and change.
#
# **Try:** one criterion is missing that matters to you. Give all four in `MARKS` a mark for it, weigh
# it, and find the smallest weight at which your winner changes.

# %%
# Your cell.
