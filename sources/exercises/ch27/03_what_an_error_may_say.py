# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Exercise 27.3. What an error may say
#
# *After notebook `ch27/03_what_an_error_may_say`. Four stages, 11 points and 1 for words of your
# own, about 20 minutes.*
#
# A shop's server looks up orders in a database that is sometimes there. Whatever goes wrong is read
# by a model, and perhaps by its user. You decide for each failure what it says, write the sentences,
# and see to it that nothing is lost for the one who has to mend the database.
#
# **How it works.** Run the cells from the top, with Shift+Enter; after a restart, all of them again.
# Write in those that begin with `# Stage`, and run them; the cell below each one checks what you
# wrote. Keep the line `# Stage ...`: by that line your cell is found.

# %%
import builtins
import json
import random
import sys
import traceback
from types import SimpleNamespace

from mcp_bare.errors import ToolError
from mcp_bare.server import Server
from workbench.checks import check, tally

# %% role="given"
# Given: these are yours; another learner may have others.
HOST = "10.0.3.7"  # or "10.9.1.22", "172.16.4.5"
ACCOUNT = "reporting"  # or "svc_orders", "shop_ro"

# %% [markdown]
# ## Stage `sort`: eight failures
#
# A failure of a tool is part of its result, with `isError` true, so that the model reads it and can
# do better. What is wrong with the request as such is a JSON-RPC error; a tool that does not exist
# is one of these (`server/tools`, "Error Handling"). And some words must not reach a model at all.
#
# Write `SORTED`: for each name `"say"` (a result with `isError`, and the reason in it), `"keep"` (a
# result with `isError`, and the reason in the log alone) or `"protocol"` (a JSON-RPC error).

# %%
FAILURES = {
    "no_such_tool": "tools/call names a tool that the server does not have",
    "past_date": "a delivery date lies in the past",
    "database_down": "connect ECONNREFUSED, with address, port and account",
    "unknown_order": "there is no order of that number",
    "no_arguments": "params of tools/call is a list instead of an object",
    "stack_trace": "a bug: KeyError in line 412 of a file whose path names the customer",
    "too_many": "more than 50 orders fit; a narrower search would help",
    "bad_token": "the payment provider answers 401 and quotes the key that we sent",
}
for name, sentence in FAILURES.items():
    print(f"{name:<15}{sentence}")

# %% stage="sort"
# Stage sort: {"no_such_tool": "say", "keep" or "protocol", ...}
### BEGIN SOLUTION
SORTED = {
    "no_such_tool": "protocol",
    "past_date": "say",
    "database_down": "keep",
    "unknown_order": "say",
    "no_arguments": "protocol",
    "stack_trace": "keep",
    "too_many": "say",
    "bad_token": "keep",
}
### END SOLUTION

# %% wrong="sort" says="nothing in it helps"
# Stage sort: as the TypeScript SDK does.
SORTED = dict.fromkeys(FAILURES, "say")

# %% wrong="sort" says="a better call"
# Stage sort: as the Python SDK does.
SORTED = dict.fromkeys(FAILURES, "keep")

# %% wrong="sort" says="all eight"
# Stage sort: half of them.
SORTED = {"no_such_tool": "protocol"}


# %% check="sort" points=2
@check("sort", points=2)
def failures_are_sorted(it):
    said, failures = it.value("SORTED"), it.value("FAILURES")
    whole = isinstance(said, dict) and set(said) == set(failures)
    whole = whole and set(said.values()) <= {"say", "keep", "protocol"}
    clause = "the text above: all eight names, each with one of three words"
    it.expect(whole, sent=said, clause=clause, hint='{"no_such_tool": "...", ...}')
    clause = "server/tools: the model reads what a tool says, so a secret in it is told"
    hint = "nothing in it helps the model, and it names an address: who needs it?"
    sent = {"database_down": said["database_down"]}
    it.expect(said["database_down"] == "keep", sent=sent, clause=clause, hint=hint)
    clause = "server/tools: an execution error is one that a better call can mend"
    sent = {"past_date": said["past_date"]}
    it.expect(
        said["past_date"] == "say", sent=sent, clause=clause, hint="a better call needs what?"
    )


