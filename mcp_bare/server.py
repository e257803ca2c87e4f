"""A server without a wire: `handle` takes one parsed message and yields what goes back.

What you register is what is listed: a tool, resource, template or prompt is the wire's own dict.

    server = Server("calendar", "1.0.0")

    @server.tool({"name": "now", "inputSchema": {"type": "object", "additionalProperties": False}})
    def now(call):
        return "1999-09-07T09:00:00Z"

A handler takes a `Call` and returns a string or a whole result as a dict; or it is a generator
that yields `call.progress(...)` and `call.log(...)` on its way and returns the result. It asks the
person with `call.ask(...)`. Nothing is remembered between two requests: all that a handler may
rely on is in its `Call`.

Does not handle: reading and writing bytes (`connection`), cancelling (a transport closes the
generator), authorization (`Caller.principal` is whatever the transport vouches for).

Spec: basic/index, basic/versioning, basic/patterns/*, server/*.
"""

from __future__ import annotations

from mcp_bare import features, jsonrpc, revision, subscriptions
from mcp_bare.call import LOCAL, Call, Caller, never
from mcp_bare.errors import (
    IllegalSchema,
    InternalError,
    MethodNotFound,
    MissingCapability,
    RpcError,
    UnsupportedVersion,
)
from mcp_bare.jsonrpc import brief

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from typing import Any

    from mcp_bare.revision import JsonObject, RequestId

    Handler = Callable[[Call], Any]
    Register = Callable[[Handler], Handler]


__all__ = ["Server", "text_result"]

text_result = features.text_result


