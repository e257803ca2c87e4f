"""`incidents_sdk.py` with tools and a resource that go wrong, as those in `bare.py` do."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, from anywhere

from mcp.server.mcpserver.exceptions import ToolError

from toy_servers.incidents_sdk import run, server

TOLD = "connect ECONNREFUSED 10.0.3.7:5432 (db-prod-eu, user=reporting)"
HINT = "Severity is sev1, sev2 or sev3."


@server.tool()
def boom() -> str:
    raise ConnectionError(TOLD)


@server.tool()
def hint(how: str) -> str:
    raise ToolError(HINT) if how == "meant" else ValueError(HINT)


@server.tool()
def mutter() -> str:
    print("looking", flush=True)
    return "found"


@server.resource("incidents://boom")
def broken() -> str:
    raise ConnectionError(TOLD)


if __name__ == "__main__":
    run()
