"""One field of a form as a widget that knows how to say nothing.

A widget of a number, a choice or a yes always holds a value; an answer on the wire may leave an
optional field out. So a number is typed as text, and a yes or no has a third state. `read` gives
the value as it goes on the wire or `ABSENT`; `write` shows a value, wherever it came from.

An empty box is no answer, unless the form's own default is the empty string. No box ticked is the
empty list where the field is required or has a default, and no answer elsewhere.

Does not handle: labels, messages and buttons (`drawing`), or whether a value is a good one.
"""

import datetime
import functools
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ipywidgets

from mcp_bare.arrows import visible
from mcp_bare.elicitation import Field

ABSENT = object()
LONG = 120
NOT_SAID = "not said"


class Unreadable(ValueError):
    """What was typed is no value of this kind; the text stands beside the field."""


@dataclass(frozen=True)
class Input:
    """A field's widget; `parts` are the widgets that hold what the person typed or chose."""

    widget: ipywidgets.DOMWidget
    parts: tuple[ipywidgets.ValueWidget, ...]
    read: Callable[[], Any]
    write: Callable[[Any], None]


def make(field: Field) -> Input:
    """The input of one field, with its default in it where it has one."""
    made = _MAKERS.get(field.kind, _text)(field)
    made.write(field.default if field.has_default else ABSENT)
    return made


# --- what is typed ---


def _text(field: Field) -> Input:
    # A date is picked. A date-time is typed: a picker would have to guess whose zone is meant.
    if field.schema.get("format") == "date":
        return _date(field)
    long = field.schema.get("maxLength", 0) > LONG
    kind = ipywidgets.Textarea if long else ipywidgets.Text
    widget = kind(tooltip=visible(field.label), layout=_wide(), style=_text_style())

    def read() -> Any:
        return ABSENT if widget.value == "" and field.default != "" else widget.value

    return Input(widget, (widget,), read, lambda value: _show(widget, value))


def _number(field: Field) -> Input:
    widget = ipywidgets.Text(tooltip=visible(field.label), layout=_narrow(), style=_text_style())

    def read() -> Any:
        typed = widget.value.strip()
        return number(typed, field.kind) if typed else ABSENT

    return Input(widget, (widget,), read, lambda value: _show(widget, value))


def number(typed: str, kind: str) -> int | float:
    """The number that was typed, as JSON writes one. Raises Unreadable."""
    whole = re.fullmatch(r"-?\d{1,300}", typed, re.ASCII)
    if whole:
        return int(typed)
    if not re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d{1,4})?", typed, re.ASCII):
        raise Unreadable(f"{typed[:40]!r} is no number" + (", as 3.5" if kind == "number" else ""))
    value = float(typed)
    if not math.isfinite(value):
        raise Unreadable(f"{typed[:40]!r} is more than a number can hold here")
    return int(value) if kind == "integer" and value.is_integer() else value


def _date(field: Field) -> Input:
    widget = ipywidgets.DatePicker(tooltip=visible(field.label), layout=_narrow(), style=_style())

    def read() -> Any:
        return ABSENT if widget.value is None else widget.value.isoformat()

    def write(value: Any) -> None:
        try:
            widget.value = datetime.date.fromisoformat(value)
        except (TypeError, ValueError):
            widget.value = None

    return Input(widget, (widget,), read, write)


def _show(widget: ipywidgets.Text, value: Any) -> None:
    """Show a value as one would type it."""
    if value is ABSENT:
        widget.value = ""
    else:
        widget.value = value if isinstance(value, str) else json.dumps(value)


# --- what is chosen ---


def _one_of(field: Field, choices: list[tuple[str, Any]], kind: type) -> Input:
    """Choose one, by its label. Nothing is chosen before the person (or a default) chooses."""
    offered = choices if field.required else [*choices, (NOT_SAID, ABSENT)]
    labels = [(visible(label), place) for place, (label, _) in enumerate(offered)]
    options: dict[str, Any] = {"options": labels, "value": None, "layout": _wide()}
    if kind is ipywidgets.ToggleButtons:  # a tooltip would stand on every button
        widget = kind(**options, style=_toggle_style())
    else:
        widget = kind(**options, tooltip=visible(field.label), style=_style())

    def read() -> Any:
        return ABSENT if widget.index is None else offered[widget.index][1]

    def write(value: Any) -> None:
        places = [n for n, (_, known) in enumerate(offered) if known is value or known == value]
        widget.index = places[0] if places else None

    return Input(widget, (widget,), read, write)


def _yes_or_no(field: Field) -> Input:
    return _one_of(field, [("yes", True), ("no", False)], ipywidgets.ToggleButtons)


def _choice(field: Field) -> Input:
    labelled = [(label, value) for value, label in field.choices]
    return _one_of(field, labelled, ipywidgets.Dropdown)


def _choices(field: Field) -> Input:
    boxes = [
        ipywidgets.Checkbox(
            description=visible(label), indent=False, layout=_wide(), style=_checkbox_style()
        )
        for _, label in field.choices
    ]
    values = [value for value, _ in field.choices]

    def read() -> Any:
        ticked = [value for value, box in zip(values, boxes, strict=True) if box.value]
        return ticked if ticked or field.required or field.has_default else ABSENT

    def write(value: Any) -> None:
        chosen = value if isinstance(value, list) else []
        for known, box in zip(values, boxes, strict=True):
            box.value = known in chosen

    return Input(ipywidgets.VBox(boxes, layout=_plain()), tuple(boxes), read, write)


_MAKERS = {
    "number": _number,
    "integer": _number,
    "boolean": _yes_or_no,
    "choice": _choice,
    "choices": _choices,
}


# --- shared looks: one model in the notebook's file, not one for each widget ---


@functools.cache
def _wide() -> ipywidgets.Layout:
    return ipywidgets.Layout(width="100%", max_width="30em", margin="2px")


@functools.cache
def _narrow() -> ipywidgets.Layout:
    return ipywidgets.Layout(width="12em", margin="2px")


@functools.cache
def _plain() -> ipywidgets.Layout:
    return ipywidgets.Layout()


@functools.cache
def _style() -> ipywidgets.widgets.widget_description.DescriptionStyle:
    return ipywidgets.widgets.widget_description.DescriptionStyle()


@functools.cache
def _text_style() -> ipywidgets.widgets.widget_string.TextStyle:
    return ipywidgets.widgets.widget_string.TextStyle()


@functools.cache
def _checkbox_style() -> ipywidgets.widgets.widget_bool.CheckboxStyle:
    return ipywidgets.widgets.widget_bool.CheckboxStyle()


@functools.cache
def _toggle_style() -> ipywidgets.ToggleButtonsStyle:
    return ipywidgets.ToggleButtonsStyle(button_width="7em")