# %% hidden="sort"
def hidden(it, rng):
    failures_are_sorted(it)
    said, failures = it.value("SORTED"), it.value("FAILURES")
    marks = (("tools/call", "protocol"), ("there is no order", "say"), ("narrower", "say"))
    for name in rng.sample(sorted(failures), 8):
        if name in ("database_down", "past_date"):
            continue
        due = next((word for mark, word in marks if mark in failures[name]), "keep")
        clause = "server/tools: who can act on it? The model, the operator, or the client's author"
        it.expect(
            said[name] == due, sent={name: said[name]}, clause=clause, hint="who can act on it?"
        )


# %% [markdown]
# ## Stage `orders`: the sentence is yours
#
# `find_orders` below asks the database, and fails in three ways. Write `orders(call)`, the handler of
# a tool. Its argument `customer` is in `call.arguments`. It returns `found: ` and the list as JSON;
# for a customer who does not exist it raises a `ToolError` that names the customer and says to call
# `search_customers` first; for more than `MOST` orders one that says how many there are and that a
# narrower search helps; and when the database is not there, one that says that it is not there, to
# try again later, and nothing of address and account. Roughly twelve lines.

# %%
MOST = 50


def find_orders(customer):
    """What the database has; it fails as databases do."""
    if customer.startswith("down"):
        raise ConnectionError(f"connect ECONNREFUSED {HOST}:5432 (user={ACCOUNT})")
    if customer.startswith("?"):
        raise LookupError(customer)
    return [f"{customer}-{number}" for number in range(len(customer) * 9)]


# %% stage="orders"
# Stage orders: a handler that decides what it says.
def orders(call):
    ### BEGIN SOLUTION
    customer = call.arguments["customer"]
    try:
        found = find_orders(customer)
    except LookupError:
        raise ToolError(f"No customer {customer!r}. Call search_customers first.") from None
    except ConnectionError:
        raise ToolError("The order database is not available. Try again later.") from None
    if len(found) > MOST:
        raise ToolError(f"{len(found)} orders, and {MOST} fit. Narrow the search.")
    return f"found: {json.dumps(found)}"
    ### END SOLUTION


# %% wrong="orders" says="helps nobody"
# Stage orders: what happened is said.
def orders(call):
    try:
        found = find_orders(call.arguments["customer"])
    except LookupError as trouble:
        raise ToolError(f"No {trouble.args[0]}: call search_customers.") from None
    except Exception as trouble:
        raise ToolError(f"{trouble}. Try again later.") from None
    if len(found) > MOST:
        raise ToolError(f"{len(found)} are too many: narrow it down.")
    return "found: " + json.dumps(found)


# %% wrong="orders" says="search_customers"
# Stage orders: nothing is said.
def orders(call):
    found = find_orders(call.arguments["customer"])
    if len(found) > MOST:
        raise ToolError("Too many.")
    return "found: " + json.dumps(found)


# %% wrong="orders" says="isError"
# Stage orders: the sentence is there, and the call went well.
def orders(call):
    customer = call.arguments["customer"]
    try:
        return f"found: {json.dumps(find_orders(customer))}"
    except LookupError:
        return f"No customer {customer!r}. Call search_customers first."
    except ConnectionError:
        return "Not available; try again later."


# %%
def asked(customer):
    """Your handler, called as the server calls it. Try it in a cell of your own: asked("ana")."""
    return orders(SimpleNamespace(arguments={"customer": customer}))


def shop():
    """The server around your handler."""
    server = Server("shop", "1.0.0")
    customer = {"type": "object", "properties": {"customer": {"type": "string"}}}
    server.tool({"name": "orders", "inputSchema": {**customer, "required": ["customer"]}})(orders)
    return server


