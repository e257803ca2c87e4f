# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Exercise 26.4. Who decides?
#
# *After notebook `ch26/04_who_decides`. Four stages, 11 points and 1 for words of your own, about
# 20 minutes.*
#
# A library has a server, and everything it can do is a tool. You sort what it offers by who decides
# that it happens, take the server apart, and give it a whole family of resources in one line. Then
# you read a trace that a tutorial prints, and find what is wrong in it.
#
# **How it works.** Run the cells from the top, with Shift+Enter; after a restart, all of them again.
# Write in those that begin with `# Stage`, and run them; the cell below each one checks what you
# wrote. Keep the line `# Stage ...`: by that line your cell is found.

# %%
import json

from mcp_bare.server import Server
from workbench.checks import check, tally

# %% role="given"
# Given: these are yours; another learner may have others.
BOOK = "Moromeții"  # or "Niebla", "Solaris"
READER = "Ana"  # or "Bruno", "Chiara"

# %% [markdown]
# ## Stage `sort`: eight things that a library does
#
# The model decides to call a tool, the application decides to attach a resource, the person decides
# to use a prompt (`server/index`). Nothing else tells the three apart, and what writes is never a
# resource.
#
# Write `SORTED`: for each of the eight names `"tool"`, `"resource"` or `"prompt"`.

# %%
OFFERS = {
    "lend_book": "The model, in the middle of a conversation, lends a book to its user.",
    "opening_hours": "The application puts the opening hours beside every conversation.",
    "review_my_year": "A slash command: the person asks for a look back at what they read.",
    "search_catalogue": "The model looks for books that fit what was just said.",
    "my_loans": "The application attaches what its user has borrowed, before the first word.",
    "book_report": "A button: the person wants a report on one book, in a fixed form.",
    "return_book": "The model notes that a book came back.",
    "house_rules": "The application shows a page; nobody asked the model.",
}
for name, sentence in OFFERS.items():
    print(f"{name:<18}{sentence}")

# %% stage="sort"
# Stage sort: {"lend_book": "tool", "resource" or "prompt", ...}
### BEGIN SOLUTION
SORTED = {
    "lend_book": "tool",
    "opening_hours": "resource",
    "review_my_year": "prompt",
    "search_catalogue": "tool",
    "my_loans": "resource",
    "book_report": "prompt",
    "return_book": "tool",
    "house_rules": "resource",
}
### END SOLUTION

# %% wrong="sort" says="never a resource"
# Stage sort: by what it is about.
SORTED = dict.fromkeys(OFFERS, "resource")

# %% wrong="sort" says="all eight names"
# Stage sort: one of eight.
SORTED = {"lend_book": "tool"}

# %% wrong="sort" says="a person"
# Stage sort: everything is a tool, as with most servers.
SORTED = dict.fromkeys(OFFERS, "tool")


# %% check="sort" points=2
@check("sort", points=2)
def sorted_by_who_decides(it):
    said, offers = it.value("SORTED"), it.value("OFFERS")
    whole = isinstance(said, dict) and set(said) == set(offers)
    whole = whole and set(said.values()) <= {"tool", "resource", "prompt"}
    clause = "the text above: all eight names, each with one of three words"
    it.expect(whole, sent=said, clause=clause, hint='{"lend_book": "...", ...}')
    for name in ("lend_book", "return_book"):
        clause = "server/index: the application reads a resource; what writes is never a resource"
        hint = "who decides that a book is lent?"
        it.expect(said[name] != "resource", sent={name: said[name]}, clause=clause, hint=hint)
    counts = sorted(map(list(said.values()).count, ("tool", "resource", "prompt")))
    clause = "server/index: three kinds, and each has things that only a person, the model or the "
    clause += "application decides"
    hint = "read each sentence aloud, and listen to its subject"
    told = {kind: list(said.values()).count(kind) for kind in ("tool", "resource", "prompt")}
    it.expect(counts[0] > 1, sent=told, clause=clause, hint=hint)


# %% hidden="sort"
def hidden(it, rng):
    sorted_by_who_decides(it)
    said, offers = it.value("SORTED"), it.value("OFFERS")
    subjects = {"The model": "tool", "The appli": "resource"}
    for name in rng.sample(sorted(offers), 8):
        due = subjects.get(offers[name][:9], "prompt")
        clause = (
            "server/index: a tool is the model's, a resource the application's, a prompt a person's"
        )
        hint = "who is the subject of its sentence?"
        it.expect(said[name] == due, sent={name: said[name]}, clause=clause, hint=hint)


