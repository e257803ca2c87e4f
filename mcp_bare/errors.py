"""Everything that can go wrong, as one small tree; each error names what arrived and what was due.

    McpError
    ├── RpcError            an error that travels on the wire: code, message, data
    │   ├── ParseError, InvalidRequest, MethodNotFound, InvalidParams, InternalError
    │   ├── MissingCapability, UnsupportedVersion, HeaderMismatch
    │   └── StateRejected   a requestState that fails verification
    ├── ToolError           a failure a tool author puts into words for the model
    ├── IllegalSchema       a form's schema that the restricted dialect does not allow
    ├── ProtocolViolation   the peer answered with something the specification does not allow
    ├── Refused             HTTP says no: the status, headers and body to answer with
    ├── InputNeeded         the server asks back and nobody here can answer
    ├── RequestTimeout      no answer in time; the request was cancelled
    └── TransportClosed     the other end is gone: exit code and the tail of its stderr
        └── RequestLost     over HTTP: one request gets no answer, the others go on

Spec: basic/index, "Error Codes".
"""

from __future__ import annotations

from mcp_bare import revision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcp_bare.revision import JsonObject, RequestId


class McpError(Exception):
    """The root of every error this toolkit raises on purpose."""


class RpcError(McpError):
    """An error response, on its way out or just come in.

    `request_id` is the id of the message at fault, or None where it could not be read.
    """

    code = revision.INTERNAL_ERROR

    def __init__(self, message: str, data: Any = None, request_id: RequestId | None = None):
        super().__init__(message)
        self.message = message
        self.data = data
        self.request_id = request_id

    def body(self) -> JsonObject:
        """The `error` member: {"code": -32602, "message": "...", "data": ...}."""
        body: JsonObject = {"code": self.code, "message": self.message}
        if self.data is not None:
            body["data"] = self.data
        return body

    def __str__(self) -> str:
        return f"{self.code} {self.message}"


class ParseError(RpcError):
    code = revision.PARSE_ERROR


class InvalidRequest(RpcError):
    code = revision.INVALID_REQUEST


class MethodNotFound(RpcError):
    code = revision.METHOD_NOT_FOUND


class InvalidParams(RpcError):
    code = revision.INVALID_PARAMS


class InternalError(RpcError):
    code = revision.INTERNAL_ERROR


class StateRejected(InvalidParams):
    """A requestState that fails verification; `reason` is for our log, never for the wire."""

    def __init__(self, reason: str):
        super().__init__("Invalid or expired requestState (basic/patterns/mrtr)")
        self.reason = reason


class MissingCapability(RpcError):
    """The request needs a capability that the client did not declare on it."""

    code = revision.MISSING_REQUIRED_CLIENT_CAPABILITY

    def __init__(self, required: JsonObject):
        names = ", ".join(sorted(required))
        super().__init__(
            f"This request needs a client capability that was not declared: {names} (basic/index)",
            {"requiredCapabilities": required},
        )


class UnsupportedVersion(RpcError):
    """The request names a protocol version that this server does not speak."""

    code = revision.UNSUPPORTED_PROTOCOL_VERSION

    def __init__(self, requested: str, supported: tuple[str, ...], hint: str = ""):
        super().__init__(
            f"Unsupported protocol version {requested[:80]!r}; this server speaks "
            f"{', '.join(supported)}{hint} (basic/versioning)",
            {"supported": list(supported), "requested": requested},
        )


class HeaderMismatch(RpcError):
    """An HTTP header that is missing, malformed, or says something else than the body."""

    code = revision.HEADER_MISMATCH


class ErrorResponse(RpcError):
    """The peer's error response, with whatever code it chose."""

    def __init__(self, error: JsonObject, request_id: RequestId | None = None):
        super().__init__(error["message"], error.get("data"), request_id)
        self.code = error["code"]


class ToolError(McpError):
    """A failure that a tool's author expected: its text goes to the model as it stands."""


class IllegalSchema(McpError):
    """A `requestedSchema` outside the restricted dialect of client/elicitation."""


class ProtocolViolation(McpError):
    """The peer sent something that the specification does not allow."""


class Refused(McpError):
    """An HTTP request that is answered with a refusal: Refused(401, {...}, b"")."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes):
        super().__init__(f"HTTP {status}")
        self.status, self.headers, self.body = status, headers, body


class InputNeeded(McpError):
    """The server answered `input_required`, and no handler here can give the answer.

    `result` is the whole InputRequiredResult, so that a caller can answer it in code.
    """

    def __init__(self, result: JsonObject, missing: list[str]):
        super().__init__(
            f"the server asks for {', '.join(missing)} and this client has no handler for it; "
            "give one in Client(handlers=...) or answer with Client.retry()"
        )
        self.result = result


class RequestTimeout(McpError):
    """No answer within the time given; the request was cancelled, the connection goes on."""

    def __init__(self, method: str, request_id: RequestId, seconds: float):
        super().__init__(f"no answer to {method} (id {request_id!r}) within {seconds:g} s")
        self.method, self.request_id, self.seconds = method, request_id, seconds


class TransportClosed(McpError):
    """The other end is gone. `exit_code` and `stderr_tail` are its last words, where known."""

    def __init__(self, reason: str, exit_code: int | None = None, stderr_tail: str = ""):
        tail = f"; its stderr ends with:\n{stderr_tail.rstrip()}" if stderr_tail.strip() else ""
        code = f" (exit code {exit_code})" if exit_code is not None else ""
        super().__init__(f"{reason}{code}{tail}")
        self.reason, self.exit_code, self.stderr_tail = reason, exit_code, stderr_tail


class RequestLost(TransportClosed):
    """This one request gets no answer; whether the server has done it, nobody knows.

    `status` is the HTTP status that came in its place, None where none came.
    """

    def __init__(self, reason: str, request_id: RequestId | None, status: int | None = None):
        super().__init__(reason)
        self.request_id, self.status = request_id, status
