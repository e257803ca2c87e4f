"""Who is stuck where, from grades.csv alone: a picture and a table.

    stages = tally(gradebook.read_csv(Path("out/grades.csv")))
    picture(stages).png

A row is an exercise, a column one of its stages, and a field says which share of those who handed
it in pass it. A submission without a score (an error of ours) counts for nobody.

Does not handle: answers in words, single learners' grades (`totals.csv` has them).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from classroom.feedback import HEAD, STYLE
from classroom.result import GRADED, PASSED

if TYPE_CHECKING:
    from workbench.charts import Picture

NAMED = 6
TABLE = """\
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
body { max-width: 62rem; } img { max-width: 100%; margin: 1rem 0; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line);
  vertical-align: top; }
td:not(:last-child) { white-space: nowrap; }
"""


@dataclass
class StageTally:
    """One stage of one exercise, over the class."""

    exercise: str
    stage: str
    handed_in: int = 0
    passed: int = 0
    hidden_only: int = 0
    """Passes the visible check and not the hidden one."""
    blank: int = 0
    stuck: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        return self.passed / self.handed_in if self.handed_in else 0.0


def tally(rows: Iterable[Mapping[str, str]]) -> list[StageTally]:
    """The stages in the order in which the table has them, exercise by exercise."""
    found: dict[tuple[str, str], StageTally] = {}
    for row in rows:
        if row["status"] != GRADED or not row["stage"] or not row["visible"]:
            continue
        key = (row["exercise"], row["stage"])
        stage = found.setdefault(key, StageTally(*key))
        stage.handed_in += 1
        if row["visible"] == row["hidden"] == PASSED:
            stage.passed += 1
            continue
        stage.hidden_only += row["visible"] == PASSED
        stage.blank += row["visible"] == "not yet"
        stage.stuck.append(row["student"] or row["submission"])
    return sorted(found.values(), key=lambda stage: stage.exercise)  # stable: stages keep theirs


def by_exercise(stages: Iterable[StageTally]) -> dict[str, list[StageTally]]:
    found: dict[str, list[StageTally]] = {}
    for stage in stages:
        found.setdefault(stage.exercise, []).append(stage)
    return found


def picture(stages: list[StageTally]) -> "Picture":
    """The share that pass, exercise by stage: blue is everybody, orange is nobody."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    from workbench.charts import BLUE, ORANGE, as_png, house_style

    exercises = by_exercise(stages)
    widest = max(map(len, exercises.values()), default=1)
    colours = LinearSegmentedColormap.from_list("share", [ORANGE, "#757a83", BLUE])
    title = "Share of the class that pass, stage by stage"
    with house_style():
        size = (max(7.2, 3.2 + 1.25 * widest), 1.1 + 0.62 * max(1, len(exercises)))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        for row, found in enumerate(exercises.values()):
            for column, stage in enumerate(found):
                axes.barh(row, 0.96, left=column, height=0.9, color=colours(stage.share))
                words = f"{_cut(stage.stage)}\n{_percent(stage.share)}"
                middle = {"ha": "center", "va": "center", "fontsize": 10, "linespacing": 1.3}
                axes.text(column + 0.48, row, words, color="white", weight="bold", **middle)
        names = [f"{name}  ({found[0].handed_in})" for name, found in exercises.items()]
        axes.set_yticks(range(len(names)), names)
        axes.set_xticks([])
        axes.set_xlim(0, widest)
        axes.set_ylim(len(exercises) - 0.45, -0.55)
        axes.tick_params(axis="y", length=0)
        axes.spines[:].set_visible(False)
        axes.set_title(title)
        axes.set_xlabel("stages in order; in brackets, how many handed it in", fontsize=10)
    words = [f"{s.exercise} {s.stage}: {_percent(s.share)} of {s.handed_in}" for s in stages]
    return as_png(figure, "\n".join([f"{title}:", *words]))


def _cut(name: str) -> str:
    return name if len(name) <= 14 else f"{name[:13]}…"


def _percent(share: float) -> str:
    """49 of 50 is not everybody: "100 %" and "0 %" are kept for all and nobody."""
    return f"{min(99, max(1, round(100 * share))) if 0 < share < 1 else round(100 * share)} %"


HEADINGS = ("exercise", "stage", "handed in", "pass", "only the visible", "blank", "stuck")


def table(stages: Iterable[StageTally]) -> list[tuple[str, ...]]:
    """One row a stage, as text; the hardest of each exercise is marked."""
    rows = []
    for exercise, found in by_exercise(stages).items():
        hardest = min(stage.share for stage in found)
        for stage in found:
            mark = " ←" if stage.share == hardest < 1 else ""
            names = ", ".join(stage.stuck[:NAMED])
            more = f" and {len(stage.stuck) - NAMED} more" if len(stage.stuck) > NAMED else ""
            numbers = (stage.handed_in, stage.passed, stage.hidden_only, stage.blank)
            share = f"{numbers[1]} ({_percent(stage.share)}){mark}"
            rows.append(
                (
                    exercise,
                    stage.stage,
                    str(numbers[0]),
                    share,
                    *map(str, numbers[2:]),
                    names + more,
                )
            )
    return rows


def as_text(stages: Iterable[StageTally]) -> str:
    """The table for a terminal."""
    rows = [HEADINGS, *table(stages)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS) - 1)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    return "\n".join(lines)


def as_html(stages: list[StageTally], image: str) -> str:
    """The page: the picture (a file beside it), then the table."""
    policy = HEAD.replace("default-src 'none';", "default-src 'none'; img-src 'self' file:;")
    body = [f'<h1>The class</h1><img src="{escape(image)}" alt="{escape(_alt(stages))}">']
    body.append("<table><tr>" + "".join(f"<th>{name}</th>" for name in HEADINGS) + "</tr>")
    for row in table(stages):
        body.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>")
    body.append("</table><p class='soft'>← the stage of an exercise that fewest pass.</p>")
    head = f"{policy}<title>The class</title>\n<style>\n{STYLE}{TABLE}</style>\n"
    return head + "\n".join(body) + "\n</html>\n"


def _alt(stages: list[StageTally]) -> str:
    return "; ".join(f"{stage.exercise} {stage.stage} {_percent(stage.share)}" for stage in stages)