# %% [markdown]
# ## Stage `split`: a server in three lists
#
# Everything below is a tool. Leave `lend_book` as one; make `opening_hours` the resource
# `library://hours`, of type `text/plain`; make `book_report` a prompt with one required argument,
# `title`, whose text names the title. `Server` has `resource` and `prompt` besides `tool`; both take
# the wire's own dict (`server/resources`, `server/prompts`). Roughly fifteen lines.


# %% stage="split"
# Stage split: one list for each who decides.
library = Server("library", "1.0.0")
TITLE = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}


@library.tool({"name": "lend_book", "description": "Lend a book.", "inputSchema": TITLE})
def lend_book(call):
    return f"Lent to {READER}: {call.arguments['title']}"


@library.resource({"uri": "library://hours", "name": "opening_hours", "mimeType": "text/plain"})
def opening_hours(call):
    return "10 to 18, Mondays closed"


@library.prompt({"name": "book_report", "arguments": [{"name": "title", "required": True}]})
def book_report(call):
    return f"Write a report on {call.arguments['title']} in three paragraphs."


# %% blank="split"
# Stage split: everything is a tool.
library = Server("library", "1.0.0")
TITLE = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
NOTHING = {"type": "object", "additionalProperties": False}


@library.tool({"name": "lend_book", "description": "Lend a book.", "inputSchema": TITLE})
def lend_book(call):
    return f"Lent to {READER}: {call.arguments['title']}"


@library.tool({"name": "opening_hours", "inputSchema": NOTHING})
def opening_hours(call):
    return "10 to 18, Mondays closed"


@library.tool({"name": "book_report", "inputSchema": TITLE})
def book_report(call):
    return f"Write a report on {call.arguments['title']} in three paragraphs."


# %% wrong="split" says="still a tool"
# Stage split: a copy in the other lists, and all the tools as well.
library = Server("library", "1.0.0")
TITLE = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
for name in ("lend_book", "book_report"):
    library.tool({"name": name, "inputSchema": TITLE})(lambda call: call.arguments["title"])
library.resource({"uri": "library://hours", "name": "hours"})(lambda call: "10 to 18")

# %% wrong="split" says="required"
# Stage split: the argument of the prompt may be left out.
library = Server("library", "1.0.0")
TITLE = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
library.tool({"name": "lend_book", "inputSchema": TITLE})(lambda call: call.arguments["title"])
hours = {"uri": "library://hours", "name": "hours", "mimeType": "text/plain"}
library.resource(hours)(lambda call: "10 to 18")
library.prompt({"name": "book_report", "arguments": [{"name": "title"}]})(lambda call: "Report.")

# %% wrong="split" says="mimeType"
# Stage split: nobody knows what kind of text the hours are.
library = Server("library", "1.0.0")
TITLE = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
library.tool({"name": "lend_book", "inputSchema": TITLE})(lambda call: call.arguments["title"])
library.resource({"uri": "library://hours", "name": "hours"})(lambda call: "10 to 18")


# %% check="split" points=3
@check("split", points=3)
def split_in_three(it, title=None):
    title = title or it.given["BOOK"]
    with it.client("library") as client:
        names = [each["name"] for each in client.list_tools()]
        hint = "what the model need not decide goes out of its list"
        clause = "server/index: the list of tools is what the model decides on"
        sent = f"tools {names}: more than one is still a tool"
        it.expect(names == ["lend_book"], sent=sent, clause=clause, hint=hint)
        called = client.call_tool("lend_book", {"title": title})
        clause = "server/tools: the answer of a tool is its content"
        it.expect(title in str(called["content"]), sent=called, clause=clause, hint="lend the book")
        listed = client.list_resources()
        clause = "server/resources: a resource is listed by its uri, with its mimeType"
        hint = "compare the uri and the mimeType with the text above"
        kinds = [(each.get("uri"), each.get("mimeType")) for each in listed]
        it.expect(
            kinds == [("library://hours", "text/plain")], sent=listed, clause=clause, hint=hint
        )
        read = client.read_resource("library://hours")
        it.expect("10 to 18" in str(read), sent=read, clause=clause, hint="the hours are still due")
        listed = client.list_prompts()
        arguments = [(each.get("name"), each.get("required")) for each in listed[0]["arguments"]]
        clause = "server/prompts: an argument that a prompt cannot do without is listed as required"
        it.expect(
            arguments == [("title", True)], sent=listed, clause=clause, hint="a list of dicts"
        )
        prompt = client.get_prompt("book_report", {"title": title})
        clause = "server/prompts: the arguments shape the messages"
        it.expect(
            title in str(prompt["messages"]), sent=prompt, clause=clause, hint="name the title"
        )


# %% hidden="split"
def hidden(it, rng):
    split_in_three(it, "".join(rng.choices("abcdeăß東 '", k=rng.randint(3, 20))))


