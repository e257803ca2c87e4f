"""Claims 26-24 to 26-28: one client for each server, and one calendar exposed three times."""

from __future__ import annotations

from mcp_bare import trust
from mcp_bare.client import Client
from mcp_bare.host import Host
from mcp_bare.revision import CONTROL
from mcp_bare.stdio import StdioTransport
from mcp_bare.tape import fold
from workbench import servers
from workbench.ledger import oracle
from workbench.ledger.bench import Bench
from workbench.ledger.claim import Facts, claim

HOST = "ch26/07_host_client_server"
DECIDES = "ch26/04_who_decides"
DENTIST = {"title": "Dentist", "startsAt": "2026-09-10T08:30:00Z"}
TYPES = "the official wire types"
PRINTED = {"the result": "as printed", TYPES: "valid"}
WEEK = (
    '[{"id":"e1","title":"Standup","startsAt":"2026-09-07T09:00:00Z"},'
    '{"id":"e2","title":"Design review","startsAt":"2026-09-09T15:00:00Z"}]'
)


@claim(
    "26-24",
    "A host has one client for each server, and a server sees nothing of the others or of the "
    "conversation.",
    notebook=HOST,
    says={
        "clients for 2 servers": 2,
        "strings of the calendar that the weather server saw": "none",
    },
)
def isolation(bench: Bench) -> Facts:
    with Host(ask=lambda proposal: True) as host:
        for name, command in (
            ("calendar", servers.command("calendar_by_hand")),
            ("weather", servers.command("hostile", "honest")),
        ):
            host.connect(name, StdioTransport(command))
            host.approve(name)
        told = host.call("calendar.create_event", DENTIST)
        host.call("weather.forecast", {"city": "Cluj", "day": "2026-09-10"})
        seen = b"\n".join(host.saw("weather")).decode()
        secrets = [text for text in trust.strings(told["content"]) if len(text) > 8]
        return {
            "clients for 2 servers": len({id(client.exchange) for client in host.clients.values()}),
            "strings of the calendar that the weather server saw": (
                [text for text in secrets if text in seen] or "none"
            ),
            "requests that the weather server saw": len(host.saw("weather")),
        }


@claim(
    "26-25",
    "A person decides on a prompt, the application on a resource, the model on a tool.",
    notebook=DECIDES,
    says={"prompts": "user", "resources": "application", "tools": "model"},
)
def who_decides(bench: Bench) -> Facts:
    offered = set(bench.calendar.discover()["capabilities"]) & set(CONTROL)
    return {kind: CONTROL[kind] if kind in offered else "not offered" for kind in CONTROL}


@claim(
    "26-26",
    "The calendar's `resources/read` answers as printed: two events, fresh for a minute, private.",
    notebook=DECIDES,
    says=PRINTED,
)
def read_trace(bench: Bench) -> Facts:
    content = {"uri": "calendar://week", "mimeType": "application/json", "text": WEEK}
    printed = {"contents": [content], "ttlMs": 60000, "cacheScope": "private"}
    return _compare(bench.calendar, "resources/read", {"uri": "calendar://week"}, printed)


@claim(
    "26-27",
    "Its `prompts/get` answers as printed: a message in the person's name, with their focus in it.",
    notebook=DECIDES,
    says=PRINTED,
)
def prompt_trace(bench: Bench) -> Facts:
    text = "Read calendar://week and draft a plan. Focus: deep work."
    message = {"role": "user", "content": {"type": "text", "text": text}}
    printed = {"description": "Read the week and draft a plan.", "messages": [message]}
    params = {"name": "prepare_week", "arguments": {"focus": "deep work"}}
    return _compare(bench.calendar, "prompts/get", params, printed)


@claim(
    "26-28",
    "Its `tools/call` with a date answers as printed: event e3, as text and as structured content.",
    notebook=DECIDES,
    says=PRINTED,
)
def call_trace(bench: Bench) -> Facts:
    text = "Created e3: Dentist at 2026-09-10T08:30:00Z"
    printed = {
        "content": [{"type": "text", "text": text}],
        "structuredContent": {"id": "e3", **DENTIST},
        "isError": False,
    }
    params = {"name": "create_event", "arguments": DENTIST}
    with bench.toy("calendar_by_hand") as fresh:
        return _compare(fresh, "tools/call", params, printed)


def _compare(client: Client, method: str, params: dict, printed: dict) -> Facts:
    """Is the result what the chapter printed (it leaves `_meta` out), and is it a valid one?"""
    result = client.request(method, params)
    same = fold(result) == {"resultType": "complete", **printed}
    return {
        "the result": "as printed" if same else fold(result),
        TYPES: oracle.result(method, result),
    }
