# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # The ledger
#
# *Chapters 26 and 27, claim by claim. 15 minutes to read, 5 to do.*
#
# The chapters say that they measured. So we measure again, and this came out:
#
# ```
# 26-22  Without any handshake, `tools/list` returns the full catalogue.      differs
#        tools listed without a handshake      13 of 13      12 of 13
# ```
#
# Who is wrong, the chapter, the server, or the ledger?

# %% [markdown]
# ## You will
# - read what a reader of the chapters should know first: the errata;
# - see, notebook by notebook, how many of the claims hold, and how many differ;
# - see each claim beside what was measured just now, on this machine;
# - take one check apart, and make its verdict come out the other way;
# - run one claim from a terminal;
# - look up the chapters' quotes in the specification, though no word of it is kept here.

# %%
import inspect
import tempfile
from collections import Counter
from pathlib import Path

from workbench import ledger, measure
from workbench.charts import stacked
from workbench.ledger import bench, claim, printed, quotes
from workbench.ledger.shown import show
from workbench.tables import table

found = {}  # what was measured, by the number of its claim

# %% [markdown]
# The next four cells run all of it, which takes a minute or two. First chapter 26: our toys, a server
# and a client on the official Python SDK, the published reference server, the official wire types, the
# tokenizer. Every process that a cell starts ends with it.


# %%
def run(chosen):
    some = {each.claim.id: each for each in ledger.run(filter(chosen, ledger.CLAIMS), extra=False)}
    print(printed.summary(some.values()))
    found.update(some)


run(lambda id: id < "27")
print(*ledger.parts(), sep="\n")

# %% [markdown]
# Then chapter 27, but for what takes its time from a clock: the incident log in three hands, both
# lines of the TypeScript SDK among them; over HTTP and at the door as well.

# %%
clocked = [c.id for c in vars(ledger.starting).values() if isinstance(c, claim.Claim)]
run(lambda id: "27" < id < "27-40" and id not in clocked)

# %%
run(lambda id: id >= "27-40" and id not in clocked)

# %% [markdown]
# And the clock. What starts there starts side by side, in five turns; without bytecode, which takes
# seconds, in two. No verdict rests on a time, all rest on what took longer than what, with a margin.

# %% tags=["measured"]
run(lambda id: id in clocked)
findings = [found[id] for id in sorted(found)]
print(printed.summary(findings))
print(measure.machine())


def verdict(word):
    return [finding for finding in findings if finding.verdict == word]


# %% [markdown]
# A claim *holds* where every fact came out as the chapter says, and *differs* where one did not. It
# *needs the network* where nothing of it can be known on this machine. The figures on this page are
# not written into it: the cells above measured them.
#
# Here they are by the notebook that shows them by hand.

# %%
by_notebook = {finding.claim.notebook: Counter() for finding in findings}
for finding in findings:
    by_notebook[finding.claim.notebook][finding.verdict] += 1
words = (ledger.HOLDS, ledger.DIFFERS, ledger.NETWORK)
rows = {name: {word: by_notebook[name][word] for word in words} for name in sorted(by_notebook)}
colours = ("#3f9c7a", "#d1642a", "#8a8f98")
stacked(rows, "claims", "What became of the claims", colours)

# %% [markdown]
# ## Errata
#
# What a reader of the chapters should know first. Each entry is here because its check came out
# otherwise today: *measured* is what came out, and after its *not* stands what the chapter says.

# %% tags=["measured"]
for finding in verdict(ledger.DIFFERS):
    print(printed.paragraph(finding.claim.id, finding.claim.statement))
    print(printed.paragraph("       measured:", finding.how))
    instead = finding.claim.instead or "take what was measured"
    print(printed.paragraph("       instead: ", instead))
    for name, fact in finding.beside.items():
        print(printed.paragraph("       beside:  ", f"{name}: {claim.text(fact)}"))
    print(*(f"       {note}" for note in finding.notes), "", sep="\n")

