# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 3. What an error may say
#
# *Chapter 27, from the failure of a real integration to a rule for every tool. 13 minutes to read, 10
# to do.*
#
# A tool asks a database, and the database does not answer. Somewhere in a server this is raised:
#
# ```
# connect ECONNREFUSED 10.0.3.7:5432 (db-prod-eu, user=reporting)
# ```
#
# An address, a port, a name and an account. Who reads it?

# %% [markdown]
# ## You will
# - let the same tool fail in six hands, and read what reaches the model;
# - see where the rest went, if it went anywhere;
# - lose a sentence that would have helped, in the SDK that leaks nothing;
# - look at what a wrong argument costs;
# - write the rule as a decorator that any tool can wear.

# %%
import functools
import io
import logging

from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse, ToolError
from mcp_bare.memory import MemoryTransport
from mcp_bare.server import Server
from mcp_bare.stdio import StdioTransport
from mcp_bare.tape import CAME
from workbench import hands, tokens
from workbench.columns import columns, excerpt
from workbench.tables import table

ALL = ["bare", "typescript", "typescript-v1", "python", "python-chapter", "fastmcp"]
SECRET = "connect ECONNREFUSED 10.0.3.7:5432 (db-prod-eu, user=reporting)"

# %% [markdown]
# ## Boom
#
# Each incident server has a sister with one tool more, `boom`, that fails as a database client does. In
# every language the tool's body is one line, and no model is mentioned in it.

# %%
columns(
    {
        "by hand": excerpt("toy_servers/failing/bare.py", "def boom", "raise"),
        "Python SDK": excerpt("toy_servers/failing/sdk.py", "def boom", "raise"),
        "TypeScript SDK": excerpt("toy_servers/incidents_ts/failing.ts", "'boom'", "throw"),
    }
)

# %% [markdown]
# Six servers, named by what they are written with: `mcp` is the official Python SDK, `server` the
# official TypeScript SDK and `sdk` the line before it, `fastmcp` a framework on top of `mcp`. The
# chapter measured `mcp` 2.1.1 and `sdk` 1.30.0; we look at these two first. (What cannot be started
# here is played as it was recorded, and a line says so.)
#
# **Predict:** which of the six tell the model the address?


# %%
def text_of(answer):
    return answer["content"][0]["text"]


def all_failures(client):
    """What comes back: of a crash, of two sentences, of a wrong argument, of a resource."""
    said = {"boom": text_of(client.call_tool("boom"))}
    said["line"] = [entry.text for entry in client.tape if entry.direction == CAME][-1]
    said["raised"] = text_of(client.call_tool("hint", {"how": "by accident"}))
    said["meant"] = text_of(client.call_tool("hint", {"how": "meant"}))
    wrong = {"title": "Disk full", "severity": "sev9"}
    said["argument"] = text_of(client.call_tool("open_incident", wrong))
    try:
        client.read_resource("incidents://boom")
    except ErrorResponse as refusal:
        said["resource"] = str(refusal)
    return said


# %%
said = {}
for name in ALL:
    with hands.open(name, failing=True, or_tape=True) as client:
        said[name] = all_failures(client)
for name in ("typescript-v1", "python-chapter"):
    print("←", said[name]["line"], end="\n\n")

# %% [markdown]
# The chapter's two lines, with the text in them to the character. Now the text alone, of all six:

# %%
table([(hands.hand(name).label, said[name]["boom"]) for name in ALL], ["server", "the model reads"])

# %% [markdown]
# The TypeScript SDK hands over the exception's text, in its old line and in its new one; the official
# Python SDK hands over the tool's name. The chapter then says "Python". FastMCP is Python too, builds
# on the official SDK, and hands over the text; its `mask_error_details=True` stops that.
#
# So it is not a matter of languages. It is a default, and somebody chose it.
#
# ## Where the rest went
#
# What the model does not get must not be lost: somebody has to mend the database. A server may write
# to standard error whatever it likes. **Predict:** which of these three wrote the address there?

# %%
rows = []
for name in hands.here("bare", "python", "typescript"):
    with hands.scratch() as folder:
        words = hands.command(name, failing=True)
        transport = StdioTransport(words, env=hands.environment(folder))
        with Client(transport, timeout=hands.PATIENCE_S) as client:
            client.call_tool("boom")
        log = transport.stderr_tail
    lines = [line.strip() for line in log.splitlines() if SECRET in line]
    traced = "yes" if "Traceback" in log else "no"
    rows.append((hands.hand(name).label, traced, lines[-1] if lines else "nothing"))
table(rows, ["server", "a traceback", "its last line with the address"])

# %% [markdown]
# With the first two the operator gets all of it, and the model nothing that it should not have. In
# TypeScript everything went to the model and nothing to the log: whoever runs the server learns of the
# failure from the one reader who cannot mend it.
#
# ## The sentence that was lost
#
# Now the opposite mistake. A tool raises with a sentence that the model could act on: *Severity is
# sev1, sev2 or sev3.* In Python that is a `ValueError`, as in the chapter's own `resolve_incident`.
# **Predict:** which servers pass it on? And which if the author meant it: a `ToolError` in Python, a
# result with `isError` in TypeScript?

# %%
table(
    [(hands.hand(name).label, said[name]["raised"], said[name]["meant"]) for name in ALL],
    ["server", "raised, like any exception", "said on purpose"],
)

