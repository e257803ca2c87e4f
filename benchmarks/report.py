"""From costs to what may be said of them: ratios, growths, targets; as JSON, a table and a chart.

    told = tell(measured, about)        the whole result as one JSON value
    markdown(told)                      the same as tables, nothing added
    chart(told)                         the curves, as a PNG

A ratio says how many times the cost of ours another stack has, in the same turn. Every bare second
here is the machine's as much as the program's; the ratios are what travels.

Does not handle: measuring (`cases`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.cases import ANY_PROCESSOR, CONNECTIONS, INTERPRETER, Measured
from benchmarks.stacks import FLOOR, OURS, PYTHON_SDK
from workbench import measure

CURVES = {"catalogue": "tools", "message": "characters", "subscriptions": "open subscriptions"}
FLAT, STEEP = 1.1, 1.35
"""Growths that pass as linear: fitted to a whole curve, and of its steepest stretch."""


def tell(measured: Iterable[Measured], about: dict[str, Any]) -> dict[str, Any]:
    """Everything that is written down."""
    points = list(measured)
    told = {**about, "points": [_point(point) for point in points], "growth": _growths(points)}
    return {**told, "targets": targets(told)}


def _point(point: Measured) -> dict[str, Any]:
    ours = point.costs.get(OURS)
    figures = {}
    for name, costs in point.costs.items():
        figures[name] = {"cost": _rounded(measure.spread(costs))}
        if ours and name != OURS:
            figures[name]["times ours"] = _rounded(measure.ratio(costs, ours))
    told = {"case": point.case, "size": point.size, "unit": point.unit, "stacks": figures}
    return {**told, "refused": point.refused} if point.refused else told


def _rounded(figures: measure.Spread | measure.Ratio) -> list[float]:
    return [float(f"{value:.3g}") for value in (figures.median, figures.low, figures.high)]


def _growths(points: Sequence[Measured]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for case in CURVES:
        curve = [point for point in points if point.case == case]
        for name in dict.fromkeys(name for point in curve for name in point.costs):
            there = [(p.size or 0, min(p.costs[name])) for p in curve if name in p.costs]
            if len(there) > 1:
                grown = measure.growth(*zip(*there, strict=True))
                rounded = [round(grown.slope, 2), round(grown.steepest, 2)]
                found.setdefault(case, {})[name] = rounded
    return found


# --- targets ---


def targets(told: dict[str, Any]) -> list[dict[str, Any]]:
    """What was promised, what was found, and whether that keeps it; of what was measured."""
    found: list[dict[str, Any]] = []

    def judge(what: str, promise: str, figure: float | None, kept: bool) -> None:
        if figure is not None:
            found.append({"what": what, "promise": promise, "found": figure, "kept": kept})

    start = times(told, "cold start", None, INTERPRETER)
    if start:
        over = float(f"{1 / start:.3g}")
        judge("cold start / interpreter", "at most 1.5", over, over <= 1.5)
    promised = [
        ("cold start, mcp / ours", "cold start", None, 20.0),
        ("round trip, mcp / ours", "round trip", None, 15.0),
        *((f"http on {n}, mcp / ours", "http", n, 4.0) for n in CONNECTIONS),
        ("memory, mcp / ours", "memory", None, 3.0),
    ]
    for what, case, size, least in promised:
        figure = times(told, case, size, PYTHON_SDK)
        judge(what, f"at least {least:g}", figure, figure is not None and figure >= least)
    for case, grown in told["growth"].items():
        slope, steepest = grown[OURS]
        kept = slope <= FLAT and steepest <= STEEP
        judge(f"growth with {CURVES[case]}", f"at most {FLAT:g}", slope, kept)
    return found


def times(told: dict[str, Any], case: str, size: int | None, stack: str) -> float | None:
    """How many times the cost of ours; None where it was not measured."""
    for point in told["points"]:
        if (point["case"], point["size"]) == (case, size) and stack in point["stacks"]:
            return point["stacks"][stack]["times ours"][0]
    return None


# --- tables ---


def markdown(told: dict[str, Any]) -> str:
    """All of it, for a person."""
    lines = [
        "# Side by side",
        "",
        f"`{told['command']}`, on {told['date']}, commit {told['commit']}: {told['machine']}.",
        "",
        *(f"- {name}: {version}" for name, version in told["versions"].items()),
        *(f"- without {name}: {why}" for name, why in told["absent"].items()),
        "",
        *([told["note"], ""] if "note" in told else []),
        "## What was promised",
        "",
        "| what | promise | found | |",
        "|---|---|---|---|",
        *(
            f"| {t['what']} | {t['promise']} | {t['found']:.3g} | "
            f"{'kept' if t['kept'] else '**not kept**'} |"
            for t in told["targets"]
        ),
        "",
        "## How many times the cost of ours",
        "",
        "The median of the turns, and its 95 % interval. Below 1 is cheaper than ours. "
        "The last column is our own cost on that machine, with quartiles.",
        "",
        *([BOTH_WAYS, ""] if any(ANY_PROCESSOR in p["case"] for p in told["points"]) else []),
    ]
    names = list(dict.fromkeys(n for p in told["points"] for n in p["stacks"] if n != OURS))
    lines += [f"| case | {' | '.join(names)} | ours |", "|---" * (len(names) + 2) + "|"]
    lines += [_row(point, names) for point in told["points"]]
    if less := behind(told):
        lines += ["", "## Where ours costs more", "", *(f"- {line}" for line in less)]
    if told["growth"]:
        lines += ["", "## Growth", "", GROWTH, "", *_growth_rows(told["growth"])]
    return "\n".join([*lines, ""])


BOTH_WAYS = (
    "Round trips and HTTP have client and server on one processor, where a turn costs what the "
    "programs do; the promises are about these. On several processors, a turn also costs what it "
    'takes to wake one up, which is the machine\'s: the rows with "any processor".'
)
GROWTH = (
    "The slope of the cost over the size, both as logarithms: 1 is linear. Fitted to all sizes, "
    "and in brackets the steepest stretch."
)


def _row(point: dict[str, Any], names: Sequence[str]) -> str:
    cells = []
    for name in names:
        if name in point.get("refused", {}):
            cells.append("refuses")
        elif name in point["stacks"]:
            middle, low, high = point["stacks"][name]["times ours"]
            cells.append(f"{middle:.3g} ({low:.3g}–{high:.3g})")
        else:
            cells.append("")
    own = point["stacks"][OURS]["cost"]
    return f"| {_title(point)} | {' | '.join(cells)} | {in_words(own, point['unit'])} |"


def _title(point: dict[str, Any]) -> str:
    """_title({"case": "http", "size": 1}) -> "http, 1 connection" """
    if point["size"] is None:
        return str(point["case"])
    of = CURVES.get(point["case"], "connections")
    return f"{point['case']}, {point['size']:,} {of if point['size'] > 1 else of[:-1]}"


def behind(told: dict[str, Any]) -> list[str]:
    """Where another stack costs less than ours, for certain: its whole interval lies below 1."""
    found = []
    for point in told["points"]:
        for name, figures in point["stacks"].items():
            times = figures.get("times ours")
            if times and times[2] < 1 and name not in (FLOOR, INTERPRETER):
                found.append(f"{_title(point)}: {name} costs {times[0]:.2g} × as much as ours")
    return found


def in_words(cost: Sequence[float], unit: str) -> str:
    """A cost with its quartiles: in_words([0.02, 0.019, 0.03], "s") -> "20 ms (19–30)"."""
    if unit == "bytes":
        scale, name = 2**-20, "MiB"
    else:
        scale, name = next(
            (s, n) for s, n, least in ((1, "s", 1), (1e3, "ms", 1e-3), (1e6, "µs", 0))
            if cost[0] >= least
        )  # fmt: skip
    middle, low, high = (f"{value * scale:.3g}" for value in cost)
    return f"{middle} {name} ({low}–{high})"


def _growth_rows(growth: dict[str, dict[str, Any]]) -> list[str]:
    names = list(dict.fromkeys(name for grown in growth.values() for name in grown))
    rows = [f"| with | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for case, grown in growth.items():
        cells = [f"{grown[n][0]:g} ({grown[n][1]:g})" if n in grown else "" for n in names]
        rows.append(f"| {CURVES[case]} | {' | '.join(cells)} |")
    return rows


# --- chart ---


def chart(told: dict[str, Any]) -> bytes:
    """The curves and the bars as a PNG that reads on white and on black."""
    from matplotlib.figure import Figure

    from workbench.charts import INK, as_png, house_style

    colours = {
        OURS: "#3b82c4",
        PYTHON_SDK: "#d1642a",
        "fastmcp": "#a05fb0",
        "typescript": "#2f9e6e",
    }
    curves = [case for case in CURVES if case in told["growth"]]
    with house_style():
        figure = Figure(figsize=(5.2 * max(len(curves), 1), 4.4), layout="constrained")
        grid = figure.subplots(1, max(len(curves), 1), squeeze=False)[0]
        for axes, case in zip(grid, curves, strict=False):
            points = [point for point in told["points"] if point["case"] == case]
            for name, colour in colours.items():
                there = [p for p in points if name in p["stacks"]]
                axes.plot(
                    [p["size"] for p in there],
                    [p["stacks"][name]["cost"][0] * 1000 for p in there],
                    "o-", color=colour, label=_label(name, told["growth"][case]),
                )  # fmt: skip
            axes.set(xscale="log", yscale="log", xlabel=CURVES[case], ylabel="milliseconds")
            axes.set_title(case)
            axes.grid(color=INK, alpha=0.25)
            axes.legend(frameon=False, fontsize=10)
        words = "\n".join(_growth_rows(told["growth"]))
    return as_png(figure, words).png


def _label(name: str, grown: dict[str, Any]) -> str:
    return f"{name}, slope {grown[name][0]:g}" if name in grown else f"{name}: refuses"


def share_of_the_client(told: dict[str, Any]) -> list[str]:
    """What of our cost is the client's and the operating system's, where that was measured."""
    found = []
    for point in told["points"]:
        if FLOOR in point["stacks"]:
            share = point["stacks"][FLOOR]["times ours"][0]
            size = "" if point["size"] is None else f" on {point['size']}"
            found.append(f"{point['case']}{size}: {share:.0%} of our cost is the client and the OS")
    return found


def in_a_line(told: dict[str, Any]) -> str:
    """The promises in a sentence, for the README: "Beside mcp 2.3.0, ..."."""
    found = {target["what"]: target["found"] for target in told["targets"]}
    web = [found[f"http on {count}, mcp / ours"] for count in CONNECTIONS]
    free = times(told, f"round trip{ANY_PROCESSOR}", None, PYTHON_SDK)
    free_web = [times(told, f"http{ANY_PROCESSOR}", count, PYTHON_SDK) for count in CONNECTIONS]
    apart = (
        f" where both ends share a processor ({free:.0f} × and {min(free_web):.1f} to "
        f"{max(free_web):.1f} × where they do not)"
        if free
        else ""
    )
    return (
        f"Beside `mcp` {told['versions'][PYTHON_SDK]}, a server of ours starts in "
        f"1/{found['cold start, mcp / ours']:.0f} of the time "
        f"({found['cold start / interpreter']:.2f} × a bare interpreter), answers "
        f"{found['round trip, mcp / ours']:.0f} × as many calls over a pipe and "
        f"{min(web):.1f} to {max(web):.1f} × as many over HTTP{apart}, and holds "
        f"1/{found['memory, mcp / ours']:.1f} of the memory "
        f"([measured on {told['date']}](benchmarks/results/results.md), {told['machine']})."
    )
