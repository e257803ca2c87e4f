"""One question of a server: whether it may be put to a person, and the three ways out of it.

A question that must not be put to the person is refused, with the rule: a form that the restricted
schema does not allow, a form that asks for a credential, a mode that this client never declared,
an address that no browser should get. The rest is a form with fields, or a page with an address.

Nothing here draws. Who does (`drawing`) sets `standing`, which tells what the form holds, and
`on_change`; a button there and a method here are the same path. `on_answer` hears when an answer
is given, and when it is taken back.

Does not handle: sending (`forms`).

Spec: client/elicitation.
"""

from collections.abc import Callable
from typing import Any

from mcp_bare import addresses, elicitation, json_schema
from mcp_bare.elicitation import Field
from mcp_bare.errors import IllegalSchema, ProtocolViolation
from mcp_bare.revision import SERVER_INFO
from workbench import form_text

MAX_PARTS = 400
RULE = (
    "A server must not ask for passwords, keys, tokens or payment credentials in a form: "
    "what is typed here passes through the client (client/elicitation)"
)
WHOLE = ""  # the problems that belong to no field


class NotSent(ValueError):
    """An answer that did not go out; `problems` says why, and so does the form."""

    def __init__(self, problems: list[str]):
        super().__init__("nothing was sent: " + "; ".join(problems))
        self.problems = problems


class Question:
    """One input request and, in the end, the person's `answer` to it (an ElicitResult).

    `fields` of a form or `address` of a page; `refusal` instead of either. `problems` are what is
    wrong with the last answer that was tried, by field.
    """

    def __init__(self, key: str, params: dict, server: str, result: dict, modes: dict):
        self.key, self.params, self.server = key, params, server
        self.claim = _claim(result)
        self.fields: list[Field] = []
        self.address: addresses.Address | None = None
        self.refusal = ""
        self.answer: dict | None = None
        self.sent = self.reviewed = False
        self.problems: dict[str, list[str]] = {}
        self.shown: dict | None = None  # what was answered from code, for the eye
        self.standing: Callable[[], tuple[dict, dict]] = self._defaults
        self.on_change: Callable[[], None] = _nothing
        self.on_answer: Callable[[], None] = _nothing
        try:
            self._examine(modes)
        except _Refused as no:
            self.refusal, self.answer = str(no), {"action": no.action}

    @property
    def message(self) -> str:
        """What the server says that it wants; a stranger's text."""
        return str(self.params.get("message", ""))

    def _defaults(self) -> tuple[dict, dict]:
        return {field.name: field.default for field in self.fields if field.has_default}, {}

    # --- may it be asked? ---

    def _examine(self, modes: dict) -> None:
        if not isinstance(self.params.get("message"), str):
            raise _Refused("It has no message (client/elicitation, Elicitation Requests)", "cancel")
        mode = self.params.get("mode", "form")
        if mode not in ("form", "url") or mode not in modes:
            why = f"This client did not declare the mode {mode!r} (client/elicitation)"
            raise _Refused(why, "cancel")
        try:
            if mode == "url":
                self.address = addresses.review(self.params.get("url"))
            else:
                self._examine_form()
        except IllegalSchema as illegal:
            raise _Refused(f"Its form is not legal: {illegal}", "cancel") from None
        except ProtocolViolation as unfit:
            raise _Refused(str(unfit), "cancel") from None

    def _examine_form(self) -> None:
        secrets = elicitation.secrets_asked(self.params)
        if secrets:
            raise _Refused(f"It asks for {', '.join(secrets)}. {RULE}", "decline")
        fields = elicitation.fields(self.params["requestedSchema"])
        size = sum(1 + len(field.choices) for field in fields)
        if size > MAX_PARTS:
            raise _Refused(f"A form of {size} parts; at most {MAX_PARTS} are drawn here", "cancel")
        self.fields = fields

    # --- the three ways out ---

    def accept(self, content: dict | None = None) -> None:
        """Answer with this content, or with what the form holds now. Raises NotSent.

        A page's answer has no content, and its address has to be looked at first (`review`).
        """
        self._check_open()
        self.shown = content
        if self.address is not None:
            self.problems = _page_problems(self.reviewed, content)
        else:
            content, unreadable = (content, {}) if content is not None else self.standing()
            self.problems = judge(self.fields, content, unreadable)
        self.on_change()
        if self.problems:
            raise NotSent([_told(name, p) for name in self.problems for p in self.problems[name]])
        self._give(elicitation.accept(content))

    def decline(self) -> None:
        """Say no."""
        self._check_open()
        self._give(elicitation.decline())

    def cancel(self) -> None:
        """Go away without saying."""
        self._check_open()
        self._give(elicitation.cancel())

    def review(self) -> addresses.Address:
        """Look at the whole address of a page: what the button "Show the whole address" does."""
        self._check_open()
        if self.address is None:
            raise NotSent(["this question is a form: there is no address to look at"])
        self.reviewed = True
        self.problems = {}
        self.on_change()
        return self.address

    def reconsider(self) -> None:
        """The person goes on writing: an answer that was kept, and not sent, is one no more."""
        if self.sent or self.refusal:
            return
        if self.problems:
            self.problems = judge(self.fields, *self.standing())
        kept, self.answer = self.answer, None
        self.on_change()
        if kept is not None:
            self.on_answer()

    def lock(self) -> None:
        """The answer is on its way: nothing can be changed any more."""
        self.sent = True
        self.problems = {}
        self.on_change()

    def _check_open(self) -> None:
        if self.refusal:
            raise NotSent([self.refusal])
        if self.sent:
            raise NotSent(["this question has been answered"])

    def _give(self, answer: dict) -> None:
        self.answer, self.problems = answer, {}
        self.on_change()
        self.on_answer()

    def __repr__(self) -> str:
        return form_text.as_text(self)


class _Refused(Exception):
    """This question is not put to the person; `action` is answered in their place."""

    def __init__(self, why: str, action: str):
        super().__init__(why)
        self.action = action


def judge(fields: list[Field], content: Any, unreadable: dict) -> dict[str, list[str]]:
    """What is wrong with an answer, by field: {"people": ["the value is 40; at most 12 is due"]}.

    `unreadable` are problems that are known already, of what could not even be read.
    """
    if not isinstance(content, dict):
        return {WHOLE: [f"the content is {content!r}; an object is due"]}
    found = {field.name: _problems(field, content) for field in fields} | unreadable
    known = {field.name for field in fields}
    found |= {name: ["not a field of this form"] for name in content if name not in known}
    return {name: problems for name, problems in found.items() if problems}


def _problems(field: Field, content: dict) -> list[str]:
    if field.name not in content:
        return ["an answer is due"] if field.required else []
    try:
        return json_schema.problems(field.schema, content[field.name], formats=True)
    except IllegalSchema as illegal:
        return [str(illegal)]


def _page_problems(reviewed: bool, content: dict | None) -> dict[str, list[str]]:
    if content is not None:
        return {WHOLE: ["a page's answer has no content (client/elicitation, Response Actions)"]}
    return {} if reviewed else {WHOLE: ["look at the whole address first: review()"]}


def _told(name: str, problem: str) -> str:
    return f"{name}: {problem}" if name else problem


def _claim(result: dict) -> str | None:
    """What the server calls itself, if anything."""
    meta = result.get("_meta")
    info = meta.get(SERVER_INFO) if isinstance(meta, dict) else None
    return info.get("name") if isinstance(info, dict) else None


def _nothing() -> None:
    """Nobody looks."""
