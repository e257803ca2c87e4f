# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 7. The ladder
#
# *Chapter 27, from the token that was issued for somebody else to the five rungs. 18 minutes to
# read, 12 to do.*
#
# A token is signed by an authorization server that we trust, it has not expired, and it names a
# person whom we know. Our server answers:
#
# ```
# HTTP/1.1 401 Unauthorized
# WWW-Authenticate: Bearer error="invalid_token", ...
# ```
#
# What is wrong with it?

# %% [markdown]
# ## You will
# - put a guard before an HTTP server, and be refused without a token;
# - find out where to get one, from nothing but the refusal;
# - make tokens by hand, and climb: another server's, without an end, without a scope, the right one;
# - see the same rungs in the chapter, and where two libraries let something through;
# - let another library check the signature, and keep the rest of the ladder.

# %%
import json
import tempfile
import time

import httpx
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from mcp_bare import revision
from mcp_bare.auth.guard import Guard
from mcp_bare.auth.tokens import HmacVerifier, hooked, sign
from mcp_bare.errors import Refused
from mcp_bare.streamable_http import HttpServer
from toy_servers import incidents
from workbench.ladder import ladder
from workbench.tables import table
from workbench.web import Masked, free_port

# %% [markdown]
# ## A guard before the server
#
# The incident log of chapter 27: a tool that reads and two that write. On stdio it needs no token,
# for there it runs as a child of whoever uses it. Over HTTP anyone can knock. A resource server, in
# the words of OAuth, has a name of its own, the URL under which clients know it, and says which
# authorization server it believes.

# %%
folder = tempfile.TemporaryDirectory()
port = free_port()
RESOURCE, ISSUER = f"http://127.0.0.1:{port}/mcp", "https://auth.example"
KEY = b"a key that only the authorization server and we know"
masked = Masked({f"127.0.0.1:{port}": "127.0.0.1:8931"})

guard = Guard(
    RESOURCE,
    [ISSUER],
    HmacVerifier({"k1": KEY}).verify,
    incidents.scopes_for,
    scopes_supported=["incidents:read", "incidents:write"],
    name="Incidents",
)
http = HttpServer(incidents.make(f"{folder.name}/log.sqlite3"), port=port, guard=guard)

# %% [markdown]
# A request, over HTTP, is a POST with the message as its body. `post` sends one with whatever token
# we give it, and shows what a client would look at.


# %%
def post(token=None, method="tools/list", **params):
    meta = revision.request_meta({}, {"name": "bare-hands", "version": "0.0.1"})
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": revision.CURRENT,
        "Mcp-Method": method,
    }
    if "name" in params:
        headers["Mcp-Name"] = params["name"]
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    return httpx.post(RESOURCE, json=body, headers=headers, trust_env=False)


# %% [markdown]
# ## The first rung: no token
#
# **Predict:** the status, and what a client that has never heard of this server can do next.

# %%
climbed = {}
answer = climbed["no token"] = post()
masked.print(answer.status_code, answer.headers["WWW-Authenticate"])

# %% [markdown]
# A refusal that helps: `resource_metadata` says where this server describes itself (RFC 9728), and
# `scope` what this request would have needed. The well-known part of that address is put *before*
# the path of the resource, not after it. We follow it.

# %%
place = f"http://127.0.0.1:{port}/.well-known/oauth-protected-resource/mcp"
print(masked(place) in masked(answer.headers["WWW-Authenticate"]))
masked.print(json.dumps(httpx.get(place, trust_env=False).json(), indent=2))

# %% [markdown]
# That is the whole of discovery on this side: which server this is, who issues tokens for it, which
# scopes there are. The next notebook goes on from here with a client. In this one we *are* the
# authorization server: we have the key, and sign what we like.

# %%
NOW = int(time.time())
GOOD = {
    "iss": ISSUER,
    "aud": RESOURCE,
    "sub": "ana",
    "exp": NOW + 300,
    "iat": NOW,
    "scope": "incidents:read",
}


def rung(name, key=KEY, **changes):
    claims = {k: v for k, v in (GOOD | changes).items() if v is not None}
    answer = climbed[name] = post(sign(claims, key, "k1"))
    masked.print(answer.status_code, answer.headers.get("WWW-Authenticate", "no challenge"))


# %% [markdown]
# ## Somebody else's token
#
# The token from the top of this page: right signature, right issuer, right person, not expired. It
# was issued for another server. `aud` names whom it is for (RFC 8707), and that is not us.

# %%
rung("another server's", aud="https://payroll.example/mcp")

# %% [markdown]
# A server that took it would let every server that Ana uses act as Ana here. This is the rung that
# no library can climb for you, because only you know your own name.
#
# ## A token without an end
#
# **Predict:** `exp` is left out. OAuth calls it recommended. Should we let it in?

# %%
rung("no expiry", exp=None)
rung("expiry of 0", exp=0)
rung("expired", exp=NOW - 3600)

# %% [markdown]
# No. "No opinion" about the end of a token means a token for ever. And `0` is a time, in 1970, and
# no way to say "none".
#
# ## A good token with too little in it
#
# The token is right in every respect, and allows nothing. **Predict:** 401 again?

# %%
rung("no scope", scope=None)

