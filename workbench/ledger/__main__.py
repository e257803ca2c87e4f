"""`python -m workbench ledger [ID ...] [--json] [--spec PATH]`: check the claims, print a table.

`--readme` writes it down as well: `page` says where, and what of it.

The exit code is 1 where a check could not run for another reason than the network, 2 where the
words on the command line are none of ours.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from workbench import ledger
from workbench.ledger import page, printed
from workbench.ledger.quotes import SOURCES, Pages

CHECKOUTS = {name: source for name, source in SOURCES.items() if not source.package}


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    options = (parser := _parser()).parse_args(argv)
    if unknown := [id for id in options.ids if id not in ledger.CLAIMS]:
        first, *_, last = ledger.CLAIMS
        parser.error(f"no claim is called {', '.join(unknown)}; they go from {first} to {last}")
    texts = {name: Path(given) for name in CHECKOUTS if (given := getattr(options, name))}
    for name, folder in texts.items():
        if not Pages(SOURCES[name], folder).files():
            parser.error(f"--{name}: {folder} has no {SOURCES[name].pages[0]}")
    if options.readme and (options.ids or texts):
        parser.error("--readme writes all of the ledger, from what the course itself installs")
    findings: list[ledger.Finding] = []
    if not options.json:
        print("\n".join(printed.lines([printed.HEAD])))
    for finding in ledger.run(options.ids or None, texts, extra=not options.readme):
        findings.append(finding)
        if not options.json:
            _print(finding, detail=bool(options.ids))
    if options.json:
        print(json.dumps([printed.as_json(f) for f in findings], ensure_ascii=False, indent=1))
    else:
        print(printed.summary(findings))
        print(f"measured with: {', '.join(ledger.parts())}")
    if options.readme:
        return _write(findings)
    return 1 if any(finding.verdict == ledger.BROKEN for finding in findings) else 0


def _write(findings: list[ledger.Finding]) -> int:
    """Write the page and the README's part; not from a run that lacks something."""
    if lacks := page.problems(findings):
        print("not written:", *lacks, sep="\n  ", file=sys.stderr)
        return 1
    page.write(findings)
    return 0


def _print(finding: ledger.Finding, detail: bool) -> None:
    """The table's rows as they come; a claim that was asked for by name with all there is to it."""
    print("\n".join(printed.lines(printed.cells(finding, detail=detail))))
    if detail:
        print("\n".join(f"         {line}" for line in printed.details(finding)))
    print(flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m workbench ledger", description="Check what the chapters claim, live."
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="26-22, for one; all without")
    parser.add_argument(
        "--json", action="store_true", help="print JSON, with all that was measured"
    )
    parser.add_argument(
        "--readme", action="store_true", help="write what came out into README.md and LEDGER.md"
    )
    for source in CHECKOUTS.values():
        variable = f"MCP_{source.name.upper()}"
        parser.add_argument(
            f"--{source.name}",
            metavar="PATH",
            default=os.environ.get(variable),
            help=f"a checkout to look the quotes up in (or {variable}); {source.get}",
        )
    return parser


if __name__ == "__main__":
    sys.exit(main())
