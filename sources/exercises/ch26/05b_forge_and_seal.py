# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Exercise 26.5b. Forge it, then seal it
#
# *After notebook `ch26/05_the_server_asks_back`. Three stages, 9 points and 1 for words of your
# own, about 20 minutes.*
#
# A bank asks its customer to confirm a payment, and writes into `requestState` what is to be
# confirmed. You are first the attacker, who writes something else there, and then the engineer who
# is called the next morning.
#
# **How it works.** Run the cells from the top, with Shift+Enter; after a restart, all of them again.
# Write in those that begin with `# Stage`, and run them; the cell below each one checks what you
# wrote. Keep the line `# Stage ...`: by that line your cell is found.

# %%
import base64
import hashlib
import hmac
import json

from workbench.checks import check, tally

# %% role="given"
# Given: these are yours; another learner may have others.
PAYEE = "Radu"  # or "Sofia", "Tomás"
AMOUNT = 40  # or 75, 120

# %% [markdown]
# ## Stage `forge`: what can be read can be written
#
# The bank's state is Base64 over JSON, and nothing more. The client is to echo it untouched
# (`basic/patterns/mrtr`, "Client Requirements"). You are not that client.
#
# Write `forge(state, payee, amount)`: the state that the bank would have written for another payee
# and another amount. Whatever else stands in it stays as it is. Roughly four lines.

# %%
STATE = base64.b64encode(json.dumps({"v": 1, "payee": PAYEE, "amount": AMOUNT}).encode()).decode()
print(STATE)


# %% stage="forge"
# Stage forge: a state that the bank never wrote.
def forge(state, payee, amount):
    ### BEGIN SOLUTION
    inside = json.loads(base64.b64decode(state))
    inside |= {"payee": payee, "amount": amount}
    return base64.b64encode(json.dumps(inside).encode()).decode()
    ### END SOLUTION


# %% wrong="forge" says="stays as it is"
# Stage forge: the rest is lost.
def forge(state, payee, amount):
    return base64.b64encode(json.dumps({"payee": payee, "amount": amount}).encode()).decode()


# %% wrong="forge" says="is a string"
# Stage forge: bytes do not fit into JSON.
def forge(state, payee, amount):
    inside = {**json.loads(base64.b64decode(state)), "payee": payee, "amount": amount}
    return base64.b64encode(json.dumps(inside).encode())


# %% check="forge" points=2
@check("forge", points=2)
def forged(it, payee="Mallory", amount=9000, more=None):
    plain = {"v": 1, "payee": it.given["PAYEE"], "amount": it.given["AMOUNT"], **(more or {})}
    state = base64.b64encode(json.dumps(plain).encode()).decode()
    said = it.call("forge", state, payee, amount)
    clause = "basic/patterns/mrtr: requestState is a string"
    it.expect(isinstance(said, str), sent=said, clause=clause, hint="the bank decodes Base64 text")
    try:
        inside = json.loads(base64.b64decode(said, validate=True))
    except ValueError:
        inside = None
    clause = "the text above: Base64 over a JSON object, as the bank writes it"
    it.expect(
        isinstance(inside, dict), sent=said, clause=clause, hint="take it apart as you built it"
    )
    sent = f"{inside} after {plain}"
    paid = inside.get("payee") == payee and inside.get("amount") == amount
    it.expect(paid, sent=sent, clause=clause, hint="whom should the bank pay, and how much?")
    kept = {key: inside.get(key) for key in plain if key not in ("payee", "amount")}
    rest = {key: value for key, value in plain.items() if key not in ("payee", "amount")}
    clause = "the text above: whatever else stands in it stays as it is"
    it.expect(kept == rest, sent=sent, clause=clause, hint="start from what you read")


# %% hidden="forge"
def hidden(it, rng):
    more = {f"k{rng.randint(0, 99)}": rng.choice([None, "ß", [1], {"a": True}])}
    forged(it, f"M{rng.random()}", rng.randint(1, 10**6), more)