def served_shop():
    from mcp_bare import stdio

    stdio.serve(shop())


# %% check="orders" points=3
@check("orders", points=3)
def orders_decide(it, good="ana", missing="?Bob", many="a customer of many years"):
    said = it.call("asked", good)
    fine = isinstance(said, str) and said.startswith("found: [")
    clause = "the text above: what was found is returned, as a text"
    it.expect(fine, sent=said, clause=clause, hint="found: and the list as JSON")
    clause = "server/tools: a failed tool says so in its result, with isError true"
    helps = "server/tools: an error helps the model to call better"
    with it.client("served_shop") as client:
        says = {}
        for name in (good, missing, many, "down"):
            result = client.call_tool("orders", {"customer": name})
            says[name] = result["content"][0]["text"]
            sent = f"isError is {result.get('isError')} for {name!r}: {says[name]}"
            failed = bool(result.get("isError")) == (name != good)
            it.expect(failed, sent=sent, clause=clause, hint="isError comes from a ToolError")
    hint = "what should the model do? It has a tool search_customers"
    right = missing in says[missing] and "search_customers" in says[missing]
    it.expect(right, sent=says[missing], clause=helps, hint=hint)
    right = str(len(many) * 9) in says[many] and "narrow" in says[many].lower()
    it.expect(right, sent=says[many], clause=helps, hint="how many? And what would help?")
    clause = "the text above: nothing of address and account"
    told = [
        word for word in (it.given["HOST"], "5432", it.given["ACCOUNT"]) if word in says["down"]
    ]
    hint = "the address helps nobody who reads it here"
    it.expect(not told, sent=f"{says['down']} (with {told})", clause=clause, hint=hint)
    later = "later" in says["down"] or "again" in says["down"]
    it.expect(later, sent=says["down"], clause=helps, hint="can the model do anything? When?")


# %% hidden="orders"
def hidden(it, rng):
    names = [f"c{rng.randint(0, 99)}", f"?{rng.getrandbits(40):x}", "x" * rng.randint(7, 60)]
    orders_decide(it, *names)


# %% [markdown]
# ## Stage `guarded`: what the model does not read is not lost
#
# There is always a failure that nobody thought of. Write `guarded(handler)`: it returns a handler
# that does the same, lets a `ToolError` pass, and for every other exception raises a `ToolError` that
# says nothing of it but a reference, `E-` and a number; on standard error stands a line with that
# reference, and the whole traceback. Each failure has its own number. Roughly twelve lines.


# %% stage="guarded"
# Stage guarded: a reference for the model, the traceback for the operator.
### BEGIN SOLUTION
NUMBERS = iter(range(1, 10**9))


def guarded(handler):
    def safe(call):
        try:
            return handler(call)
        except ToolError:
            raise
        except Exception:
            number = next(NUMBERS)
            print(f"E-{number}", traceback.format_exc(), file=sys.stderr, flush=True)
            raise ToolError(f"The tool failed. Its operator can look up E-{number}.") from None

    return safe


### END SOLUTION


# %% wrong="guarded" says="standard error"
# Stage guarded: the model is told nothing, and so is everybody else.
def guarded(handler):
    def safe(call):
        try:
            return handler(call)
        except ToolError:
            raise
        except Exception:
            raise ToolError(f"It failed. Reference: E-{random.getrandbits(30)}.") from None

    return safe


# %% wrong="guarded" says="was meant for the model"
# Stage guarded: every error is swallowed, also those that were meant.
def guarded(handler):
    def safe(call):
        try:
            return handler(call)
        except Exception:
            print("E-1", traceback.format_exc(), file=sys.stderr)
            raise ToolError("It failed. Reference: E-1.") from None

    return safe


