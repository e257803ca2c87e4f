# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 5. What it weighs
#
# *Chapter 27, from what was installed to the launcher that starts it. 15 minutes to read, 10 to
# do.*
#
# Three servers answer the same bytes. Chapter 27 started each of them twenty-five times:
#
# ```
# node ./incidents.js       144.5 ms
# npx incidents-mcp         712.6 ms
# python incidents.py       709.4 ms
# ```
#
# An empty Python is up in 11. Where do the other 700 milliseconds go?

# %% [markdown]
# ## You will
# - count the packages and the bytes that each SDK brings, and see why the two do not go together;
# - see how much of it a server on a pipe ever loads;
# - look at an import as a picture, and find the chapter's explanation of it wrong;
# - start each server against the floor that its interpreter sets;
# - add a launcher, as a host would, and see what it costs today.
#
# Everything with a figure is measured in front of you. A time belongs to the machine it was taken
# on, so we say ratios: things that run in turns, each against the other in the same turn.

# %%
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

from workbench import hands, measure, node, servers
from workbench.charts import bars
from workbench.icicle import WEB, WIRE, icicle, imported, of
from workbench.ledger import installed, launchers
from workbench.starts import to_an_answer, to_the_end
from workbench.tables import table

EMPTY = [sys.executable, os.devnull]  # a Python that is started, and has nothing to do

# %% [markdown]
# ## Packages and bytes
#
# The chapter counted 94 packages for the TypeScript SDK (`@modelcontextprotocol/sdk` 1.30.0) and 28
# for the Python SDK (`mcp` 2.1.1). Version 2 of the TypeScript SDK, which it did not measure, is a
# package of its own for servers. **Predict:** how many does that one bring?
#
# npm's tree is read off the lock file, Python's off the installed distributions.

# %%
V1, V2 = "@modelcontextprotocol/sdk", "@modelcontextprotocol/server"
v1, v2 = installed.npm(V1, node.CHAPTER), installed.npm(V2, node.ROOT)
python = installed.python("mcp")

rows = [
    ["mcp (Python)", len(python), "28"],
    ["TypeScript, v1", len(installed.names(v1)), "94"],
    ["TypeScript, v2, a server", len(installed.names(v2)), "not counted"],
]
table(rows, ["SDK", "packages", "chapter 27"])

# %% [markdown]
# The 94 hold for version 1. Version 2, which was out weeks before the chapter, comes without Express,
# Hono and the rest.
#
# Now the bytes. **Predict:** 94 packages or 28, which are more on the disk? Python's are counted
# without and with the bytecode that Python writes beside each module when it is first imported.

# %% tags=["measured"]
brought = python.values()
sizes = {
    "mcp, files": installed.mebibytes(installed.files(brought, bytecode=False)),
    "mcp, with bytecode": installed.mebibytes(installed.files(brought, bytecode=True)),
}
for name, places in (("TypeScript v1", v1), ("TypeScript v2", v2)):
    if all(place.is_dir() for place in places.values()):
        sizes[name] = installed.mebibytes(installed.own_files(places.values()))
    else:
        print(f"{name} is not installed here; on 2026-12-01 it was 13.9 to 14.0 MiB")
bars(sizes, "MiB", "installed size")

# %% [markdown]
# The chapter said 13.9 MiB for TypeScript, "under a third" of Python's bytes. The size holds to a
# tenth or two. The share does not: it is about half of the bare files, and under a third only of
# Python's with all bytecode and with pip itself.
#
# More packages, fewer bytes: what weighs is compiled. **Predict:** which package is the heaviest
# of Python's? The chapter names three as compiled: `cryptography`, `pydantic-core`, `uvicorn`.

# %% tags=["measured"]
weighed = [
    (installed.mebibytes(installed.files([its], bytecode=False)), name)
    for name, its in python.items()
]
heaviest = [
    [name, size, installed.compiled(python[name])] for size, name in sorted(weighed)[:-5:-1]
]
table([[n, s, "yes" if c else "no"] for n, s, c in heaviest], ["package", "MiB", "compiled"])

# %% [markdown]
# One library for cryptography is about half of everything. And the third name is wrong:

# %%
{name: installed.compiled(python[name]) for name in ("cryptography", "pydantic-core", "uvicorn")}

# %% [markdown]
# `uvicorn` is Python and nothing else.
#
# ## What is loaded
#
# Installed is not loaded. We let a fresh Python import the SDK's server and ask it afterwards which
# of the 28 distributions have a module in memory.