# %% [markdown]
# ## Stage `seal`: a code that only the bank can compute
#
# A seal is a message authentication code over the payload, with a key that only the server has
# (`basic/patterns/mrtr`, "Server Requirements"). `hmac.new(key, data, hashlib.sha256).digest()`
# computes one, `hmac.compare_digest` compares two.
#
# Write `close(payload)`: a dict in, a string of ASCII out, with the payload and its seal in a form
# of your choice. And `open_state(state)`: the payload again, or `ValueError` for every string that
# `close` did not write with this key. Use `BANK_KEY`; the other processes of the bank have the same.
# Roughly fifteen lines.

# %%
BANK_KEY = b"every process of this bank has this key"


def door(stdin, stdout):
    """Process B: it opens what process A has closed."""
    for line in stdin:
        try:
            answer = {"opened": open_state(json.loads(line)["state"])}
        except ValueError:
            answer = {"refused": True}
        stdout.write(json.dumps(answer).encode() + b"\n")
        stdout.flush()


# %% stage="seal"
# Stage seal: close a state, and open it again.
### BEGIN SOLUTION
def code(body):
    return hmac.new(BANK_KEY, body.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def close(payload):
    body = base64.urlsafe_b64encode(json.dumps(payload).encode()).decode()
    return f"{body}.{code(body)}"


def open_state(state):
    body, _, seal = state.partition(".")
    if not hmac.compare_digest(code(body).encode(), seal.encode("utf-8", "replace")):
        raise ValueError("not sealed by us")
    return json.loads(base64.urlsafe_b64decode(body))


### END SOLUTION


# %% wrong="seal" says="which secret"
# Stage seal: a checksum, which everybody can compute.
def close(payload):
    body = base64.b64encode(json.dumps(payload).encode())
    return body.decode() + "." + hashlib.sha256(body).hexdigest()


def open_state(state):
    body, _, seal = state.partition(".")
    if hashlib.sha256(body.encode()).hexdigest() != seal:
        raise ValueError("no")
    return json.loads(base64.b64decode(body))


# %% wrong="seal" says="TypeError"
# Stage seal: compare_digest takes no text with an umlaut.
def close(payload):
    body = base64.b64encode(json.dumps(payload).encode()).decode()
    return body + "." + hmac.new(BANK_KEY, body.encode(), hashlib.sha256).hexdigest()


def open_state(state):
    body, _, seal = state.partition(".")
    if not hmac.compare_digest(hmac.new(BANK_KEY, body.encode(), hashlib.sha256).hexdigest(), seal):
        raise ValueError("no")
    return json.loads(base64.b64decode(body))


# %% wrong="seal" says="process B"
# Stage seal: the states that were closed are remembered.
CLOSED = {}


def close(payload):
    CLOSED[str(len(CLOSED))] = payload
    return str(len(CLOSED) - 1)


def open_state(state):
    if state not in CLOSED:
        raise ValueError("no")
    return CLOSED[state]


# %% wrong="seal" says="one letter changed, at 12"
# Stage seal: JSON, and whoever can read it can write it.
def close(payload):
    return json.dumps(payload)


def open_state(state):
    return json.loads(state)


# %% wrong="seal" says="for no seal"
# Stage seal: Base64 hides nothing.
def close(payload):
    return base64.b64encode(repr(payload).replace("'", '"').encode()).decode()


def open_state(state):
    return json.loads(base64.b64decode(state.encode("ascii", "replace"), validate=True))


# %% wrong="seal" says="one letter changed"
# Stage seal: half of the code is enough.
def close(payload):
    body = base64.b64encode(json.dumps(payload).encode()).decode()
    return body + "." + hmac.new(BANK_KEY, body.encode(), hashlib.sha256).hexdigest()


def open_state(state):
    body, _, seal = state.partition(".")
    if hmac.new(BANK_KEY, body.encode("utf-8"), hashlib.sha256).hexdigest()[:20] != seal[:20]:
        raise ValueError("no")
    return json.loads(base64.b64decode(body))


# %% check="seal" points=4
@check("seal", points=4)
def sealed(it, payload=None, places=(0, 7, 12, -1)):
    payload = payload or {"payee": it.given["PAYEE"], "amount": it.given["AMOUNT"]}
    page = "basic/patterns/mrtr"
    state = it.call("close", payload)
    fine = isinstance(state, str) and state.isascii()
    clause = f"{page}: requestState is a string"
    it.expect(fine, sent=state, clause=clause, hint="ASCII: it goes through many hands")
    with it.serve("door") as process_b:
        opened = process_b.ask({"state": state})
    clause = f"{page}: any process of the server can go on from the state"
    hint = "what does process B have that process A had?"
    it.expect(
        opened == {"opened": payload}, sent=f"{opened} by process B", clause=clause, hint=hint
    )
    bad = {"an empty text": "", "no ASCII": "ä.ö", "half of a state": state[: len(state) // 2]}
    bad["no seal"] = base64.b64encode(json.dumps(payload).encode()).decode()
    for place in places:
        other = "A" if state[place] != "A" else "B"
        changed = state[:place] + other + (state[place:][1:])
        bad[f"one letter changed, at {place}"] = changed
    plain = base64.b64encode(json.dumps(payload | {"amount": 9000}).encode())
    for name in ("sha256", "md5", "sha1"):
        bad[f"a {name} that I computed"] = (
            f"{plain.decode()}.{hashlib.new(name, plain).hexdigest()}"
        )
    for what, attempt in bad.items():
        said = it.attempt("open_state", attempt)
        refused = "ValueError" in getattr(said, "types", [])
        clause = f"{page}: what fails the integrity check must be rejected (raise ValueError)"
        hint = "which secret does the attacker lack? And which part of the text is compared?"
        sent = f"{said} from open_state for {what}: {attempt!r}"
        it.expect(refused, sent=sent, clause=clause, hint=hint)


# %% hidden="seal"
def hidden(it, rng):
    payload = {rng.choice("abc"): rng.choice(["ß", None, [1, 2], {"d": 0.5}]), "n": rng.random()}
    sealed(it, payload, [rng.randint(0, 30), -rng.randint(1, 12)])


# %% [markdown]
# ## Stage `mend`: sealed, and still robbed
#
# A colleague went on from there. This seal also carries the customer and the hour, and it has four
# bugs: a customer can use another's state, a state can be made to last, one kind of text crashes
# the server, and the refusals tell an attacker how far they got. Mend it. `pack` and `unpack` are
# right.


# %%
def pack(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


def unpack(text):
    return json.loads(base64.urlsafe_b64decode(text))


def mac(text):
    return hmac.new(BANK_KEY, text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


# %% stage="mend"
# Stage mend: bound to who it was given to, and until when.
def give(payload, customer, now):
    body = pack([now + 300, customer, payload])
    return f"{body}.{mac(body)}"


def take(state, customer, now):
    body, _, seal = state.partition(".")
    if not hmac.compare_digest(mac(body).encode(), seal.encode("utf-8", "replace")):
        raise ValueError("invalid state")
    until, owner, payload = unpack(body)
    if owner != customer or now >= until:
        raise ValueError("invalid state")
    return payload


# %% blank="mend"
# Stage mend: four bugs in these lines.
def give(payload, customer, now):
    body = pack(payload)
    return f"{now + 300}.{customer}.{body}.{mac(body)}"


def take(state, customer, now):
    until, owner, body, seal = state.split(".")
    if not hmac.compare_digest(mac(body), seal):
        raise ValueError("the seal is wrong")
    if now >= int(until):
        raise ValueError("the seal is right, but it has expired")
    return unpack(body)


# %% wrong="mend" says="cannot be changed"
# Stage mend: the hour stands outside of the seal.
def give(payload, customer, now):
    body = pack([customer, payload])
    return f"{now + 300}.{body}.{mac(body)}"


def take(state, customer, now):
    try:
        until, body, seal = state.split(".")
        if not hmac.compare_digest(mac(body).encode(), seal.encode()) or now >= int(until):
            raise ValueError("no")
    except ValueError:
        raise ValueError("invalid state") from None
    owner, payload = unpack(body)
    if owner != customer:
        raise ValueError("invalid state")
    return payload


# %% wrong="mend" says="another customer"
# Stage mend: nobody looks who it is.
def give(payload, customer, now):
    body = pack([now + 300, payload])
    return f"{body}.{mac(body)}"


def take(state, customer, now):
    body, _, seal = state.partition(".")
    if not hmac.compare_digest(mac(body).encode(), seal.encode("utf-8", "replace")):
        raise ValueError("invalid state")
    until, payload = unpack(body)
    if now >= until:
        raise ValueError("invalid state")
    return payload


# %% wrong="mend" says="same words"
# Stage mend: everything is right but the words.
def give(payload, customer, now):
    body = pack([now + 300, customer, payload])
    return f"{body}.{mac(body)}"


def take(state, customer, now):
    body, _, seal = state.partition(".")
    if not hmac.compare_digest(mac(body).encode(), seal.encode("utf-8", "replace")):
        raise ValueError("forged")
    until, owner, payload = unpack(body)
    if owner != customer or now >= until:
        raise ValueError("expired")
    return payload


# %% check="mend" points=3
@check("mend", points=3)
def bound(it, customer="ana", other="bob", now=1_000_000):
    payload, page = {"payee": it.given["PAYEE"]}, "basic/patterns/mrtr"
    state = it.call("give", payload, customer, now)
    said = it.attempt("take", state, customer, now + 10)
    clause = f"{page}: the genuine state opens"
    it.expect(said == payload, sent=said, clause=clause, hint="give and take, in turn")
    attempts = {
        "another customer": (state, other, now + 10),
        "after it expired": (state, customer, now + 301),
        "not ASCII": ("ä.ö.ü.ß", customer, now),
        "no state at all": ("", customer, now),
        "one letter less": (state[:-1], customer, now),
    }
    longer = state.replace(str(now + 300), str(now + 9999))
    attempts["a later hour, which cannot be changed"] = (longer, customer, now + 400)
    attempts["another name in it"] = (state.replace(customer, other), other, now + 10)
    words = {}
    for what, given in attempts.items():
        said = it.attempt("take", *given)
        refused = "ValueError" in getattr(said, "types", [])
        words[what] = getattr(said, "message", "")
        clause = f"{page}: a state is bound to whom it was given to and until when (ValueError)"
        hint = "what stands outside of what the seal covers? What is not compared at all?"
        sent = f"{said} from take for {what}: {it.show(given)}"
        it.expect(refused, sent=sent, clause=clause, hint=hint)
    one = len(set(words.values())) == 1
    clause = "the text above: a refusal tells the attacker nothing, so all have the same words"
    it.expect(one, sent=words, clause=clause, hint="the reason belongs into the server's log")


# %% hidden="mend"
def hidden(it, rng):
    names = [f"c{number}" for number in rng.sample(range(10_000, 99_999), 2)]
    bound(it, *names, rng.randint(10**8, 10**9))
    state = it.call("give", {"a": 1}, "ana", 500)
    clause = "basic/patterns/mrtr: a state ends when its time is over"
    for later in (799, 800):
        came = it.attempt("take", state, "ana", later)
        it.expect((came == {"a": 1}) == (later < 800), sent=f"{came} at {later}", clause=clause,
                  hint="300 seconds, and not one more")  # fmt: skip


# %% [markdown] written="why" points=1
# ## In your own words
#
# A payment is confirmed, and the client sends the same retry again, with the same sealed state. What
# does your seal say, what happens to the money, and what would help?
#
# ### BEGIN SOLUTION
# The seal fits: it says who wrote the state, not how often it was used. The bank pays twice. It has
# to remember what it has done: a number in the payload that is used up with the first payment, kept
# where all processes see it.
# ### END SOLUTION

# %%
tally()