# %% [markdown]
# 26-04 and 26-41 are slips of the pen. The others change how one builds: a version cannot be read off
# an `initialize` (26-16), nor a catalogue off a bare list (26-22), nor a state off the wire without
# a seal (26-34); and whether process B can go on is a matter of keys (26-33).
#
# Of chapter 27, one thing first: the TypeScript SDK that it measured is the older of two lines, and
# the newer one serves the revision (27-49, 27-67), though its constant says otherwise (27-45). A header
# and a body that disagree are compared one way only in the Python SDK (27-47). Two libraries with the
# same verifier differ in more than the chapter saw (27-55). Both incident servers keep their handles
# in a list of the module, which is the mistake of chapter 26 (27-65). What makes Python slow to start
# are the types of the wire, and not a web server (27-35); and what npx adds is not what it was (27-37).
#
# ## What stands beside the claims that hold
#
# A check often sees more than the chapter says. **Predict:** the official SDK refuses a bare
# `tools/list`, as it must. What does it say to a perfect request on that same connection? The answer
# comes first, then the rest.

# %% tags=["measured"]
for name, fact in found["26-07"].beside.items():
    print(printed.paragraph(f"{name}:", claim.text(fact)))
rows = [
    (finding.claim.id, name, claim.text(fact))
    for finding in verdict(ledger.HOLDS)
    for name, fact in finding.beside.items()
    if not isinstance(fact, claim.Later) and not name.startswith("here, ")
]
table(rows, ["claim", "beside it", "measured"])

# %% [markdown]
# It refuses that, too: the bare request made the connection one of the older era, for good. And an
# undeclared capability is refused only where the SDK asks the question itself (26-10).
# Over HTTP, a token whose expiry is 0 gets into the Python SDK as one without any does (27-53).
#
# And of a line that a tool prints: in TypeScript it lands among the messages. The Python SDK has moved
# its standard output away by then, as our toolkit does (27-19).
#
# ## What cannot be known here
#
# Each of these comes with the one line that would settle it, on a machine with a network. Two of them
# are a matter of a part that the course does not install by itself, and would with that line: FastMCP,
# which does pass an exception's text to the model, and the Inspector.

# %%
for finding in verdict(ledger.NETWORK):
    print(printed.paragraph(finding.claim.id, finding.claim.statement))
    print(f"       {finding.how}\n")

# %% [markdown]
# ## The whole table
#
# Every claim in our own words, the chapter's figure and today's. The number of a claim leads to the
# notebook that shows it by hand. First messages, how they travel, and what every request carries; then
# which era a server is of, where the chapter drew more from an answer than was in it.


# %%
def themes(*modules):
    found = [each for module in modules for each in vars(module).values()]
    ids = [each.id for each in found if isinstance(each, claim.Claim)]
    return show(finding for finding in findings if finding.claim.id in ids)


themes(ledger.wire, ledger.every_request, ledger.era, ledger.published)

# %% [markdown]
# Who decides, who may ask whom, and what lasts from one call to the next; what a server costs before
# it is used; then trust, dates and neighbours:

# %%
themes(ledger.primitives, ledger.asking, ledger.initiative, ledger.costs, ledger.words)

# %% [markdown]
# ### Chapter 27: one server in three hands
#
# The same incident log in both languages, what a model reads of it, what a failing tool says, and a
# line on standard output that is no message. Where a figure depends on
# files that the chapter does not print, the claim is about what does not: which one is larger, or by
# how much.

# %%
themes(ledger.three_hands, ledger.catalogue, ledger.crashes, ledger.stray)

# %% [markdown]
# What it weighs, and what a start of it takes. **Predict:** what does Python spend its start on?

# %% tags=["measured"]
themes(ledger.weight, ledger.starting)

# %% [markdown]
# ### Over HTTP, and at the door
#
# The same requests to four endpoints: the Python SDK's, the TypeScript SDK's in both of its lines, and
# ours. Where the chapter says what one of them answers, the other three stand further up, beside it.
# A server may serve an older revision as well: what an answer shows is which of them the request was
# taken for, and the Python SDK goes by the header alone (27-47, 27-57).
#
# Then the ladder, on the guards of both SDKs and on ours, with a verifier that looks at the audience
# and at nothing else, and the whole dance. Last, where servers live; the registry's figures are of one
# day in September.

