"""All that one specification date decides: versions, `_meta` keys, codes, methods, deprecations.

This is the only module in which a protocol date stands. When the next revision comes, it is the
module to read beside the changelog.

Spec: basic/index (error codes, `_meta`), basic/versioning, server/utilities/caching, deprecated.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` costs a server a fifth of its start; only the type checker needs it
    from typing import Any, Final, TypeAlias

    JsonObject: TypeAlias = dict[str, Any]
    RequestId: TypeAlias = str | int

CURRENT: Final = "2026-07-28"
"""The revision this toolkit speaks."""

MODERN: Final = (CURRENT,)
"""Versions that carry their metadata in every request, newest first."""

LEGACY: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Versions that open with an `initialize` handshake, newest first."""

# --- `_meta` keys (basic/index, "Reserved keys") ---
PROTOCOL_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
CLIENT_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO: Final = "io.modelcontextprotocol/clientInfo"
SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"
LOG_LEVEL: Final = "io.modelcontextprotocol/logLevel"
SUBSCRIPTION_ID: Final = "io.modelcontextprotocol/subscriptionId"
PROGRESS_TOKEN: Final = "progressToken"

REQUIRED_META: Final = (PROTOCOL_VERSION, CLIENT_CAPABILITIES)
"""What every request must carry; without it the answer is -32602."""

# --- error codes (basic/index, "Error Codes") ---
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
HEADER_MISMATCH: Final = -32020
MISSING_REQUIRED_CLIENT_CAPABILITY: Final = -32021
UNSUPPORTED_PROTOCOL_VERSION: Final = -32022

MODERN_ONLY_CODES: Final = frozenset(
    {HEADER_MISMATCH, MISSING_REQUIRED_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION}
)
"""Codes that no legacy server has: seeing one proves that the server is modern."""

CODE_NAMES: Final = {
    PARSE_ERROR: "ParseError",
    INVALID_REQUEST: "InvalidRequest",
    METHOD_NOT_FOUND: "MethodNotFound",
    INVALID_PARAMS: "InvalidParams",
    INTERNAL_ERROR: "InternalError",
    HEADER_MISMATCH: "HeaderMismatch",
    MISSING_REQUIRED_CLIENT_CAPABILITY: "MissingRequiredClientCapability",
    UNSUPPORTED_PROTOCOL_VERSION: "UnsupportedProtocolVersion",
}

# --- methods ---
DISCOVER: Final = "server/discover"
LISTEN: Final = "subscriptions/listen"
CANCELLED: Final = "notifications/cancelled"
PROGRESS: Final = "notifications/progress"
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"

LISTS: Final = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
"""The four paged methods, and the key in the result that holds the page."""

CACHEABLE: Final = frozenset({DISCOVER, *LISTS, "resources/read"})
"""Complete results of these must carry `ttlMs` and `cacheScope` (server/utilities/caching)."""

MULTI_ROUND_TRIP: Final = frozenset({"tools/call", "resources/read", "prompts/get"})
"""Only these may be answered `input_required` (basic/patterns/mrtr, "Supported Requests")."""

CONTROL: Final = {"prompts": "user", "resources": "application", "tools": "model"}
"""Who decides that a primitive is used (server/index)."""

FILTERS: Final = {
    "toolsListChanged": "notifications/tools/list_changed",
    "promptsListChanged": "notifications/prompts/list_changed",
    "resourcesListChanged": "notifications/resources/list_changed",
    "resourceSubscriptions": "notifications/resources/updated",
}
"""Each field of a subscription's filter, and the notification it asks for."""

LOG_LEVELS: Final = (
    *("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"),
)

INPUT_CAPABILITY: Final = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
"""What a server may ask for in `inputRequests`, and the capability the client must declare."""

