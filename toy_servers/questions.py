"""A server that asks: in every shape a form may have, twice at once, past the client, and wrongly.

reserve_room     a small form
register         every shape that the restricted schema allows
plan_lunch       two questions in one answer
connect_calendar a secret, by URL mode: a page of this process that the client never reads
log_in           a secret, by form: forbidden, and done all the same
survey           a form with an object inside: not legal, and sent all the same

The last two are wrong on purpose. `elicitation.form` refuses to build the last one, so both are
written by hand. What a person typed on the page lives and dies with this process.

Spec: client/elicitation.
"""

import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script, from anywhere

from mcp_bare import elicitation
from mcp_bare.server import Server, text_result
from mcp_bare.state import Seal
from mcp_bare.stdio import serve
from mcp_bare.tape import compact
from toy_servers.parts.secret_page import SecretPage

server = Server("questions", "1.0.0")
seal = Seal(secrets.token_bytes(32))  # of this process: so is what people type on its pages
PAGES = SecretPage("Questions")
KEYS: dict[str | None, str] = {}  # by principal; not by anything that a message says

PURPOSE = {"type": "object", "properties": {"purpose": {"type": "string"}}}
NOTHING = {"type": "object", "additionalProperties": False}

ROOM = {
    "people": {"type": "integer", "title": "How many of you", "minimum": 1, "maximum": 12},
    "day": {"type": "string", "title": "Day", "format": "date"},
    "projector": {"type": "boolean", "title": "Projector", "default": False},
    "note": {"type": "string", "title": "Anything else", "maxLength": 80, "default": ""},
}
COLOURS = [("#B22222", "Brick"), ("#2E8B57", "Sea green"), ("#191970", "Midnight blue")]
TITLED = [{"const": value, "title": title} for value, title in COLOURS]
ATTENDEE = {
    "name": {
        "type": "string",
        "title": "Name",
        "description": "As it should stand on the badge.",
        "minLength": 2,
        "maxLength": 40,
    },
    "email": {"type": "string", "title": "E-mail", "format": "email"},
    "homepage": {"type": "string", "title": "Home page", "format": "uri"},
    "arrives": {"type": "string", "title": "Day of arrival", "format": "date"},
    "talkAt": {
        "type": "string",
        "title": "Your talk begins",
        "format": "date-time",
        "default": "2026-09-10T08:30:00Z",
    },
    "nights": {"type": "integer", "title": "Nights", "minimum": 0, "maximum": 5, "default": 0},
    "share": {
        "type": "number",
        "title": "Share of the dinner you pay",
        "description": "0 if your employer pays, 1 if you do.",
        "minimum": 0,
        "maximum": 1,
    },
    "vegetarian": {"type": "boolean", "title": "Vegetarian", "default": False},
    "speaksRomanian": {"type": "boolean", "title": "You speak Romanian"},
    "size": {"type": "string", "title": "T-shirt", "enum": ["S", "M", "L"]},
    "badge": {"type": "string", "title": "Badge colour", "oneOf": TITLED, "default": "#2E8B57"},
    "track": {
        "type": "string",
        "title": "Track",
        "enum": ["t1", "t2"],
        "enumNames": ["Wires and pipes", "Trust"],
    },
    "days": {
        "type": "array",
        "title": "Days",
        "minItems": 1,
        "maxItems": 2,
        "items": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday"]},
    },
    "stickers": {
        "type": "array",
        "title": "Stickers",
        "maxItems": 2,
        "items": {"anyOf": TITLED},
        "default": [],
    },
}
MEAL = {"meal": {"type": "string", "title": "Meal", "enum": ["soup", "salad", "sarmale"]}}
TABLE = {"outside": {"type": "boolean", "title": "Outside"}}


def asking(name, description, schema=NOTHING):
    """Register a tool that writes nothing anywhere: it says what it was told."""
    return server.tool({"name": name, "description": description, "inputSchema": schema})


def one_form(call, question, done):
    """Ask one question until it is answered; then say what was answered."""
    answer = elicitation.read(call.input_responses, "form", question)
    if answer.action == "missing":
        return call.ask({"form": question})
    if answer.action != "accept":
        return f"Nothing was done: the person chose to {answer.action}."
    return text_result(f"{done} {compact(answer.content)}", answer.content)


@asking("reserve_room", "Reserve a room. Asks for the details.", PURPOSE)
def reserve_room(call):
    purpose = call.arguments.get("purpose", "a meeting")
    question = elicitation.form(f"A room for: {purpose}", ROOM, ["people", "day"])
    return one_form(call, question, "Reserved:")


@asking("register", "Register for the conference. Asks in every shape that a form may have.")
def register(call):
    required = ["name", "email", "size", "days"]
    question = elicitation.form("Tell us about you, for the badge.", ATTENDEE, required)
    return one_form(call, question, "Registered:")


@asking("plan_lunch", "Plan lunch. Asks two things at once.")
def plan_lunch(call):
    asked = {
        "meal": elicitation.form("What would you like?", MEAL, ["meal"]),
        "table": elicitation.form("Where shall we sit?", TABLE),
    }
    answers = {key: elicitation.read(call.input_responses, key, asked[key]) for key in asked}
    # A retry brings the answers of its own round only: where one is missing, all are asked again.
    if any(answer.action == "missing" for answer in answers.values()):
        return call.ask(asked)
    if answers["meal"].action != "accept":
        return "No lunch then."
    outside = answers["table"].content.get("outside", "where there is room")
    return f"Lunch: {answers['meal'].content['meal']}; outside: {outside}."


@asking("log_in", "Asks for a password in a form, which no server may do.")
def log_in(call):
    properties = {
        "user": {"type": "string", "title": "User name"},
        "password": {"type": "string", "title": "Password", "minLength": 8},
    }
    schema = {"type": "object", "properties": properties, "required": ["user", "password"]}
    params = {"mode": "form", "message": "Log in to go on.", "requestedSchema": schema}
    question = {"method": "elicitation/create", "params": params}
    return one_form(call, question, "Logged in:")


@asking("survey", "Asks with an object inside a form, which the restricted schema does not allow.")
def survey(call):
    inner = {"type": "object", "properties": {"street": {"type": "string"}}}
    schema = {"type": "object", "properties": {"address": inner}}
    params = {"message": "Where do you live?", "requestedSchema": schema}
    return one_form(call, {"method": "elicitation/create", "params": params}, "Lives at:")


@asking("connect_calendar", "Connect your calendar. Sends you to a page for its API key.")
def connect_calendar(call):
    caller = call.caller.principal
    state = call.request_state and seal.open(call.request_state, call)
    if state:
        action = elicitation.read(call.input_responses, "page", _page_question("", state)).action
        if action in ("decline", "cancel"):
            PAGES.drop(state["page"])
            return f"Not connected: the person chose to {action}."
        typed = PAGES.take(state["page"])
        if typed is not None:
            KEYS[caller] = typed
    if caller in KEYS:
        return "Connected. The key is with this server and nowhere else."
    if not state or PAGES.prompt(state["page"]) is None:
        state = {"page": PAGES.open("The API key of your calendar")}
        message = "Connecting your calendar needs its API key. Type it on our page, not here."
    else:
        message = "Nothing has been typed on the page yet. It is still open."
    return call.ask({"page": _page_question(message, state)}, seal.close(state, call))


def _page_question(message, state):
    return elicitation.url(message, PAGES.url(state["page"]))


if __name__ == "__main__":
    serve(server)
