"""What the server's methods answer: discovery, lists, tools, resources, prompts, completion.

One function for each method, from `(server, call)` to the result object, without what every result
carries (`server` puts that on). A handler's plain string or bytes become a result here.

Does not handle: checking `_meta` (`call`), sending anything.

Spec: server/discover, server/tools, server/resources, server/prompts, server/utilities/completion,
server/utilities/pagination.
"""

from __future__ import annotations

import functools

from mcp_bare import revision
from mcp_bare.errors import (
    ErrorResponse,
    IllegalSchema,
    InternalError,
    InvalidParams,
    MethodNotFound,
    RpcError,
    ToolError,
)
from mcp_bare.jsonrpc import brief

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
    result["isError"] = is_error
    return result


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
        raise InvalidParams(f"Unknown tool: {brief(name)} (server/tools)", {"name": name})
    call.arguments = call.object("arguments")
    wrong = _schema_problems(tool["inputSchema"], call.arguments)
    if wrong:  # an execution error, not a protocol error: the model can mend it
        return text_result(f"Invalid arguments for {name}: {'; '.join(wrong)}.", is_error=True)
    return _run_tool(tool, server.handlers["tools", name], call)


def _read(server: Server, call: Call) -> Any:
    uri = call.text("uri")
    kind, key = _locate(server, uri, call)
    hints = server.read_hints[key]
    mime = server.defined[kind][key].get("mimeType")

    def finish(found: Any) -> JsonObject:
        if found is None:
            raise InvalidParams(f"Resource not found: {brief(uri)}", {"uri": uri})
        if isinstance(found, str | bytes):
            found = {"contents": [_content(uri, mime, found)]}
        return found if found.get("resultType") == "input_required" else {**hints, **found}

    return _then(server.handlers[kind, key](call), finish)


def _locate(server: Server, uri: str, call: Call) -> tuple[str, str]:
    if uri in server.defined["resources"]:
        return "resources", uri
    for key in server.defined["resourceTemplates"]:
        found = _match_template(key, uri)
        if found is not None:
            call.variables = found
            return "resourceTemplates", key
    raise InvalidParams(f"Resource not found: {brief(uri)} (server/resources)", {"uri": uri})


def _get_prompt(server: Server, call: Call) -> Any:
    name = call.text("name")
    prompt = server.defined["prompts"].get(name)
    if prompt is None:
        raise InvalidParams(f"Unknown prompt: {brief(name)} (server/prompts)", {"name": name})
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
    if not server.completers:
        raise MethodNotFound("this server completes nothing", {"method": call.method})
    reference, call.arguments = call.object("ref"), call.object("argument")
    call.object("context")
    kind, names = _COMPLETED.get(str(reference.get("type")), ("", ()))
    key, name, value = reference.get(kind), call.arguments.get("name"), call.arguments.get("value")
    if not all(isinstance(text, str) for text in (key, name, value)) or not any(
        key in server.defined[offered] for offered in names
    ):
        raise InvalidParams(
            f"nothing to complete for {brief(reference)} (server/utilities/completion)"
        )
    completer = server.completers.get((str(key), str(name)))
    values = list(completer(call)) if completer else []
    more = {"total": len(values), "hasMore": len(values) > MAX_COMPLETIONS}
    return {"completion": {"values": values[:MAX_COMPLETIONS], **more}}


MAX_COMPLETIONS = 100
_COMPLETED = {
    "ref/prompt": ("name", ("prompts",)),
    "ref/resource": ("uri", ("resourceTemplates", "resources")),
}
"""Where a reference has its key, and what the key may name."""


def _run_tool(tool: JsonObject, handler: Handler, call: Call) -> Any:
    """Run a tool; what it raises becomes a result the model can read, and says no more than due."""

    def finish(found: Any) -> JsonObject:
        result = text_result(found) if isinstance(found, str) else dict(found)
        if "outputSchema" in tool:
            _check_output(tool, result)
        return result

    def failed(trouble: BaseException) -> JsonObject:
        if isinstance(trouble, ToolError):
            return text_result(str(trouble), is_error=True)
        problem = wire_error(trouble)
        if problem is trouble:
            raise problem
        return text_result(f"The tool {tool['name']} failed.", is_error=True)

    try:
        found = handler(call)
    except FAILURES as trouble:
        return failed(trouble)
    return _then(found, finish, failed)


