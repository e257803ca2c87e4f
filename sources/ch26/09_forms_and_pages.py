# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 9. Forms and pages
#
# *Chapter 26, elicitation: the form, its hard rule, and the page that the client never reads.
# 15 minutes to read, 12 to do.*
#
# We called a tool, and this came back:
#
# ```
# ← {"resultType":"input_required", ... "message":"Log in to go on.", ...
#    "properties":{"user":{"type":"string"},"password":{"type":"string","minLength":8}} ...
# ```
#
# Every byte of it is well formed, and the schema is one that a form may have. Why must our client
# not draw it?

# %% [markdown]
# ## You will
# - turn the schema of a question into a form, by hand and with the workbench;
# - press its buttons, or answer it from code, and see the same bytes go out;
# - see a bad answer stopped before it is sent, and a default of `false` kept;
# - watch a client refuse two forms, and say which rule they break;
# - give a server a secret that never crosses the wire of the protocol.
#
# Forms live while the kernel runs. If you read this page without running it, each stands as it was
# when the page was built, waiting, and perhaps as plain text.

# %%
import urllib.parse
import urllib.request

import ipywidgets

from mcp_bare import elicitation
from mcp_bare.addresses import review
from mcp_bare.errors import ProtocolViolation, TransportClosed
from workbench.forms import NotSent, ask
from workbench.servers import open_toy
from workbench.tables import table
from workbench.tape_view import raw, show

# %% [markdown]
# ## A schema is not a form yet
#
# `toy_servers/questions.py` asks before it does anything. We tell it that we can show forms and
# pages, and call a tool. First the bytes.

# %%
MODES = {"elicitation": {"form": {}, "url": {}}}
client = open_toy("questions", capabilities=MODES)
asked = client.request("tools/call", {"name": "reserve_room", "arguments": {"purpose": "Course"}})
raw(client.tape)

# %% [markdown]
# The schema is restricted on purpose (`client/elicitation`, "Requested Schema"): a flat object of
# strings, numbers, yes or no, and choices. By hand, the first field is one line. **Predict:** what
# does the box hold before anyone has touched it?

# %%
schema = asked["inputRequests"]["form"]["params"]["requestedSchema"]
people = schema["properties"]["people"]
box = ipywidgets.BoundedIntText(
    description=people["title"], min=people["minimum"], max=people["maximum"]
)
print(box.value)

# %% [markdown]
# One. Nobody said one. A widget for numbers always holds a number, a tick box is always ticked or
# not, and a form made of them sends answers that no person gave. So the workbench types a number
# as text, and gives a yes or no a third state.
#
# Defaults have the opposite trouble. **Predict:** which of these two lines loses some?

# %%
properties = schema["properties"]
print("truthy: ", {name: p["default"] for name, p in properties.items() if p.get("default")})
print("present:", {name: p["default"] for name, p in properties.items() if "default" in p})
print("toolkit:", elicitation.defaults(schema))
rows = [(f.label, f.name, f.kind, f.required, f.has_default) for f in elicitation.fields(schema)]
table(rows, ["the person reads", "the wire has", "kind", "required", "has a default"])

# %% [markdown]
# `false` and `""` are defaults like any other: what counts is that the key is there. And what the
# person reads is a label, kept apart from the name that goes on the wire.
#
# ## A form, and a cell that does not wait
#
# `ask` calls the tool, draws the question, and returns. The name in bold is the one that *we* gave
# the server; what it calls itself stands beside it, as a claim: "Clients MUST provide clear
# indication of which server is requesting information" (`client/elicitation`, "Security
# Considerations").
#
# With the kernel running: press **Send** at once, read what is wrong, then fill it in and send.

# %%
form = ask(client, "reserve_room", {"purpose": "Course"}, server="rooms")
form

# %% [markdown]
# A cell that waited for the button would wait forever under "Run All". Ours has ended. The call
# goes on when a button is pressed, in that button's callback, and the result appears under the
# form and here. Run this cell again after you have sent it.

# %%
print("the result so far:", form.result)

# %% [markdown]
# ## The same form, answered from code
#
# Where there is no browser, as in a test, the same methods are called that the buttons call.
# **Predict:** how many messages does the first attempt send?

# %%
same = ask(client, "reserve_room", {"purpose": "Course"}, server="rooms")
before = len(client.tape)
try:
    same.accept({"people": 40, "projector": "yes"})
except NotSent as stopped:
    print(*stopped.problems, sep="\n")
print("messages sent:", len(client.tape) - before)

# %% [markdown]
# None. "Clients SHOULD validate all responses against the provided schema" (`client/elicitation`,
# "Form Mode Security"): what does not fit is said to the person, beside the field, and the server
# does not hear of it. Now an answer that fits. It leaves `projector` and `note` out, and so does
# the wire.

# %%
same.accept({"people": 4, "day": "2026-09-10"})
show(client, last=1)

# %% [markdown]
# No is said with a button, too, and it is sent: a server that hears nothing cannot tell a person
# who declined from a client that died.

# %%
for way in ("decline", "cancel"):
    question = ask(client, "reserve_room", {"purpose": "Course"}, server="rooms")
    result = getattr(question, way)()
    print(f"{way:<8}", result["content"][0]["text"])

# %% [markdown]
# ## Every shape there is
#
# Fourteen fields, every shape that the restricted schema allows: text with a length and with each
# of the four formats, numbers with bounds, yes or no, one choice in three spellings, several
# choices in two. "Nights" and "Vegetarian" have the defaults `0` and `false`, and they are there.
# A badge is "Sea green" to the person and `#2E8B57` to the wire.