# %% wrong="guarded" says="its own number"
# Stage guarded: one reference for all.
def guarded(handler):
    def safe(call):
        try:
            return handler(call)
        except ToolError:
            raise
        except Exception:
            print("E-1", traceback.format_exc(), file=sys.stderr)
            raise ToolError("It failed. Reference: E-1.") from None

    return safe


# %%
def served_guarded():
    """A server with one tool, which breaks as it is told to."""
    from mcp_bare import stdio

    def broken(call):
        if call.arguments["how"] == "meant":
            raise ToolError("Say please.")
        raise getattr(builtins, call.arguments["how"])(HOST)

    server = Server("broken", "1.0.0")
    server.tool({"name": "broken", "inputSchema": {"type": "object"}})(guarded(broken))
    stdio.serve(server)


# %% check="guarded" points=3
@check("guarded", points=3)
def guarded_well(it, ways=("KeyError", "ValueError")):
    it.value("guarded")
    keys = {"protocolVersion": "2026-07-28", "clientCapabilities": {}}
    meta = {f"io.modelcontextprotocol/{key}": value for key, value in keys.items()}
    texts = []
    with it.serve("served_guarded") as pipe:
        for id, how in enumerate(["meant", *ways]):
            params = {"name": "broken", "arguments": {"how": how}, "_meta": meta}
            asked = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
            texts.append(pipe.ask(asked)["result"]["content"][0]["text"])
        pipe.end_input()
        pipe.exit_code()
        log = pipe.stderr()
    meant = texts.pop(0)
    clause = "the text above: a ToolError passes"
    it.expect(meant == "Say please.", sent=meant, clause=clause, hint="it was meant for the model")
    words = [word.strip(".,;:()") for text in texts for word in text.split()]
    references = [word for word in words if word.startswith("E-") and word[2:].isdigit()]
    clause = "the text above: a reference, E- and a number, and each failure has its own number"
    own = len(set(references)) == len(texts)
    it.expect(own, sent=texts, clause=clause, hint="count, or draw")
    clause = "the text above: on standard error stand the reference and the traceback"
    sent = f"on standard error: {log[-300:] or 'nothing'}"
    for word in (*references, *ways):
        it.expect(word in log, sent=sent, clause=clause, hint=f"I look for {word}")
    clause = "the text above: the model learns nothing of the failure but its reference"
    secret = (it.given["HOST"], "Traceback", *ways)
    told = [word for word in secret for text in texts if word in text]
    it.expect(not told, sent=texts, clause=clause, hint="the reference is enough")


# %% hidden="guarded"
def hidden(it, rng):
    guarded_well(it, rng.sample(["KeyError", "ValueError", "OSError", "TypeError"], 3))


# %% [markdown]
# ## Stage `mend`: the wrong envelope
#
# By hand, without a toolkit: `answer(request)` is to return the response to a `tools/call`. It has
# four bugs, all of them about which kind of error is which. Mend it. (`TOOLS` maps names to
# functions; a tool that cannot do what it was asked raises `ValueError` with a sentence for the
# model, and whatever else it raises is a bug of ours.)


# %%
def divide(arguments):
    if arguments["by"] == 0:
        raise ValueError("Nothing can be divided by 0. Choose another number.")
    return str(arguments["what"] / arguments["by"])


TOOLS = {"divide": divide}


# %% stage="mend"
# Stage mend: each failure in its own envelope.
def answer(request):
    head = {"jsonrpc": "2.0", "id": request["id"]}
    name = request["params"].get("name")
    if name not in TOOLS:
        return {**head, "error": {"code": -32602, "message": f"Unknown tool: {name}"}}
    failed = True
    try:
        words = TOOLS[name](request["params"].get("arguments", {}))
        failed = False
    except ValueError as trouble:
        words = str(trouble)
    except Exception:
        words = "The tool failed."
    content = [{"type": "text", "text": words}]
    return {**head, "result": {"resultType": "complete", "content": content, "isError": failed}}


