"""Which era is this server of? Ask it `server/discover`, and read the answer without guessing.

    a DiscoverResult                      modern: go on in the same process
    an error no legacy server has         modern, but not this version: take one it lists
    anything else, silence, or an exit    legacy: a fresh process, and `initialize`
    over HTTP: no server, silence, a 5xx, neither: the error is raised
    a refusal about the caller (401)

The rule is never keyed to one error code: legacy servers answer an unknown method with whatever
they like, or, over stdio, not at all. Over HTTP a server of either era owes each POST a response,
and the fallback starts from one; who says nothing is slow, or stuck, and would leave `initialize`
unanswered, too. An `initialize` answer proves nothing about the modern era.

Spec: basic/transports/stdio and streamable-http, "Backward Compatibility".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_bare import legacy, revision
from mcp_bare.client import Client
from mcp_bare.errors import (
    ErrorResponse,
    McpError,
    ProtocolViolation,
    RequestLost,
    RequestTimeout,
    TransportClosed,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcp_bare.exchange import Transport
    from mcp_bare.revision import JsonObject

MODERN, LEGACY = "modern", "legacy"
SILENT_S = 3.0  # over stdio a legacy server may say nothing at all: a person waits for this verdict
SAYS_NOTHING = (401, 403, 407, 408, 421, 429)
"""Refusals by HTTP that are about the caller, the network or the hour, not about the era."""


@dataclass(frozen=True)
class Verdict:
    """The era, the version to speak, and the evidence in words."""

    era: str
    version: str
    why: str


def judge(answer: JsonObject | McpError, *, silence_counts: bool = True) -> Verdict:
    """Read the answer to a `server/discover` that named our newest version.

    `answer` is the result, or the error that took its place. Raises ProtocolViolation where the
    server is modern and no version is common to both; RequestLost where HTTP brought no evidence;
    RequestTimeout where silence is none (`silence_counts`: it is over stdio, not over HTTP).
    """
    if isinstance(answer, dict):
        versions = answer.get("supportedVersions")
        whole = answer.get("resultType", "complete") == "complete"
        if whole and isinstance(versions, list) and versions:
            return _choose(versions, "a DiscoverResult")
        return _fall_back("a result that is no DiscoverResult")
    if isinstance(answer, ErrorResponse) and answer.code in revision.MODERN_ONLY_CODES:
        name = f"{answer.code} {revision.CODE_NAMES[answer.code]}"
        if answer.code != revision.UNSUPPORTED_PROTOCOL_VERSION:
            return Verdict(MODERN, revision.CURRENT, name)
        listed = answer.data.get("supported") if isinstance(answer.data, dict) else None
        return _choose(listed if isinstance(listed, list) else [], name)
    if isinstance(answer, RequestLost) and not _by_http(answer.status):
        raise answer
    if isinstance(answer, RequestTimeout) and not silence_counts:
        raise answer
    return _fall_back(_in_words(answer))


def connect(open_transport: Callable[[], Transport], **options: Any) -> tuple[Client, Verdict]:
    """A client that speaks the server's era, and how that was found out.

    `open_transport` makes a fresh transport each time it is called; `options` are Client's, and
    `probe_timeout`: the seconds of silence that count as an answer over stdio, 3 by default; over
    HTTP, those after which it is an error, by default the client's `timeout`. Raises McpError where
    neither era works.
    """
    patience = options.pop("probe_timeout", None)
    client = Client(open_transport(), **options)
    counts = getattr(client.exchange.transport, "silence_counts", True)
    if patience is None and counts:
        patience = SILENT_S
    try:
        verdict = judge(_discover(client, patience), silence_counts=counts)
        if verdict.era == LEGACY:
            client.close()
            again = {**options, "tape": client.tape, "version": verdict.version}
            client = Client(open_transport(), **again)
            verdict = _shake_hands(client, verdict)
    except BaseException:
        client.close()
        raise
    if verdict.era == MODERN:
        client.version = verdict.version
    return client, verdict


def _discover(client: Client, patience: float | None) -> JsonObject | McpError:
    try:
        return client.start(revision.DISCOVER).result(patience)
    except McpError as trouble:
        return trouble


def _shake_hands(client: Client, verdict: Verdict) -> Verdict:
    """Open a legacy connection.

    A server that was only slow to start looks silent, and so legacy. It refuses `initialize` with
    a code that no legacy server has: then it is modern after all, and the same process will do.
    """
    handlers = client.handlers  # and not the client: a cycle would keep its process alive
    client.exchange.on_request = lambda message: legacy.answer(message, handlers)
    try:
        opened = legacy.handshake(
            client.exchange,
            client.next_id(),
            client.capabilities,
            client.client_info,
            verdict.version,
        )
    except ErrorResponse as refusal:
        if refusal.code not in revision.MODERN_ONLY_CODES:
            raise
        corrected = judge(refusal)
        if corrected.era == LEGACY:  # it lists what it has just refused
            raise
        client.exchange.on_request = None
        return corrected
    client.initialize_result, client.version = opened, opened["protocolVersion"]
    return verdict


def _choose(listed: list[Any], evidence: str) -> Verdict:
    for version in (*revision.MODERN, *revision.LEGACY):
        if version in listed:
            era = MODERN if version in revision.MODERN else LEGACY
            return Verdict(era, version, f"{evidence} that lists {version}")
    raise ProtocolViolation(
        f"the server is modern ({evidence}) and speaks {listed}; this client speaks "
        f"{', '.join(revision.MODERN)}: no version in common (basic/versioning)"
    )


def _by_http(status: int | None) -> bool:
    """May a legacy server have answered a modern request with this status, and no more?"""
    return status is not None and 200 <= status < 500 and status not in SAYS_NOTHING


def _fall_back(evidence: str) -> Verdict:
    return Verdict(LEGACY, revision.LEGACY[0], evidence)


def _in_words(trouble: McpError) -> str:
    if isinstance(trouble, ErrorResponse):
        return f"error {trouble.code}, which a legacy server may answer"
    if isinstance(trouble, RequestTimeout):
        return f"silence for {trouble.seconds:g} s"
    if isinstance(trouble, RequestLost):
        return f"HTTP status {trouble.status} without an answer of the modern era"
    if isinstance(trouble, TransportClosed):
        code = "" if trouble.exit_code is None else f" with exit code {trouble.exit_code}"
        return f"an exit{code}"
    return f"an answer that is no message ({trouble})"
