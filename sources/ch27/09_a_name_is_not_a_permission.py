# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 9. A name is not a permission
#
# *Chapter 27, to its last question: what stops you from forwarding a token that was meant for
# somebody else? 15 minutes to read, 8 to do.*
#
# A server needs data from an API. Its caller has just sent it a token that the API would take. One
# line, and it works:
#
# ```
# httpx.get(API, headers={"Authorization": call.headers["Authorization"]})
# ```
#
# Whom has this line let in?

# %% [markdown]
# ## You will
# - build the server that forwards its caller's token, and the API that takes it;
# - attack that API with a token from a weather server;
# - let the API check its own name, and see the attack and the shortcut end together;
# - do it right: a token of the server's own, for the API, with the person's name as an argument;
# - steal a half-finished call, and an answer from an authorization server.

# %%
import time

from mcp_bare import elicitation
from mcp_bare.auth.flow import check_issuer
from mcp_bare.auth.guard import Guard
from mcp_bare.auth.tokens import HmacVerifier, sign
from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse, Refused
from mcp_bare.server import Server
from mcp_bare.state import Seal
from mcp_bare.streamable_http import HttpServer, HttpTransport
from workbench.tables import table
from workbench.web import free_port

# %% [markdown]
# ## The cast
#
# One authorization server, which issues tokens for three: an expenses API, a reports server that
# speaks MCP and sits before it, and a weather server that has nothing to do with either. All trust
# the same issuer and so the same key. Ana uses the reports and the weather.

# %%
ISSUER, KEY = "https://auth.example", b"the key with which this authorization server signs"
API, REPORTS, WEATHER = (f"https://{name}.example" for name in ("expenses", "reports", "weather"))
NOW = int(time.time())


def token(audience, subject="ana", scope="expenses:read"):
    claims = {"iss": ISSUER, "aud": audience, "sub": subject, "exp": NOW + 300, "scope": scope}
    return sign(claims, KEY, "k1")


# %% [markdown]
# The API of the first act checks what most first versions check: the signature and the expiry. It
# is a function, since how it is reached does not matter here.

# %%
EXPENSES = {"ana": ["train 42.00"], "bob": ["dinner 310.00"]}
verify = HmacVerifier({"k1": KEY}).verify


def careless_api(authorization):
    claims = verify(authorization.removeprefix("Bearer "))
    return EXPENSES[claims["sub"]] if claims["exp"] > time.time() else "expired"


# %% [markdown]
# ## The shortcut
#
# The reports server gets Ana's token, for it was sent to it, and hands it on. The toolkit makes that
# hard: what a handler sees is `call.caller.principal`, a name, and never the token. So we have to
# write a guard that leaks it.


# %%
class Leaky:
    def admit(self, authorization, message):
        return authorization  # the whole header, in place of a name

    def well_known(self, path):
        return None


reports = Server("reports", "1.0.0")


@reports.tool({"name": "my_expenses", "inputSchema": {"type": "object"}})
def my_expenses(call):
    return f"Expenses: {careless_api(call.caller.principal)}"


# %%
def ask(server, guard, bearer, port=0):
    headers = {"Authorization": f"Bearer {bearer}"}
    with (
        HttpServer(server, port=port, guard=guard) as http,
        Client(HttpTransport(http.url, headers=headers)) as client,
    ):
        return client.call_tool("my_expenses")["content"][0]["text"]


print(ask(reports, Leaky(), token(REPORTS)))

# %% [markdown]
# It works, and it demonstrates well. Note what had to be true: the API took a token that was issued
# for the reports server. It does not look at whom a token is for, or the shortcut would fail.
#
# ## The attack
#
# The weather server has Ana's token too: she asked for a forecast. **Predict:** what can it read?

# %%
stolen = token(WEATHER, scope="weather:read")
print(careless_api(f"Bearer {stolen}"))

# %% [markdown]
# Her expenses. Every server that Ana ever sends a token to can act as Ana at this API. Nobody broke
# a signature; a token was used where it was not meant for. The one who lets itself be used like that
# is called a *confused deputy*: it lends its own standing to whoever calls it.
#
# ## The cure, on the API's side
#
# The API checks its own name. That is the rung of notebook 7 that no library can climb for you.
# **Predict:** which of these two still works?

# %%
careful = Guard(API, [ISSUER], verify, lambda message: ["expenses:read"])


def careful_api(authorization):
    try:
        return EXPENSES[careful.admit(authorization, {"method": "GET"})]
    except Refused as refused:
        return (
            f"{refused.status} {refused.headers['WWW-Authenticate'].split('description=')[1][:72]}"
        )


print("the weather server:", careful_api(f"Bearer {stolen}"))
print("the reports server:", careful_api(f"Bearer {token(REPORTS)}"))

# %% [markdown]
# Neither. The attack and the shortcut were the same thing. "MCP servers MUST NOT accept or transit
# any other tokens" than those that were issued for them, says the specification, and this is the
# reason: who forwards makes an API that cannot tell a deputy from a thief.
#
# ## The cure, on the server's side
#
# The reports server is a client of the API in its own right. It has a token of its own, for the API,
# in its own name, and says in an argument whose expenses it wants. Whether it may ask for Ana's is
# the API's to decide, from what it knows of the reports server.

