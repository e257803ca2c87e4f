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
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from workbench import hands, measure, node, servers
from workbench.charts import bars
from workbench.icicle import WEB, WIRE, icicle, imported, of
from workbench.ledger import installed, launchers
from workbench.starts import to_an_answer, to_the_end
from workbench.tables import table

# %% [markdown]
# ## Packages and bytes
#
# The chapter counted 94 packages for the TypeScript SDK (`@modelcontextprotocol/sdk` 1.30.0) and 28
# for the Python SDK (`mcp` 2.1.1). **Predict:** which of the two is larger on the disk?
#
# npm's tree is read off the lock file, Python's off the installed distributions. Version 2 of the
# TypeScript SDK, which the chapter did not measure, is a package of its own for servers.

# %%
V1, V2 = "@modelcontextprotocol/sdk", "@modelcontextprotocol/server"
v1, v2 = installed.npm(V1, node.CHAPTER), installed.npm(V2, node.ROOT)
python = installed.python("mcp")

rows = [
    ["mcp (Python)", len(python), "28"],
    ["TypeScript, v1", len(installed.names(v1)), "94"],
    ["TypeScript, v2, a server", len(installed.names(v2)), ""],
]
table(rows, ["SDK", "packages", "chapter 27"])

# %% [markdown]
# The 94 hold for version 1. Version 2 needs a handful: the server that the chapter could have
# installed weeks earlier comes without Express, Hono and the rest.
#
# Now the bytes. Python's are counted without and with the bytecode that Python writes beside each
# module on its first import.

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
        print(f"{name} is not installed here; the chapter counted 13.9 MiB for v1")
bars(sizes, "MiB", "installed size")

# %% [markdown]
# The chapter said 13.9 MiB for TypeScript, "under a third" of Python's bytes. The first holds to a
# tenth or two. The third holds only if pip itself and all bytecode are counted; bare, it is half.
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
# Eighteen, said the chapter, against eight of 94 for TypeScript, where a package boundary keeps the
# web parts out of `server/stdio.js`. So a server whose only wire is a pipe has a web server, an
# HTTP client and a TLS library in memory. The chapter took them for the reason that it starts so
# slowly. **Predict:** is that so?
#
# ## The import as a picture
#
# `python -X importtime` writes a line for each module. Drawn as an icicle, the whole import is the
# bar on top, and below each block hangs what it was the first to import.

# %% tags=["measured"]
tree = imported("mcp.server.mcpserver")
icicle(tree, "import mcp.server.mcpserver")

# %% [markdown]
# Orange is what describes the wire: the message classes and Pydantic, which builds them. Blue is
# the web. Each module's own time, added up:

# %% tags=["measured"]
wire, web = tree.share(of(WIRE)), tree.share(of(WEB))
print(f"types of the wire {wire:.0%}, the web {web:.0%}, all else {1 - wire - web:.0%}")
print("the larger part:", "types of the wire" if wire > web else "the web")

# %% [markdown]
# **Erratum.** The cost is the wire models, not the web stack. The chapter put 269 of its 727
# profiled milliseconds on `mcp.types`; that leaves out `mcp_types` proper, which another module
# imports earlier. How many classes are built?

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
# All of these are made anew in each process that imports them. And "each protocol message on every
# revision" is not quite so: two of five revisions have models of their own.
#
# ## Cold start against the floor
#
# From the start of a process to the line that answers `tools/list`, for each server, and an
# interpreter that does nothing beside it. They run in turns: first forwards, then backwards. A
# factor is the median over the turns, with an interval for it.

# %% tags=["measured"]
folder = tempfile.TemporaryDirectory()
empty = Path(folder.name) / "empty"
empty.touch()
starts = {
    "empty Python": partial(to_the_end, [sys.executable, str(empty)], servers.bare_environment())
}
names = hands.here("bare", "python", "typescript")
for name in names:
    starts[name] = partial(to_an_answer, hands.command(name), hands.environment(folder.name))
