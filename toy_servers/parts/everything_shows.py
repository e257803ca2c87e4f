"""What `everything` has to show: content of every kind, resources, a template, prompts.

Spec: server/tools ("Tool Result"), server/resources, server/prompts, server/utilities/completion.
"""

import binascii
import json

from mcp_bare.errors import ToolError

PNG = (  # one red pixel
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"
)
WAV = (  # a thousandth of a second of silence
    "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA=="
)
IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": WAV, "mimeType": "audio/wav"}

NOTHING = {"type": "object", "additionalProperties": False}
WORDS = ("paris", "park", "party", "test", "tester")

ADDRESS = {
    "$anchor": "addressDef",
    "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
}
CONTACT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": ADDRESS},
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
"""A schema with the vocabulary that careless code drops on the way: listed as it stands."""
ROUTED = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "priority": {"type": "integer", "x-mcp-header": "Priority"},
    },
    "required": ["region"],
}


def register(server):
    """Put all of it on a server."""
    _tools(server)
    _schemas(server)
    _resources(server)
    _prompts(server)


def text(words):
    return {"type": "text", "text": words}


def embedded(uri, mime, words):
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": words}}


def _tools(server):
    data = embedded("test://mixed-content-resource", "application/json", '{"test":"data"}')
    shown = {
        "test_simple_text": [text("This is a simple text response for testing.")],
        "test_image_content": [IMAGE],
        "test_audio_content": [AUDIO],
        "test_embedded_resource": [
            embedded("test://embedded-resource", "text/plain", "This is an embedded resource.")
        ],
        "test_multiple_content_types": [text("Several kinds at once:"), IMAGE, data],
    }
    for name, content in shown.items():
        kinds = ", ".join(part["type"] for part in content)
        about = {"name": name, "description": f"Return {kinds}.", "inputSchema": NOTHING}
        server.tool(about)(lambda call, content=content: {"content": content})

    @server.tool(
        {"name": "test_error_handling", "description": "Fail, always.", "inputSchema": NOTHING}
    )
    def fail(call):
        raise ToolError("This tool intentionally returns an error for testing")


def _schemas(server):
    @server.tool(
        {
            "name": "json_schema_2020_12_tool",
            "description": "Take somebody's address. Its schema uses what few schemas use.",
            "inputSchema": CONTACT,
        }
    )
    def contact(call):
        return json.dumps(call.arguments, sort_keys=True)

    @server.tool(
        {
            "name": "test_x_mcp_header",
            "description": "Say where a request goes. Its arguments are repeated in headers.",
            "inputSchema": ROUTED,
        }
    )
    def route(call):
        return f"To {call.arguments['region']}, priority {call.arguments.get('priority', 0)}."


def _resources(server):
    @server.resource({"uri": "test://static-text", "name": "text", "mimeType": "text/plain"})
    def static_text(call):
        return "This is the content of the static text resource."

    @server.resource({"uri": "test://static-binary", "name": "binary", "mimeType": "image/png"})
    def static_binary(call):
        return binascii.a2b_base64(PNG)

    @server.template(
        {
            "uriTemplate": "test://template/{id}/data",
            "name": "data of an id",
            "mimeType": "application/json",
        }
    )
    def data_of(call):
        id = call.variables["id"]
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def _prompts(server):
    def say(name, *arguments):
        listed = [{"name": argument, "required": True} for argument in arguments]
        about = {"name": name, "description": name.replace("_", " "), "arguments": listed}
        return server.prompt(about)

    @say("test_simple_prompt")
    def simple(call):
        return "This is a simple prompt for testing."

    @say("test_prompt_with_arguments", "arg1", "arg2")
    def with_arguments(call):
        return "Prompt with arguments: arg1='{arg1}', arg2='{arg2}'".format(**call.arguments)

    @say("test_prompt_with_embedded_resource", "resourceUri")
    def with_resource(call):
        words = "Embedded resource content for testing."
        return messages(
            embedded(call.arguments["resourceUri"], "text/plain", words),
            text("Please process the embedded resource above."),
        )

    @say("test_prompt_with_image")
    def with_image(call):
        return messages(IMAGE, text("Please analyze the image above."))

    for argument in ("arg1", "arg2"):
        server.completion("test_prompt_with_arguments", argument)(_suggest)


def messages(*contents):
    return [{"role": "user", "content": content} for content in contents]


def _suggest(call):
    return [word for word in WORDS if word.startswith(call.arguments["value"])]