# %%
DEPUTIES = {"reports": {"ana"}}  # for whom the reports server may ask: Ana said so, once
OWN = token(API, subject="reports")


def deputy_api(authorization, person):
    who = careful.admit(authorization, {"method": "GET"})
    return (
        EXPENSES[person] if person in DEPUTIES.get(who, ()) else f"{who} may not ask for {person}"
    )


honest = Server("reports", "2.0.0")


@honest.tool({"name": "my_expenses", "inputSchema": {"type": "object"}})
def my_expenses_honestly(call):
    return f"Expenses: {deputy_api(f'Bearer {OWN}', call.caller.principal)}"


# %%
port = free_port()
RESOURCE = f"http://127.0.0.1:{port}/mcp"
guard = Guard(RESOURCE, [ISSUER], verify)
print(ask(honest, guard, token(RESOURCE), port))
print(ask(honest, guard, token(RESOURCE, subject="bob"), port))

# %% [markdown]
# Two tokens, each used by the one it was issued to, at the one it was issued for. Bob is known, and
# has not let the reports server ask for him.
#
# ## A stolen half of a call
#
# Not only tokens travel. A question that a server asked is on its way through the client, and its
# `requestState` with it. Over HTTP a server has a principal to bind it to. **Predict:** Bob got hold
# of Ana's state, and answers her question with his own token.

# %%
approvals = Server("approvals", "1.0.0")
seal = Seal(b"a key that the copies of this server share")
QUESTION = elicitation.form("Approve 310.00?", {"yes": {"type": "boolean"}}, ["yes"])


@approvals.tool({"name": "approve", "inputSchema": {"type": "object"}})
def approve(call):
    if call.request_state is None:
        return call.ask({"sure": QUESTION}, seal.close({"amount": "310.00"}, call))
    amount = seal.open(call.request_state, call)["amount"]
    answer = elicitation.read(call.input_responses, "sure", QUESTION)
    return f"{call.caller.principal} approved {amount}: {answer.content.get('yes', False)}"


# %%
with HttpServer(approvals, port=port, guard=guard) as http:

    def client_of(subject):
        headers = {"Authorization": f"Bearer {token(RESOURCE, subject=subject)}"}
        forms = {"elicitation": {"form": {}}}
        return Client(HttpTransport(http.url, headers=headers), capabilities=forms)

    call, yes = {"name": "approve", "arguments": {}}, {"sure": elicitation.accept({"yes": True})}
    with client_of("ana") as ana, client_of("bob") as bob:
        asked = ana.request("tools/call", call)
        try:
            bob.retry("tools/call", call, asked, yes)
        except ErrorResponse as refusal:
            print("bob:", refusal)
        print("ana:", ana.retry("tools/call", call, asked, yes)["content"][0]["text"])

# %% [markdown]
# The state is a name for a half-finished call, and it is not a permission to finish it.
#
# ## A stolen answer
#
# One more thing travels: the answer of an authorization server, through the person's browser. Say
# that a client uses two of them, and one is dishonest. It lets the browser come back with a code of
# the honest one. The client believes that the code is from where it went, and takes it there, to the
# thief. That is the *mix-up*, and `iss` in the answer ends it, compared as the identical string:

# %%
went_to = "https://auth.example"
knows = {"issuer": went_to, "authorization_response_iss_parameter_supported": True}
for came_from in (went_to, "https://thief.example", "https://auth.example/", None):
    try:
        check_issuer(went_to, came_from, knows)
        print(came_from, "-> go on")
    except Exception as refusal:
        print(came_from, "->", str(refusal)[:110])

# %% [markdown]
# ## What stops you?
#
# The chapter ends with a question: if a token arrives at your server that was issued for somebody
# else, what exactly stops you from forwarding it? Four things, from the weakest to the strongest:

# %%
table(
    [
        ("a rule", "MUST NOT accept or transit other tokens", "whoever has read it"),
        ("your own ladder", "the audience is not you: 401, before a tool runs", "your server"),
        (
            "the other's ladder",
            "the audience is not the API: 401, there",
            "an API that checks its name",
        ),
        (
            "the shape of your code",
            "a handler is given a name, never a token",
            "whoever writes the next tool",
        ),
    ],
    ["what", "how", "whom it stops"],
)

# %% [markdown]
# The last row is not in the specification. It is a choice of this toolkit, and a cheap one: code
# that never sees a token cannot forward it.

# %% [markdown]
# ## You saw
# - a shortcut that works because an API does not ask for whom a token is;
# - the same door used by a weather server;
# - both closed by one check, of the API's own name;
# - a server with a token of its own, and the person as an argument;
# - a state that only its caller can use, and an answer that must come from where the client went.
#
# ## Your turn
# The exercise of this notebook is [Stop a confused deputy](../../exercises/ch27/09_a_confused_deputy.ipynb).
#
# The honest reports server keeps one token for all its callers. What has to be true of `DEPUTIES` so
# that it is no confused deputy itself? Who should be able to change it?

# %%
# Your cell.