# %%
conference = ask(client, "register", server="conference")
conference

# %% [markdown]
# ## Two questions in one answer
#
# `inputRequests` is a map: a server may ask several things at once, under keys of its choice. One
# retry carries all the answers, so nothing goes out before the last one is given. **Predict:** what
# is the result after the first?

# %%
lunch = ask(client, "plan_lunch", server="kitchen")
lunch.questions["meal"].accept({"meal": "sarmale"})
print("after one answer: ", lunch.result)
lunch.questions["table"].accept({"outside": False})
print("after both:       ", lunch.result["content"][0]["text"])

# %% [markdown]
# ## The forms that are not drawn
#
# Now the puzzle. Servers "MUST NOT use form mode elicitation to request sensitive information such
# as passwords, API keys, access tokens, or payment credentials" (`client/elicitation`, "User
# Interaction Model"). What is typed into a form passes through the client, and lands on every tape,
# in every log, and perhaps in front of the model. A client that draws the box has helped to break
# the rule.

# %%
ask(client, "log_in", server="rooms")

# %% [markdown]
# No box, the rule in its place, and an answer for the server: decline. Our client tells such a form
# by the words in it: `apiKey` is a secret, `apiKeyName` is not. Other words fool it, so the person
# who reads the form is still the last guard.
#
# The next form is refused for its shape: an object inside the form. Nobody says no to that one, it
# never reaches a person, so its answer is cancel.

# %%
ask(client, "survey", server="rooms")

# %% [markdown]
# ## A page that the client never reads
#
# For secrets there is URL mode. The server sends an address, the person opens it, and what is typed
# there goes to the server directly. The client must show the whole address before anyone agrees,
# should make the host stand out, and "MUST NOT automatically pre-fetch the URL"
# (`client/elicitation`, "Safe URL Handling").
#
# With the kernel running: look at the address, open the page, type something, come back, go on.

# %%
connect = ask(client, "connect_calendar", server="calendar")
connect

# %% [markdown]
# `accept` means here that the person agreed to open the page. It does not mean that they are done,
# and nobody tells the client when they are. From code, in a process of its own, we say yes too
# early. **Predict:** what does the server answer?

# %%
other = open_toy("questions", capabilities=MODES)
early = ask(other, "connect_calendar", server="calendar")
address = early.review()
early.accept()
print(early.result)
print(early.questions["page"].params["message"])

# %% [markdown]
# It asks again. Which page it waits for stands in its `requestState`, sealed as in notebook 5, so
# it finds out at the retry. Now we play the person's browser: we fill in the page, past the client.
# The address has a port and a name of its own each time, so we do not print it. **Predict:** is the
# secret on the tape, which has every byte that client and server exchanged?

# %%
SECRET = "sk-5f1e-never-on-the-wire"
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
typed = urllib.parse.urlencode({"secret": SECRET}).encode()
print("host:", address.host, "| warnings:", address.warnings)
print("the page says:", direct.open(address.url, typed).status)

early.review()
print(early.accept()["content"][0]["text"])
print("the secret is on our tape:", any(SECRET.encode() in entry.payload for entry in other.tape))
other.close()

# %% [markdown]
# ## Reading an address like a sceptic
#
# Whoever can make us open a page can make us type into theirs. `review` only looks at the text of
# an address. It fetches nothing, also not to find out more. **Predict:** which of these would you
# have opened?

# %%
suspects = [
    "https://calendar.example/connect/4711",
    "http://calendar.example/connect/4711",
    "https://calendar.example@evil.example/connect",
    "https://xn--clendar-2fg.example/connect",
    "http://2130706433/connect",
    "https:evil.example",
]
rows = []
for url in suspects:
    try:
        rows.append((url, review(url).host, "; ".join(review(url).warnings)))
    except ProtocolViolation as unfit:
        rows.append((url, "not opened", str(unfit).partition(": ")[2]))
table(rows, ["address", "host", "what the person should know"])

# %% [markdown]
# The fifth is this very machine: browsers read the number as 127.0.0.1. For a page on the loopback
# interface, as ours is, plain HTTP is nobody's business; everywhere else it is worth a warning.
#
# ## The person takes their time
#
# Meanwhile the server process ends. **Predict:** is the answer lost?

# %%
slow = open_toy("questions", capabilities=MODES)
thinking = ask(slow, "reserve_room", {"purpose": "Course"}, server="rooms")
slow.close()
try:
    thinking.accept({"people": 4, "day": "2026-09-10"})
except TransportClosed as gone:
    print("sent through the old connection:", gone)
print("sent through another:", thinking.send_again(client)["content"][0]["text"])

# %% [markdown]
# The form says what happened and keeps the answer. Any process of the server can take it, since the
# whole call travels in the message. A page is different: what was typed there is in the memory of
# the process that served it. URL mode needs a server that remembers.

# %% [markdown]
# ## You saw
# - a form made from a schema, with nothing in it that nobody said;
# - a cell that ended while its question was open, and one path for buttons and code;
# - an answer of 40 people stopped at the field, and defaults of `false`, `0` and `""` kept;
# - a password and a nested object refused, each with its clause;
# - a secret given to a server, and a tape without it.
#
# ## Your turn
# In `toy_servers/questions.py` the tool `log_in` breaks the rule. Mend it: ask for the user name in
# a form, and for the password on a page, as `connect_calendar` does. Which of the two may stand in
# `requestState`?

# %%
# Your cell.
