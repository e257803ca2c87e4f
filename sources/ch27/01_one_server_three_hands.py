# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 1. One server, three hands
#
# *Chapter 27, from the incident log to one client that is run twice. 16 minutes to read, 12 to do.*
#
# An incident log: three tools, a resource, a prompt. It is here three times: by hand, on the
# official Python SDK, on the official TypeScript SDK. A client opens an incident in each, and from one
# of them gets:
#
# ```
# ← {"content":[{"type":"text","text":"{\"id\":\"INC-3\"}"}],"resultType":"complete"}
# ```
#
# Can it tell what the server is written in?

# %% [markdown]
# ## You will
# - read one tool in three hands, and find the two differences that matter;
# - have one client talk to all three, over stdio and over HTTP, and compare bytes and meanings;
# - run the chapter's own client, and see which server it cannot reach;
# - ask each server for its revision in three ways, two of which mislead;
# - start each server twice, and see whose handles survive.

# %%
import json
import subprocess

from mcp_bare import revision
from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse
from mcp_bare.stdio import StdioTransport
from mcp_bare.tape import CAME
from workbench import hands
from workbench.columns import columns, excerpt
from workbench.scenarios import ASKS_CURRENT
from workbench.tables import table

THREE = ["bare", "python", "typescript"]

# %% [markdown]
# ## The same tool, three times
#
# `resolve_incident` takes a handle and closes what it names. First by hand, where every byte of the
# schema is ours:

# %%
BARE, PYTHON = "toy_servers/incidents.py", "toy_servers/incidents_sdk.py"
TYPESCRIPT = "toy_servers/incidents_ts/incidents.ts"
print(excerpt(BARE, '"name": "resolve_incident"', "return say(log.resolve", before=2))

# %% [markdown]
# And on the SDKs, which make a message of the same meaning from something shorter.

# %%
columns(
    {
        "Python SDK": excerpt(PYTHON, "Close an incident", "raise ToolError", before=1),
        "TypeScript SDK": excerpt(TYPESCRIPT, "'resolve_incident',", "...done", before=1),
    }
)

# %% [markdown]
# Read first what is the same: a name, a description, two described arguments, three annotations, one
# function. None of the three mentions JSON-RPC, framing, standard output or a version.
#
# Two differences matter, and both come back. The schema: by hand and in TypeScript it is a value that
# somebody wrote; in Python it is read off the type hints, so the SDK knows things that nobody told it
# (notebook 2). And the failure: TypeScript returns a result, Python raises (notebook 3). By hand it is
# raised as well, in `log.resolve`.
#
# ## How long is it?
#
# The chapter counted 81 lines and 3,060 bytes of TypeScript, 63 and 2,555 of Python, and said at once
# how little that says. Ours serve over HTTP as well, and one of them keeps its log outside.


# %%
def size(file):
    text = (hands.node.ROOT / file).read_bytes()
    return sum(bool(line.strip()) for line in text.splitlines()), len(text)


table(
    [
        ("by hand, with a database", *size(BARE), "", ""),
        ("Python SDK", *size(PYTHON), 63, 2555),
        ("TypeScript SDK", *size(TYPESCRIPT), 81, 3060),
    ],
    ["file", "lines, none blank", "bytes", "the chapter's lines", "its bytes"],
)

# %% [markdown]
# ## One client
#
# Here is a conversation. It knows names and arguments, and nothing of what is on the other side.


# %%
def converse(client):
    said = {"tools": [tool["name"] for tool in client.list_tools()]}
    said["open"] = client.read_resource("incidents://open")["contents"][0]["text"]
    said["found"] = client.call_tool("search_incidents")["content"][0]["text"]
    queue = {"title": "Queue backed up", "severity": "sev2"}
    said["opened"] = client.call_tool("open_incident", queue)["content"][0]["text"]
    closing = {"id": json.loads(said["opened"])["id"], "cause": "A consumer died."}
    said["closed"] = client.call_tool("resolve_incident", closing)["content"][0]["text"]
    again = client.call_tool("resolve_incident", closing)
    said["closed twice"] = again["content"][0]["text"]
    prompt = client.get_prompt("postmortem", {"id": closing["id"]})
    said["prompt"] = prompt["messages"][0]["content"]["text"]
    return said


# %% [markdown]
# `hands.open` starts one of the servers; what is in the block is the same for all. (Where one cannot
# be started on this machine, its recording is played, and a line says so.) First the bytes that come
# back when the incident is opened. **Predict:** are these three lines the same?

# %%
said = {}
for name in THREE:
    with hands.open(name, or_tape=True) as client:
        said[name] = converse(client)
        came = [entry.text for entry in client.tape if entry.direction == CAME]
    print(f"{name}: {', '.join(said[name]['tools'])}")
    print("←", next(line for line in came if "INC-3" in line), end="\n\n")

