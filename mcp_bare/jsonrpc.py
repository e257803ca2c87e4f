"""Build, parse and classify one JSON-RPC message; strictly, because it comes from a stranger.

`parse` takes the bytes of one message and returns a dict, or raises ParseError (-32700: this is
not JSON) or InvalidRequest (-32600: JSON, but no message). It refuses what the json module would
let through: NaN and Infinity, numbers too large for a double, a key given twice, nesting deeper
than `MAX_DEPTH`, more than `MAX_BYTES`. It does not look inside `params`: that is the server's
business, and only the server knows whether it may answer. An error shows the head of what arrived,
never all of it: a refusal must not be larger than what it refuses.

Spec: basic/index, "Messages".
"""

from __future__ import annotations

import json

from mcp_bare.errors import InvalidRequest, ParseError, RpcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeGuard

    from mcp_bare.revision import JsonObject, RequestId

MAX_BYTES = 32 * 1024 * 1024
MAX_DEPTH = 128
MAX_DIGITS = 309  # of an integer: a double has no more before its point


# --- build ---


def request(id: RequestId, method: str, params: JsonObject | None = None) -> JsonObject:
    """request(1, "x") -> {"jsonrpc": "2.0", "id": 1, "method": "x"}"""
    message: JsonObject = {"jsonrpc": "2.0", "id": id, "method": method}
    if params is not None:
        message["params"] = params
    return message


def notification(method: str, params: JsonObject | None = None) -> JsonObject:
    """A request without an id: it gets no answer."""
    message: JsonObject = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return message


def result(id: RequestId, result: JsonObject) -> JsonObject:
    """result(1, {"resultType": "complete"}) -> {"jsonrpc": "2.0", "id": 1, "result": {...}}"""
    return {"jsonrpc": "2.0", "id": id, "result": result}


def error(problem: RpcError, id: RequestId | None = None) -> JsonObject:
    """An error response; without an id where the request's id could not be read."""
    known = id if id is not None else problem.request_id
    head: JsonObject = {"jsonrpc": "2.0"} if known is None else {"jsonrpc": "2.0", "id": known}
    return {**head, "error": problem.body()}


def dumps(message: JsonObject) -> bytes:
    """The message as compact UTF-8 JSON on one line, without the newline.

    A lone surrogate (it has no UTF-8 form) makes the whole message ASCII-escaped instead.
    Raises ValueError for NaN, Infinity, and what nests too deep or contains itself; TypeError for
    what JSON cannot say.
    """
    try:
        text = _ENCODER.encode(message)
    except RecursionError:
        raise ValueError("it nests too deep, or contains itself") from None
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii")


# --- parse ---


