# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
#   house: {cells: [12, 30], why: "a card is to look things up in"}
# ---

# %% [markdown]
# # Reference card
#
# *The card "MCP architecture", and what it leaves out. 5 minutes to read.*
#
# Which of these may be answered `input_required`, and which may be kept? Every table on this page
# is made from `mcp_bare.revision`, the one module of the toolkit that knows a date, so it cannot
# say anything else than the code does.

# %% [markdown]
# ## You will
# - find every method, who decides that it is sent, what it takes and what it gives;
# - find every notification, every code, every `_meta` key;
# - find the words of the chapters in English and in Romanian.

# %%
from mcp_bare import revision
from workbench.glossary import GLOSSARY
from workbench.tables import table

# %% [markdown]
# ## The parts
#
# The host makes the clients and decides. Each client talks to exactly one server. A server sees
# the calls made to it, and nothing of the conversation. Every request carries its version and its
# client's capabilities; what a server needs from the person it asks for in its answer.

# %%
rows = [(kind, who) for kind, who in revision.CONTROL.items()]
table(rows, ["primitive", "who decides that it is used"])

# %% [markdown]
# ## Methods
#
# All requests go from client to server: in this revision there are no others.


# %%
def row(method, about):
    kept = "yes" if method in revision.CACHEABLE else ""
    asks = "yes" if method in revision.MULTI_ROUND_TRIP else ""
    return (method, about["decides"], about["asks"], about["gives"], kept, asks, about["page"])


table(
    [row(method, about) for method, about in revision.METHODS.items()],
    ["method", "decides", "params", "result", "may be kept", "may ask back", "page"],
)

# %% [markdown]
# A result that may be kept has `ttlMs` and `cacheScope`. Every result has `resultType`; a server
# should name itself in the result's `_meta`.
#
# ## Notifications

# %%
table(
    [(name, who, page) for name, (who, page) in revision.NOTIFICATIONS.items()],
    ["notification", "sent by", "page"],
)

# %% [markdown]
# ## What a request carries in `_meta`

# %%
keys = [
    (revision.PROTOCOL_VERSION, revision.CURRENT),
    (revision.CLIENT_CAPABILITIES, "an object: elicitation, sampling, roots, extensions"),
    (revision.CLIENT_INFO, "name and version; for display, never for a decision"),
    (revision.LOG_LEVEL, " < ".join(revision.LOG_LEVELS)),
    (revision.PROGRESS_TOKEN, "a string or an integer, unique among active requests"),
]
required = revision.REQUIRED_META
table(
    [(key, "yes" if key in required else "", what) for key, what in keys],
    ["key", "required", "value"],
)

# %% [markdown]
# ## What a server may ask for in an answer

# %%
table(list(revision.INPUT_CAPABILITY.items()), ["input request", "capability the client declared"])

# %% [markdown]
# ## Codes

# %%
meaning = {
    revision.PARSE_ERROR: "not JSON",
    revision.INVALID_REQUEST: "JSON, but no message",
    revision.METHOD_NOT_FOUND: "no such method here",
    revision.INVALID_PARAMS: "a required field is missing or malformed; also: no such thing",
    revision.INTERNAL_ERROR: "the server's own fault",
    revision.HEADER_MISMATCH: "header and body disagree (HTTP)",
    revision.MISSING_REQUIRED_CLIENT_CAPABILITY: "data.requiredCapabilities says which",
    revision.UNSUPPORTED_PROTOCOL_VERSION: "data.supported says which to take",
}

# %%
table(
    [
        (
            str(code),
            name,
            meaning[code],
            "modern only" if code in revision.MODERN_ONLY_CODES else "",
        )
        for code, name in revision.CODE_NAMES.items()
    ],
    ["code", "name", "means", "era"],
)

# %% [markdown]
# ## Subscriptions

# %%
table(list(revision.FILTERS.items()), ["ask for", "hear"])

# %% [markdown]
# ## Deprecated

# %%
table(
    [tuple(d[k] for k in ("feature", "since", "earliestRemoval", "migration"))
     for d in revision.DEPRECATED],
    ["feature", "deprecated in", "removed not before", "instead"],
)  # fmt: skip

# %% [markdown]
# ## English and Romanian
#
# The chapters are in Romanian and the specification is in English.

# %%
table(GLOSSARY, ["English", "română", "what it means here"])

# %% [markdown]
# ## You saw
# - the methods, the notifications, the codes and the keys, from the module that the toolkit runs on;
# - the words in two languages. To learn more of any of them, start at `00_start_here`.
