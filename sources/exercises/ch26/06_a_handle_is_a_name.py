# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Exercise 26.6. A handle is a name
#
# *After notebook `ch26/06_a_handle_is_a_name`. Four stages, 11 points and 1 for words of your own,
# about 25 minutes.*
#
# A packing list keeps what it knows in a list of its module. It works for one person, in one
# process, until somebody restarts it. You give each list a name that travels in the messages, make
# the name useless to everybody else, and move what must last to where every process finds it.
#
# **How it works.** Run the cells from the top, with Shift+Enter; after a restart, all of them again.
# Write in those that begin with `# Stage`, and run them; the cell below each one checks what you
# wrote. Keep the line `# Stage ...`: by that line your cell is found.

# %%
import json
import secrets

from mcp_bare.call import Caller
from mcp_bare.errors import ToolError
from mcp_bare.server import Server, text_result
from workbench.checks import check, tally

# %% role="given"
# Given: these are yours; another learner may have others.
PREFIX = "list_"  # or "bag_", "trip_"
DAYS = 30  # or 7, 90

# %% [markdown]
# This is how your server will be run. What must last stands in `database`, a dict that outlives
# every process: the check keeps it, and hands it to the next one. `who` is the caller, as the
# transport vouches for it.


# %%
def process(stdin, stdout):
    """One process of the server: a first line with the database, then messages."""
    first = json.loads(stdin.readline())
    if first.get("handle"):
        stdout.write(json.dumps({"handle": new_handle()}).encode() + b"\n")
        return
    database = first["database"]
    server = make_server(database)
    for line in stdin:
        asked = json.loads(line)
        answers = list(server.handle(asked["message"], Caller(asked["who"])))
        stdout.write(json.dumps({"answers": answers, "database": database}).encode() + b"\n")
        stdout.flush()


# %% [markdown]
# ## Stage `name`: a name that nobody guesses
#
# A handle is an ordinary string in a result, and an ordinary argument of a later call
# (`server/tools`, "Stateful Tools"): no session, and no proof of who asks. Who may use it is
# checked elsewhere, and still it should not be guessed.
#
# Write `new_handle()`: `PREFIX`, and behind it at least 16 characters that nobody can predict. The
# module `secrets` makes such. Roughly one line.


# %% stage="name"
# Stage name: a fresh handle.
def new_handle():
    ### BEGIN SOLUTION
    return PREFIX + secrets.token_urlsafe(16)
    ### END SOLUTION


# %% wrong="name" says="count on"
# Stage name: numbered, which is easy to read and easy to guess.
NUMBERS = iter(range(10**15, 10**16))


def new_handle():
    return f"{PREFIX}{next(NUMBERS)}"


# %% wrong="name" says="at least 16"
# Stage name: short and sweet.
def new_handle():
    return PREFIX + secrets.token_hex(4)


# %% wrong="name" says="two processes"
# Stage name: drawn from a generator that begins everywhere at the same place.
from random import Random

DRAWN = Random(7)


def new_handle():
    return f"{PREFIX}{DRAWN.getrandbits(128):032x}"


# %% check="name" points=2
@check("name", points=2)
def named(it, count=8):
    handles = [it.call("new_handle") for _ in range(count)]
    prefix, page = it.given["PREFIX"], "server/tools"
    clause = f"{page}: a handle is a string that the server makes"
    for handle in handles:
        right = isinstance(handle, str) and handle.startswith(prefix)
        it.expect(right, sent=handle, clause=clause, hint=f"it begins with {prefix}")
        clause = "the text above: at least 16 characters behind the prefix"
        it.expect(len(handle) >= len(prefix) + 16, sent=handle, clause=clause, hint="longer")
    clause = "the text above: nobody can predict the next one"
    it.expect(len(set(handles)) == count, sent=handles, clause=clause, hint="each is new")
    bodies = [handle.removeprefix(prefix) for handle in handles]
    close = [a for a, b in zip(bodies, bodies[1:], strict=False) if a[:-2] == b[:-2]]
    hint = "I count on from the last one, and have the next"
    it.expect(not close, sent=handles, clause=clause, hint=hint)
    others = []
    for _ in range(2):
        with it.serve("process") as pipe:
            others.append(pipe.ask({"database": {}, "handle": True}))
    sent = f"{others[0]} twice, by two processes"
    it.expect(others[0] != others[1], sent=sent, clause=clause, hint="what does it start from?")


