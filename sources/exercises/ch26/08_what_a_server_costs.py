# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Exercise 26.8. Half the bill
#
# *After notebook `ch26/08_what_a_server_costs`. Three stages, 12 points and 1 for words of your own,
# about 25 minutes.*
#
# A catalogue of tools is read by the model on every turn, whether or not it is used, and its user
# pays. This one was written by somebody who was paid by the word. You cut its bill by half without
# losing a tool, mend a catalogue that was cut too deep, and stop a client that asks for it again and
# again.
#
# **How it works.** Run the cells from the top, with Shift+Enter; after a restart, all of them again.
# Write in those that begin with `# Stage`, and run them; the cell below each one checks what you
# wrote. Keep the line `# Stage ...`: by that line your cell is found.

# %%
import copy
import json

from mcp_bare.json_schema import problems
from workbench import tokens
from workbench.checks import check, tally

# %% role="given"
# Given: these are yours; another learner may have others.
THING = "invoice"  # or "parcel", "booking"
STATES = ["open", "paid", "void"]  # or ["draft", "sent", "lost"], ["new", "held", "done"]

# %% [markdown]
# ## The catalogue
#
# Four tools. `tokens.catalogue_tokens(TOOLS)` counts what the model reads of them: name,
# description and `inputSchema`, in o200k_base. (`tokens` is the notebook's; use it in cells of your
# own.)

# %%
POLITE = "This very useful tool makes it possible for you, as the assistant, to "
NOTE = (
    " Please note that this tool should be called whenever it appears to be appropriate to call it."
)
FIELD = "This is the parameter by which you can specify "


def bloated(verb, doing, properties, required):
    """A tool in many words."""
    told = {
        name: {**schema, "description": FIELD + text} for name, (schema, text) in properties.items()
    }
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}
    schema |= {"title": f"{verb}_{THING}_arguments", "properties": told, "required": required}
    schema |= {"additionalProperties": False}
    return {"name": f"{verb}_{THING}", "description": POLITE + doing + NOTE, "inputSchema": schema}


# %%
ONE = f"the six-digit number of the {THING} that you mean."
ID = ({"type": "string", "pattern": "^[0-9]{6}$"}, ONE)
STATE = ({"type": "string", "enum": STATES}, "the state, which has to be one of those that exist.")
MOST = ({"type": "integer", "minimum": 1, "maximum": 50}, "how many you would like, at the most.")
one, both = {"number": ID}, {"number": ID, "state": STATE}
some = {"state": STATE, "most": MOST}
TOOLS = [
    bloated("get", f"read one {THING}. It does not change anything.", one, ["number"]),
    bloated("list", f"list those {THING}s that are in one state.", some, ["state"]),
    bloated("set", f"change the state of one {THING}. This writes.", both, ["number", "state"]),
    bloated("delete", f"delete one {THING}. This cannot be undone.", one, ["number"]),
]
print(json.dumps(TOOLS[2], indent=1))

# %%
print(tokens.catalogue_tokens(TOOLS), "tokens")

# %% [markdown]
# ## Stage `slim`: half, and nothing lost
#
# Write `slim(tools)`: a new list of tools, for this catalogue and for others that `bloated` makes.
# It has at most half the tokens. Each tool is still there under its name, still says what it does
# (the words between `POLITE` and `NOTE`), and its `inputSchema` still lets through and refuses the
# same arguments; a parameter's description may go where name and schema say as much. Only what
# changes nothing for a validator may be dropped from a schema: look at each key and ask what it is
# for (`server/tools`). Roughly ten lines.


# %% stage="slim"
# Stage slim: the same tools in fewer words.
def slim(tools):
    ### BEGIN SOLUTION
    def less(schema):
        properties = {
            name: {key: value for key, value in field.items() if key != "description"}
            for name, field in schema["properties"].items()
        }
        kept = {key: value for key, value in schema.items() if key not in ("$schema", "title")}
        return {**kept, "properties": properties}

    return [
        {
            "name": tool["name"],
            "description": tool["description"].removeprefix(POLITE).removesuffix(NOTE),
            "inputSchema": less(tool["inputSchema"]),
        }
        for tool in tools
    ]
    ### END SOLUTION


