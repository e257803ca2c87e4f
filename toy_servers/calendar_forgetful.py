"""The calendar of calendar_by_hand on the toolkit, with its mistake kept: a list in the process.

    python toy_servers/calendar_forgetful.py              over stdio
    python toy_servers/calendar_forgetful.py --http 0     over HTTP, on any free port

Started three times behind one address it is three calendars, and which one answers is chance. The
address is printed on stderr. `calendar_handles` is the cure.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script, from anywhere

from mcp_bare.server import Server, text_result
from toy_servers.parts.running import run

EVENTS = [
    {"id": "e1", "title": "Standup", "startsAt": "2026-09-07T09:00:00Z"},
    {"id": "e2", "title": "Design review", "startsAt": "2026-09-09T15:00:00Z"},
]

server = Server("calendar-forgetful", "1.0.0")


@server.tool(
    {
        "name": "create_event",
        "description": "Create a calendar event. Writes to the calendar.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "title": {"type": "string"},
                "startsAt": {"type": "string", "format": "date-time"},
            },
            "required": ["title", "startsAt"],
        },
    }
)
def create_event(call):
    event = {"id": f"e{len(EVENTS) + 1}", **call.arguments}
    EVENTS.append(event)
    return text_result(f"Created {event['id']}: {event['title']}", event)


@server.resource({"uri": "calendar://week", "name": "week", "mimeType": "application/json"})
def week(call):
    return json.dumps(EVENTS, separators=(",", ":"))


if __name__ == "__main__":
    run(server)