# %% hidden="name"
def hidden(it, rng):
    named(it, rng.randint(20, 30))


# %% [markdown]
# ## Stage `whose`: the check of every call
#
# `database` maps each handle to `{"owner": who, "items": [...], "used": day}`. Write
# `list_of(database, handle, who)`: the entry, or a `ToolError` whose message names the handle and
# says what to do: call `create_list`. Somebody else's handle gets the same words as one that never
# was, so that who asks learns nothing. This server knows its callers; one who is
# anonymous (`None`) owns nothing here, not even what an anonymous caller made. Roughly five lines.


# %% stage="whose"
# Stage whose: the caller's own list, or an error that helps.
def list_of(database, handle, who):
    ### BEGIN SOLUTION
    entry = database.get(handle)
    if entry is None or who is None or entry["owner"] != who:
        raise ToolError(f"There is no list {handle} for you. Call create_list for a new one.")
    return entry
    ### END SOLUTION


# %% wrong="whose" says="somebody else's"
# Stage whose: who knows the handle may use it.
def list_of(database, handle, who):
    if handle not in database:
        raise ToolError(f"There is no list {handle}. Call create_list.")
    return database[handle]


# %% wrong="whose" says="same words"
# Stage whose: a helpful answer, to the wrong person.
def list_of(database, handle, who):
    if handle not in database:
        raise ToolError(f"There is no list {handle}. Call create_list.")
    if database[handle]["owner"] != who or who is None:
        raise ToolError(f"The list {handle} is not yours. Call create_list.")
    return database[handle]


# %% wrong="whose" says="KeyError"
# Stage whose: an unknown handle falls through.
def list_of(database, handle, who):
    if database[handle]["owner"] != who:
        raise ToolError(f"There is no list {handle}. Call create_list.")
    return database[handle]


# %% check="whose" points=3
@check("whose", points=3)
def checked(it, mine="list_aaa", theirs="list_bbb", who="ana", other="bob"):
    page = "server/tools"
    entry = {"owner": who, "items": ["soap"], "used": 1}
    database = {mine: entry, theirs: {**entry, "owner": other}, "list_": {**entry, "owner": None}}
    said = it.attempt("list_of", database, mine, who)
    clause = f"{page}: the owner's own handle works"
    it.expect(said == entry, sent=said, clause=clause, hint="return the entry")
    refused = {
        "somebody else's": (theirs, who),
        "one that never was": ("list_ccc", who),
        "an anonymous caller": (mine, None),
        "an anonymous owner": ("list_", None),
    }
    words = {}
    for what, (handle, caller) in refused.items():
        said = it.attempt("list_of", database, handle, caller)
        right = "ToolError" in getattr(said, "types", [])
        clause = f"{page}: a handle is no proof of who asks; each call checks whose it is"
        hint = "compare the owner with who asks; nobody is nobody's owner (raise ToolError)"
        it.expect(right, sent=f"{said} for {what}", clause=clause, hint=hint)
        words[what] = said.message.replace(handle, "…")
        clause = "the text above: the message names the handle, and what to do"
        helps = handle in said.message and "create_list" in said.message
        it.expect(
            helps, sent=said.message, clause=clause, hint="a model reads it: what should it do?"
        )
    clause = "the text above: somebody else's handle gets the same words as one that never was"
    same = len(set(words.values())) == 1
    it.expect(same, sent=words, clause=clause, hint="one sentence for all of them")


# %% hidden="whose"
def hidden(it, rng):
    handles = [f"list_{rng.getrandbits(64):x}" for _ in range(2)]
    checked(it, *handles, *rng.sample(["eve", "ana", "Ana", "ănä", ""], 2))


