"""Notebook ch26/09 as a person uses it: what is clicked is what goes over the wire."""

import json
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.timeout(180)

ROOM = "form = ask(client"
LAST_SENT = """
import json
print(json.dumps([e.message["params"] for e in client.tape if e.direction == "→"][-1]))
"""


@pytest.fixture(scope="module")
def notebook(open_notebook):
    opened = open_notebook("ch26/09_forms_and_pages.ipynb")
    opened.run_all()
    return opened


def fresh(notebook, cell: str):
    """Run a cell again, and return the question it draws."""
    return notebook.run_cell(cell).locator(".mcp-question").last


def sent(notebook) -> dict[str, Any]:
    """The parameters of the last request on the tape."""
    return json.loads(notebook.execute(LAST_SENT))


def messages(notebook) -> int:
    return int(notebook.execute("print(len(client.tape))"))


def press(question, button: str) -> None:
    question.get_by_role("button", name=button).click()


def test_run_all_waits_for_nobody(notebook):
    assert notebook.execute("print(form.result, conference.result, connect.result)") == (
        "None None None\n"
    )


def test_a_filled_form_is_sent_as_it_was_filled(notebook):
    question = fresh(notebook, ROOM)
    question.get_by_title("How many of you").fill("4")
    question.locator("input[type=date]").fill("2026-09-10")
    press(question, "yes")
    question.get_by_title("Anything else").fill("near a window, „sus”")
    press(question, "Send")

    expect(question).to_contain_text("Your answer:")
    content = {"people": 4, "day": "2026-09-10", "projector": True, "note": "near a window, „sus”"}
    expect(notebook.cell(ROOM)).to_contain_text("rooms answered: Reserved:")
    params = sent(notebook)
    assert params["inputResponses"] == {"form": {"action": "accept", "content": content}}
    assert params["arguments"] == {"purpose": "Course"}
    for button in ("Send", "Decline", "Cancel"):
        expect(question.get_by_role("button", name=button)).to_be_disabled()
    expect(question.get_by_title("How many of you")).to_be_disabled()
    assert notebook.execute("print(form.result['structuredContent'])") == f"{content}\n"


@pytest.mark.parametrize(("button", "action"), [("Decline", "decline"), ("Cancel", "cancel")])
def test_no_is_sent_too(notebook, button, action):
    question = fresh(notebook, ROOM)
    question.get_by_title("How many of you").fill("4")
    press(question, button)
    expect(notebook.cell(ROOM)).to_contain_text(f"the person chose to {action}")
    assert sent(notebook)["inputResponses"] == {"form": {"action": action}}


def test_a_bad_answer_is_stopped_beside_its_field_and_nothing_is_sent(notebook):
    question = fresh(notebook, ROOM)
    before = messages(notebook)
    question.get_by_title("How many of you").fill("40")
    press(question, "Send")
    wrong = question.locator(".mcp-wrong")
    expect(wrong.filter(has_text="✕ the value is 40; at most 12 is due")).to_have_count(1)
    expect(wrong.filter(has_text="✕ an answer is due")).to_have_count(1)

    question.get_by_title("How many of you").fill("four")
    expect(wrong.filter(has_text="✕ 'four' is no number")).to_have_count(1)
    question.get_by_title("How many of you").fill("12")
    expect(wrong.filter(has_text="number")).to_have_count(0)
    assert messages(notebook) == before


def test_defaults_count_by_presence_and_what_was_not_said_stays_out(notebook):
    question = fresh(notebook, "conference = ask(client")
    question.get_by_title("Name", exact=True).fill("Ana")
    question.get_by_title("E-mail").fill("ana@example.com")
    question.get_by_title("T-shirt").select_option("M")
    question.get_by_title("Track").select_option("Trust")
    question.get_by_label("Tuesday").check()
    press(question, "Send")
    expect(notebook.cell("conference = ask(client")).to_contain_text("answered: Registered:")
    assert sent(notebook)["inputResponses"]["form"]["content"] == {
        "name": "Ana", "email": "ana@example.com", "size": "M", "days": ["Tuesday"],
        "talkAt": "2026-09-10T08:30:00Z", "nights": 0, "vegetarian": False,
        "badge": "#2E8B57", "track": "t2", "stickers": [],
    }  # fmt: skip