def loads(data: bytes) -> Any:
    """Strict JSON: any value. Raises ParseError, saying what was found and where."""
    if len(data) > MAX_BYTES:
        raise ParseError(f"a message of {len(data)} bytes; the limit here is {MAX_BYTES}")
    try:
        text = data.decode("utf-8").strip(_BLANKS)
        value, end = _DECODER.raw_decode(text)
        if end < len(text):
            raise json.JSONDecodeError("Extra data", text, end)
    except UnicodeDecodeError as trouble:
        bad = data[trouble.start : trouble.start + 4].hex(" ")
        raise ParseError(f"not UTF-8: bytes {bad} at offset {trouble.start}") from None
    except RecursionError:
        raise ParseError(f"nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as trouble:
        raise ParseError(f"not JSON: {trouble}; it begins {_head(data)}") from None
    openings = data.count(b"{") + data.count(b"[")  # most messages have too few to be deep
    if openings > MAX_DEPTH and _deeper_than(value, MAX_DEPTH):
        raise ParseError(f"nested deeper than {MAX_DEPTH} levels")
    return value


def parse(data: bytes) -> JsonObject:
    """One JSON-RPC message as a dict. Raises ParseError or InvalidRequest (with the id, if read).

    parse(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}')["method"] -> "tools/list"
    """
    message = loads(data)
    if isinstance(message, list):
        raise InvalidRequest("a JSON-RPC batch; one message a line is due (basic/index)")
    if not isinstance(message, dict):
        raise InvalidRequest(f"{_head(data)} is no JSON-RPC message; a JSON object is due")
    problem = envelope_problem(message)
    if problem:
        readable = message.get("id")
        raise InvalidRequest(
            f"{problem} (basic/index)", request_id=readable if is_id(readable) else None
        )
    return message


def envelope_problem(message: JsonObject) -> str | None:
    """What is wrong with a message's envelope, or None."""
    if message.get("jsonrpc") != "2.0":
        return f'"jsonrpc" is {brief(message.get("jsonrpc"))}; it must be "2.0"'
    # An error may have an id of null: it answers something whose id could not be read.
    nobody = message.get("id") is None and "error" in message and "method" not in message
    if "id" in message and not is_id(message["id"]) and not nobody:
        return f'"id" is {brief(message["id"])}; it must be a string or an integer'
    if "method" in message:
        method = message["method"]
        return None if isinstance(method, str) else f'"method" is {brief(method)}; a string is due'
    return _answer_problem(message)


def _answer_problem(message: JsonObject) -> str | None:
    if ("result" in message) == ("error" in message):
        return 'a message has a "method", or else exactly one of "result" and "error"'
    if "result" in message:
        if "id" not in message:
            return "a result without an id"
        return None if isinstance(message["result"], dict) else '"result" must be an object'
    body = message["error"]
    sound = (
        isinstance(body, dict)
        and type(body.get("code")) is int
        and isinstance(body.get("message"), str)
    )
    return None if sound else f'"error" is {brief(body)}; it needs an integer code and a message'


# --- classify ---


def kind(message: JsonObject) -> str:
    """ "request", "notification", "result" or "error", for a message that `parse` let through."""
    if "method" in message:
        return "request" if "id" in message else "notification"
    return "result" if "result" in message else "error"


def is_id(value: object) -> TypeGuard[RequestId]:
    """A string or an integer; never null, a boolean or a fraction."""
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def id_key(id: RequestId) -> tuple[type, RequestId]:
    """A dictionary key that keeps 1 and "1" (and 1 and True) apart."""
    return (type(id), id)


def brief(value: object, size: int = 80) -> str:
    """The value in an error message: a refusal must not be larger than what it refuses."""
    text = repr(_beginning(value, [size]))
    return text if len(text) <= size else text[:size] + "…"


def _beginning(value: Any, room: list[int]) -> Any:
    """As much of a value as the first characters of its repr show: all of it may be megabytes."""
    if isinstance(value, str | bytes):
        cut = value[: max(room[0], 0) + 1]
        room[0] -= len(cut)
        return cut
    if isinstance(value, dict):
        some: JsonObject = {}
        for name, inner in value.items():
            if room[0] < 0:
                break
            room[0] -= 1
            some[_beginning(name, room)] = _beginning(inner, room)
        return some
    if not isinstance(value, list | tuple):
        return value
    kept = []
    for inner in value:
        if room[0] < 0:
            break
        room[0] -= 1
        kept.append(_beginning(inner, room))
    return tuple(kept) if isinstance(value, tuple) else kept


# --- the strict decoder's parts, and the encoder ---

# What contains itself is found by its depth, which costs nothing for what does not.
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False
)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> JsonObject:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"the key {brief(name)} is given twice in one object")
            seen.add(name)
    return found


def _whole(text: str) -> int:
    if len(text.lstrip("-")) > MAX_DIGITS:
        raise ValueError(
            f"an integer of {len(text)} characters; at most {MAX_DIGITS} digits are due"
        )
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:20]} does not fit a double")
    return number


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_BLANKS = " \t\r\n"
_DECODER = json.JSONDecoder(
    object_pairs_hook=_no_duplicates,
    parse_int=_whole,
    parse_float=_finite,
    parse_constant=_no_constant,
)


def _deeper_than(value: Any, limit: int) -> bool:
    """Walk the value level by level; a level is all that lies equally deep."""
    level = [value]
    for _ in range(limit + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def _head(data: bytes, size: int = 40) -> str:
    text = data[:size].decode("utf-8", "backslashreplace")
    return repr(text + ("…" if len(data) > size else ""))
