"""May this request be served? One rung after the other, from the network up to the message.

    403  Host, Origin       a page of another site, through a name that points here (DNS rebinding)
    404  path               nothing is here; a GET may find the guard's metadata
    405  method             only POST, since this revision has no streams to GET and no session
    415  Content-Type       JSON, as a media type, whatever its letters and parameters
    406  Accept             both JSON and an event stream, unless nothing is said
    400  the message        -32700, -32600: what is no request and no notification
    ...  the guard          whatever it refuses with: 401, 403
    400  the headers        -32020, -32022: they must say what the body says

Each refusal leaves the connection usable. Takes a Request and returns the message; no I/O.

Does not handle: what the server itself refuses (`server`), nor CORS: a browser's page cannot call.

Spec: basic/transports/streamable-http, "Security & Endpoint", "Sending Messages".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from mcp_bare import headers, jsonrpc, mirrors, revision
from mcp_bare.addresses import is_loopback
from mcp_bare.errors import IllegalSchema, InvalidRequest, Refused, RpcError
from mcp_bare.http_request import refused
from mcp_bare.jsonrpc import brief

if TYPE_CHECKING:
    from mcp_bare.http_request import Request
    from mcp_bare.revision import JsonObject
    from mcp_bare.server import Server

JSON, STREAM = "application/json", "text/event-stream"
STATUS = {
    revision.PARSE_ERROR: 400,
    revision.INVALID_REQUEST: 400,
    revision.INVALID_PARAMS: 400,
    revision.HEADER_MISMATCH: 400,
    revision.MISSING_REQUIRED_CLIENT_CAPABILITY: 400,
    revision.UNSUPPORTED_PROTOCOL_VERSION: 400,
    revision.METHOD_NOT_FOUND: 404,
    revision.INTERNAL_ERROR: 500,
}
"""The HTTP status of an error response; any other code, an author's own, goes with 200."""

_ABSOLUTE = re.compile(r"https?://([^/?#]*)([^#]*)", re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:/@]+)(?::(\d*))?", re.IGNORECASE)


class Guard(Protocol):
    """Who may send what. `mcp_bare.auth.guard` has one."""

    def admit(self, authorization: str | None, message: JsonObject) -> str | None:
        """The principal. Raises Refused."""

    def well_known(self, path: str) -> bytes | None:
        """The JSON document that a GET of this path answers, None where it is not ours."""


@dataclass(frozen=True)
class Rules:
    """What a server accepts. `hosts` and `origins` are allowed beside those of this machine.

    Loopback names are believed only where the server listens on loopback: `local`.
    """

    path: str = "/mcp"
    local: bool = True
    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    guard: Guard | None = None

    def admit(self, request: Request, server: Server) -> tuple[JsonObject, str | None]:
        """The message, and the principal who sent it. Raises Refused."""
        target = self._locate(request)
        self._check_origin(request)
        if target.partition("?")[0] != self.path:
            raise self._elsewhere(request, target)
        if request.method != "POST":
            why = "only POST is served here; streams by GET and sessions are of earlier revisions"
            raise refused(405, why, {"Allow": "POST"})
        _check_media_types(request)
        message = _message(request)
        principal = None
        if self.guard is not None:
            principal = self.guard.admit(request.single("Authorization"), message)
        _check_headers(request, message, server)
        return message, principal

    def _locate(self, request: Request) -> str:
        """The path and query that are asked for, at a host that is ours."""
        absolute = _ABSOLUTE.fullmatch(request.target)
        host = request.single("Host")
        if host is None and request.version >= (1, 1):
            raise refused(400, "the header Host is missing")
        if absolute:
            host = absolute[1]
        name = _AUTHORITY.fullmatch(host) if host is not None else None
        if host is not None and (name is None or not self._is_ours(host, name[1])):
            raise refused(403, f"Host is {brief(host)}, which this server does not go by")
        return (absolute[2] or "/") if absolute else request.target

    def _is_ours(self, host: str, name: str) -> bool:
        return (self.local and is_loopback(name)) or not self.hosts.isdisjoint(
            (host.lower(), name.lower())
        )

    def _check_origin(self, request: Request) -> None:
        """Only browsers send one, and it says whose page asks."""
        origin = request.single("Origin")
        if origin is None or origin.lower() in self.origins:
            return
        site = _ABSOLUTE.fullmatch(origin)
        name = _AUTHORITY.fullmatch(site[1]) if site and not site[2] else None
        if name is None or not (self.local and is_loopback(name[1])):
            raise refused(403, f"Origin is {brief(origin)}, whose pages may not call this server")

    def _elsewhere(self, request: Request, target: str) -> Refused:
        if self.guard is not None and request.method in ("GET", "HEAD"):
            document = self.guard.well_known(target)
            if document is not None:  # no refusal, but an answer that no message is needed for
                return Refused(200, {"Content-Type": JSON}, document)
        return refused(404, f"nothing is at {brief(target)}; the MCP endpoint is {self.path}")


def media_type(value: str | None) -> str:
    """media_type("Application/JSON; charset=UTF-8") -> "application/json" """
    return (value or "").partition(";")[0].strip().lower()


def _check_media_types(request: Request) -> None:
    sent = request.single("Content-Type")
    if media_type(sent) != JSON or request.listed("Content-Encoding") not in ("", "identity"):
        raise refused(415, f"Content-Type is {brief(sent)}; {JSON}, uncompressed, is due")
    if not request.all("Accept"):  # nothing said is anything taken (RFC 9110, 12.5.1)
        return
    accepted = request.listed("Accept")
    if not _takes_both(accepted):
        raise refused(
            406, f"Accept is {brief(accepted)}; {JSON} and {STREAM} are due (streamable-http)"
        )


@lru_cache(maxsize=64)
def _takes_both(accepted: str) -> bool:
    """Does an Accept take JSON and an event stream? A client sends the same one every time."""
    ranges = [part.partition(";") for part in accepted.split(",")]
    taken = {range.strip() for range, _, how in ranges if not re.search(r"q=0(\.0*)?\s*$", how)}
    return all(
        not taken.isdisjoint((due, due.partition("/")[0] + "/*", "*/*")) for due in (JSON, STREAM)
    )


def _message(request: Request) -> JsonObject:
    """The one request or notification in the body."""
    try:
        message = jsonrpc.parse(request.body)
        if "method" not in message:
            raise InvalidRequest("a client sends no responses (streamable-http)")
    except RpcError as problem:
        raise refused(400, problem) from None
    return message


def _check_headers(request: Request, message: JsonObject, server: Server) -> None:
    try:
        if jsonrpc.kind(message) == "notification":
            headers.tolerate(request.all, message)
        else:
            headers.agree(request.all, message, _annotated(message, server))
    except RpcError as problem:
        raise refused(STATUS[problem.code], problem, id=message.get("id")) from None


def _annotated(message: JsonObject, server: Server) -> list[mirrors.Mirror]:
    """The annotations of the tool that is called; none of one that no client may call over HTTP."""
    params = message.get("params")
    name = params.get("name") if isinstance(params, dict) else None
    if message["method"] != "tools/call" or not isinstance(name, str):
        return []
    try:
        return mirrors.mirrors(server.defined["tools"].get(name, {}).get("inputSchema"))
    except IllegalSchema:
        return []
