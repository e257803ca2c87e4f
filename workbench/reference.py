"""What the reference server offers depends on what the client claims; these are the claims.

It registers a tool for each thing that it could ask of its client, once the client has said that
it can: in the handshake, and only there, which is why a bare `tools/list` finds the fewest.
"""

import time
from collections.abc import Callable

from mcp_bare import legacy, revision
from mcp_bare.client import Client
from mcp_bare.exchange import Transport
from mcp_bare.tape import Tape

CHANGED = "notifications/tools/list_changed"

CLAIMS: dict[str, dict] = {
    "nothing": {},
    "roots": {"roots": {"listChanged": True}},
    "sampling": {"sampling": {"tools": {}, "context": {}}},
    "elicitation, form": {"elicitation": {"form": {}}},
    "elicitation, form and url": {"elicitation": {"form": {}, "url": {}}},
    "roots, sampling and elicitation": {
        "roots": {"listChanged": True},
        "sampling": {"tools": {}, "context": {}},
        "elicitation": {"form": {}, "url": {}},
    },
    "all of these, and tasks": {
        "roots": {"listChanged": True},
        "sampling": {"tools": {}, "context": {}},
        "elicitation": {"form": {}, "url": {}},
        "tasks": {
            "list": {},
            "cancel": {},
            "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
        },
    },
}
"""Client capabilities as revision 2025-11-25 has them; the last one claims every one of them."""


def handshake(
    open_transport: Callable[[], Transport], capabilities: dict, tape: Tape | None = None
) -> Client:
    """A connection of the legacy era, opened with exactly these capabilities."""
    client = Client(
        open_transport(), capabilities=capabilities, version=revision.LEGACY[0], tape=tape
    )
    try:
        legacy.handshake(client.exchange, client.next_id(), capabilities, client.client_info)
    except BaseException:
        client.close()
        raise
    return client


def tools_by_claim(
    open_transport: Callable[[], Transport], tape: Tape | None = None
) -> dict[str, list[str]]:
    """The names of the tools that a client is offered for each of the CLAIMS."""
    found = {}
    for claim, capabilities in CLAIMS.items():
        with handshake(open_transport, capabilities, tape) as client:
            found[claim] = [tool["name"] for tool in client.list_tools()]
    return found


def wait_for(client: Client, method: str, seconds: float = 5.0) -> bool:
    """Wait until a notification of this method has come; False if it has not."""
    deadline = time.monotonic() + seconds
    while not any((entry.message or {}).get("method") == method for entry in client.tape):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
