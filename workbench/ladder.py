"""The ladder of authorization as a picture: a rung for each token, with what it was told."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from workbench.charts import BLUE, INK, ORANGE, Picture, as_png, house_style

MEANING = {200: "in", 401: "who are you?", 403: "you may not"}
COLOURS = {200: "#2e8b57", 401: ORANGE, 403: BLUE}


def ladder(rungs: Mapping[str, int]) -> Picture:
    """Draw the rungs from the ground up, in the order given: ladder({"no token": 401, ...})."""
    with house_style():
        figure = Figure(figsize=(7.2, 1.0 + 0.42 * len(rungs)), layout="constrained")
        axes = figure.subplots()
        for height, (token, status) in enumerate(rungs.items()):
            colour = COLOURS.get(status, INK)
            axes.plot([0, 3], [height, height], color=colour, linewidth=7, solid_capstyle="round")
            axes.text(-0.2, height, token, ha="right", va="center")
            told = f"{status}  {MEANING.get(status, '')}"
            axes.text(3.2, height, told, color=colour, va="center", weight="bold")
        for side in (0.4, 2.6):
            axes.plot([side, side], [-0.6, len(rungs) - 0.4], color=INK, linewidth=3, zorder=0)
        axes.set_xlim(-3, 5.5)
        axes.axis("off")
    words = [
        f"{token}: {status} {MEANING.get(status, '')}".rstrip() for token, status in rungs.items()
    ]
    return as_png(figure, "\n".join(["From the ground up:", *words]))
