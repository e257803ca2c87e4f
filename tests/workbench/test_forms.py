"""A question drawn and answered: what a person chooses is what goes over the wire, and no more."""

import datetime
import gc
import html
import threading
import time
import weakref

import ipywidgets
import pytest

from mcp_bare import elicitation, jsonrpc
from mcp_bare.client import Client
from mcp_bare.errors import InputNeeded, ProtocolViolation, TransportClosed
from mcp_bare.memory import MemoryTransport
from mcp_bare.server import Server
from toy_servers import questions as toy
from workbench import form_inputs, form_text
from workbench.form_inputs import ABSENT, Unreadable
from workbench.forms import MAX_QUESTIONS, NotSent, ask, ask_request
from workbench.questions import judge

MODES = {"elicitation": {"form": {}, "url": {}}}
ROOM = {"people": 4, "day": "2026-09-10"}
TITLED = [{"const": "#f00", "title": "Red"}, {"const": "#0f0", "title": "Green"}]


def client_of(server, **options) -> Client:
    return Client(MemoryTransport(server), **{"capabilities": MODES, **options})


def asking_server(*rounds, tool="t") -> Server:
    """A server whose tool asks these input requests, one after the other; then says what it got."""
    server, heard = Server("asking", "1.0.0"), []

    def ask_next(call):
        if call.input_responses:
            heard.append(call.input_responses)
        turn = int(call.request_state or 0)
        if turn == len(rounds):
            return "Done."
        return call.ask(rounds[turn], str(turn + 1))

    server.tool({"name": tool, "inputSchema": {"type": "object"}})(ask_next)
    server.heard = heard
    return server


def a_form(properties, required=(), message="?"):
    return {"form": by_hand(properties, required, message)}


