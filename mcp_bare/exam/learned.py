"""What the first sitting found out about a server, and which of its tools may be called.

A tool that says of itself that it destroys is not called, nor one that writes where only reading is
allowed; unless whoever examines gave arguments for it.

Does not handle: asking (`sittings`), making up arguments (`samples`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcp_bare import revision
from mcp_bare.exam import samples

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_bare.exam.record import Exchange
    from mcp_bare.revision import JsonObject

MAX_CALLS = 16


@dataclass
class Learned:
    """What the first sitting found out, and the later ones build on."""

    overrides: Mapping[str, JsonObject] = field(default_factory=dict)
    read_only: bool = False
    discovered: JsonObject = field(default_factory=dict)
    other_revision: bool = False  # it speaks others only, and says so
    pages: dict[str, list[JsonObject]] = field(default_factory=dict)
    asking: list[Exchange] = field(default_factory=list)  # calls that were answered by a question
    not_called: list[str] = field(default_factory=list)
    poked: list[bytes] = field(default_factory=list)  # bad lines that were sent, in any process

    def listed(self, method: str) -> list[JsonObject]:
        """Everything on the pages of a list."""
        return [item for page in self.pages.get(method, []) for item in items(method, page)]

    def spare_request(self) -> tuple[str, JsonObject]:
        """A request that this server has answered well."""
        known = [method for method in self.pages if self.pages[method]]
        return (known[0] if known and not self.discovered else revision.DISCOVER, {})

    def calls(self, known: Mapping[str, Any]) -> list[JsonObject]:
        """The tools that may be called, each with arguments."""
        found: list[JsonObject] = []
        for tool in self.listed("tools/list"):
            name, notes = tool.get("name"), tool.get("annotations")
            notes = notes if isinstance(notes, dict) else {}
            if not isinstance(name, str):
                continue
            if name in self.overrides:
                found.insert(0, {"name": name, "arguments": self.overrides[name]})
            elif notes.get("readOnlyHint") is True or not (
                self.read_only or notes.get("destructiveHint") is True
            ):
                sample = samples.arguments(tool.get("inputSchema"), known)
                found.append({"name": name, "arguments": sample})
            elif name not in self.not_called:
                self.not_called.append(name)
        return found[:MAX_CALLS]


def items(method: str, page: JsonObject) -> list[JsonObject]:
    """The objects on one page."""
    found = page.get(revision.LISTS[method])
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
