# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Exercise 26.5. The server asks back
#
# *After notebook `ch26/05_the_server_asks_back`. Four stages, 13 points and 1 for words of your
# own, about 25 minutes.*
#
# A restaurant takes reservations. Whoever forgets to say for how many is asked, and the answer may
# reach another process than the question came from. You write the question, read the answers that
# people really give, and make the whole thing survive a restart.
#
# **How it works.** Run the cells from the top, with Shift+Enter; after a restart, all of them again.
# Write in those that begin with `# Stage`, and run them; the cell below each one checks what you
# wrote. Keep the line `# Stage ...`: by that line your cell is found.

# %%
import json

from workbench.checks import check, tally

# %% role="given"
# Given: these are yours; another learner may have others.
MOST = 8  # or 6, 12
KEY = "guests"  # or "party", "howMany"

# %% [markdown]
# ## Stage `ask`: a question in an answer
#
# A server sends no requests. It answers `tools/call` with a result whose `resultType` is
# `input_required`. In `inputRequests` stands, under a key of the server's choice, what it needs: a
# `method` and its `params` (`basic/patterns/mrtr`). For a form the method is `elicitation/create`,
# and the params have `mode` `"form"`, a `message`, and a `requestedSchema`: a flat object
# (`client/elicitation`).
#
# Write `question(name)`: the result that asks, under the key `KEY`, for one required integer called
# `seats`, from 1 to `MOST`. Its `message` names the guest. `requestState` is `name`, as it stands
# (for now: exercise 26.5b is about who may write there). Roughly twelve lines.


# %% stage="ask"
# Stage ask: the result that asks for how many.
def question(name):
    ### BEGIN SOLUTION
    seats = {"type": "integer", "minimum": 1, "maximum": MOST}
    schema = {"type": "object", "properties": {"seats": seats}, "required": ["seats"]}
    form = {"mode": "form", "message": f"{name}, for how many?", "requestedSchema": schema}
    asked = {"method": "elicitation/create", "params": form}
    return {"resultType": "input_required", "inputRequests": {KEY: asked}, "requestState": name}
    ### END SOLUTION


# %% wrong="ask" says="a method and its params"
# Stage ask: the schema where the request should stand.
def question(name):
    seats = {"type": "integer", "minimum": 1, "maximum": MOST}
    schema = {"type": "object", "properties": {"seats": seats}, "required": ["seats"]}
    asked = {"type": "elicitation", "message": name, "schema": schema}
    return {"resultType": "input_required", "inputRequests": {KEY: asked}, "requestState": name}


# %% wrong="ask" says="resultType"
# Stage ask: the marker is forgotten.
def question(name):
    return {"inputRequests": {KEY: {}}, "requestState": name}


# %% wrong="ask" says="let 0 through"
# Stage ask: any number will do.
def question(name):
    schema = {"type": "object", "properties": {"seats": {"type": "integer"}}, "required": ["seats"]}
    form = {"mode": "form", "message": f"{name}?", "requestedSchema": schema}
    asked = {"method": "elicitation/create", "params": form}
    return {"resultType": "input_required", "inputRequests": {KEY: asked}, "requestState": name}


# %% check="ask" points=3
@check("ask", points=3)
def asks(it, name="Ioana"):
    said = it.call("question", name)
    page = "basic/patterns/mrtr"
    asking = isinstance(said, dict) and said.get("resultType") == "input_required"
    clause = f"{page}: a result that asks says so in its resultType"
    it.expect(asking, sent=said, clause=clause, hint="which resultType asks?")
    keys, key = said.get("inputRequests"), it.given["KEY"]
    clause = f"{page}: inputRequests maps each key of the server's to one request"
    one = isinstance(keys, dict) and list(keys) == [key]
    it.expect(one, sent=said, clause=clause, hint=f"one key, {key}")
    request = keys[key] if isinstance(keys[key], dict) else {}
    right = request.get("method") == "elicitation/create" and "params" in request
    clause = f"{page}: under a key stands a request without envelope: a method and its params"
    hint = "what would be in the request, if it were one?"
    it.expect(right, sent=keys, clause=clause, hint=hint)
    params = request["params"]
    named = params.get("mode") == "form" and name in str(params.get("message"))
    clause = "client/elicitation: a form has its mode, and a message for the person"
    it.expect(named, sent=params, clause=clause, hint="name the guest in the message")
    schema = params.get("requestedSchema", {})
    clause = "client/elicitation: the schema is a flat object of simple fields"
    fields = schema.get("properties", {}) if schema.get("type") == "object" else {}
    field = fields.get("seats", {}) if list(fields) == ["seats"] else {}
    due = field.get("type") == "integer" and schema.get("required") == ["seats"]
    it.expect(due, sent=schema, clause=clause, hint="one integer, and it is required")
    bounds = (field.get("minimum"), field.get("maximum"))
    hint = "bounds in the schema are seen by the person before they answer"
    sent = f"{it.show(field)}, which would let 0 through, or {it.given['MOST'] + 1}"
    it.expect(bounds == (1, it.given["MOST"]), sent=sent, clause=clause, hint=hint)
    clause = f"{page}: what the server must find again travels in requestState, a string"
    it.expect(said.get("requestState") == name, sent=said, clause=clause, hint="the name")


