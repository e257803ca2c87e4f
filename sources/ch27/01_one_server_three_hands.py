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
# official Python SDK, on the official TypeScript SDK. A client opens an incident in each, and gets:
#
# ```
# {"id":"INC-3"}
# ```
#
# Can it tell what the server is written in?

# %% [markdown]
# ## You will
# - read one tool in three hands, and find the two differences that matter;
# - have one client talk to all three, over stdio and over HTTP, and compare the answers;
# - run the chapter's own client, and see whom it cannot reach;
# - ask each server for its revision in three ways, two of which mislead;
# - start each server twice, and see whose handles survive.

# %%
import json
import subprocess

from mcp_bare import revision
from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse
from mcp_bare.stdio import StdioTransport
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
print(excerpt(BARE, "Close an incident by handle", "return say(log.resolve"))

# %% [markdown]
# And on the SDKs, which turn something shorter into the same message.

# %%
columns(
    {
        "Python SDK": excerpt(PYTHON, "Close an incident by handle", "raise ToolError"),
        "TypeScript SDK": excerpt(TYPESCRIPT, "'resolve_incident',", "return say({ ...done"),
    }
)

# %% [markdown]
# Read first what is the same: a name, a description, two described arguments, three annotations, one
# function. None of the three mentions JSON-RPC, framing, standard output or a version.
#
# Two differences matter, and both come back. The schema: by hand and in TypeScript it is a value that
# somebody wrote; in Python it is read off the type hints, so the SDK knows things that nobody told it
# (notebook 2). And the failure: TypeScript returns a result, Python raises (notebook 3).
#
# ## How long is it?
#
# The chapter counted 81 lines and 3,060 bytes of TypeScript, 63 and 2,555 of Python, and said at once
# how little that says. Ours serve over HTTP as well, and one of them keeps its log outside.


# %%
def size(file):
    lines = [line for line in (hands.node.ROOT / file).read_text().splitlines() if line.strip()]
    return len(lines), sum(len(line.encode()) + 1 for line in lines)


table(
    [
        ("by hand, with a database", *size(BARE), "", ""),
        ("Python SDK", *size(PYTHON), "63", "2,555"),
        ("TypeScript SDK", *size(TYPESCRIPT), "81", "3,060"),
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
# be started on this machine, its recording is played, and a line says so.)

# %%
said = {}
for name in THREE:
    with hands.open(name, or_tape=True) as client:
        said[name] = converse(client)
for name in THREE:
    print(f"{name:<11}", ", ".join(said[name]["tools"]))
    print(f"{'':<11}", repr(said[name]["opened"]))

# %% [markdown]
# Same tools, same order, same handle. The chapter's two servers gave these two texts, to the
# character: the Python SDK writes JSON on several lines. What the spaces cost is in notebook 2.
#
# **Predict:** we read each text as JSON, and compare all that the three servers said. Is anything
# left that differs?


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
# One line: the text of an error. Everything a model or an application acts on is the same.
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
# 1.30.0. The command `python -m workbench environment chapter` brings the first; without it, this
# plays what was recorded with it.

# %%
for name in ("python-chapter", "typescript-v1"):
    with hands.open(name, or_tape=True) as client:
        then = converse(client)
        today = said["python" if name == "python-chapter" else "typescript"]
        print(f"{name:<15} speaks {client.version}; differs from today's in:", end=" ")
        print([part for part in then if then[part] != today[part]])

# %% [markdown]
# Not a character, although the older TypeScript SDK does not know this revision: our client probed,
# heard no, and fell back to the handshake.
#
# ## The chapter's client
#
# Eleven lines, on the SDK that the chapter used. Its last line matters: without `client.close()` the
# transport keeps the process alive, and it never ends.

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
# A client in TypeScript cannot tell a server in Python, and does not ask. **Predict:** the same
# client, and the server by hand, which speaks revision 2026-07-28 and nothing older.

# %%
print(*run_client("chapter/client.ts", "bare"), sep="\n")

# %% [markdown]
# Refused, as it should be: this client opens with `initialize`, and code -32022 says which versions
# there are. Today's TypeScript client does the same unless it is told to find
# out first (`versionNegotiation: { mode: 'auto' }`). Ours is:

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
# The constant is wrong for today's TypeScript SDK, which serves 2026-07-28 and exports the date
# before. `initialize` never offers the current revision, also where it is spoken, since there is no
# `initialize` in it. Only `server/discover` tells (`server/discover`, `basic/versioning`). The chapter
# measured the v1 line and called it "the TypeScript SDK"; the line of packages that has this revision
# was six weeks old by then.
#
# ## Whose handle is it?
#
# The chapter says of its servers that nothing in them presumes that the process which gets a handle is
# the one that gave it out. **Predict:** we start each server twice, in one folder. The first process
# opens an incident and ends. Does the second know it, and which name does it give to the next?

# %%
rows = []
for name in hands.here("bare", "python", "typescript"):
    with hands.scratch() as folder:
        words, env, handles = hands.command(name), hands.environment(folder), []
        for title in ("Queue backed up", "Disk full"):
            with hands.connect(words, env) as client:
                closing = client.call_tool("resolve_incident", {"id": "INC-3", "cause": "?"})
                new = client.call_tool("open_incident", {"title": title, "severity": "sev1"})
                handles.append(json.loads(new["content"][0]["text"])["id"])
        known = "no" if closing.get("isError") else "yes"
        rows.append((name, *handles, known))
table(rows, ["server", "process A minted", "process B minted", "B knew A's INC-3"])

# %% [markdown]
# Both SDK files keep their incidents in a list of the module, `OPEN`, as the chapter's did: the mistake
# that chapter 26 made with its calendar, and warned of. The handle of A is unknown to B, and then B
# gives the same name to another incident. A client that still holds `INC-3` now closes the wrong one,
# and no error says so. The server by hand keeps its log in a file that both processes open.

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
# - one client, three servers, two transports, the same answers but for the words of an error;
# - a client that reaches every SDK and not the server that speaks the current revision alone;
# - a constant and a handshake that mislead, and `server/discover`;
# - handles that die with their process, and are given out again.
#
# ## Your turn
# Move `OPEN` of `incidents_sdk.py` into a file, so that its second process knows what the first did.
# Start it twice as above. Which line of the tool had to change, and which of its schema?

# %%
# Your cell.
