# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Exercise 27.7. Build the ladder
#
# *After notebook `ch27/07_the_ladder`. Six stages, 15 points and 1 for words of your own, about 30
# minutes.*
#
# A server over HTTP is knocked at by strangers. You write its door by hand, one rung after the
# other: find the token, check who signed it, check what it says, and refuse in a way that helps an
# honest client. Then you mend a door that lets strangers in, and a tutorial that never worked.
#
# **How it works.** Run the cells from the top, with Shift+Enter; after a restart, all of them again.
# Write in those that begin with `# Stage`, and run them; the cell below each one checks what you
# wrote. Keep the line `# Stage ...`: by that line your cell is found.

# %%
import base64
import hashlib
import hmac
import json

from mcp_bare.auth import challenge as challenges
from mcp_bare.auth import tokens
from mcp_bare.auth.errors import BadChallenge
from workbench.checks import check, tally

# %% role="given"
# Given: these are yours; another learner may have others.
HOST = "https://notes.example"  # or "https://mail.example", "https://maps.example"
ISSUER = "https://auth.example"  # or "https://login.example", "https://id.example"
SCOPE = "notes:read"  # or "mail:read", "maps:read"

# %% [markdown]
# Your server goes by the name `RESOURCE`, believes the authorization server `ISSUER`, and shares
# `KEY` with it. Every refusal in this exercise is this exception, with the HTTP status and, where
# there is one, the name of the error in OAuth's words:

# %%
RESOURCE = HOST + "/mcp"
KEY = b"a key that only the authorization server and we have"


class Refused(Exception):
    """Refused(401, "invalid_token", "the token has expired")"""

    def __init__(self, status, error=None, why=""):
        super().__init__(why)
        self.code, self.data = status, error


# %% [markdown]
# ## Stage `bearer`: find the token
#
# The token comes in the header `Authorization: Bearer ...`, with every request, and never in the
# address (`basic/authorization`, "Token Requirements"). The word `Bearer` has no case.
#
# Write `bearer(header)`: the token, from the value of that header (`None` where there is none). No
# header and another scheme are refused with 401 and no error: nobody has tried yet. `Bearer` with no
# token behind it, or with more than one word, is malformed: 400, `invalid_request`. Roughly seven
# lines.


# %% stage="bearer"
# Stage bearer: one token, or a refusal.
def bearer(header):
    ### BEGIN SOLUTION
    scheme, *words = (header or "").split()[:3] or [""]
    if scheme.lower() != "bearer":
        raise Refused(401)
    if len(words) != 1:
        raise Refused(400, "invalid_request", "one token is due behind Bearer")
    return words[0]
    ### END SOLUTION


# %% wrong="bearer" says="has no case"
# Stage bearer: as the examples write it, and not otherwise.
def bearer(header):
    if not header or not header.startswith("Bearer "):
        raise Refused(401)
    words = header.split()
    if len(words) != 2:
        raise Refused(400, "invalid_request")
    return words[1]


# %% wrong="bearer" says="IndexError"
# Stage bearer: there will be a second word.
def bearer(header):
    if not header or header.split()[0].lower() != "bearer":
        raise Refused(401)
    return header.split()[1]


# %% wrong="bearer" says="nobody has tried"
# Stage bearer: an error for who has not tried.
def bearer(header):
    words = (header or "").split()
    if len(words) != 2 or words[0].lower() != "bearer":
        raise Refused(401, "invalid_token")
    return words[1]