def by_hand(properties, required=(), message="?", mode="form"):
    """An input request as a careless server writes it: nothing is checked."""
    schema = {"type": "object", "properties": properties, "required": list(required)}
    params = {"mode": mode, "message": message, "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def field(schema, required=False) -> elicitation.Field:
    whole = {"type": "object", "properties": {"x": schema}, "required": ["x"] * required}
    return elicitation.fields(whole)[0]


def widgets(asking, kind):
    """Every widget of a kind in a drawn form, from top to bottom."""
    found, todo = [], [asking.widget]
    while todo:
        widget = todo.pop(0)
        found += [widget] if isinstance(widget, kind) else []
        todo[:0] = getattr(widget, "children", ())
    return found


def press(asking, text):
    """Click the last button with this text, as the browser's message does."""
    button = [b for b in widgets(asking, ipywidgets.Button) if b.description == text][-1]
    assert not button.disabled
    button.click()


def shown(asking) -> str:
    return "\n".join(widget.value for widget in widgets(asking, ipywidgets.HTML))


def sent(client):
    return [entry.message["params"] for entry in client.tape if entry.direction == "→"]


# --- every shape ---

SHAPES = [
    ({"type": "string"}, ABSENT),
    ({"type": "string", "default": ""}, ""),
    ({"type": "string", "default": "a"}, "a"),
    ({"type": "string", "format": "email", "default": "a@b.c"}, "a@b.c"),
    ({"type": "string", "format": "uri", "default": "x:y"}, "x:y"),
    ({"type": "string", "format": "date", "default": "2026-09-10"}, "2026-09-10"),
    ({"type": "string", "format": "date"}, ABSENT),
    ({"type": "string", "format": "date-time", "default": "2026-09-10T08:30:00Z"},
     "2026-09-10T08:30:00Z"),
    ({"type": "string", "maxLength": 500, "default": "a\nb"}, "a\nb"),
    ({"type": "integer"}, ABSENT),
    ({"type": "integer", "default": 0}, 0),
    ({"type": "integer", "default": -7, "minimum": -9}, -7),
    ({"type": "number", "default": 0.5}, 0.5),
    ({"type": "number", "default": 1e30}, 1e30),
    ({"type": "boolean"}, ABSENT),
    ({"type": "boolean", "default": False}, False),
    ({"type": "boolean", "default": True}, True),
    ({"type": "string", "enum": ["S", "M"]}, ABSENT),
    ({"type": "string", "enum": ["S", "M"], "default": "M"}, "M"),
    ({"type": "string", "enum": ["", "M"], "default": ""}, ""),
    ({"type": "string", "enum": ["s", "m"], "enumNames": ["S", "M"], "default": "s"}, "s"),
    ({"type": "string", "oneOf": TITLED, "default": "#0f0"}, "#0f0"),
    ({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}, ABSENT),
    ({"type": "array", "items": {"enum": ["a", "b"]}, "default": []}, []),
    ({"type": "array", "items": {"anyOf": TITLED}, "default": ["#f00"]}, ["#f00"]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "value"), SHAPES)
def test_a_default_counts_by_presence_and_nothing_is_made_up(schema, value):
    made = form_inputs.make(field(schema)).read()
    assert made == value
    assert type(made) is type(value)


@pytest.mark.parametrize(("schema", "value"), [s for s in SHAPES if s[1] is not ABSENT])
def test_what_is_written_is_read_back_and_can_be_taken_back(schema, value):
    bare = {name: v for name, v in schema.items() if name != "default"}
    made = form_inputs.make(field(bare))
    made.write(value)
    assert made.read() == (value if value not in ("", []) or "enum" in schema else ABSENT)
    made.write(ABSENT)
    assert made.read() is ABSENT


def test_a_required_yes_or_no_starts_with_neither_and_has_no_third():
    made = form_inputs.make(field({"type": "boolean"}, required=True))
    assert made.read() is ABSENT
    assert [label for label, _ in made.widget.options] == ["yes", "no"]
    optional = form_inputs.make(field({"type": "boolean"}))
    assert [label for label, _ in optional.widget.options] == ["yes", "no", "not said"]


def test_several_choices_of_which_none_is_ticked():
    schema = {"type": "array", "items": {"enum": ["a"]}}
    assert form_inputs.make(field(schema, required=True)).read() == []
    assert form_inputs.make(field({**schema, "default": ["a"]})).read() == ["a"]


def test_the_person_reads_labels_and_the_wire_has_values():
    for schema in (
        {"type": "string", "oneOf": TITLED},
        {"type": "string", "enum": ["#f00", "#0f0"], "enumNames": ["Red", "Green"]},
    ):
        made = form_inputs.make(field(schema, required=True))
        assert [label for label, _ in made.widget.options] == ["Red", "Green"]
        made.widget.index = 1
        assert made.read() == "#0f0"
    boxes = form_inputs.make(field({"type": "array", "items": {"anyOf": TITLED}})).parts
    assert [box.description for box in boxes] == ["Red", "Green"]


@pytest.mark.parametrize(
    ("typed", "kind", "value"),
    [("4", "integer", 4), ("-0", "integer", 0), ("4.0", "integer", 4), ("4.5", "integer", 4.5),
     ("1e3", "number", 1000.0), ("0.5", "number", 0.5), ("9" * 300, "integer", int("9" * 300))],
)  # fmt: skip
def test_a_number_that_is_typed(typed, kind, value):
    assert form_inputs.number(typed, kind) == value


@pytest.mark.parametrize(
    "typed", ["four", "4,5", "1_000", "٤", "0x10", "nan", "inf", "1e999", "9" * 5000, "--1", "."]
)
def test_what_is_no_number(typed):
    with pytest.raises(Unreadable):
        form_inputs.number(typed, "number")


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 12}, "a whole number, 1 to 12"),
        ({"type": "number", "minimum": 0}, "a number, at least 0"),
        ({"type": "string", "minLength": 2, "maxLength": 2}, "exactly 2 characters"),
        ({"type": "array", "maxItems": 2, "items": {"enum": ["a"]}}, "at most 2 of these"),
        ({"type": "boolean"}, ""),
    ],
)
def test_what_fits_is_said_before_anything_is_typed(schema, words):
    assert form_text.hint(field(schema)) == words


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ({"people": 4, "day": "2026-09-10"}, []),
        ({"people": 4, "day": "2026-09-10", "projector": False, "note": ""}, []),
        ({}, ["people", "day"]),
        ({"people": 40, "day": "soon", "projector": "yes"}, ["people", "day", "projector"]),
        ({"people": True, "day": "2026-02-30", "note": "x" * 81}, ["people", "day", "note"]),
        ({"people": 4, "day": "2026-09-10", "surprise": 1}, ["surprise"]),
        ([], [""]),
        (None, [""]),
    ],
)
def test_the_judge_of_a_form_agrees_with_the_toolkit(content, wrong):
    schema = {"type": "object", "properties": toy.ROOM, "required": ["people", "day"]}
    assert sorted(judge(elicitation.fields(schema), content, {})) == sorted(wrong)
    assert bool(elicitation.answer_problems(schema, content)) == bool(wrong)


