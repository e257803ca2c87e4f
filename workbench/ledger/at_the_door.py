"""Claims 27-51 to 27-56: tokens, who looks at what in them, and what a refusal says."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from workbench.ledger import everything
from workbench.ledger.abroad import Answer, ask, request, token
from workbench.ledger.bench import Bench
from workbench.ledger.claim import Facts, agreed, claim
from workbench.ledger.over_http import OLD_HEADER

LADDER = "ch27/07_the_ladder"
NAMES = "ch27/09_a_name_is_not_a_permission"
READ = "incidents:read"
ELSEWHERE = "https://other.example/mcp"
PY, TS, OURS = "Python", "TypeScript", "ours"


# --- the rungs ---


def tokens(url: str) -> dict[str, str | None]:
    """The chapter's five tokens for the server at this URL, from the ground up."""
    return {
        "no token": None,
        "another server's": token(ELSEWHERE, scope=READ),
        "no expiry": token(url, scope=READ, exp=None),
        "no scope": token(url),
        "right": token(url, scope=READ),
    }


def more_tokens(url: str) -> dict[str, str | None]:
    """Tokens that the chapter does not try."""
    return {
        "an expiry of 0": token(url, scope=READ, exp=0),
        "expired, no scope": token(url, exp=1),
    }


def knock(party: str, url: str, what: str | None) -> Answer:
    """One request with that token, in the era that the server speaks."""
    return ask(url, request(), token=what, headers=OLD_HEADER if party == TS else None)


def climb(bench: Bench, party: str) -> dict[str, Answer]:
    """What the five tokens get, by rung."""
    url = doors(bench)[party]
    return {rung: knock(party, url, what) for rung, what in tokens(url).items()}


def doors(bench: Bench) -> dict[str, str]:
    """The guarded endpoints that are here."""
    found = {PY: bench.python_web["guarded"], OURS: bench.our_web["guarded"]}
    return found if bench.node_web is None else {**found, TS: bench.node_web["guarded"]}


def told(answer: Answer) -> str:
    """What a client is told: "401 invalid_token: Missing ...; scope incidents:read"."""
    found = answer.challenge
    words = [": ".join(found[name] for name in ("error", "error_description") if name in found)]
    words += [f"scope {found['scope']}"] if "scope" in found else []
    return f"{answer.status} {'; '.join(filter(None, words))}".strip()


# --- the claims ---


@claim(
    "27-51",
    "The TypeScript ladder: no token, a wrong audience and no expiry are 401, no scope is 403, the "
    "right token is in; and each refusal says why.",
    notebook=LADDER,
    says={
        "statuses": [401, 401, 401, 403, 200],
        "with no token": ["error", "error_description", "resource_metadata", "scope"],
        "the three 401": [
            "Missing Authorization header",
            "token audience is not this server",
            "Token has no expiration time",
        ],
        "the 403": "insufficient_scope, scope incidents:read",
    },
)
def typescript_ladder(bench: Bench) -> Facts:
    if TS not in doors(bench):
        return dict.fromkeys(
            ("statuses", "with no token", "the three 401", "the 403"), everything.NO_NODE
        )
    found = climb(bench, TS)
    refused = [answer for answer in found.values() if answer.status == 401]
    scope = found["no scope"].challenge
    return {
        "statuses": [answer.status for answer in found.values()],
        "with no token": sorted(found["no token"].challenge),
        "the three 401": [answer.challenge.get("error_description") for answer in refused],
        "the 403": f"{scope.get('error')}, scope {scope.get('scope')}",
        "ours": [answer.status for answer in climb(bench, OURS).values()],
    }


@claim(
    "27-52",
    "Both SDKs serve the metadata of the resource, with its path after the well-known part, and a "
    "401 leads there.",
    notebook=LADDER,
    says={
        "the 401 leads to": "/.well-known/oauth-protected-resource/mcp",
        "resource is the endpoint": "yes",
        "authorization_servers": ["https://auth.example.com/"],
        "scopes_supported": ["incidents:read", "incidents:write"],
        "resource_name": "Incidents",
    },
)
def resource_metadata(bench: Bench) -> Facts:
    places, documents, right, root = {}, {}, {}, {}
    for party, url in doors(bench).items():
        link = urlsplit(ask(url, request()).challenge.get("resource_metadata", ""))
        places[party] = link.path
        documents[party] = ask(url, verb="GET", path=link.path).message
        right[party] = "yes" if documents[party]["resource"] == url else "no"
        plain = "/.well-known/oauth-protected-resource"
        root[party] = ask(url, verb="GET", path=plain).status
    shown = documents.get(TS, {})
    names = ("authorization_servers", "scopes_supported", "resource_name")
    return {
        "the 401 leads to": agreed(places),
        "resource is the endpoint": agreed(right),
        **{name: shown.get(name) if shown else everything.NO_NODE for name in names},
        "the same without the path": agreed(root),
        "Python lists of the scopes": documents[PY].get("scopes_supported"),
        "Python's resource_name": documents[PY].get("resource_name"),
    }


