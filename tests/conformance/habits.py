"""Bad habits: what a server or a client may do wrong, each as one function for `between`.

A function of `(headers, message)` changes a request on its way in, one of `(asked, said)` an answer
on its way out, one of `(asked, status)` its status. Which of them breaks what stands in `broken`.
"""

import json
from collections.abc import Callable
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from mcp_bare import headers as standard
from mcp_bare import revision
from mcp_bare.auth.user_agent import follow
from tests.conformance.between import Headers, Message

MIRRORED = {"region": "Mcp-Param-Region", "priority": "Mcp-Param-Priority"}
SHA_256 = 43  # how many characters of Base64 it takes


# --- what a server does wrong: on the way in ---


def forgive_meta(headers: Headers, message: Message) -> Message:
    """Take a request without `_meta` as if it had one."""
    params = message.setdefault("params", {})
    params["_meta"] = {**revision.request_meta({}), **params.get("_meta", {})}
    return message


def believe_in_everything(headers: Headers, message: Message) -> Message:
    """Take it that every client can do everything."""
    meta = message.get("params", {}).get("_meta", {})
    if revision.CLIENT_CAPABILITIES in meta:
        meta[revision.CLIENT_CAPABILITIES] = {
            name: {} for name in revision.INPUT_CAPABILITY.values()
        }
    return message


def log_always(headers: Headers, message: Message) -> Message:
    """Log whether or not the request asked for it."""
    message.get("params", {}).get("_meta", {}).setdefault(revision.LOG_LEVEL, "debug")
    return message


def look_at_no_header(headers: Headers, message: Message) -> Message:
    """Replace whatever the standard headers say by what the body says."""
    meta = message.get("params", {}).get("_meta", {})
    version = meta.get(revision.PROTOCOL_VERSION, revision.CURRENT)
    replace(headers, standard.standard(message, version))
    return message


def look_at_no_param_header(headers: Headers, message: Message) -> Message:
    """Likewise with what mirrors an argument."""
    arguments = message.get("params", {}).get("arguments", {})
    given = {MIRRORED[k]: standard.encode(v) for k, v in arguments.items() if k in MIRRORED}
    for name in [name for name in headers if name.lower().startswith("mcp-param-")]:
        del headers[name]
    replace(headers, given)
    return message


def look_at_no_host(headers: Headers, message: Message) -> Message:
    """Serve any page of any site, by whatever name it came."""
    headers.pop("Origin", None)
    headers.pop("origin", None)
    replace(headers, {"Host": "localhost"})
    return message


def replace(headers: Headers, new: Headers) -> None:
    for name in [name for name in headers if name.lower() in {each.lower() for each in new}]:
        del headers[name]
    headers.update(new)


def open_any_state(headers: Headers, message: Message) -> Message:
    """Take a state for sealed up to where its seal ends, whatever stands after it."""
    params = message.get("params", {})
    if isinstance(params.get("requestState"), str):
        body, _, seal = params["requestState"].rpartition(".")
        params["requestState"] = f"{body}.{seal[:SHA_256]}"
    return message


# --- on the way out ---


def always_200(asked: Message, status: int) -> int:
    return 200


def other_id(asked: Message, said: Message) -> Message:
    """Answer an error under an id that nobody asked with."""
    return {**said, "id": 4711} if "error" in said else said


def result_of_another(asked: Message, said: Message) -> Message:
    """Answer a request under an id that nobody asked with."""
    return {**said, "id": 4711} if "result" in said else said


def another_code(old: int, new: int) -> Callable[[Message, Message], Message]:
    def say(asked: Message, said: Message) -> Message:
        if said.get("error", {}).get("code") == old:
            said["error"]["code"] = new
        return said

    return say


def without(*names: str) -> Callable[[Message, Message], Message]:
    """Leave these out of every result."""

    def say(asked: Message, said: Message) -> Message:
        if "result" in said:
            said["result"] = {k: v for k, v in said["result"].items() if k not in names}
        return said

    return say


def for_ever(asked: Message, said: Message) -> Message:
    """Count the time to live below zero, for "never expires"."""
    if "ttlMs" in said.get("result", {}):
        said["result"]["ttlMs"] = -1
    return said


