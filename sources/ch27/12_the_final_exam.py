# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 12. The final exam
#
# *After chapters 26 and 27: the specification's own judges, on all that we wrote by hand. 16 minutes
# to read, 12 to do.*
#
# Everything in this course was checked by people who wrote it. Here is a line from somebody else's
# program, about a server that looked finished:
#
# ```
# ✗ caching: 0 passed, 8 failed
# ```
#
# Our server was ours to judge, and our client too. Who says that we are right?

# %% [markdown]
# ## You will
# - sit the exam that the specification's authors wrote: 37 scenarios for a server, 32 for a client;
# - see on one map which notebook taught what each scenario looks at;
# - break one MUST, and find out how many scenarios notice; break another, and find that none does;
# - meet what the exam asks and no notebook has taught;
# - put a server of your own before the same judges.

# %%
import inspect
import subprocess
import sys
from pathlib import Path

from mcp_bare import headers, json_schema, mirrors
from mcp_bare.client import Client
from mcp_bare.errors import IllegalSchema, McpError
from mcp_bare.http_learned import why_unusable
from mcp_bare.streamable_http import HttpServer, HttpTransport
from toy_servers import everything
from workbench import exam, exam_map, node, servers, suite
from workbench.tables import table

# %% [markdown]
# ## The paper
#
# The suite is npm's `@modelcontextprotocol/conformance`. For each revision it has a frozen list of
# what is required, so that nobody is measured by what was added later. Each scenario is a small
# conversation, and in it several checks.

# %%
required = exam.required()
print("conformance", exam.version())
print({end: len(scenarios) for end, scenarios in required.items()})
print(*required["server"][:4], "...", sep="\n")

# %% [markdown]
# ## A server to examine
#
# The suite prescribes what is on the table: a tool called `test_simple_text`, a resource called
# `test://static-text`, and so on. `toy_servers/everything.py` has them all, and it has nothing else:
# whatever is hard about being a server is in `mcp_bare`.

# %%
with servers.open_toy("everything") as client:
    tools = client.list_tools()
    print(len(tools), "tools,", len(client.list_resources()), "resources,", end=" ")
    print(len(client.list_prompts()), "prompts")
print(*[tool["name"] for tool in tools[:7]], "...", sep="\n")

# %% [markdown]
# The suite knocks over HTTP. It runs in a process of its own, on Node, and writes what it found to
# files, which we read. A mark stands for each scenario as it starts. **Predict:** how many of the 37
# hold?

# %%
PENDING = ["json-schema-2020-12", "http-header-validation", "http-custom-header-server-validation"]
with exam.at("everything") as url:
    server = exam.sit("server", lambda tell: suite.against_server(url, tell=tell))
scored = server.only(required["server"])
held = sum(result.held for result in scored.results)
print(f"{len(scored.results) - len(scored.failed)} of {len(scored.results)}, {held} checks")
for result in server.only(PENDING).results:
    print(f"{result.scenario:<38} {'holds' if result.passed else result.why()}")

# %% [markdown]
# All, and more than 37 ran. The three below them are pending: the suite's own example server cannot
# pass them yet, so they do not count. Ten others belong to an extension, `tasks`, that is no part of
# the core, and that we do not have.

# %% [markdown]
# ## A client to examine
#
# The other way round, the suite plays the servers: careless ones, moved ones, malicious ones. It
# starts our client once for each, all at the same time. Our client is a driver of one page. This is
# its heart. It looks up once which scenario it is in, to choose what it calls, and never again:

# %%
driver = Path(exam.CLIENT[1]).read_text()
print("def main" + driver.partition("def main")[2].partition("\n\n\n")[0])

# %% [markdown]
# Three quarters of the client's scenarios are about authorization. Some of them are won by giving up: a
# client that goes on after the authorization server has lied about its name has failed.

