"""Which lines of an answer or of a hidden check would give something away, and where they stand.

A line counts when it has at least three names, numbers or texts, the words of the language not
counted: `return result`, `except ValueError:` and `for line in lines:` are in every program. (A
long text counts as several.) An import does not count, nor do the few lines in COMMON. And a line
does not count where the learner is meant to see it: in the broken copy that a stage begins with, in
the first lines of its gap, or (for a hidden check) in the visible check of the same exercise.
"""

import io
import json
import keyword
import tokenize
from collections.abc import Iterator
from typing import Any

from sources.exercise import Exercise

ENOUGH = 3
LONG = 12
COMMON = {"message = json.loads(line)", "message = json.loads(data)"}


def flat(text: str) -> str:
    """Without its spaces: neither indentation nor wrapping hides a line."""
    return "".join(text.split())


def telling(source: str) -> list[str]:
    """The lines of a piece of Python that count, flattened."""
    lines = [line.strip() for line in source.splitlines() if weight(line) >= ENOUGH]
    imports = ("from ", "import ")
    return [flat(line) for line in lines if line not in COMMON and not line.startswith(imports)]


def weight(line: str) -> int:
    """The names, numbers and texts in a line of Python; a comment has none."""
    texts = (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))
    kinds = (tokenize.NAME, tokenize.NUMBER, *texts)
    found = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.strip()).readline):
            found += token.type in kinds and not keyword.iskeyword(token.string)
            found += len(token.string) // LONG if token.type in texts else 0
    except (tokenize.TokenError, IndentationError, SyntaxError):
        pass  # a piece of a longer statement: what was read so far counts
    return found


def secrets(exercise: Exercise) -> dict[str, list[str]]:
    """The lines that must not be found, by where they come from."""
    open_lines = {flat(line) for cell in exercise.of("check") for line in cell.source.splitlines()}
    found = {}
    for stage in exercise.stages:
        blank = {flat(line) for line in exercise.blank(stage).splitlines()}
        answer = telling(exercise.of("stage", stage)[0].source)
        hidden = telling(exercise.of("hidden", stage)[0].source)
        found[f"{exercise.name}, answer {stage}"] = [line for line in answer if line not in blank]
        found[f"{exercise.name}, hidden {stage}"] = [x for x in hidden if x not in open_lines]
    return found


def texts(value: Any) -> Iterator[str]:
    """Every text in a piece of JSON, keys included, lists of lines joined."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            yield "".join(value)
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts(item)


def readable(data: bytes) -> str:
    """All that a search can find in a file, flattened: as it stands, and as JSON reads."""
    raw = data.decode("utf-8", "replace")
    try:
        inner = " ".join(texts(json.loads(raw)))
    except ValueError:
        inner = ""
    return flat(raw) + flat(inner)
