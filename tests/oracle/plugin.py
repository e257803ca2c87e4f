"""Every message that our side sends in any test is held against the official wire types.

`watch` wraps the four places where a message of ours passes: `Exchange.send` (all that a client
writes), `Exchange._received` (what comes from a child process that is one of ours),
`Connection.send` (all that a server writes to a pipe or into memory) and `Server.handle` (each
answer together with its request, whatever the transport). A test fails whose messages
`mcp_types` would not take, or would take only by dropping or converting a part of them.

A test that sends something malformed on purpose writes raw bytes, which pass by all of this;
where that is not possible it carries `@pytest.mark.off_the_record("why")`.

Does not handle: whether the official types are right. Where they are lax, `strictly` is not.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import mcp_types._v2025_11_25 as v2025
import mcp_types._v2026_07_28 as v2026
import pytest
from mcp_types import methods
from pydantic import TypeAdapter, ValidationError

from mcp_bare import jsonrpc, legacy, revision
from mcp_bare.connection import Connection
from mcp_bare.exchange import Exchange
from mcp_bare.server import Server

ROOT = Path(__file__).resolve().parents[2]
MODERN, LEGACY = revision.CURRENT, revision.LEGACY[0]
CLIENT, SERVER = "our client", "our server"
COMPLAINTS: list[str] = []
SEEN: dict[str, int] = {CLIENT: 0, SERVER: 0}
WIRE = {MODERN: v2026, LEGACY: v2025}
OPEN = ("capabilities", "requiredCapabilities", revision.CLIENT_CAPABILITIES)
"""Members that the specification leaves open: unknown keys inside are allowed."""

RETIRED = {-32002, -32042}
"""Codes of earlier revisions that nobody may emit any more (basic/index, "Error Codes")."""

ERRORS: dict[int, Any] = {
    revision.PARSE_ERROR: v2026.ParseError,
    revision.INVALID_REQUEST: v2026.InvalidRequestError,
    revision.METHOD_NOT_FOUND: v2026.MethodNotFoundError,
    revision.INVALID_PARAMS: v2026.InvalidParamsError,
    revision.INTERNAL_ERROR: v2026.InternalError,
}
WHOLE_ERRORS: dict[int, Any] = {
    revision.HEADER_MISMATCH: v2026.HeaderMismatchError,
    revision.MISSING_REQUIRED_CLIENT_CAPABILITY: v2026.MissingRequiredClientCapabilityError,
    revision.UNSUPPORTED_PROTOCOL_VERSION: v2026.UnsupportedProtocolVersionError,
}
RESPONSES: dict[str, Any] = {
    "elicitation/create": v2026.ElicitResult,
    "sampling/createMessage": v2026.CreateMessageResult,
    "roots/list": v2026.ListRootsResult,
}
SERVES = ("mcp_bare.stdio import serve", "stdio.serve(")
"""How to tell a script that serves with the toolkit."""


class Refused(Exception):
    """The official types do not take this message; says why."""


# --- one message against the official types ---


@functools.cache
def _adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model)


def strictly(model: Any, value: Any) -> None:
    """Raise Refused unless `model` takes `value` without converting or dropping any of it."""
    try:
        taken = _adapter(model).validate_python(value, strict=True, by_name=False)
    except ValidationError as trouble:
        first = trouble.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise Refused(f"{where}: {first['msg']}") from None
    kept = _adapter(model).dump_python(taken, by_alias=True, exclude_unset=True)
    lost = list(_lost(value, kept, ""))
    if lost:
        raise Refused(f"not in the official types: {', '.join(lost)}")


def _lost(sent: Any, kept: Any, at: str) -> Iterator[str]:
    if isinstance(sent, dict) and isinstance(kept, dict):
        for key, value in sent.items():
            if key in kept:
                yield from _lost(value, kept[key], f"{at}.{key}")
            elif not at.endswith(OPEN):
                yield f"{at}.{key}"
    elif isinstance(sent, list) and isinstance(kept, list):
        for index, (one, other) in enumerate(zip(sent, kept, strict=True)):
            yield from _lost(one, other, f"{at}[{index}]")
    elif sent != kept or isinstance(sent, bool) != isinstance(kept, bool):
        yield f"{at} ({sent!r} became {kept!r})"


def client_request(message: Mapping[str, Any], version: str = MODERN) -> None:
    """A request of a client. A method that no specification has must at least carry `_meta`."""
    method = message["method"]
    model = methods.CLIENT_REQUESTS.get((method, version))
    if model is not None:
        strictly(model, message)
    else:
        strictly(WIRE[version].JSONRPCRequest, message)
        if version == MODERN:
            strictly(v2026.RequestParams, {"_meta": message.get("params", {}).get("_meta")})
    for key, answer in _responses(message).items():
        fits = [model for model in RESPONSES.values() if _fits(model, answer)]
        if not fits:
            raise Refused(f"inputResponses[{key!r}] is the result of no request: {answer!r}")


def _responses(message: Mapping[str, Any]) -> dict[str, Any]:
    return dict((message.get("params") or {}).get("inputResponses") or {})


def _fits(model: Any, value: Any) -> bool:
    with contextlib.suppress(Refused):
        strictly(model, value)
        return True
    return False


def notification(message: Mapping[str, Any], sender: str, version: str = MODERN) -> None:
    """A notification, by its sender; one that the specification does not have is refused."""
    known = methods.CLIENT_NOTIFICATIONS if sender == CLIENT else methods.SERVER_NOTIFICATIONS
    model = known.get((message["method"], version))
    if model is None:
        raise Refused(f"{sender} sends no {message['method']} in {version}")
    strictly(model, message)


def result(method: str, message: Mapping[str, Any], version: str = MODERN) -> None:
    """A server's result for a request of this method: the arm that its `resultType` names."""
    body = message["result"]
    strictly(WIRE[version].JSONRPCResultResponse, message)
    if version == MODERN and "resultType" not in body:
        raise Refused("no resultType")
    if body.get("resultType") == "input_required":
        if method not in methods.INPUT_REQUIRED_METHODS:
            raise Refused(f"{method} may not be answered input_required")
        strictly(v2026.InputRequiredResult, body)
        for request in body.get("inputRequests", {}).values():
            _check_form(request)
        return
    model = methods.SERVER_RESULTS.get((method, version))
    if model is not None:
        strictly(_complete_arm(model), body)
    if version == MODERN and revision.SERVER_INFO not in body.get("_meta", {}):
        raise Refused("the server does not name itself in _meta")