# %% blank="mend"
# Stage mend: four bugs in these lines.
def answer(request):
    head = {"jsonrpc": "2.0", "id": request["id"]}
    name = request["params"].get("name")
    if name not in TOOLS:
        content = [{"type": "text", "text": f"Unknown tool: {name}"}]
        return {**head, "result": {"resultType": "complete", "content": content, "isError": True}}
    try:
        words = TOOLS[name](request["params"].get("arguments", {}))
    except ValueError as trouble:
        words = str(trouble)
    except Exception as trouble:
        return {**head, "error": {"code": -32603, "message": repr(trouble)}}
    content = [{"type": "text", "text": words}]
    return {**head, "result": {"resultType": "complete", "content": content}}


# %% wrong="mend" says="a bug of ours"
# Stage mend: a bug is still told, in the right envelope.
def answer(request):
    head = {"jsonrpc": "2.0", "id": request["id"]}
    name = request["params"].get("name")
    if name not in TOOLS:
        return {**head, "error": {"code": -32602, "message": f"Unknown tool: {name}"}}
    result = {"resultType": "complete", "isError": False}
    try:
        words = TOOLS[name](request["params"].get("arguments", {}))
    except Exception as trouble:
        words = str(trouble) if "Nothing" in str(trouble) else repr(trouble)
        result["isError"] = True
    return {**head, "result": {**result, "content": [{"type": "text", "text": words}]}}


# %% wrong="mend" says="-32602"
# Stage mend: an unknown tool has an unknown method's code.
def answer(request):
    head = {"jsonrpc": "2.0", "id": request["id"]}
    name = request["params"].get("name")
    if name not in TOOLS:
        return {**head, "error": {"code": -32601, "message": f"Unknown tool: {name}"}}
    return {**head, "result": {}}


# %% check="mend" points=3
@check("mend", points=3)
def envelopes(it, by=4, names=("multiply",)):
    page, head = "server/tools", {"jsonrpc": "2.0", "id": "a", "method": "tools/call"}
    for name in names:
        said = it.call("answer", {**head, "params": {"name": name, "arguments": {}}})
        right = isinstance(said, dict) and said.get("error", {}).get("code") == -32602
        clause = f"{page}: a tool that does not exist is a protocol error, -32602"
        it.expect(right, sent=said, clause=clause, hint="error instead of result")
    cases = [
        ({"what": 12, "by": by}, False, str(12 / by), "what went well says so"),
        ({"what": 12, "by": 0}, True, "another number", "the tool's own sentence is for the model"),
        ({"what": 12, "by": "4"}, True, "", "a bug of ours is a failed tool, in other words"),
        ({"what": 12}, True, "", "a bug of ours is a failed tool, in other words"),
    ]
    for arguments, failed, words, rule in cases:
        said = it.call("answer", {**head, "params": {"name": "divide", "arguments": arguments}})
        result = said.get("result", {}) if isinstance(said, dict) else {}
        text = str(result.get("content"))
        leaks = any(word in text for word in ("TypeError", "KeyError", "operand", "Error("))
        right = bool(result.get("isError")) == failed and words in text and not leaks
        sent = f"{it.show(said)} for {it.show(arguments)}"
        clause = f"{page}: a tool's failure is a result with isError; {rule}"
        it.expect(right and said.get("id") == "a", sent=sent, clause=clause, hint="who reads this?")


# %% hidden="mend"
def hidden(it, rng):
    envelopes(it, rng.randint(1, 99), [f"t{rng.randint(0, 9)}", "", "Divide"])


# %% [markdown] written="why" points=1
# ## In your own words
#
# One SDK hands every exception's text to the model, another hands over none. Which default would you
# choose for a server that you will not look at again, and what do you lose?
#
# ### BEGIN SOLUTION
# None: what is not told can be told later, what is told cannot be taken back. I lose sentences that
# would have helped the model to mend its call, so I write those myself, as errors that are meant.
# ### END SOLUTION

# %%
tally()
