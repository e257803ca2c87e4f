"""A client: every request carries its own version and capabilities; the server may ask back.

    with Client(StdioTransport(["python", "toy_servers/calendar_by_hand.py"])) as client:
        client.call_tool("create_event", {"title": "Dentist", "startsAt": "1999-09-10T08:30:00Z"})

Results are the wire's own dicts. Lists are fetched page by page and kept for as long as the server
allows. When a call is answered `input_required`, the handlers answer and the call is sent again.

Does not handle: finding out which era a server is of (`era`), consent, several servers at once.

Spec: basic/index, basic/patterns/*, server/utilities/caching, server/utilities/pagination.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from mcp_bare import jsonrpc, results, revision
from mcp_bare.cache import Cache
from mcp_bare.errors import ErrorResponse, InputNeeded, ProtocolViolation
from mcp_bare.exchange import Exchange, Pending
from mcp_bare.listening import Subscription
from mcp_bare.tape import NOTE, Tape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from mcp_bare.exchange import Listener, Transport
    from mcp_bare.revision import JsonObject, RequestId

    Handlers = Mapping[str, Callable[[JsonObject], JsonObject]]

MAX_ROUNDS = 10
MAX_PAGES = 10_000
CLIENT_INFO = {"name": "bare-hands", "version": "0.0.1"}


class Client:
    """One client for one server.

    `handlers` answer what a server may ask for: {"elicitation/create": params -> ElicitResult}.
    `capabilities` go out with every request; without them they are what the handlers can do.
    `ids` gives the request ids, 1, 2, 3 ... unless told otherwise. `version` of the legacy era
    means that `era` has opened the connection with a handshake.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        capabilities: JsonObject | None = None,
        handlers: Handlers | None = None,
        client_info: JsonObject | None = None,
        version: str = revision.CURRENT,
        timeout: float = 10.0,
        tape: Tape | None = None,
        ids: Iterable[RequestId] | None = None,
    ):
        self.handlers: Handlers = dict(handlers or {})
        self.capabilities = _declared(self.handlers) if capabilities is None else capabilities
        self.client_info = CLIENT_INFO if client_info is None else client_info
        self.version = version
        self.tape = Tape() if tape is None else tape
        self.initialize_result: JsonObject | None = None  # filled by `era` in the legacy era
        self._ids = iter(itertools.count(1) if ids is None else ids)
        self._told: set[str] = set()  # of the tools that are left out
        self.cache = Cache()
        self.exchange = Exchange(transport, self.tape, timeout)
        self.exchange.on_notification = self.cache.invalidate

    # --- one request ---

    def message(self, method: str, params: JsonObject | None = None, **meta: Any) -> JsonObject:
        """The whole request, `_meta` and all, with the next id; not sent."""
        params = dict(params or {})
        given = {**params.pop("_meta", {}), **meta}
        if self.version in revision.MODERN:
            required = revision.request_meta(self.capabilities, self.client_info, self.version)
            given = {**required, **given}
        if given:
            params["_meta"] = given
        return jsonrpc.request(self.next_id(), method, params)

    def next_id(self) -> RequestId:
        """An id that no request of this client had before."""
        return next(self._ids)

    def start(
        self,
        method: str,
        params: JsonObject | None = None,
        on_notification: Listener | None = None,
        on_progress: Listener | None = None,
    ) -> Pending:
        """Send a request and do not wait. Its progress is asked for if `on_progress` is given."""
        message = self.message(method, params)
        listener = on_notification
        if on_progress is not None:
            message["params"].setdefault("_meta", {})[revision.PROGRESS_TOKEN] = message["id"]

            def listener(note: JsonObject) -> None:
                if note["method"] == revision.PROGRESS:
                    on_progress(note["params"])
                elif on_notification is not None:
                    on_notification(note)

        return self.exchange.start(message, listener)

    def request(
        self,
        method: str,
        params: JsonObject | None = None,
        *,
        timeout: float | None = None,
        on_progress: Listener | None = None,
    ) -> JsonObject:
        """One request, one result object: complete or input_required, as it came.

        Raises ErrorResponse, RequestTimeout, TransportClosed, or ProtocolViolation where the
        result is not of the kind that is due.
        """
        try:
            result = self.start(method, params, on_progress=on_progress).result(timeout)
        except ErrorResponse as trouble:
            if trouble.code != revision.HEADER_MISMATCH or method != "tools/call":
                raise
            self.list_tools(refresh=True)  # the tool is not what it was: streamable-http, "Client"
            result = self.start(method, params, on_progress=on_progress).result(timeout)
        results.check(method, result)
        return result

    def notify(self, method: str, params: JsonObject | None = None) -> None:
        """Send a notification; nothing comes back."""
        self.exchange.send(jsonrpc.notification(method, params))

    # --- the multi-round-trip loop ---

    def complete_request(
        self, method: str, params: JsonObject, *, timeout: float | None = None, **how: Any
    ) -> JsonObject:
        """The request, and what it takes to complete it: ask, answer, send again with a new id.

        Raises InputNeeded where a question has no handler here.
        """
        result = self.request(method, params, timeout=timeout, **how)
        return self._completed(method, params, result, timeout=timeout, **how)

    def _completed(
        self, method: str, params: JsonObject, result: JsonObject, **how: Any
    ) -> JsonObject:
        """Answer and send again for as long as the result is input_required."""
        rounds = 0
        while result.get("resultType") == "input_required":
            if rounds == MAX_ROUNDS:
                raise ProtocolViolation(f"{method} still asks for input after {rounds} rounds")
            rounds += 1
            result = self.retry(method, params, result, self._answers(result), **how)
        return result

    def retry(
        self,
        method: str,
        params: JsonObject,
        asked: JsonObject,
        responses: JsonObject,
        **how: Any,
    ) -> JsonObject:
        """Send the call again: new id, the answers, and the state exactly as it came."""
        again = {k: v for k, v in params.items() if k not in ("inputResponses", "requestState")}
        if responses:
            again["inputResponses"] = responses
        if "requestState" in asked:
            again["requestState"] = asked["requestState"]
        return self.request(method, again, **how)

    def _answers(self, result: JsonObject) -> JsonObject:
        asked = result.get("inputRequests", {})
        unknown = [r["method"] for r in asked.values() if r["method"] not in self.handlers]
        if unknown:
            raise InputNeeded(result, unknown)
        return {
            key: self.handlers[request["method"]](request.get("params", {}))
            for key, request in asked.items()
        }

    # --- the methods of the specification ---

    def discover(self) -> JsonObject:
        """server/discover: versions, capabilities, identity, instructions."""
        return self._cached(revision.DISCOVER, {})

    def list_tools(self, *, refresh: bool = False) -> list[JsonObject]:
        """Every tool, all pages; but for those that cannot be called over this transport."""
        tools = self._list("tools/list", refresh)
        refusal = getattr(self.exchange.transport, "why_unusable", None)
        return tools if refusal is None else [t for t in tools if not self._left_out(t, refusal(t))]

    def _left_out(self, tool: JsonObject, why: str | None) -> bool:
        """Is there a reason to leave a tool out? Then the tape has it, once."""
        what = f"the tool {tool.get('name')!r} is left out: {why}"
        if why is not None and what not in self._told:
            self._told.add(what)
            self.tape.record(NOTE, b"", what)
        return why is not None

    def list_resources(self, *, refresh: bool = False) -> list[JsonObject]:
        return self._list("resources/list", refresh)

    def list_resource_templates(self, *, refresh: bool = False) -> list[JsonObject]:
        return self._list("resources/templates/list", refresh)

    def list_prompts(self, *, refresh: bool = False) -> list[JsonObject]:
        return self._list("prompts/list", refresh)

    def call_tool(self, name: str, arguments: JsonObject | None = None, **how: Any) -> JsonObject:
        """tools/call. A result with isError is returned, not raised: the model should read it."""
        params = {"name": name, "arguments": arguments or {}}
        return self.complete_request("tools/call", params, **how)

    def read_resource(self, uri: str, *, refresh: bool = False) -> JsonObject:
        """resources/read, kept for as long as the server allows."""
        params, asked = {"uri": uri}, self.cache.changes
        kept = None if refresh else self.cache.get("resources/read", params)
        if kept is not None:
            return kept
        result = self.request("resources/read", params)
        if result.get("resultType") == "input_required":  # what a retry brings is never kept
            return self._completed("resources/read", params, result)
        return self.cache.keep("resources/read", params, result, asked)

    def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> JsonObject:
        """prompts/get."""
        return self.complete_request("prompts/get", {"name": name, "arguments": arguments or {}})

    def complete(
        self, ref: JsonObject, name: str, value: str, context: JsonObject | None = None
    ) -> JsonObject:
        """completion/complete: the values that could follow. Returns the `completion` object."""
        params: JsonObject = {"ref": ref, "argument": {"name": name, "value": value}}
        if context:
            params["context"] = {"arguments": context}
        return dict(self.request("completion/complete", params)["completion"])

    def listen(self, notifications: JsonObject, on_event: Listener) -> Subscription:
        """Open a subscription; it returns once the server has acknowledged it."""
        return Subscription(self, notifications, on_event)

    def close(self) -> None:
        """Close the connection and end the server process behind it."""
        self.exchange.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- lists, kept ---

    def _list(self, method: str, refresh: bool) -> list[JsonObject]:
        if refresh:
            self.cache.forget(method)
        try:
            return self._all_pages(method)
        except ErrorResponse as trouble:
            if trouble.code != revision.INVALID_PARAMS:
                raise
            # A cursor that is not valid any more takes every kept page with it.
            self.cache.forget(method)
            return self._all_pages(method)

    def _all_pages(self, method: str) -> list[JsonObject]:
        found: list[JsonObject] = []
        params: JsonObject = {}
        for _ in range(MAX_PAGES):
            page = self._cached(method, params)
            found += page[revision.LISTS[method]]
            if page.get("nextCursor") is None:  # an empty string is a cursor like any other
                return found
            params = {"cursor": page["nextCursor"]}
        raise ProtocolViolation(f"{method} has more than {MAX_PAGES} pages")

    def _cached(self, method: str, params: JsonObject) -> JsonObject:
        asked, kept = self.cache.changes, self.cache.get(method, params)
        if kept is not None:
            return kept
        return self.cache.keep(method, params, self.request(method, params), asked)


def _declared(handlers: Handlers) -> JsonObject:
    """The capabilities that a set of handlers amounts to."""
    found: JsonObject = {}
    for method in handlers:
        name = revision.INPUT_CAPABILITY[method]
        found[name] = {"form": {}} if name == "elicitation" else {}
    return found