# %% [markdown]
# ## Stage `shelf`: a family of resources
#
# One definition serves all shelves: a resource template. Register `library://shelf/{letter}` on the
# server below, with a handler called `shelf`, of type `application/json`. Reading it gives the titles that begin with that letter,
# as a JSON array in the order of `TITLES`. A shelf that holds nothing does not exist: its handler
# returns `None`, and the toolkit answers -32602, as `server/resources` ("Error Handling") wants it.
# The handler finds the letter in `call.variables`. Roughly five lines.

# %%
shelves = Server("shelves", "1.0.0")
TITLES = ["Momo", "Moby Dick", "Nostromo", "Middlemarch", "Naïve. Super", BOOK]


# %% stage="shelf"
# Stage shelf: every shelf with one definition.
### BEGIN SOLUTION
@shelves.template(
    {"uriTemplate": "library://shelf/{letter}", "name": "shelf", "mimeType": "application/json"}
)
def shelf(call):
    found = [title for title in TITLES if title.startswith(call.variables["letter"])]
    return json.dumps(found) if found else None


### END SOLUTION


# %% wrong="shelf" says="does not exist"
# Stage shelf: an empty shelf is an empty list.
@shelves.template(
    {"uriTemplate": "library://shelf/{letter}", "name": "shelf", "mimeType": "application/json"}
)
def shelf(call):
    return json.dumps([title for title in TITLES if title[0] == call.variables["letter"]])


# %% wrong="shelf" says="no JSON"
# Stage shelf: as Python prints a list.
@shelves.template(
    {"uriTemplate": "library://shelf/{letter}", "name": "shelf", "mimeType": "application/json"}
)
def shelf(call):
    return str([title for title in TITLES if title[0] == call.variables["letter"]])


# %% wrong="shelf" says="a template is registered"
# Stage shelf: a resource for one shelf.
@shelves.resource({"uri": "library://shelf/M", "name": "shelf"})
def shelf(call):
    return '["Momo", "Moby Dick", "Middlemarch"]'


# %% check="shelf" points=3
@check("shelf", points=3)
def shelves_are_read(it, letters=("N", "M", "Q")):
    it.value("shelf")
    with it.client("shelves") as client:
        listed = client.list_resource_templates()
        clause = "server/resources: resources/templates/list has the template, with its mimeType"
        keys = [(each.get("uriTemplate"), each.get("mimeType")) for each in listed]
        right = keys == [("library://shelf/{letter}", "application/json")]
        hint = "a template is registered with uriTemplate, and resources/templates/list shows it"
        it.expect(right, sent=listed, clause=clause, hint=hint)
        titles = it.value("TITLES")
        for letter in letters:
            uri = f"library://shelf/{letter}"
            due = [title for title in titles if title[:1] == letter]
            try:
                read = client.read_resource(uri)
            except Exception as trouble:
                read = trouble
            if not due:
                clause = "server/resources: a resource that does not exist is an error, -32602"
                hint = "what does the handler return for a shelf that holds nothing?"
                gone = getattr(read, "code", None) == -32602
                it.expect(gone, sent=f"{read} for {uri}", clause=clause, hint=hint)
                continue
            sent = f"{it.show(read) if isinstance(read, dict) else read} for {uri}"
            clause = "server/resources: what is read is of the type that was listed"
            try:
                found = json.loads(read["contents"][0]["text"])
            except (ValueError, KeyError, TypeError, IndexError):
                found, sent = None, f"{sent}, which is no JSON array"
            it.expect(found == due, sent=sent, clause=clause, hint="which module writes JSON?")


# %% hidden="shelf"
def hidden(it, rng):
    letters = rng.sample("MNSQXZ", 4)
    shelves_are_read(it, [*letters, it.given["BOOK"][0]])


# %% [markdown]
# ## Stage `spot`: a tutorial's trace
#
# Somebody's tutorial prints these answers (`_meta`, `ttlMs` and `cacheScope` are left out, to keep
# it short). Three of them break a rule of `server/tools`, `server/resources` or `server/prompts`.
#
# Write `MENDED`: the letter of each answer that is wrong, and the result as it should be, with
# nothing changed that is right.

# %%
RESULTS = {
    "A": {"resultType": "complete", "content": [{"type": "text", "text": f"Lent: {BOOK}"}]},
    "B": {"resultType": "complete", "result": f"Lent to {READER}"},
    "C": {"resultType": "complete", "content": {"uri": "library://hours", "text": "10 to 18"}},
    "D": {"resultType": "complete", "contents": [{"uri": "library://rules", "text": "Be quiet."}]},
    "E": {"resultType": "complete", "messages": [{"role": "system", "content": f"Read {BOOK}."}]},
}
METHODS = {"A": "tools/call", "B": "tools/call", "C": "resources/read"}
METHODS |= {"D": "resources/read", "E": "prompts/get"}
for letter, result in RESULTS.items():
    print(f"{letter}  → {METHODS[letter]}\n   ← {json.dumps(result, ensure_ascii=False)}")