def test_a_form_that_asks_for_a_password_has_nothing_to_type_into(notebook):
    refused = notebook.cell('ask(client, "log_in"').locator(".mcp-question")
    expect(refused).to_contain_text("must not ask for passwords, keys, tokens")
    expect(refused.locator("input, button, select, textarea")).to_have_count(0)


def test_a_secret_goes_to_the_page_and_over_no_wire_of_ours(notebook):
    question = fresh(notebook, "connect = ask(client")
    asked_for: list[str] = []
    notebook.page.context.on("request", lambda request: asked_for.append(request.url))
    go_on = question.get_by_role("button", name="I have done it")
    expect(go_on).to_be_disabled()
    expect(question.locator("a")).to_have_count(0)

    press(question, "Show the whole address")
    link = question.locator("a.mcp-open")
    address = link.get_attribute("href")
    expect(question.locator(".mcp-url")).to_have_text(address)
    expect(question.locator(".mcp-url b")).to_have_text("127.0.0.1")
    assert link.get_attribute("target") == "_blank"
    assert link.get_attribute("rel") == "noopener noreferrer"
    assert address not in asked_for

    with notebook.page.context.expect_page() as opened:
        link.click()
    page = opened.value
    assert page.evaluate("window.opener") is None
    assert page.evaluate("document.referrer") == ""
    page.get_by_label("The API key of your calendar").fill("sk-typed-by-hand")
    page.get_by_role("button").click()
    expect(page.locator("body")).to_contain_text("Close this tab")
    page.close()

    go_on.click()
    expect(notebook.cell("connect = ask(client")).to_contain_text("calendar answered: Connected.")
    assert sent(notebook)["inputResponses"] == {"page": {"action": "accept"}}
    told = "print(any(b'sk-typed-by-hand' in e.payload for e in client.tape))"
    assert notebook.execute(told) == "False\n"
    expect(question.locator("a")).to_have_count(0)


def test_a_server_that_is_gone_is_one_line_in_the_form(notebook):
    opening = 'client = open_toy("questions"'
    question = fresh(notebook, ROOM)
    notebook.execute("client.close()")
    press(question, "Decline")
    expect(notebook.cell(ROOM)).to_contain_text("No result from rooms: the client was closed")
    expect(notebook.cell(ROOM)).to_contain_text("send_again(client)")
    expect(notebook.panel.locator("[data-mime-type*='stderr'], [data-mime-type*='error']")
           ).to_have_count(0)  # fmt: skip

    notebook.run_cell(opening)
    notebook.execute("form.send_again(client)")
    expect(notebook.cell(ROOM)).to_contain_text("the person chose to decline")


HOSTILE = """
from mcp_bare import elicitation
from mcp_bare.client import Client
from mcp_bare.memory import MemoryTransport
from mcp_bare.server import Server
from workbench.forms import ask

BAD = "<img src=x onerror='window.pwned=1'></bdi><a href=https://evil.example>x</a>\\u202eabc"
choices = {"oneOf": [{"const": "a", "title": BAD}]}
many = {"type": "array", "items": {"anyOf": choices["oneOf"]}}
text = {"type": "string", "title": BAD, "description": BAD, "default": BAD}
server = Server(BAD, "1.0.0")

@server.tool({"name": "t", "inputSchema": {"type": "object"}})
def t(call):
    if call.input_responses:
        return BAD
    fields = {BAD: text, "one": {"type": "string", **choices}, "many": many}
    return call.ask({BAD: elicitation.form(BAD, fields)})

client = Client(MemoryTransport(server), capabilities={"elicitation": {}})
form = ask(client, "t", server="ours")
form
"""


def test_what_a_server_wrote_is_text_and_nothing_else(lab, open_notebook):
    notebook = open_notebook(lab.write("hostile.ipynb", HOSTILE))
    notebook.run_all()
    question = notebook.question("ours asks you")
    press(question, "Send")
    expect(notebook.panel).to_contain_text("ours answered:")
    output = notebook.panel.locator(".jp-OutputArea-output")
    assert notebook.page.evaluate("window.pwned") is None
    expect(output.locator("img, a, script, iframe")).to_have_count(0)
    assert "\u202e" not in output.inner_text()
