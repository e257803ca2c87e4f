"""One calendar, exposed three times, by hand: no import but the standard library.

A tool that the model calls, a resource that the application attaches, a prompt that a person picks.
Two things here are wrong on purpose, and the course finds both: EVENTS is a list in the module, and
requestState is plain Base64 that anyone can write.
"""

import base64
import datetime
import json
import sys

VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"
EVENTS = [
    {"id": "e1", "title": "Standup", "startsAt": "2026-09-07T09:00:00Z"},
    {"id": "e2", "title": "Design review", "startsAt": "2026-09-09T15:00:00Z"},
]

TEXT = {"type": "string"}
WHEN = {**TEXT, "format": "date-time", "description": "Start, ISO 8601 UTC."}
TOOL = {
    "name": "create_event",
    "description": "Create a calendar event. Writes to the calendar.",
    "inputSchema": {
        "type": "object",
        "properties": {"title": {**TEXT, "description": "Event title."}, "startsAt": WHEN},
        "required": ["title"],
    },
}
RESOURCE = {"uri": "calendar://week", "name": "week", "mimeType": "application/json"}
PROMPT = {
    "name": "prepare_week",
    "description": "Read the week and draft a plan.",
    "arguments": [{"name": "focus", "description": "What the week should favour."}],
}
WEEK = {"ttlMs": 300000, "cacheScope": "public"}


class Refusal(Exception):
    def __init__(self, code, message, data=None):
        self.error = {"code": code, "message": message, **({"data": data} if data else {})}


def check_meta(params):
    meta = params.get("_meta", {})
    for key in ("protocolVersion", "clientCapabilities"):
        if META + key not in meta:
            raise Refusal(-32602, f"params._meta lacks {META}{key} (basic/index, _meta)")
    asked = meta[META + "protocolVersion"]
    if asked != VERSION:
        data = {"supported": [VERSION], "requested": asked}
        raise Refusal(-32022, "Unsupported protocol version (basic/versioning)", data)
    return meta[META + "clientCapabilities"]


def create_event(params, capabilities):
    arguments, state = params.get("arguments", {}), params.get("requestState")
    title = json.loads(base64.b64decode(state))["title"] if state else arguments.get("title")
    action, chosen = read_answer(params.get("inputResponses", {}))
    if action in ("decline", "cancel"):
        return say(f"Nothing was created: the person chose to {action}.")
    starts_at = arguments.get("startsAt") or chosen
    if not isinstance(title, str):
        return {**say("Invalid arguments: title is missing."), "isError": True}
    if not starts_at:
        return ask_when(title, capabilities)
    event = {"id": f"e{len(EVENTS) + 1}", "title": title, "startsAt": starts_at}
    EVENTS.append(event)
    created = say(f"Created {event['id']}: {title} at {starts_at}")
    return {"content": created["content"], "structuredContent": event, "isError": False}


def read_answer(responses):
    """The action, and the start if one was accepted; what is missing or unfit is asked again."""
    answer = responses.get("when", {"action": "accept"})
    if answer.get("action") not in ("accept", "decline", "cancel"):
        raise Refusal(-32602, f"{answer} is no answer (client/elicitation, Response Actions)")
    try:
        chosen = answer["content"]["startsAt"]
        datetime.datetime.fromisoformat(chosen)
    except (KeyError, TypeError, ValueError, AttributeError):
        chosen = None
    return answer["action"], chosen


def ask_when(title, capabilities):
    declared = capabilities.get("elicitation")  # {} means {"form": {}} (client/elicitation)
    if declared is None or ("url" in declared and "form" not in declared):
        required = {"requiredCapabilities": {"elicitation": {"form": {}}}}
        raise Refusal(-32021, "Missing client capability: elicitation (basic/index)", required)
    schema = {"type": "object", "properties": {"startsAt": dict(WHEN)}, "required": ["startsAt"]}
    del schema["properties"]["startsAt"]["description"]
    params = {"mode": "form", "message": f'When should "{title}" start?', "requestedSchema": schema}
    state = base64.b64encode(json.dumps({"title": title}, separators=(",", ":")).encode())
    requests = {"when": {"method": "elicitation/create", "params": params}}
    kind = "input_required"
    return {"resultType": kind, "inputRequests": requests, "requestState": state.decode()}


def say(text):
    return {"content": [{"type": "text", "text": text}], "isError": False}


def answer(method, params):
    if method == "initialize":
        raise Refusal(-32602, f"initialize is gone: this server speaks {VERSION}")
    capabilities = check_meta(params)
    match method, params.get("name") or params.get("uri"):
        case "server/discover", _:
            can = {"tools": {}, "resources": {}, "prompts": {}}
            return {"supportedVersions": [VERSION], "capabilities": can, **WEEK}
        case "tools/list", _:
            return {"tools": [TOOL], **WEEK}
        case "resources/list", _:
            return {"resources": [RESOURCE], **WEEK}
        case "prompts/list", _:
            return {"prompts": [PROMPT], **WEEK}
        case "tools/call", "create_event":
            return create_event(params, capabilities)
        case "resources/read", "calendar://week":
            text = json.dumps(EVENTS, separators=(",", ":"))
            content = {"uri": "calendar://week", "mimeType": "application/json", "text": text}
            return {"contents": [content], "ttlMs": 60000, "cacheScope": "private"}
        case "prompts/get", "prepare_week":
            focus = params.get("arguments", {}).get("focus", "balance")
            text = f"Read calendar://week and draft a plan. Focus: {focus}."
            message = {"role": "user", "content": {"type": "text", "text": text}}
            return {"description": PROMPT["description"], "messages": [message]}
        case (("tools/call" | "resources/read" | "prompts/get"), unknown):
            raise Refusal(-32602, f"There is no {unknown!r} here")
    raise Refusal(-32601, f"Method not found: {method}")


def unread(code, message):
    return {"jsonrpc": "2.0", "error": {"code": code, "message": message}}  # no id: none was read


def respond(line):
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        return unread(-32700, "Parse error: one JSON object a line is due")
    if not isinstance(request, dict) or type(request.get("id", 0)) not in (str, int):
        return unread(-32600, "Invalid request: an object is due, with a string or integer for id")
    if "id" not in request:
        return None  # a notification: no answer
    head = {"jsonrpc": "2.0", "id": request["id"]}
    try:
        result = answer(request["method"], request.get("params", {}))
    except Refusal as refusal:
        return {**head, "error": refusal.error}
    except (AttributeError, KeyError, TypeError, ValueError) as trouble:  # params of no shape
        return {**head, "error": {"code": -32602, "message": f"Invalid params: {trouble!r}"}}
    named = {"_meta": {META + "serverInfo": {"name": "calendar", "version": "1.0.0"}}}
    return {**head, "result": {"resultType": "complete", **result, **named}}


for line in sys.stdin.buffer:
    response = respond(line)
    if response:
        sys.stdout.buffer.write(json.dumps(response, separators=(",", ":")).encode() + b"\n")
        sys.stdout.buffer.flush()
