"""The toolkit beside what a user would pick instead, in one run.

    uv run python -m benchmarks                     all of it, four minutes on an idle machine
    uv run python -m benchmarks --quick             smaller, about a minute
    uv run python -m benchmarks cold-start http     some cases
    uv run python -m benchmarks --write             ... and write benchmarks/results

Exit code 1 where a promise is not kept.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import report, stacks
from benchmarks.cases import CASES, FULL, QUICK
from workbench import measure, node

MARK = "<!-- python -m benchmarks --write -->"
RESULTS = Path(__file__).resolve().parent / "results"


def main(argv: list[str] | None = None) -> int:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--quick", action="store_true", help="fewer turns, smaller sizes")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}/*")
    parser.add_argument("--note", default="", help="a line to keep with the result")
    asked = parser.parse_args(argv)
    if asked.write and asked.names:
        parser.error("what is written is a run of all cases")
    if unknown := set(asked.names) - set(CASES):
        parser.error(f"no case is called {', '.join(sorted(unknown))}")
    words = [*asked.names, *(["--quick"] if asked.quick else [])]
    told = run(asked.names, asked.quick, " ".join(["python -m benchmarks", *words]), asked.note)
    print(report.markdown(told))
    print("\n".join(report.share_of_the_client(told)))
    if asked.write:
        write(told)
    return 0 if all(target["kept"] for target in told["targets"]) else 1


def run(names: list[str], quick: bool, command: str, note: str = "") -> dict[str, Any]:
    """The cases of these names (of all), as one result."""
    found, absent = stacks.available()
    measured = []
    for name in names or CASES:
        begun = time.monotonic()
        measured += CASES[name](found, QUICK if quick else FULL)
        print(f"{name}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    about = {
        "command": command,
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        "machine": measure.machine(),
        "versions": stacks.versions(found),
        "absent": absent,
        **({"note": note} if note else {}),
    }
    return report.tell(measured, about)


def commit() -> str:
    """The commit that was measured, and whether anything had been changed since."""
    try:
        head = _git("rev-parse", "--short=12", "HEAD")
        changed = _git("status", "--porcelain", "--", "mcp_bare", "benchmarks/servers")
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return f"{head}{', with changes' if changed else ''}"


def _git(*words: str) -> str:
    ran = subprocess.run(
        ["git", *words], cwd=node.ROOT, capture_output=True, text=True, timeout=30, check=True
    )
    return ran.stdout.strip()


def write(told: dict[str, Any]) -> None:
    """The result in three forms, the other two made from the first; and its line in the README."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "results.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    (RESULTS / "results.md").write_text(report.markdown(told), encoding="utf-8")
    (RESULTS / "growth.png").write_bytes(report.chart(told))
    readme = node.ROOT / "README.md"
    before, marked, after = readme.read_text("utf-8").partition(MARK)
    if marked:
        rest = after.partition("\n\n")[2]
        readme.write_text(f"{before}{MARK}\n{report.in_a_line(told)}\n\n{rest}", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
