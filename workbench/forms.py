"""A call that may ask the person: it returns at once, and goes on when a button is pressed.

    client = open_toy("questions", capabilities={"elicitation": {"form": {}, "url": {}}})
    form = ask(client, "reserve_room", {"purpose": "Course"}, server="rooms")
    form                                  # draws the question; the cell has ended
    form.accept({"people": 4, "day": "2026-09-10"})   # or press Send: the same path
    form.result                           # None until the server has its answers

`server` is the name that the host gave the server: a server may call itself anything.

A form does not keep its server alive. Keep the client in a variable; when that is gone, or closed,
the form says so. Nothing here waits, polls or starts a thread: a press sends the retry, and waits
for its answer no longer than the client's time-out.

Does not handle: what may be asked and answered (`questions`), and how it looks (`drawing`).

Spec: client/elicitation, basic/patterns/mrtr.
"""

import weakref
from collections.abc import Callable
from typing import Any

from mcp_bare import addresses
from mcp_bare.client import MAX_ROUNDS, Client
from mcp_bare.errors import InputNeeded, McpError, ProtocolViolation, TransportClosed
from workbench import form_text
from workbench.questions import NotSent, Question

__all__ = ["Asking", "NotSent", "ask", "ask_request"]

ELICIT = "elicitation/create"
MAX_QUESTIONS = 20
GONE = (
    "the connection of this form is gone: nobody holds its client any more (keep it in a "
    "variable), or the cell that made it has run again"
)


def ask(client: Client, tool: str, arguments: dict | None = None, *, server: str) -> "Asking":
    """Call a tool, and draw what it asks. Raises what `client.request` raises."""
    return Asking(client, "tools/call", {"name": tool, "arguments": arguments or {}}, server)


def ask_request(client: Client, method: str, params: dict, *, server: str) -> "Asking":
    """The same for any request that may be answered `input_required` (basic/patterns/mrtr)."""
    return Asking(client, method, params, server)


class Asking:
    """A request, the questions it met with, and in the end its result.

    `questions` are those of the present round by key, `history` all there were. `result` is None
    until it is complete; `error` is what went wrong with the last answers that were sent.
    """

    def __init__(self, client: Client, method: str, params: dict, server: str):
        self.server, self.method, self.params = server, method, params
        self.result: dict | None = None
        self.error: BaseException | None = None
        self.questions: dict[str, Question] = {}
        self.history: list[Question] = []
        self.on_change: Callable[[], None] = lambda: None
        self._asked: dict = {}
        self._rounds = 0
        self._view: Any = None
        self._client = weakref.ref(client)
        self._take(client, client.request(method, params))

    # --- the person's answer, from a button or from code ---

    def accept(self, content: dict | None = None) -> dict | None:
        """Send the form: with this content, or as it stands. Returns the result, if it is there.

        Raises NotSent, with the reasons, where the answer does not fit; and McpError where the
        server did not take it. Both also stand in the form.
        """
        self._only().accept(content)
        return self.result

    def decline(self) -> dict | None:
        """Say no. That is an answer: it is sent."""
        self._only().decline()
        return self.result

    def cancel(self) -> dict | None:
        """Go away without saying. It is sent too, so that the server need not wonder."""
        self._only().cancel()
        return self.result

    def review(self) -> addresses.Address:
        """Look at the whole address of the page in question, before anything is opened."""
        return self._only().review()

    def send_again(self, client: Client) -> dict | None:
        """Send the same answers through another client: the call travels in the message."""
        if self.error is None:
            raise NotSent(["nothing went wrong: there is nothing to send again"])
        self._client = weakref.ref(client)
        self._send()
        return self.result

    def waiting(self) -> list[Question]:
        """The questions that have no answer yet."""
        return [question for question in self.questions.values() if question.answer is None]

    def _only(self) -> Question:
        asked = [question for question in self.questions.values() if not question.refusal]
        if len(asked) != 1:
            names = ", ".join(f"questions[{question.key!r}]" for question in asked) or "none"
            raise NotSent([f"{len(asked)} questions wait for an answer: {names}"])
        return asked[0]

    # --- the rounds ---

    def _take(self, client: Client, result: dict) -> None:
        """Hold the questions of a result, and answer what no person is needed for."""
        while result.get("resultType") == "input_required":
            self._rounds += 1
            if self._rounds > MAX_ROUNDS:
                raise ProtocolViolation(f"{self.method} still asks after {MAX_ROUNDS} rounds")
            self._asked = result
            self.questions = self._questions(client, result)
            self.history += self.questions.values()
            if self.waiting():
                break
            result = client.retry(self.method, self.params, result, self._responses(client))
            self._lock()
        else:
            self.result, self.questions = result, {}
        self.on_change()

    def _questions(self, client: Client, result: dict) -> dict[str, Question]:
        requests = _requests(result)
        others = [r["method"] for r in requests.values() if r["method"] != ELICIT]
        if any(method not in client.handlers for method in others):
            raise InputNeeded(result, others)
        declared = client.capabilities.get("elicitation")
        modes = (declared or {"form": {}}) if declared is not None else {}
        found = {
            key: Question(key, request.get("params", {}), self.server, result, modes)
            for key, request in requests.items()
            if request["method"] == ELICIT
        }
        for question in found.values():
            question.on_answer = self._heard
        return found

    def _responses(self, client: Client) -> dict:
        given = {key: question.answer for key, question in self.questions.items()}
        others = {
            key: client.handlers[request["method"]](request.get("params", {}))
            for key, request in _requests(self._asked).items()
            if key not in given
        }
        return {**given, **others}

    def _heard(self) -> None:
        """An answer came, or was taken back. When none is missing, all of them go out."""
        self._rounds = 0  # only rounds that no person took part in are counted
        if self.waiting():
            self.on_change()
        else:
            self._send()

    def _send(self) -> None:
        self._lock()
        self.error = None
        try:
            client = self._client()
            if client is None:
                raise TransportClosed(GONE)
            responses = self._responses(client)
            self._take(client, client.retry(self.method, self.params, self._asked, responses))
        except (McpError, KeyboardInterrupt) as trouble:
            self.error = trouble
            raise
        finally:
            self.on_change()

    def _lock(self) -> None:
        for question in self.questions.values():
            question.lock()

    # --- showing ---

    def __repr__(self) -> str:
        return "\n\n".join([*map(repr, self.history), *form_text.ending_as_text(self)])

    @property
    def widget(self) -> Any:
        """The questions, drawn with ipywidgets; made when somebody first looks."""
        if self._view is None:
            from workbench import drawing  # the rest needs no ipywidgets

            self._view = drawing.AskingView(self)
        return self._view.widget

    def _repr_mimebundle_(self, **_: Any) -> dict:
        """Widgets where there is somebody to draw them, and the same as text elsewhere."""
        if self.result is None and self._client() is None:
            self.error = self.error or TransportClosed(GONE)  # better now than at the press
            self.on_change()
        return {**self.widget._repr_mimebundle_(), "text/plain": repr(self)}


def _requests(result: dict) -> dict[str, dict]:
    """The input requests of a result, by key; the client has checked their shape."""
    asked = result.get("inputRequests", {})
    if len(asked) > MAX_QUESTIONS:
        raise ProtocolViolation(f"{len(asked)} questions at once; at most {MAX_QUESTIONS} here")
    return asked
