"""`incidents.py` with tools and a resource that go wrong.

`boom` and the resource fail as a database client does, `hint` with a sentence that would help, said
on purpose or not, and `mutter` prints.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, from anywhere

from mcp_bare.errors import ToolError
from toy_servers.incidents import TEXT, make
from toy_servers.parts.running import run

TOLD = "connect ECONNREFUSED 10.0.3.7:5432 (db-prod-eu, user=reporting)"
HINT = "Severity is sev1, sev2 or sev3."


def build(path):
    server = make(path)

    @server.tool({"name": "boom", "inputSchema": {"type": "object"}})
    def boom(call):
        raise ConnectionError(TOLD)

    schema = {"type": "object", "properties": {"how": TEXT}, "required": ["how"]}

    @server.tool({"name": "hint", "inputSchema": schema})
    def hint(call):
        raise ToolError(HINT) if call.arguments["how"] == "meant" else ValueError(HINT)

    @server.tool({"name": "mutter", "inputSchema": {"type": "object"}})
    def mutter(call):
        print("looking", flush=True)
        return "found"

    @server.resource({"uri": "incidents://boom", "name": "boom"})
    def broken(call):
        raise ConnectionError(TOLD)

    return server


if __name__ == "__main__":
    run(build(os.environ.get("INCIDENTS_DB", "incidents.sqlite3")))
