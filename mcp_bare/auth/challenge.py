"""The WWW-Authenticate header, both ways.

One field may hold several challenges, one response several fields; parameters come in any order,
as tokens or as quoted strings; names have no case. The comma parts challenges and parameters
alike, so what follows it decides: `name=` belongs to the challenge before, a bare word opens the
next one.

    parse('Bearer error="invalid_token", scope="a b", Basic realm=x')
    -> [Challenge("Bearer", {"error": "invalid_token", "scope": "a b"}),
        Challenge("Basic", {"realm": "x"})]

Does not handle: what the parameters mean.

Spec: RFC 9110, section 11; RFC 6750, section 3; basic/authorization ("Error Handling").
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcp_bare.auth.errors import BadChallenge
from mcp_bare.jsonrpc import brief

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_LENGTH = 16_384
_WORD = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_SCHEME = re.compile(rf"({_WORD})(?:[ \t]+|(?=,|\Z))")
_PARAMETER = re.compile(
    rf'({_WORD})[ \t]*=[ \t]*(?:({_WORD})|"((?:[^"\\]|\\.)*)")(?=[ \t]*(?:,|\Z))'
)
_TOKEN68 = re.compile(r"[A-Za-z0-9\-._~+/]+=*(?=[ \t]*(?:,|\Z))")
_GAP = re.compile(r"[ \t]*(?:,[ \t]*)*")
_FOLD = re.compile(r"\r?\n[ \t]+")
_UNPRINTABLE = re.compile(r"[^\t -~\x80-\xff]")


@dataclass(frozen=True)
class Challenge:
    """One way in that the server offers. Parameter names are in lower case."""

    scheme: str
    params: dict[str, str] = field(default_factory=dict)
    token68: str | None = None

    @property
    def scopes(self) -> frozenset[str]:
        """The `scope` parameter as a set; empty where there is none."""
        return frozenset(self.params.get("scope", "").split())

    def __str__(self) -> str:
        """The challenge as it goes on the wire; every value a quoted string.

        Raises BadChallenge for what no header can carry: a line break would start a header.
        """
        if self.token68 is not None:
            return f"{self.scheme} {self.token68}"
        told = ", ".join(f"{name}={_quoted(value)}" for name, value in self.params.items())
        return f"{self.scheme} {told}".rstrip()


def bearer(**params: str | None) -> Challenge:
    """A Bearer challenge with what is not None, in the order given.

    str(bearer(error="invalid_token")) -> 'Bearer error="invalid_token"'
    """
    return Challenge("Bearer", {name: text for name, text in params.items() if text is not None})


def parse(*fields: str) -> list[Challenge]:
    """Every challenge of these header fields. Raises BadChallenge."""
    return [challenge for text in fields for challenge in _challenges(text)]


def find_bearer(fields: Iterable[str]) -> Challenge | None:
    """The Bearer challenge to follow, or None. A field that cannot be read counts as absent.

    Of several, one that names the resource's metadata comes first.
    """
    found: list[Challenge] = []
    for text in fields:
        try:
            found += [each for each in _challenges(text) if each.scheme.lower() == "bearer"]
        except BadChallenge:
            continue
    return min(found, key=lambda each: "resource_metadata" not in each.params, default=None)


def _challenges(text: str) -> Iterator[Challenge]:
    if len(text) > MAX_LENGTH:
        raise BadChallenge(f"a WWW-Authenticate of {len(text)} characters; {MAX_LENGTH} are read")
    text = _FOLD.sub(" ", text).strip(" \t")
    if _UNPRINTABLE.search(text):
        raise _bad(text, 0, "no control characters")
    end, current = 0, None
    while (at := _after_gap(text, end)) < len(text):
        parameter = _PARAMETER.match(text, at)
        if parameter and current and current.token68 is None:
            name, end = parameter[1].lower(), parameter.end()
            if name in current.params:
                raise _bad(text, at, f"{name!r} only once in a challenge")
            current.params[name] = _value(parameter)
            continue
        scheme = _SCHEME.match(text, at)
        if scheme is None or (current and "," not in text[end:at]):
            raise _bad(text, at, "a comma and a scheme, or name=value,")
        if current:
            yield current
        token = _TOKEN68.match(text, scheme.end())
        end = token.end() if token else scheme.end()
        current = Challenge(scheme[1], token68=token.group() if token else None)
    if current:
        yield current


def _after_gap(text: str, at: int) -> int:
    """The index after white space and commas; a list may have empty places."""
    gap = _GAP.match(text, at)
    return gap.end() if gap else at


def _value(parameter: re.Match[str]) -> str:
    word, quoted = parameter[2], parameter[3]
    return word if word is not None else re.sub(r"\\(.)", r"\1", quoted)


def _quoted(value: str) -> str:
    if _UNPRINTABLE.search(value):
        raise BadChallenge(f"{brief(value)} cannot stand in a header (RFC 9110, section 5.5)")
    return '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'


def _bad(text: str, at: int, due: str) -> BadChallenge:
    return BadChallenge(
        f"WWW-Authenticate has {brief(text[at : at + 40])} at character {at}; {due} is due"
        " (RFC 9110, section 11)"
    )
