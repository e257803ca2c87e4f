"""A tape as a picture: a bar for each request, a mark for each message that belongs to it.

Time runs to the right in steps, one for each message on the wire, so that the picture of a run is
the same on a slow machine. Seconds are on the tape, and are not shown here.
"""

from dataclasses import dataclass, field

from matplotlib.figure import Figure

from mcp_bare import revision
from mcp_bare.tape import CAME, SENT, Entry, Tape
from workbench.charts import Picture, as_png, house_style

COLOURS = {"done": "#2b6cb0", "failed": "#c53030", "cancelled": "#975a16", "open": "#718096"}


@dataclass
class Lane:
    """One request: where it opened, where and how it ended, and the notes in between."""

    label: str
    start: int
    end: int | None = None
    how: str = "open"
    notes: list[int] = field(default_factory=list)


def lanes(tape: Tape) -> list[Lane]:
    """The requests of a tape in the order in which they were sent."""
    found: dict[object, Lane] = {}
    for step, entry in enumerate(tape):
        message = entry.message
        if message is None:
            continue
        if entry.direction == SENT and "method" in message and "id" in message:
            found[message["id"]] = Lane(_label(message), step)
            continue
        lane = found.get(_belongs_to(entry))
        if lane is None:
            continue
        if "method" in message and message["method"] != revision.CANCELLED:
            lane.notes.append(step)
        else:
            _close(lane, message, step)
    return list(found.values())


def _close(lane: Lane, message: dict, step: int) -> None:
    """What ends a request first counts: its answer, or its cancellation."""
    if lane.end is None:
        answered = "failed" if "error" in message else "done"
        lane.end, lane.how = step, "cancelled" if "method" in message else answered


def timeline(tape: Tape, methods: tuple[str, ...] = ()) -> Picture:
    """Draw the tape; `methods` keeps only requests of these methods."""
    drawn = [lane for lane in lanes(tape) if not methods or lane.label.startswith(methods)]
    last = max([len(tape), 1])
    with house_style():
        figure = Figure(figsize=(9, 1.0 + 0.45 * len(drawn)), layout="constrained")
        axes = figure.subplots()
        for row, lane in enumerate(drawn):
            end = last if lane.end is None else lane.end
            width = max(end - lane.start, 0.4)
            axes.barh(row, width, left=lane.start, height=0.45, color=COLOURS[lane.how])
            axes.plot(lane.notes, [row] * len(lane.notes), "D", color="white", mec="black")
            beside = {"xytext": (5, 0), "textcoords": "offset points", "va": "center"}
            axes.annotate(lane.how, (end, row), **beside)
        axes.set_yticks(range(len(drawn)), [lane.label for lane in drawn])
        axes.set_xlim(-0.5, last + 2.5)
        axes.set_xlabel("messages on the wire (a diamond: a notification of that request)")
        axes.invert_yaxis()
    return as_png(figure, _words(drawn))


def _label(message: dict) -> str:
    params = message.get("params", {})
    name = params.get("name") or params.get("uri") or ""
    if message["method"] == revision.LISTEN:
        name = ", ".join(params.get("notifications", {}))
    return f"{message['method']} {name}".strip()


def _belongs_to(entry: Entry) -> object:
    message, params = entry.message, entry.message.get("params", {})
    if "method" not in message:
        return message.get("id") if entry.direction == CAME else None
    token = params.get("progressToken", params.get("requestId"))
    return params.get("_meta", {}).get(revision.SUBSCRIPTION_ID, token)


def _words(drawn: list[Lane]) -> str:
    """What the picture shows, for those who do not see it."""
    rows = [
        f"{lane.label}: opened at message {lane.start}, {len(lane.notes)} notifications, "
        + (f"{lane.how} at message {lane.end}" if lane.end is not None else "still open")
        for lane in drawn
    ]
    return "\n".join(rows)
