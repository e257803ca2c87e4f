"""A good server with one MUST broken: `python breaking.py NAME COMMAND...`.

It stands between the exam and the server, and changes what goes by in one way. None of these is a
fault of `toy_servers/rude.py`. A break may rewrite a request on its way in (`inward`), or say in
which lines a message goes out (`outward`, which is given the request that it answers, if any).
"""

import json
import os
import subprocess
import sys
import threading

META = "io.modelcontextprotocol/"
BREAKS = {}


def line(message):
    return json.dumps(message).encode() + b"\n"


class Break:
    """Changes nothing."""

    def inward(self, request):
        return request

    def outward(self, message, request):
        return [line(self.change(message, request))]

    def change(self, message, request):
        return message


def named(kind):
    BREAKS[kind.__doc__.split(":")[0]] = kind
    return kind


def changes(name, where=lambda message, request: True):
    """A break that changes a message in place, where it applies."""

    def register(change):
        def in_place(self, message, request):
            if where(message, request):
                change(message, request)
            return message

        BREAKS[name] = type(name, (Break,), {"change": in_place})
        return change

    return register


def result_of(*methods):
    def applies(message, request):
        return request is not None and "result" in message and request["method"] in methods

    return applies


def error_of(code):
    return lambda message, request: message.get("error", {}).get("code") == code


def asks(message, request):
    return message.get("result", {}).get("resultType") == "input_required"


def form_of(message):
    (asked,) = message["result"]["inputRequests"].values()
    return asked["params"]


named(type("Nothing", (Break,), {"__doc__": "nothing"}))


# --- refusals ---


@changes("code-is-text", error_of(-32602))
def code_is_text(message, request):
    message["error"]["code"] = "-32602"


@changes("no-message-in-error", error_of(-32601))
def no_message_in_error(message, request):
    del message["error"]["message"]


@changes("code-of-our-own", error_of(-32601))
def code_of_our_own(message, request):
    message["error"]["code"] = -32050


@changes("resource-not-found-as-before", error_of(-32602))
def resource_not_found_as_before(message, request):
    if request and request["method"] == "resources/read":
        message["error"]["code"] = -32002


@changes("versions-not-listed", error_of(-32022))
def versions_not_listed(message, request):
    del message["error"]["data"]["supported"]


@changes("capability-not-named", error_of(-32021))
def capability_not_named(message, request):
    message["error"]["data"] = {}


@changes("versions-are-one-string", result_of("server/discover"))
def versions_are_one_string(message, request):
    message["result"]["supportedVersions"] = "2026-07-28"


@named
class EmptyContents(Break):
    """empty-contents: a resource that does not exist is read, and is empty."""

    def change(self, message, request):
        if request and request["method"] == "resources/read" and "error" in message:
            kept = {"ttlMs": 0, "cacheScope": "private", "resultType": "complete"}
            return {"jsonrpc": "2.0", "id": message["id"], "result": {"contents": [], **kept}}
        return message


# --- bytes ---


@named
class Batches(Break):
    """batches: each answer in an array."""

    def outward(self, message, request):
        return [line([message])]


@named
class Mark(Break):
    """byte-order-mark: as some libraries write it."""

    def outward(self, message, request):
        return [b"\xef\xbb\xbf" + line(message)]


@named
class NotANumber(Break):
    """not-a-number: JSON has no NaN."""

    def outward(self, message, request):
        if "result" in message:
            message["result"]["score"] = float("nan")
        return [line(message)]


@named
class TwoOnALine(Break):
    """two-on-a-line: a progress message and the answer, with no newline between."""

    def outward(self, message, request):
        note = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}
        given = (request or {}).get("params", {})
        token = given.get("_meta", {}).get("progressToken") if isinstance(given, dict) else None
        if token is None:
            return [line(message)]
        note["params"] = {"progressToken": token, "progress": 1}
        return [line(note)[:-1] + line(message)]


@changes("fractional-id", lambda message, request: type(message.get("id")) is int)
def fractional_id(message, request):
    message["id"] += 0.5