# --- one path for buttons and code ---


def test_a_button_and_a_method_send_the_same_bytes():
    by_code, by_hand_ = client_of(toy.server), client_of(toy.server)
    ask(by_code, "reserve_room", server="rooms").accept(
        {**ROOM, "projector": True, "note": "sus, „lângă geam”"}
    )
    form = ask(by_hand_, "reserve_room", server="rooms")
    people, note = widgets(form, ipywidgets.Text)
    people.value, note.value = "4", "sus, „lângă geam”"
    widgets(form, ipywidgets.DatePicker)[0].value = datetime.date(2026, 9, 10)
    widgets(form, ipywidgets.ToggleButtons)[0].index = 0
    press(form, "Send")
    assert [e.payload for e in by_hand_.tape] == [e.payload for e in by_code.tape]
    assert form.result["structuredContent"]["people"] == 4


@pytest.mark.parametrize("drawn", [True, False])
def test_a_form_sent_as_it_stands_has_its_defaults(drawn):
    client = client_of(asking_server(a_form({"a": {"type": "integer", "default": 0},
                                             "b": {"type": "string"}})))  # fmt: skip
    form = ask(client, "t", server="s")
    if drawn:
        press(form, "Send")
    else:
        form.accept()
    assert sent(client)[-1]["inputResponses"] == {"form": {"action": "accept", "content": {"a": 0}}}


@pytest.mark.parametrize(
    ("way", "button"), [("decline", "Decline"), ("cancel", "Cancel")], ids=["decline", "cancel"]
)
def test_no_is_sent_without_content(way, button):
    for act in (lambda form: getattr(form, way)(), lambda form: press(form, button)):
        client = client_of(toy.server)
        form = ask(client, "reserve_room", server="rooms")
        act(form)
        assert sent(client)[-1]["inputResponses"] == {"form": {"action": way}}
        assert f"chose to {way}" in form_text.gist(form.result)
        assert f"chose to {way}" in shown(form)


def test_an_answered_form_is_locked_and_says_what_was_sent():
    client = client_of(toy.server)
    form = ask(client, "reserve_room", server="rooms")
    drawn = form.widget
    form.accept(ROOM)
    parts = widgets(form, (ipywidgets.Text, ipywidgets.Button, ipywidgets.ToggleButtons))
    assert all(part.disabled for part in parts)
    assert widgets(form, ipywidgets.Text)[0].value == "4"
    assert html.escape('{"action":"accept","content":{"people":4,"day":"2026-09-10"}}') in shown(
        form
    )
    assert form.widget is drawn
    with pytest.raises(NotSent):
        form.accept(ROOM)
    with pytest.raises(NotSent, match="answered"):
        form.history[0].decline()


def test_what_does_not_fit_stays_here_and_is_said_beside_its_field():
    client = client_of(toy.server)
    form = ask(client, "reserve_room", server="rooms")
    before = len(client.tape)
    widgets(form, ipywidgets.Text)[0].value = "40"
    press(form, "Send")
    assert len(client.tape) == before
    assert form.questions["form"].problems == {
        "people": ["the value is 40; at most 12 is due"],
        "day": ["an answer is due"],
    }
    widgets(form, ipywidgets.Text)[0].value = "4"
    assert "people" not in form.questions["form"].problems
    with pytest.raises(NotSent, match="four"):
        widgets(form, ipywidgets.Text)[0].value = "four"
        form.accept()


