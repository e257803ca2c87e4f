"""Who asked whom, in order, as a picture: a column for each party, an arrow for each request."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from workbench.charts import BLUE, INK, ORANGE, Picture, as_png, house_style


@dataclass(frozen=True)
class Step:
    """One request and its answer's status."""

    source: str
    target: str
    what: str
    status: int


def sequence(steps: Sequence[Step], parties: Sequence[str]) -> Picture:
    """Draw the steps from the top down, between the parties from left to right."""
    place = {party: column for column, party in enumerate(parties)}
    with house_style():
        figure = Figure(figsize=(9.0, 1.2 + 0.5 * len(steps)), layout="constrained")
        axes = figure.subplots()
        for party, column in place.items():
            axes.plot(
                [column, column], [-0.4, len(steps) - 0.3], color=INK, linewidth=1.2, zorder=0
            )
            axes.text(column, -0.75, party, ha="center", weight="bold")
        for row, step in enumerate(steps):
            start, end = place[step.source], place[step.target]
            good = step.status < 400
            style = {"arrowstyle": "-|>", "color": BLUE if good else ORANGE, "linewidth": 1.8}
            axes.annotate("", xy=(end, row), xytext=(start, row), arrowprops=style)
            told = f"{step.what}   {step.status}"
            axes.text(min(start, end) + 0.04, row - 0.12, told, fontsize=10.5)
        axes.set_xlim(-0.6, len(parties) - 0.4)
        axes.set_ylim(len(steps) - 0.2, -1.2)
        axes.axis("off")
    words = [f"{s.source} -> {s.target}: {s.what} -> {s.status}" for s in steps]
    return as_png(figure, "\n".join(words))