# %%
ASK = """
import json, sys
import mcp.server.mcpserver
from importlib.metadata import packages_distributions
roots = {name.partition(".")[0] for name in sys.modules}
owners = packages_distributions()
print(json.dumps(sorted({owner for root in roots for owner in owners.get(root, ())})))
"""
ran = subprocess.run([sys.executable, "-c", ASK], capture_output=True, check=True, timeout=60)
loaded = {installed.normal(name) for name in json.loads(ran.stdout)} & set(python)
print(len(loaded), "of", len(python), "are loaded; not:", ", ".join(sorted(set(python) - loaded)))

# %% [markdown]
# Eighteen, said the chapter as well, against eight of 94 for TypeScript, where a package boundary
# keeps the web parts out of `server/stdio.js` (the ledger counts those: 27-31). So a server whose only
# wire is a pipe has a web server, an HTTP client and a TLS library in memory. The chapter took them
# for the reason that it starts so slowly. **Predict:** is that so?
#
# ## The import as a picture
#
# `python -X importtime` writes a line for each module. These are the last of some hundreds: the time
# of a module itself, then with all that it imports, in microseconds.

# %% tags=["measured"]
words = [sys.executable, "-X", "importtime", "-c", "import mcp.server.mcpserver"]
ran = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
print("\n".join(ran.stderr.splitlines()[-4:]))

# %% [markdown]
# Drawn as an icicle, the whole import is the bar on top, and below each block hangs what it was the
# first to import.

# %% tags=["measured"]
tree = imported("mcp.server.mcpserver")
icicle(tree, "import mcp.server.mcpserver")

# %% [markdown]
# Orange is what describes the wire: the message classes and Pydantic, which builds them. Blue is
# the web, and to be generous to the chapter `asyncio` and TLS are counted with it. Each module's own
# time, added up:

# %% tags=["measured"]
wire, web = tree.share(of(WIRE)), tree.share(of(WEB))
print(f"types of the wire {wire:.0%}, the web {web:.0%}, all else {1 - wire - web:.0%}")
print("the larger part:", "types of the wire" if wire > web else "the web")
whole = {module.name: module.whole / tree.whole for module in tree.everything()}
print(f"mcp.types with all below it {whole['mcp.types']:.0%}; chapter 27: {269 / 727:.0%}")
print(f"mcp_types, which is not below it, {whole['mcp_types']:.0%}; chapter 27: not counted")

# %% [markdown]
# **Erratum.** The cost is the wire models, not the web stack. The chapter put 269 of its 727
# profiled milliseconds on `mcp.types`. That leaves out `mcp_types` proper, which is imported before.
# How many classes are built?

# %%
COUNT = """
import collections, sys
import mcp.server.mcpserver
from pydantic import BaseModel
found, todo = {}, [BaseModel]
while todo:
    for one in todo.pop().__subclasses__():
        if one.__qualname__ not in found.setdefault(one.__module__, set()):
            found[one.__module__].add(one.__qualname__)
            todo.append(one)
wire = {name: len(all_) for name, all_ in found.items() if name.startswith("mcp_types")}
print(*(f"{count:>5}  {name}" for name, count in sorted(wire.items())), sep="\\n")
"""
ran = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, check=True, timeout=60)
print(ran.stdout.decode(), end="")

# %% [markdown]
# All of these are made anew in each process that imports them. The chapter says a class for each
# message "on every revision"; two of five revisions have models of their own.
#
# ## Cold start against the floor
#
# From the start of a process to the line that answers `tools/list`, for each server, and an
# interpreter that does nothing beside it. They run in turns: first forwards, then backwards. A
# factor is the median over the turns, with an interval for it. **Predict:** of the three servers, ours
# is written in Python as well. Is it nearer to the SDK's, or to TypeScript's?

# %% tags=["measured"]
starts = {"empty Python": partial(to_the_end, EMPTY, servers.bare_environment())}
names = hands.here("bare", "python", "typescript")
with hands.scratch() as folder:
    for name in names:
        starts[name] = partial(to_an_answer, hands.command(name), hands.environment(folder))
    seconds = measure.side_by_side(starts, turns=5)
floor = seconds["empty Python"]
times = {name: measure.ratio(seconds[name], floor) for name in names}
print(measure.machine())
said = {"bare": "not there", "python": "63.9", "typescript": "13.0"}
table(
    [[n, f"{t.median:.1f}", f"{t.low:.1f} to {t.high:.1f}", said[n]] for n, t in times.items()],
    ["server", "× an empty Python", "interval", "chapter 27"],
)