# %% check="bearer" points=2
@check("bearer", points=2)
def token_is_found(it, token="abc.def.ghi", scheme="bearer"):
    page = "basic/authorization"
    for header in (f"Bearer {token}", f"{scheme} {token}"):
        said = it.attempt("bearer", header)
        sent = f"{it.show(said) if said == token else said} for {header!r}"
        clause = f"{page}: the token stands behind Bearer, a word that has no case"
        it.expect(said == token, sent=sent, clause=clause, hint="compare in one case")
    for header, status in [
        (None, 401),
        ("", 401),
        (f"Basic {token}", 401),
        (token, 401),
        ("Bearer", 400),
        (f"Bearer {token} {token}", 400),
    ]:
        said = it.attempt("bearer", header)
        right = getattr(said, "code", None) == status
        sent = f"{said} for {header!r}"
        sent += "" if getattr(said, "code", None) is None else f", with status {said.code}"
        clause = f"{page}: no token is 401, and a header that is malformed 400"
        it.expect(right, sent=sent, clause=clause, hint="raise Refused: is there a token, or two?")
        due = "invalid_request" if status == 400 else None
        clause = f"{page}: what is malformed is named; where nobody has tried, there is no error"
        sent = f"error {said.data!r} for {header!r}"
        it.expect(said.data == due, sent=sent, clause=clause, hint="the text above says which")


# %% hidden="bearer"
def hidden(it, rng):
    token = "".join(rng.choices("abcXYZ019-_.~+/=", k=rng.randint(1, 60)))
    token_is_found(it, token, rng.choice(["BEARER", "bEaReR", "bearer"]))


# %% [markdown]
# ## Stage `verify`: who signed it?
#
# A token is `header.payload.signature`, each part in base64url without padding. The signature is
# HMAC-SHA-256 over the first two parts and their dot, with `KEY`. Which algorithm is used is yours
# to say: the header may only agree, with `"alg": "HS256"`.
#
# Write `verify(token)`: the payload as a dict, or `Refused(401, "invalid_token")` for whatever is
# wrong with it. Strangers choose these bytes: none of them may raise anything else. `part` is given.
# Write it by hand; the toolkit's own is in `mcp_bare/auth/tokens.py`, to compare with afterwards.
# Roughly fourteen lines.


# %%
def part(text):
    """The bytes of one part. Raises ValueError for what is no base64url."""
    data = base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    if base64.urlsafe_b64encode(data).rstrip(b"=") != text.encode("ascii"):
        raise ValueError("there is one way to write it")
    return data


# %% stage="verify"
# Stage verify: the payload of a token that we believe.
def verify(token):
    ### BEGIN SOLUTION
    try:
        head, payload, signature = token.split(".")
        signed = f"{head}.{payload}".encode("ascii")
        expected = hmac.new(KEY, signed, hashlib.sha256).digest()
        if json.loads(part(head))["alg"] != "HS256":
            raise ValueError("another algorithm")
        if not hmac.compare_digest(part(signature), expected):
            raise ValueError("another signature")
        claims = json.loads(part(payload))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Refused(401, "invalid_token", "the token cannot be verified") from None
    if not isinstance(claims, dict):
        raise Refused(401, "invalid_token", "the payload is no object")
    return claims
    ### END SOLUTION


# %% wrong="verify" says="another key"
# Stage verify: it reads, and does not verify.
def verify(token):
    try:
        head, payload, signature = token.split(".")
        return json.loads(part(payload))
    except ValueError:
        raise Refused(401, "invalid_token") from None


# %% wrong="verify" says="algorithm none"
# Stage verify: the token chooses its algorithm.
def verify(token):
    try:
        head, payload, signature = token.split(".")
        if json.loads(part(head))["alg"] != "none":
            mac = hmac.new(KEY, f"{head}.{payload}".encode(), hashlib.sha256).digest()
            if not hmac.compare_digest(mac, part(signature)):
                raise ValueError
        return json.loads(part(payload))
    except ValueError:
        raise Refused(401, "invalid_token") from None


# %% wrong="verify" says="TypeError"
# Stage verify: compare_digest takes no text that is not ASCII.
def verify(token):
    try:
        head, payload, signature = token.split(".")
        mac = hmac.new(KEY, f"{head}.{payload}".encode(), hashlib.sha256).digest()
        due = base64.urlsafe_b64encode(mac).decode().rstrip("=")
        if not hmac.compare_digest(due, signature) or json.loads(part(head))["alg"] != "HS256":
            raise ValueError
        return json.loads(part(payload))
    except ValueError:
        raise Refused(401, "invalid_token") from None