@claim(
    "27-53",
    "A token without an expiry is refused by the TypeScript SDK; the Python SDK lets it in.",
    notebook=LADDER,
    says={"Python": 200, "TypeScript": 401},
)
def no_expiry(bench: Bench) -> Facts:
    statuses = {
        party: {
            what: knock(party, url, tried).status
            for what, tried in {**tokens(url), **more_tokens(url)}.items()
        }
        for party, url in doors(bench).items()
    }
    return {
        "Python": statuses[PY]["no expiry"],
        "TypeScript": statuses[TS]["no expiry"] if TS in statuses else everything.NO_NODE,
        "ours": statuses[OURS]["no expiry"],
        "an expiry of 0": {party: found["an expiry of 0"] for party, found in statuses.items()},
    }


@claim(
    "27-54",
    "Python's 403 says which scope is required, in words, and has no scope parameter, which the "
    "specification asks for.",
    notebook=LADDER,
    says={"its words": "Required scope: incidents:read", "its scope parameter": None},
)
def python_403(bench: Bench) -> Facts:
    found = climb(bench, PY)
    return {
        "its words": found["no scope"].challenge.get("error_description"),
        "its scope parameter": found["no scope"].challenge.get("scope"),
        "its status": found["no scope"].status,
        "scope in its 401": found["no token"].challenge.get("scope"),
        "ours": told(climb(bench, OURS)["no scope"]),
    }


@claim(
    "27-55",
    "The two SDKs differ on two rungs: the token without an expiry, and the 403.",
    notebook=LADDER,
    says={"rungs that differ": ["no expiry", "no scope"]},
    instead="the 401 of Python names no scope and has one text for every reason; and TypeScript "
    "looks at the scope before the expiry, Python after it",
)
def where_they_differ(bench: Bench) -> Facts:
    if TS not in doors(bench):
        return {"rungs that differ": everything.NO_NODE}
    python, typescript = climb(bench, PY), climb(bench, TS)
    other = [rung for rung in python if _gist(python[rung]) != _gist(typescript[rung])]
    status = [rung for rung in python if python[rung].status != typescript[rung].status]
    more = {
        f"{what}, {party}": told(knock(party, url, tried))
        for party, url in doors(bench).items()
        for what, tried in more_tokens(url).items()
    }
    return {
        "rungs that differ": other,
        "by their status alone": status,
        **{f"{rung}, Python": told(python[rung]) for rung in other},
        **more,
    }


def _gist(answer: Answer) -> tuple[Any, ...]:
    """What a program acts on: the status, the error, the scope. The words are for people."""
    return answer.status, answer.challenge.get("error"), answer.challenge.get("scope")


@claim(
    "27-56",
    "A verifier is no place for a library's default: the audience is yours to check in either "
    "language, and so is the expiry.",
    notebook=NAMES,
    says={
        "another server's token, where the verifier does not look": {PY: 200, TS: 200},
        "no expiry, where the verifier does not look": {PY: 200, TS: 200},
    },
    instead="the audience, yes, unless you tell the Python SDK to compare it; the expiry is looked "
    "at by the TypeScript SDK itself (27-53)",
)
def yours_to_check(bench: Bench) -> Facts:
    careless = {PY: bench.python_web["careless"]}
    if bench.node_web is not None:
        careless[TS] = bench.node_web["careless"]
    audience, expiry = (
        {party: knock(party, url, tokens(url)[rung]).status for party, url in careless.items()}
        for rung in ("another server's", "no expiry")
    )
    throws = {
        party: knock(party, url, token(url, throws=True)).status
        for party, url in doors(bench).items()
    }
    whole = TS in careless
    return {
        "another server's token, where the verifier does not look": (
            audience if whole else everything.NO_NODE
        ),
        "no expiry, where the verifier does not look": expiry if whole else everything.NO_NODE,
        "another server's token, with validate_token_resource in Python": knock(
            PY, bench.python_web["strict"], token(ELSEWHERE, scope=READ)
        ).status,
        "a verifier that raises an error": throws,
    }
