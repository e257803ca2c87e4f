"""Why a stage does not pass when no check got to say it: the code raised, hung, or went away.

Does not handle: what is right or wrong in an answer (the checks).
"""

from workbench.checks import inside
from workbench.checks.wrong import NotYet, Wrong, shown

# What was sent, what is due, what to try.
MESSAGES = {
    "late": (
        "nothing, and the time is up",
        "an answer; a check waits for five seconds at most",
        "look for a loop that never ends, or a read that waits for more than will come. The "
        "process has been ended",
    ),
    "died": (
        "nothing: your code ended its process",
        "an answer",
        "leave out exit(), quit() and os._exit(), and look at what your code prints",
    ),
    "flood": (
        "more output than anybody can read",
        "an answer of some kilobytes at most",
        "look for a loop that writes without end. The process has been ended",
    ),
}


CELLS = {
    "late": "a cell that never ends",
    "died": "a cell that ends its process",
    "flood": "a cell that writes without end",
}


class Raised(Exception):
    """What the learner's function raised instead of returning: see `It.attempt`."""

    def __init__(self, error: dict):
        text = {key: str(error.get(key, "")) for key in ("type", "message", "line")}
        self.type, self.message, self.line = text["type"], text["message"], text["line"]
        self.types = [str(each) for each in _list(error.get("types"))]
        self.code = inside.decode(error.get("code"))
        self.data = inside.decode(error.get("data"))
        super().__init__(f"{self.type}: {self.message}")

    def __str__(self) -> str:
        words = f"{self.type}: {self.message}" if self.message else self.type
        return f"{words}\n(at `{self.line.strip()}`)" if self.line.strip() else words


def ended(kind: str, said: str = "", asked: str = "") -> Wrong:
    """What a learner reads when their process came to an end, or had to be brought to one."""
    sent, clause, hint = MESSAGES[kind]
    sent += f"\nfor {asked}" if asked else ""
    last = said.strip().splitlines()[-1:] if kind == "died" else []
    return Wrong(
        sent + "".join(f"\nits last words: {line[:200]}" for line in last), clause, hint, kind
    )


def unreadable(trouble: Exception, from_client: bool) -> Wrong:
    """A check that fell over what it was given: the answer has another shape than it reads."""
    words = f"{type(trouble).__name__}: {trouble}"
    if from_client:
        return Wrong(
            f"something that the toolkit's client does not take: {words}",
            "a server that a client can talk to",
            "read the sentence above: it says what arrived and what is due",
        )
    return Wrong(
        f"an answer of another shape than the check can read ({words})",
        "the shape that the text above the stage describes",
        "print what your code returns, and compare",
    )


def cell_failed(reason: str) -> Wrong:
    clause = "a cell that comes to its end; it is left out until you run it again"
    return Wrong(CELLS[reason], clause, MESSAGES[reason][2], reason)


def as_call(name: str, args: tuple, options: dict) -> str:
    """A call as it would be written: frame({"a": 1})."""
    given = [repr(each) for each in args] + [f"{key}={each!r}" for key, each in options.items()]
    return shown(f"{name}({', '.join(given)})")


def crashed(raised: Raised, where: str = "", asked: str = "") -> Wrong:
    if "NotImplementedError" in raised.types:
        return not_written(raised.message)
    hints = {
        "NameError": "run the cells above in order, and look at how the name is spelled",
        "ImportError": "use the standard library, mcp_bare and toy_servers; there is no more",
        "SyntaxError": "look at that line, and at the end of the one before it",
        "IndentationError": "look at how far that line is indented",
        "SystemExit": MESSAGES["died"][2],
    }
    hint = next((hints[each] for each in raised.types if each in hints), "")
    hint = hint or "call it in a cell of your own with the same input, and read the traceback"
    sent = f"{where}{raised}" + (f"\nfor {asked}" if asked else "")
    return Wrong(sent, "an answer; your code raised an error instead", hint)


def not_written(words: str) -> NotYet:
    """From the words of a NotImplementedError, which the gap of a stage raises: "stage frame"."""
    stage = words.removeprefix("stage ").strip()
    which = f"stage {stage}" if stage.isidentifier() else "something that this stage calls"
    return NotYet(
        f"Not written yet: {which}.",
        "Write it in its cell, run that cell, then run this one again.",
    )


def _list(value: object) -> list:
    return value if isinstance(value, list) else []
