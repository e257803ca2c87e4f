"""Everything that the specification's conformance suite asks of a server, under the suite's names.

    python toy_servers/everything.py                    over stdio
    python toy_servers/everything.py --http 8931        over HTTP, on this machine only

    parts/everything_shows.py    what there is to read: every kind of content, resources, prompts
    parts/everything_asks.py     what comes in several rounds: questions, sealed states
    parts/everything_moves.py    what happens on the way: progress, logs, lists that change

Nothing here knows which test is running. EVERYTHING_STATE_KEY is the key of the sealed states;
without it each process has its own, and a call that was begun in one cannot be ended in another.
"""

import os
import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script, from anywhere

from mcp_bare.server import Server
from mcp_bare.state import Seal
from toy_servers.parts import everything_asks, everything_moves, everything_shows
from toy_servers.parts.running import run


def make(key=None):
    """The server; `key` seals what travels through the client between two rounds."""
    server = Server("everything", "1.0.0", logging=True)
    everything_shows.register(server)
    everything_asks.register(server, Seal(key or secrets.token_bytes(32)))
    everything_moves.register(server)
    return server


if __name__ == "__main__":
    run(make(os.environ.get("EVERYTHING_STATE_KEY", "").encode()))