# %% [markdown]
# The Python SDK cannot know that this exception was meant for the model, so it treats it as a crash,
# and its own documentation says so: a `ToolError` is a failure that you expected, everything else is
# a bug in your code. The chapter's `resolve_incident` raises `ValueError("No open incident ...")`: its
# good advice, to call `search_incidents` first, never arrives. The chapter names the cure, `ToolError`.
# Even so the sentence arrives behind a prefix, `Error executing tool hint:`, which costs a few tokens
# and helps nobody.
#
# Each default is wrong half of the time:

# %%
table(
    [
        ("hand over the text", "the TypeScript SDK, FastMCP", "a secret", "nothing"),
        ("keep it", "the Python SDK, by hand", "nothing", "how to mend its call"),
    ],
    ["default", "whose", "tells the model, at worst", "keeps from it, at worst"],
)

# %% [markdown]
# ## Wrong arguments
#
# One failure should always come back in words: a call that does not fit the schema. The model made
# it, and the model can mend it; so it is a result with `isError`, not an error of the protocol
# (`server/tools`, "Error Handling"). **Predict:** severity `sev9`. Who says what is right, and in how
# many tokens?

# %%
table(
    [(hands.hand(n).label, tokens.count(said[n]["argument"]), said[n]["argument"]) for n in ALL],
    ["server", "tokens", "the model reads"],
)

# %% [markdown]
# All of them name the argument and the three values. The three that check with pydantic send the
# address of a page along, which the model was not asked to open. All but today's TypeScript SDK repeat
# the value that was wrong. The model knows it already; a log of answers does not, and in some other
# tool that value is a password.
#
# ## Resources fail, too
#
# A resource has no `isError`. What is left is an error of the protocol. **Predict:** do the six keep
# their habits?

# %%
table(
    [(hands.hand(name).label, said[name]["resource"]) for name in ALL], ["server", "the host reads"]
)

# %% [markdown]
# They do. And a server cannot know what the host does with the text: show it, log it, or put it into
# the prompt.
#
# ## Why it matters
#
# Whatever a tool returns stays in the context, and the context is what a later, malicious text may
# ask for: *summarize all that you know of the database*. The text of an exception is the least
# reviewed text of a system. It was written for a colleague with a debugger.
#
# ## The rule
#
# Decide for each tool what a failure may say, and write that sentence yourself. Never let the text of
# an exception decide, in any language. A decorator does it: a table of what you expect, one sentence
# for the rest, and a log for what neither of them says.


# %%
def speaks(expected, otherwise):
    """A tool whose failures say what is written here: {exception type: sentence}."""

    def wrap(tool):
        @functools.wraps(tool)
        def safe(*given, **named):
            try:
                return tool(*given, **named)
            except ToolError:
                raise
            except Exception as trouble:
                logging.getLogger("tools").exception("%s failed", tool.__name__)
                known = (text for kind, text in expected.items() if isinstance(trouble, kind))
                raise ToolError(next(known, otherwise)) from trouble

        return safe

    return wrap


# %% [markdown]
# What the tool says on purpose passes; everything else is logged, and answered with our words. The
# line that logs is needed: once there is a `ToolError`, the server takes the failure for an expected one
# and logs nothing itself. For the official SDK, import its `ToolError` instead of ours;
# `functools.wraps` keeps the signature that the schemas are read from.
#
# A server with it. The tool's own code stays as it is, with all its bad habits. The log goes to a
# string here, so that we can look into it.

# %%
logging.getLogger("tools").handlers = [logging.StreamHandler(kept := io.StringIO())]
server = Server("guarded", "1.0.0")
EXPECTED = {
    ConnectionError: "The incident database is not reachable. Try again in a minute.",
    ValueError: "Severity is sev1, sev2 or sev3.",
}
TEXT = {"type": "object", "properties": {"how": {"type": "string"}}, "required": ["how"]}


@server.tool({"name": "report", "inputSchema": TEXT})
@speaks(EXPECTED, otherwise="The report failed; the people who run this server have been told.")
def report(call):
    kinds = {"database": ConnectionError, "severity": ValueError, "bug": ZeroDivisionError}
    raise kinds[call.arguments["how"]](SECRET)


with Client(MemoryTransport(server)) as client:
    for how in ("database", "severity", "bug"):
        print(f"{how:<9}", text_of(client.call_tool("report", {"how": how})))

# %% [markdown]
# Each sentence was written by somebody who thought of its reader, and tells it what to do: wait, mend
# the call, or stop. **Predict:** does the address get out by any of the three ways, and how often is it
# in the log?

# %%
wire = b"".join(entry.payload for entry in client.tape)
print("on the wire:", wire.count(b"10.0.3.7"), "times")
print("\n".join(line for line in kept.getvalue().splitlines() if "10.0.3.7" in line))

# %% [markdown]
# What it costs to say it well, for one failure:

# %%
for text in (SECRET, EXPECTED[ConnectionError]):
    print(f"{tokens.count(text):>3} tokens  {text}")

# %% [markdown]
# The careful one is shorter.
#
# ## You saw
# - the address of a database in a model's context, and the SDKs that put it there;
# - the failure on standard error, where it belongs, and one server that kept nothing;
# - a helpful sentence thrown away, since it was raised and not said;
# - wrong arguments that come back as something to mend, some with a web page;
# - a rule, in one decorator: a wire without the secret, and a log with it.
#
# ## Your turn
# The exercise of this notebook is [What an error may say](../../exercises/ch27/03_what_an_error_may_say.ipynb).
#
# Open the tool of yours that fails most often. Which three failures do you expect? Write the sentence
# of each for a reader that can only call tools, and then the one for all the rest.

# %%
# Your cell.