# %% [markdown]
# ## Stage `shared`: nothing in the module
#
# This server has one list for all, in its module. Mend it: `create_list` makes an empty list, owned
# by the caller (`call.caller.principal`), and returns its handle, in the text and as
# `structuredContent` `{"list": handle}`; `add_thing` takes a handle and a thing. All that must last
# goes to `database`. `new_handle` and `list_of` are yours already.


# %%
def tool(name, *arguments):
    """The definition of a tool whose arguments are all required strings."""
    texts = {argument: {"type": "string"} for argument in arguments}
    schema = {"type": "object", "properties": texts, "required": list(arguments)}
    return {"name": name, "description": name.replace("_", " ").capitalize(), "inputSchema": schema}


# %% stage="shared"
# Stage shared: what must last is in the database.
def make_server(database):
    server = Server("packing", "1.0.0")

    @server.tool(tool("create_list"))
    def create_list(call):
        handle = new_handle()
        database[handle] = {"owner": call.caller.principal, "items": [], "used": 0}
        return text_result(f"Created {handle}", {"list": handle})

    @server.tool(tool("add_thing", "list", "thing"))
    def add_thing(call):
        items = list_of(database, call.arguments["list"], call.caller.principal)["items"]
        items.append(call.arguments["thing"])
        return f"On the list: {', '.join(items)}"

    return server


# %% blank="shared"
# Stage shared: a list in the module, which is everybody's and nobody's.
ITEMS = []


def make_server(database):
    server = Server("packing", "1.0.0")

    @server.tool(tool("create_list"))
    def create_list(call):
        ITEMS.clear()
        return text_result("Created list_1", {"list": "list_1"})

    @server.tool(tool("add_thing", "list", "thing"))
    def add_thing(call):
        ITEMS.append(call.arguments["thing"])
        return f"On the list: {', '.join(ITEMS)}"

    return server


# %% wrong="shared" says="process B"
# Stage shared: handles, kept in the module.
LISTS = {}


def make_server(database):
    server = Server("packing", "1.0.0")

    @server.tool(tool("create_list"))
    def create_list(call):
        handle = new_handle()
        LISTS[handle] = {"owner": call.caller.principal, "items": [], "used": 0}
        return text_result(f"Created {handle}", {"list": handle})

    @server.tool(tool("add_thing", "list", "thing"))
    def add_thing(call):
        items = list_of(LISTS, call.arguments["list"], call.caller.principal)["items"]
        items.append(call.arguments["thing"])
        return f"On the list: {', '.join(items)}"

    return server


# %% wrong="shared" says="somebody else"
# Stage shared: in the database, and nobody looks whose.
def make_server(database):
    server = Server("packing", "1.0.0")

    @server.tool(tool("create_list"))
    def create_list(call):
        handle = new_handle()
        database[handle] = {"owner": call.caller.principal, "items": [], "used": 0}
        return text_result(f"Created {handle}", {"list": handle})

    @server.tool(tool("add_thing", "list", "thing"))
    def add_thing(call):
        items = database[call.arguments["list"]]["items"]
        items.append(call.arguments["thing"])
        return f"On the list: {', '.join(items)}"

    return server


# %% check="shared" points=4
@check("shared", points=4)
def lasts(it, items=("tent", "soap"), who="ana", other="bob"):
    key, page = "io.modelcontextprotocol/", "server/tools"
    meta = {f"{key}protocolVersion": "2026-07-28", f"{key}clientCapabilities": {}}
    database, ids = {}, iter(range(1, 99))

    def say(caller, name, **arguments):
        """One call in a process of its own; the database goes in, and comes out."""
        params = {"name": name, "arguments": arguments, "_meta": meta}
        message = {"jsonrpc": "2.0", "id": next(ids), "method": "tools/call", "params": params}
        with it.serve("process") as pipe:
            pipe.send({"database": database})
            told = pipe.ask({"who": caller, "message": message})
        database.update(told["database"])
        return told["answers"][-1].get("result", told["answers"][-1])

    made = say(who, "create_list")
    handle = made.get("structuredContent", {}).get("list")
    clause = f"{page}: the handle is in the result, for the model and for programs"
    shown = isinstance(handle, str) and handle in str(made.get("content"))
    it.expect(shown, sent=made, clause=clause, hint="text_result(text, structured)")
    say(who, "add_thing", list=handle, thing=items[0])
    said = say(who, "add_thing", list=handle, thing=items[1])
    clause = f"{page}: any process serves the next call; what must last is not in its memory"
    right = all(item in str(said.get("content")) for item in items)
    it.expect(right, sent=f"{said}, by process B", clause=clause, hint="put it into the database")
    stolen = say(other, "add_thing", list=handle, thing="gold")
    clause = f"{page}: each call checks whose the handle is"
    it.expect(
        stolen.get("isError"), sent=f"{stolen}, to somebody else", clause=clause, hint="list_of"
    )


