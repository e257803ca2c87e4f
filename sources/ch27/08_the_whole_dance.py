# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 8. The whole dance
#
# *Chapter 27, four RFCs with a job each, from a refusal to a token to a step up. 18 minutes to
# read, 10 to do.*
#
# A client knows one thing, the address of a server. It sends a message and is refused:
#
# ```
# 401  Bearer scope="incidents:read", resource_metadata="http://127.0.0.1:8931/.well-known/..."
# ```
#
# A second later it makes the same call and is served. Nobody configured anything in between.

# %% [markdown]
# ## You will
# - let a client find its way from that refusal to a token, and draw every request it made;
# - see `resource` in both requests, PKCE in both, and what each is there for;
# - step up: a call that needs more than the token allows, and one more visit to the person;
# - meet authorization servers that misbehave, one after another, and read why each was refused;
# - see that a client keeps what one issuer gave it away from every other.

# %%
import contextlib
import tempfile

from mcp_bare.auth.authorizer import Authorizer
from mcp_bare.auth.guard import Guard
from mcp_bare.auth.registration import ClientMetadata
from mcp_bare.auth.user_agent import follow
from mcp_bare.client import Client
from mcp_bare.errors import McpError
from mcp_bare.streamable_http import HttpServer, HttpTransport
from toy_servers import authorization_server, incidents
from workbench.dance import Noted
from workbench.sequence import Step, sequence
from workbench.tables import table
from workbench.web import Masked, free_port

# %% [markdown]
# ## The cast
#
# Three parties on this machine: the **incident log**, guarded; an **authorization server**, a toy that
# agrees to everything in Ana's name; and our **client**. A program introduces itself by the address
# of a document that describes it (Client ID Metadata Documents). Registering at every server anew is
# the deprecated way; it is there, as a fallback.

# %%
folder = tempfile.TemporaryDirectory()
SCOPES = ["incidents:read", "incidents:write"]
ME = ClientMetadata(
    "http://127.0.0.1:7777/callback", document_url="https://app.example/client.json"
)


def agrees(**options):
    return authorization_server.serve(
        user="ana", documents={ME.document_url: ME.document()}, **options
    )


# %%
def log_at(port, issuer):
    resource = f"http://127.0.0.1:{port}/mcp"
    guard = Guard(
        resource, [issuer.issuer], issuer.verify, incidents.scopes_for, scopes_supported=SCOPES
    )
    log = incidents.make(f"{folder.name}/log.sqlite3")
    return HttpServer(log, port=port, guard=guard)


@contextlib.contextmanager
def stage(*misbehave):
    with agrees(misbehave=misbehave) as issuer, log_at(free_port(), issuer) as http:
        yield issuer, http


# %% [markdown]
# ## From nothing to a call
#
# An `Authorizer` is what the client's transport asks for a header, and tells of a refusal. Its
# `fetch` makes the requests of the flow; ours writes them down. `follow` stands for the browser and
# the person in it: it goes where the client sends it, and comes back with what the toy said.

# %%
act = contextlib.ExitStack()
issuer, http = act.enter_context(stage())
names = {issuer.issuer: "authorization server", http.url.removesuffix("/mcp"): "incident log"}
masked = Masked({issuer.issuer: "http://AS", http.url.removesuffix("/mcp"): "http://LOG"})
noted = Noted(names)


def person(url):
    noted.steps.append(Step("client", "person", "please agree", 200))
    return follow(url, noted)


authorizer = Authorizer(http.url, person, ME, fetch=noted)

# %% [markdown]
# **Predict:** between the refusal and the answer, how many requests does the client make, and to
# whom is the first?

# %%
transport = HttpTransport(http.url, authorizer=authorizer)
client = Client(transport, timeout=30)
print(len(client.list_tools()), "tools")
steps = [Step("client", "incident log", "POST /mcp", 401), *noted.steps,
         Step("client", "incident log", "POST /mcp", 200)]  # fmt: skip
sequence(steps, ["client", "incident log", "authorization server", "person"])

# %% [markdown]
# Read it from the top. The refusal names a document; the document names an authorization server; its
# metadata names two addresses. The browser goes to the first with the person in it and brings back a
# code. The client changes the code for a token at the second, and makes its call again.
#
# ## What each request carried

# %%
for path, sent in noted.sent:
    masked.print(path)
    for name, value in sent.items():
        masked.print("   ", name, "=", value)

# %% [markdown]
# `resource` is in both requests to the authorization server: it says for whom the token is, and
# comes back inside it as the audience (RFC 8707). A client must send it "regardless of whether
# authorization servers support it". `code_challenge_method=S256` is PKCE: the client keeps a secret,
# sends its hash with the browser, and shows the secret only when it takes the token, so that a
# stolen code is worth nothing.
#
# The client never looks into the token. We may: for whom is it?

# %%
token = authorizer.header().removeprefix("Bearer ")
claims = issuer.verify(token)
for name in ("iss", "aud", "sub", "scope"):
    masked.print(f"{name:<6}", claims[name])