# %% hidden="ask"
def hidden(it, rng):
    asks(it, "".join(rng.choices("aßț 東-'", k=rng.randint(2, 12))))


# %% [markdown]
# ## Stage `read`: what people answer
#
# The client sends the same call again, with a new id, the `requestState` as it was, and
# `inputResponses`: under the same key an answer with an `action`. A person may `accept`, and then
# there is `content`; `decline`; or `cancel` (`client/elicitation`, "Response Actions"). What is
# missing or does not fit the schema is asked for again (`basic/patterns/mrtr`, "Error Handling").
#
# Write `reserve(params)`, the answer to `tools/call`: a result. Its `params` have `arguments` with
# `name`, and perhaps with `seats`, and in a retry also `inputResponses` and `requestState`.
#
# - seats are known: `text("Table for 4, Ioana")`, with the numbers and the name of this guest;
# - declined or cancelled: `text("No table was reserved.")`;
# - anything else: `question(name)`.
#
# In a retry the name is the one in `requestState`. Roughly fifteen lines.


# %%
def text(words):
    """A tool's result of one text."""
    return {"resultType": "complete", "content": [{"type": "text", "text": words}]}


# %% stage="read"
# Stage read: the answer to tools/call, first time or again.
def reserve(params):
    ### BEGIN SOLUTION
    name = params.get("requestState") or params["arguments"]["name"]
    seats = params["arguments"].get("seats")
    if "inputResponses" in params:
        answer = params["inputResponses"].get(KEY, {})
        if answer.get("action") in ("decline", "cancel"):
            return text("No table was reserved.")
        accepted = answer.get("action") == "accept"
        seats = answer.get("content", {}).get("seats") if accepted else None
    if type(seats) is int and 1 <= seats <= MOST:
        return text(f"Table for {seats}, {name}")
    return question(name)
    ### END SOLUTION


# %% wrong="read" says="no is an answer"
# Stage read: whoever sends content agrees.
def reserve(params):
    answers = params.get("inputResponses", {}).get(KEY, {})
    seats = {**params["arguments"], **answers.get("content", {})}.get("seats")
    if type(seats) is int and 1 <= seats <= MOST:
        return text(f"Table for {seats}, {params['arguments']['name']}")
    return question(params["arguments"]["name"])


# %% wrong="read" says="is asked for again"
# Stage read: the client will have checked it.
def reserve(params):
    if seats := params["arguments"].get("seats"):
        return text(f"Table for {seats}, {params['arguments']['name']}")
    if KEY not in params.get("inputResponses", {}):
        return question(params["arguments"]["name"])
    answer = params["inputResponses"][KEY]
    if answer["action"] != "accept":
        return text("No table was reserved.")
    return text(f"Table for {answer['content']['seats']}, {params['requestState']}")


# %% wrong="read" says="KeyError"
# Stage read: every retry has its answer.
def reserve(params):
    seats = params["arguments"].get("seats")
    if params.get("requestState"):
        answer = params["inputResponses"][KEY]
        if answer["action"] in ("decline", "cancel"):
            return text("No table was reserved.")
        seats = answer.get("content", {}).get("seats")
    if type(seats) is int and 1 <= seats <= MOST:
        return text(f"Table for {seats}, {params['arguments']['name']}")
    return question(params["arguments"]["name"])