def _complete_arm(model: Any) -> Any:
    arms = getattr(model, "__args__", (model,))
    return next(arm for arm in arms if arm is not v2026.InputRequiredResult)


def _check_form(request: Mapping[str, Any]) -> None:
    """The wire types leave a form's properties open; the restricted schema is beside them."""
    schema = request.get("params", {}).get("requestedSchema", {})
    for name, definition in schema.get("properties", {}).items():
        if not _fits(v2026.PrimitiveSchemaDefinition, definition):
            raise Refused(f"{name} of the form is no PrimitiveSchemaDefinition: {definition!r}")


def error(message: Mapping[str, Any]) -> None:
    """An error response: its envelope, and what its code says about `data`."""
    strictly(v2026.JSONRPCErrorResponse, message)
    code = message["error"]["code"]
    if code in RETIRED or (-32099 <= code <= -32020 and code not in WHOLE_ERRORS):
        raise Refused(f"nobody may emit {code} (basic/index, Error Codes)")
    if code in ERRORS:
        strictly(ERRORS[code], message["error"])
    if code in WHOLE_ERRORS:
        strictly(WHOLE_ERRORS[code], message)


def client_result(method: str, message: Mapping[str, Any]) -> None:
    """A client's answer to a legacy server; a modern client never answers anything."""
    model = methods.CLIENT_RESULTS.get((method, LEGACY))
    if model is None:
        raise Refused(f"no server asks for {method}")
    strictly(model, message["result"])


# --- the four places ---


