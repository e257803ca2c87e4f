"""The exam's verdicts as a page: a line for each rule, and for a broken one what to look at.

    ok     utf-8             messages are UTF-8
    BROKEN ids               a response has the id of its request, of the same type
           sent    {"jsonrpc":"2.0","id":1,"method":"server/discover", ...
           came    {"jsonrpc":"2.0","id":999,"result":{"resultType":"complete", ...
           but     the id of the request is 1
           clause  basic/index: MUST
           try     Copy the id as it came: 1 is not "1".

Does not handle: judging (`rules_*`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_bare import revision
from mcp_bare.arrows import compact, wrapped
from mcp_bare.exam.ids import CAPABILITIES, CLIENT
from mcp_bare.exam.rule import ABSENT, BROKEN, HOLDS, NOTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcp_bare.exam.rule import Verdict

SHOWN = 400  # characters of a message in the report
WIDTH = 100
USUAL = (compact(revision.request_meta(CAPABILITIES, CLIENT))[1:-1],
         compact(CAPABILITIES)[1:-1], compact(CLIENT)[1:-1])  # fmt: skip
"""What nearly every request of the exam carries: folded in the report, as on a tape."""


def report(verdicts: Iterable[Verdict], everything: bool = False) -> Iterator[str]:
    """The report, line by line; with `everything`, also each page and every finding."""
    count = dict.fromkeys((HOLDS, BROKEN, NOTED, ABSENT), 0)
    for each in verdicts:
        count[each.outcome] += 1
        yield from _told(each, everything)
    held, broken, noted, absent = count.values()
    yield (
        f"{held} hold, {broken} broken, {noted} noted, {absent} not applicable: "
        + ("the server passes" if not broken else "the server fails")
        + f" the exam of {revision.CURRENT}"
    )


_MARKS = {HOLDS: "ok", BROKEN: "BROKEN", NOTED: "note", ABSENT: "n/a"}


def _told(each: Verdict, everything: bool) -> Iterator[str]:
    line = f"{_MARKS[each.outcome]:7}{each.name:18}{each.says}"
    if each.outcome == ABSENT:
        line = f"{_MARKS[ABSENT]:7}{each.name:18}{each.reason}"
    yield line + (f" ({each.page})" if everything else "")
    if not each.findings:
        return
    shown = each.findings if everything else each.findings[:1]
    for finding in shown:
        yield from _part("sent", _folded(finding.sent))
        yield from _part("came", finding.came)
        yield from _part("but", finding.why)
    if each.count > len(shown):
        yield from _part("and", f"{each.count - len(shown)} more like this")
    yield from _part("clause", f"{each.page}: {each.level}")
    yield from _part("try", each.hint)


def _folded(sent: str) -> str:
    for usual in USUAL:
        sent = sent.replace(usual, "…")
    return sent


def _part(name: str, text: str) -> Iterator[str]:
    shown = text if len(text) <= SHOWN else text[:SHOWN] + "…"
    for number, line in enumerate(wrapped(shown, WIDTH - 15)):
        yield f"       {name if number == 0 else '':8}{line.strip()}"