def empty_for_missing(asked: Message, said: Message) -> Message:
    """Find no resource, and answer with an empty one."""
    if asked["method"] == "resources/read" and "error" in said:
        hints = {"ttlMs": 0, "cacheScope": "private"}
        result = {"resultType": "complete", "contents": [], **hints}
        return {"jsonrpc": "2.0", "id": asked["id"], "result": result}
    return said


def ask_while_listing(asked: Message, said: Message) -> Message:
    """Answer a list with a question."""
    if asked["method"] == "tools/list" and "result" in said:
        said["result"] = {"resultType": "input_required", "requestState": "which tools?"}
    return said


def request_on_the_stream(asked: Message, said: Message) -> Message | list[Message]:
    """Ask the client by a request of the server's own, as the era before did."""
    if asked["method"] != "tools/call" or "result" not in said:
        return said
    return [{"jsonrpc": "2.0", "id": "s1", "method": "roots/list", "params": {}}, said]


def own_token(asked: Message, said: Message) -> Message:
    """Report progress under a token of one's own."""
    if said.get("method") == revision.PROGRESS:
        said["params"]["progressToken"] = "mine"
    return said


def untagged(asked: Message, said: Message) -> Message:
    """Do not say to which subscription a notification belongs."""
    if "method" in said:
        said["params"].pop("_meta", None)
    return said


def everything_to_everyone(asked: Message, said: Message) -> Message | list[Message]:
    """Send each subscriber what it did not ask for, too."""
    if said.get("method") != revision.ACKNOWLEDGED:
        return said
    return [said, {**said, "method": "notifications/tools/list_changed"}]


def plain_schemas(asked: Message, said: Message) -> Message:
    """List schemas with the keywords that one knows, and drop the others."""
    for tool in said.get("result", {}).get("tools", ()):
        schema = tool["inputSchema"]
        tool["inputSchema"] = {k: schema[k] for k in schema if k in ("type", "properties")}
    return said


# --- what a client does wrong ---


def tidy_state(headers: Headers, message: Message) -> Message:
    """Parse the server's state, and write it again with spaces."""
    params = message.get("params", {})
    if "requestState" in params:
        params["requestState"] = json.dumps(json.loads(params["requestState"]))
    return message


REAL = "example.com/realId"


def same_id(headers: Headers, message: Message) -> Message:
    """Send a retry with the id of the call before it; `real_id` mends its answer for the client."""
    if "inputResponses" not in message.get("params", {}):
        return message
    message["params"]["_meta"][REAL] = message["id"]
    return {**message, "id": message["id"] - 1}


def real_id(asked: Message, said: Message) -> Message:
    real = asked.get("params", {}).get("_meta", {}).get(REAL)
    return said if real is None else {**said, "id": real}


def no_header(name: str) -> Callable[[Headers, Message], Message]:
    def ask(headers: Headers, message: Message) -> Message:
        for found in [each for each in headers if each.lower() == name.lower()]:
            del headers[found]
        return message

    return ask


def any_tool(asked: Message, said: Message) -> Message:
    """Overlook what is wrong with a tool, and call it."""
    for tool in said.get("result", {}).get("tools", ()):
        for prop in tool["inputSchema"].get("properties", {}).values():
            prop.pop("x-mcp-header", None)
    return said


def follow_without(*names: str) -> Callable[[str], str]:
    """Go to log in without these parameters."""

    def go(url: str) -> str:
        return follow(_changed(url, dict.fromkeys(names)))

    return go


def believe_any_issuer(url: str) -> str:
    """Take the answer for one of whoever was asked, whatever it says of itself."""
    asked = urlsplit(url)
    return _changed(follow(url), {"iss": f"{asked.scheme}://{asked.netloc}"})


def _changed(url: str, new: dict[str, str | None]) -> str:
    """The URL with these parameters of its query replaced, or left out."""
    parts = urlsplit(url)
    query = {k: v for k, v in {**dict(parse_qsl(parts.query)), **new}.items() if v is not None}
    return urlunsplit(parts._replace(query=urlencode(query)))
