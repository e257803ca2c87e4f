# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Exercise 27.9. Stop a confused deputy
#
# *After notebook `ch27/09_a_name_is_not_a_permission`. Four stages, 11 points and 1 for words of
# your own, about 25 minutes.*
#
# A deputy acts for others, with a standing of its own. It is confused when whoever calls it borrows
# that standing. You mend a reports server that lends itself to everybody, close the door of the API
# behind it, ask the person before a proxy goes on, and mend a client that believes whatever comes
# back with the browser.
#
# **How it works.** Run the cells from the top, with Shift+Enter; after a restart, all of them again.
# Write in those that begin with `# Stage`, and run them; the cell below each one checks what you
# wrote. Keep the line `# Stage ...`: by that line your cell is found.

# %%
import hmac
import secrets
from urllib.parse import parse_qsl, quote, urlencode

from mcp_bare.errors import ToolError
from workbench.checks import check, tally

# %% role="given"
# Given: these are yours; another learner may have others.
API = "https://expenses.example"  # or "https://invoices.example", "https://travel.example"
PERSON = "ana"  # or "mihai", "sofia"
CLIENT_ID = "reports-proxy-71"  # or "reports-proxy-38", "reports-proxy-90"

# %% [markdown]
# ## Stage `mend`: a server that lends itself
#
# `report(request, send)` is a tool of a reports server. A request has the `headers` that came over
# HTTP, the `principal` whom our guard found in the token, and the `arguments` that the model chose.
# `send(url, headers)` asks an API, and gives back a status and rows. For that API we have a token of
# our own, in `OWN`.
#
# The server must not pass on the token that it received: that one was issued for us, and for nobody
# else (`basic/authorization/security-considerations`, "Access Token Privilege Restriction"). This
# tool passes it on, and there are three more bugs: who is asked, for whom, and what an error tells.
# Run the check, read, mend, run again. (A principal may be any text; `quote(text, safe="")` makes it
# fit for an address.)

# %%
OWN = {API: "a-token-that-was-issued-to-us-for-the-api"}


def tried(request, status):
    """What `report` sends, and what it says or raises; the API answers with this status."""
    sent = []

    def send(url, headers):
        sent.append([url, headers])
        return status, ["train 42.00", "dinner 18.50"]

    try:
        return {"sent": sent, "said": report(request, send), "failed": False}
    except ToolError as error:
        return {"sent": sent, "said": str(error), "failed": True}


# %% stage="mend"
# Stage mend: with our own token, for the one who asks, at the one API.
def report(request, send):
    address = f"{API}/expenses?person={quote(request['principal'], safe='')}"
    status, rows = send(address, {"Authorization": f"Bearer {OWN[API]}"})
    if status != 200:
        raise ToolError(f"The expenses cannot be read now ({status}). Try again in a minute.")
    return f"Expenses: {', '.join(rows)}"


# %% blank="mend"
# Stage mend: four bugs in these lines.
def report(request, send):
    api = request["arguments"].get("api", API)
    person = request["arguments"].get("person", request["principal"])
    headers = {"Authorization": request["headers"]["Authorization"]}
    status, rows = send(f"{api}/expenses?person={person}", headers)
    if status != 200:
        raise ToolError(f"{api} answered {status} to {headers}")
    return f"Expenses: {', '.join(rows)}"


# %% wrong="mend" says="wherever a model sends us"
# Stage mend: our own token, to whoever asks for it.
def report(request, send):
    api = request["arguments"].get("api", API)
    person = request["principal"]
    status, rows = send(f"{api}/expenses?person={person}", {"Authorization": f"Bearer {OWN[API]}"})
    if status != 200:
        raise ToolError("The expenses cannot be read. Try again.")
    return f"Expenses: {', '.join(rows)}"


# %% wrong="mend" says="for the one who asks"
# Stage mend: for whom, the arguments say.
def report(request, send):
    person = request["arguments"].get("person", request["principal"])
    status, rows = send(f"{API}/expenses?person={person}", {"Authorization": f"Bearer {OWN[API]}"})
    if status != 200:
        raise ToolError("The expenses cannot be read. Try again.")
    return f"Expenses: {', '.join(rows)}"


