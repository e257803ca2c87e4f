"""An incident log: three tools, a resource and a prompt, over stdio or over HTTP.

    python toy_servers/incidents.py                     over stdio
    python toy_servers/incidents.py --http 8931         over HTTP, on this machine only

`search_incidents` reads; `open_incident` writes and returns a handle; `resolve_incident` takes it.
The log belongs to a team, so a handle is checked against what the caller may do, not against who
opened it: over HTTP that is the scope of their token. It lives in SQLite (INCIDENTS_DB names the
file), so that any process may answer any request, and no two mint the same handle.
"""

import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script, from anywhere

from mcp_bare.errors import ToolError
from mcp_bare.server import Server, text_result
from toy_servers.parts.running import run

SEVERITIES = ["sev1", "sev2", "sev3"]
FIRST = [("Checkout failing in Frankfurt", "sev2"), ("Search unavailable", "sev3")]
SCOPES = {
    "search_incidents": "incidents:read",
    "open_incident": "incidents:write",
    "resolve_incident": "incidents:write",
}
"""What a caller's token must allow; whatever is no tool call needs `incidents:read`."""

TEXT = {"type": "string"}


def scopes_for(message):
    """The scopes that a message needs, for the guard of an HTTP server."""
    params = message.get("params")
    name = params.get("name") if isinstance(params, dict) else None
    tool = name if message.get("method") == "tools/call" and isinstance(name, str) else ""
    return {SCOPES.get(tool, "incidents:read")}


class Log:
    """The incidents, in a file; a connection of its own for each call."""

    def __init__(self, path):
        self.path = path
        with self.open() as db:
            db.execute(
                "CREATE TABLE IF NOT EXISTS incident (number INTEGER PRIMARY KEY AUTOINCREMENT,"
                " title TEXT NOT NULL, severity TEXT NOT NULL, cause TEXT)"
            )
            db.executemany(
                "INSERT INTO incident (number, title, severity) VALUES (?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                [(number, *row) for number, row in enumerate(FIRST, 1)],
            )

    def open(self):
        return closing(sqlite3.connect(self.path, timeout=5, isolation_level=None))

    def unresolved(self, words=""):
        with self.open() as db:
            rows = db.execute(
                "SELECT number, title, severity FROM incident WHERE cause IS NULL"
                " AND instr(lower(title), lower(?)) ORDER BY number",
                (words,),
            ).fetchall()
        return [{"id": f"INC-{n}", "title": t, "severity": s} for n, t, s in rows]

    def add(self, title, severity):
        with self.open() as db:
            added = db.execute(
                "INSERT INTO incident (title, severity) VALUES (?, ?)", (title, severity)
            )
            return f"INC-{added.lastrowid}"

    def resolve(self, handle, cause):
        number = handle.removeprefix("INC-")
        with self.open() as db:
            rows = db.execute(
                "UPDATE incident SET cause = ? WHERE number = ? AND cause IS NULL"
                " RETURNING title, severity",
                (cause, int(number) if number.isascii() and number.isdigit() else -1),
            ).fetchall()
        if not rows:
            raise ToolError(f"No open incident {handle}. Call search_incidents first.")
        [(title, severity)] = rows
        return {"id": handle, "title": title, "severity": severity, "cause": cause}


def say(value):
    return text_result(json.dumps(value, separators=(",", ":")), value)


def make(path):
    """The server, over the log in this file."""
    server, log = Server("incidents", "1.0.0"), Log(path)

    @server.tool(
        {
            "name": "search_incidents",
            "description": "Search the open incidents by words in their title.",
            "inputSchema": {"type": "object", "properties": {"query": TEXT}},
            "annotations": {"readOnlyHint": True},
        }
    )
    def search_incidents(call):
        return say({"incidents": log.unresolved(call.arguments.get("query", ""))})

    @server.tool(
        {
            "name": "open_incident",
            "description": "Open an incident and return its handle.",
            "inputSchema": {
                "type": "object",
                "properties": {"title": TEXT, "severity": {**TEXT, "enum": SEVERITIES}},
                "required": ["title", "severity"],
            },
            "annotations": {"readOnlyHint": False, "destructiveHint": False},
        }
    )
    def open_incident(call):
        return say({"id": log.add(call.arguments["title"], call.arguments["severity"])})

    @server.tool(
        {
            "name": "resolve_incident",
            "description": "Close an incident by handle and record its cause.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "id": {**TEXT, "description": "The handle returned by open_incident."},
                    "cause": {**TEXT, "description": "One sentence. What actually broke."},
                },
                "required": ["id", "cause"],
            },
            "annotations": {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True},
        }
    )
    def resolve_incident(call):
        return say(log.resolve(call.arguments["id"], call.arguments["cause"]))

    @server.resource({"uri": "incidents://open", "name": "open", "mimeType": "application/json"})
    def open_incidents(call):
        return json.dumps(log.unresolved(), separators=(",", ":"))

    @server.prompt(
        {
            "name": "postmortem",
            "description": "Write the postmortem of an incident.",
            "arguments": [{"name": "id", "required": True}],
        }
    )
    def postmortem(call):
        return (
            f"Write a postmortem of {call.arguments['id']}. Read incidents://open first. Say what "
            "happened, what it did to users, what broke, and what we change."
        )

    return server


if __name__ == "__main__":
    run(make(os.environ.get("INCIDENTS_DB", "incidents.sqlite3")))