# %% wrong="verify" says="is due for a payload that is a list"
# Stage verify: whatever JSON there is.
def verify(token):
    try:
        head, payload, signature = token.split(".")
        mac = hmac.new(KEY, f"{head}.{payload}".encode(), hashlib.sha256).digest()
        if (
            not hmac.compare_digest(mac, part(signature))
            or json.loads(part(head))["alg"] != "HS256"
        ):
            raise ValueError
        return json.loads(part(payload))
    except (ValueError, TypeError, KeyError):
        raise Refused(401, "invalid_token") from None


# %% check="verify" points=3
@check("verify", points=3)
def signature_counts(it, claims=None, other=b"some other key, which is as long as ours is"):
    claims, key = claims or {"sub": "ana", "note": "ș"}, it.value("KEY")
    good = tokens.sign(claims, key, "k1")
    said = it.attempt("verify", good)
    clause = "basic/authorization: a token that is signed with our key is read"
    it.expect(said == claims, sent=said, clause=clause, hint="put it together as the text says")
    head, payload, signature = good.split(".")

    def packed(value):
        return tokens.encode(json.dumps(value).encode())

    def signed(header, body):
        mac = hmac.digest(key, f"{header}.{body}".encode(), "sha256")
        return f"{header}.{body}.{tokens.encode(mac)}"

    bad = {
        "another key": tokens.sign(claims, other, "k1"),
        "the algorithm none": f"{packed({'alg': 'none'})}.{payload}.",
        "the algorithm HS512, signed as HS256": signed(packed({"alg": "HS512"}), payload),
        "letters that are not ASCII": f"{head}.{payload}.ășț",
        "no algorithm": signed(packed({}), payload),
        "another payload": f"{head}.{packed(claims | {'sub': 'bob'})}.{signature}",
        "four parts": good + ".x",
        "one part": head,
        "a header that is a list": signed(packed(["alg"]), payload),
        "a payload that is a list": signed(head, packed(["sub"])),
        "a payload that is no JSON": signed(head, tokens.encode(b"{")),
    }
    for what, token in bad.items():
        said = it.attempt("verify", token)
        right = getattr(said, "code", None) == 401 and said.data == "invalid_token"
        clause = f"basic/authorization: 401 and invalid_token is due for {what}"
        hint = "which of your lines looks at that? And which errors do you catch?"
        it.expect(right, sent=f"{said}\nfor {token!r}", clause=clause, hint=hint)


# %% hidden="verify"
def hidden(it, rng):
    claims = {rng.choice("abc"): rng.choice(["東京", None, [1, {"a": 2}]]), "n": rng.random()}
    signature_counts(it, claims, rng.randbytes(rng.randint(32, 64)))
    for _ in range(12):
        text = "".join(rng.choices("aZ9-_.=ß\u2028\x00{", k=rng.randint(0, 30)))
        said = it.attempt("verify", text)
        clause = "basic/authorization: whatever it is, it is 401 and no crash"
        told = getattr(said, "data", "") == "invalid_token" and said.code == 401
        it.expect(told, sent=f"{said} for {text!r}", clause=clause, hint="catch what can go wrong")


# %% [markdown]
# ## Stage `climb`: what does it say?
#
# A signature says who wrote the token, not whom it is for. Write `climb(claims, now)`: nothing where
# all of this holds, else `Refused(401, "invalid_token", why)` with the claim's name in `why`
# (`basic/authorization`, "Token Handling"):
#
# - `iss` is `ISSUER`, the identical string; `sub` is a text that is not empty;
# - `aud` is `RESOURCE`, or a list that holds it;
# - `exp` is there, a finite number and no bool; it is over when `now` is `exp` plus 10 or later;
# - `nbf` and `iat`, where they are there, are such numbers too, at most 10 seconds ahead of `now`.
#
# (Python's `json` reads `NaN` and `Infinity`. Nothing compares as true with `NaN`.) Roughly twelve
# lines.


# %%
def climbed(text, now):
    """`climb`, with the claims as they come off the wire."""
    return climb(json.loads(text), now)