# %% [markdown]
# ## One rung up
#
# The token reads. We open an incident, which writes. **Predict:** 401 or 403, and what does the
# client ask the person for: the new scope, or both?

# %%
mark = len(noted.sent)
opened = client.call_tool("open_incident", {"title": "Queue backed up", "severity": "sev2"})
print(opened["content"][0]["text"])
for path, sent in noted.sent[mark:]:
    if "scope" in sent:
        print(path, "scope =", sent["scope"])

# %% [markdown]
# Both. A client that asked only for what was missing would get a token that writes and does not
# read, be refused at its next search, ask for that, and so on: 403, log in, 403, log in. So it asks
# for the union, and it does so a few times at most: a server that always says 403 gets a permanent
# error.

# %%
client.close()
act.close()

# %% [markdown]
# ## Authorization servers that misbehave
#
# A client trusts an authorization server with the person's consent. So it checks what it is told, at
# every step, and stops. The toy can get it wrong in many ways. **Predict:** which of these would a
# careless client not notice at all?


# %%
def refusal(*misbehave):
    with stage(*misbehave) as (issuer, http):
        masked = Masked({issuer.issuer: "http://AS", http.url.removesuffix("/mcp"): "http://LOG"})
        authorizer = Authorizer(http.url, follow, ME)
        with Client(HttpTransport(http.url, authorizer=authorizer), timeout=30) as client:
            try:
                client.list_tools()
            except McpError as trouble:
                return masked(trouble)
    return "served"


# %%
for fault in ("wrong-issuer", "slash-issuer", "no-pkce", "plain-pkce"):
    print(f"{fault}: {authorization_server.MISBEHAVIOURS[fault]}\n    {refusal(fault)}\n")

# %% [markdown]
# These are in the metadata. The issuer must be the identical string: no slash added or taken, no
# case folded, no default port dropped. Two names that a person would take for one are two issuers.
# And without S256 a client must not go on.

# %%
for fault in ("no-iss", "foreign-iss", "foreign-state"):
    print(f"{fault}: {authorization_server.MISBEHAVIOURS[fault]}\n    {refusal(fault)}\n")

# %% [markdown]
# These come back with the browser. `iss` in the answer says which authorization server it is from
# (RFC 9207). Without the comparison a client that uses two of them can be made to send the code of
# one to the other: a mix-up. The next notebook does it.

# %%
for fault in ("wrong-audience", "no-expiry", "unsigned"):
    print(f"{fault}: {authorization_server.MISBEHAVIOURS[fault]}\n    {refusal(fault)[:300]}\n")

# %% [markdown]
# These are in the token, and the client cannot see them: a token is none of its business. The
# incident log's ladder refuses each, and the client, told 401 for a token that it has only just got,
# says so once and does not start again.
#
# ## Credentials stay with their issuer
#
# What one issuer gave to a program, an id, a secret, a refresh token, is for that issuer. A server
# may move to another authorization server, or claim to. **Predict:** the resource metadata suddenly
# names a second authorization server. Does the client send it the refresh token of the first?

# %%
act = contextlib.ExitStack()
first, second = act.enter_context(agrees()), act.enter_context(agrees())
port = free_port()
address = f"http://127.0.0.1:{port}/mcp"
noted = Noted({first.issuer: "first", second.issuer: "second", address[:-4]: "incident log"})
authorizer = Authorizer(address, lambda url: follow(url, noted), ME, fetch=noted)
for issuer in (first, second):
    mark = len(noted.steps)
    with (
        log_at(port, issuer),
        Client(HttpTransport(address, authorizer=authorizer), timeout=30) as client,
    ):
        print(len(client.list_tools()), "tools")
for step, (_, sent) in list(zip(noted.steps, noted.sent, strict=True))[mark:]:
    print(f"{step.target:<18} {step.what:<45}", sent.get("grant_type", ""))
act.close()

# %% [markdown]
# It begins anew with the second, as if it had never been anywhere: no refresh token, no code, no
# secret of the first went there. The person was asked again, since it was another server that asked.

# %%
folder.cleanup()
jobs = [
    ("RFC 9728", "protected resource metadata", "which authorization server"),
    ("RFC 8414", "authorization server metadata", "where to go, and what it can do"),
    ("RFC 7636", "PKCE", "a stolen code is worth nothing"),
    ("RFC 8707", "resource indicators", "for whom the token is"),
    ("RFC 9207", "iss in the answer", "who has answered"),
    ("RFC 7591", "dynamic registration", "deprecated, for servers without client documents"),
]
table(jobs, ["document", "what it is", "what it answers"])

# %% [markdown]
# ## You saw
# - a client that knew an address, and found document, issuer, person and token from a refusal;
# - `resource` and PKCE in both requests, and the audience in the token;
# - a step up by the union of scopes;
# - ten ways to misbehave, seven stopped by the client and three by the resource's ladder;
# - credentials that did not follow their server to another issuer.
#
# ## Your turn
# `authorization_server.MISBEHAVIOURS` has more of them. Pick one whose name tells you nothing, predict
# who will notice it, and run `refusal` on it.

# %%
# Your cell.
