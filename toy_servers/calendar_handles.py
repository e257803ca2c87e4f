"""The cure for the calendar by hand: a handle is a name, and every call checks whose it is.

Nothing lives in this module: calendars and events are in SQLite, and what a half-finished call
needs travels in a sealed requestState. So a new process may answer every message.

The environment says for whom a process works and what it shares with the other processes:
CALENDAR_USER (the caller; stdio takes it from the environment, never from a message), CALENDAR_DB
(a file), CALENDAR_STATE_KEY (what seals the state, 16 characters or more). With `--http PORT` it
serves over HTTP, where nobody is authenticated and the handle is all that a caller has.
"""

import json
import os
import secrets
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script, from anywhere

from mcp_bare import elicitation
from mcp_bare.errors import ToolError
from mcp_bare.server import Server, text_result
from mcp_bare.state import Seal
from toy_servers.parts.running import run

DATABASE = os.environ.get("CALENDAR_DB", "calendar.sqlite3")
RETENTION_DAYS = 30
WHEN = {"type": "string", "format": "date-time"}
HANDLE = {"type": "string", "description": "The handle that create_calendar returned."}

server = Server("calendar-handles", "1.0.0", instructions="Call create_calendar first.")


def database():
    """A connection of its own for each call: calls may run at the same time."""
    connection = sqlite3.connect(DATABASE, timeout=5, isolation_level=None)
    connection.executescript(
        """CREATE TABLE IF NOT EXISTS calendar (handle TEXT PRIMARY KEY, owner TEXT NOT NULL,
             used TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP);
           CREATE TABLE IF NOT EXISTS event (calendar TEXT NOT NULL, number INTEGER NOT NULL,
             title TEXT NOT NULL, starts_at TEXT NOT NULL, PRIMARY KEY (calendar, number));"""
    )
    return closing(connection)


def check_handle(db, handle, call):
    """The check of every call: known, not expired, and this caller's own.

    Somebody else's handle gets the same words as one that never was: who asks learns nothing.
    """
    known = db.execute(
        "UPDATE calendar SET used = CURRENT_TIMESTAMP WHERE handle = ? AND owner = ?"
        " AND used > datetime('now', ?) RETURNING handle",
        (handle, call.caller.principal or "", f"-{RETENTION_DAYS} days"),
    ).fetchall()
    if not known:
        raise ToolError(
            f"There is no calendar {handle} for you. Call create_calendar for a new one."
        )


def week(db, handle):
    rows = db.execute(
        "SELECT number, title, starts_at FROM event WHERE calendar = ? ORDER BY starts_at",
        (handle,),
    )
    return [{"id": f"e{n}", "title": title, "startsAt": at} for n, title, at in rows]


@server.tool(
    {
        "name": "create_calendar",
        "description": "Create an empty calendar and return its handle. "
        f"It is deleted after {RETENTION_DAYS} days without use.",
        "inputSchema": {"type": "object", "additionalProperties": False},
    }
)
def create_calendar(call):
    handle = f"cal_{secrets.token_urlsafe(16)}"
    with database() as db:
        db.execute("DELETE FROM event WHERE calendar IN (SELECT handle FROM calendar WHERE used <="
                   " datetime('now', ?))", (f"-{RETENTION_DAYS} days",))  # fmt: skip
        db.execute("INSERT INTO calendar (handle, owner) VALUES (?, ?)",
                   (handle, call.caller.principal or ""))  # fmt: skip
    return text_result(f"Created calendar {handle}", {"calendar": handle})


@server.tool(
    {
        "name": "create_event",
        "description": "Create an event. Asks the person for the start where it is not given.",
        "inputSchema": {
            "type": "object",
            "properties": {"calendar": HANDLE, "title": {"type": "string"}, "startsAt": WHEN},
            "required": ["calendar", "title"],
        },
    }
)
def create_event(call):
    handle, title = call.arguments["calendar"], call.arguments["title"]
    starts_at = call.arguments.get("startsAt")
    with database() as db:
        check_handle(db, handle, call)
        if starts_at is None:
            question = elicitation.form(
                f'When should "{title}" start?', {"startsAt": WHEN}, ["startsAt"]
            )
            asked_before = call.request_state and seal().open(call.request_state, call)
            answer = elicitation.read(
                call.input_responses if asked_before else {}, "when", question
            )
            if answer.action == "missing":
                return call.ask({"when": question}, seal().close({"asked": "when"}, call))
            if answer.action != "accept":
                return f"Nothing was created: the person chose to {answer.action}."
            starts_at = answer.content["startsAt"]
        (number,) = db.execute(
            "INSERT INTO event SELECT ?, COALESCE(MAX(number), 0) + 1, ?, ? FROM event"
            " WHERE calendar = ? RETURNING number",
            (handle, title, starts_at, handle),
        ).fetchone()
    event = {"id": f"e{number}", "title": title, "startsAt": starts_at}
    return text_result(f"Created e{number}: {title} at {starts_at}", event)


@server.tool(
    {
        "name": "list_events",
        "description": "List the events of a calendar.",
        "inputSchema": {
            "type": "object",
            "properties": {"calendar": HANDLE},
            "required": ["calendar"],
        },
        "annotations": {"readOnlyHint": True},
    }
)
def list_events(call):
    with database() as db:
        check_handle(db, call.arguments["calendar"], call)
        events = week(db, call.arguments["calendar"])
    return text_result(json.dumps(events, separators=(",", ":")), {"events": events})


@server.template(
    {
        "uriTemplate": "calendar://{calendar}/week",
        "name": "week",
        "mimeType": "application/json",
    },
    ttl_ms=60_000,
)
def read_week(call):
    with database() as db:
        try:
            check_handle(db, call.variables["calendar"], call)
        except ToolError:
            return None  # a resource has no isError: it does not exist for this caller
        return json.dumps(week(db, call.variables["calendar"]), separators=(",", ":"))


@server.prompt(
    {
        "name": "prepare_week",
        "description": "Read the week and draft a plan.",
        "arguments": [{"name": "calendar", "required": True}, {"name": "focus"}],
    }
)
def prepare_week(call):
    focus = call.arguments.get("focus", "balance")
    return f"Read calendar://{call.arguments['calendar']}/week and draft a plan. Focus: {focus}."


def seal():
    return Seal(os.environ.get("CALENDAR_STATE_KEY", "").encode() or PROCESS_KEY)


PROCESS_KEY = secrets.token_bytes(32)  # with no shared key, a state dies with its process

if __name__ == "__main__":
    run(server, principal=os.environ.get("CALENDAR_USER"))
