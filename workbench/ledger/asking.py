"""Claims 26-29 to 26-34: a server that asks back, and the state that travels with the call."""

from __future__ import annotations

import base64
import json
import secrets

from mcp_bare import elicitation
from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse
from mcp_bare.tape import SENT, fold
from workbench.ledger import oracle
from workbench.ledger.bench import Bench
from workbench.ledger.claim import Facts, claim

ASKS = "ch26/05_the_server_asks_back"
HANDLE = "ch26/06_a_handle_is_a_name"
CALL = {"name": "create_event", "arguments": {"title": "Dentist"}}
YES = {"when": elicitation.accept({"startsAt": "2026-09-10T08:30:00Z"})}
STATE = "eyJ0aXRsZSI6IkRlbnRpc3QifQ=="
QUESTION = {
    "method": "elicitation/create",
    "params": {
        "mode": "form",
        "message": 'When should "Dentist" start?',
        "requestedSchema": {
            "type": "object",
            "properties": {"startsAt": {"type": "string", "format": "date-time"}},
            "required": ["startsAt"],
        },
    },
}


def _finished(client: Client, asked: Facts, call: Facts = CALL) -> str:
    """What a process says to the retry of a call that another process began."""
    try:
        result = client.retry("tools/call", dict(call), dict(asked), YES)
    except ErrorResponse as refusal:
        return str(refusal)
    return result["content"][0]["text"] if "content" in result else result["resultType"]


@claim(
    "26-29",
    "Called without a date, the tool answers `input_required` with a form that asks for it.",
    notebook=ASKS,
    says={
        "resultType": "input_required",
        "inputRequests": "as printed",
        "the official wire types": "valid",
    },
)
def input_required(bench: Bench) -> Facts:
    asked = bench.calendar.request("tools/call", CALL)
    questions = fold(asked.get("inputRequests"))
    return {
        "resultType": asked["resultType"],
        "inputRequests": "as printed" if questions == {"when": QUESTION} else questions,
        "the official wire types": oracle.result("tools/call", asked),
    }


@claim(
    "26-30",
    "The requestState in the trace is Base64 of the title, as JSON.",
    notebook=ASKS,
    says={"requestState": STATE},
)
def request_state(bench: Bench) -> Facts:
    state = bench.calendar.request("tools/call", CALL).get("requestState", "")
    return {
        "requestState": state,
        "decoded": _inside(state),
        "the official Python SDK's begins with": bench.sdk.request("tools/call", CALL)[
            "requestState"
        ][:3],
    }


def _inside(state: str) -> object:
    """What Base64 hides, if that is all that hides it."""
    try:
        return json.loads(base64.b64decode(state))
    except ValueError:
        return "not JSON in Base64"


@claim(
    "26-31",
    "The same call again, with a new id, the answer and the state, is complete.",
    notebook=ASKS,
    says={"the retry": "Created e3: Dentist at 2026-09-10T08:30:00Z", "ids": "different"},
)
def retried(bench: Bench) -> Facts:
    with bench.toy("calendar_by_hand") as client:
        asked = client.request("tools/call", CALL)
        text = _finished(client, asked)
        ids = [entry.message["id"] for entry in client.tape if entry.direction == SENT]
    return {"the retry": text, "ids": "different" if len(set(ids)) == len(ids) else "the same"}


@claim(
    "26-32",
    "Process A asks, process B finishes the call, and process C does not see the event.",
    notebook=HANDLE,
    says={
        "process B": "Created e3: Dentist at 2026-09-10T08:30:00Z",
        "process C": ["Standup", "Design review"],
    },
)
def three_processes(bench: Bench) -> Facts:
    with bench.toy("calendar_by_hand") as a:
        asked = a.request("tools/call", CALL)
    with bench.toy("calendar_by_hand") as b:
        finished = _finished(b, asked)
    with bench.toy("calendar_by_hand") as c:
        [week] = c.read_resource("calendar://week")["contents"]
    titles = [event["title"] for event in json.loads(week["text"])]
    return {"process B": finished, "process C": titles}


@claim(
    "26-33",
    "The state travels in the message, so nothing depends on the process being the same.",
    notebook=ASKS,
    says={"process B of a server on the official SDK": "finishes the call"},
    instead="the state is opened by whoever has the key: the SDK makes one up in each process, "
    "unless the processes are given one",
)
def another_process(bench: Bench) -> Facts:
    def process_b(*words: str) -> str:
        with bench.new_sdk(*words) as a:
            asked = a.request("tools/call", CALL)
        with bench.new_sdk(*words) as b:
            text = _finished(b, asked)
        return "finishes the call" if text.startswith("Created") else f"refuses: {text}"

    return {
        "process B of a server on the official SDK": process_b(),
        "where both processes are given one key": process_b(secrets.token_hex(16)),
    }


@claim(
    "26-34",
    "A requestState in plain Base64, as printed, will do.",
    notebook=ASKS,
    says={"a forged state": "has no effect"},
    instead="a state that decides anything must be sealed, and refused where the seal does not "
    "fit (the chapter's own calendar is not published; ours is rebuilt from its trace)",
)
def forged_state(bench: Bench) -> Facts:
    title = "Wire 9000 EUR to X"
    forged = base64.b64encode(json.dumps({"title": title}).encode()).decode()
    with bench.toy("calendar_by_hand") as client:
        text = _finished(client, {"requestState": forged})
    with bench.handles("ana") as sealed:
        calendar = sealed.call_tool("create_calendar")["structuredContent"]["calendar"]
        call = {"name": "create_event", "arguments": {"calendar": calendar, "title": "Dentist"}}
        refused = _finished(sealed, {"requestState": forged}, call)
    return {
        "a forged state": f"has its way: {text}" if title in text else "has no effect",
        "the same state to a server that seals its own": refused,
    }
