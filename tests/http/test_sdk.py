"""The official Python SDK 2.3.0 over HTTP: its client and our server, our client and its server."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import MCPError
from mcp.client import Client as SdkClient

from mcp_bare import elicitation, era, revision
from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse, RequestTimeout, TransportClosed
from mcp_bare.http_client import HttpTransport
from mcp_bare.http_server import HttpServer
from mcp_bare.tape import CAME, NOTE, SENT
from tests.http import lab

ROOT = Path(__file__).resolve().parents[2]
AT = "2030-01-31T09:00:00Z"


def test_the_version_that_this_is_about():
    assert version("mcp") == "2.3.0"


# --- its client, our server ---


@pytest.fixture(scope="module")
def ours() -> Iterator[HttpServer]:
    with HttpServer(lab.build()) as http:
        yield http


def with_client(http: HttpServer, use: Callable[[SdkClient], Awaitable[Any]], **how: Any) -> Any:
    """Run `use` with a connected SDK client. It finds out by itself which era we are of."""

    async def main() -> Any:
        with anyio.fail_after(lab.PATIENCE):
            async with SdkClient(http.url, **how) as client:
                assert client.protocol_version == revision.CURRENT
                return await use(client)

    return anyio.run(main)


def text(result: types.CallToolResult) -> str:
    return result.content[0].text


def test_it_discovers_and_lists(ours):
    async def use(client: SdkClient) -> None:
        assert client.server_info.name == "everything of ours"
        assert client.instructions == "Ask away."
        assert client.server_capabilities.resources.subscribe
        tools = await client.list_tools()
        assert {"echo", "route"} <= {tool.name for tool in tools.tools}
        assert (tools.ttl_ms, tools.cache_scope) == (300_000, "public")
        assert (await client.list_resources()).resources[0].uri == "memo://one"
        templates = (await client.list_resource_templates()).resource_templates
        assert [t.uri_template for t in templates] == ["memo://{day}/{title}"]
        assert [p.name for p in (await client.list_prompts()).prompts] == ["greet", "careful"]

    with_client(ours, use)


def test_it_calls_reads_gets_and_completes(ours):
    async def use(client: SdkClient) -> None:
        assert text(await client.call_tool("echo", {"text": "✓ 日本"})) == "✓ 日本"
        assert (await client.call_tool("add", {"a": 2, "b": 3})).structured_content == {"sum": 5}
        assert (await client.call_tool("add", {"a": "x"})).is_error
        assert text(await client.call_tool("who")) == "None"
        read = await client.read_resource("memo://one")
        assert (read.contents[0].text, read.ttl_ms) == ("the first memo", 60_000)
        day = await client.read_resource("memo://café/tea")  # a name that no header can hold
        assert day.contents[0].text == "tea on café"
        hello = await client.get_prompt("greet", {"who": "Ada"})
        assert hello.messages[0].content.text == "Say hello to Ada."
        ref = types.PromptReference(name="greet")
        values = (await client.complete(ref, {"name": "who", "value": "Al"})).completion.values
        assert values == ["Alan"]

    with_client(ours, use)


def test_it_mirrors_arguments_in_headers(ours):
    arguments = {"region": "Iași", "priority": 42, "loud": True, "where": {"city": " Cluj"}}

    async def use(client: SdkClient) -> None:
        assert "Cluj" in text(await client.call_tool("route", arguments))

    with_client(ours, use)


@pytest.mark.parametrize(
    ("action", "answer"),
    [("accept", f"booked Dentist at {AT}"), ("decline", "not booked: decline"),
     ("cancel", "not booked: cancel")],
)  # fmt: skip
def test_it_answers_what_we_ask(ours, action, answer):
    async def person(context: Any, params: Any) -> types.ElicitResult:
        content = {"at": AT} if action == "accept" else None
        return types.ElicitResult(action=action, content=content)

    async def use(client: SdkClient) -> None:
        assert text(await client.call_tool("book", {"title": "Dentist"})) == answer
        if action == "accept":
            assert text(await client.call_tool("ask", {"what": "url"})) == "answered ['q']"

    with_client(ours, use, elicitation_callback=person)


def test_it_hears_progress_and_logs(ours):
    progress, logs = [], []

    async def hear(value: float, total: float | None, message: str | None) -> None:
        progress.append((value, total, message))

    async def log(params: Any) -> None:
        logs.append((params.level, params.data))

    async def use(client: SdkClient) -> None:
        assert text(await client.call_tool("count", {"to": 3}, progress_callback=hear)) == "counted"

    with_client(ours, use, logging_callback=log, log_level="info")
    assert progress == [(n, 3, f"step {n}") for n in (1, 2, 3)]
    assert logs == [("info", {"step": n}) for n in (1, 2, 3)]


def test_it_listens_and_is_told_that_the_end_was_meant(ours):
    async def use(client: SdkClient) -> list[str]:
        heard = []
        wanted = {"tools_list_changed": True, "resource_subscriptions": ["memo://one"]}
        async with client.listen(**wanted) as subscription:
            assert subscription.honored.tools_list_changed
            await client.call_tool("change")
            async for event in subscription:
                heard.append(type(event).__name__)
                if len(heard) == 2:
                    await client.call_tool("end_subscriptions")
        assert text(await client.call_tool("echo", {"text": "after"})) == "after"
        return heard

    assert sorted(with_client(ours, use)) == ["ResourceUpdated", "ToolsListChanged"]


def test_its_cancellation_reaches_us(ours):
    async def nothing_waits(client: SdkClient) -> None:
        with anyio.fail_after(10):
            while text(await client.call_tool("waiting")) != "0":
                await anyio.sleep(0.01)

    async def use(client: SdkClient) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "wait")
            while text(await client.call_tool("waiting")) == "0":
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        await nothing_waits(client)
        with pytest.raises(MCPError):
            await client.call_tool("wait", read_timeout_seconds=0.2)
        await nothing_waits(client)

    with_client(ours, use)


REFUSED: list[tuple[int, Callable[[SdkClient], Awaitable[Any]]]] = [
    (-32602, lambda c: c.call_tool("nobody")),
    (-32602, lambda c: c.call_tool("fail", {"how": "protocol"})),
    (-32602, lambda c: c.read_resource("memo://nobody")),
    (-32602, lambda c: c.get_prompt("greet")),
    (-32602, lambda c: c.list_tools(cursor="x")),
    (-32021, lambda c: c.call_tool("ask", {"what": "form"})),
]


def test_our_refusals_reach_it_with_their_codes(ours):
    async def use(client: SdkClient) -> None:
        for code, ask in REFUSED:
            with pytest.raises(MCPError) as caught:
                await ask(client)
            assert caught.value.error.code == code

    with_client(ours, use)


def test_it_is_told_when_it_insists_on_the_era_before(ours):
    async def main() -> None:
        async with SdkClient(ours.url, mode="legacy"):
            pass

    with pytest.raises(Exception) as caught:
        anyio.run(main)
    found: BaseException = caught.value
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    assert isinstance(found, MCPError)
    assert found.error.code == revision.HEADER_MISMATCH
    assert revision.CURRENT in found.error.message


# --- its server, our client ---


def person(params: dict) -> dict:
    """Fills in every form from its fields and its defaults."""
    if params.get("mode") == "url":
        return elicitation.accept()
    content = elicitation.defaults(params["requestedSchema"])
    typed = {"at": AT, "title": "Tea", "name": "Ada"}
    for field in elicitation.fields(params["requestedSchema"]):
        if field.required:
            content[field.name] = typed.get(field.name) or field.choices[0][0]
    return elicitation.accept(content)


@pytest.fixture(scope="module")
def theirs() -> Iterator[str]:
    """The address of the SDK's server, in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = str(Path(__file__).parent / "sdk_http_server.py")
    process = subprocess.Popen(
        [sys.executable, script, str(port)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert lab.eventually(lambda: process.poll() is not None or listens(port))
        assert process.poll() is None
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait()


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@pytest.fixture
def client(theirs: str) -> Iterator[Client]:
    one, verdict = era.connect(
        lambda: HttpTransport(theirs),
        handlers={"elicitation/create": person},
        capabilities={"elicitation": {"form": {}, "url": {}}},
        timeout=lab.PATIENCE,
        probe_timeout=lab.PATIENCE,
    )
    assert (verdict.era, verdict.version) == ("modern", revision.CURRENT)
    with one:
        yield one
        assert not [entry.show() for entry in one.tape if entry.remark.startswith("not a")]


def names(items: list[dict]) -> list[str]:
    return [item["name"] for item in items]


def test_we_discover_and_list(client):
    found = client.discover()
    assert found["supportedVersions"] == [revision.CURRENT]
    assert found["_meta"][revision.SERVER_INFO] == {"name": "on the SDK", "version": "2.3.0"}
    assert names(client.list_tools())[:4] == ["book", "ask_twice", "add", "fail"]
    assert names(client.list_resources()) == ["one", "some_bytes"]
    assert names(client.list_resource_templates()) == ["of_a_day"]
    assert names(client.list_prompts()) == ["greet"]


def test_we_call_read_get_and_complete(client):
    found = client.call_tool("add", {"a": 2, "b": 3})
    assert (lab.said(found), found["structuredContent"]) == ("5", {"result": 5})
    assert client.call_tool("fail", {"how": "hunter2"})["isError"] is True
    (one,) = client.read_resource("memo://one")["contents"]
    assert one["text"] == "the first memo ✓"
    (day,) = client.read_resource("memo://of/café")["contents"]  # encoded in its header
    assert day["text"] == "memo of café"
    (message,) = client.get_prompt("greet", {"who": "Ada"})["messages"]
    assert message["content"]["text"] == "Say hello to Ada."
    ref = {"type": "ref/prompt", "name": "greet"}
    assert client.complete(ref, "who", "Al")["values"] == ["Alan"]


def test_we_mirror_arguments_in_headers(client):
    """It refuses the call unless every header says what the body says."""
    assert lab.said(client.call_tool("route", {"region": "Iași", "loud": True})) == "Iași 0 True"
    sent = [entry.message["method"] for entry in client.tape if entry.direction == SENT]
    assert sent[-3:] == ["tools/call", "tools/list", "tools/call"], "it had to be looked up"
    for arguments, answer in (
        ({"region": " padded ", "priority": -7}, " padded  -7 False"),
        ({"region": "=?base64?x?=", "priority": 2**53 - 1}, f"=?base64?x?= {2**53 - 1} False"),
        ({"region": "line1\nline2"}, "line1\nline2 0 False"),
        ({"region": ""}, " 0 False"),
    ):
        mark = len(client.tape)
        assert lab.said(client.call_tool("route", arguments)) == answer
        assert len(client.tape) - mark == 2


def test_we_answer_what_it_asks(client):
    assert lab.said(client.call_tool("book", {"title": "x"})) == (
        "booked Tea at 2030-01-31T09:00:00+00:00 in red"
    )
    assert lab.said(client.call_tool("ask_twice")) == "asked page of Ada: accept"


def test_we_hear_progress(client):
    heard = []
    assert lab.said(client.call_tool("count", {"to": 3}, on_progress=heard.append)) == "counted"
    assert [note["message"] for note in heard] == ["step 1", "step 2", "step 3"]


def test_we_listen(client):
    heard = []
    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["memo://one"]}
    with client.listen(wanted, heard.append) as subscription:
        assert subscription.agreed == wanted
        client.call_tool("change")
        assert lab.eventually(lambda: len(heard) == 2)
        assert not subscription.ended
    assert {message["method"] for message in heard} == {
        "notifications/tools/list_changed",
        "notifications/resources/updated",
    }


def test_what_we_cancel_stops_there(client):
    heard = []
    with pytest.raises(RequestTimeout):
        client.call_tool("wait", timeout=0.5, on_progress=heard.append)
    assert heard
    assert lab.said(client.call_tool("add", {"a": 1, "b": 1})) == "2"
    mark = len(client.tape)
    time.sleep(0.2)
    assert [e.show() for e in client.tape.since(mark) if e.direction in (CAME, NOTE)] == []


def test_several_calls_in_flight(client):
    first = client.start("tools/call", {"name": "wait"})
    adds = [{"name": "add", "arguments": {"a": n, "b": n}} for n in range(5)]
    others = [client.start("tools/call", params) for params in adds]
    assert [lab.said(pending.result()) for pending in others] == ["0", "2", "4", "6", "8"]
    assert not first.done()
    first.cancel()


def test_its_refusals(client):
    for method, params, code in (
        ("no/such/method", {}, -32601),
        ("resources/read", {"uri": "memo://nobody"}, -32602),
        ("tools/list", {"_meta": {revision.PROTOCOL_VERSION: "1900-01-01"}}, -32022),
    ):
        with pytest.raises(ErrorResponse) as caught:
            client.request(method, params)
        assert caught.value.code == code


def test_its_end_is_the_end_of_what_waits(theirs):
    """Last in this file: the server goes away in the middle of a call."""
    with Client(HttpTransport(theirs), timeout=lab.PATIENCE) as client:
        pending = client.start("tools/call", {"name": "wait"})
        client.exchange.transport._link.cancel(pending.id)  # as if the network went
        assert lab.eventually(lambda: not client.exchange.transport._link._running)
        pending.cancel()
        with pytest.raises(Exception, match="cancelled"):
            pending.result()
    with pytest.raises(TransportClosed):
        client.discover()
