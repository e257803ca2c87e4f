"""One server, many faults, and a clause for each: `python toy_servers/rude.py FAULT`.

It offers one tool, `echo`, which says back its `text`. Below is first a polite server, then each
fault as a small function that serves in its own way, with the clause of the specification (revision
2026-07-28) that it breaks. Where nothing is broken, it is the client that has to cope.

Nothing wrong:          no-fault, slow-start, floods-stderr, huge-line
Noise on stdout:        stdout-banner, stdout-in-tool, progress-bar, glued, crlf, pretty-printed,
                        bad-utf8, cp1252
Ids:                    wrong-id, string-id, null-id-error, duplicate-answer, late
Silence and death:      silent, never-reads, exit-at-start, exit-3, dies-mid-line,
                        dies-with-children, fragile
Leaving:                ignores-eof, ignores-sigterm, has-children
Wrong messages:         sends-request, answers-notifications, result-not-object, no-result-type,
                        unknown-result-type, no-cache-hints, event-before-ack, knows-everything,
                        ignores-meta, accepts-any-version
Another version:        modern-other-version, modern-and-legacy
The era before:         legacy, legacy-32602, legacy-null-id, legacy-noisy, legacy-pings,
                        legacy-silent, exit-at-discover
"""

import json
import math
import os
import signal
import subprocess
import sys
import time

VERSION = "2026-07-28"
LATER = "2027-03-01"  # a revision of our invention
LEGACY = "2025-11-25"
META = "io.modelcontextprotocol/"
INFO = {"name": "rude", "version": "1.0.0"}
TEXT = {"type": "string", "description": "What to say back."}
TOOL = {
    "name": "echo",
    "description": "Says back what it is told: a déjà vu.",
    "inputSchema": {"type": "object", "properties": {"text": TEXT}, "required": ["text"]},
    "annotations": {"readOnlyHint": True},
}
LISTENING = set()  # ids of open subscriptions


# --- a polite server ---


class Refusal(Exception):
    def __init__(self, code, message, data=None, id=None):
        self.id, self.body = id, {"code": code, "message": message}
        if data is not None:
            self.body["data"] = data


def write(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def send(message):
    write(json.dumps(message, separators=(",", ":"), allow_nan=False).encode() + b"\n")


def failure(id, code, message, data=None):
    """An error response; without an id where it could not be read."""
    head = {"jsonrpc": "2.0"} if id is None else {"jsonrpc": "2.0", "id": id}
    return {**head, "error": Refusal(code, message, data).body}


def messages():
    """Every message that arrives; what is none is refused."""
    for line in sys.stdin.buffer:
        if line.isspace():
            continue
        try:
            yield parse(line)
        except Refusal as refusal:
            head = (
                {"jsonrpc": "2.0"} if refusal.id is None else {"jsonrpc": "2.0", "id": refusal.id}
            )
            send({**head, "error": refusal.body})


def requests(note=None):
    """Every request that arrives. `note` hears the notifications."""
    for message in messages():
        if "method" not in message:
            continue  # a response: to nothing that we asked
        if "id" in message:
            yield message
            continue
        if message["method"] == "notifications/cancelled":
            params = message.get("params")
            wanted = params.get("requestId") if isinstance(params, dict) else None
            LISTENING.difference_update(id for id in (wanted,) if isinstance(id, int | str))
        if note:
            note(message)


def calls(discovery=False, listen=None, note=None):
    """Every request but subscriptions, which are dealt with here, and so is discovery unless asked.

    Most faults leave discovery alone, so that a client gets as far as meeting them.
    """
    for request in requests(note):
        if request["method"] == "server/discover" and not discovery:
            send(answer(request))
        elif request["method"] == "subscriptions/listen":
            (listen or acknowledge)(request)
        else:
            yield request
    for id in LISTENING:  # the input has ended: every subscription ends gracefully
        tag = {META + "subscriptionId": id}
        cancelled = {"_meta": tag, "requestId": id}
        send(result(id, {"_meta": {**tag, META + "serverInfo": INFO}}))
        send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})