@changes("old-json-rpc")
def old_json_rpc(message, request):
    message["jsonrpc"] = "1.0"


# --- results ---


@changes("negative-ttl", result_of("server/discover", "tools/list"))
def negative_ttl(message, request):
    message["result"]["ttlMs"] = -1


@changes("scope-of-nobody", result_of("resources/read"))
def scope_of_nobody(message, request):
    message["result"]["cacheScope"] = "shared"


@changes("schema-is-null", result_of("tools/list"))
def schema_is_null(message, request):
    message["result"]["tools"][0]["inputSchema"] = None


@changes("mirror-on-an-object", result_of("tools/list"))
def mirror_on_an_object(message, request):
    odd = {"type": "object", "x-mcp-header": "Odd"}
    message["result"]["tools"][0]["inputSchema"]["properties"] = {"odd": odd}


@changes("structure-not-as-promised", result_of("tools/list"))
def structure_not_as_promised(message, request):
    for tool in message["result"]["tools"]:
        tool["outputSchema"] = {"type": "object", "required": ["never given"]}


@changes("content-of-no-shape", result_of("tools/call"))
def content_of_no_shape(message, request):
    message["result"]["content"] = [{"type": "text"}]


@changes("tools-not-declared", result_of("server/discover"))
def tools_not_declared(message, request):
    del message["result"]["capabilities"]["tools"]


@named
class ListPerConnection(Break):
    """a-list-per-connection: a tool that no other process has."""

    def change(self, message, request):
        if result_of("tools/list")(message, request):
            extra = {"name": f"mine_{os.getpid()}", "inputSchema": {"type": "object"}}
            message["result"]["tools"].append(extra)
        return message


@named
class ScopeByPage(Break):
    """a-scope-by-page: a second page that is private, after a public one."""

    def change(self, message, request):
        if result_of("tools/list")(message, request):
            second = request["params"].get("cursor") == "2"
            message["result"]["cacheScope"] = "private" if second else "public"
            if not second:
                message["result"]["nextCursor"] = "2"
        return message


# --- asking back ---


@named
class AsksAnybody(Break):
    """asks-anybody: the server is told that every client can do everything."""

    def inward(self, request):
        params = request.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        if isinstance(meta, dict) and META + "clientCapabilities" in meta:
            meta[META + "clientCapabilities"] = {"elicitation": {"form": {}}}
        return request


@named
class Remembers(Break):
    """remembers: a capability once declared is declared for good."""

    def __init__(self):
        self.known = {}

    def inward(self, request):
        params = request.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        if isinstance(meta, dict) and isinstance(meta.get(META + "clientCapabilities"), dict):
            self.known |= meta[META + "clientCapabilities"]
            meta[META + "clientCapabilities"] = dict(self.known)
        return request


@named
class StateAtHome(Break):
    """state-at-home: what it needs to go on stays in this process, under a number."""

    def __init__(self):
        self.states = []

    def inward(self, request):
        params = request.get("params")
        state = params.get("requestState") if isinstance(params, dict) else None
        if state is not None:
            known = state.isdigit() and int(state) < len(self.states)
            params["requestState"] = self.states[int(state)] if known else "lost"
        return request

    def change(self, message, request):
        if asks(message, request):
            self.states.append(message["result"]["requestState"])
            message["result"]["requestState"] = str(len(self.states) - 1)
        return message


@named
class ListAsks(Break):
    """a-list-asks: tools/list is answered by a question."""

    def change(self, message, request):
        if result_of("prompts/list")(message, request):
            message["result"] = {"resultType": "input_required", "requestState": "x"}
        return message


@changes("asks-for-nothing", asks)
def asks_for_nothing(message, request):
    del message["result"]["inputRequests"], message["result"]["requestState"]


@changes("asks-what-nobody-knows", asks)
def asks_what_nobody_knows(message, request):
    (asked,) = message["result"]["inputRequests"].values()
    asked["method"] = "dreams/interpret"


@changes("form-with-an-object", asks)
def form_with_an_object(message, request):
    form_of(message)["requestedSchema"]["properties"]["inner"] = {"type": "object"}