# %% [markdown]
# 403, and another error: the token is good, so a new login would bring the same one. The challenge
# names what is missing, and a client can go and ask for that: one rung up, not back to the ground.

# %%
rung("right scope")
print(len(climbed["right scope"].json()["result"]["tools"]), "tools")

# %% [markdown]
# Scopes can differ by tool. The same token may search and may not write:

# %%
token = sign(GOOD, KEY, "k1")
for name, arguments in (
    ("search_incidents", {}),
    ("open_incident", {"title": "Queue backed up", "severity": "sev2"}),
):
    answer = post(token, "tools/call", name=name, arguments=arguments)
    print(
        f"{name:<17}", answer.status_code, masked(answer.headers.get("WWW-Authenticate", ""))[:90]
    )

# %% [markdown]
# ## The whole ladder
#
# The rungs in the order in which they are checked, with what our server said. What is checked
# first decides what a stranger learns: an expired token without a scope is told that it expired.

# %%
ladder({name: answer.status_code for name, answer in climbed.items()})

# %% [markdown]
# The chapter climbed the same five rungs on both official SDKs, in September 2026, with a verifier
# that checks the audience and nothing else. Its answers, beside ours of today:

# %%
CHAPTER = {  # as printed on 7 September 2026; the Python column as found when it was tried
    "no token": ("401", "401"),
    "another server's": ("401", "401"),
    "no expiry": ("401", "200"),
    "expiry of 0": ("401", "200"),
    "no scope": ("403, names the scope", "403, without the scope"),
    "right scope": ("200", "200"),
}
rows = [(name, *said, str(climbed[name].status_code)) for name, said in CHAPTER.items()]
table(rows, ["token", "TypeScript SDK (recorded)", "Python SDK (recorded)", "here, now"])

# %% [markdown]
# Neither difference is in the specification. A verifier is no place for a library's default: the
# audience and the expiry are yours to check, in either language.
#
# ## What else knocks
#
# A forger has more ideas than these. **Predict:** which of them gets a 500?

# %%
knocks = {
    "signed with another key": sign(GOOD, b"some other key, of the same length as ours is", "k1"),
    "a key we do not know": sign(GOOD, KEY, "k2"),
    "four segments": sign(GOOD, KEY, "k1") + ".x",
    "algorithm none": "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbmEifQ.",
    "not Base64": "a.b!.c",
    "expires as text": sign({**GOOD, "exp": "tomorrow"}, KEY, "k1"),
    "expires as true": sign({**GOOD, "exp": True}, KEY, "k1"),
}
for name, token in knocks.items():
    answer = post(token)
    said = answer.headers["WWW-Authenticate"].split("error_description=")[1].split('"')[1]
    print(f"{name:<25} {answer.status_code}  {said[:60]}")

# %% [markdown]
# None. Whatever cannot be read, verified or understood is a 401. A server that answers 500 has let
# a stranger's bytes reach code that did not expect them.
#
# ## Another library's signature
#
# Authorization servers in the world sign with RS256 or the like, and publish their keys as a set.
# The standard library has no RSA, so here the toolkit takes a hook: `joserfc` checks the signature,
# and the rungs stay ours. We make a key pair in its place.

# %%
private = RSAKey.generate_key(2048, {"kid": "r1", "use": "sig"}, private=True)
published = KeySet.import_key_set({"keys": [private.as_dict(private=False)]})
verify = hooked(lambda token: jwt.decode(token, published, algorithms=["RS256"]), ["RS256"])
rs256 = Guard(RESOURCE, [ISSUER], verify, incidents.scopes_for)


def admitted(token):
    try:
        return rs256.admit(f"Bearer {token}", {"method": "tools/list"})
    except Refused as refused:
        return f"{refused.status}: {refused.headers['WWW-Authenticate'].split('description=')[1]}"


# %%
def rs(**changes):
    claims = {k: v for k, v in (GOOD | changes).items() if v is not None}
    return jwt.encode({"alg": "RS256", "kid": "r1"}, claims, private, algorithms=["RS256"])


print("right           ", admitted(rs()))
print("another server's", masked(admitted(rs(aud="https://payroll.example/mcp")))[:70])
print("signed with HMAC", masked(admitted(sign(GOOD, KEY, "k1")))[:80])

# %% [markdown]
# The last one is the classic: a token signed with HMAC, sent to a server that expects RSA. Which
# algorithm is used is ours to say, never the token's.

# %%
http.stop()
folder.cleanup()

# %% [markdown]
# ## You saw
# - a refusal that tells a stranger where to go: `resource_metadata`, `scope`;
# - a document found from that refusal, with the well-known part before the path;
# - five rungs and a few more: audience, expiry, scope, in that order, each with its status;
# - two libraries that let a token without an end pass, beside a guard that does not;
# - forged tokens of seven kinds, all 401, and another library behind the same ladder.
#
# ## Your turn
# The exercise of this notebook is [Build the ladder](../../exercises/ch27/07_the_ladder.ipynb).
#
# Take the audience check out of a copy of the ladder and write down who can then act as Ana. Then
# read `mcp_bare/auth/ladder.py`: which line would you have to remove?

# %%
# Your cell.