# %% wrong="mend" says="what an error may say"
# Stage mend: an error for those who debug.
def report(request, send):
    headers = {"Authorization": f"Bearer {OWN[API]}"}
    status, rows = send(f"{API}/expenses?person={request['principal']}", headers)
    if status != 200:
        raise ToolError(f"{status} for {headers}")
    return f"Expenses: {', '.join(rows)}"


# %% check="mend" points=3
@check("mend", points=3)
def lends_nothing(it, person=None, token="eyJhbGciOi.received.from-the-client"):
    person, api = person or it.given["PERSON"], it.given["API"]
    page, (own,) = "basic/authorization/security-considerations", it.value("OWN").values()
    for status, arguments in [
        (200, {}),
        (200, {"api": "https://thief.example"}),
        (200, {"person": "bob"}),
        (403, {}),
    ]:
        headers = {"Authorization": f"Bearer {token}", "Mcp-Method": "tools/call"}
        request = {"headers": headers, "principal": person, "arguments": arguments}
        told = it.call("tried", request, status)
        shown = f"{it.show(told)}\nfor the arguments {it.show(arguments)}"
        clause = f"{page}: the token that we received was issued for us, and goes no further"
        hint = "which token was issued to us, for the API?"
        it.expect(token not in str(told["sent"]), sent=shown, clause=clause, hint=hint)
        clause = "the text above: the API is asked once, with our own token"
        right = len(told["sent"]) == 1
        right = right and told["sent"][0][1].get("Authorization") == f"Bearer {own}"
        it.expect(right, sent=shown, clause=clause, hint="a Bearer token, out of OWN")
        place, _, query = told["sent"][0][0].partition("?")
        clause = f"{page}: our token is for the API, and does not go wherever a model sends us"
        it.expect(place == f"{api}/expenses", sent=shown, clause=clause, hint="who chose it?")
        clause = f"{page}: we act for the one who asks, and our guard knows who that is"
        right = dict(parse_qsl(query)) == {"person": person}
        it.expect(right, sent=shown, clause=clause, hint="an argument is not a proof")
        clause = "server/tools: no token is part of what an error may say, for a model reads it"
        fine = told["failed"] is (status != 200) and own not in told["said"]
        it.expect(fine, sent=shown, clause=clause, hint="say what to do, not what was sent")


# %% hidden="mend"
def hidden(it, rng):
    token = f"eyJ{rng.getrandbits(90):x}.{rng.getrandbits(60):x}.x"
    lends_nothing(it, rng.choice(["ștefan", "bob & co", "x=1&person=eve", "東京"]), token)


# %% [markdown]
# ## Stage `may`: the API checks its own name
#
# On the other side stands the API. It has verified a token's signature, and has the claims. Write
# `may(claims, person, deputies)`: `True` where the caller may read this person's expenses, else
# `False`.
#
# - The token is for this API: `aud` is `API`, or a list that holds it. Else nothing else counts.
# - `sub` is the person, or a deputy whom this person has allowed: `deputies` maps a deputy's name to
#   the list of those who did.
#
# Any claim may be missing. Roughly five lines.


# %% stage="may"
# Stage may: for whom is the token, and for whom may its owner ask?
def may(claims, person, deputies):
    ### BEGIN SOLUTION
    audience, who = claims.get("aud"), claims.get("sub")
    if API not in (audience if isinstance(audience, list) else [audience]) or not who:
        return False
    return who == person or person in deputies.get(who, [])
    ### END SOLUTION


# %% wrong="may" says="a weather server"
# Stage may: a known name is enough.
def may(claims, person, deputies):
    who = claims.get("sub")
    return bool(who) and (who == person or person in deputies.get(who, []))


# %% wrong="may" says="begins like ours"
# Stage may: in a text, `in` looks for a part.
def may(claims, person, deputies):
    who = claims.get("sub")
    return API in claims.get("aud", "") and bool(who) and (
        who == person or person in deputies.get(who, []))  # fmt: skip


