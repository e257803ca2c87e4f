"""The dating exercise: five messages of our own making, each possible in certain revisions only.

A snippet can be dated from what it uses: the features that it needs say from which revision to
which it could have been written (`mcp_bare.revision.FEATURES`). `check` compares answers with
that, and says what to look at; it never says the date.
"""

from dataclasses import dataclass

from mcp_bare import revision


@dataclass(frozen=True)
class Snippet:
    """A message, or a few, and the features that it cannot do without."""

    text: str
    needs: tuple[str, ...]
    look_at: str


SNIPPETS = {
    "A": Snippet(
        '→ [{"jsonrpc":"2.0","id":1,"method":"tools/list"},\n'
        '   {"jsonrpc":"2.0","id":2,"method":"prompts/list"}]',
        ("JSON-RPC batches",),
        "the bracket at the very start",
    ),
    "B": Snippet(
        '← {"jsonrpc":"2.0","id":9,"result":{"resultType":"complete",'
        '"tools":[],"ttlMs":0,"cacheScope":"public"}}',
        ("resultType, input_required, requestState", "subscriptions/listen, ttlMs, cacheScope"),
        "the keys of the result that say nothing of tools",
    ),
    "C": Snippet(
        '→ {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"pay"}}\n'
        '← {"jsonrpc":"2.0","id":"s1","method":"elicitation/create","params":{"mode":"url",\n'
        '   "message":"Confirm","url":"https://bank.example/confirm","elicitationId":"e1"}}',
        ("requests from server to client", "elicitation, URL mode"),
        "who sends the second message, and how the person is to answer",
    ),
    "D": Snippet(
        '→ {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{"roots":{}}}}\n'
        '← {"jsonrpc":"2.0","id":2,"result":{"content":[],"structuredContent":{"total":3}}}',
        ("initialize handshake and session", "structuredContent and outputSchema"),
        "the key of the result that no early tool could return",
    ),
    "E": Snippet(
        '→ {"jsonrpc":"2.0","id":5,"method":"resources/subscribe","params":{"uri":"log://a"}}\n'
        '← {"jsonrpc":"2.0","id":"r","method":"roots/list"}',
        ("ping, logging/setLevel, resources/subscribe", "requests from server to client"),
        "both methods, and which way each one goes",
    ),
}


def span(snippet: Snippet) -> tuple[str, ...]:
    """The revisions, oldest first, in which all that a snippet needs exists."""
    known = {what: (first, last) for what, first, last in revision.FEATURES}
    every = tuple(reversed((*revision.MODERN, *revision.LEGACY)))
    ends = [known[what] for what in snippet.needs]
    return tuple(
        date for date in every if all(first <= date <= (last or date) for first, last in ends)
    )


def check(answers: dict[str, tuple[str, str]]) -> None:
    """Print, for each answer (first revision, last revision), whether it is right or where to look.

    check({"A": ("2025-03-26", "2025-03-26"), ...})
    """
    right = 0
    for name, snippet in SNIPPETS.items():
        given = answers.get(name)
        if given is None:
            print(f"{name}: not answered yet. Look at {snippet.look_at}.")
            continue
        due = span(snippet)
        if tuple(given) == (due[0], due[-1]):
            right += 1
            print(f"{name}: right.")
        else:
            end = "first" if given[0] != due[0] else "last"
            print(f"{name}: the {end} revision is another one. Look at {snippet.look_at}.")
    print(f"\n{right} of {len(SNIPPETS)}.")
