"""Where servers live, in figures that somebody counted once: dated, with their source, in a file.

    census()["registry"]["servers"]            28170
    parts({"stdio": 13787, "other": 503}, "entries", "packages by transport")     one bar, in parts
    weigh(MARKS, {"start-up": 3, "revision": 5})                  -> [("by hand", 40), ...]

Nothing here can be measured without a network, so nothing here is called measured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from workbench.charts import BLUE, INK, ORANGE, Picture, as_png, house_style

FILE = Path(__file__).with_name("census.json")

MARKS: dict[str, dict[str, int]] = {
    "TypeScript SDK v2": {
        "start-up": 2, "few packages": 2, "speaks the revision": 3,
        "lives in a web app": 3, "wraps data tools": 0, "somebody else mends it": 3,
    },
    "Python SDK": {
        "start-up": 0, "few packages": 1, "speaks the revision": 3,
        "lives in a web app": 1, "wraps data tools": 3, "somebody else mends it": 3,
    },
    "fastmcp": {
        "start-up": 0, "few packages": 0, "speaks the revision": 2,
        "lives in a web app": 1, "wraps data tools": 3, "somebody else mends it": 2,
    },
    "by hand": {
        "start-up": 3, "few packages": 3, "speaks the revision": 3,
        "lives in a web app": 0, "wraps data tools": 3, "somebody else mends it": 0,
    },
}  # fmt: skip
"""0 to 3: not at all, hardly, somewhat, well. The first three follow from what notebooks 27.5 and
27.6 and the benchmark measure; the other three are an opinion, there to be argued with."""


def census() -> dict[str, Any]:
    """All figures, with date and sources."""
    found: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return found


def parts(sizes: Mapping[str, int], unit: str, title: str) -> Picture:
    """One bar, cut into its parts, each with its share."""
    total, left = sum(sizes.values()), 0
    with house_style():
        figure = Figure(figsize=(8.4, 2.3), layout="constrained")
        axes = figure.subplots()
        for (name, size), colour in zip(sizes.items(), (BLUE, ORANGE, INK), strict=False):
            axes.barh(0, size, left=left, color=colour, height=0.6)
            label = f"{name}\n{size:,} ({size / total:.1%})"
            place = {"ha": "center", "va": "bottom", "color": colour, "weight": "bold"}
            narrow = size < total / 6
            at = left + size / 2 if not narrow else left + size
            axes.text(at, 0.36, label, **{**place, "ha": "right" if narrow else "center"})
            left += size
        axes.set(xlim=(0, total), ylim=(-0.4, 1.0), yticks=[], xlabel=unit)
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.set_title(title)
    words = [f"{name}: {size:,} ({size / total:.1%})" for name, size in sizes.items()]
    return as_png(figure, "\n".join([f"{title}, in {unit}:", *words]))


def weigh(
    marks: Mapping[str, Mapping[str, int]], weights: Mapping[str, int]
) -> list[tuple[str, int]]:
    """Each choice with its sum of mark times weight, the best first; a tie is by name.

    Raises ValueError for a weight of something that has no marks.
    """
    for criterion in weights:
        if any(criterion not in row for row in marks.values()):
            raise ValueError(f"nobody has a mark for {criterion!r}")
    sums = {name: sum(row[c] * w for c, w in weights.items()) for name, row in marks.items()}
    return sorted(sums.items(), key=lambda each: (-each[1], each[0]))