# %% wrong="may" says="has not allowed"
# Stage may: a deputy is a deputy.
def may(claims, person, deputies):
    audience = claims.get("aud")
    if API != audience and not (isinstance(audience, list) and API in audience):
        return False
    return claims.get("sub") in (person, *deputies)


# %% check="may" points=2
@check("may", points=2)
def api_looks(it, person=None, deputy="reports", other="bob"):
    person, api = person or it.given["PERSON"], it.given["API"]
    page, deputies = "basic/authorization/security-considerations", {deputy: [person], "x": []}
    cases = [
        ("the person, with a token for us", {"aud": api, "sub": person}, True),
        ("one of several audiences", {"aud": ["https://a.example", api], "sub": person}, True),
        ("a deputy whom this person has allowed", {"aud": api, "sub": deputy}, True),
        ("a token for a weather server", {"aud": "https://weather.example", "sub": person}, False),
        ("an audience that begins like ours", {"aud": f"{api}.evil.example", "sub": person}, False),
        ("a list of others", {"aud": [f"{api}/x"], "sub": person}, False),
        ("somebody else", {"aud": api, "sub": other}, False),
        ("a deputy whom this person has not allowed", {"aud": api, "sub": "x"}, False),
        ("a token for nobody", {"sub": person}, False),
        ("a token of nobody", {"aud": api}, False),
    ]
    for what, claims, due in cases:
        said = it.call("may", claims, person, deputies)
        sent = f"{it.show(said)} for {it.show(claims)}, person {person!r}, deputies {deputies}"
        clause = f"{page}: a token is for whom it names, and a name is not a permission: {what}"
        it.expect(said is due, sent=sent, clause=clause, hint="True or False: what is compared?")


# %% hidden="may"
def hidden(it, rng):
    names = [f"{rng.choice('abc')}{number}" for number in rng.sample(range(100, 999), 3)]
    api_looks(it, *names)
    clause = "the text above: who is nobody is nobody's deputy"
    for claims in ({"aud": it.given["API"], "sub": ""}, {"aud": it.given["API"]}, {}):
        said = it.call("may", claims, "", {"": [""]})
        it.expect(said is False, sent=f"{said} for {claims}", clause=clause, hint="a name is due")


# %% [markdown]
# ## Stage `consent`: ask before you go on
#
# A proxy stands before a third party's authorization server, where it has one client id for all of
# its own clients, and these register themselves. The person has agreed there long ago, so the third
# party asks nothing: a stranger's client would get a code without anybody having agreed. So the
# proxy obtains consent for each client before it goes on (the same page, "Confused Deputy Problem").
#
# Write `authorize(query, clients, consents, person)`. `clients` maps each client's id to the list of
# its redirect addresses; `consents` is a list of `[person, client id]`. It returns
#
# - `["refuse", why]` where `client_id` or `redirect_uri` is not registered, as the identical string:
#   nobody is sent anywhere;
# - `["ask", client_id]` where this person has not agreed to this client;
# - else `["go", url]`: `THIRD` with `response_type=code`, **our** `CLIENT_ID`, our `CALLBACK` as
#   `redirect_uri`, and a `state` that nobody can predict.
#
# Roughly nine lines.

# %%
THIRD = "https://third.example/authorize"
CALLBACK = "https://reports.example/callback"


# %% stage="consent"
# Stage consent: refuse, ask, or go on.
def authorize(query, clients, consents, person):
    ### BEGIN SOLUTION
    asking = query.get("client_id")
    if query.get("redirect_uri") not in clients.get(asking, []):
        return ["refuse", "This client, or the address it names, is not registered here."]
    if [person, asking] not in consents:
        return ["ask", asking]
    ours = {"client_id": CLIENT_ID, "redirect_uri": CALLBACK, "response_type": "code"}
    return ["go", f"{THIRD}?{urlencode(ours | {'state': secrets.token_urlsafe(16)})}"]
    ### END SOLUTION


