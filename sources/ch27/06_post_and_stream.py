# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 6. POST and stream
#
# *Chapter 27, the other live transport: one endpoint, JSON or a stream, and three obligations that
# are easy to miss. 18 minutes to read, 12 to do.*
#
# The body of a request says one thing, and its headers repeat it. What should a server do when
# they disagree?
#
# ```
# POST /mcp HTTP/1.1
# Mcp-Method: tools/list
#
# {"jsonrpc":"2.0","id":1,"method":"tools/call", ...}
# ```

# %% [markdown]
# ## You will
# - send a message as a POST, by hand down to the bytes of the socket;
# - get JSON for one request and a stream of events for another, from the same address;
# - provoke every refusal, with its status and its code;
# - see headers and body compared, in both directions, and what a server that trusts one of them risks;
# - close a stream in the middle, and watch the server notice;
# - run one client over stdio and over HTTP, and compare the tapes.

# %%
import json
import socket
import threading

import httpx

from mcp_bare import revision, tape
from mcp_bare.client import Client
from mcp_bare.memory import MemoryTransport
from mcp_bare.server import Server
from mcp_bare.streamable_http import HttpServer, HttpTransport
from toy_servers import changing
from workbench.servers import open_toy
from workbench.tables import table
from workbench.tape_view import show
from workbench.web import Masked

# %% [markdown]
# ## The bytes
#
# `HttpServer` puts a server at an address: one endpoint, on this machine only, on any free port. The
# server object is the one that answered over stdio; it does not know the difference.

# %%
http = HttpServer(changing.server)
masked = Masked({f":{http.port}": ":8931"})
masked.print(http.url)

# %% [markdown]
# A message over HTTP is the body of a POST. Around it stand headers, and some of them repeat what
# the body says, for proxies and load balancers that do not read bodies. We write all of it by hand
# once.

# %%
meta = revision.request_meta({}, {"name": "bare-hands", "version": "0.0.1"})
message = {"jsonrpc": "2.0", "id": 1, "method": "resources/read"}
message["params"] = {"uri": "weather://now", "_meta": meta}
body = json.dumps(message, separators=(",", ":")).encode()
head = f"""POST /mcp HTTP/1.1
Host: 127.0.0.1:{http.port}
Content-Type: application/json
Content-Length: {len(body)}
Accept: application/json, text/event-stream
MCP-Protocol-Version: 2026-07-28
Mcp-Method: resources/read
Mcp-Name: weather://now

""".replace("\n", "\r\n")

# %%
with socket.create_connection(("127.0.0.1", http.port), timeout=10) as wire:
    wire.sendall(head.encode() + body)
    came = wire.recv(65536).decode()
print("\n".join(line for line in came.splitlines() if not line.startswith("Date:")))

# %% [markdown]
# Below the headers stands the same result as on stdio. The meaning is in the message; a transport
# only says where it begins and ends, and how it gets there.
#
# From here on `httpx` writes the request. `post` starts from one that is right in every respect, and
# changes what we tell it to: a header, or a member of the message.


# %%
def post(method="tools/list", headers=None, _meta=None, message=None, **params):
    params["_meta"] = {k: v for k, v in {**meta, **(_meta or {})}.items() if v is not None}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params, **(message or {})}
    sent = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": revision.CURRENT,
        "Mcp-Method": method,
        "Mcp-Name": params.get("name", params.get("uri")),
        **(headers or {}),
    }
    sent = {name: value for name, value in sent.items() if value is not None}
    return httpx.post(http.url, json=body, headers=sent, trust_env=False)


# %% [markdown]
# ## JSON or a stream
#
# A client says that it takes both, and the server chooses, for each request. **Predict:** we count
# to three twice, and ask for progress the second time. What comes back?

# %%
for asks in ({}, {"progressToken": "p"}):
    answer = post("tools/call", name="count", arguments={"to": 3}, _meta=asks)
    print(answer.headers["Content-Type"])
    print(answer.text.strip()[:600], "\n")

# %% [markdown]
# One message: JSON. Something to say before the answer: a stream of server-sent events, one message
# an event, the response last, and then the stream ends. It belongs to this request alone; there is
# no other channel.

# %% [markdown]
# ## Every refusal
#
# On stdio a refusal is a code. Over HTTP it has a status as well, so that a proxy can tell what
# happened. **Predict:** which of these share the status 400, and which two do not?

# %%
tries = {
    "no capabilities in the body": {"_meta": {revision.CLIENT_CAPABILITIES: None}},
    "an unknown version, in both": {
        "_meta": {revision.PROTOCOL_VERSION: "1900-01-01"},
        "headers": {"MCP-Protocol-Version": "1900-01-01"},
    },
    "no version header": {"headers": {"MCP-Protocol-Version": None}},
    "header and body of different versions": {"headers": {"MCP-Protocol-Version": "2025-11-25"}},
    "no Mcp-Method": {"headers": {"Mcp-Method": None}},
    "Mcp-Method of another method": {"headers": {"Mcp-Method": "prompts/list"}},
    "an unknown method": {"method": "tools/invent"},
    "another JSON-RPC": {"message": {"jsonrpc": "1.0"}},
    "a page of another site": {"headers": {"Origin": "https://attacker.example"}},
}

