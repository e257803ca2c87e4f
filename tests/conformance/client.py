"""The client under test: a driver that decides what is called, and leaves all else to `mcp_bare`.

    MCP_CONFORMANCE_SCENARIO=tools_call python tests/conformance/client.py http://localhost:1234/mcp

It does what a curious client does: discover, list, then call, read and get everything that was
listed, with the least that is asked for. Era, headers, retries, forms and authorization are the
toolkit's, where a learner can read them. The suite tells it which calls to make instead in
MCP_CONFORMANCE_CONTEXT ("toolCalls"), and who it is ("client_id") where it was registered by hand.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, from anywhere

from mcp_bare import elicitation, era
from mcp_bare.auth import discovery
from mcp_bare.auth.authorizer import Authorizer
from mcp_bare.auth.fetch import fetch
from mcp_bare.auth.registration import ClientMetadata, Registration
from mcp_bare.auth.user_agent import follow
from mcp_bare.errors import ErrorResponse, McpError
from mcp_bare.streamable_http import HttpTransport

REDIRECT = "http://localhost:3000/callback"
DOCUMENT = "https://conformance-test.local/client-metadata.json"  # what the suite knows us by
PATIENCE_S = 50.0  # the suite starts all its clients at once, and each should outlast the crowd
LEAST = {"string": "a", "number": 1.5, "integer": 1, "boolean": True, "array": [], "object": {}}


def main(url, scenario, context):
    """Connect, then call what this scenario is about: everything, but for one."""
    authorizer = Authorizer(url, follow, introduce(url, context))
    client, _ = era.connect(
        lambda: HttpTransport(url, authorizer=authorizer),
        handlers=HANDLERS,
        timeout=PATIENCE_S,
    )
    with client:
        tools = client.list_tools()
        for name, arguments in CALLS.get(scenario, every_call)(tools, context):
            tolerate(client.call_tool, name, arguments)
        offered = client.discover()["capabilities"]
        for resource in client.list_resources() if "resources" in offered else ():
            tolerate(client.read_resource, resource["uri"])
        for prompt in client.list_prompts() if "prompts" in offered else ():
            tolerate(client.get_prompt, prompt["name"])


def introduce(url, context):
    """Who we are: by a document; where somebody registered us by hand, by that."""
    registered = ()
    if "client_id" in context:
        [issuer, *_] = discovery.find_resource(url, None, fetch)["authorization_servers"]
        known = Registration(issuer, context["client_id"], context.get("client_secret"))
        registered = (known,)
    return ClientMetadata(REDIRECT, document_url=DOCUMENT, registered=registered)


def every_call(tools, context):
    """The calls that the suite asks for; else one of each tool."""
    if "toolCalls" in context:
        return [(call["name"], call["arguments"]) for call in context["toolCalls"]]
    return [(tool["name"], least(tool["inputSchema"])) for tool in tools]


def send_a_schema_back(tools, context):
    """The first tool's schema, as an argument of the second: did anything get lost on the way?"""
    first, second = tools
    return [(second["name"], {"schema": first["inputSchema"]})]


CALLS = {"json-schema-2020-12-preservation": send_a_schema_back}
"""The scenarios whose calls are not those of `every_call`."""


def least(schema):
    """The required arguments and no other: {"a": 1.5}."""
    properties = schema.get("properties", {})
    return {
        name: LEAST.get(properties.get(name, {}).get("type"), "a")
        for name in schema.get("required", ())
    }


def tolerate(ask, *what):
    """Go on to the next call where a server refuses one."""
    try:
        ask(*what)
    except ErrorResponse as refusal:
        print(f"{what}: {refusal}", file=sys.stderr)


def fill_in(params):
    """Answer a form with its defaults, and the least where there is none."""
    schema = params["requestedSchema"]
    return elicitation.accept({**least(schema), **elicitation.defaults(schema)})


def say_something(params):
    """Answer for a model."""
    content = {"type": "text", "text": "Paris."}
    return {"role": "assistant", "content": content, "model": "none", "stopReason": "endTurn"}


HANDLERS = {
    "elicitation/create": fill_in,
    "sampling/createMessage": say_something,
    "roots/list": lambda params: {"roots": [{"uri": "file:///nowhere", "name": "nowhere"}]},
}


def run(url):
    """Do what the suite's environment says; 1, and the reason, where it cannot be done.

    Some scenarios want just that: a server that no careful client goes on with.
    """
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    try:
        main(url, scenario, context)
    except McpError as trouble:
        print(f"{type(trouble).__name__}: {trouble}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[-1]))