# %% wrong="consent" says="to this client"
# Stage consent: who has agreed once has agreed to all.
def authorize(query, clients, consents, person):
    if query.get("redirect_uri") not in clients.get(query.get("client_id"), []):
        return ["refuse", "no"]
    if person not in [each[0] for each in consents]:
        return ["ask", query["client_id"]]
    sent = {"response_type": "code", "client_id": CLIENT_ID, "redirect_uri": CALLBACK}
    return ["go", THIRD + "?" + urlencode({**sent, "state": secrets.token_hex(16)})]


# %% wrong="consent" says="identical string"
# Stage consent: an address that begins with what is registered.
def authorize(query, clients, consents, person):
    known = clients.get(query.get("client_id"), [])
    if not any(str(query.get("redirect_uri")).startswith(each) for each in known):
        return ["refuse", "no"]
    if [person, query["client_id"]] not in consents:
        return ["ask", query["client_id"]]
    sent = {"response_type": "code", "client_id": CLIENT_ID, "redirect_uri": CALLBACK}
    return ["go", THIRD + "?" + urlencode({**sent, "state": secrets.token_hex(16)})]


# %% wrong="consent" says="predict"
# Stage consent: the client's own state goes on.
def authorize(query, clients, consents, person):
    if query.get("redirect_uri") not in clients.get(query.get("client_id"), []):
        return ["refuse", "no"]
    if [person, query["client_id"]] not in consents:
        return ["ask", query["client_id"]]
    sent = {"response_type": "code", "client_id": CLIENT_ID, "redirect_uri": CALLBACK}
    return ["go", THIRD + "?" + urlencode({**sent, "state": query["state"]})]


# %% wrong="consent" says="of our own"
# Stage consent: all that came goes on.
def authorize(query, clients, consents, person):
    if query.get("redirect_uri") not in clients.get(query.get("client_id"), []):
        return ["refuse", "no"]
    if [person, query["client_id"]] not in consents:
        return ["ask", query["client_id"]]
    return ["go", THIRD + "?" + urlencode(query | {"state": secrets.token_hex(16)})]


# %% check="consent" points=3
@check("consent", points=3)
def person_is_asked(it, person=None, mine="app-1", theirs="app-2", back="http://127.0.0.1:7/cb"):
    person, page = person or it.given["PERSON"], "basic/authorization/security-considerations"
    clients = {mine: ["https://a.example/cb", back], theirs: ["https://thief.example/cb"]}
    consents = [[person, mine], ["bob", theirs]]
    good = {"response_type": "code", "client_id": mine, "redirect_uri": back, "state": "s1"}
    cases = [
        ("an unknown client", {"client_id": "app-9"}, "refuse"),
        ("another client's address", {"redirect_uri": "https://thief.example/cb"}, "refuse"),
        ("an address that goes on", {"redirect_uri": f"{back}/../x"}, "refuse"),
        ("a client to which bob has agreed",
         {"client_id": theirs, "redirect_uri": "https://thief.example/cb"}, "ask"),
        ("the person's own client", {}, "go"),
        ("the same once more", {}, "go"),
    ]  # fmt: skip
    rules = {"refuse": "both are registered, as the identical string, or nobody is sent anywhere",
             "ask": "this person has agreed to this client, or is asked",
             "go": "who has agreed goes on"}  # fmt: skip
    states = {"s1"}
    for what, changes, due in cases:
        query = {name: text for name, text in (good | changes).items() if text is not None}
        said = it.call("authorize", query, clients, consents, person)
        right = isinstance(said, list) and len(said) == 2 and said[0] == due
        sent = f"{it.show(said)} for {what}: {it.show(query)}"
        it.expect(right, sent=sent, clause=f"{page}: {rules[due]}", hint="who has agreed to what?")
        if due == "go":
            told = dict(parse_qsl(str(said[1]).partition("?")[2]))
            state = told.pop("state", "s1")
            ours = {it.given["CLIENT_ID"], it.value("CALLBACK"), "code"}
            clause = f"{page}: at the third party we are a client of our own, by our own names"
            it.expect(set(told.values()) == ours, sent=sent, clause=clause, hint="whose are they?")
            clause = "the text above: a new state each time, that nobody can predict"
            fine = state not in states and len(state) >= 16
            it.expect(fine, sent=sent, clause=clause, hint="the module secrets")
            states.add(state)


