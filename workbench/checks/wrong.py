"""What a check says: what the learner sent, what the clause wants, what to try. Never the answer.

Does not handle: deciding what is wrong (the checks), or showing it in a page (`classroom`).
"""

import json
import textwrap

from workbench.checks.inside import Strange

SHOWN = 320
LABELS = ("You sent", "The clause wants", "Try")


class Wrong(Exception):
    """A stage that does not pass, and why; it prints as three lines, without a traceback.

    `kind` is "wrong", "not yet" (nothing is written), "late", "died" or "flood".
    """

    kind = "wrong"

    def __init__(self, sent: object, clause: str, hint: str, kind: str = "wrong"):
        self.sent, self.clause, self.hint, self.kind = shown(sent), placed(clause), hint, kind
        self.stage = ""
        super().__init__(self.text())

    def text(self) -> str:
        """The message as it is printed."""
        parts = zip(LABELS, (self.sent, self.clause, self.hint), strict=True)
        return "\n".join(labelled(label, part) for label, part in parts)

    def __str__(self) -> str:
        head = f"Stage {self.stage} does not pass yet.\n" if self.stage and self.sent else ""
        return head + self.text()

    def _render_traceback_(self) -> list[str]:
        """What IPython shows instead of a traceback."""
        return str(self).splitlines()


class NotYet(Wrong):
    """A stage with nothing to judge: not written, or its cell was not run.

    `words` say what is missing, `then` what to do about it in an open notebook.
    """

    words = then = ""

    def __init__(self, words: str, then: str = ""):
        super().__init__("", "", "", "not yet")
        self.words, self.then = words, then
        self.args = (words, then)

    def text(self) -> str:
        return f"{self.words} {self.then}".strip()


def labelled(label: str, text: str) -> str:
    """One part: the label in a column of its own, the text wrapped beside it."""
    indent = " " * 18
    lines = [
        piece
        for line in text.splitlines() or [""]
        for piece in (textwrap.wrap(line, 82, break_on_hyphens=False) or [""])
    ]
    return f"{label + ':':<18}" + f"\n{indent}".join(lines)


def placed(clause: str) -> str:
    """ "basic/index: an id is never null" -> "an id is never null (basic/index)"."""
    page, colon, words = clause.partition(": ")
    return f"{words} ({page})" if colon and "/" in page and " " not in page else clause


def shown(value: object) -> str:
    """A value in a message: bytes as Python writes them, JSON as JSON, a text as it stands."""
    if isinstance(value, str):
        text = value
    elif value is None or isinstance(value, bool | bytes | Strange):
        text = repr(value)
    else:
        try:
            text = json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError):
            text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} … ({len(text)} characters)"