def watch() -> None:
    """Wrap the places where our messages pass; once a process."""
    send, received = Exchange.send, Exchange._received
    write, handle, answer = Connection.send, Server.handle, legacy.answer

    def client_sends(self: Exchange, message: dict[str, Any]) -> None:
        if message.get("method") == "initialize":
            self.spoken = LEGACY
        version = getattr(self, "spoken", MODERN)
        with _reported(CLIENT, message):
            kind = jsonrpc.kind(message)
            if kind == "request":
                client_request(message, version)
            elif kind == "notification":
                notification(message, CLIENT, version)
            elif version == MODERN:
                raise Refused("a client writes no responses (basic/transports/stdio)")
        send(self, message)

    def client_receives(self: Exchange, payload: bytes, *stream: Any) -> None:
        if _is_ours(self.transport):
            with contextlib.suppress(jsonrpc.RpcError):
                message = jsonrpc.parse(payload)
                waiting = self._pending.get(jsonrpc.id_key(message.get("id", 0)))
                _server_sent(message, waiting.method if waiting else None)
        received(self, payload, *stream)

    def server_writes(self: Connection, message: dict[str, Any], *rest: Any) -> None:
        _server_sent(message, None)
        write(self, message, *rest)

    def server_answers(
        self: Server, message: dict[str, Any], *rest: Any, **more: Any
    ) -> Iterator[dict[str, Any]]:
        with contextlib.closing(handle(self, message, *rest, **more)) as answers:
            for outgoing in answers:
                _server_sent(outgoing, message["method"])
                yield outgoing

    def client_answers(message: dict[str, Any], handlers: Any) -> dict[str, Any]:
        response = answer(message, handlers)
        with _reported(CLIENT, response):
            if "result" in response:
                client_result(message["method"], response)
            else:
                error(response)
        return response

    Exchange.send, Exchange._received = client_sends, client_receives
    Connection.send, Server.handle, legacy.answer = server_writes, server_answers, client_answers


def _server_sent(message: dict[str, Any], method: str | None) -> None:
    with _reported(SERVER, message):
        kind = jsonrpc.kind(message)
        if kind == "request":
            raise Refused("a server sends no requests (basic/transports/stdio)")
        if kind == "notification":
            notification(message, SERVER)
        elif kind == "error":
            error(message)
        elif method is not None:
            result(method, message)
        else:
            strictly(v2026.JSONRPCResultResponse, message)


@contextlib.contextmanager
def _reported(sender: str, message: Any) -> Iterator[None]:
    """Note a refusal; raising it in a reader thread would only hide it."""
    SEEN[sender] += 1
    try:
        yield
    except Refused as why:
        COMPLAINTS.append(f"{sender} sent {message!r}\n    {why}")
    except Exception as trouble:
        COMPLAINTS.append(f"{sender} sent {message!r}\n    and the oracle stumbled: {trouble!r}")


def _is_ours(transport: Any) -> bool:
    """A child process whose every message must be right: built on the toolkit, or the toy."""
    command = getattr(transport, "command", ())
    return any(_names_ours(str(word)) for word in command)


@functools.cache
def _names_ours(word: str) -> bool:
    if any(sign in word for sign in SERVES):  # python -c
        return True
    path = Path(word)
    if path.suffix != ".py" or not path.is_file():
        return False
    if path.name.startswith("calendar_") and path.resolve().parent == ROOT / "toy_servers":
        return True
    text = path.read_text(encoding="utf-8")
    return any(sign in text for sign in SERVES) and "off the record" not in text


# --- into every test ---


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "off_the_record(why): this test makes the toolkit send what the types refuse"
    )
    watch()


@pytest.fixture(autouse=True)
def accepted_by_the_official_types(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which our side sent something that `mcp_types` does not take."""
    COMPLAINTS.clear()
    yield
    found = list(COMPLAINTS)
    if found and request.node.get_closest_marker("off_the_record") is None:
        pytest.fail("\n".join([f"{len(found)} refused:", *found[:5]]), pytrace=False)