def acknowledge(request):
    """Nothing here ever changes, so nothing that was asked for can be promised."""
    refused = problem(request)
    if refused:
        send({"jsonrpc": "2.0", "id": request["id"], "error": refused.body})
        return
    LISTENING.add(request["id"])
    notify(request["id"], "notifications/subscriptions/acknowledged", {"notifications": {}})


def notify(subscription, method, params):
    tagged = {"_meta": {META + "subscriptionId": subscription}, **params}
    send({"jsonrpc": "2.0", "method": method, "params": tagged})


def parse(line):
    """One message, or a Refusal."""
    try:
        message = json.loads(line.decode(), parse_constant=no_number, parse_float=finite)
    except (ValueError, RecursionError):
        raise Refusal(-32700, "Parse error: a line of UTF-8 JSON is due") from None
    if not isinstance(message, dict):
        raise Refusal(-32600, "Invalid request: a JSON object is due")
    id = message.get("id")
    if "id" in message and (not isinstance(id, int | str) or isinstance(id, bool)):
        raise Refusal(-32600, "Invalid request: an id is a string or an integer")
    if message.get("jsonrpc") != "2.0":
        raise Refusal(-32600, 'Invalid request: "jsonrpc" is "2.0"', id=id)
    if "method" not in message and ("result" in message or "error" in message):
        return message
    if not isinstance(message.get("method"), str):
        raise Refusal(-32600, "Invalid request: a method is a string", id=id)
    return message


def no_number(name):
    raise ValueError(name)


def finite(text):
    return float(text) if math.isfinite(float(text)) else no_number(text)


def answer(request):
    """The response that the specification wants."""
    refused = problem(request)
    if refused:
        return {"jsonrpc": "2.0", "id": request["id"], "error": refused.body}
    params = request["params"]
    named = {"_meta": {META + "serverInfo": INFO}}
    kept = {"ttlMs": 60000, "cacheScope": "public", **named}
    match request["method"]:
        case "server/discover":
            found = {"supportedVersions": [VERSION], "capabilities": {"tools": {}}, **kept}
        case "tools/list":
            found = {"tools": [TOOL], **kept}
        case "tools/call":
            found = {**echo(params.get("arguments", {})), **named}
    return result(request["id"], found)


def problem(request):
    """What is wrong with a request, as a Refusal, or None."""
    method, params = request["method"], request.get("params", {})
    if method == "initialize":
        return wrong_version((params if isinstance(params, dict) else {}).get("protocolVersion"))
    meta = params.get("_meta") if isinstance(params, dict) else None
    if not isinstance(meta, dict) or META + "protocolVersion" not in meta:
        return Refusal(-32602, f"Invalid params: _meta with {META}protocolVersion is due")
    if not isinstance(meta.get(META + "clientCapabilities"), dict):
        return Refusal(-32602, f"Invalid params: _meta with {META}clientCapabilities is due")
    if meta[META + "protocolVersion"] != VERSION:
        return wrong_version(meta[META + "protocolVersion"])
    if method == "tools/call" and params.get("name") != "echo":
        return Refusal(-32602, "Invalid params: there is no such tool")
    if method == "tools/list" and params.get("cursor") is not None:
        return Refusal(-32602, "Invalid params: no such cursor")
    if method not in ("server/discover", "subscriptions/listen", "tools/list", "tools/call"):
        return Refusal(-32601, f"Method not found: {method[:80]}")
    return None


def wrong_version(requested, supported=(VERSION,)):
    if not isinstance(requested, str):
        return Refusal(-32602, f"Invalid params: a version is due; this server speaks {VERSION}")
    data = {"supported": list(supported), "requested": requested}
    return Refusal(-32022, f"Unsupported protocol version; known: {', '.join(supported)}", data)


def echo(arguments):
    text = arguments.get("text") if isinstance(arguments, dict) else None
    said = text if isinstance(text, str) else "Invalid arguments: text is missing."
    return {"content": [{"type": "text", "text": said}], "isError": not isinstance(text, str)}


def result(id, found):
    return {"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", **found}}