# %% hidden="shared"
def hidden(it, rng):
    words = ["socks", "căciulă", "Zelt", "傘", "rope"]
    lasts(it, rng.sample(words, 2), f"user{rng.randint(10, 99)}", f"other{rng.randint(10, 99)}")


# %% [markdown]
# ## Stage `sweep`: nothing lasts for ever
#
# Who makes handles must say how long they last, and keep to it. Write `sweep(database, today)`: it
# takes out every list that was last used more than `DAYS` days ago (`used` and `today` are numbers
# of days), changes nothing else, and returns the handles that are gone, sorted. Roughly four lines.


# %% stage="sweep"
# Stage sweep: what was not used for long.
def sweep(database, today):
    ### BEGIN SOLUTION
    gone = sorted(handle for handle, entry in database.items() if today - entry["used"] > DAYS)
    for handle in gone:
        del database[handle]
    return gone
    ### END SOLUTION


def swept(database, today):
    gone = sweep(database, today)
    return [gone, database]


# %% wrong="sweep" says="RuntimeError"
# Stage sweep: a dict that changes while it is walked through.
def sweep(database, today):
    gone = []
    for handle, entry in database.items():
        if today - entry["used"] > DAYS:
            del database[handle]
            gone.append(handle)
    return sorted(gone)


def swept(database, today):
    return [sweep(database, today), database]


# %% wrong="sweep" says="one day too early"
# Stage sweep: on the last day.
def sweep(database, today):
    gone = sorted(handle for handle, entry in database.items() if entry["used"] + DAYS <= today)
    for handle in gone:
        database.pop(handle)
    return gone


def swept(database, today):
    return [sweep(database, today), database]


# %% check="sweep" points=2
@check("sweep", points=2)
def swept_clean(it, today=400, ages=(0, 1)):
    days = it.given["DAYS"]
    database = {f"list_{n}": {"owner": "ana", "items": [], "used": today - age}
                for n, age in enumerate([*ages, days, days + 1, days + 9])}  # fmt: skip
    said = it.call("swept", database, today)
    kept = {handle: entry for handle, entry in database.items() if entry["used"] >= today - days}
    gone = sorted(set(database) - set(kept))
    clause = "the text above: unused for more than DAYS days is gone, and nothing else is"
    sent = f"{said[0]} are gone, of {it.show({h: today - e['used'] for h, e in database.items()})}"
    early = len(said[0]) > len(gone)
    hint = f"{'one day too early? ' if early else ''}more than {days} days ago, sorted"
    it.expect(said == [gone, kept], sent=sent, clause=clause, hint=hint)


# %% hidden="sweep"
def hidden(it, rng):
    ages = [rng.randint(0, 3 * it.given["DAYS"]) for _ in range(12)]
    swept_clean(it, rng.randint(10**3, 10**5), ages)


# %% [markdown] written="why" points=1
# ## In your own words
#
# A handle of 128 random bits cannot be guessed. Why does every call check its owner all the same?
#
# ### BEGIN SOLUTION
# Because a handle is not guessed, it is passed on: it stands in a model's context, in logs, in a
# document that somebody shares, in a prompt that an attacker wrote. Whoever reads it there would be
# the owner.
# ### END SOLUTION

# %%
tally()
