"""A server on which things change: a slow tool, a tool that adds tools, a resource that moves.

count     reports its progress, and stops when it is cancelled
learn     adds a tool to the catalogue, and tells who listens
move      changes the resource weather://now, and tells who listens of it
close     ends every subscription from the server's side
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script, from anywhere

from mcp_bare.server import Server
from mcp_bare.stdio import serve

server = Server("changing", "1.0.0", logging=True)
weather = ["clear"]

NOTHING = {"type": "object", "additionalProperties": False}
COUNT = {
    "type": "object",
    "properties": {
        "to": {"type": "integer", "minimum": 1, "maximum": 1000},
        "pause": {"type": "number", "minimum": 0, "maximum": 5, "description": "Seconds a step."},
    },
    "required": ["to"],
}


@server.tool({"name": "count", "description": "Count, slowly.", "inputSchema": COUNT})
def count(call):
    to = call.arguments["to"]
    for number in range(1, to + 1):
        yield call.progress(number, to, f"{number} of {to}")
        yield call.log("info", f"counted {number}", "counter")
        time.sleep(call.arguments.get("pause", 0.0))
    return f"Counted to {to}."


@server.tool({"name": "learn", "description": "Learn a new tool.", "inputSchema": NOTHING})
def learn(call):
    name = f"trick_{len(server.defined['tools']) - 3}"
    server.tool({"name": name, "inputSchema": NOTHING})(lambda call: "Done.")
    server.changed("tools")
    return f"Learned {name}."


@server.tool({"name": "move", "description": "Let the weather change.", "inputSchema": NOTHING})
def move(call):
    weather[0] = "rain" if weather[0] == "clear" else "clear"
    server.updated("weather://now")
    return f"Now {weather[0]}."


@server.tool({"name": "close", "description": "End all subscriptions.", "inputSchema": NOTHING})
def close(call):
    server.subscriptions.close()
    return "Closed."


@server.resource({"uri": "weather://now", "name": "now", "mimeType": "text/plain"}, ttl_ms=60_000)
def now(call):
    return weather[0]


if __name__ == "__main__":
    serve(server)