# %% stage="climb"
# Stage climb: rung by rung.
def climb(claims, now):
    ### BEGIN SOLUTION
    def rung(name, holds):
        if not holds:
            raise Refused(401, "invalid_token", f"the claim {name} does not hold")

    def number(name):
        value = claims.get(name)
        rung(name, type(value) in (int, float) and abs(value) < 1e12)
        return value

    audience = claims.get("aud")
    rung("iss", claims.get("iss") == ISSUER)
    rung("aud", RESOURCE in (audience if isinstance(audience, list) else [audience]))
    rung("exp", now < number("exp") + 10)
    for name in ("nbf", "iat"):
        rung(name, claims.get(name) is None or number(name) <= now + 10)
    rung("sub", isinstance(claims.get("sub"), str) and claims["sub"])
    ### END SOLUTION


# %% wrong="climb" says="the claim exp is missing"
# Stage climb: no opinion is taken for no end.
def climb(claims, now):
    if claims.get("iss") != ISSUER or not claims.get("sub"):
        raise Refused(401, "invalid_token", "iss or sub")
    if claims.get("aud") != RESOURCE and RESOURCE not in claims.get("aud"):
        raise Refused(401, "invalid_token", "aud")
    if "exp" in claims and now >= claims["exp"] + 10:
        raise Refused(401, "invalid_token", "exp")
    if claims.get("nbf", now) > now + 10 or claims.get("iat", now) > now + 10:
        raise Refused(401, "invalid_token", "nbf iat")


# %% wrong="climb" says="begins like ours"
# Stage climb: an address that begins with ours will be ours.
def climb(claims, now):
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if not any(str(each).startswith(RESOURCE) for each in audiences):
        raise Refused(401, "invalid_token", "aud")
    if claims.get("iss") != ISSUER or not claims.get("sub"):
        raise Refused(401, "invalid_token", "iss or sub")
    for name in ("exp", "nbf", "iat"):
        value = claims.get(name, now if name != "exp" else None)
        if type(value) not in (int, float) or not abs(value) < 1e12:
            raise Refused(401, "invalid_token", name)
        if (now >= value + 10) if name == "exp" else value > now + 10:
            raise Refused(401, "invalid_token", name)


# %% wrong="climb" says="NaN"
# Stage climb: not over, says NaN, and for ever.
def climb(claims, now):
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    for name, bad in {
        "iss": claims.get("iss") != ISSUER,
        "sub": not isinstance(claims.get("sub"), str) or not claims["sub"],
        "aud": RESOURCE not in audiences,
        "exp": type(claims.get("exp")) not in (int, float) or now >= claims["exp"] + 10,
        "nbf": type(claims.get("nbf", 0)) not in (int, float) or claims.get("nbf", 0) > now + 10,
        "iat": type(claims.get("iat", 0)) not in (int, float) or claims.get("iat", 0) > now + 10,
    }.items():
        if bad:
            raise Refused(401, "invalid_token", name)


# %% wrong="climb" says="two clocks"
# Stage climb: to the second.
def climb(claims, now):
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if claims.get("iss") != ISSUER or RESOURCE not in audiences:
        raise Refused(401, "invalid_token", "iss or aud")
    if not now < claims["exp"]:
        raise Refused(401, "invalid_token", "exp")


