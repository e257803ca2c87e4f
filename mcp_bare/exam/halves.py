"""A call in two halves: the server asks back, and the same call goes out again with the answers.

    answers(exchange) -> {"inputResponses": {"q": {"action": "accept", ...}}, "requestState": "..."}

Does not handle: what may be asked (`rules_asking`), what a person would say (`samples`).

Spec: basic/patterns/mrtr.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_bare.exam import samples

if TYPE_CHECKING:
    from typing import Any

    from mcp_bare.exam.ids import Ids
    from mcp_bare.exam.record import Exchange
    from mcp_bare.revision import JsonObject


def again(ids: Ids, exchange: Exchange, **more: Any) -> JsonObject:
    """The same call as before, as a request of its own."""
    capabilities = more.pop("capabilities", None)
    return ids.request(exchange.method, {**exchange.bare, **more}, capabilities=capabilities)


def answers(exchange: Exchange) -> JsonObject:
    """What a retry adds: the answers, and the state as it came."""
    result = exchange.result or {}
    asked = result.get("inputRequests")
    added: JsonObject = {}
    if isinstance(asked, dict):
        added["inputResponses"] = {key: samples.answer(asked[key]) for key in asked}
    if "requestState" in result:
        added["requestState"] = result["requestState"]
    return added


def outcome(exchange: Exchange) -> str:
    """In a word or a code: complete, isError, input_required, -32602."""
    if exchange.result is None:
        return str((exchange.error or {}).get("code", "nothing"))
    failed = exchange.result.get("isError") is True
    return "isError" if failed else str(exchange.result.get("resultType", "complete"))


def is_retry_of(exchange: Exchange, asked: Exchange) -> bool:
    """Whether this is the second half of that call."""
    retried = {"inputResponses", "requestState"} & exchange.params.keys()
    keys = ("name", "uri", "arguments")
    same = all(exchange.params.get(key) == asked.params.get(key) for key in keys)
    return bool(retried) and same and exchange.method == asked.method