# %% wrong="slim" says="half"
# Stage slim: the polite words only.
def slim(tools):
    return [{**tool, "description": tool["description"].replace(NOTE, "")} for tool in tools]


# %% wrong="slim" says="let it through"
# Stage slim: a schema of types alone.
def slim(tools):
    cut = copy.deepcopy(tools)
    for tool in cut:
        tool["description"] = tool["description"].removeprefix(POLITE).removesuffix(NOTE)
        schema = tool["inputSchema"]
        fields = {name: {"type": field["type"]} for name, field in schema["properties"].items()}
        tool["inputSchema"] = {
            "type": "object",
            "properties": fields,
            "required": schema["required"],
        }
    return cut


# %% wrong="slim" says="what it does"
# Stage slim: the name says it all.
def slim(tools):
    cut = copy.deepcopy(tools)
    for tool in cut:
        tool["description"] = tool["name"].replace("_", " ")
        for field in tool["inputSchema"]["properties"].values():
            del field["description"]
    return cut


# %% wrong="slim" says="same tools"
# Stage slim: nobody deletes anything anyway.
def slim(tools):
    return tools[:2]


# %% check="slim" points=5
@check("slim", points=5)
def slimmed(it, tools=None, tries=()):
    tools, page = tools or it.value("TOOLS"), "server/tools"
    said = it.call("slim", tools)
    names = [tool.get("name") for tool in said] if isinstance(said, list) else said
    due = [tool["name"] for tool in tools]
    clause = "the text above: the same tools, by the same names"
    it.expect(names == due, sent=names, clause=clause, hint="not a tool is lost")
    number, thing = "123456", tools[0]["name"].partition("_")[2]
    words = {"get": "read one", "list": "in one state", "set": "writes", "delete": "undone"}
    for tool in said:
        verb = tool["name"].partition("_")[0]
        clause = f"{page}: the description is what a model decides by, and it says what it does"
        tells = words.get(verb, thing) in str(tool.get("description"))
        it.expect(tells, sent=tool, clause=clause, hint="keep what a person would ask about first")
    before, after = tokens.catalogue_tokens(tools), tokens.catalogue_tokens(said)
    sent = f"{after} of {before} tokens"
    clause = "the text above: at most half of the tokens"
    it.expect(
        after <= before / 2, sent=sent, clause=clause, hint="which keys tell a model nothing?"
    )
    state = tools[1]["inputSchema"]["properties"]["state"]["enum"][0]
    samples = [{}, {"number": number}, {"number": "12"}, {"number": 123456}, {"state": state}]
    samples += [{"state": "lent"}, {"number": number, "state": state}, {"state": state, "most": 50}]
    samples += [{"state": state, "most": 51}, {"number": number, "force": True}, *tries]
    for old, new in zip(tools, said, strict=True):
        for arguments in samples:
            refused = bool(problems(old["inputSchema"], arguments))
            now = bool(problems(new["inputSchema"], arguments))
            verdict = "refused it" if now else "let it through"
            sent = f"{new['name']} with {it.show(arguments)}: the new schema {verdict}"
            clause = f"{page}: inputSchema says which arguments are valid, and that stays the same"
            it.expect(
                refused == now, sent=sent, clause=clause, hint="which key in it decides that?"
            )


# %% hidden="slim"
def hidden(it, rng):
    tools = copy.deepcopy(it.value("TOOLS"))
    for tool in tools:
        field = tool["inputSchema"]["properties"].get("most")
        if field:
            field["maximum"] = 50 + rng.randint(0, 40)
            field["minimum"] = -rng.randint(1, 9)
    values = ["123456", "1234567", "", rng.randint(-9, 120), 2.5, None, True]
    tries = [{rng.choice(["most", "number", "state"]): rng.choice(values)} for _ in range(20)]
    state = tools[1]["inputSchema"]["properties"]["state"]["enum"][-1]
    tries += [{"state": state, "most": rng.randint(-12, 99)} for _ in range(12)]
    slimmed(it, tools, tries)