FAILURES = (Exception, SystemExit)
"""What a handler's mistake may raise; a tool that exits must not leave its caller waiting."""


def wire_error(trouble: BaseException) -> RpcError:
    """What the client may be told: our own errors as they are; of the rest, that it happened.

    An ErrorResponse is another server's error that a handler let through: not ours to repeat.
    """
    if isinstance(trouble, RpcError) and not isinstance(trouble, ErrorResponse):
        return trouble
    import sys
    import traceback

    traceback.print_exception(trouble, file=sys.stderr)
    return InternalError("Internal error")


def _check_output(tool: JsonObject, result: JsonObject) -> None:
    """server/tools, "Output Schema": structured results MUST conform to it."""
    if result.get("resultType", "complete") == "complete" and not result.get("isError"):
        wrong = _schema_problems(tool["outputSchema"], result.get("structuredContent"))
        if wrong:
            raise InternalError(f"{tool['name']} broke its own outputSchema: {'; '.join(wrong)}")


def _then(
    found: Any,
    finish: Callable[[Any], JsonObject],
    failed: Callable[[BaseException], JsonObject] | None = None,
) -> Any:
    """Apply `finish` to a handler's return value, also where the handler is a generator."""
    if not hasattr(found, "send"):
        return finish(found)

    def run() -> Generator[JsonObject, None, JsonObject]:
        try:
            value = yield from found
        except FAILURES as trouble:
            if failed is None:
                raise
            return failed(trouble)
        return finish(value)

    return run()


def _schema_problems(schema: JsonObject, value: Any) -> list[str]:
    try:
        return _checker()(schema, value)
    except IllegalSchema as trouble:  # an unsupported dialect, say: basic/index, "Schema Dialect"
        raise InternalError(f"cannot check against the schema: {trouble}") from None


@functools.cache
def _checker() -> Callable[[Any, Any], list[str]]:
    """Only a call needs it, not a start; and an import statement costs every call that meets it."""
    from mcp_bare.json_schema import problems

    return problems


def _check_prompt_arguments(prompt: JsonObject, given: JsonObject) -> None:
    for argument in prompt.get("arguments", ()):
        if argument.get("required") and argument["name"] not in given:
            raise InvalidParams(f"prompt argument {argument['name']!r} is missing (server/prompts)")
    for name, value in given.items():
        if not isinstance(value, str):
            raise InvalidParams(f"prompt argument {brief(name)} is {brief(value)}; a string is due")


def _content(uri: str, mime: str | None, found: str | bytes) -> JsonObject:
    content: JsonObject = {"uri": uri} if mime is None else {"uri": uri, "mimeType": mime}
    if isinstance(found, str):
        return {**content, "text": found}
    import binascii

    return {**content, "blob": binascii.b2a_base64(found, newline=False).decode()}


def _match_template(template: str, uri: str) -> dict[str, str] | None:
    """Match the simple `{name}` parts of RFC 6570, up to a slash, and percent-decode them.

    A decoded part may hold anything, a slash or ".." too: a handler that opens files must look. A
    part ends where what follows it in the template comes first, the last one at the end: nothing is
    tried twice, however long the URI.
    """
    import re
    from urllib.parse import unquote

    pieces = re.split(r"\{([A-Za-z0-9_]+)\}", template)
    names, (begin, *between) = pieces[1::2], map(re.escape, pieces[::2])
    parts = [rf"(?>([^/?#\s]+?){text})" for text in between[:-1]]
    parts += [rf"([^/?#\s]+){text}" for text in between[-1:]]
    found = re.fullmatch(begin + "".join(parts), uri)
    return found and dict(zip(names, map(unquote, found.groups()), strict=True))


def _position(keys: list[str], cursor: Any) -> int:
    """A cursor is the last key of the page before, in hex: it survives a new process."""
    try:
        return keys.index(bytes.fromhex(cursor).decode()) + 1
    except (TypeError, ValueError):
        raise InvalidParams(
            f"Invalid cursor {brief(cursor)} (server/utilities/pagination)", {"cursor": cursor}
        ) from None


METHODS: dict[str, Callable[[Server, Call], Any]] = {
    revision.DISCOVER: _discover,
    **dict.fromkeys(revision.LISTS, _list),
    "tools/call": _call_tool,
    "resources/read": _read,
    "prompts/get": _get_prompt,
    "completion/complete": _complete,
}
"""The methods that a server answers; `subscriptions` has the one that stays open."""