# %% [markdown]
# Same tools, same order, same handle, and three lines of different bytes. Whoever reads bytes can tell
# the hands apart: by the order of the members, by the spaces that the Python SDK puts into the text,
# by `structuredContent`, which TypeScript sends only if it is told to (notebook 2). The texts of the two
# SDKs are the chapter's, to the character.
#
# A client reads JSON. **Predict:** we read each text as JSON too, and compare all that the three
# servers said. Is anything left that differs?


# %%
def meaning(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


rows = []
for part in said["bare"]:
    means = [meaning(said[name][part]) if part != "tools" else said[name][part] for name in THREE]
    rows.append((part, *("same" if each == means[0] else each for each in means)))
table(rows, ["what was said", *THREE])

# %% [markdown]
# One line: the text of an error. Everything else that a model reads as text means the same.
#
# ## Over HTTP
#
# The same files, started with `--http`. The client takes an address in place of a command.

# %%
rows = []
for name in THREE:
    if why := hands.why_not(name):
        rows.append((name, f"not run: {why}"))
        continue
    with hands.open(name, http=True) as client:
        over_http = converse(client)
    rows.append((name, "the same" if over_http == said[name] else "not the same"))
table(rows, ["server", "over HTTP, against stdio"])

# %% [markdown]
# ## With the chapter's pins
#
# Those were today's versions. The chapter measured `mcp` 2.1.1 and `@modelcontextprotocol/sdk`
# 1.30.0. The second came with the course; `uv run python -m workbench environment chapter` brings the
# first, and without it this plays what was recorded with it. **Predict:** in how many of the seven
# parts of the conversation do they differ from today's?

# %%
for name in ("python-chapter", "typescript-v1"):
    with hands.open(name, or_tape=True) as client:
        then = converse(client)
        today = said["python" if name == "python-chapter" else "typescript"]
        print(f"{name:<15} speaks {client.version}; differs from today's in:", end=" ")
        print([part for part in then if then[part] != today[part]])

# %% [markdown]
# In none, although the older TypeScript SDK does not know this revision: our client probed, heard no,
# and fell back to the handshake.
#
# ## The chapter's client
#
# The chapter says eleven lines and prints ten. The last one matters: without `client.close()` the
# transport keeps the server's process, and the client never ends. Here it is, below its two imports,
# with a line of ours that prints what went wrong.

# %%
CLIENT = "toy_servers/incidents_ts/chapter/client.ts"
print(excerpt(CLIENT, "const [command", "await client.close"))


# %%
def run_client(script, name):
    """What a client in TypeScript says of a server: its standard output, or the error's text."""
    if why := hands.why_not("typescript-v1") or hands.why_not(name):
        return [f"not run: {why}"]
    node = hands.interpreter("typescript")
    with hands.scratch() as folder:
        words = [node, str(hands.TYPESCRIPT / script), *hands.command(name)]
        options = {"env": hands.environment(folder), "cwd": folder, "timeout": 60}
        ran = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    errors = [line for line in ran.stderr.splitlines() if "Error: " in line]
    return ran.stdout.splitlines() or errors[:1]


for name in ("python", "typescript"):
    print(name, *run_client("chapter/client.ts", name), sep="\n  ")

# %% [markdown]
# This is the chapter's output, to the character. A client in TypeScript does not notice that a server
# is in Python, and does not ask. **Predict:** what does the same client print of the server by hand,
# which speaks revision 2026-07-28 and nothing older?

# %%
print(*run_client("chapter/client.ts", "bare"), sep="\n")

# %% [markdown]
# Refused, as it should be: this client opens with `initialize`, and code -32022 says which versions
# there are. Today's TypeScript client does the same unless it is told to find out first
# (`versionNegotiation: { mode: 'auto' }`). The next one, on today's SDK, is told:

# %%
print(*run_client("client.ts", "bare"), sep="\n")

# %% [markdown]
# So the language is invisible, and the revision is not.
#
# ## Which revision does it speak?
#
# The chapter's last advice was to read `LATEST_PROTOCOL_VERSION` in the SDK. There are two more ways:
# ask `initialize` for the current revision, or ask `server/discover`. **Predict:** where do the three
# agree?

# %%
CONSTANT = "import {{ LATEST_PROTOCOL_VERSION as v }} from '{}'; console.log(v)"
WHERE = {
    "python": "from mcp_types.version import LATEST_PROTOCOL_VERSION as v; print(v)",
    "python-chapter": "from mcp_types.version import LATEST_PROTOCOL_VERSION as v; print(v)",
    "typescript": CONSTANT.format("@modelcontextprotocol/server"),
    "typescript-v1": CONSTANT.format("@modelcontextprotocol/sdk/types.js"),
}


def constant(name):
    its = hands.hand(name)
    flags = ["--input-type=module", "--eval"] if its.npm else ["-c"]
    words = [hands.interpreter(name), *flags, WHERE[name]]
    options = {"cwd": its.script.parent, "capture_output": True, "text": True}
    return subprocess.run(words, check=True, timeout=60, **options).stdout.strip()


# %%
def asked(name, method, params=None, version=revision.LEGACY[0]):
    with hands.scratch() as folder:
        transport = StdioTransport(hands.command(name), env=hands.environment(folder))
        with Client(transport, version=version, timeout=hands.PATIENCE_S) as client:
            try:
                return client.request(method, params)
            except ErrorResponse:
                return {"supportedVersions": ["an error"]}


rows = []
for name in hands.here("python", "python-chapter", "typescript", "typescript-v1"):
    settled = asked(name, "initialize", ASKS_CURRENT)["protocolVersion"]
    listed = asked(name, "server/discover", version=revision.CURRENT)["supportedVersions"]
    rows.append((hands.hand(name).label, constant(name), settled, ", ".join(listed)))

# %%
table(rows, ["SDK", "its constant", "initialize settles on", "server/discover lists"])

# %% [markdown]
# Nowhere: two agree on each row, and not the same two. The constant is wrong for today's TypeScript
# SDK, which serves 2026-07-28 and exports 2025-11-25.
# `initialize` never offers the current revision, not even where it is spoken, since that revision has
# no `initialize`. Only `server/discover` tells (`server/discover`, `basic/versioning`). The chapter
# measured the v1 line and called it "the TypeScript SDK"; the packages that have this revision were
# six weeks old by then.
#
# ## And the name?
#
# `FastMCP` of `mcp` 1.x is called `MCPServer` in 2.x, and the chapter found almost every tutorial still
# opening with the old import. It praises what such a reader is told:

# %%
try:
    from mcp.server.fastmcp import FastMCP

    print(FastMCP)
except ImportError as gone:
    print(str(gone).replace("; ", ";\n").replace(". ", ".\n"))

# %% [markdown]
# ## Whose handle is it?
#
# The chapter says of its servers that nothing in them presumes that the process which gets a handle is
# the one that gave it out. We start each server twice, in one folder. Process A opens *Queue backed
# up* and ends; process B opens *Disk full*. **Predict:** does B know A's handle, and which incident
# does B close for a client that still holds it?


# %%
def life(name, folder, title, held=None):
    """One process: it opens an incident, and closes the one whose handle a client held."""

    def ask(tool, **arguments):
        return json.loads(client.call_tool(tool, arguments)["content"][0]["text"])

    with hands.connect(hands.command(name), hands.environment(folder)) as client:
        known = [one["id"] for one in ask("search_incidents")["incidents"]]
        new = ask("open_incident", title=title, severity="sev1")["id"]
        closed = ask("resolve_incident", id=held, cause="?")["title"] if held else ""
    return new, "yes" if held in known else "no", closed


rows = []
for name in hands.here("bare", "python", "typescript"):
    with hands.scratch() as folder:
        held, _, _ = life(name, folder, "Queue backed up")
        rows.append((name, held, *life(name, folder, "Disk full", held)))
table(rows, ["server", "A minted", "B minted", "B knew A's", "for A's handle, B closed"])

# %% [markdown]
# Both SDK files keep their incidents in a list of the module, `OPEN`, as the chapter's did: the mistake
# that chapter 26 made with its calendar, and warned of. The handle of A is unknown to B, and then B
# gives the same name to another incident. A client that still holds `INC-3` closes the wrong one, and
# no error says so. The server by hand keeps its log in a file that both processes open.

# %%
columns(
    {
        "Python SDK": excerpt(PYTHON, "OPEN: list", "minted ="),
        "by hand": excerpt(BARE, "def add(", "return f"),
    }
)

# %% [markdown]
# ## Idempotent?
#
# All three say `idempotentHint: true` of `resolve_incident`. It is called a second time above; look
# again at what came.

# %%
print(said["bare"]["closed"])
print(said["bare"]["closed twice"])

# %% [markdown]
# The second call changes nothing, and that is what the hint promises. It does not promise the same
# answer: a host that repeats a call after a lost answer must expect an error that means "done".
#
# ## You saw
# - one tool in three hands: the same parts, two differences;
# - one client, three servers, two transports: other bytes, and the same answers but for the words of
#   an error;
# - the chapter's client, which reaches both SDKs and not the server of the current revision alone;
# - a constant and a handshake that mislead, and `server/discover`, which tells;
# - handles that die with their process, and are given out again.
#
# ## Your turn
# Copy `toy_servers/incidents_sdk.py` to this folder as `my_incidents.py`, and keep `OPEN` in a file, so
# that a second process knows what the first did. Start it twice as above:
# `hands.connect([hands.interpreter("python"), "my_incidents.py"], hands.environment("."))` is a client
# of it. Which lines of the tools had to change, and which of their schemas?

# %%
# Your cell.
