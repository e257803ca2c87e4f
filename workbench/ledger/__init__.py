"""The ledger: every claim of the chapters in our words, run live, with the verdict it comes to.

    for finding in ledger.run(["26-22"]):
        print(finding.verdict, finding.how)

    python -m workbench ledger                     all of them, as a table
    python -m workbench ledger 26-22 26-33         some of them
    python -m workbench ledger --spec PATH         with the quotes checked in that checkout
    python -m workbench ledger --readme            and what came of it written down (`page`)

`claim` says what a claim and a verdict are, `bench` what the checks run against, `quotes` how a
sentence is found that is not kept here. The claims stand in the themes below, one after another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path

from workbench.ledger import (
    asking,
    at_the_door,
    catalogue,
    costs,
    crashes,
    era,
    every_request,
    everything,
    initiative,
    jobs,
    living,
    over_http,
    primitives,
    published,
    quotes,
    starting,
    stray,
    three_hands,
    weight,
    wire,
    words,
)
from workbench.ledger.bench import Bench
from workbench.ledger.claim import (
    BROKEN,
    DIFFERS,
    HOLDS,
    NETWORK,
    QUOTED,
    Claim,
    Facts,
    Finding,
    Later,
    broken,
    judge,
)

__all__ = ["BROKEN", "CLAIMS", "DIFFERS", "HOLDS", "NETWORK", "Claim", "Finding", "check", "run"]

THEMES = (
    wire,
    every_request,
    era,
    published,
    primitives,
    asking,
    initiative,
    costs,
    words,
    over_http,
    at_the_door,
    jobs,
    three_hands,
    catalogue,
    crashes,
    stray,
    weight,
    starting,
    living,
)
CLAIMS: Mapping[str, Claim] = {
    found.id: found
    for found in sorted(
        (found for theme in THEMES for found in vars(theme).values() if isinstance(found, Claim)),
        key=lambda found: found.id,
    )
}
"""Every claim by its id, in the order of the chapters."""

QUOTES = quotes.load()


def parts() -> list[str]:
    """The published parts that are measured here, with their versions."""
    packages = (published.REFERENCE, published.SDK_V1, published.SDK_V2[0])
    npm = {name: everything.installed(name) for name in packages}
    found = {"mcp": _version("mcp"), "tiktoken": _version("tiktoken"), **npm}
    return [f"{name} {version or '(not here)'}" for name, version in found.items()]


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def run(
    ids: Iterable[str] | None = None,
    texts: Mapping[str, Path] | None = None,
    *,
    extra: bool = True,
) -> Iterator[Finding]:
    """Check the claims of these ids, or all. `texts` are checkouts of what is quoted, by source.

    Without `extra`, only what the course itself installs is looked at, so that the verdicts are the
    same wherever it is; with it, also the environments of `workbench.environments` that are here.

    Raises KeyError for an id that is none, before anything is started.
    """
    claims = [CLAIMS[id] for id in (CLAIMS if ids is None else ids)]
    return _run(claims, Bench(texts, extra))


def _run(claims: list[Claim], bench: Bench) -> Iterator[Finding]:
    with bench:
        for claim in claims:
            yield check(claim, bench)


def check(claim: Claim, bench: Bench) -> Finding:
    """Run one check. What goes wrong in it is a finding, too: a reader sees all the others."""
    bench.notes.clear()
    wanted = QUOTES.get(claim.id, [])
    try:
        today = {**claim.measure(bench), **_found(claim, wanted, bench)}
        return judge(claim, today, tuple(dict.fromkeys(bench.notes)), len(wanted))
    except Exception as trouble:
        why = str(trouble).partition("\n")[0]
        return broken(claim, f"{type(trouble).__name__}: {why}")


def _found(claim: Claim, wanted: list[quotes.Quote], bench: Bench) -> Facts:
    """How many of the claim's quotes stand where they are said to; the pages go to the notes."""
    found = 0
    for quote in wanted:
        pages = bench.pages(quote.source)
        if pages is None:
            return {QUOTED: Later(quotes.SOURCES[quote.source].command(claim.id))}
        page = pages.find(quote)
        if page is None and pages.lacks():
            bench.notes.append(f"the checkout lacks {', '.join(pages.lacks())}")
            return {QUOTED: Later(quotes.SOURCES[quote.source].command(claim.id))}
        found += page is not None
        bench.notes.append(f"{quote.length} words {f'stand on {page}' if page else 'not found'}")
    return {QUOTED: found} if wanted else {}
