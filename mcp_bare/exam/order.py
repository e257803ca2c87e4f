"""The order of the sittings: the first says what there is to ask, the others run side by side.

    sit(opened, learned, {"calls", "hostile"}) -> [Record("meet", ...), Record("calls", ...), ...]

A server that cannot be met is not asked the rest. Where the server dies of a bad line, a new
process takes the next one.

Does not handle: what is sent (`sittings`), judging (`rules_*`).
"""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from mcp_bare.exam import sittings
from mcp_bare.exam.ids import Ids
from mcp_bare.exam.process import GaveUp, Patience, Sitting

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any

    from mcp_bare.exam.learned import Learned
    from mcp_bare.exam.record import Record

    What = Callable[[Sitting, Learned, Ids], None]

MAX_DEATHS = 3  # of a server that dies of bad lines
WORKERS = 4  # processes of the server at a time, besides the first
BESIDE: tuple[dict[str, What], ...] = (
    {"calls": sittings.calls, "second": sittings.second},
    {"hostile": sittings.hostile},  # which goes on in a new process where the server dies
    {"listen": sittings.listen},
    {"cancel": sittings.cancel},
)
"""Side by side; but a second half comes after its first."""
NAMES = tuple(name for queue in BESIDE for name in queue)


class Opened:
    """Starts the processes of one exam, and can end them all at once."""

    def __init__(self, command: Sequence[str], options: dict[str, Any], patience: Patience):
        self._command, self._options, self._patience = list(command), options, patience
        self._sittings: list[Sitting] = []

    def open(self, name: str) -> Sitting:
        """One more process."""
        self._sittings.append(Sitting(name, self._command, self._options, self._patience))
        return self._sittings[-1]

    def abandon(self) -> None:
        """Kill them; `close` reaps each."""
        for sitting in self._sittings:
            sitting.abandon()


def sit(opened: Opened, learned: Learned, wanted: Collection[str] = NAMES) -> list[Record]:
    """The first sitting, and of the others those that are wanted."""
    unknown = sorted(set(wanted) - set(NAMES))
    if unknown:
        raise ValueError(f"no such sitting: {', '.join(unknown)}; there are {', '.join(NAMES)}")
    ids = Ids()
    with contextlib.closing(opened.open("meet")) as meet:
        _attempt(meet, sittings.meet, learned, ids)
        if meet.gave_up and not any(exchange.line for exchange in meet.exchanges):
            meet.close()
            return [meet.record(), *_one(opened, learned, "lists", _lists)]
        if learned.other_revision:
            meet.close()
            return [meet.record()]
        with ThreadPoolExecutor(WORKERS) as pool:
            others = [pool.submit(_queue, opened, learned, queue, wanted) for queue in BESIDE]
            try:
                if not meet.gave_up:
                    _attempt(meet, sittings.refusals, learned, ids)
                meet.close()
                return [meet.record(), *(record for each in others for record in each.result())]
            except BaseException:  # an interrupt: do not wait for the rest
                opened.abandon()
                pool.shutdown(cancel_futures=True)
                raise


def _queue(
    opened: Opened, learned: Learned, queue: dict[str, What], wanted: Collection[str]
) -> list[Record]:
    """One sitting after the other, as far as they are wanted."""
    records: list[Record] = []
    for name, what in queue.items():
        if name in wanted:
            one_or_more = _hostile if name == "hostile" else _one
            records += one_or_more(opened, learned, name, what)
    return records


def _one(opened: Opened, learned: Learned, name: str, what: What) -> list[Record]:
    with opened.open(name) as sitting:
        _attempt(sitting, what, learned, Ids())
    return [sitting.record()]


def _hostile(opened: Opened, learned: Learned, name: str, what: What) -> list[Record]:
    """Bad lines; where the server dies of one, a new process takes the next."""
    records: list[Record] = []
    while len(learned.poked) < len(sittings.POKES) and len(records) < MAX_DEATHS:
        records += _one(opened, learned, name, what)
        if records[-1].gave_up and not records[-1].died:
            break  # silent: another process would be as well
    return records


def _lists(sitting: Sitting, learned: Learned, ids: Ids) -> None:
    """For a server that said nothing to server/discover: does it answer anything at all?"""
    sittings.read_lists(sitting, learned.pages, ids)


def _attempt(sitting: Sitting, what: What, learned: Learned, ids: Ids) -> None:
    with contextlib.suppress(GaveUp):  # the sitting knows why
        what(sitting, learned, ids)
