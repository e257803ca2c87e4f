# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 5. The server asks back
#
# *Chapter 26, from the event without a date to statelessness put to the test. 18 minutes to read,
# 12 to do.*
#
# We asked a calendar to create an event and left out the start. It did not refuse, and it did not
# send us a question. It answered:
#
# ```
# ← {"resultType":"input_required", ... ,"requestState":"eyJ0aXRsZSI6IkRlbnRpc3QifQ=="}
# ```
#
# What is that string, and who may write it?

# %% [markdown]
# ## You will
# - let a server ask the person, and answer it: one call, two requests;
# - start the call in process A and finish it in process B, which never saw the question;
# - decline, cancel, and answer with nothing, and see that nothing is created;
# - open `requestState`, forge it, and make the server do what it never offered;
# - seal it, and try every forgery again.

# %%
import base64
import json
import secrets
import tempfile

from mcp_bare import elicitation
from mcp_bare.call import Call, Caller
from mcp_bare.errors import ErrorResponse, InputNeeded, StateRejected
from mcp_bare.server import Server
from mcp_bare.state import Seal, peek
from workbench.servers import open_toy
from workbench.tables import table
from workbench.tape_view import show

# %% [markdown]
# ## A question in an answer
#
# In this revision a server never sends a request. When it needs something it *answers* the
# request it got, with `resultType` `input_required` and a description of what is missing
# (`basic/patterns/mrtr`). The form is a small JSON Schema, flat on purpose: any client can draw it.

# %%
CALL = {"name": "create_event", "arguments": {"title": "Dentist"}}
FORMS = {"elicitation": {"form": {}}}

with open_toy("calendar_by_hand", capabilities=FORMS) as process_a:
    asked = process_a.request("tools/call", CALL)
show(process_a)

# %% [markdown]
# `inputRequests` holds the questions, each under a key that the server chose; here there is one,
# `when`. The toolkit turns the schema into fields, so that a person can be asked properly:

# %%
question = asked["inputRequests"]["when"]["params"]
print(question["message"])
for field in elicitation.fields(question["requestedSchema"]):
    print(field.name, field.kind, field.schema["format"], "required:", field.required)

# %% [markdown]
# ## Process B has never seen it
#
# Process A is gone: the `with` block ended it. The person answers now, and we send the same call
# again, with a new id, the answer under the same key, and the state exactly as it came.
#
# **Predict:** a fresh process gets this. Does it know what is going on?

# %%
yes = {"when": elicitation.accept({"startsAt": "2026-09-10T08:30:00Z"})}
with open_toy("calendar_by_hand", capabilities=FORMS, ids=[2]) as process_b:
    done = process_b.retry("tools/call", CALL, asked, yes)
show(process_b)

# %% [markdown]
# It finished a call that another process began. The continuation travelled in the message, so
# nothing depends on which process, or which machine, gets the second half.
#
# With a handler the client does all this in one call: it asks, answers, and sends again.

# %%
handlers = {"elicitation/create": lambda asked: elicitation.accept(yes["when"]["content"])}
with open_toy("calendar_by_hand", handlers=handlers) as client:
    result = client.call_tool("create_event", {"title": "Dentist"})
print(result["content"][0]["text"], "| ids:", [e.message["id"] for e in client.tape])

# %% [markdown]
# And without a handler it waits for nobody. The question comes back as an exception that holds the
# whole result, and the next cell, or a button, or a test, can answer it.

# %%
with open_toy("calendar_by_hand", capabilities=FORMS) as client:
    try:
        client.call_tool("create_event", {"title": "Dentist"})
    except InputNeeded as needed:
        print(needed)
        print("the question:", needed.result["inputRequests"]["when"]["params"]["message"])

# %% [markdown]
# ## No is an answer
#
# A person can accept, decline, or go away (`client/elicitation`, "Response Actions"). Code that
# looks only for `content` takes a decline with something in it for a yes. **Predict:** what does
# the calendar do with each of these?

# %%
answers = {
    "accept": yes["when"],
    "decline": elicitation.decline(),
    "cancel": elicitation.cancel(),
    "decline, with content": {**elicitation.decline(), **yes["when"], "action": "decline"},
    "accept, without content": elicitation.accept(),
    "no answer at all": None,
}
with open_toy("calendar_by_hand", capabilities=FORMS) as client:
    for name, given in answers.items():
        responses = {} if given is None else {"when": given}
        result = client.retry("tools/call", CALL, asked, responses)
        print(f"{name:<24}", result.get("content", [{"text": result["resultType"]}])[0]["text"])

# %% [markdown]
# Decline and cancel are answers, not accidents: the call completes, and nothing is created. Where
# the answer is missing the server asks again, which is what the specification recommends over an
# error.
#
# ## Not every client can be asked
#
# A client that did not declare `elicitation` must not be sent a question. The call is refused with
# -32021 instead, and the model can be told to ask for the date itself.

# %%
with open_toy("calendar_by_hand", capabilities={}) as client:
    try:
        client.call_tool("create_event", {"title": "Dentist"})
    except ErrorResponse as refusal:
        print(refusal.code, refusal.data)

# %% [markdown]
# One thing no server may ask for in a form: "passwords, API keys, access tokens, or payment
# credentials". Whatever is typed into a form passes through the client. For secrets there is URL
# mode, a page that the client never reads.
#
# ## What is in the state?
#
# To a client `requestState` is opaque: it must echo it and must not look inside. We are not a
# client now, we are curious. It ends in `==`, so:

