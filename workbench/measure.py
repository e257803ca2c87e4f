"""Things measured side by side: in turns, many times, and said as ratios.

    seconds = side_by_side({"ours": start_ours, "theirs": start_theirs}, turns=9)
    ratio(seconds["theirs"], seconds["ours"])     -> Ratio(median=23.1, low=21.4, high=24.8)
    spread(seconds["ours"])                       -> Spread(median=..., low=..., high=...)
    growth([10, 100, 1000], [1, 9, 102])          -> Growth(slope=1.0, steepest=1.05)
    with one_processor(): ...                     what runs and starts in there shares a processor

A time says nothing about another machine. A ratio of two things that ran in the same turn does:
what else the machine did slowed both. So each turn runs everything once, every second turn in the
opposite order, and a ratio is the median of the ratios of the turns. Its interval is made of two of
those ratios, by the sign test: the median of many more turns lies inside nineteen times in twenty.
No distribution is assumed, and nothing is drawn at random.

Does not handle: starting processes (`benchmarks`), drawing (`charts`).
"""

from __future__ import annotations

import contextlib
import math
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

import psutil

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Spread:
    """A median with the quartiles around it: half of what was measured lies between them."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.3g} ({self.low:.3g} to {self.high:.3g})"


@dataclass(frozen=True)
class Ratio:
    """How many times as much: the median of the turns, and the interval for it."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.3g} × ({self.low:.3g} to {self.high:.3g})"


@dataclass(frozen=True)
class Growth:
    """How a cost grows: 1 is in step with the size, 2 with its square, 0 not at all.

    `slope` is fitted to all points of a log-log plot, `steepest` is the steepest stretch that
    spans at least a factor of three: a square at the end does not hide behind a flat beginning.
    """

    slope: float
    steepest: float


def side_by_side(
    things: Mapping[str, Callable[[], float | None]],
    turns: int,
    *,
    warm: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Run each of the things once a turn; their costs by name, a list with a place for each turn.

    A thing returns its own cost, or None, and then it is what the clock says. `warm` turns come
    before and are not counted: the first start of a program reads it from the disk.
    """
    if not things or turns < 1:
        raise ValueError(f"{len(things)} things in {turns} turns; at least one of each is due")
    costs: dict[str, list[float]] = {name: [] for name in things}
    for turn in range(-warm, turns):
        order = list(things) if turn % 2 == 0 else list(reversed(things))
        for name in order:
            begun = clock()
            told = things[name]()
            taken = clock() - begun if told is None else told
            if turn >= 0:
                costs[name].append(taken)
    return costs


def spread(values: Sequence[float]) -> Spread:
    """The median and the quartiles."""
    if len(values) < 2:
        return Spread(values[0], values[0], values[0])
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return Spread(middle, low, high)


def ratio(costs: Sequence[float], base: Sequence[float]) -> Ratio:
    """How many times `base` the costs are, turn by turn. Raises ValueError for unequal turns."""
    each = sorted(cost / one for cost, one in zip(costs, base, strict=True))
    outside = _left_out(len(each))
    return Ratio(median(each), each[outside], each[-1 - outside])


def _left_out(count: int) -> int:
    """How many of the smallest, and of the largest, the interval of the median leaves out.

    _left_out(9) -> 1: that at most one of nine turns lies on one side happens once in 26 times.
    Below six turns the interval is all there is, and means less than it says.
    """
    chance, left = 0.0, -1
    while left < (count - 1) // 2:
        chance += 2 * math.comb(count, left + 1) / 2**count
        if chance > 1 - CONFIDENCE:
            break
        left += 1
    return max(left, 0)


def growth(sizes: Sequence[float], costs: Sequence[float]) -> Growth:
    """The slopes of the cost over the size, both as logarithms. Two sizes at least are due."""
    x, y = [math.log(size) for size in sizes], [math.log(cost) for cost in costs]
    pairs = list(zip(x, y, strict=True))
    if len(set(x)) < 2:
        raise ValueError(f"{sizes!r} is one size; a growth needs two")
    centre = sum(x) / len(x)
    slope = sum((a - centre) * b for a, b in pairs) / sum((a - centre) ** 2 for a in x)
    stretches = [
        (far[1] - near[1]) / (far[0] - near[0])
        for near in pairs
        for far in pairs
        if far[0] - near[0] >= math.log(3) - 1e-9
    ]
    return Growth(slope, max(stretches, default=slope))


@contextlib.contextmanager
def one_processor() -> Iterator[bool]:
    """Keep this thread, and the processes that it starts, on one processor of those it may use.

    Two processes that talk in turns then cost what they do, and not what it takes to wake up a
    processor that fell asleep meanwhile. False where the system offers no such thing (macOS).
    """
    me = psutil.Process()
    if not hasattr(me, "cpu_affinity"):
        yield False
        return
    allowed = me.cpu_affinity()
    me.cpu_affinity(allowed[-1:])
    try:
        yield True
    finally:
        me.cpu_affinity(allowed)


def machine() -> str:
    """What it was measured on, in one line."""
    cores = os.cpu_count() or 1
    return (
        f"{platform.system()} on {platform.machine()}, {cores} core{'s' * (cores > 1)}, "
        f"{platform.python_implementation()} {'.'.join(map(str, sys.version_info[:3]))}"
    )