# %% check="climb" points=3
@check("climb", points=3)
def rungs_hold(it, now=1_000_000, other="https://payroll.example/mcp"):
    us, page = it.value("RESOURCE"), "basic/authorization"
    good = {"iss": it.given["ISSUER"], "aud": us, "sub": "ana", "exp": now + 300, "iat": now}
    fine = {
        "a good token": {},
        "several audiences, and ours among them": {"aud": [other, us]},
        "two clocks that differ a little": {"exp": now - 9, "iat": now + 9, "nbf": now + 9},
    }
    bad = {
        "a token of another issuer": ("iss", other),
        "the issuer with a slash behind it": ("iss", good["iss"] + "/"),
        "somebody else's token": ("aud", other),
        "a list whose audience begins like ours": ("aud", [other, us + "-admin"]),
        "a token that is over": ("exp", now - 10),
        "an exp that is text": ("exp", str(now + 300)),
        "an exp that is true": ("exp", True),
        "an exp of NaN": ("exp", float("nan")),
        "a token that has not begun": ("nbf", now + 11),
        "a token out of the future": ("iat", now + 11),
        "a subject of no letters": ("sub", ""),
    }
    cases = [(what, None, good | more) for what, more in fine.items()]
    for name in ("exp", "aud", "iss", "sub"):
        rest = {key: value for key, value in good.items() if key != name}
        cases.append((f"a token in which the claim {name} is missing", name, rest))
    cases += [(what, name, good | {name: value}) for what, (name, value) in bad.items()]
    for what, name, claims in cases:
        said = it.attempt("climbed", json.dumps(claims), now)
        right = said is None if name is None else getattr(said, "data", None) == "invalid_token"
        sent = f"{'it was let in' if said is None else said}, for {what}: {json.dumps(claims)}"
        due = "let in" if name is None else f"401, and the reason names {name}"
        named = name is None or name in getattr(said, "message", "")
        hint = "which rung looks at it? What does the comparison give for this value?"
        it.expect(right and named, sent=sent, clause=f"{page}: {what}: {due}", hint=hint)


# %% hidden="climb"
def hidden(it, rng):
    now = rng.randint(10**8, 10**9)
    rungs_hold(it, now, f"https://{rng.getrandbits(40):x}.example/mcp")
    us = it.value("RESOURCE")
    good = {"iss": it.given["ISSUER"], "aud": us, "sub": "ana", "exp": now + 300}
    odd = [("exp", float("inf")), ("exp", [now]), ("nbf", {}), ("iat", "now"), ("aud", us + "x")]
    for name, value in rng.sample([*odd, ("aud", []), ("sub", 7), ("iat", False)], 6):
        claims = json.dumps(good | {name: value})
        said = it.attempt("climbed", claims, now)
        right = getattr(said, "data", None) == "invalid_token"
        clause = "basic/authorization: a claim of another shape is refused, and crashes nothing"
        it.expect(right, sent=f"{said} for {claims}", clause=clause, hint=f"what if {name} is odd?")


# %% [markdown]
# ## Stage `challenge`: a refusal that helps
#
# A client that knows nothing finds its way from the header `WWW-Authenticate` alone
# (`basic/authorization`, "Error Handling", and RFC 9728). Write `challenge(error, needed)`: the
# header's value, a `Bearer` challenge with these parameters, each in double quotes, with commas
# between:
#
# - `error`, where it is not `None`;
# - `scope`, the list `needed` with spaces between, where it is not empty;
# - `resource_metadata`: where `RESOURCE` describes itself. `/.well-known/oauth-protected-resource`
#   comes between the host and the path.
#
# Roughly six lines.


# %% stage="challenge"
# Stage challenge: the value of WWW-Authenticate.
def challenge(error, needed):
    ### BEGIN SOLUTION
    told = {"error": error, "scope": " ".join(needed)}
    told["resource_metadata"] = f"{HOST}/.well-known/oauth-protected-resource/mcp"
    return "Bearer " + ", ".join(f'{name}="{text}"' for name, text in told.items() if text)
    ### END SOLUTION


# %% wrong="challenge" says="no parameter of this name"
# Stage challenge: scopes, as there are several.
def challenge(error, needed):
    named = f'error="{error}", ' if error else ""
    scopes = f'scopes="{" ".join(needed)}", ' if needed else ""
    place = HOST + "/.well-known/oauth-protected-resource/mcp"
    return f'Bearer {named}{scopes}resource_metadata="{place}"'


# %% wrong="challenge" says="between the host and the path"
# Stage challenge: appended.
def challenge(error, needed):
    named = f'error="{error}", ' if error else ""
    scope = f'scope="{" ".join(needed)}", ' if needed else ""
    place = RESOURCE + "/.well-known/oauth-protected-resource"
    return f'Bearer {named}{scope}resource_metadata="{place}"'


# %% wrong="challenge" says="cannot be read"
# Stage challenge: spaces, and no quotes.
def challenge(error, needed):
    place = HOST + "/.well-known/oauth-protected-resource/mcp"
    return f"Bearer error={error} scope={' '.join(needed)} resource_metadata={place}"