def legacy_answer(request):
    """The response as it was until 2025-11-25; like many, it does not insist on the handshake."""
    params = request.get("params", {})
    match request["method"]:
        case "initialize":
            head = {"protocolVersion": LEGACY, "serverInfo": INFO}
            found = {**head, "capabilities": {"tools": {}}}
        case "tools/list":
            found = {"tools": [TOOL]}
        case "tools/call" if params.get("name") == "echo":
            found = echo(params.get("arguments", {}))
        case "ping":
            found = {}
        case method:
            return failure(request["id"], -32601, f"Method not found: {method}")
    return {"jsonrpc": "2.0", "id": request["id"], "result": found}


def forever():
    while True:
        time.sleep(60)


# --- the faults ---

FAULTS = {}  # name -> (clause, function)


def breaks(clause):
    def register(serve):
        FAULTS[serve.__name__.replace("_", "-")] = (clause, serve)
        return serve

    return register


@breaks("nothing: this is the control")
def no_fault():
    for request in calls():
        send(answer(request))


@breaks("nothing: silence at the start is no sign of an era")
def slow_start():
    time.sleep(1.0)
    no_fault()


@breaks("nothing: basic/transports/stdio lets a server write to stderr as much as it likes")
def floods_stderr():
    for request in calls(discovery=True):
        print("a warning that nobody reads " * 40_000, file=sys.stderr)  # 1.1 MB
        send(answer(request))


@breaks("nothing: no page bounds a line, so a client must")
def huge_line():
    for request in calls():
        response = answer(request)
        if request["method"] == "tools/call" and "result" in response:
            response["result"]["content"] = [{"type": "text", "text": "x" * 40_000_000}]
        send(response)


@breaks("basic/transports/stdio: stdout MUST NOT carry what is not a message")
def stdout_banner():
    print("rude server 1.0.0 listening on stdio", flush=True)
    no_fault()


@breaks("basic/transports/stdio: stdout MUST NOT carry what is not a message")
def stdout_in_tool():
    for request in calls():
        if request["method"] == "tools/call":
            print("echo called", flush=True)
        send(answer(request))


@breaks("basic/transports/stdio: stdout MUST NOT carry what is not a message")
def progress_bar():
    for request in calls():
        for percent in (0, 50, 100):
            print(f"\r[{'#' * (percent // 10):10}] {percent}%", end="", flush=True)
        print(flush=True)
        send(answer(request))


@breaks("basic/transports/stdio: stdout MUST NOT carry what is not a message")
def glued():
    for request in calls():
        print("working... ", end="", flush=True)  # no newline: the answer ends up on this line
        send(answer(request))


@breaks("basic/transports/stdio: stdout MUST NOT carry what is not a message; a blank line is none")
def crlf():
    for request in calls(discovery=True):
        write(b"\r\n" + json.dumps(answer(request)).encode() + b"\r\n\r\n")


@breaks("basic/transports/stdio: messages MUST NOT contain embedded newlines")
def pretty_printed():
    for request in calls():
        write(json.dumps(answer(request), indent=2).encode() + b"\n")


@breaks("basic/transports/stdio: stdout MUST NOT carry what is not a message")
def bad_utf8():
    for request in calls():
        write(b"\xff\xfe\n")
        send(answer(request))


@breaks("basic/index: JSON-RPC 2.0, so JSON, so UTF-8; here the system's code page writes")
def cp1252():
    sys.stdout.reconfigure(encoding="cp1252")
    for request in calls():  # é becomes a byte that is not UTF-8, and ✓ ends the server
        print(json.dumps(answer(request), ensure_ascii=False), flush=True)


@breaks("basic/index: a response MUST include the id of its request")
def wrong_id():
    for request in calls():
        send({**answer(request), "id": 999})


@breaks("basic/index: a response MUST include the id of its request, and 1 is not the string 1")
def string_id():
    for request in calls():
        send({**answer(request), "id": str(request["id"])})


@breaks("basic/index: an error MUST include the id of its request where that could be read")
def null_id_error():
    for _ in calls():
        error = {"code": -32603, "message": "Internal error"}
        send({"jsonrpc": "2.0", "id": None, "error": error})