seconds = measure.side_by_side(starts, turns=5)
floor = seconds["empty Python"]
times = {name: measure.ratio(seconds[name], floor) for name in names}
print(measure.machine())
table(
    [[n, f"{t.median:.1f}", f"{t.low:.1f} to {t.high:.1f}"] for n, t in times.items()],
    ["server", "× an empty Python", "interval"],
)

# %% [markdown]
# The chapter had 709.4 ms for Python over 11.1 for an empty one, a factor of 64, and 144.5 for
# TypeScript. On your machine the factors are others, and their order is the same: the language is
# not the reason. Our own server, the same three tools on the standard library, is the proof.

# %% tags=["measured"]
bars({name: round(t.median, 1) for name, t in times.items()}, "times an empty Python", "cold start")

# %% [markdown]
# What does the toolkit do differently? It has the same messages. It has no classes for them: a
# message is a dict, checked where it is used, and whatever a start does not need is imported where
# it is called. Its whole import, in the same picture:

# %% tags=["measured"]
icicle(imported("mcp_bare.stdio, mcp_bare.server"), "import mcp_bare.server and its stdio", deep=5)

# %% [markdown]
# ## Without bytecode
#
# An image built with `PYTHONDONTWRITEBYTECODE=1`, as many are, compiles every module at each start.
# **Predict:** how much longer does the SDK take? The chapter does not say.

# %% tags=["measured"]
nothing = {"PYTHONPYCACHEPREFIX": str(Path(folder.name) / "none"), "PYTHONDONTWRITEBYTECODE": "1"}
env = hands.environment(folder.name)
slow = measure.side_by_side({
    "compiled": partial(to_an_answer, hands.command("python"), env),
    "not": partial(to_an_answer, hands.command("python"), {**env, **nothing}),
}, turns=3)  # fmt: skip
print(f"without bytecode, {measure.ratio(slow['not'], slow['compiled']).median:.1f} times as long")

# %% [markdown]
# ## What a launcher adds
#
# A host does not start `node incidents.js`. It starts what the server's page says: `npx` or `uvx`.
# The chapter packaged its TypeScript server and measured 568 ms on top, more than Python's whole
# lead lost again. We do the same, with nothing to download: `npx --no-install` on a linked
# package, and `uvx --offline` on a wheel with a program that does nothing.

# %% tags=["measured"]
by = {"empty Python": partial(to_the_end, [sys.executable, str(empty)], servers.bare_environment())}
if wheel := launchers.uvx(Path(folder.name)):
    by["uvx"] = partial(to_the_end, *wheel)
if "typescript" in names:
    direct = hands.command("typescript")
    by["typescript"] = partial(to_an_answer, direct, hands.environment(folder.name))
    by["python"] = partial(to_an_answer, hands.command("python"), hands.environment(folder.name))
    if linked := launchers.npx(Path(folder.name), direct):
        by["npx typescript"] = partial(to_an_answer, *linked)
launched = measure.side_by_side(by, turns=5)
print("measured:", ", ".join(launched))

# %% [markdown]
# Each launcher against the same thing without it, and Python against what `npx` starts:

# %% tags=["measured"]
pairs = [
    ("npx typescript", "typescript", "4.9"),
    ("python", "npx typescript", "1.0"),
    ("uvx", "empty Python", "not measured"),
]
rows = [
    [f"{one} / {other}", f"{measure.ratio(launched[one], launched[other]).median:.1f}", chapter]
    for one, other, chapter in pairs
    if one in launched and other in launched
]
table(rows, ["what against what", "times as long", "chapter 27"])

# %% [markdown]
# **Erratum.** With today's npm the launcher costs less than half of what the chapter saw, so the
# sentence that its last row cancels the argument does not hold here: TypeScript behind `npx` is
# still up before Python. And `uvx`, which the chapter guessed would cost as much, adds about as
# much as an empty Python once it has what it starts: little beside any SDK.
#
# Neither figure counts a download. A host that starts a server for the first time pays that too.

# %%
folder.cleanup()

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