class Server:
    """The primitives of one server, and the answer to every message.

    `list_ttl_ms` and `list_scope` are the caching hints of lists and of discovery
    (server/utilities/caching); `page_size` cuts lists into pages (server/utilities/pagination).
    """

    def __init__(
        self,
        name: str,
        version: str,
        *,
        instructions: str | None = None,
        list_ttl_ms: int = 300_000,
        list_scope: str = "public",
        page_size: int | None = None,
        logging: bool = False,
    ):
        if page_size is not None and page_size < 1:
            raise ValueError(f"a page of {page_size} items; at least 1 is due")
        self.info: JsonObject = {"name": name, "version": version}
        self.instructions = instructions
        self.logging = logging
        self.page_size = page_size
        self.hints: JsonObject = {"ttlMs": list_ttl_ms, "cacheScope": list_scope}
        self.defined: dict[str, dict[str, JsonObject]] = {key: {} for key in _KEY_OF}
        self.offered: set[str] = set()  # kinds; one that runs empty is still offered
        self.handlers: dict[tuple[str, str], Handler] = {}
        self.read_hints: dict[str, JsonObject] = {}
        self.completers: dict[tuple[str, str], Handler] = {}
        self.subscriptions = subscriptions.Subscriptions()

    # --- what the server offers ---

    def tool(self, definition: JsonObject) -> Register:
        """Register a tool (server/tools). `definition` is listed as it stands."""
        schema = definition.get("inputSchema")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            raise IllegalSchema(
                f"inputSchema of {definition.get('name')!r} is {schema!r}; "
                'an object with "type": "object" is due (server/tools)'
            )
        if "x-mcp-header" in repr(schema):
            from mcp_bare import mirrors  # few tools have them, and a start should not wait

            mirrors.mirrors(schema)
        return self._define("tools", definition)

    def resource(
        self, definition: JsonObject, *, ttl_ms: int = 0, scope: str = "private"
    ) -> Register:
        """Register a resource (server/resources); its reads carry these caching hints."""
        self.read_hints[definition["uri"]] = {"ttlMs": ttl_ms, "cacheScope": scope}
        return self._define("resources", definition)

    def template(
        self, definition: JsonObject, *, ttl_ms: int = 0, scope: str = "private"
    ) -> Register:
        """Register a resource template; the handler finds the parts in `call.variables`."""
        self.read_hints[definition["uriTemplate"]] = {"ttlMs": ttl_ms, "cacheScope": scope}
        return self._define("resourceTemplates", definition)

    def prompt(self, definition: JsonObject) -> Register:
        """Register a prompt (server/prompts); the handler returns a text or a list of messages."""
        return self._define("prompts", definition)

    def completion(self, reference: str, argument: str) -> Register:
        """Suggest values for one argument of a prompt (its name) or template (its uriTemplate)."""

        def register(handler: Handler) -> Handler:
            self.completers[reference, argument] = handler
            return handler

        return register

    def _define(self, kind: str, definition: JsonObject) -> Register:
        key = definition[_KEY_OF[kind]]

        def register(handler: Handler) -> Handler:
            self.offered.add("resources" if kind == "resourceTemplates" else kind)
            self.defined[kind][key] = definition
            self.handlers[kind, key] = handler
            return handler

        return register

    def remove(self, kind: str, key: str) -> None:
        """Take a primitive away: remove("tools", "create_event"). `changed` tells subscribers."""
        del self.defined[kind][key], self.handlers[kind, key]

    def changed(self, kind: str) -> None:
        """Tell the subscribers that a list changed: changed("tools")."""
        self.subscriptions.publish(_LIST_CHANGED[kind])

    def updated(self, uri: str) -> None:
        """Tell the subscribers of this resource that its content changed."""
        self.subscriptions.publish("resourceSubscriptions", uri)

    def capabilities(self) -> JsonObject:
        """What discovery declares, derived from what is registered."""
        found: JsonObject = {
            kind: {**({"subscribe": True} if kind == "resources" else {}), "listChanged": True}
            for kind in ("tools", "resources", "prompts")
            if kind in self.offered
        }
        if self.completers:
            found["completions"] = {}
        if self.logging:
            found["logging"] = {}
        return found

    # --- answering ---

    def handle(
        self,
        message: JsonObject,
        caller: Caller = LOCAL,
        cancelled: Callable[[], bool] = never,
    ) -> Iterator[JsonObject]:
        """Yield the notifications that belong to a request, then its response.

        A notification or a response yields nothing. So does an open subscription: all its
        messages, the acknowledgement too, go through `caller.deliver`. Never raises: what goes
        wrong becomes an error response. `cancelled` is asked before anything is sent.
        """
        if jsonrpc.kind(message) != "request":
            return
        id, method, params = message["id"], message["method"], message.get("params", {})
        try:
            if method == "initialize":
                raise self._refuse_initialize(params)
            call = Call(self, method, params, caller, cancelled)
            result = self._begin(call, id)
            if hasattr(result, "send"):  # a generator: notifications first, the result at its end
                result = yield from _until_cancelled(result, cancelled)
            outcome = None if result is None else jsonrpc.result(id, self._finish(call, result))
        except features.FAILURES as trouble:
            outcome = jsonrpc.error(features.wire_error(trouble), id)
        if outcome is not None and not cancelled():
            yield outcome

    def _begin(self, call: Call, id: RequestId) -> Any:
        """A result, a generator that comes to one, or None for a subscription, which goes on."""
        if call.method == revision.LISTEN:
            self.subscriptions.open(id, call.params.get("notifications"), self, call.caller)
            return None
        answer = features.METHODS.get(call.method)
        if answer is None:
            raise MethodNotFound(f"Method not found: {brief(call.method)}", {"method": call.method})
        return answer(self, call)

    def _refuse_initialize(self, params: Any) -> RpcError:
        """An old client's opening; or, with a modern `_meta`, a method that there is not.

        Either way the error names the versions: an old client can show it, and no more.
        """
        params = params if isinstance(params, dict) else {}
        wanted, meta = params.get("protocolVersion"), params.get("_meta")
        hint = "; the initialize handshake is gone, send server/discover"
        if isinstance(meta, dict) and meta.get(revision.PROTOCOL_VERSION) in revision.MODERN:
            speaks = f"this server speaks {', '.join(revision.MODERN)}"
            return MethodNotFound(f"Method not found: initialize; {speaks}{hint}")
        return UnsupportedVersion(wanted if isinstance(wanted, str) else "", revision.MODERN, hint)

    def _finish(self, call: Call, result: JsonObject) -> JsonObject:
        """Put on what every result carries: resultType, caching hints, the server's name."""
        result = {"resultType": "complete", **result}
        if result["resultType"] == "input_required":
            _check_input_required(call, result)
        elif call.method in revision.CACHEABLE:
            result = {**result, **{k: v for k, v in self.hints.items() if k not in result}}
        result["_meta"] = {**result.pop("_meta", {}), revision.SERVER_INFO: self.info}
        return result


_KEY_OF = {
    "tools": "name",
    "prompts": "name",
    "resources": "uri",
    "resourceTemplates": "uriTemplate",
}
_LIST_CHANGED = {
    "tools": "toolsListChanged",
    "prompts": "promptsListChanged",
    "resources": "resourcesListChanged",
    "resourceTemplates": "resourcesListChanged",
}


def _until_cancelled(
    running: Generator[JsonObject | None, None, Any], cancelled: Callable[[], bool]
) -> Generator[JsonObject, None, Any]:
    """Pass a handler's notifications on; stop it at its next yield once it is cancelled."""
    while True:
        try:
            note = next(running)
        except StopIteration as end:
            return end.value
        if cancelled():
            running.close()
            return None
        if note is not None:
            yield note


def _check_input_required(call: Call, result: JsonObject) -> None:
    """basic/patterns/mrtr: where it is allowed, what it holds, what the client declared."""
    if call.method not in revision.MULTI_ROUND_TRIP:
        raise InternalError(
            f"{call.method} may not be answered input_required (basic/patterns/mrtr)"
        )
    asked = result.get("inputRequests")
    if not asked and not isinstance(result.get("requestState"), str):
        raise InternalError("input_required without inputRequests or requestState")
    for request in (asked or {}).values():
        missing = call.undeclared(request)
        if missing:
            raise MissingCapability(missing)