# %%
rows = []
for name, how in tries.items():
    answer = post(**how)
    error = answer.json().get("error", {}) if answer.content else {}
    rows.append(
        (name, str(answer.status_code), str(error.get("code", "")), error.get("message", "")[:60])
    )
table(rows, ["the request", "status", "code", "message"])

# %% [markdown]
# An unknown method is 404: at this address there is no such thing. A page from elsewhere is 403: a
# browser would send it with the person's network behind it, and a server on this machine must not
# listen to every site the person visits.
#
# ## Other verbs
#
# The older revisions opened a stream with GET and ended a session with DELETE. Both are gone.

# %%
for verb in ("GET", "DELETE"):
    answer = httpx.request(verb, http.url, trust_env=False)
    print(verb, answer.status_code, "Allow:", answer.headers["Allow"])

# %% [markdown]
# And a notification has no answer, so over HTTP it gets a status and an empty body:

# %%
headers = {"MCP-Protocol-Version": revision.CURRENT, "Mcp-Method": "notifications/made_up"}
headers |= {"Accept": "application/json, text/event-stream"}
note = {"jsonrpc": "2.0", "method": "notifications/made_up"}
answer = httpx.post(http.url, json=note, headers=headers, trust_env=False)
print(answer.status_code, answer.content)

# %% [markdown]
# ## Why headers and body must agree
#
# Say that a gateway before our server lets everyone list and only some people call, and that it
# reads `Mcp-Method`, since reading bodies is slow. **Predict:** what would a server do that reads
# the body only, with the request from the top of this page?

# %%
answer = post(
    "tools/call", name="learn", arguments={}, headers={"Mcp-Method": "tools/list", "Mcp-Name": None}
)
print(answer.status_code, answer.json()["error"]["code"], answer.json()["error"]["message"])

# %% [markdown]
# It would have made the call, past the gateway. So a server that reads the body must check that the
# headers say the same, and refuse with -32020 when they do not
# (`basic/transports/streamable-http`, "Server Validation"). The chapter found one SDK that compares
# in one direction only: with an older version in the header it chose the older era and never looked
# into the body.
#
# A name that is no plain ASCII cannot stand in a header. It is written in Base64, between marks,
# and compared after decoding:

# %%
with HttpServer(Server("names", "1.0.0")) as named:
    client = Client(HttpTransport(named.url))
    with client:
        try:
            client.call_tool("日本")
        except Exception as refusal:
            print(refusal)

# %% [markdown]
# The server answered about the tool, not about the header: it decoded `=?base64?5pel5pys?=`, found
# the name in the body to be the same, and went on to look for it.

# %% [markdown]
# ## Leaving in the middle
#
# On stdio a client cancels with a notification. Over HTTP the stream is the request's own, so a
# client leaves by closing it, and that *is* the cancellation. The server is told by a tool that
# notes how it ended:

# %%
ended = threading.Event()
slow = Server("slow", "1.0.0")


@slow.tool({"name": "wait", "inputSchema": {"type": "object"}})
def wait(call):
    try:
        for step in range(1, 1000):
            yield call.progress(step)
            ended.wait(0.02)
    finally:
        ended.set()


# %%
with HttpServer(slow) as long_running, Client(HttpTransport(long_running.url)) as client:
    began = threading.Event()
    waiting = client.start("tools/call", {"name": "wait"}, on_progress=lambda note: began.set())
    began.wait(10)
    waiting.cancel("that will do")
    print("the tool ended early:", ended.wait(10))
    print([entry.message["method"] for entry in client.tape if entry.direction == "→"])

# %% [markdown]
# No `notifications/cancelled` on the tape: over HTTP none is sent.

# %% [markdown]
# ## The same client, three wires
#
# **Predict:** the same four requests over memory, stdio and HTTP. In how many lines do the tapes
# differ?


# %%
def conversation(client):
    with client:
        client.discover()
        client.list_tools()
        client.read_resource("weather://now")
        client.call_tool("count", {"to": 2}, on_progress=print)
    return client.tape


over_stdio = conversation(open_toy("changing"))
over_memory = conversation(Client(MemoryTransport(changing.server)))
over_http = conversation(Client(HttpTransport(http.url)))
print("stdio and memory:", len(tape.compare(over_stdio, over_memory)))
print("stdio and HTTP:  ", len(tape.compare(over_stdio, over_http)))

# %% [markdown]
# In none. Which transport it is can be seen from the outside only.

# %%
show(over_http, last=1, ids=True)

# %%
http.stop()

# %% [markdown]
# ## You saw
# - a message inside a POST, and headers that repeat it;
# - JSON for one message, a stream for several, chosen for each request;
# - the refusals with their statuses: 400 for most, 404 for a method, 403 for a foreign page, 405 for
#   other verbs, 202 for what needs no answer;
# - header and body compared, because somebody else may have decided by the header alone;
# - a closed stream that cancels, and three wires with one conversation on them.
#
# ## Your turn
# The exercise of this notebook is [Post and stream](../../exercises/ch27/06_post_and_stream.ipynb).
#
# Send `Mcp-Name` in capitals, with two spaces around it, and in Base64 though it need not be. Which
# of the three does the server take, and why may it?

# %%
# Your cell.