# %% check="read" points=4
@check("read", points=4)
def answers_are_read(it, name="Ioana", seats=3):
    key, most = it.given["KEY"], it.given["MOST"]
    first = {"name": "reserve", "arguments": {"name": name}}
    content = {"seats": seats}
    retries = [
        ({key: {"action": "decline"}}, "no"),
        ({key: {"action": "decline", "content": content}}, "no"),
        ({key: {"action": "cancel"}}, "no"),
        ({key: {"action": "accept", "content": content}}, "yes"),
        ({key: {"action": "accept", "content": {"seats": most + 1}}}, "again"),
        ({key: {"action": "accept", "content": {"seats": True}}}, "again"),
        ({key: {"action": "accept"}}, "again"),
        ({key: {"action": "later"}}, "again"),
        ({}, "again"),
        ({"other": {"action": "accept", "content": content}}, "again"),
    ]
    cases = [(first, "again"), ({**first, "arguments": {"name": name, "seats": seats}}, "yes")]
    for answers, due in retries:
        cases.append(({**first, "inputResponses": answers, "requestState": name}, due))
    clauses = {
        "no": "client/elicitation: no is an answer, and the call is complete without the deed",
        "yes": "client/elicitation: what was accepted, and fits the schema, is used",
        "again": "basic/patterns/mrtr: what is missing or unusable is asked for again",
    }
    for params, due in cases:
        said = it.call("reserve", params)
        kind = said.get("resultType") if isinstance(said, dict) else None
        words = json.dumps(said.get("content"), ensure_ascii=False) if kind == "complete" else ""
        came = "again" if kind == "input_required" else "no" if "No table" in words else "yes"
        came = came if kind and (came != "yes" or str(seats) in words and name in words) else ""
        hint = "look at the action before you look at anything else"
        sent = f"{kind} {words}\nfor {it.show(params)}"
        it.expect(came == due, sent=sent, clause=clauses[due], hint=hint)


# %% hidden="read"
def hidden(it, rng):
    most = it.given["MOST"]
    answers_are_read(it, f"Guest {rng.randint(100, 999)}", rng.randint(1, most))
    first = {"name": "reserve", "arguments": {"name": "A"}, "requestState": "A"}
    for odd in rng.sample([0, -1, 1.5, "2", None, [2], most + rng.randint(1, 9)], 4):
        answer = {it.given["KEY"]: {"action": "accept", "content": {"seats": odd}}}
        said = it.call("reserve", {**first, "inputResponses": answer})
        right = isinstance(said, dict) and said.get("resultType") == "input_required"
        clause = "client/elicitation: a server validates what it gets against its own schema"
        it.expect(
            right, sent=f"{it.show(said)} for seats {odd!r}", clause=clause, hint="which type?"
        )


# %% [markdown]
# ## Stage `survive`: process B finishes what process A began
#
# The same restaurant as a server on a pipe, and somebody's first draft: it keeps the open questions
# in a list, with the number of the entry as `requestState`. When the process is replaced between
# question and answer, the list is empty. Mend it: nothing between two messages may live in the
# process. `reserve` from above is there to be used.


# %% stage="survive"
# Stage survive: any process can finish.
def restaurant(stdin, stdout):
    for line in stdin:
        message = json.loads(line)
        if message.get("method") != "tools/call":
            continue
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": reserve(message["params"])}
        stdout.write(json.dumps(answer).encode() + b"\n")
        stdout.flush()


# %% blank="survive"
# Stage survive: the list is in this process, and in no other.
def restaurant(stdin, stdout):
    waiting = []
    for line in stdin:
        message = json.loads(line)
        if message.get("method") != "tools/call":
            continue
        params = message["params"]
        if "requestState" in params:
            name = waiting[int(params["requestState"])]
            result = reserve({**params, "requestState": name})
        else:
            result = reserve(params)
        if result["resultType"] == "input_required":
            waiting.append(params["arguments"]["name"])
            result["requestState"] = str(len(waiting) - 1)
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        stdout.write(json.dumps(answer).encode() + b"\n")
        stdout.flush()


# %% wrong="survive" says="another guest"
# Stage survive: an unknown number is taken for the last guest.
def restaurant(stdin, stdout):
    last = "Nobody"
    for line in stdin:
        message = json.loads(line)
        result = reserve({**message["params"], "requestState": last})
        last = message["params"]["arguments"]["name"]
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        stdout.write(json.dumps(answer).encode() + b"\n")
        stdout.flush()


# %% wrong="survive" says="IndexError"
# Stage survive: the list is moved out of the function.
waiting = []


def restaurant(stdin, stdout):
    for line in stdin:
        message = json.loads(line)
        params = message["params"]
        if "requestState" in params:
            params["requestState"] = waiting[int(params["requestState"])]
        result = reserve(params)
        if result["resultType"] == "input_required":
            waiting.append(params["arguments"]["name"])
            result["requestState"] = str(len(waiting) - 1)
        stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode())
        stdout.write(b"\n")
        stdout.flush()