# %% wrong="challenge" says="only where there is one"
# Stage challenge: the error None.
def challenge(error, needed):
    place = HOST + "/.well-known/oauth-protected-resource/mcp"
    return f'Bearer error="{error}", scope="{" ".join(needed)}", resource_metadata="{place}"'


# %% check="challenge" points=2
@check("challenge", points=2)
def it_helps(it, needed=None):
    needed, page = needed or [it.given["SCOPE"], "offline"], "basic/authorization"
    path = it.value("RESOURCE").removeprefix(it.given["HOST"])
    for error, scopes in [(None, []), (None, needed[:1]), ("insufficient_scope", needed)]:
        said = it.call("challenge", error, scopes)
        trouble, found = "", []
        try:
            found = challenges.parse(str(said))
        except BadChallenge as problem:
            trouble = f"\nwhich cannot be read: {problem}"
        fine = len(found) == 1 and found[0].scheme.lower() == "bearer"
        clause = f'{page}: a challenge is Bearer name="value", name="value"'
        hint = "commas between the parameters, double quotes around each value"
        it.expect(fine, sent=f"{said}{trouble}", clause=clause, hint=hint)
        params = found[0].params
        other = set(params) - {"error", "scope", "resource_metadata"}
        clause = f"{page}: {' and '.join(sorted(other))}: a client reads no parameter of this name"
        it.expect(not other, sent=said, clause=clause, hint="the names are in the text above")
        place = params.get("resource_metadata", "")
        right = place.startswith(it.given["HOST"] + "/.well-known/")
        right = right and place.endswith(f"/oauth-protected-resource{path}")
        clause = f"{page}: resource_metadata is an address, with its well-known part between the "
        clause += "host and the path"
        it.expect(right, sent=said, clause=clause, hint="compare it with notebook 7")
        clause = f"{page}: error and scope are there only where there is one to name"
        told = (params.get("error"), params.get("scope", "").split())
        sent = f"{said}\nfor {error!r}, {scopes}"
        it.expect(told == (error, scopes), sent=sent, clause=clause, hint="leave it out")


# %% hidden="challenge"
def hidden(it, rng):
    it_helps(it, [f"s{rng.randint(0, 999)}:{verb}" for verb in rng.sample("abcdef", 3)])


# %% [markdown]
# ## Stage `mend`: a door that lets strangers in
#
# Somebody's `admit`: the caller's name, or a refusal. The order of the rungs matters, for it decides
# what a stranger is told; a good token without the scope is 403 (`insufficient_scope`), so that the
# client asks for more rather than anew. This one has four bugs. Run the check, read, mend, run
# again. `climb` from above is there to be used.


# %% stage="mend"
# Stage mend: who comes in, and what the others are told.
def admit(claims, needed, now):
    climb(claims, now=now)
    granted = set(claims.get("scope", "").split())
    if not granted.issuperset(needed):
        raise Refused(403, "insufficient_scope", " ".join(needed))
    return claims["sub"]


# %% blank="mend"
# Stage mend: four bugs in these lines.
def admit(claims, needed, now):
    if not any(scope in claims.get("scope", "") for scope in needed):
        raise Refused(401, "invalid_token", "the scope is missing")
    if claims.get("exp", now + 1) < now:
        raise Refused(403, "expired")
    if not claims["aud"].startswith(HOST):
        raise Refused(401, "invalid_token", "aud")
    return claims["sub"]


# %% wrong="mend" says="is told that it expired"
# Stage mend: the scope first.
def admit(claims, needed, now):
    if not set(claims.get("scope", "").split()).issuperset(needed):
        raise Refused(403, "insufficient_scope", "scope")
    climb(claims, now)
    return claims["sub"]


# %% wrong="mend" says="all of them"
# Stage mend: one of the scopes will do.
def admit(claims, needed, now):
    climb(claims, now)
    if needed and not set(claims.get("scope", "").split()) & set(needed):
        raise Refused(403, "insufficient_scope", "scope")
    return claims["sub"]


