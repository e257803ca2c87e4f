"""A question never holds the cell: it comes back at once, and can be answered in code, or later."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from mcp_bare import elicitation
from mcp_bare.client import Client
from mcp_bare.errors import InputNeeded
from mcp_bare.stdio import StdioTransport
from tests.elicitation import naive

ROOT = Path(__file__).resolve().parents[2]
BY_HAND = [sys.executable, str(ROOT / "toy_servers" / "calendar_by_hand.py")]
AT = "2030-01-31T09:00:00Z"
FORM = {"elicitation": {"form": {}}}
CREATE = {"name": "create_event", "arguments": {"title": "Dentist"}}
AT_ONCE = 5.0  # seconds on a busy machine; a handler that waits for a click takes for ever


def calendar(**options) -> Client:
    return Client(StdioTransport(BY_HAND), **options)


def test_the_question_comes_back_at_once_and_is_answered_in_the_next_cell():
    began = time.monotonic()
    with calendar(capabilities=FORM) as client:
        with pytest.raises(InputNeeded) as caught:  # the first cell ends here
            client.call_tool("create_event", CREATE["arguments"])
        assert time.monotonic() - began < AT_ONCE
        asked = caught.value.result
        (question,) = asked["inputRequests"].values()
        assert question["params"]["message"] == 'When should "Dentist" start?'
        answers = {"when": elicitation.accept({"startsAt": AT})}  # the second cell
        made = client.retry("tools/call", CREATE, asked, answers)
        assert made["structuredContent"]["startsAt"] == AT


def test_the_question_can_be_taken_as_it_is():
    with calendar(capabilities=FORM) as client:
        asked = client.request("tools/call", CREATE)
        assert asked["resultType"] == "input_required"
        found = client.retry("tools/call", CREATE, asked, {"when": elicitation.decline()})
        assert "decline" in found["content"][0]["text"]


def test_a_button_that_is_pressed_later_goes_on_in_its_callback():
    """The callback of a widget comes from another thread; the client takes calls from any."""
    with calendar(capabilities=FORM) as client:
        asked, made = client.request("tools/call", CREATE), []

        def pressed():
            answers = {"when": elicitation.accept({"startsAt": AT})}
            made.append(client.retry("tools/call", CREATE, asked, answers))

        button = threading.Timer(0.05, pressed)
        button.start()
        assert client.list_tools()[0]["name"] == "create_event", "meanwhile the cell goes on"
        button.join(AT_ONCE)
    assert made[0]["structuredContent"]["startsAt"] == AT


def test_an_answer_outlives_the_process_that_asked():
    with calendar(capabilities=FORM) as client:
        asked = client.request("tools/call", CREATE)
    with calendar(capabilities=FORM) as client:
        answers = {"when": elicitation.accept({"startsAt": AT})}
        made = client.retry("tools/call", CREATE, asked, answers)
    assert made["structuredContent"]["title"] == "Dentist"


def test_a_handler_in_code_answers_without_anyone():
    handlers = {"elicitation/create": lambda asked: elicitation.accept({"startsAt": AT})}
    with calendar(handlers=handlers) as client:
        assert client.call_tool("create_event", CREATE["arguments"])["structuredContent"]


def test_without_a_handler_nobody_is_asked_and_nothing_waits():
    began = time.monotonic()
    with calendar() as client, pytest.raises(Exception, match="-32021"):
        client.call_tool("create_event", CREATE["arguments"])
    assert time.monotonic() - began < AT_ONCE


def test_the_naive_handler_waits_for_a_click_that_cannot_come():
    clicked = threading.Event()
    handlers = {"elicitation/create": lambda asked: naive.wait_for_the_button(clicked.is_set, 1.0)}
    began = time.monotonic()
    with calendar(handlers=handlers) as client:
        client.call_tool("create_event", CREATE["arguments"])
    assert time.monotonic() - began > 1.0, "it would be for ever, but for its patience"


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (["--answer", f'{{"startsAt": "{AT}"}}'], "Created e3: Dentist", 0),
        (["--decline"], "the person chose to decline", 0),
        ([], "the person chose to cancel", 0),  # no terminal: nobody is there
        (["--answer", '{"startsAt": "soon"}'], "does not fit the form", 1),
        (["--answer", '{"when": "soon"}'], "does not fit the form", 1),
        (["--answer", "[]"], "no JSON object", 2),
        (["--answer", "soon"], "is not JSON", 2),
    ],
)
def test_the_command_line_answers_without_a_terminal(words, said, code):
    command = [sys.executable, "-m", "mcp_bare", "call", "create_event", '{"title": "Dentist"}']
    ran = subprocess.run(
        [*command, *words, "--", *BY_HAND],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        cwd=ROOT,
        check=False,
    )
    assert ran.returncode == code
    assert "".join(said.split()) in "".join((ran.stdout + ran.stderr).split())
    assert "Traceback" not in ran.stderr
