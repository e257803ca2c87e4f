"""`python -m workbench record [NAME ...]`: record the tapes again, all or those named.

`python -m workbench ledger [ID ...]`: check what the chapters claim (`ledger.__main__`).
"""

import argparse
import sys

from mcp_bare.errors import McpError
from workbench import node, scenarios
from workbench.ledger import __main__ as ledger


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == ["ledger"]:
        return ledger.main(words[1:])
    parser = argparse.ArgumentParser(prog="python -m workbench", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("record", help="run the scenarios against the real servers").add_argument(
        "names", nargs="*", metavar="NAME", help=", ".join(scenarios.SCENARIOS)
    )
    verbs.add_parser("ledger", help="check what the chapters claim")
    names = parser.parse_args(words).names
    if unknown := set(names) - set(scenarios.SCENARIOS):
        parser.error(f"no scenario is called {', '.join(sorted(unknown))}")
    try:
        for name in names or scenarios.SCENARIOS:
            print(scenarios.record(name).relative_to(node.ROOT))
    except (McpError, scenarios.NothingToRecord) as trouble:
        print(f"! {trouble}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