# %% stage="spot"
# Stage spot: {letter: the result as it should be} for the three that are wrong.
### BEGIN SOLUTION
lent = {"type": "text", "text": f"Lent to {READER}"}
hours = {"uri": "library://hours", "text": "10 to 18"}
asked = {"role": "user", "content": {"type": "text", "text": f"Read {BOOK}."}}
MENDED = {
    "B": {"resultType": "complete", "content": [lent]},
    "C": {"resultType": "complete", "contents": [hours]},
    "E": {"resultType": "complete", "messages": [asked]},
}
### END SOLUTION

# %% wrong="spot" says="a list of contents"
# Stage spot: the name is mended, the shape is not.
MENDED = {
    "B": {"resultType": "complete", "content": [{"type": "text", "text": f"Lent to {READER}"}]},
    "C": {"resultType": "complete", "contents": {"uri": "library://hours", "text": "10 to 18"}},
    "E": {
        "resultType": "complete",
        "messages": [{"role": "user", "content": {"type": "text", "text": "?"}}],
    },
}

# %% wrong="spot" says="three letters"
# Stage spot: one is enough.
MENDED = {"B": {"resultType": "complete", "content": []}}

# %% wrong="spot" says="user or assistant"
# Stage spot: a model's habit.
MENDED = {
    "B": {"resultType": "complete", "content": [{"type": "text", "text": f"Lent to {READER}"}]},
    "C": {"resultType": "complete", "contents": [{"uri": "library://hours", "text": "10 to 18"}]},
    "E": {
        "resultType": "complete",
        "messages": [{"role": "system", "content": {"type": "text", "text": "?"}}],
    },
}


# %% check="spot" points=3
@check("spot", points=3)
def trace_is_mended(it):
    mended, results = it.value("MENDED"), it.value("RESULTS")
    three = isinstance(mended, dict) and len(mended) == 3 and set(mended) <= set(results)
    clause = "the text above: three letters, each with a whole result"
    it.expect(three, sent=mended, clause=clause, hint='{"A": {...}, ...}')
    clauses = {
        "content": "server/tools: a tool's result has content, a list of blocks with a type",
        "contents": "server/resources: a read gives a list of contents, each with its uri",
        "messages": "server/prompts: each message has a role, user or assistant, and one block",
    }
    names = {"tools": "content", "resources": "contents", "prompts": "messages"}
    for letter, method in it.value("METHODS").items():
        result, kind = {**results, **mended}[letter], method.partition("/")[0]
        items = result.get(names[kind]) if isinstance(result, dict) else None
        right = isinstance(items, list) and items and all(isinstance(i, dict) for i in items)
        if right and kind == "prompts":
            right = all(item.get("role") in ("user", "assistant") for item in items)
            items = [item.get("content") for item in items]
        if right and kind != "resources":
            right = all(isinstance(item, dict) and "type" in item for item in items)
        hint = f"{letter} answers {method}: compare its keys and shapes with the notebook's"
        sent = f"{letter}: {it.show(result)}"
        it.expect(right, sent=sent, clause=clauses[names[kind]], hint=hint)


# %% hidden="spot"
def hidden(it, rng):
    trace_is_mended(it)
    mended, given = it.value("MENDED"), it.given
    words = {"B": f"Lent to {given['READER']}", "C": "10 to 18", "E": f"Read {given['BOOK']}."}
    clause = "the text above: three are wrong, and nothing that is right changes"
    it.expect(
        set(mended) == set(words), sent=mended, clause=clause, hint="compare each with its page"
    )
    for letter in rng.sample("BCE", 3):
        text = json.dumps(mended[letter], ensure_ascii=False)
        kept = words[letter] in text and len(text) < 150
        it.expect(kept, sent=mended[letter], clause=clause, hint="keep the words")


# %% [markdown] written="why" points=1
# ## In your own words
#
# A server of yours has `read_week` as a tool, in use by many. You see that it should be a resource.
# What do you do, and in which order?
#
# ### BEGIN SOLUTION
# Add the resource beside the tool, so that nobody breaks; say in the tool's description where the
# resource is; tell subscribers that the lists changed; wait until nobody calls the tool, or for as
# long as was announced; then take it away, in a release that says so.
# ### END SOLUTION

# %%
tally()
