"""Claims 26-44 to 26-50: trust, dates, neighbours; much of it rests on words said elsewhere."""

from __future__ import annotations

import ast
import re
import sys
from datetime import date
from pathlib import Path

from mcp_bare import revision
from mcp_bare.host import ConsentRefused, Host, ask_before_writes
from mcp_bare.memory import MemoryTransport
from mcp_bare.server import Server
from workbench import servers
from workbench.ledger.bench import Bench
from workbench.ledger.claim import Facts, Later, claim

HOST = "ch26/07_host_client_server"
DATES = "ch26/12_dates_and_deprecations"
DECIDES = "ch26/04_who_decides"
COSTS = "ch26/08_what_a_server_costs"
ARTICLE = "https://www.anthropic.com/engineering/code-execution-with-mcp"


@claim(
    "26-44",
    "What a server says of its tools is untrusted unless the server is trusted, and a person "
    "agrees before a tool runs.",
    notebook=HOST,
    says={
        "a stranger's tool that says it only reads": "asks the person",
        "after a no": "nothing was sent",
    },
)
def consent(bench: Bench) -> Facts:
    asked: list[str] = []
    server = Server("stranger", "1.0.0")
    harmless = {"name": "peek", "inputSchema": {"type": "object"}}
    server.tool({**harmless, "annotations": {"readOnlyHint": True}})(lambda call: "done")
    with Host(ask=lambda it: bool(asked.append(it.server)), policy=ask_before_writes) as host:
        host.connect("stranger", MemoryTransport(server))
        host.approve("stranger")
        before = len(host.saw("stranger"))
        try:
            host.call("stranger.peek", {})
        except ConsentRefused:
            asked.append("refused")
        sent = [line for line in host.saw("stranger")[before:] if b"tools/call" in line]
    return {
        "a stranger's tool that says it only reads": (
            "asks the person" if "stranger" in asked else "runs unasked"
        ),
        "after a no": f"{len(sent)} calls were sent" if sent else "nothing was sent",
    }


@claim(
    "26-45",
    "A revision is named by the date of its last incompatible change; schema.ts is normative and "
    "the JSON Schema is generated from it.",
    notebook=DATES,
    says={"revisions not named by a date": "none", "newest": "2026-07-28"},
)
def dated(bench: Bench) -> Facts:
    from mcp_types.version import KNOWN_PROTOCOL_VERSIONS as KNOWN

    return {
        "revisions not named by a date": [v for v in KNOWN if not _is_date(v)] or "none",
        "newest": max(KNOWN),
        "revisions": list(KNOWN),
    }


def _is_date(text: str) -> bool:
    return re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) is not None and bool(date.fromisoformat(text))


@claim(
    "26-46",
    "Features are Active, Deprecated or Removed, and a deprecated one stays for twelve months at "
    "least.",
    notebook=DATES,
    says={"shortest notice that has a date, in months": 12},
)
def lifecycle(bench: Bench) -> Facts:
    dated_rows = [row for row in revision.DEPRECATED if re.match(r"\d{4}-", row["earliestRemoval"])]
    notice = {row["feature"]: _months(row["since"], row["earliestRemoval"]) for row in dated_rows}
    return {
        "shortest notice that has a date, in months": min(notice.values()),
        "with a clock of their own": {
            row["feature"]: row["earliestRemoval"]
            for row in revision.DEPRECATED
            if row not in dated_rows
        },
    }


def _months(since: str, until: str) -> int:
    one, other = date.fromisoformat(since), date.fromisoformat(until)
    return (other.year - one.year) * 12 + other.month - one.month


@claim(
    "26-47",
    "A2A's own documentation draws the line: agents are partners in a task, MCP gives them tools.",
    notebook=DATES,
)
def a2a(bench: Bench) -> Facts:
    return {}


@claim(
    "26-48",
    "ACP's own pages say that it is part of A2A now.",
    notebook=DATES,
)
def acp(bench: Bench) -> Facts:
    return {}


@claim(
    "26-49",
    "A calendar exposed three times takes about a hundred lines and no dependency.",
    notebook=DECIDES,
    says={"dependencies": "none", "length": "about a hundred lines"},
)
def toy_calendar(bench: Bench) -> Facts:
    source = Path(servers.command("calendar_by_hand")[-1]).read_text("utf-8")
    imports = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Import | ast.ImportFrom)]
    named = [n.module if isinstance(n, ast.ImportFrom) else n.names[0].name for n in imports]
    imported = {str(name).partition(".")[0] for name in named}
    lines = [line for line in source.splitlines() if line.strip()]
    hundred = "about a hundred lines" if round(len(lines), -2) == 100 else f"{len(lines)} lines"
    return {
        "dependencies": sorted(imported - sys.stdlib_module_names) or "none",
        "length": hundred,
        "ours, in Python, without blank lines": len(lines),
    }


@claim(
    "26-50",
    "Calling tools from code brought one case from 150,000 tokens to 2,000 (Anthropic, 4 November "
    "2025).",
    notebook=COSTS,
    says={"in the article": "150,000 to 2,000"},
)
def article(bench: Bench) -> Facts:
    return {"in the article": Later(f"curl -sL {ARTICLE} | grep -o '150,000 tokens to 2,000'")}
