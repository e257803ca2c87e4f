"""What a request's headers repeat of its body, so that a proxy can route without parsing JSON.

    MCP-Protocol-Version: 2026...              _meta, the protocol version
    Mcp-Method: tools/call                     method
    Mcp-Name: execute_sql                      params.name, or params.uri
    Mcp-Param-Region: us-west1                 an argument with "x-mcp-header": "Region"
    Mcp-Param-City: =?base64?SWHImWk=?=        a value that no header can hold as it stands

A client derives them (`standard`, `mirrored`), a server compares them with the body (`agree`): two
machines that believe different halves of one request are an attack. All of it is about texts:
nothing here knows a socket, and which arguments have a header is for `mirrors` to say.

Spec: basic/transports/streamable-http, "Request Metadata".
"""

from __future__ import annotations

import binascii
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from mcp_bare import revision
from mcp_bare.errors import HeaderMismatch, UnsupportedVersion
from mcp_bare.jsonrpc import brief
from mcp_bare.mirrors import as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcp_bare.mirrors import Mirror
    from mcp_bare.revision import JsonObject

    Values = Callable[[str], list[str]]
    """All values of a header, by its name in any case."""

VERSION, METHOD, NAME = "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The methods that carry Mcp-Name, and the parameter that it repeats."""

_PREFIX, _SUFFIX = "=?base64?", "?="
_PLAIN = re.compile(r"[\x20-\x7e]*")
_FIELD_VALUE = re.compile(r"[\t\x20-\x7e]*")
_DECIMAL = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?")


# --- one value ---


def encode(value: str) -> str:
    """A text as a header value: as it stands, or in the Base64 form where it could be misread.

    encode("us-west1") -> "us-west1";  encode(" padded ") -> "=?base64?IHBhZGRlZCA=?="
    Raises ValueError for a lone surrogate, which has no UTF-8 form.
    """
    taken = value.startswith(_PREFIX) and value.endswith(_SUFFIX)
    if _PLAIN.fullmatch(value) and value == value.strip(" ") and not taken:
        return value
    packed = binascii.b2a_base64(value.encode("utf-8"), newline=False).decode("ascii")
    return f"{_PREFIX}{packed}{_SUFFIX}"


def decode(value: str) -> str:
    """The text that a header value stands for. Raises ValueError where the Base64 form is broken.

    Only the exact form counts: `=?BASE64?...?=` and `=?base64?...` are texts like any other.
    """
    whole = len(value) >= len(_PREFIX) + len(_SUFFIX)
    if not (whole and value.startswith(_PREFIX) and value.endswith(_SUFFIX)):
        return value
    packed = value[len(_PREFIX) : -len(_SUFFIX)].encode("ascii")
    plain = binascii.a2b_base64(packed, strict_mode=True)
    if binascii.b2a_base64(plain, newline=False) != packed:  # bits left over: a second spelling
        raise ValueError("not the canonical Base64")
    return plain.decode("utf-8")


# --- the client's end: derive ---


def standard(message: JsonObject, version: str) -> dict[str, str]:
    """The headers of any modern message; `version` where its `_meta` names none."""
    method, params = message["method"], _params(message)
    found = {VERSION: _version_of(params) or version, METHOD: encode(method)}
    name = _name_of(method, params)
    return found if name is None else {**found, NAME: encode(name)}


def mirrored(annotated: Iterable[Mirror], arguments: Any) -> dict[str, str]:
    """The Mcp-Param headers of one call; an argument that is absent or null has none.

    Raises ValueError for an argument that no header may carry.
    """
    texts = ((mirror.header, as_text(mirror.value(arguments))) for mirror in annotated)
    return {header: encode(text) for header, text in texts if text is not None}


# --- the server's end: compare ---


