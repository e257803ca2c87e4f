"""One request as a handler sees it: what it carries, who sent it, and how to ask back.

`Call` checks on construction what every request must carry, in this order: `params` is an object,
`_meta` has its required fields with the right shapes, the version is one we speak.

Spec: basic/index ("_meta"), basic/versioning, basic/patterns/mrtr, basic/patterns/progress.
"""

from __future__ import annotations

from mcp_bare import jsonrpc, revision
from mcp_bare.errors import InternalError, InvalidParams, UnsupportedVersion
from mcp_bare.jsonrpc import brief

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcp_bare.revision import JsonObject
    from mcp_bare.server import Server


class Caller:
    """Who sent a request, as far as the transport vouches for it, and how to reach them later.

    `principal` is None where nobody was authenticated. `deliver` sends a notification of an open
    subscription; a transport that cannot keep a stream open leaves it None.
    """

    __slots__ = ("deliver", "principal")

    def __init__(
        self,
        principal: str | None = None,
        deliver: Callable[[JsonObject], None] | None = None,
    ):
        self.principal, self.deliver = principal, deliver


LOCAL = Caller()


def never() -> bool:
    """The answer to "was this request cancelled?" where nothing can cancel it."""
    return False


class Call:
    """What a handler may rely on: this request, and nothing else.

    `arguments` of the tool or prompt; `variables` of the matched resource template;
    `input_responses` and `request_state` of a retry; `capabilities` that the client declared.
    """

    def __init__(
        self,
        server: Server,
        method: str,
        params: Any,
        caller: Caller = LOCAL,
        cancelled: Callable[[], bool] = never,
    ):
        if not isinstance(params, dict):
            raise InvalidParams(f'"params" is {brief(params)}; an object is due (basic/index)')
        self.server, self.method, self.params = server, method, params
        self.caller, self.cancelled = caller, cancelled
        self.meta = _checked_meta(params.get("_meta"))
        self.capabilities: JsonObject = self.meta[revision.CLIENT_CAPABILITIES]
        self.arguments: JsonObject = {}
        self.variables: dict[str, str] = {}
        self._progress: float | None = None
        self.input_responses = self.object("inputResponses")
        self.request_state: str | None = params.get("requestState")
        if self.request_state is not None and not isinstance(self.request_state, str):
            raise InvalidParams('"requestState" must be a string (basic/patterns/mrtr)')

    # --- reading params ---

    def text(self, name: str) -> str:
        """A required string of `params`. Raises InvalidParams."""
        value = self.params.get(name)
        if not isinstance(value, str):
            raise InvalidParams(f"{name!r} of {self.method} is {brief(value)}; a string is due")
        return value

    def object(self, name: str) -> JsonObject:
        """An optional object of `params`, {} where it is absent. Raises InvalidParams."""
        value = self.params.get(name, {})
        if not isinstance(value, dict):
            raise InvalidParams(f"{name!r} of {self.method} is {brief(value)}; an object is due")
        return value

    # --- asking back ---

    def ask(self, requests: JsonObject, state: str | None = None) -> JsonObject:
        """The InputRequiredResult to return: call.ask({"when": elicitation.form(...)}, state)."""
        result: JsonObject = {"resultType": "input_required"}
        if requests:
            result["inputRequests"] = requests
        if state is not None:
            result["requestState"] = state
        return result

    def undeclared(self, request: JsonObject) -> JsonObject | None:
        """The capability this input request needs and the client did not declare, or None."""
        name = revision.INPUT_CAPABILITY.get(request.get("method", ""))
        if name is None:
            raise InternalError(f"{request.get('method')!r} cannot be asked (basic/patterns/mrtr)")
        declared = self.capabilities.get(name)
        if name == "elicitation":
            mode = request["params"].get("mode", "form")
            modes = declared or {"form": {}} if declared is not None else {}
            return None if mode in modes else {name: {mode: {}}}
        if name == "sampling" and {"tools", "toolChoice"} & set(request["params"]):
            return None if "tools" in (declared or {}) else {name: {"tools": {}}}
        return None if declared is not None else {name: {}}

    # --- notifications that belong to this request ---

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> JsonObject | None:
        """A progress notification to yield, or None where the client did not ask for any.

        None too where it is no progress: the value MUST increase (basic/patterns/progress).
        """
        token = self.meta.get(revision.PROGRESS_TOKEN)
        if token is None or (self._progress is not None and progress <= self._progress):
            return None
        self._progress = progress
        params: JsonObject = {"progressToken": token, "progress": progress}
        for name, value in (("total", total), ("message", message)):
            if value is not None:
                params[name] = value
        return jsonrpc.notification(revision.PROGRESS, params)

    def log(self, level: str, data: Any, logger: str | None = None) -> JsonObject | None:
        """A log message to yield, or None where this request did not ask for that level.

        Deprecated by the specification (server/utilities/logging): stderr needs no capability.
        """
        if not self.server.logging:
            raise InternalError("a server that logs must declare it: Server(..., logging=True)")
        threshold = self.meta.get(revision.LOG_LEVEL)
        levels = revision.LOG_LEVELS
        if threshold is None or levels.index(level) < levels.index(threshold):
            return None
        params: JsonObject = {"level": level, "data": data}
        if logger is not None:
            params["logger"] = logger
        return jsonrpc.notification("notifications/message", params)


