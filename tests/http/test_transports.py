"""One server object, three transports, one story: what a client sees is the same."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_bare import elicitation
from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse, InputNeeded, McpError, ProtocolViolation
from mcp_bare.http_client import HttpTransport
from mcp_bare.http_server import HttpServer
from mcp_bare.memory import MemoryTransport
from mcp_bare.stdio import StdioTransport
from mcp_bare.tape import CAME
from tests.http import lab

ROOT = Path(__file__).resolve().parents[2]
SERVE = "from tests.http.lab import build; from mcp_bare.stdio import serve; serve(build())"
AT = {"at": "2030-01-31T09:00:00Z"}


@contextlib.contextmanager
def over_memory() -> Iterator[Any]:
    yield MemoryTransport(lab.build())


@contextlib.contextmanager
def over_stdio() -> Iterator[Any]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    yield StdioTransport([sys.executable, "-c", SERVE], env=environment)


@contextlib.contextmanager
def over_http() -> Iterator[Any]:
    with HttpServer(lab.build()) as http:
        yield HttpTransport(http.url)


TRANSPORTS = {"memory": over_memory, "stdio": over_stdio, "http": over_http}


@pytest.fixture(params=TRANSPORTS)
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    """A client whose person accepts every form."""
    handlers = {"elicitation/create": lambda asked: elicitation.accept(AT)}
    capabilities = {"elicitation": {"form": {}, "url": {}}}
    with TRANSPORTS[request.param]() as transport:
        how = {"handlers": handlers, "capabilities": capabilities, "timeout": lab.PATIENCE}
        with Client(transport, **how) as opened:
            yield opened


def outcome(use: Any) -> Any:
    """A result, or the error in its place, as something that can be compared."""
    try:
        return use()
    except ErrorResponse as error:
        return error.code, error.message, error.data
    except (InputNeeded, ProtocolViolation) as error:
        return type(error).__name__, str(error)


def story(client: Client) -> Iterator[Any]:
    """Everything that one client does here, and what comes of it."""
    heard: list[Any] = []
    yield client.discover()
    yield client.list_tools()
    yield client.list_resources()
    yield client.list_resource_templates()
    yield client.list_prompts()
    yield client.call_tool("echo", {"text": "✓ 日本 \u2028"})
    yield client.call_tool("add", {"a": 2, "b": 3})
    yield client.call_tool("add", {"a": "x"})
    yield client.call_tool("count", {"to": 3}, on_progress=heard.append)
    yield heard
    yield client.call_tool("route", {"region": "Iași", "priority": 42, "where": {"city": " x "}})
    yield client.call_tool("who")
    for how in ("exception", "words", "protocol", "exit", "upstream"):
        yield outcome(lambda how=how: client.call_tool("fail", {"how": how}))
        yield outcome(lambda how=how: client.call_tool("fail_midway", {"how": how}))
    yield client.call_tool("book", {"title": "Dentist"})
    yield client.call_tool("ask", {"what": "url"})
    yield outcome(lambda: client.call_tool("ask", {"what": "sampling"}))
    yield outcome(lambda: client.call_tool("ask_forever"))
    for uri in ("memo://one", "memo://bytes", "memo://guarded", "memo://caf%C3%A9/tea"):
        yield client.read_resource(uri)
    yield outcome(lambda: client.read_resource("memo://nobody"))
    yield client.get_prompt("greet", {"who": "Ada"})
    yield outcome(lambda: client.get_prompt("greet"))
    yield client.complete({"type": "ref/prompt", "name": "greet"}, "who", "Al")
    yield outcome(lambda: client.request("no/such/method"))
    yield outcome(lambda: client.request("tools/list", {"cursor": "x"}))
    yield outcome(lambda: client.call_tool("nobody"))
    events: list[Any] = []
    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["memo://one"]}
    with client.listen(wanted, events.append) as subscription:
        yield subscription.agreed
        client.call_tool("change")
        assert lab.eventually(lambda: len(events) == 2)
        yield sorted(event["method"] for event in events)
    yield len(client.list_tools(refresh=True))


@pytest.fixture(scope="module")
def expected() -> list[Any]:
    """The story as it goes in memory."""
    handlers = {"elicitation/create": lambda asked: elicitation.accept(AT)}
    capabilities = {"elicitation": {"form": {}, "url": {}}}
    with Client(MemoryTransport(lab.build()), handlers=handlers, capabilities=capabilities) as one:
        return list(story(one))


def test_the_same_story_everywhere(client, expected):
    for number, (found, due) in enumerate(zip(story(client), expected, strict=True)):
        assert found == due, f"step {number}"


# In memory a request is answered before there is anything to cancel.
@pytest.mark.parametrize("client", ["stdio", "http"], indirect=True)
def test_a_request_that_is_cancelled_stays_so(client):
    heard: list[Any] = []
    pending = client.start("tools/call", {"name": "wait"}, on_progress=heard.append)
    assert lab.eventually(lambda: heard)
    assert pending.cancel("enough")
    with pytest.raises(McpError, match="enough"):
        pending.result()
    assert lab.eventually(lambda: lab.said(client.call_tool("waiting")) == "0")
    mark = len(client.tape)
    client.call_tool("echo", {"text": "x"})
    came = [e.message for e in client.tape.since(mark) if e.direction == CAME]
    assert [message.get("id") for message in came] == [came[-1]["id"]], "nothing came for it"