# %%
state = asked["requestState"]
print(state)
print(peek(state))

# %% [markdown]
# Base64 is an alphabet, not a lock. What we can read we can write. **Predict:** we ask for a
# dentist, and send back a state of our own making. What does process B create?

# %%
forged = base64.b64encode(json.dumps({"title": "Wire 9000 EUR to X"}).encode()).decode()
with open_toy("calendar_by_hand", capabilities=FORMS) as process_b:
    done = process_b.retry("tools/call", CALL, {**asked, "requestState": forged}, yes)
print(done["content"][0]["text"])

# %% [markdown]
# The arguments said "Dentist". A host that showed the arguments to a person for approval showed
# the wrong thing. "Servers MUST treat requestState as an attacker-controlled input", and where it
# decides anything they must protect its integrity and reject what fails the test
# (`basic/patterns/mrtr`, "Server Requirements").
#
# ## A seal
#
# The cure is short: a message authentication code over the payload, with a key that only the
# server has, and bound to what the state is for: who asked, which call, until when. Here are two
# callers and one call, as the server sees them:

# %%
seal = Seal(b"a key that every process of this server shares")
server = Server("calendar", "1.0.0")
meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": FORMS,
}


def incoming(params, who):
    return Call(server, "tools/call", {**params, "_meta": meta}, Caller(who))


call = incoming(CALL, "ana")
sealed = seal.close({"title": "Dentist"}, call, now=1_000_000)
print(sealed)

# %% [markdown]
# Three parts: a version, the payload, the code. The payload is still Base64, and still anyone can
# read it: a seal shows tampering, it does not hide anything. The payload begins with the second in
# which it expires.

# %%
peek(sealed.split(".")[1] + "==")

# %% [markdown]
# Now every forgery that we can think of. **Predict:** which ones pass?

# %%
version, payload, code = sealed.split(".")
other_payload = base64.b64encode(b'[2000000,{"title":"Wire 9000 EUR to X"}]').decode().rstrip("=")
wire = {"name": "create_event", "arguments": {"title": "Wire 9000 EUR to X"}}
attempts = [
    ("as it was given", sealed, call, 1_000_010),
    ("another payload", f"{version}.{other_payload}.{code}", call, 1_000_010),
    ("by another caller", sealed, incoming(CALL, "bob"), 1_000_010),
    ("on another call", sealed, incoming(wire, "ana"), 1_000_010),
    ("after it expired", sealed, call, 1_000_300),
    ("not one of ours", forged, call, 1_000_010),
    ("not even ASCII", "v1.ä.ö", call, 1_000_010),
]
rows = []
for name, token, at, now in attempts:
    try:
        rows.append((name, f"opens: {seal.open(token, at, now=now)}"))
    except StateRejected as rejected:
        rows.append((name, f"rejected: {rejected.reason}"))
table(rows, ["a state that comes back", "the server's log"])

# %% [markdown]
# The reasons are for the server's own log. The client is told one sentence, the same for all:

# %%
try:
    seal.open(forged, call)
except StateRejected as rejected:
    print(rejected.body())

# %% [markdown]
# ## The same attack, on a sealed server
#
# `calendar_handles` seals its states with a key that its processes share. Process A asks; we put
# our forged state into the retry.

# %%
folder = tempfile.TemporaryDirectory()
shared = {
    "CALENDAR_DB": f"{folder.name}/calendar.sqlite3",
    "CALENDAR_STATE_KEY": secrets.token_hex(16),
    "CALENDAR_USER": "ana",
}
with open_toy("calendar_handles", env=shared, capabilities=FORMS) as process_a:
    calendar = process_a.call_tool("create_calendar")["structuredContent"]["calendar"]
    sealed_call = {"name": "create_event", "arguments": {"calendar": calendar, "title": "Dentist"}}
    asked = process_a.request("tools/call", sealed_call)
print(asked["inputRequests"]["when"]["params"]["message"])

# %%
with open_toy("calendar_handles", env=shared, capabilities=FORMS) as process_b:
    try:
        process_b.retry("tools/call", sealed_call, {**asked, "requestState": forged}, yes)
    except ErrorResponse as refusal:
        print("forged: ", refusal)
    print("genuine:", process_b.retry("tools/call", sealed_call, asked, yes)["content"][0]["text"])
folder.cleanup()

# %% [markdown]
# The genuine state opened in process B because both have the same key. A server that makes up a
# key when it starts has a seal that dies with the process, and is back where process B knows
# nothing. One thing a seal does not do is count: it can be used twice until it expires, so what
# may happen only once must be remembered by the server.

# %% [markdown]
# ## You saw
# - a question in an answer: `input_required`, a form, a key, a state;
# - process B finish what process A began, since the continuation travels in the message;
# - decline, cancel and silence: nothing is created, and nothing hangs;
# - a state that anyone can write, and an event that nobody asked for;
# - a seal bound to caller, call and time: it opened for the genuine state and for no other.
#
# ## Your turn
# The exercises of this notebook are [The server asks back](../../exercises/ch26/05_the_server_asks_back.ipynb) and [Forge it, then seal it](../../exercises/ch26/05b_forge_and_seal.ipynb).
#
# The seal's payload is readable. Write down what a server should never put into it, and then find
# out what `calendar_handles` puts there.

# %%
# Your cell.
