"""Questions drawn with ipywidgets. What a button does is a method of the question; what changed
there is shown here. Nothing is decided in this module.

Widgets share their layouts and styles: a saved notebook holds every model that was made.

Does not handle: what may be asked, answered or sent (`questions`, `forms`), and the HTML (`looks`).
"""

import contextlib
import functools
from collections.abc import Callable

import ipywidgets

from mcp_bare.errors import McpError
from workbench import form_inputs, looks
from workbench.form_inputs import ABSENT
from workbench.forms import Asking
from workbench.questions import NotSent, Question

SEND = {"form": "Send", "page": "I have done it: go on"}


class AskingView:
    """All the questions of one call, one under the other, and how it ended."""

    def __init__(self, asking: Asking):
        self._asking = asking
        self._style, self._ending = _html(looks.STYLE), _html("")
        self._drawn: list[QuestionView] = []
        self.widget = _box([self._style, self._ending])
        self.widget.add_class("mcp-ask")
        asking.on_change = self.update
        self.update()

    def update(self) -> None:
        """Draw what is new."""
        new = self._asking.history[len(self._drawn) :]
        self._drawn += [QuestionView(question) for question in new]
        self._ending.value = looks.ending(self._asking)
        if new:
            panels = [view.widget for view in self._drawn]
            self.widget.children = [self._style, *panels, self._ending]


class QuestionView:
    """One question: who asks, what, the fields or the address, the buttons, what was answered."""

    def __init__(self, question: Question):
        self.question = question
        head = looks.heading(question)
        self._status = _html("")
        self._buttons, self._body = [], None
        if question.refusal:
            children = [_html(head)]
        else:
            self._body = (FormBody if question.address is None else PageBody)(question, head)
            self._buttons = self._three_ways()
            children = [*self._body.widgets, ipywidgets.HBox(self._buttons, layout=_plain())]
        self.widget = _box([*children, self._status])
        self.widget.add_class("mcp-question")
        question.on_change = self.update
        self.update()

    def _three_ways(self) -> list[ipywidgets.Button]:
        kind = "form" if self.question.address is None else "page"
        return [
            _button(SEND[kind], self.question.accept, "primary"),
            _button("Decline", self.question.decline),
            _button("Cancel", self.question.cancel),
        ]

    def update(self) -> None:
        """Show the state of the question."""
        question = self.question
        self._status.value = looks.status(question)
        if question.refusal:
            self.widget.add_class("mcp-refused")
            return
        self._body.update()
        for button in self._buttons:
            button.disabled = question.sent
        if question.address is not None:  # agreed to only after it has been looked at
            self._buttons[0].disabled = question.sent or not question.reviewed
        if question.sent:
            self.widget.add_class("mcp-locked")


class FormBody:
    """The fields of a form: label, input, and under it what fits or what is wrong."""

    def __init__(self, question: Question, head: str):
        self._question, self._head = question, head
        self._inputs = [form_inputs.make(field) for field in question.fields]
        # Between two inputs stands one piece of HTML: the foot of one, the label of the next.
        self._texts = [_html("") for _ in range(len(self._inputs) + 1)]
        self._writing = False
        question.standing = self.typed
        for made in self._inputs:
            for part in made.parts:
                part.observe(self._edited, "value")
        pairs = zip(self._texts, self._inputs, strict=False)
        rows = [widget for text, made in pairs for widget in (text, made.widget)]
        self.widgets = [*rows, self._texts[-1]]

    def typed(self) -> tuple[dict, dict]:
        """What the person put in, and what cannot be read of it: (content, problems)."""
        content, unreadable = {}, {}
        for field, made in zip(self._question.fields, self._inputs, strict=True):
            try:
                value = made.read()
            except form_inputs.Unreadable as trouble:
                unreadable[field.name] = [str(trouble)]
                continue
            if value is not ABSENT:
                content[field.name] = value
        return content, unreadable

    def update(self) -> None:
        """Show labels, hints and problems; and the values, where they came from code."""
        fields = self._question.fields
        labels = [self._head, *([""] * len(fields))]
        for place, field in enumerate(fields):
            labels[place] += looks.label(field)
            labels[place + 1] += looks.foot(field, self._question.problems.get(field.name, []))
        for text, value in zip(self._texts, labels, strict=True):
            text.value = value
        if isinstance(self._question.shown, dict):
            self._show(self._question.shown)
        for part in [part for made in self._inputs for part in made.parts]:
            part.disabled = self._question.sent

    def _show(self, content: dict) -> None:
        self._writing = True
        try:
            for field, made in zip(self._question.fields, self._inputs, strict=True):
                with contextlib.suppress(Exception):  # it is judged elsewhere; this is for the eye
                    made.write(content.get(field.name, ABSENT))
        finally:
            self._writing = False

    def _edited(self, _: object) -> None:
        if not self._writing:
            self._question.shown = None
            self._question.reconsider()


class PageBody:
    """An address: its host first, all of it and a link once the person asks to see it.

    Nothing is fetched, and nothing opens by itself. The link opens a tab of its own, which does
    not learn where it was clicked; clicking it tells us nothing either.
    """

    def __init__(self, question: Question, head: str):
        self._question, self._head = question, head
        self._shown = _html("")
        self._review = _button("Show the whole address", question.review)
        self._review.layout = ipywidgets.Layout(width="auto", align_self="flex-start")
        self.widgets = [self._shown, self._review]

    def update(self) -> None:
        """Once the answer is on its way the address is not kept, nor anything to click."""
        question = self._question
        whole = question.reviewed and not question.sent
        about = (looks.whole_address if whole else looks.host_only)(question.address)
        self._shown.value = self._head + about
        hidden = question.reviewed or question.sent
        self._review.layout.display = "none" if hidden else None


def _button(text: str, act: Callable[[], object], look: str = "") -> ipywidgets.Button:
    layout = _plain() if len(text) < 12 else _fitting()
    button = ipywidgets.Button(
        description=text, button_style=look, layout=layout, style=_button_style()
    )

    def press(_: ipywidgets.Button) -> None:
        with contextlib.suppress(NotSent, McpError):  # the form itself shows both
            act()

    button.on_click(press)
    return button


def _html(text: str) -> ipywidgets.HTML:
    return ipywidgets.HTML(text, style=_html_style(), layout=_plain())


def _box(children: list[ipywidgets.Widget]) -> ipywidgets.VBox:
    return ipywidgets.VBox(children, layout=_plain())


# --- shared looks ---


@functools.cache
def _plain() -> ipywidgets.Layout:
    return ipywidgets.Layout()


@functools.cache
def _fitting() -> ipywidgets.Layout:
    return ipywidgets.Layout(width="auto")


@functools.cache
def _button_style() -> ipywidgets.ButtonStyle:
    return ipywidgets.ButtonStyle()


@functools.cache
def _html_style() -> ipywidgets.widgets.widget_string.HTMLStyle:
    return ipywidgets.widgets.widget_string.HTMLStyle()