# %% check="survive" points=3
@check("survive", points=3)
def any_process_finishes(it, names=("Ioana", "Radu"), seats=2):
    states, page = {}, "basic/patterns/mrtr"
    call = {"jsonrpc": "2.0", "method": "tools/call"}
    with it.serve("restaurant") as process_a:
        for id, name in enumerate(names):
            params = {"name": "reserve", "arguments": {"name": name}}
            answer = process_a.ask({**call, "id": id, "params": params})
            states[name] = (params, answer["result"]["requestState"])
            fine = isinstance(states[name][1], str)
            clause = f"{page}: requestState is a string"
            it.expect(fine, sent=answer, clause=clause, hint="a string")
    with it.serve("restaurant") as process_b:
        for name in reversed(names):
            params, state = states[name]
            given = {it.given["KEY"]: {"action": "accept", "content": {"seats": seats}}}
            again = {**params, "inputResponses": given, "requestState": state}
            answer = process_b.ask({**call, "id": f"again-{name}", "params": again})
            words = json.dumps(answer.get("result", answer), ensure_ascii=False)
            clause = f"{page}: any process may get the second half; all it needs is in the message"
            sent = f"{words} in process B, for {name}: it knows nothing, or another guest"
            hint = "process B never saw the question. What does it have?"
            it.expect(name in words and str(seats) in words, sent=sent, clause=clause, hint=hint)


# %% hidden="survive"
def hidden(it, rng):
    names = [f"Guest-{number}" for number in rng.sample(range(1000), 3)]
    any_process_finishes(it, names, rng.randint(1, it.given["MOST"]))


# %% [markdown]
# ## Stage `spot`: a trace from a tutorial
#
# The tutorial shows how its server asks, and how its client answers. Four of the eight keys marked
# `a` to `h` are not what this revision has (`basic/patterns/mrtr`, `client/elicitation`).
#
# Write `SPOTTED`: for each letter that is wrong, the key as it should be, and nothing for the others.

# %%
ANSWER = """← {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required",      a: "resultType"
     "inputRequests":{"KEY":{                                            b: "inputRequests"
       "type":"elicitation/create",                                      c: "type"
       "params":{"message":"For how many?",
         "schema":{"type":"object", ...}}}},                             d: "schema"
     "requestState":"Ioana"}}                                            e: "requestState"
→ {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{ ...,
     "responses":{"KEY":{                                                f: "responses"
       "action":"accept",                                                g: "action"
       "data":{"seats":2}}}, ...}}                                       h: "data"
"""
print(ANSWER.replace("KEY", KEY))

# %% stage="spot"
# Stage spot: {"letter": "key as it should be"} for the four that are wrong.
### BEGIN SOLUTION
SPOTTED = {"c": "method", "d": "requestedSchema", "f": "inputResponses", "h": "content"}
### END SOLUTION

# %% wrong="spot" says="four letters"
# Stage spot: three are found.
SPOTTED = {"c": "method", "d": "requestedSchema", "f": "inputResponses"}

# %% wrong="spot" says="stands in the notebook"
# Stage spot: the right places, other words.
SPOTTED = {"c": "method", "d": "jsonSchema", "f": "inputResponses", "h": "content"}


# %% check="spot" points=3
@check("spot", points=3)
def spotted(it):
    said = it.value("SPOTTED")
    four = isinstance(said, dict) and len(said) == 4 and set(said) <= set("abcdefgh")
    clause = "the text above: four letters, each with the key as it should be"
    it.expect(four, sent=said, clause=clause, hint='{"a": "...", ...}')
    made = it.call("question", "X")
    words = json.dumps(made) + json.dumps({"inputResponses": {"action": "", "content": {}}})
    for letter, key in sorted(said.items()):
        known = isinstance(key, str) and f'"{key}": ' in words
        clause = "basic/patterns/mrtr, client/elicitation: the keys of a question and of an answer"
        hint = "the right key stands in the notebook's traces, and in your own stages"
        it.expect(known, sent={letter: key}, clause=clause, hint=hint)


# %% hidden="spot"
def hidden(it, rng):
    spotted(it)
    letters = dict(zip("cdfh", ("meth", "requestedS", "inputResp", "cont"), strict=True))
    said = it.value("SPOTTED")
    clause = "basic/patterns/mrtr, client/elicitation: the keys of a question and of an answer"
    right = set(said) == set(letters)
    right = right and all(said[letter].startswith(begin) for letter, begin in letters.items())
    it.expect(right, sent=said, clause=clause, hint="lay the trace beside one of the notebook's")


# %% [markdown] written="why" points=1
# ## In your own words
#
# Why must the retry have a new id, when it is the same call?
#
# ### BEGIN SOLUTION
# On the wire it is another request: the first one was answered, with a result. Its id is used up,
# so that each answer belongs to one request; and a process that never saw the first one can serve
# the second.
# ### END SOLUTION

# %%
tally()
