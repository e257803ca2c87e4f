"""`python -m workbench record [NAME ...]`: record the tapes and the exam again, all or those named.

`python -m workbench ledger [ID ...]`: check what the chapters claim (`ledger.__main__`).

`python -m workbench modules`: write the page that lists the toolkit's modules (`module_page`).

`python -m workbench environment [NAME ...]`: install what is measured beside the course's own
parts, all or those named (`environments`).
"""

import argparse
import sys

from mcp_bare.errors import McpError
from workbench import environments, exam, module_page, node, scenarios
from workbench.ledger import __main__ as ledger

EXAM = "exam"


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == ["ledger"]:
        return ledger.main(words[1:])
    if words[:1] == ["modules"]:
        print(module_page.write())
        return 0
    parser = argparse.ArgumentParser(prog="python -m workbench", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    recordings = [*scenarios.SCENARIOS, EXAM]
    verbs.add_parser("record", help="run the scenarios against the real servers").add_argument(
        "names", nargs="*", metavar="NAME", help=", ".join(recordings)
    )
    verbs.add_parser("ledger", help="check what the chapters claim")
    verbs.add_parser("modules", help="write the page that lists the toolkit's modules")
    verbs.add_parser("environment", help="install what is measured beside").add_argument(
        "names", nargs="*", metavar="NAME", help=", ".join(environments.ENVIRONMENTS)
    )
    asked = parser.parse_args(words)
    if asked.verb == "environment":
        return _environments(parser, asked.names)
    names = asked.names
    if unknown := set(names) - set(recordings):
        parser.error(f"no scenario is called {', '.join(sorted(unknown))}")
    try:
        for name in names or recordings:
            path = exam.record() if name == EXAM else scenarios.record(name)
            print(path.relative_to(node.ROOT))
    except (McpError, scenarios.NothingToRecord, node.NodeUnavailable) as trouble:
        print(f"! {trouble}", file=sys.stderr)
        return 1
    return 0


def _environments(parser: argparse.ArgumentParser, names: list[str]) -> int:
    if unknown := set(names) - set(environments.ENVIRONMENTS):
        parser.error(f"no environment is called {', '.join(sorted(unknown))}")
    try:
        for name in names or environments.ENVIRONMENTS:
            print(environments.ensure(name).relative_to(node.ROOT), flush=True)
    except environments.EnvironmentUnavailable as trouble:
        print(f"! {trouble}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
