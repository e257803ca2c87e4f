"""One host, many clients, one client for each server; nothing crosses unless the host carries it.

The host is where the conversation lives. A server sees the calls that the host makes to it and
nothing else: `saw` returns exactly those bytes. Before a tool runs, a policy decides whether the
person is asked. What a server says of its own tools, descriptions and annotations alike, is a
stranger's text: it can make the host ask more often, never less often, unless the person trusts
that server. A catalogue is approved once, and a change stops it.

Does not handle: the model, and drawing a dialog: `ask` is yours.

Spec: architecture/index, server/tools ("Security Considerations", "Tool Names").
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_bare import trust
from mcp_bare.client import Client
from mcp_bare.errors import McpError
from mcp_bare.tape import SENT

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcp_bare.exchange import Transport
    from mcp_bare.revision import JsonObject

    Policy = Callable[["Proposal"], str]

ALLOW, ASK, DENY = "allow", "ask", "deny"


class ConsentRefused(McpError):
    """The person, or the policy, said no: nothing was sent."""


class CatalogueChanged(McpError):
    """A server lists other tools than those that were approved; `differences` says which."""

    def __init__(self, server: str, differences: list[str]):
        super().__init__(f"{server} changed after it was approved: {'; '.join(differences)}")
        self.differences = differences


@dataclass(frozen=True)
class Proposal:
    """A call that is about to be made: what the person is shown, in full, before it is sent."""

    server: str
    tool: JsonObject
    arguments: JsonObject
    trusted: bool
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        arguments = json.dumps(self.arguments, ensure_ascii=False)
        notes = "".join(f"\n  warning: {warning}" for warning in self.warnings)
        return f"run {self.tool['name']} of {self.server} with {arguments}{notes}"


def always_ask(proposal: Proposal) -> str:
    """The specification's own policy: a person in the loop, for every call."""
    return ASK


def ask_before_writes(proposal: Proposal) -> str:
    """Ask, unless a *trusted* server says that the tool only reads; a stranger may say anything."""
    reads = proposal.tool.get("annotations", {}).get("readOnlyHint") is True
    return ALLOW if reads and proposal.trusted and not proposal.warnings else ASK


class Host:
    """Clients by the name that the host gave each server; a server's own name is not unique.

    `ask` shows a proposal to the person and returns their answer; `policy` says when to ask.
    """

    def __init__(self, ask: Callable[[Proposal], bool], policy: Policy = always_ask):
        self.ask, self.policy = ask, policy
        self.clients: dict[str, Client] = {}
        self._trusted: set[str] = set()
        self._approved: dict[str, dict[str, JsonObject]] = {}
        self._crossings = trust.Crossings()

    def connect(
        self, name: str, transport: Transport, *, trusted: bool = False, **options: Any
    ) -> Client:
        """One more client, for one more server. `trusted` is the person's word for it."""
        if name in self.clients or not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
            raise ValueError(f"{name!r} is taken, or no name of letters, digits, _ and -")
        self.clients[name] = Client(transport, **options)
        if trusted:
            self._trusted.add(name)
        return self.clients[name]

    # --- the catalogue ---

    def approve(self, name: str) -> str:
        """The person has read this server's tools and accepts them as they are: the fingerprint."""
        tools = self.clients[name].list_tools(refresh=True)
        self._approved[name] = {tool["name"]: tool for tool in tools}
        return trust.fingerprint(tools)

    def tools(self) -> dict[str, JsonObject]:
        """Every approved tool as "server.tool", so that no name shadows another's.

        Raises CatalogueChanged where a server's list is not what was approved.
        """
        for name in self._approved:
            self.check(name)
        return {
            f"{name}.{tool}": definition
            for name, approved in self._approved.items()
            for tool, definition in approved.items()
        }

    def check(self, name: str) -> None:
        """Read the list (or the kept one, while it is fresh) and compare it with the approved."""
        now = {tool["name"]: tool for tool in self.clients[name].list_tools()}
        found = list(trust.differences(self._approved.get(name, {}), now))
        if found:
            raise CatalogueChanged(name, found)

    def warnings(self, name: str, tool: JsonObject) -> list[str]:
        """What the person should know about this tool's text."""
        others = {server: tools for server, tools in self._approved.items() if server != name}
        return list(trust.warnings(tool, others))

    # --- calling ---

    def call(self, qualified: str, arguments: JsonObject, **how: Any) -> JsonObject:
        """Call "server.tool", if catalogue, crossings, policy and person allow it.

        Raises ConsentRefused, CatalogueChanged, trust.CrossingRefused, and what a client raises.
        """
        name, _, tool_name = qualified.partition(".")
        tool = self._approved.get(name, {}).get(tool_name)
        if tool is None:
            raise ConsentRefused(f"{qualified!r} is no approved tool of a connected server")
        self.check(name)
        self._crossings.check(name, arguments)
        warnings = tuple(self.warnings(name, tool))
        proposal = Proposal(name, tool, arguments, name in self._trusted, warnings)
        decision = self.policy(proposal)
        if decision == DENY or (decision != ALLOW and not self.ask(proposal)):
            raise ConsentRefused(f"not allowed: {proposal}")
        result = self.clients[name].call_tool(tool_name, arguments, **how)
        self._crossings.hear(name, result)
        return result

    def carry(self, text: str, source: str, target: str) -> str:
        """Let a text that `source` said go to `target`: the one way across, and on purpose."""
        return self._crossings.carry(text, source, target)

    # --- what a server ever saw ---

    def saw(self, name: str) -> list[bytes]:
        """Every message that reached this server, byte for byte."""
        return [entry.payload for entry in self.clients[name].tape if entry.direction == SENT]

    def close(self) -> None:
        """Close every client."""
        for client in self.clients.values():
            client.close()

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
