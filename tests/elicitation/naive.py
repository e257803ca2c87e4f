"""A server that asks, and a form, as most tutorials write them. Every row must fail on these.

python naive.py        serves on standard input and output
"""

from __future__ import annotations

import json
import sys
import time

SCHEMA = {
    "type": "object",
    "properties": {"at": {"type": "string", "format": "date-time"}},
    "required": ["at"],
}
QUESTION = {
    "method": "elicitation/create",
    "params": {"mode": "form", "message": "When?", "requestedSchema": SCHEMA},
}
BOOKED: list[str] = []


def book(arguments, responses):
    """Whoever answered has agreed: this is the mistake."""
    if not responses:
        return {"resultType": "input_required", "inputRequests": {"when": QUESTION}}
    answer = next(iter(responses.values()))
    content = answer.get("content", {}) if isinstance(answer, dict) else {}
    BOOKED.append(f"{arguments['title']} at {(content or {}).get('at', 'some time')}")
    return {"content": [{"type": "text", "text": f"booked {BOOKED[-1]}"}], "isError": False}


def serve():
    for line in sys.stdin:
        request = json.loads(line)
        params = request["params"]
        if params["name"] == "bookings":
            result = {"content": [{"type": "text", "text": str(len(BOOKED))}], "isError": False}
        else:
            result = book(params["arguments"], params.get("inputResponses"))
        whole = {"resultType": "complete", **result}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": whole}), flush=True)


# --- the client's half ---


def fields(schema):
    """(name, label, choices, default) of each input: only the first shape of a choice is known."""
    found = []
    for name, prop in schema["properties"].items():
        choices = [(value, value) for value in prop.get("enum", [])]
        found.append((name, name, choices, prop.get("default") or None))
    return found


def defaults(schema):
    return {name: default for name, _, _, default in fields(schema) if default}


def wait_for_the_button(clicked, patience):
    """A handler that polls: with Run All, nobody can click before the cell has ended."""
    deadline = time.monotonic() + patience  # so that the tests end, too
    while not clicked() and time.monotonic() < deadline:
        time.sleep(0.01)
    return {"action": "cancel"}


if __name__ == "__main__":
    serve()