@changes("form-for-a-password", asks)
def form_for_a_password(message, request):
    properties = form_of(message)["requestedSchema"]["properties"]
    properties["password"] = {"type": "string"}


# --- notifications ---


def before(note):
    """A break that sends a notification before each answer to a request."""

    def outward(self, message, request):
        notes = [note(request)] if request is not None and "id" in message else []
        sent = [{"jsonrpc": "2.0", "method": m, "params": p} for m, p in notes]
        return [line(each) for each in [*sent, message]]

    return type("Before", (Break,), {"outward": outward})


BREAKS |= {
    "logs-unasked": before(lambda r: ("notifications/message", {"level": "info", "data": "x"})),
    "progress-of-nobody": before(
        lambda r: ("notifications/progress", {"progressToken": "nobody", "progress": 1})
    ),
    "cancels-a-call": before(lambda r: ("notifications/cancelled", {"requestId": r["id"]})),
    "change-without-a-stream": before(lambda r: ("notifications/tools/list_changed", {})),
}


@changes("progress-stands", lambda m, r: m.get("method") == "notifications/progress")
def progress_stands(message, request):
    message["params"]["progress"] = 1


@named
class ProgressGoesOn(Break):
    """progress-goes-on: and on, after the answer."""

    def outward(self, message, request):
        params = (request or {}).get("params")
        meta = params.get("_meta", {}) if isinstance(params, dict) else {}
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        note = {"progressToken": token, "progress": 99}
        late = {"jsonrpc": "2.0", "method": "notifications/progress", "params": note}
        return [line(message), *([line(late)] if token is not None and "id" in message else [])]


ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


def acknowledges(message, request):
    return message.get("method") == ACKNOWLEDGED


@changes("stream-id-as-text", acknowledges)
def stream_id_as_text(message, request):
    meta = message["params"]["_meta"]
    meta[META + "subscriptionId"] = str(meta[META + "subscriptionId"])


@changes("agrees-to-more", acknowledges)
def agrees_to_more(message, request):
    message["params"]["notifications"] = {"promptsListChanged": True, "logs": True}


@named
class NotAskedFor(Break):
    """not-asked-for: every stream hears of every change."""

    def outward(self, message, request):
        lines = [line(message)]
        if acknowledges(message, request):
            params = {"_meta": message["params"]["_meta"], "uri": "x://y"}
            note = {"method": "notifications/resources/updated", "params": params}
            lines.append(line({"jsonrpc": "2.0", **note}))
        return lines


@named
class HearsOn(Break):
    """hears-on: a subscription that was cancelled goes on."""

    def __init__(self):
        self.cancelled = None

    def inward(self, request):
        if request.get("method") == "notifications/cancelled":
            params = request.get("params")
            self.cancelled = params.get("requestId") if isinstance(params, dict) else None
        return request

    def outward(self, message, request):
        lines = [line(message)]
        if self.cancelled == 41:  # the stream of the exam that is cancelled
            params = {"_meta": {META + "subscriptionId": 41}}
            note = {"method": "notifications/tools/list_changed", "params": params}
            lines.insert(0, line({"jsonrpc": "2.0", **note}))
        return lines


# --- the pipe ---


def main(name, command):
    broken = BREAKS[name]()
    asked = {}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        reader = threading.Thread(target=back, args=(server.stdout, broken, asked), daemon=True)
        reader.start()
        for raw in sys.stdin.buffer:
            server.stdin.write(forth(raw, broken, asked))
            server.stdin.flush()
        server.stdin.close()
        reader.join()


def forth(raw, broken, asked):
    try:
        message = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    if not isinstance(message, dict) or "method" not in message:
        return raw
    before = asked[key_of(message)] = json.loads(raw)
    changed = broken.inward(message)
    return raw if changed == before else line(changed)


def key_of(message):
    return type(message.get("id")).__name__, str(message.get("id"))


def back(pipe, broken, asked):
    for raw in pipe:
        message = json.loads(raw)
        request = asked.get(key_of(message))
        for each in broken.outward(message, None if "method" in message else request):
            sys.stdout.buffer.write(each)
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