# %% [markdown]
# ## Stage `mend`: cut too deep
#
# A colleague cut this definition by hand. It is short, and it has four faults: a call that must be
# refused is let through three times, and one that is right is refused. Mend the schema, and keep it
# short (70 tokens at most): `move` takes a `number` of six digits and a `shelf` from `A` to `F`,
# both required; `times`, an integer, need not be there; nothing else is allowed.


# %% stage="mend"
# Stage mend: short, and right.
MOVE = {
    "type": "object",
    "properties": {
        "number": {"type": "string", "pattern": "^[0-9]{6}$"},
        "shelf": {"enum": ["A", "B", "C", "D", "E", "F"]},
        "times": {"type": "integer"},
    },
    "required": ["number", "shelf"],
    "additionalProperties": False,
}

# %% blank="mend"
# Stage mend: four faults.
MOVE = {
    "type": "object",
    "properties": {
        "number": {"type": "string", "pattern": "[0-9]{6}"},
        "shelf": {"enum": ["A", "B", "C", "D", "E"]},
        "times": {"type": "integer"},
    },
    "required": ["number"],
}

# %% wrong="mend" says="let it through"
# Stage mend: the pattern is still open at both ends.
MOVE = {
    "type": "object",
    "properties": {
        "number": {"type": "string", "pattern": "[0-9]{6}"},
        "shelf": {"enum": ["A", "B", "C", "D", "E", "F"]},
        "times": {"type": "integer"},
    },
    "required": ["number", "shelf"],
    "additionalProperties": False,
}

# %% wrong="mend" says="70 tokens"
# Stage mend: right, and long again.
MOVE = {
    "type": "object",
    "title": "The arguments of the tool that moves a thing from one shelf to another shelf",
    "properties": {
        "number": {"type": "string", "pattern": "^[0-9]{6}$", "description": "Six digits, please."},
        "shelf": {"type": "string", "enum": ["A", "B", "C", "D", "E", "F"]},
        "times": {"type": "integer", "description": "How many times it was moved before."},
    },
    "required": ["number", "shelf"],
    "additionalProperties": False,
}

# %% wrong="mend" says="refused it"
# Stage mend: everything is required.
MOVE = {
    "type": "object",
    "properties": {
        "number": {"type": "string", "pattern": "^[0-9]{6}$"},
        "shelf": {"enum": ["A", "B", "C", "D", "E", "F"]},
        "times": {"type": "integer"},
    },
    "required": ["number", "shelf", "times"],
    "additionalProperties": False,
}


# %% check="mend" points=3
@check("mend", points=3)
def mended(it, tries=()):
    schema = it.value("MOVE")
    page, number = "server/tools", "123456"
    cases = [({"number": number, "shelf": letter}, True) for letter in "ABCDEF"]
    cases += [({"number": number, "shelf": "A", "times": 3}, True), ({"number": number}, False)]
    cases += [({"number": f"9{number}", "shelf": "A"}, False), ({"number": 5, "shelf": "A"}, False)]
    cases += [({"number": number, "shelf": "G"}, False), ({"shelf": "B"}, False), ({}, False)]
    cases += [({"number": number, "shelf": "A", "force": True}, False), *tries]
    for arguments, right in cases:
        found = problems(schema, arguments)
        verdict = f"refused it ({found[0]})" if found else "let it through"
        sent = f"{it.show(arguments)}: the schema {verdict}"
        clause = f"{page}: inputSchema says which arguments are valid"
        hint = "read the sentence above once more, word by word"
        it.expect(bool(found) != right, sent=sent, clause=clause, hint=hint)
    size = tokens.count_json(schema, compact=True)
    clause = "the text above: 70 tokens at most, as compact JSON"
    it.expect(size <= 70, sent=f"{size} tokens; 70 tokens are due", clause=clause, hint="cut words")


# %% hidden="mend"
def hidden(it, rng):
    good = [({"number": f"{rng.randint(0, 10**6 - 1):06}", "shelf": rng.choice("ABCDEF")}, True)]
    good.append((good[0][0] | {"times": rng.randint(-5, 5)}, True))
    odd = {
        "number": ["12345", "12345x", "x123456"],
        "shelf": ["a", "AB", None],
        "times": ["1", 1.5],
    }
    key = rng.choice(list(odd))
    bad = [(good[0][0] | {name: rng.choice(values)}, False) for name, values in odd.items()]
    mended(it, [*good, *bad, (good[0][0] | {f"{key}s": 1}, False)])


