"""What the server's methods answer: discovery, lists, tools, resources, prompts, completion.

One function for each method, from `(server, call)` to the result object, without what every result
carries (`server` puts that on). A handler's plain string or bytes become a result here.

Does not handle: checking `_meta` (`call`), sending anything.

Spec: server/discover, server/tools, server/resources, server/prompts, server/utilities/completion,
server/utilities/pagination.
"""

from __future__ import annotations

from mcp_bare import revision
from mcp_bare.errors import InvalidParams, MethodNotFound, RpcError, ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

    from mcp_bare.call import Call
    from mcp_bare.revision import JsonObject
    from mcp_bare.server import Handler, Server


def text_result(text: str, structured: Any = None, *, is_error: bool = False) -> JsonObject:
    """A tool's result: text for the model and, where given, the same as structured content.

    text_result("Done") -> {"content": [{"type": "text", "text": "Done"}], "isError": False}
    """
    result: JsonObject = {"content": [{"type": "text", "text": text}]}
    if structured is not None:
        result["structuredContent"] = structured
    return {**result, "isError": is_error}


def _discover(server: Server, call: Call) -> JsonObject:
    found: JsonObject = {
        "supportedVersions": list(revision.MODERN),
        "capabilities": server.capabilities(),
    }
    return {**found, "instructions": server.instructions} if server.instructions else found


def _list(server: Server, call: Call) -> JsonObject:
    kind = revision.LISTS[call.method]
    if not _serves(server, kind):
        raise MethodNotFound(f"this server has no {kind}", {"method": call.method})
    keys, start = list(server.defined[kind]), 0
    cursor = call.params.get("cursor")
    if cursor is not None:
        start = _position(keys, cursor)
    end = len(keys) if server.page_size is None else start + server.page_size
    page: JsonObject = {kind: [server.defined[kind][key] for key in keys[start:end]]}
    return page if end >= len(keys) else {**page, "nextCursor": keys[end - 1].encode().hex()}


def _serves(server: Server, kind: str) -> bool:
    return ("resources" if kind == "resourceTemplates" else kind) in server.capabilities()


def _call_tool(server: Server, call: Call) -> Any:
    name = call.text("name")
    tool = server.defined["tools"].get(name)
    if tool is None:
        raise InvalidParams(f"Unknown tool: {name!r} (server/tools)", {"name": name})
    call.arguments = call.object("arguments")
    wrong = _schema_problems(tool["inputSchema"], call.arguments)
    if wrong:  # an execution error, not a protocol error: the model can mend it
        return text_result(f"Invalid arguments for {name}: {'; '.join(wrong)}.", is_error=True)
    return _run_tool(name, server.handlers["tools", name], call)


def _read(server: Server, call: Call) -> Any:
    uri = call.text("uri")
    kind, key = _locate(server, uri, call)
    hints = server.read_hints[key]
    mime = server.defined[kind][key].get("mimeType")

    def finish(found: Any) -> JsonObject:
        if found is None:
            raise InvalidParams(f"Resource not found: {uri!r}", {"uri": uri})
        if isinstance(found, str | bytes):
            found = {"contents": [_content(uri, mime, found)]}
        return found if "inputRequests" in found or "requestState" in found else {**found, **hints}

    return _then(server.handlers[kind, key](call), finish)


def _locate(server: Server, uri: str, call: Call) -> tuple[str, str]:
    if uri in server.defined["resources"]:
        return "resources", uri
    for key in server.defined["resourceTemplates"]:
        found = _match_template(key, uri)
        if found is not None:
            call.variables = found
            return "resourceTemplates", key
    raise InvalidParams(f"Resource not found: {uri!r} (server/resources)", {"uri": uri})


def _get_prompt(server: Server, call: Call) -> Any:
    name = call.text("name")
    prompt = server.defined["prompts"].get(name)
    if prompt is None:
        raise InvalidParams(f"Unknown prompt: {name!r} (server/prompts)", {"name": name})
    call.arguments = call.object("arguments")
    _check_prompt_arguments(prompt, call.arguments)

    def finish(found: Any) -> JsonObject:
        if isinstance(found, str):
            found = [{"role": "user", "content": {"type": "text", "text": found}}]
        if isinstance(found, list):
            described = {"description": prompt["description"]} if "description" in prompt else {}
            found = {**described, "messages": found}
        return dict(found)

    return _then(server.handlers["prompts", name](call), finish)


