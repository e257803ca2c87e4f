"""The official Python SDK's client and servers of ours: it validates whatever they send."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import MCPError
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import jsonrpc as official
from pydantic import ValidationError

from mcp_bare import jsonrpc, revision
from mcp_bare.errors import ParseError
from tests.oracle import plugin

ROOT = Path(__file__).resolve().parents[2]
OURS = ROOT / "tests" / "oracle" / "servers" / "toolkit_server.py"
BY_HAND = ROOT / "toy_servers" / "calendar_by_hand.py"
AT = {"at": "2030-01-31T09:00:00Z"}


def with_client(path: Path, use: Callable[[Client], Awaitable[Any]], **options: Any) -> Any:
    """Run `use` with a connected SDK client; the server is a child of this process."""

    async def main() -> Any:
        environment = {"PYTHONPATH": str(ROOT)}
        server = StdioServerParameters(command=sys.executable, args=[str(path)], env=environment)
        with anyio.fail_after(30):
            async with Client(server, **options) as client:
                assert client.protocol_version == "2026-07-28"
                return await use(client)

    return anyio.run(main)


def answering(action: str, content: dict | None = None, heard: list | None = None):
    async def person(context: Any, params: Any) -> types.ElicitResult:
        if heard is not None:
            heard.append(params)
        return types.ElicitResult(action=action, content=content)

    return person


def said(result: types.CallToolResult) -> str:
    return result.content[0].text


# --- the toolkit's server ---


def test_discovery_and_lists():
    async def use(client: Client) -> None:
        assert client.server_info.name == "everything of ours"
        assert client.instructions == "Ask away."
        capabilities = client.server_capabilities
        assert capabilities.tools.list_changed
        assert capabilities.resources.subscribe
        assert capabilities.completions is not None
        tools = await client.list_tools()
        assert (tools.tools[0].name, tools.ttl_ms, tools.cache_scope) == ("echo", 300_000, "public")
        assert (await client.list_resources()).resources[0].uri == "memo://one"
        templates = (await client.list_resource_templates()).resource_templates
        assert [t.uri_template for t in templates] == ["memo://{day}/{title}"]
        prompts = (await client.list_prompts()).prompts
        assert [(p.name, len(p.arguments or [])) for p in prompts] == [("greet", 2), ("careful", 0)]

    with_client(OURS, use)


def test_calls_reads_prompts_and_completion():
    async def use(client: Client) -> None:
        assert said(await client.call_tool("echo", {"text": "✓ 日本"})) == "✓ 日本"
        added = await client.call_tool("add", {"a": 2, "b": 3})
        assert (added.structured_content, added.is_error) == ({"sum": 5}, False)
        wrong = await client.call_tool("add", {"a": "x"})
        assert wrong.is_error
        failed = await client.call_tool("fail", {"how": "exception"})
        assert (said(failed), failed.is_error) == ("The tool fail failed.", True)
        text = await client.read_resource("memo://one")
        assert (text.contents[0].text, text.ttl_ms, text.cache_scope) == (
            "the first memo",
            60_000,
            "private",
        )
        blob = await client.read_resource("memo://bytes")
        assert blob.contents[0].blob == "iVBOR/8A"
        day = await client.read_resource("memo://caf%C3%A9/tea")
        assert day.contents[0].text == "tea on café"
        hello = await client.get_prompt("greet", {"who": "Ada"})
        assert hello.messages[0].content.text == "Say hello to Ada."
        ref = types.PromptReference(name="greet")
        values = (await client.complete(ref, {"name": "who", "value": "Al"})).completion.values
        assert values == ["Alan"]

    with_client(OURS, use)


@pytest.mark.parametrize(
    ("action", "content", "answer"),
    [
        ("accept", AT, "booked Dentist at 2030-01-31T09:00:00Z"),
        ("decline", None, "not booked: decline"),
        ("cancel", None, "not booked: cancel"),
    ],
)
def test_the_sdk_answers_what_we_ask(action, content, answer):
    heard: list[Any] = []

    async def use(client: Client) -> None:
        assert said(await client.call_tool("book", {"title": "Dentist"})) == answer

    with_client(OURS, use, elicitation_callback=answering(action, content, heard))
    (params,) = heard
    assert (params.mode, params.message) == ("form", "When?")
    assert params.requested_schema["required"] == ["at"]


def test_every_kind_of_question_and_every_method_that_may_ask():
    async def sample(context: Any, params: Any) -> types.CreateMessageResult:
        content = types.TextContent(type="text", text="Paris")
        return types.CreateMessageResult(role="assistant", content=content, model="m")

    async def roots(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri="file:///work")])

    async def use(client: Client) -> None:
        for what in ("form", "url", "sampling", "roots"):
            assert said(await client.call_tool("ask", {"what": what})) == "answered ['q']"
        assert (await client.read_resource("memo://guarded")).contents[0].text == "guarded"
        assert (await client.get_prompt("careful")).messages[0].content.text == "Be careful."
        with pytest.raises(Exception, match=r"(?i)round"):
            await client.call_tool("ask_forever")

    with_client(
        OURS,
        use,
        elicitation_callback=answering("accept", {"sure": True}),
        sampling_callback=sample,
        list_roots_callback=roots,
    )


def test_what_the_sdk_did_not_declare_is_refused():
    async def use(client: Client) -> None:
        for what, needed in (
            ("form", {"elicitation": {"form": {}}}),
            ("sampling", {"sampling": {}}),
            ("roots", {"roots": {}}),
        ):
            with pytest.raises(MCPError) as caught:
                await client.call_tool("ask", {"what": what})
            assert caught.value.error.code == revision.MISSING_REQUIRED_CLIENT_CAPABILITY
            assert caught.value.error.data == {"requiredCapabilities": needed}

    with_client(OURS, use)


REFUSED: list[tuple[int, Callable[[Client], Awaitable[Any]]]] = [
    (-32602, lambda c: c.call_tool("nobody")),
    (-32602, lambda c: c.call_tool("fail", {"how": "protocol"})),
    (-32602, lambda c: c.read_resource("memo://nobody")),
    (-32602, lambda c: c.get_prompt("nobody")),
    (-32602, lambda c: c.get_prompt("greet")),
    (-32602, lambda c: c.list_tools(cursor="x")),
    (-32602, lambda c: c.call_tool("book", {"title": "x"}, request_state="x", input_responses={
        "when": types.ElicitResult(action="accept", content=AT)})),
]  # fmt: skip


def test_our_refusals_arrive_with_their_codes():
    async def use(client: Client) -> None:
        for code, ask in REFUSED:
            with pytest.raises(MCPError) as caught:
                await ask(client)
            assert caught.value.error.code == code

    with_client(OURS, use, elicitation_callback=answering("cancel"))


def test_progress_and_logs():
    progress, logs = [], []

    async def hear(value: float, total: float | None, message: str | None) -> None:
        progress.append((value, total, message))

    async def log(params: Any) -> None:
        logs.append((params.level, params.logger, params.data))

    async def use(client: Client) -> None:
        await client.call_tool("count", {"to": 3}, progress_callback=hear)

    with_client(OURS, use, logging_callback=log, log_level="info")
    assert progress == [(n, 3, f"step {n}") for n in (1, 2, 3)]
    assert logs == [("info", "counter", {"step": n}) for n in (1, 2, 3)]


def test_a_cancelled_call_stops_and_the_pipe_goes_on():
    async def use(client: Client) -> None:
        async def forever() -> None:
            await client.call_tool("wait")

        async with anyio.create_task_group() as group:
            group.start_soon(forever)
            while said(await client.call_tool("waiting")) == "0":
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        await until_nothing_waits(client)
        with pytest.raises(MCPError):
            await client.call_tool("wait", read_timeout_seconds=0.2)
        await until_nothing_waits(client)

    with_client(OURS, use)


async def until_nothing_waits(client: Client) -> None:
    with anyio.fail_after(10):
        while said(await client.call_tool("waiting")) != "0":
            await anyio.sleep(0.01)


def test_several_calls_in_flight():
    async def use(client: Client) -> None:
        found: dict[int, str] = {}

        async def echo(number: int) -> None:
            found[number] = said(await client.call_tool("echo", {"text": str(number)}))

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(echo, number)
        assert found == {number: str(number) for number in range(20)}

    with_client(OURS, use)


def test_subscriptions():
    async def use(client: Client) -> list[str]:
        heard = []
        async with client.listen(
            tools_list_changed=True, resource_subscriptions=["memo://one"]
        ) as subscription:
            assert subscription.honored.tools_list_changed
            assert subscription.honored.resource_subscriptions == ["memo://one"]
            before = len((await client.list_tools()).tools)
            await client.call_tool("change")
            async for event in subscription:
                heard.append(type(event).__name__)
                if len(heard) == 2:
                    break
            assert len((await client.list_tools()).tools) == before + 1
        assert said(await client.call_tool("echo", {"text": "after"})) == "after"
        return heard

    assert sorted(with_client(OURS, use)) == ["ResourceUpdated", "ToolsListChanged"]


def test_a_subscription_that_we_end_ends_well():
    """The cancellation first, then the response: the SDK takes it for a graceful end."""

    async def use(client: Client) -> str:
        async with client.listen(tools_list_changed=True) as subscription:
            await client.call_tool("end_subscriptions")
            async for _ in subscription:
                raise AssertionError("no event was due")
        return said(await client.call_tool("echo", {"text": "after"}))

    assert with_client(OURS, use) == "after"


# --- the calendar by hand ---


def test_the_calendar_by_hand_is_a_server_to_the_sdk():
    async def use(client: Client) -> None:
        assert client.server_info.name == "calendar"
        assert [t.name for t in (await client.list_tools()).tools] == ["create_event"]
        assert [r.uri for r in (await client.list_resources()).resources] == ["calendar://week"]
        assert [p.name for p in (await client.list_prompts()).prompts] == ["prepare_week"]
        week = await client.read_resource("calendar://week")
        assert (week.ttl_ms, week.cache_scope) == (60_000, "private")
        assert "Standup" in week.contents[0].text
        plan = await client.get_prompt("prepare_week", {"focus": "rest"})
        assert "rest" in plan.messages[0].content.text
        whole = {"title": "Tea", "startsAt": "2026-09-10T15:00:00Z"}
        made = await client.call_tool("create_event", whole)
        assert made.structured_content == {"id": "e3", **whole}
        asked = await client.call_tool("create_event", {"title": "Dentist"})
        assert said(asked) == "Created e4: Dentist at 2026-09-10T08:30:00Z"
        for code, ask in (
            (-32602, client.call_tool("nobody")),
            (-32602, client.read_resource("calendar://nobody")),
            (-32602, client.get_prompt("nobody")),
            (-32601, client.list_resource_templates()),
        ):
            with pytest.raises(MCPError) as caught:
                await ask
            assert caught.value.error.code == code

    content = {"startsAt": "2026-09-10T08:30:00Z"}
    with_client(BY_HAND, use, elicitation_callback=answering("accept", content))


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_the_calendar_by_hand_takes_no_for_an_answer(action):
    async def use(client: Client) -> None:
        found = await client.call_tool("create_event", {"title": "Dentist"})
        assert said(found) == f"Nothing was created: the person chose to {action}."
        assert "Dentist" not in (await client.read_resource("calendar://week")).contents[0].text

    with_client(BY_HAND, use, elicitation_callback=answering(action))


def test_the_calendar_by_hand_asks_nothing_of_a_client_that_declared_nothing():
    async def use(client: Client) -> None:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("create_event", {"title": "Dentist"})
        assert caught.value.error.code == -32021
        assert caught.value.error.data == {"requiredCapabilities": {"elicitation": {"form": {}}}}

    with_client(BY_HAND, use)


def test_where_the_sdk_is_stricter_than_the_specification():
    """An error whose id could not be read has no id (basic/index); the SDK wants `null` there."""
    ours = jsonrpc.dumps(jsonrpc.error(ParseError("not JSON")))
    assert ours == b'{"jsonrpc":"2.0","error":{"code":-32700,"message":"not JSON"}}'
    plugin.error(jsonrpc.parse(ours))
    with pytest.raises(ValidationError):
        official.jsonrpc_message_adapter.validate_json(ours)