# %% wrong="mend" says="a whole word"
# Stage mend: a scope is looked for as text.
def admit(claims, needed, now):
    climb(claims, now)
    if not all(scope in claims.get("scope", "") for scope in needed):
        raise Refused(403, "insufficient_scope", "scope")
    return claims["sub"]


# %% wrong="mend" says="asks for more"
# Stage mend: 401, as for everything.
def admit(claims, needed, now):
    climb(claims, now)
    if not set(claims.get("scope", "").split()).issuperset(needed):
        raise Refused(401, "invalid_token", "scope")
    return claims["sub"]


# %% check="mend" points=3
@check("mend", points=3)
def door_is_mended(it, now=1_000_000, who="ana", more="write"):
    scope, page = it.given["SCOPE"], "basic/authorization"
    good = {"iss": it.given["ISSUER"], "aud": it.value("RESOURCE"), "sub": who, "exp": now + 60}
    both = [scope, more]
    cases = {
        "a good token with all scopes, and one more, is let in": ("other " + " ".join(both), {}),
        "where no scope is needed, a good token is enough": (None, {}),
        "without any scope the client asks for more, 403": (None, {"jti": "1"}),
        "all of them are needed, 403": (scope, {}),
        "a scope is a whole word, 403": (f"{scope}ers {more}", {}),
        "who is not in it yet is told that it expired, 401": ("", {"exp": now - 60}),
        "a token without an end is refused, 401": (" ".join(both), {"exp": None}),
        "another server on this host is another server, 401": (
            " ".join(both), {"aud": it.given["HOST"] + "/other"}),
    }  # fmt: skip
    for clause, (scopes, changes) in cases.items():
        claims = {**good, **changes, **({} if scopes is None else {"scope": scopes})}
        claims = {name: value for name, value in claims.items() if value is not None}
        needed = [] if clause.startswith("where") else both
        said = it.attempt("admit", claims, needed, now)
        lets_in = clause.startswith(("a good", "where"))
        due = "invalid_token" if clause.endswith("401") else "insufficient_scope"
        right = said == who if lets_in else getattr(said, "data", None) == due
        right = right and (lets_in or said.code == (401 if due == "invalid_token" else 403))
        code = "" if getattr(said, "code", None) is None else f", status {said.code} {said.data}"
        sent = f"{said}{code}\nfor {json.dumps(claims)}, and {needed} is needed"
        hint = "in which order do you look, and what do you compare with what?"
        it.expect(right, sent=sent, clause=f"{page}: {clause}", hint=hint)


# %% hidden="mend"
def hidden(it, rng):
    who, more = f"user{rng.randint(0, 99)}", f"x{rng.randint(100, 999)}:w"
    door_is_mended(it, rng.randint(10**8, 10**9), who, more)


# %% [markdown]
# ## Stage `spot`: a tutorial that never worked
#
# Somebody's tutorial prints how its client gets in (long values are cut with `...`). Four of its
# lines are wrong. Which ones, and how should they read?
#
# Write `MENDED`: the number of each line that is wrong, and the line as it should be, with its
# arrow.

# %%
WELL_KNOWN = "/.well-known/oauth-protected-resource"
TRACE = {
    1: "→ POST /mcp HTTP/1.1",
    2: "← HTTP/1.1 401 Unauthorized",
    3: f'← WWW-Authenticate: Bearer resource_metadata="{HOST}{WELL_KNOWN}/mcp", scopes="{SCOPE}"',
    4: f"→ GET /mcp{WELL_KNOWN} HTTP/1.1",
    5: f'← {{"resource":"{RESOURCE}","authorization_servers":["{ISSUER}"]}}',
    6: "→ POST /token grant_type=authorization_code&code=...&code_verifier=...&audience="
    + RESOURCE,
    7: '← {"access_token":"eyJ...","token_type":"Bearer","expires_in":300}',
    8: "→ Authorization: Bearer eyJ...",
    9: "← HTTP/1.1 401 Unauthorized",
    10: f'← WWW-Authenticate: Bearer error="insufficient_scope", scope="{SCOPE} admin"',
}
for number, line in TRACE.items():
    print(f"{number:>2} {line}")