def test_the_cell_ends_while_the_question_is_open():
    threads, start = threading.active_count(), time.monotonic()
    form = ask(client_of(toy.server), "register", server="conference")
    assert form.result is None and form.waiting()
    assert threading.active_count() == threads
    assert time.monotonic() - start < 2


def test_where_nothing_is_drawn_there_is_a_text():
    form = ask(client_of(toy.server), "reserve_room", {"purpose": "Course"}, server="rooms")
    data = form._repr_mimebundle_()
    assert data["text/plain"].splitlines()[:2] == [
        "rooms asks: A room for: Course",
        "  [] How many of you, required (a whole number, 1 to 12)",
    ]
    assert "application/vnd.jupyter.widget-view+json" in data


# --- rounds and questions ---


def test_several_questions_go_out_together_and_an_edit_takes_an_answer_back():
    client = client_of(toy.server)
    lunch = ask(client, "plan_lunch", server="kitchen")
    with pytest.raises(NotSent, match=r"questions\['meal'\], questions\['table'\]"):
        lunch.accept({})
    before = len(client.tape)
    press(lunch, "Decline")  # the last one drawn: the table
    assert "Kept." in shown(lunch) and len(client.tape) == before
    widgets(lunch, ipywidgets.ToggleButtons)[0].index = 0
    assert "Kept." not in shown(lunch) and len(lunch.waiting()) == 2
    press(lunch, "Send")
    lunch.questions["meal"].accept({"meal": "soup"})
    assert form_text.gist(lunch.result) == "Lunch: soup; outside: True."
    assert sent(client)[-1]["inputResponses"].keys() == {"meal", "table"}


def test_a_server_may_ask_a_person_as_often_as_they_answer():
    rounds = [a_form({"a": {"type": "string"}})] * 15
    client = client_of(asking_server(*rounds))
    form = ask(client, "t", server="s")
    for _ in rounds:
        assert form.result is None
        form.decline()
    assert form_text.gist(form.result) == "Done."


def test_a_server_that_asks_for_a_password_for_ever_is_stopped():
    rounds = [a_form({"password": {"type": "string"}})] * 50
    server = asking_server(*rounds)
    with pytest.raises(ProtocolViolation, match="still asks after 10 rounds"):
        ask(client_of(server), "t", server="s")
    assert {str(heard) for heard in server.heard} == {"{'form': {'action': 'decline'}}"}


def test_too_many_questions_at_once():
    many = {str(n): by_hand({}) for n in range(MAX_QUESTIONS + 1)}
    with pytest.raises(ProtocolViolation, match="21 questions at once"):
        ask(client_of(asking_server(many)), "t", server="s")


def test_what_only_a_handler_can_answer_is_answered_by_it():
    rounds = [{"roots": {"method": "roots/list"}, **a_form({"a": {"type": "string"}})}]
    client = client_of(
        asking_server(*rounds),
        handlers={"roots/list": lambda params: {"roots": []}},
        capabilities={**MODES, "roots": {}},
    )
    form = ask(client, "t", server="s")
    form.accept({"a": "x"})
    assert sent(client)[-1]["inputResponses"] == {
        "form": {"action": "accept", "content": {"a": "x"}},
        "roots": {"roots": []},
    }
    with pytest.raises(InputNeeded):
        ask(client_of(asking_server(*rounds), capabilities={**MODES, "roots": {}}), "t", server="s")


def test_a_resource_and_a_prompt_may_ask_as_well():
    server = Server("asking", "1.0.0")
    question = elicitation.form("Which?", {"a": {"type": "string"}}, ["a"])

    @server.prompt({"name": "p"})
    def p(call):
        answer = elicitation.read(call.input_responses, "q", question)
        return answer.content["a"] if answer.content else call.ask({"q": question})

    client = client_of(server)
    form = ask_request(client, "prompts/get", {"name": "p"}, server="s")
    assert form.accept({"a": "this one"})["messages"][0]["content"]["text"] == "this one"