# %%
client = exam.sit("client", lambda tell: suite.against_client(exam.CLIENT, tell=tell))
scored = client.only(required["client"])
held = sum(result.held for result in scored.results)
print(f"{len(scored.results) - len(scored.failed)} of {len(scored.results)}, {held} checks")

# %% [markdown]
# ## The map
#
# Each chip is a scenario, in the row of the notebook that taught the rule behind it. The last row is
# this notebook: what the exam asks and no notebook before has told. We come to that.

# %%
exam_map.picture(server, client)

# %% [markdown]
# ## Red
#
# A judge who never says no is no judge. Here is our server with one bad habit. Nothing in it is
# changed but what goes out:

# %%
print(inspect.getsource(exam.forget_hints))

# %% [markdown]
# `ttlMs` and `cacheScope` must be in every list, every read and in discovery (page
# `server/utilities/caching`). **Predict:** one scenario is called `caching`. How many go red?

# %%
with HttpServer(exam.Altered(everything.make(), exam.forget_hints)) as http:
    broken = exam.sit("broken", lambda tell: suite.against_server(http.url, tell=tell))
exam_map.picture(broken)

# %% [markdown]
# Every scenario in which a list or a read comes by. The suite holds each message against the
# published schema, whatever else it is looking for, and calls that check `wire-schema-valid`. What
# `caching` itself says is where to start mending:

# %%
red = broken.only([*required["server"], *PENDING])
print(len(red.failed), "of", len(red.results), "scenarios are red")
table(
    [
        [result.scenario, check.id, check.said.partition(";")[0][:70]]
        for result in red.failed
        for check in result.checks
        if not check.good and (check.id != "wire-schema-valid" or result.scenario == "tools-list")
    ],
    ["scenario", "the check that complains", "what it says"],
)

# %% [markdown]
# ## What no judge looked at
#
# Another habit: each result is given the id 4711, whatever the request's was. This breaks the oldest
# rule there is, that an answer carries the id of its request (page `basic/index`, "Responses").
# **Predict:** red or green?

# %%
liar = HttpServer(exam.Altered(everything.make(), exam.answer_another))
unseen = exam.sit("unseen", lambda tell: suite.against_server(liar.url, exam.UNSEEN, tell))
[result] = unseen.results
print(result.scenario, "holds" if result.passed else "does not hold")

# %% [markdown]
# Green. Over HTTP each answer comes on the connection of its request, and the suite takes it for the
# answer without looking at its id. Our client looks:

# %%
try:
    with Client(HttpTransport(liar.url), timeout=30) as careful:
        careful.call_tool("test_simple_text")
except McpError as trouble:
    print(f"{type(trouble).__name__}: {str(trouble)[:56]}")
liar.stop()

# %% [markdown]
# An exam that is passed says: what was asked holds. It does not say that nothing else is wrong. The
# tests of this course break 20 MUSTs of the server and 8 of the client, one at a time, and check that
# the suite sees each; and they keep a list of what it does not see (`tests/conformance/broken.py`).
#
# ## What the exam asks and no notebook taught
#
# **Content of other kinds.** A tool may return pictures, sounds and whole resources beside text, all
# of them as text on the wire: Base64.

# %%
with servers.open_toy("everything") as client:
    for name in ("test_image_content", "test_audio_content", "test_embedded_resource"):
        [part] = client.call_tool(name)["content"]
        print(part["type"], {k: str(v)[:48] for k, v in part.items() if k != "type"})
    print(
        client.complete({"type": "ref/prompt", "name": "test_prompt_with_arguments"}, "arg1", "pa")
    )

# %% [markdown]
# The last line is completion: what could follow, for an argument of a prompt or of a template.
#
# **Arguments in headers.** A tool may ask that an argument be repeated in a header, so that a gateway
# can route a call without reading its body. A header holds less than a text does. **Predict:** which
# of these four goes as it is?