# %% [markdown]
# The chapter's factors are 709.4 ms and 144.5 ms over 11.1 ms for an empty Python. On your machine they
# are others, and their order is the same. The language is not the reason: our own server, the same
# three tools on the standard library, is the proof.

# %% tags=["measured"]
bars({name: round(t.median, 1) for name, t in times.items()}, "times an empty Python", "cold start")

# %% [markdown]
# What does the toolkit do differently? It has the same messages and no classes for them: a message is
# a dict, checked where it is used. Whatever a start does not need is imported where it is called. Its
# import, drawn in the same way:

# %% tags=["measured"]
ours = imported("mcp_bare.stdio, mcp_bare.server")
print(f"the whole is {ours.whole / tree.whole:.0%} of the SDK's")
icicle(ours, "import mcp_bare.server and its stdio", deep=5)

# %% [markdown]
# ## Without bytecode
#
# An image built with `PYTHONDONTWRITEBYTECODE=1`, as many are, compiles every module at each start.
# **Predict:** how much longer does the SDK take? The chapter does not say.

# %% tags=["measured"]
with hands.scratch() as folder:
    env = hands.environment(folder)
    without = {"PYTHONPYCACHEPREFIX": f"{folder}/none", "PYTHONDONTWRITEBYTECODE": "1"}
    slow = measure.side_by_side({
        "compiled": partial(to_an_answer, hands.command("python"), env),
        "not": partial(to_an_answer, hands.command("python"), {**env, **without}),
    }, turns=3)  # fmt: skip
print(f"without bytecode, {measure.ratio(slow['not'], slow['compiled']).median:.1f} times as long")

# %% [markdown]
# ## What a launcher adds
#
# A host does not start `node incidents.js`. It starts what the server's page says: `npx` or `uvx`.
# The chapter packaged its TypeScript server and measured 568 ms on top: all that it was ahead of
# Python. We do the same, with nothing to download: `npx --no-install` on a linked package, and
# `uvx --offline` on a wheel with a program that does nothing. **Predict:** does `uvx` add as much?

# %% tags=["measured"]
by = {"empty Python": partial(to_the_end, EMPTY, servers.bare_environment())}
with hands.scratch() as folder:
    env = hands.environment(folder)
    if wheel := launchers.uvx(Path(folder)):
        by["uvx"] = partial(to_the_end, *wheel)
    if "typescript" in names:
        direct = hands.command("typescript")
        by["typescript"] = partial(to_an_answer, direct, env)
        by["python"] = partial(to_an_answer, hands.command("python"), env)
        if linked := launchers.npx(Path(folder), direct):
            by["npx typescript"] = partial(to_an_answer, *linked)
    launched = measure.side_by_side(by, turns=5)
print("measured:", ", ".join(launched))

# %% [markdown]
# Each launcher against the same thing without it, and Python against what `npx` starts:

# %% tags=["measured"]
pairs = [
    ("npx typescript", "typescript", "4.9", "2.4"),
    ("python", "npx typescript", "1.0", "1.2"),
    ("uvx", "empty Python", "not measured", "2.8"),
]
rows = []
for one, other, chapter, recorded in pairs:
    times_as_long = f"not here; {recorded} on 2026-12-01"
    if one in launched and other in launched:
        times_as_long = f"{measure.ratio(launched[one], launched[other]).median:.1f}"
    rows.append([f"{one} / {other}", times_as_long, chapter])
table(rows, ["what against what", "times as long", "chapter 27"])

# %% [markdown]
# **Erratum.** With today's npm the launcher costs less than half of what the chapter saw, so the
# sentence that its last row cancels the argument does not hold here: TypeScript behind `npx` is
# still up before Python. And `uvx`, which the chapter guessed would cost as much, adds about two
# starts of an empty Python once it has what it starts: little beside any SDK.
#
# Neither figure counts a download. A host that starts a server for the first time pays that too.

# %% [markdown]
# ## You saw
# - more packages and fewer bytes: 94 against 28 for version 1, a handful for version 2, and one
#   compiled library that is half of Python's weight;
# - that a server on a pipe loads most of what it brought along;
# - an import whose largest part is the types of the wire, not the web stack;
# - three servers against one floor, and that the language is not what makes a start slow;
# - that a launcher costs what its package manager costs this year: measure it, and date it.
#
# **Try:** `uv run python -m benchmarks --quick` puts four stacks side by side: starts, round trips,
# HTTP, memory, and how each grows.