# %% [markdown]
# ## Stage `keep`: ask once
#
# A list comes with `ttlMs`: so long may the client keep it (`server/utilities/caching`). Write
# `Kept`: it is made with a function `ask` that returns a result, and its method `get(now)`, `now` in
# milliseconds, returns a fresh result: the one it has while its time lasts, else a new one. A
# `ttlMs` that is 0 or missing lasts not at all. `stale()` is called when a
# `notifications/tools/list_changed` arrives. Roughly ten lines.


# %% stage="keep"
# Stage keep: a result, as long as it lasts.
class Kept:
    def __init__(self, ask):
        ### BEGIN SOLUTION
        self.ask, self.result, self.until = ask, None, 0
        ### END SOLUTION

    def get(self, now):
        ### BEGIN SOLUTION
        if self.result is None or now >= self.until:
            self.result = self.ask()
            self.until = now + self.result.get("ttlMs", 0)
        return self.result
        ### END SOLUTION

    def stale(self):
        ### BEGIN SOLUTION
        self.result = None
        ### END SOLUTION


# %% wrong="keep" says="may not be kept"
# Stage keep: for ever.
class Kept:
    def __init__(self, ask):
        self.ask, self.result = ask, None

    def get(self, now):
        self.result = self.result or self.ask()
        return self.result

    def stale(self):
        self.result = None


# %% wrong="keep" says="may be kept"
# Stage keep: never.
class Kept:
    def __init__(self, ask):
        self.get = lambda now: ask()

    def stale(self):
        pass


# %% wrong="keep" says="KeyError"
# Stage keep: every server sets it.
class Kept:
    def __init__(self, ask):
        self.ask, self.until = ask, -1

    def get(self, now):
        if now >= self.until:
            self.result = self.ask()
            self.until = now + self.result["ttlMs"]
        return self.result

    def stale(self):
        self.until = -1


# %%
def watched(ttl, script):
    """How many times `ask` was called, after each step of a script of times and "stale"."""
    asked, counts = [], []

    def ask():
        asked.append(1)
        return {"tools": [], "number": len(asked)} | ({} if ttl is None else {"ttlMs": ttl})

    kept = Kept(ask)
    for step in script:
        number = len(asked)
        if step == "stale":
            kept.stale()
        else:
            number = kept.get(step)["number"]
        counts.append([step, len(asked), number])
    return counts


# %% check="keep" points=4
@check("keep", points=4)
def kept(it, ttl=300, script=(1000, 1100, 1299, 1300, 1301, "stale", 1302, 1303, 1700)):
    for lasts in (ttl, 0, None):
        told, asked, until = it.call("watched", lasts, list(script)), 0, 0
        for step, count, number in told:
            page = "server/utilities/caching"
            sent = f"asked {count} times by {step}, with ttlMs {lasts}: {it.show(told)}"
            if step == "stale":
                until = 0
                continue
            if step >= until:
                clause, until = f"{page}: past its ttlMs, or stale, it may not be kept", 0
                asked += 1
                until = step + (lasts or 0)
            else:
                clause = f"{page}: within ttlMs a result may be kept, and need not be asked for"
            hint = "when does it come, and until when does it last? What does stale() change?"
            it.expect(count == asked == number, sent=sent, clause=clause, hint=hint)


# %% hidden="keep"
def hidden(it, rng):
    times = sorted(rng.sample(range(10**4), 12))
    times.insert(rng.randint(3, 9), "stale")
    kept(it, rng.randint(100, 4000), times)


# %% [markdown] written="why" points=1
# ## In your own words
#
# Somebody cuts the descriptions of all tools to three words each, and the bill falls again. What may
# rise instead?
#
# ### BEGIN SOLUTION
# The number of wrong calls. A model that cannot tell two tools apart calls the wrong one, reads an
# error, and tries again: each of these turns costs the whole catalogue once more, and one of them
# may have deleted something.
# ### END SOLUTION

# %%
tally()