# %% hidden="consent"
def hidden(it, rng):
    names = [f"c{number}" for number in rng.sample(range(10**4, 10**5), 3)]
    person_is_asked(it, *names, f"https://{names[1]}.example/back?x={rng.randint(1, 9)}")
    clause = "basic/authorization/security-considerations: what is missing is not registered"
    for query in ({}, {"client_id": names[0]}, {"redirect_uri": "https://a.example/cb"}):
        said = it.call("authorize", query, {names[0]: ["https://a.example/cb"]}, [], names[2])
        refused = isinstance(said, list) and said[:1] == ["refuse"]
        it.expect(refused, sent=f"{said} for {query}", clause=clause, hint="use get, and look")


# %% [markdown]
# ## Stage `mixup`: whose answer is this?
#
# Now you are the client. The browser has come back to you, with a code. Before the code goes
# anywhere, the answer must belong to your request, and come from where you went
# (`basic/authorization`, "Authorization Response Validation"). `pending` is what you remembered:
# `redirect_uri`, `state`, `issuer`, and `promised`: whether that issuer says that it sends `iss`.
#
# `code_of` returns the code, or raises `ValueError`. It has four bugs. Mend it.


# %% stage="mixup"
# Stage mixup: the code, once it is known whose it is.
def code_of(pending, url):
    target, _, query = url.partition("?")
    found = dict(parse_qsl(query, keep_blank_values=True))
    state, came_from = found.get("state", ""), found.get("iss")
    if target != pending["redirect_uri"]:
        raise ValueError("this is not where we are")
    if not hmac.compare_digest(state.encode("utf-8", "replace"), pending["state"].encode()):
        raise ValueError("this answers no request of ours")
    if came_from != pending["issuer"] and (pending["promised"] or came_from is not None):
        raise ValueError("this is from somebody else")
    if "error" in found:
        raise ValueError(f"refused: {found['error']}")
    return found["code"]


# %% blank="mixup"
# Stage mixup: four bugs in these lines.
def code_of(pending, url):
    found = dict(parse_qsl(url.partition("?")[2]))
    if "error" in found:
        raise ValueError(f"refused: {found['error']}")
    if found.get("state", pending["state"]) != pending["state"]:
        raise ValueError("another state")
    if "iss" in found and found["iss"].strip("/") != pending["issuer"].strip("/"):
        raise ValueError("another issuer")
    return found["code"]


# %% wrong="mixup" says="no state at all"
# Stage mixup: a state that is missing is not another one.
def code_of(pending, url):
    found = dict(parse_qsl(url.partition("?")[2]))
    if found.get("state", pending["state"]) != pending["state"]:
        raise ValueError("another state")
    if found.get("iss", "" if pending["promised"] else pending["issuer"]) != pending["issuer"]:
        raise ValueError("another issuer")
    if "error" in found:
        raise ValueError(f"refused: {found['error']}")
    return found["code"]


# %% wrong="mixup" says="a slash"
# Stage mixup: nearly the same is the same.
def code_of(pending, url):
    found = dict(parse_qsl(url.partition("?")[2]))
    if found.get("state") != pending["state"]:
        raise ValueError("another state")
    came_from = found.get("iss", "" if pending["promised"] else pending["issuer"])
    if came_from.rstrip("/") != pending["issuer"].rstrip("/"):
        raise ValueError("another issuer")
    if "error" in found:
        raise ValueError(f"refused: {found['error']}")
    return found["code"]


# %% wrong="mixup" says="that was promised"
# Stage mixup: what is not there cannot be wrong.
def code_of(pending, url):
    found = dict(parse_qsl(url.partition("?")[2]))
    if found.get("state") != pending["state"]:
        raise ValueError("another state")
    if found.get("iss", pending["issuer"]) != pending["issuer"]:
        raise ValueError("another issuer")
    if "error" in found:
        raise ValueError(f"refused: {found['error']}")
    return found["code"]


