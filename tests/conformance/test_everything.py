"""`everything` by itself: over stdio as over HTTP, and in one process as in two."""

import queue

import pytest

from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse
from mcp_bare.streamable_http import HttpTransport
from tests.conformance import client as driver
from workbench import servers

SHARED = {"EVERYTHING_STATE_KEY": "a key that both processes know"}
TWO_ROUNDS = "test_input_required_result_multi_round"


@pytest.fixture(params=["stdio", "http"])
def client(request, address):
    if request.param == "http":
        opened = Client(HttpTransport(address), handlers=driver.HANDLERS)
    else:
        opened = servers.open_toy("everything", handlers=driver.HANDLERS)
    with opened:
        yield opened


def test_each_tool_does_what_it_says(client):
    failed = set()
    for tool in client.list_tools():
        arguments = driver.least(tool["inputSchema"])
        if tool["name"] == "json_schema_2020_12_tool":
            arguments = {"phone": "112", "contactMethod": "phone"}
        result = client.call_tool(tool["name"], arguments)
        assert result["content"] and result["resultType"] == "complete"
        if result.get("isError"):
            failed.add(tool["name"])
    assert failed == {"test_error_handling"}


def test_each_prompt_and_resource_can_be_had(client):
    for resource in client.list_resources():
        assert client.read_resource(resource["uri"])["contents"]
    assert "42" in client.read_resource("test://template/42/data")["contents"][0]["text"]
    for prompt in client.list_prompts():
        given = {argument["name"]: "x" for argument in prompt.get("arguments", ())}
        assert client.get_prompt(prompt["name"], given)["messages"]


def test_who_listens_hears_of_each_change(client):
    heard = queue.Queue()
    wanted = {
        "toolsListChanged": True,
        "promptsListChanged": True,
        "resourceSubscriptions": ["test://watched-resource"],
    }
    with client.listen(wanted, lambda note: heard.put(note["method"])):
        for tool in ("tool_change", "prompt_change"):
            client.call_tool(f"test_trigger_{tool}")
        client.call_tool("test_touch_watched_resource")
        methods = [heard.get(timeout=10) for _ in range(3)]
    assert methods == [
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/updated",
    ]


@pytest.mark.off_the_record("what a careless or hostile client would answer")
@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (
            {"action": "accept", "content": {"name": "Ana"}},
            'You said: {"user_name":{"name":"Ana"}}',
        ),
        ({"action": "decline"}, 'You said: {"user_name":"decline"}'),
        ({"action": "accept", "content": {"name": 7}}, None),
        ({"action": "perhaps"}, ErrorResponse),
        (7, ErrorResponse),
    ],
)
def test_an_answer_is_looked_at(client, answer, says):
    """None: the server asks again."""
    params = {"name": "test_input_required_result_elicitation", "arguments": {}}
    asked = client.request("tools/call", params)
    if says is ErrorResponse:
        with pytest.raises(ErrorResponse):
            client.retry("tools/call", params, asked, {"user_name": answer})
        return
    result = client.retry("tools/call", params, asked, {"user_name": answer})
    assert says == (result["content"][0]["text"] if "content" in result else None)


@pytest.mark.off_the_record("what a careless or hostile client would answer")
@pytest.mark.parametrize(
    ("tool", "answers"),
    [
        ("test_input_required_result_sampling", {"capital_question": {"role": "assistant"}}),
        ("test_input_required_result_sampling", {"capital_question": "Paris"}),
        ("test_input_required_result_list_roots", {"client_roots": []}),
    ],
)
def test_what_is_no_answer_of_a_model_or_of_roots_is_refused(client, tool, answers):
    params = {"name": tool, "arguments": {}}
    asked = client.request("tools/call", params)
    with pytest.raises(ErrorResponse, match="is due"):
        client.retry("tools/call", params, asked, answers)


@pytest.mark.parametrize("env", [SHARED, {}])
def test_a_call_begun_in_one_process_ends_in_another_that_knows_the_key(env):
    params = {"name": TWO_ROUNDS, "arguments": {}}
    accept = {"action": "accept"}
    with servers.open_toy("everything", env=env, handlers=driver.HANDLERS) as first:
        asked = first.request("tools/call", params)
        name = {"step1": {**accept, "content": {"name": "Ana"}}}
        again = first.retry("tools/call", params, asked, name)
    colour = {"step2": {**accept, "content": {"color": "red"}}}
    with servers.open_toy("everything", env=env, handlers=driver.HANDLERS) as second:
        if not env:
            with pytest.raises(ErrorResponse, match="requestState"):
                second.retry("tools/call", params, again, colour)
            return
        done = second.retry("tools/call", params, again, colour)
    assert done["content"][0]["text"] == 'Known: {"name":{"name":"Ana"},"color":{"color":"red"}}'


def test_only_what_can_be_answered_is_asked(address):
    with Client(HttpTransport(address), capabilities={"roots": {}}) as narrow:
        params = {"name": "test_input_required_result_capabilities", "arguments": {}}
        assert set(narrow.request("tools/call", params)["inputRequests"]) == {"client_roots"}
        with pytest.raises(ErrorResponse) as refusal:
            narrow.call_tool("test_missing_capability")
    assert refusal.value.data == {"requiredCapabilities": {"sampling": {}}}