# %%
themes(ledger.over_http, ledger.at_the_door, ledger.jobs, ledger.living)

# %% [markdown]
# ## How a check works
#
# A claim is a sentence, the facts that it amounts to, and a function that measures the same facts.
# The function knows nothing of what the chapter says. That is in `says`, and `judge` compares the
# two. Here is the one from the top of this page, whole; then we run it alone, and leave the verdict
# out:

# %%
full = ledger.CLAIMS["26-22"]
print(inspect.getsource(full.measure))
with bench.Bench() as parts:
    measured = dict(full.measure(parts))
print("the chapter:", full.says)
print("today:      ", measured, *parts.notes[:1])

# %% [markdown]
# **Predict:** we doctor the measurement, as if the server had listed all of its tools. What does the
# ledger say?

# %%
doctored = measured | {"tools listed without a handshake": "13 of 13"}
print("measured:", claim.judge(full, measured).verdict)
print("doctored:", claim.judge(full, doctored).verdict)

# %% [markdown]
# So the ledger cannot be kinder to a chapter than the server is, nor harder. And the answer to the
# question at the top: nobody lied. One tool is registered when `notifications/initialized` arrives,
# and the chapter counted with a client that sends it.
#
# ## One claim, from a terminal
#
# `uv run python -m workbench ledger 26-18` runs one claim and says all there is to say about it. The
# same here:

# %%
[finding] = ledger.run(["26-18"])
print("\n".join(printed.lines(printed.cells(finding, detail=True))))
print(*printed.details(finding), sep="\n")

# %% [markdown]
# Half of it could be read off the disk and holds; the date is a matter for the registry. Without
# numbers the command prints the whole table, with `--json` everything it measured.
#
# ## The quotes
#
# The chapters quote the specification, and none of its text is kept in this project. What is kept of
# a quote is how many words it has, and a SHA-256 sum of them. That is enough to find it, and not
# enough to read it. We try with a sentence of our own:

# %%
kept = quotes.take("spec", "A name is not a permission, and a line is not a message.")
print(kept.length, "words,", kept.whole[:16], "...")
print(sum(map(len, ledger.QUOTES.values())), "quotes, of", len(ledger.QUOTES), "claims")

# %% [markdown]
# Here is a page with that sentence on it, over a line break, with a link and some emphasis.
# **Predict:** is it found? And is it found once *permission* has become *promise*?

# %%
page = "Some text. A **name** is not a\n[permission](/x), and a `line` is not a message. More."
source = quotes.Source("spec", ("*.mdx",), "")
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "page.mdx").write_text(page)
    print("as it was:", quotes.Pages(source, Path(folder)).find(kept))
    Path(folder, "page.mdx").write_text(page.replace("permission", "promise"))
    print("altered:  ", quotes.Pages(source, Path(folder)).find(kept))

# %% [markdown]
# With a checkout of the specification the same is done for every quote of the chapters:
#
# ```
# git clone --depth 1 https://github.com/modelcontextprotocol/modelcontextprotocol spec-text
# uv run python -m workbench ledger --spec spec-text
# ```
#
# (or with `MCP_SPEC=spec-text` in the environment).
#
# ## You saw
# - the errata: what came out otherwise, and what to take instead;
# - by notebook, how much of it holds;
# - claim after claim, each beside what was measured on this machine a minute ago;
# - a check that measures, a claim that says, and a verdict that is their comparison;
# - one claim run alone, half of it held, half of it left to the network;
# - a sentence found by its sum, and lost with one word.
#
# ## Your turn
# Take a sentence of either chapter that is not in the table. Write it as a claim: an id, the sentence
# in your words, the facts it amounts to, and a function that measures them, as the one of 26-22 does.
# Have `claim.judge` compare the two. Then make it fail on purpose.

# %%
# Your cell.