# --- what is not put to a person ---


class Rude:
    """A wire with a server at its end that asks whatever it likes, and never checks."""

    def __init__(self, request_):
        self.request, self.heard = request_, []

    def open(self, on_payload, on_close):
        self.reply = on_payload

    def send(self, payload):
        message = jsonrpc.parse(payload)
        self.heard.append(message["params"].get("inputResponses"))
        asked = {"resultType": "input_required", "inputRequests": {"q": self.request}}
        result = asked if self.heard[-1] is None else {"content": []}
        self.reply(jsonrpc.dumps(jsonrpc.result(message["id"], result)))

    def close(self):
        """Nothing to end."""


BIG = {f"f{n}": {"type": "string"} for n in range(401)}


@pytest.mark.parametrize(
    ("request_", "action", "why"),
    [
        (by_hand({"password": {"type": "string"}}), "decline", "must not ask for passwords"),
        (by_hand({"v": {"type": "string"}}, message="Paste your API key"), "decline", "for v"),
        (by_hand({"a": {"type": "object"}}), "cancel", "not legal"),
        (by_hand({"a": {"type": "string", "title": 5}}), "cancel", "has title 5; a string is due"),
        (by_hand({"a": {"type": "string", "minLength": "2"}}), "cancel", "has minLength '2'"),
        (by_hand({"a": {"type": "integer", "minimum": "1"}}), "cancel", "has minimum '1'"),
        (by_hand({"a": {"type": "string"}}, required=["b"]), "cancel", "requires 'b'"),
        (by_hand({}, mode="video"), "cancel", "did not declare the mode 'video'"),
        (by_hand({}, mode=["form"]), "cancel", "did not declare the mode"),
        (by_hand({}, message=None), "cancel", "It has no message"),
        (by_hand(BIG), "cancel", "A form of 401 parts"),
        ({"method": "elicitation/create"}, "cancel", "It has no message"),
        ({"method": "elicitation/create", "params": {"message": "m"}}, "cancel", "not legal"),
        ({"method": "elicitation/create",
          "params": {"mode": "url", "message": "m", "url": "javascript:alert(1)"}},
         "cancel", "may not be opened"),
    ],
)  # fmt: skip
def test_a_question_that_is_refused(request_, action, why):
    rude = Rude(request_)
    form = ask(Client(rude, capabilities=MODES), "t", server="rude")
    assert rude.heard == [None, {"q": {"action": action}}]
    assert why in form.history[0].refusal
    assert html.escape(why) in shown(form) and why in repr(form).replace("\n ", "")
    assert not widgets(form, (ipywidgets.Text, ipywidgets.Button))
    with pytest.raises(NotSent) as stopped:
        form.history[0].accept({})
    assert stopped.value.problems == [form.history[0].refusal]


def test_a_client_that_declared_forms_only_is_not_sent_to_a_page():
    rude = Rude(elicitation.url("Open it", "https://pay.example/"))
    for capabilities in ({"elicitation": {}}, {"elicitation": {"form": {}}}, {}):
        form = ask(Client(rude, capabilities=capabilities), "t", server="s")
        assert "did not declare the mode 'url'" in form.history[0].refusal
    form = ask(Client(rude, capabilities={"elicitation": {"url": {}}}), "t", server="s")
    assert not form.history[0].refusal


# --- the connection ---


def test_a_closed_client_is_one_line_and_the_answer_is_kept():
    client = client_of(toy.server)
    form = ask(client, "reserve_room", server="rooms")
    client.close()
    with pytest.raises(TransportClosed):
        form.accept(ROOM)
    assert "No result from rooms: the client was closed" in shown(form)
    press_nothing = [b for b in widgets(form, ipywidgets.Button) if not b.disabled]
    assert press_nothing == []
    another = client_of(toy.server)
    assert "Reserved" in form_text.gist(form.send_again(another))
    assert "Reserved" in shown(form) and "No result" not in shown(form)