# %% stage="spot"
# Stage spot: {number of a line: the line as it should be}
### BEGIN SOLUTION
MENDED = {
    3: f'← WWW-Authenticate: Bearer resource_metadata="{HOST}{WELL_KNOWN}/mcp", scope="{SCOPE}"',
    4: f"→ GET {WELL_KNOWN}/mcp HTTP/1.1",
    6: TRACE[6].replace("audience", "resource"),
    9: "← HTTP/1.1 403 Forbidden",
}
### END SOLUTION

# %% wrong="spot" says="four lines"
# Stage spot: one of them.
MENDED = {3: TRACE[3].replace("scopes", "scope")}

# %% wrong="spot" says="insufficient_scope"
# Stage spot: the second refusal is left, and what was right is changed.
MENDED = {
    3: TRACE[3].replace("scopes", "scope"),
    4: f"→ GET {WELL_KNOWN}/mcp HTTP/1.1",
    6: TRACE[6].replace("audience", "resource"),
    8: "→ Authorization: eyJ...",
}

# %% wrong="spot" says="scopes="
# Stage spot: the first refusal is believed.
MENDED = {
    1: "→ GET /mcp HTTP/1.1",
    4: f"→ GET {WELL_KNOWN}/mcp HTTP/1.1",
    6: TRACE[6].replace("audience", "resource"),
    9: "← HTTP/1.1 403 Forbidden",
}


# %% check="spot" points=2
@check("spot", points=2)
def spotted(it):
    mended, trace = it.value("MENDED"), it.value("TRACE")
    clause = "the text above: four lines, each by its number"
    four = isinstance(mended, dict) and len(mended) == 4 and set(mended) <= set(trace)
    texts = four and all(isinstance(line, str) for line in mended.values())
    it.expect(four and texts, sent=mended, clause=clause, hint='{1: "→ ...", ...}')
    lines = trace | mended
    page, hint = "basic/authorization", "the sentence above is broken by a line of the trace"
    clause = f"{page}: a challenge has no parameter of this name, and a client will not find it"
    it.expect("scopes=" not in str(lines), sent="a trace with scopes=", clause=clause, hint=hint)
    clause = f"{page}: insufficient_scope is for a token that is good: no new login is due"
    sent = "a good token that is told to log in anew"
    it.expect(lines[9] != trace[9], sent=sent, clause=clause, hint=hint)
    clause = f"{page}: the client goes where the challenge sends it"
    asked = lines[4].split()[2] if len(lines[4].split()) == 4 else ""
    it.expect(asked and asked in lines[3], sent=lines[4], clause=clause, hint=hint)
    clause = f"{page}: every authorization and token request says for whom the token is to be, by "
    clause += "the parameter of RFC 8707"
    it.expect(lines[6] != trace[6], sent=lines[6], clause=clause, hint=hint)


# %% hidden="spot"
def hidden(it, rng):
    spotted(it)
    mended, trace = it.value("MENDED"), it.value("TRACE")
    due = {
        3: trace[3].replace("scopes=", "scope="),
        4: f"→ GET {it.value('WELL_KNOWN')}/mcp HTTP/1.1",
        6: trace[6].replace("&audience=", "&resource="),
        9: trace[9].replace("401 Unauthorized", "403 Forbidden"),
    }
    for number in rng.sample(sorted(due), 4):
        clause = "the text above: the four lines that are wrong, mended as little as can be"
        right = str(mended.get(number, "")).strip() == due[number]
        it.expect(right, sent=mended.get(number), clause=clause, hint="look at this line again")


# %% [markdown] written="why" points=1
# ## In your own words
#
# The signature is right, the issuer is ours, the person is known, the hour is fine. The token is for
# another server. Who could do what, if your door let it in?
#
# ### BEGIN SOLUTION
# Whoever runs any other server that Ana has sent a token to could take that token and act as Ana
# here: one dishonest or careless server among all that she uses is enough. That is why the audience
# is checked here, by the only one who knows this server's name.
# ### END SOLUTION

# %%
tally()