def _complete(server: Server, call: Call) -> Any:
    reference, argument = call.object("ref"), call.object("argument")
    key = reference.get("name") if reference.get("type") == "ref/prompt" else reference.get("uri")
    known = server.defined["prompts"].keys() | server.defined["resourceTemplates"].keys()
    if key not in known or not isinstance(argument.get("value"), str):
        raise InvalidParams(f"nothing to complete for {reference!r} (server/utilities/completion)")
    call.arguments = argument
    completer = server.completers.get((str(key), str(argument.get("name"))))
    values = list(completer(call)) if completer else []
    return {
        "completion": {
            "values": values[:100],
            "total": len(values),
            "hasMore": len(values) > 100,
        }
    }


def _run_tool(name: str, handler: Handler, call: Call) -> Any:
    """Run a tool; what it raises becomes a result the model can read, and says no more than due."""

    def finish(found: Any) -> JsonObject:
        return text_result(found) if isinstance(found, str) else dict(found)

    def failed(trouble: Exception) -> JsonObject:
        if isinstance(trouble, RpcError):
            raise trouble
        if isinstance(trouble, ToolError):
            return text_result(str(trouble), is_error=True)
        log_traceback()
        return text_result(f"The tool {name} failed.", is_error=True)

    try:
        found = handler(call)
    except Exception as trouble:
        return failed(trouble)
    return _then(found, finish, failed)


def _then(
    found: Any,
    finish: Callable[[Any], JsonObject],
    failed: Callable[[Exception], JsonObject] | None = None,
) -> Any:
    """Apply `finish` to a handler's return value, also where the handler is a generator."""
    if not hasattr(found, "send"):
        return finish(found)

    def run() -> Generator[JsonObject, None, JsonObject]:
        try:
            value = yield from found
        except Exception as trouble:
            if failed is None:
                raise
            return failed(trouble)
        return finish(value)

    return run()


def _schema_problems(schema: JsonObject, value: Any) -> list[str]:
    from mcp_bare import json_schema  # only a call needs it, not a start

    found: list[str] = json_schema.problems(schema, value)
    return found


def _check_prompt_arguments(prompt: JsonObject, given: JsonObject) -> None:
    for argument in prompt.get("arguments", ()):
        if argument.get("required") and argument["name"] not in given:
            raise InvalidParams(f"prompt argument {argument['name']!r} is missing (server/prompts)")
    for name, value in given.items():
        if not isinstance(value, str):
            raise InvalidParams(f"prompt argument {name!r} is {value!r}; a string is due")


def _content(uri: str, mime: str | None, found: str | bytes) -> JsonObject:
    content: JsonObject = {"uri": uri} if mime is None else {"uri": uri, "mimeType": mime}
    if isinstance(found, str):
        return {**content, "text": found}
    import binascii

    return {**content, "blob": binascii.b2a_base64(found, newline=False).decode()}


def _match_template(template: str, uri: str) -> dict[str, str] | None:
    """Match the simple `{name}` parts of RFC 6570: anything but a slash, percent-decoded."""
    import re
    from urllib.parse import unquote

    pieces = re.split(r"\{([A-Za-z0-9_]+)\}", template)
    pattern = "".join(
        re.escape(p) if i % 2 == 0 else f"(?P<{p}>[^/]+)" for i, p in enumerate(pieces)
    )
    found = re.fullmatch(pattern, uri)
    return None if found is None else {k: unquote(v) for k, v in found.groupdict().items()}


def _position(keys: list[str], cursor: Any) -> int:
    """A cursor is the last key of the page before, in hex: it survives a new process."""
    try:
        return keys.index(bytes.fromhex(cursor).decode()) + 1
    except (TypeError, ValueError):
        raise InvalidParams(
            f"Invalid cursor {cursor!r} (server/utilities/pagination)", {"cursor": cursor}
        ) from None


def log_traceback() -> None:
    import sys
    import traceback

    traceback.print_exc(file=sys.stderr)


METHODS: dict[str, Callable[[Server, Call], Any]] = {
    revision.DISCOVER: _discover,
    **dict.fromkeys(revision.LISTS, _list),
    "tools/call": _call_tool,
    "resources/read": _read,
    "prompts/get": _get_prompt,
    "completion/complete": _complete,
}
"""The methods that a server answers; `subscriptions` has the one that stays open."""