# %% wrong="mixup" says="a stranger's words"
# Stage mixup: bad news first.
def code_of(pending, url):
    found = dict(parse_qsl(url.partition("?")[2]))
    if "error" in found:
        raise ValueError(f"refused: {found['error']}")
    if found.get("state") != pending["state"]:
        raise ValueError("another state")
    if found.get("iss", "" if pending["promised"] else pending["issuer"]) != pending["issuer"]:
        raise ValueError("another issuer")
    return found["code"]


# %% check="mixup" points=3
@check("mixup", points=3)
def answer_is_ours(it, state="s-4711", code="c-1", issuer="https://auth.example"):
    page, place = "basic/authorization", "http://127.0.0.1:7/callback"
    pending = {"redirect_uri": place, "state": state, "issuer": issuer, "promised": True}
    thief, good = "https://thief.example", {"code": code, "state": state, "iss": issuer}
    bad = {"error": "pay_at_thief_example", "state": state, "iss": issuer}
    cases = [
        ("an answer that is ours", good, True, True),
        ("no iss, where none was promised", good | {"iss": None}, False, True),
        ("another state", good | {"state": "s-1"}, True, False),
        ("no state at all", good | {"state": None}, True, False),
        ("another issuer", good | {"iss": thief}, True, False),
        ("another issuer, where none was promised", good | {"iss": thief}, False, False),
        ("the issuer and a slash", good | {"iss": issuer + "/"}, True, False),
        ("no iss, one that was promised", good | {"iss": None}, True, False),
        ("a refusal of ours", bad, True, False),
        ("a refusal, a stranger's words", bad | {"iss": thief}, True, False),
    ]
    for what, given, promised, lets_in in cases:
        query = urlencode({name: text for name, text in given.items() if text is not None})
        said = it.attempt("code_of", pending | {"promised": promised}, f"{place}?{query}")
        sent = f"{said} for {what}: {query}"
        refused = "ValueError" in getattr(said, "types", [])
        clause = f"{page}: an answer of ours gives its code; any other is refused (ValueError): "
        hint = "what is missing is not right; an issuer is compared as the identical string"
        right = said == code if lets_in else refused
        it.expect(right, sent=sent, clause=clause + what, hint=hint)
        clause = f"{page}: until it is known who answers, no word of the answer is shown; and "
        clause += "what our own issuer says is passed on"
        shown = "pay_at_thief" in getattr(said, "message", "")
        due = what == "a refusal of ours"
        it.expect(shown is due, sent=sent, clause=clause, hint="in which order do you look?")


# %% hidden="mixup"
def hidden(it, rng):
    state, code = f"s{rng.getrandbits(60):x}", f"c{rng.getrandbits(60):x}"
    answer_is_ours(it, state, code, f"https://as{rng.randint(0, 99)}.example/t{rng.randint(0, 9)}")
    pending = {"redirect_uri": "http://a/cb", "state": state, "issuer": "https://i.example"}
    query = urlencode({"code": code, "state": rng.choice(["ș", "東", state + "ß"])})
    said = it.attempt("code_of", pending | {"promised": False}, f"http://a/cb?{query}")
    clause = "basic/authorization: a state that is not ASCII is another one, and no crash"
    right = "ValueError" in getattr(said, "types", [])
    it.expect(right, sent=f"{said} for {query}", clause=clause, hint="compare_digest takes bytes")


# %% [markdown] written="why" points=1
# ## In your own words
#
# In stage `mend` the server now uses one token for all its callers. What has to be true, so that it
# is no confused deputy itself?
#
# ### BEGIN SOLUTION
# It must know who calls, from a token that was issued for it and not from an argument; it must ask
# for that person alone; and the API must know for whom this deputy may ask, because the persons
# themselves said so. If one of the three is missing, whoever reaches the server reads everybody.
# ### END SOLUTION

# %%
tally()
