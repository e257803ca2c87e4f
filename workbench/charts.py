"""Pictures for those who would rather look than read: readable on white and on black.

A chart is a PNG on a transparent ground, drawn in colours that stand out from either, with the
same words as text. No date and no version is written into the file, so the same matplotlib draws
the same bytes; nothing stays open after it is drawn.
"""

import io
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import matplotlib.style
from matplotlib.figure import Figure

INK = "#7d7d7d"  # 4.1 : 1 on white, 4.6 : 1 on JupyterLab's black
BLUE, ORANGE = "#3b82c4", "#d1642a"
PARTS = (BLUE, "#8a8f98", "#3f9c7a", "#a06cc0", ORANGE, "#b08a2e")
DPI = 192
STYLE = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": 13,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "font.size": 13,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


@dataclass(frozen=True)
class Picture:
    """A drawn chart: PNG for the eye, words for everyone else."""

    png: bytes
    words: str

    def __repr__(self) -> str:
        return self.words

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> tuple:
        width = int.from_bytes(self.png[16:20], "big")  # where a PNG says it
        data = {"image/png": self.png, "text/plain": self.words}
        return data, {"image/png": {"width": width * 96 // DPI}}


def house_style() -> AbstractContextManager[None]:
    """Draw inside it: the same look whatever the reader's own settings are."""
    return matplotlib.style.context(["default", STYLE])


def as_png(figure: Figure, words: str) -> Picture:
    """The figure as a picture; `words` say what it shows."""
    file = io.BytesIO()
    with house_style():
        figure.savefig(file, format="png", dpi=DPI, transparent=True, metadata={"Software": None})
    return Picture(file.getvalue(), words)


def integrations(max_n: int = 10, m: int = 8) -> Picture:
    """N × M against N + M: what `max_n` applications and `m` services cost to connect."""
    counts = range(1, max_n + 1)
    pairs, parts = [n * m for n in counts], [n + m for n in counts]
    with house_style():
        figure = Figure(figsize=(7.2, 4.0), layout="constrained")
        axes = figure.subplots()
        for values, colour, look, name in (
            (pairs, ORANGE, "s-", f"N × {m}: one for each pair"),
            (parts, BLUE, "o--", f"N + {m}: one for each side"),
        ):
            axes.plot(counts, values, look, color=colour, linewidth=2.2)
            where = {"xytext": (0, 9), "textcoords": "offset points", "ha": "right"}
            words = f"{name}, {values[-1]}"
            axes.annotate(words, (max_n, values[-1]), color=colour, weight="bold", **where)
        axes.set_xlabel("applications (N)")
        axes.set_ylabel("integrations to write and keep")
        axes.set_title(f"{m} services, with and without a common protocol")
        axes.set_ylim(0, max(pairs) * 1.15)
        axes.set_xticks(counts)
    rows = zip(counts, pairs, parts, strict=True)
    words = [f"N = {n}: {pair} by pairs, {part} with a protocol" for n, pair, part in rows]
    return as_png(figure, "\n".join([f"Integrations for {m} services, N applications:", *words]))


def bars(sizes: Mapping[str, int], unit: str, title: str) -> Picture:
    """One bar for each size, in the order given: bars({"as tools": 1912}, "bytes", "...")."""
    with house_style():
        figure = Figure(figsize=(7.2, 1.1 + 0.45 * len(sizes)), layout="constrained")
        axes = figure.subplots()
        drawn = axes.barh(list(sizes), list(sizes.values()), color=BLUE, height=0.6)
        axes.bar_label(drawn, [f"{size:,}" for size in sizes.values()], padding=5, color=INK)
        axes.invert_yaxis()
        axes.set_xlabel(unit)
        axes.set_title(title)
        axes.margins(x=0.14)
    words = [f"{title}, in {unit}:", *(f"{name}: {size:,}" for name, size in sizes.items())]
    return as_png(figure, "\n".join(words))


def stacked(
    rows: Mapping[str, Mapping[str, int]], unit: str, title: str, colours: Sequence[str] = PARTS
) -> Picture:
    """One bar a row, in parts: stacked({"by hand": {"name": 12, ...}, ...}, "tokens", "...").

    Every row has the same parts, six at most; a part of nothing is not labelled. Many rows are set
    closer together than few, so that they stand on one screen.
    """
    many = len(rows) > 12
    names = list(next(iter(rows.values())))
    most = max(sum(parts.values()) for parts in rows.values())
    with house_style():
        tall = 1.9 + (0.28 if many else 0.5) * len(rows)
        figure = Figure(figsize=(9.6, tall), layout="constrained")
        axes = figure.subplots()
        left = [0] * len(rows)
        for name, colour in zip(names, colours, strict=False):
            sizes = [parts[name] for parts in rows.values()]
            drawn = axes.barh(list(rows), sizes, left=left, color=colour, height=0.6, label=name)
            labels = [f"{size:,}" if size >= most / 25 else "" for size in sizes]
            axes.bar_label(drawn, labels, label_type="center", color="white", fontsize=11)
            left = [before + size for before, size in zip(left, sizes, strict=True)]
        axes.bar_label(drawn, [f"{total:,}" for total in left], padding=5, color=INK)
        axes.invert_yaxis()
        axes.set_xlabel(unit)
        axes.set_title(title)
        axes.margins(x=0.1)
        if many:
            axes.margins(y=0.01)
            axes.tick_params(axis="y", labelsize=11)
        figure.legend(loc="outside lower center", ncols=len(names), frameon=False, fontsize=11)
    words = [
        f"{row}: {sum(parts.values()):,} = "
        + ", ".join(f"{name} {size:,}" for name, size in parts.items() if size)
        for row, parts in rows.items()
    ]
    return as_png(figure, "\n".join([f"{title}, in {unit}:", *words]))


def spans(rows: Sequence[tuple[str, str, str | None]], ticks: Sequence[str], title: str) -> Picture:
    """What was there from which date to which: spans([("ping", "2024-11-05", None)], [...], "...").

    Both dates are among the `ticks`, oldest first; without a last one the bar goes on to the right.
    """
    with house_style():
        figure = Figure(figsize=(9.6, 1.2 + 0.36 * len(rows)), layout="constrained")
        axes = figure.subplots()
        for row, (_, first, last) in enumerate(rows):
            left = ticks.index(first) - 0.35
            right = len(ticks) - 0.45 if last is None else ticks.index(last) + 0.35
            axes.barh(row, right - left, left=left, height=0.5, color=BLUE)
            if last is None:
                axes.plot(right, row, ">", color=BLUE, markersize=11)
        axes.set_xticks(range(len(ticks)), ticks, fontsize=10)
        axes.set_yticks(range(len(rows)), [what for what, _, _ in rows])
        axes.set_xlim(-0.6, len(ticks) - 0.3)
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.set_title(title)
    words = [f"{what}: {first} to {last or 'today'}" for what, first, last in rows]
    return as_png(figure, "\n".join([f"{title}:", *words]))
