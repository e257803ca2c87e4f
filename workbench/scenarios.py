"""What is asked on each recorded tape: `python -m workbench record` asks it again, and keeps it.

A notebook that may have to play a tape sends what its scenario sends, in that order; it may stop
early.
"""

import contextlib
import functools
import json
import platform
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from mcp_bare import era, revision
from mcp_bare.client import CLIENT_INFO, Client
from mcp_bare.errors import ErrorResponse
from mcp_bare.tape import Tape
from workbench import hands, node, recorded, reference, servers

LEGACY = revision.LEGACY[0]
ASKS_CURRENT = {
    "protocolVersion": revision.CURRENT,
    "capabilities": {},
    "clientInfo": CLIENT_INFO,
}
DENTIST = {"title": "Dentist", "startsAt": "2026-09-10T08:30:00Z"}


def probe(connect: servers.OpenTransport, tape: Tape) -> None:
    """server/discover; the fallback in a fresh process; tools, resources and prompts."""
    client, _ = era.connect(connect, tape=tape)
    with client:
        reference.wait_for(client, reference.CHANGED)
        client.list_tools()
        client.list_resources()
        client.list_prompts()


def initialize(connect: servers.OpenTransport, tape: Tape) -> None:
    """initialize, asking for the current revision."""
    with Client(connect(), version=LEGACY, tape=tape) as client:
        client.request("initialize", ASKS_CURRENT)


def bare(connect: servers.OpenTransport, tape: Tape) -> None:
    """tools/list without a handshake, and without `_meta`."""
    with Client(connect(), version=LEGACY, tape=tape) as client:
        client.list_tools()


def initialized(connect: servers.OpenTransport, tape: Tape) -> None:
    """notifications/initialized alone, then tools/list."""
    with Client(connect(), version=LEGACY, tape=tape) as client:
        client.notify("notifications/initialized")
        reference.wait_for(client, reference.CHANGED)
        client.list_tools()


def claims(connect: servers.OpenTransport, tape: Tape) -> None:
    """tools/list after a handshake with each of reference.CLAIMS."""
    reference.tools_by_claim(connect, tape)


def discover(connect: servers.OpenTransport, tape: Tape) -> None:
    """server/discover, then tools/list."""
    with Client(connect(), tape=tape) as client:
        client.discover()
        client.list_tools()


def call(connect: servers.OpenTransport, tape: Tape) -> None:
    """tools/call, and nothing before it."""
    with Client(connect(), tape=tape) as client:
        client.call_tool("create_event", DENTIST)


def call_after_handshake(connect: servers.OpenTransport, tape: Tape) -> None:
    """The same tools/call by a client of the legacy era."""
    with reference.handshake(connect, {}, tape) as client:
        client.call_tool("create_event", DENTIST)


def incident_log(connect: servers.OpenTransport, tape: Tape) -> None:
    """The catalogue, the resource, a search; an incident is opened and closed; the prompt."""
    client, _ = era.connect(connect, tape=tape, **hands.PATIENT)
    with client:
        client.list_tools()
        client.read_resource("incidents://open")
        client.call_tool("search_incidents")
        client.call_tool("open_incident", {"title": "Queue backed up", "severity": "sev2"})
        client.call_tool("resolve_incident", {"id": "INC-3", "cause": "A consumer died."})
        client.call_tool("resolve_incident", {"id": "INC-3", "cause": "A consumer died."})
        client.get_prompt("postmortem", {"id": "INC-3"})


def failures(connect: servers.OpenTransport, tape: Tape) -> None:
    """The tools and the resource that go wrong, and an argument that is wrong."""
    client, _ = era.connect(connect, tape=tape, **hands.PATIENT)
    with client:
        client.call_tool("boom")
        client.call_tool("hint", {"how": "by accident"})
        client.call_tool("hint", {"how": "meant"})
        client.call_tool("open_incident", {"title": "Disk full", "severity": "sev9"})
        with contextlib.suppress(ErrorResponse):
            client.read_resource("incidents://boom")


class NothingToRecord(RuntimeError):
    """The server of a scenario cannot be started here."""


@dataclass(frozen=True)
class Scenario:
    """What is asked, and of which server."""

    ask: Callable[[servers.OpenTransport, Tape], None]
    live: Callable[[], servers.OpenTransport | None]
    who: Callable[[], tuple[str, str]]  # the server, and what it runs on


def _everything() -> tuple[str, str]:
    manifest = node.ROOT / "node_modules" / servers.EVERYTHING / "package.json"
    return f"server-everything {json.loads(manifest.read_bytes())['version']}", _node()


def _sdk() -> tuple[str, str]:
    return f"mcp {version('mcp')}", f"Python {platform.python_version()}"


def _hand(name: str) -> tuple[str, str]:
    its = hands.hand(name)
    return its.label, _node() if its.npm else f"Python {platform.python_version()}"


def _node() -> str:
    told = subprocess.run([node.find().node, "--version"], capture_output=True, check=True)
    return f"Node {told.stdout.decode().strip().lstrip('v')}"


def _of_hands() -> dict[str, Scenario]:
    """Two tapes of each hand that is not ours."""
    return {
        hands.tape_name(name, failing): Scenario(
            failures if failing else incident_log,
            functools.partial(hands.live, name, failing),
            functools.partial(_hand, name),
        )
        for name in hands.HANDS
        for failing in (False, True)
        if name != "bare"
    }


SCENARIOS = {
    "everything_probe": Scenario(probe, servers.live_everything, _everything),
    "everything_initialize": Scenario(initialize, servers.live_everything, _everything),
    "everything_bare": Scenario(bare, servers.live_everything, _everything),
    "everything_initialized": Scenario(initialized, servers.live_everything, _everything),
    "everything_claims": Scenario(claims, servers.live_everything, _everything),
    "sdk_discover": Scenario(discover, servers.live_python_sdk, _sdk),
    "sdk_initialize": Scenario(initialize, servers.live_python_sdk, _sdk),
    "sdk_modern": Scenario(call, servers.live_python_sdk, _sdk),
    "sdk_legacy": Scenario(call_after_handshake, servers.live_python_sdk, _sdk),
    **_of_hands(),
}
"""The tapes by name."""


def record(name: str) -> Path:
    """Run one scenario against the real server and keep its tape. Raises NothingToRecord."""
    scenario, tape = SCENARIOS[name], Tape()
    connect = scenario.live()
    if connect is None:
        raise NothingToRecord(f"the server of {name} cannot be started here")
    scenario.ask(connect, tape)
    server, on = scenario.who()
    about = {
        "what": str(scenario.ask.__doc__),
        "recorded": time.strftime("%Y-%m-%d", time.gmtime()),
        "server": server,
        "on": on,
    }
    return recorded.write(name, tape, about)