_REQUIRED = frozenset(revision.REQUIRED_META)
_OBJECTS = frozenset({*revision.INPUT_CAPABILITY.values(), "extensions", "experimental"})
"""The capabilities whose value we look into, or may."""


def _checked_meta(meta: Any) -> JsonObject:
    """The `_meta` of a request, or the refusal that the specification prescribes."""
    if not isinstance(meta, dict):
        raise InvalidParams(
            f'"params._meta" is {brief(meta)}; an object with '
            f"{' and '.join(revision.REQUIRED_META)} is due (basic/index, _meta)"
        )
    if not meta.keys() >= _REQUIRED:
        missing = [key for key in revision.REQUIRED_META if key not in meta]
        raise InvalidParams(
            f'"params._meta" lacks {" and ".join(missing)}; it has {brief(sorted(meta), 300)}'
            " (basic/index, _meta)",
            {"missing": missing},
        )
    version = meta[revision.PROTOCOL_VERSION]
    capabilities = meta[revision.CLIENT_CAPABILITIES]
    if not isinstance(version, str):
        raise InvalidParams(f"{revision.PROTOCOL_VERSION} is {brief(version)}; a string is due")
    if version not in revision.MODERN:
        raise UnsupportedVersion(version, revision.MODERN)
    if not isinstance(capabilities, dict) or not all(
        isinstance(inner, dict) for name, inner in capabilities.items() if name in _OBJECTS
    ):
        raise InvalidParams(
            f"{revision.CLIENT_CAPABILITIES} is {brief(capabilities)}; an object of objects is due"
        )
    _check_optional_meta(meta)
    return meta


def _check_optional_meta(meta: JsonObject) -> None:
    info = meta.get(revision.CLIENT_INFO)
    if info is not None and not (
        isinstance(info, dict)
        and isinstance(info.get("name"), str)
        and isinstance(info.get("version"), str)
    ):
        raise InvalidParams(f"{revision.CLIENT_INFO} is {brief(info)}; name and version are due")
    level = meta.get(revision.LOG_LEVEL)
    if level is not None and level not in revision.LOG_LEVELS:
        raise InvalidParams(
            f"{revision.LOG_LEVEL} is {brief(level)}; {', '.join(revision.LOG_LEVELS)} are known"
        )
    token = meta.get(revision.PROGRESS_TOKEN)
    if token is not None and not jsonrpc.is_id(token):
        raise InvalidParams(f"progressToken is {brief(token)}; a string or an integer is due")