@breaks("basic/patterns: the server answers each request with a response; one")
def duplicate_answer():
    for request in calls():
        send(answer(request))
        send(answer(request))


@breaks("basic/transports/stdio: after a cancellation it MUST NOT send anything for that request")
def late():
    held = None  # the answer to the first call, which goes out just before the second
    for number, request in enumerate(calls()):
        if number == 0:
            held = answer(request)
            continue
        if number == 1:
            send(held)
        send(answer(request))


@breaks("basic/patterns: the server answers each request with a response")
def silent():
    for _ in requests():
        pass


@breaks("basic/transports/stdio: the server reads messages from stdin")
def never_reads():
    forever()


@breaks("basic/patterns: the server answers each request with a response")
def exit_at_start():
    sys.exit("ModuleNotFoundError: No module named 'acme_orm'")  # to stderr, with code 1


@breaks("basic/transports/stdio: one message a line; this is half of one")
def exit_3():
    for _ in calls():
        print("rude: the disk is full", file=sys.stderr)
        write(b'{"jsonrpc":"2.0","id":')
        sys.exit(3)


@breaks("basic/transports/stdio: one message a line; this is half of one")
def dies_mid_line():
    for request in calls():
        line = json.dumps(answer(request)).encode()
        write(line[: len(line) // 2])
        sys.exit(0)  # and stderr says nothing


@breaks("basic/patterns: the server answers each request with a response")
def dies_with_children():
    child_that_stays()
    for _ in calls():
        print("rude: out of memory", file=sys.stderr)
        sys.exit(3)  # the child still holds our stdout: the client sees no end of output


@breaks("basic/index: JSON-RPC 2.0, so a line that is not JSON is answered -32700")
def fragile():
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "id" in request:
            send(answer(request))


@breaks("basic/transports/stdio: a server SHOULD exit promptly at end of input")
def ignores_eof():
    no_fault()
    forever()


@breaks("basic/transports/stdio: a server SHOULD exit promptly at end of input")
def ignores_sigterm():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    no_fault()
    forever()


@breaks("basic/transports/stdio: a server SHOULD exit promptly, and this leaves half of itself")
def has_children():
    child_that_stays()
    no_fault()


def child_that_stays():
    """A child that inherits stdout and stderr and has no interest in our input."""
    stay = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    subprocess.Popen([sys.executable, "-I", "-S", "-c", stay], stdin=subprocess.DEVNULL)


@breaks("basic/transports/stdio: the server MUST NOT write requests to stdout")
def sends_request():
    for request in calls():
        params = {"mode": "form", "message": "Name?", "requestedSchema": {"type": "object"}}
        asked = {"jsonrpc": "2.0", "id": request["id"], "method": "elicitation/create"}
        send({**asked, "params": params})
        send(answer(request))


@breaks("basic/index: a notification is answered by nothing")
def answers_notifications():
    def reply(note):
        send(failure(None, -32601, f"Method not found: {note['method']}"))

    for request in calls(note=reply):
        send(answer(request))


@breaks("basic/index: the result is an object, with a resultType")
def result_not_object():
    for request in calls():
        send({"jsonrpc": "2.0", "id": request["id"], "result": ["hello"]})


@breaks("basic/index: the result MUST include a resultType")
def no_result_type():
    for request in calls(discovery=True):
        response = answer(request)
        response.get("result", {}).pop("resultType", None)
        send(response)


@breaks("basic/index: a client MUST treat an unknown resultType as invalid")
def unknown_result_type():
    for request in calls():
        response = answer(request)
        if "result" in response:
            response["result"]["resultType"] = "partial"
        send(response)


@breaks("server/utilities/caching: list and discover results MUST include ttlMs and cacheScope")
def no_cache_hints():
    for request in calls(discovery=True):
        response = answer(request)
        for hint in ("ttlMs", "cacheScope"):
            response.get("result", {}).pop(hint, None)
        send(response)


@breaks("basic/patterns/subscriptions: the acknowledgement MUST come first")
def event_before_ack():
    def eager(request):
        notify(request["id"], "notifications/tools/list_changed", {})
        acknowledge(request)

    for request in calls(listen=eager):
        send(answer(request))


@breaks("basic/index: JSON-RPC 2.0, so an unknown method is answered -32601")
def knows_everything():
    for request in calls():
        response = answer(request)
        unknown = response.get("error", {}).get("code") == -32601
        send(result(request["id"], {}) if unknown else response)


@breaks("basic/index: a request without the required _meta MUST be rejected with -32602")
def ignores_meta():
    for request in calls():
        send(answer(with_meta(request, {META + "clientCapabilities": {}})))


@breaks("basic/versioning: an unknown version MUST be answered -32022")
def accepts_any_version():
    for request in calls():
        meta = request.get("params", {}).get("_meta", {})
        send(answer(with_meta(request, meta) if META + "protocolVersion" in meta else request))


def with_meta(request, meta):
    """The request as if it had been sent with this metadata and our version."""
    meta = {**meta, META + "protocolVersion": VERSION}
    return {**request, "params": {**request.get("params", {}), "_meta": meta}}


@breaks("nothing: it speaks a later revision only, and says so (basic/versioning)")
def modern_other_version():
    for request in requests():
        refused = wrong_version(VERSION, [LATER])
        send({"jsonrpc": "2.0", "id": request["id"], "error": refused.body})


@breaks("nothing: it speaks a later revision and one with a handshake (basic/versioning)")
def modern_and_legacy():
    for request in requests():
        meta = request.get("params", {}).get("_meta", {})
        if META + "protocolVersion" in meta:
            refused = wrong_version(meta[META + "protocolVersion"], [LATER, LEGACY])
            send({"jsonrpc": "2.0", "id": request["id"], "error": refused.body})
        else:
            send(legacy_answer(request))


# --- the era before: server/discover MUST be there (basic/versioning), and here it is not ---


def legacy_server(at_discover):
    for request in requests():
        if request["method"] == "server/discover":
            at_discover(request)
        else:
            send(legacy_answer(request))


@breaks("basic/versioning: servers MUST implement server/discover")
def legacy():
    legacy_server(lambda request: send(legacy_answer(request)))


@breaks("basic/versioning: servers MUST implement server/discover")
def legacy_32602():
    legacy_server(lambda request: send(failure(request["id"], -32602, "Invalid request params")))


@breaks("basic/versioning: servers MUST implement server/discover")
def legacy_null_id():
    error = {"code": -32600, "message": "Not initialized"}
    legacy_server(lambda request: send({"jsonrpc": "2.0", "id": None, "error": error}))


@breaks("basic/versioning: servers MUST implement server/discover")
def legacy_noisy():
    def complain(request):
        print("Traceback of a validation error " * 40_000, file=sys.stderr)  # 1.3 MB
        send(legacy_answer(request))

    legacy_server(complain)


@breaks("basic/versioning: servers MUST implement server/discover")
def legacy_pings():
    held = []  # requests that wait until the client has answered our ping
    for message in messages():
        if message.get("method") in ("server/discover", "initialize"):
            send(legacy_answer(message))
        elif message.get("method") == "notifications/initialized":
            send({"jsonrpc": "2.0", "id": "are you there?", "method": "ping"})
        elif "method" not in message:
            for request in held:
                send(legacy_answer(request))
            held = None
        elif "id" in message and held is not None:
            held.append(message)
        elif "id" in message:
            send(legacy_answer(message))


@breaks("basic/versioning: servers MUST implement server/discover")
def legacy_silent():
    legacy_server(lambda request: None)


@breaks("basic/versioning: servers MUST implement server/discover")
def exit_at_discover():
    legacy_server(lambda request: sys.exit("rude: received a request before initialization"))


def main(words):
    if len(words) != 1 or words[0] not in FAULTS:
        table = "\n".join(f"  {name:22} {clause}" for name, (clause, _) in FAULTS.items())
        sys.exit(f"usage: rude.py FAULT, one of\n{table}")
    try:
        FAULTS[words[0]][1]()
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)  # the client is gone: nothing to flush, nobody to tell


if __name__ == "__main__":
    main(sys.argv[1:])