METHODS: Final = {
    "server/discover": {"decides": "client", "asks": "", "gives": "supportedVersions, capabilities",
                        "page": "server/discover"},
    "tools/list": {"decides": "client", "asks": "cursor?", "gives": "tools, nextCursor?",
                   "page": "server/tools"},
    "tools/call": {"decides": "model", "asks": "name, arguments?",
                   "gives": "content, structuredContent?, isError?", "page": "server/tools"},
    "resources/list": {"decides": "client", "asks": "cursor?", "gives": "resources, nextCursor?",
                       "page": "server/resources"},
    "resources/templates/list": {"decides": "client", "asks": "cursor?",
                                 "gives": "resourceTemplates, nextCursor?",
                                 "page": "server/resources"},
    "resources/read": {"decides": "application", "asks": "uri", "gives": "contents",
                       "page": "server/resources"},
    "prompts/list": {"decides": "client", "asks": "cursor?", "gives": "prompts, nextCursor?",
                     "page": "server/prompts"},
    "prompts/get": {"decides": "user", "asks": "name, arguments?",
                    "gives": "messages, description?", "page": "server/prompts"},
    "completion/complete": {"decides": "user", "asks": "ref, argument, context?",
                            "gives": "completion", "page": "server/utilities/completion"},
    "subscriptions/listen": {"decides": "client", "asks": "notifications",
                             "gives": "held back until the stream ends",
                             "page": "basic/patterns/subscriptions"},
}  # fmt: skip
"""Every request of this revision. All go from client to server; `?` marks what may be absent."""

NOTIFICATIONS: Final = {
    "notifications/cancelled": ("client; server, for a stream", "basic/patterns/cancellation"),
    "notifications/progress": ("server", "basic/patterns/progress"),
    "notifications/message": ("server", "server/utilities/logging"),
    "notifications/subscriptions/acknowledged": ("server", "basic/patterns/subscriptions"),
    "notifications/tools/list_changed": ("server", "server/tools"),
    "notifications/prompts/list_changed": ("server", "server/prompts"),
    "notifications/resources/list_changed": ("server", "server/resources"),
    "notifications/resources/updated": ("server", "server/resources"),
}  # fmt: skip
"""Every notification, who sends it, and its page."""

FEATURES: Final = (
    ("initialize handshake and session", "2024-11-05", "2025-11-25"),
    ("requests from server to client", "2024-11-05", "2025-11-25"),
    ("ping, logging/setLevel, resources/subscribe", "2024-11-05", "2025-11-25"),
    ("HTTP+SSE transport", "2024-11-05", None),
    ("roots, sampling, logging", "2024-11-05", None),
    ("JSON-RPC batches", "2025-03-26", "2025-03-26"),
    ("Streamable HTTP", "2025-03-26", None),
    ("tool annotations", "2025-03-26", None),
    ("structuredContent and outputSchema", "2025-06-18", None),
    ("elicitation, form mode", "2025-06-18", None),
    ("elicitation, URL mode", "2025-11-25", None),
    ("tasks in the core", "2025-11-25", "2025-11-25"),
    ("_meta on every request, server/discover", "2026-07-28", None),
    ("resultType, input_required, requestState", "2026-07-28", None),
    ("subscriptions/listen, ttlMs, cacheScope", "2026-07-28", None),
)
"""What came and went: (feature, first revision that has it, last one or None). From the pages
`changelog` of each revision."""

DEPRECATED: Final = (
    {"feature": "roots", "since": CURRENT, "earliestRemoval": "2027-07-28",
     "migration": "tool parameters, resource URIs or server configuration"},
    {"feature": "sampling", "since": CURRENT, "earliestRemoval": "2027-07-28",
     "migration": "call a model provider's API directly"},
    {"feature": "logging", "since": CURRENT, "earliestRemoval": "2027-07-28",
     "migration": "stderr on stdio, OpenTelemetry elsewhere"},
    {"feature": "dynamic client registration", "since": CURRENT, "earliestRemoval": "2027-07-28",
     "migration": "Client ID Metadata Documents"},
    {"feature": "includeContext thisServer/allServers", "since": "2025-11-25",
     "earliestRemoval": "with sampling", "migration": 'leave it out, or "none"'},
    {"feature": "HTTP+SSE transport", "since": "2025-03-26",
     "earliestRemoval": "three months after SEP-2596 is final", "migration": "Streamable HTTP"},
)  # fmt: skip
"""The registry of deprecated features (page `deprecated`)."""


def request_meta(
    capabilities: JsonObject, client_info: JsonObject | None = None, version: str = CURRENT
) -> JsonObject:
    """The `_meta` object of one request.

    request_meta({}) -> {".../protocolVersion": "2026-07-28", ".../clientCapabilities": {}}
    """
    meta: JsonObject = {PROTOCOL_VERSION: version, CLIENT_CAPABILITIES: capabilities}
    if client_info is not None:
        meta[CLIENT_INFO] = client_info
    return meta