def agree(values: Values, message: JsonObject, annotated: Iterable[Mirror]) -> None:
    """Raise HeaderMismatch or UnsupportedVersion unless the headers say what the body says.

    What the body lacks is not judged here: that is for the server, with -32602.
    """
    method, params = message["method"], _params(message)
    _version_agrees(values, method, params)
    _same(METHOD, _due(values, METHOD), method)
    name = _name_of(method, params)
    if name is not None:
        _same(NAME, _decoded(NAME, _due(values, NAME)), name)
    for mirror in annotated:
        _mirror_agrees(values, mirror, params.get("arguments"))


def tolerate(values: Values, message: JsonObject) -> None:
    """The same for a notification, whose headers the specification leaves open: none is due."""
    version, method = _single(values, VERSION), _single(values, METHOD)
    if version is not None and version not in revision.MODERN:
        raise UnsupportedVersion(version, revision.MODERN)
    if method is not None:
        _same(METHOD, method, message["method"])


def _version_agrees(values: Values, method: str, params: JsonObject) -> None:
    gone = "; the initialize handshake is gone, send server/discover"
    hint = gone if method == "initialize" else ""
    header, body = _single(values, VERSION), _version_of(params)
    if header is None:
        speaks = f"; this server speaks {', '.join(revision.MODERN)}{hint}"
        raise HeaderMismatch(f"the header {VERSION} is missing{speaks} (streamable-http)")
    if body is not None:
        _same(VERSION, header, body)
    if header not in revision.MODERN:
        raise UnsupportedVersion(header, revision.MODERN, hint)


def _mirror_agrees(values: Values, mirror: Mirror, arguments: Any) -> None:
    header, value = _single(values, mirror.header), mirror.value(arguments)
    try:
        text = as_text(value)
    except ValueError as trouble:
        raise HeaderMismatch(f"{mirror.header}: {trouble}") from None
    if text is None:
        if header is not None:
            raise HeaderMismatch(
                f"{mirror.header} is {brief(header)}; the body has no such argument"
            )
        return
    got = _decoded(mirror.header, _due(values, mirror.header))
    if isinstance(value, str | bool) or not _equal_numbers(got, text):
        _same(mirror.header, got, text)


def _equal_numbers(header: str, text: str) -> bool:
    """42.0 is 42 (streamable-http, "Server Validation"): exactly, without a double in between."""
    if not _DECIMAL.fullmatch(header) or not _DECIMAL.fullmatch(text):
        return False
    return Fraction(header) == Fraction(text)


def _due(values: Values, name: str) -> str:
    value = _single(values, name)
    if value is None:
        raise HeaderMismatch(f"the header {name} is missing (streamable-http)")
    return value


def _single(values: Values, name: str) -> str | None:
    found = values(name)
    if len(found) > 1:
        raise HeaderMismatch(f"the header {name} is given {len(found)} times; one is due")
    if found and not _FIELD_VALUE.fullmatch(found[0]):
        raise HeaderMismatch(f"{name} is {brief(found[0])}; visible ASCII is due (streamable-http)")
    return found[0] if found else None


def _decoded(name: str, value: str) -> str:
    try:
        return decode(value)
    except ValueError as trouble:
        raise HeaderMismatch(f"{name} is {brief(value)}, broken Base64: {trouble}") from None


def _same(name: str, header: str, body: str) -> None:
    if header != body:
        raise HeaderMismatch(
            f"Header mismatch: {name} is {brief(header)}, the body says {brief(body)} "
            "(streamable-http)"
        )


# --- what the body says ---


def _params(message: JsonObject) -> JsonObject:
    found = message.get("params")
    return found if isinstance(found, dict) else {}


def _version_of(params: JsonObject) -> str | None:
    meta = params.get("_meta")
    found = meta.get(revision.PROTOCOL_VERSION) if isinstance(meta, dict) else None
    return found if isinstance(found, str) else None


def _name_of(method: str, params: JsonObject) -> str | None:
    found = params.get(NAMED[method]) if method in NAMED else None
    return found if isinstance(found, str) else None