def test_a_press_on_a_dead_connection_raises_nothing():
    client = client_of(toy.server)
    form = ask(client, "reserve_room", server="rooms")
    client.close()
    press(form, "Decline")
    assert isinstance(form.error, TransportClosed)


def test_a_form_does_not_keep_its_client():
    client = client_of(toy.server)
    form = ask(client, "reserve_room", server="rooms")
    gone = weakref.ref(client)
    _ = form.widget
    del client
    gc.collect()
    assert gone() is None
    assert "keep it in a variable" in form._repr_mimebundle_()["text/plain"]
    press(form, "Decline")
    assert "the cell that made it has run again" in shown(form)


def test_only_what_failed_is_sent_again():
    client = client_of(toy.server)
    form = ask(client, "reserve_room", server="rooms")
    with pytest.raises(NotSent, match="nothing to send again"):
        form.send_again(client)


# --- a page ---


def test_a_page_is_looked_at_before_it_is_agreed_to():
    url = "https://pay.example/connect?id=1&x='"
    server = asking_server({"page": elicitation.url("Open it", url)})
    client = client_of(server)
    form = ask(client, "t", server="s")
    assert url not in shown(form) and "href" not in shown(form)
    with pytest.raises(NotSent, match="look at the whole address first"):
        form.accept()
    with pytest.raises(NotSent, match="has no content"):
        form.accept({"secret": "x"})
    assert len(sent(client)) == 1

    press(form, "Show the whole address")
    assert f"href='{html.escape(url)}' target='_blank' rel='noopener noreferrer'" in shown(form)
    assert "https://<b>pay.example</b>/connect" in shown(form)
    press(form, "I have done it: go on")
    assert sent(client)[-1]["inputResponses"] == {"page": {"action": "accept"}}
    assert "href" not in shown(form)


def test_the_warnings_stand_there_before_the_link_does():
    server = asking_server({"page": elicitation.url("Open it", "http://xn--pple-43d.com/")})
    client = client_of(server)
    form = ask(client, "t", server="s")
    assert "Punycode" in shown(form) and "not HTTPS" in shown(form)
    form.review()
    assert "Punycode" in shown(form) and "href" in shown(form)
    form.decline()
    assert server.heard == [{"page": {"action": "decline"}}]


# --- a stranger's text ---

BAD = "<img src=x onerror=1></bdi><a href='javascript:1'>x</a>\u202e\u200b"


def test_no_text_of_a_server_is_markup():
    choices = [{"const": BAD, "title": BAD}]
    fields = {
        BAD: {"type": "string", "title": BAD, "description": BAD, "default": BAD},
        "one": {"type": "string", "oneOf": choices},
        "many": {"type": "array", "items": {"anyOf": choices}},
    }
    server = asking_server({BAD: elicitation.form(BAD, fields)})
    server.info["name"] = BAD
    client = client_of(server)
    form = ask(client, "t", server="ours")
    text = shown(form)
    form.accept({BAD: BAD, "one": BAD, "many": [BAD]})
    for seen in (text, shown(form)):
        assert "<img" not in seen and "<a " not in seen
        assert "\u202e" not in seen and "\u200b" not in seen
    options = widgets(form, ipywidgets.Dropdown)[0].options
    assert "\\u202e" in options[0][0]
    assert server.heard[0][BAD]["content"]["one"] == BAD  # the wire has it as it came


def test_the_name_in_bold_is_the_host_s():
    server = asking_server(a_form({"a": {"type": "string"}}))
    server.info["name"] = "Your Bank"
    form = ask(client_of(server), "t", server="weather")
    assert ">weather</b> asks you" in shown(form)
    assert "(it calls itself <bdi>Your Bank</bdi>)" in shown(form)


def test_a_long_message_is_cut():
    server = asking_server(a_form({}, message="x" * 100_000))
    assert len(shown(ask(client_of(server), "t", server="s"))) < 20_000