# %%
[routed] = [tool for tool in tools if tool["name"] == "test_x_mcp_header"]
annotated = mirrors.mirrors(routed["inputSchema"])
for region in ("eu-west-1", " padded ", "東京", "a\r\nHost: evil"):
    print(headers.mirrored(annotated, {"region": region, "priority": 7}))

# %% [markdown]
# Only the first. The others would lose their spaces, their letters, or become two headers, so they go
# in Base64, marked as such. A server compares the header with the body and refuses what differs. And
# a client leaves out a tool whose annotation cannot be obeyed, while it keeps the others:

# %%
for annotation in ("Region", "", "two words"):
    schema = {"type": "object", "properties": {"r": {"type": "string", "x-mcp-header": annotation}}}
    print(f"{annotation!r:<12} {why_unusable({'name': 't', 'inputSchema': schema})}")

# %% [markdown]
# **Schemas that point elsewhere.** A `$ref` to another host looks like a convenience. To whoever runs
# the validator it is a request to an address that a stranger chose. The scenario has a canary at that
# address, and it must not sing. We refuse to judge such a schema (page `basic/index`).

# %%
schema = {"type": "object", "properties": {"who": {"$ref": "http://canary.example/user.json"}}}
try:
    json_schema.problems(schema, {"who": "ana"})
except IllegalSchema as trouble:
    print(trouble)

# %% [markdown]
# **Credentials by hand.** A client may have been registered by a person, may have a secret, and may
# prove it in two ways; and it asks for `offline_access` only where the authorization server knows
# that scope. That is `mcp_bare/auth/registration.py`, `client_auth.py` and four lines of
# `authorizer.py`: read them beside notebook 8.
#
# ## Yours
#
# Put your own server here: its address, or the name of a toy server that speaks HTTP. Most scenarios
# call tools by the names that the suite prescribes, which yours does not have. Nine need none.

# %%
YOURS = "incidents"  # or "http://127.0.0.1:8000/mcp"
with exam.at(YOURS) as url:
    yours = exam.sit("yours", lambda tell: suite.against_server(url, tell=tell))
yours = yours.only(exam_map.NO_FIXTURES)
for result in yours.failed:
    print(f"{result.scenario}\n    {result.why()}")
exam_map.picture(yours)

# %% [markdown]
# ## The same, over stdio
#
# The suite speaks HTTP to servers, and nothing else. Most servers are on stdio, where other MUSTs
# come in: nothing but messages on standard output, an end when the input ends, a call begun in one
# process and ended in another. `python -m mcp_bare check -- COMMAND` is the exam for those. And the
# wrong id, which the suite did not see? `rude.py` has that fault, too.


# %%
def check(*server):
    words = ["-m", "mcp_bare", "check", "--timeout", "3", "--", sys.executable, *server]
    ran = subprocess.run(
        [sys.executable, *words], cwd=node.ROOT, capture_output=True, text=True, timeout=100
    )
    return ran.stdout.splitlines()


print(check("toy_servers/everything.py")[-1], end="\n\n")
lines = check("toy_servers/rude.py", "wrong-id")
broken_rule = next(number for number, line in enumerate(lines) if line.startswith("BROKEN"))
print(*lines[broken_rule : broken_rule + 2], "...", lines[-1], sep="\n")

# %% [markdown]
# ## You saw
# - 37 of 37 and 32 of 32, with the standard library alone, by judges who are not us;
# - a map from each scenario to the notebook where you wrote the same thing by hand;
# - two forgotten fields that turned eleven scenarios red, and a wrong id that turned none;
# - content of other kinds, completion, arguments in headers, a `$ref` that nobody follows;
# - nine scenarios that any server can sit, and the same exam for a server on stdio.
#
# ## Your turn
# The exercise of this notebook is [Ship your own](../../exercises/ch27/12_ship_your_own.ipynb).
#
# Add a habit of your own to the cell below: a function that takes a message and changes it, as
# `forget_hints` does. Break a MUST that you remember, and see whether the suite does. If it does not,
# you have found something that its authors would like to hear of.

# %%
# Your cell.
