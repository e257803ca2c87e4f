"""What counts as a difference between two builds of one notebook.

Everything does, but for two things: the figures in the output of a cell tagged `measured` (its
shape must stay: the same kinds of output, the same number of lines, the same words), and shades
of a pixel in a picture (its size must stay).
"""

import base64
import difflib
import io
import json
import re
from collections.abc import Iterator

import nbformat
from PIL import Image, ImageChops

FIGURE = re.compile(r"\d[\d.,]*(e[+-]?\d+)?")
RULE = re.compile("─+")
SHADES = 24
DIFF_LINES = 20


def differences(name: str, old: nbformat.NotebookNode, new: nbformat.NotebookNode) -> list[str]:
    """Describe each difference: notebook, cell number, a short diff from `old` to `new`."""
    found = []
    if old.metadata != new.metadata:
        found.append(f"{name}, metadata:\n{diff(pretty(old.metadata), pretty(new.metadata))}")
    if [outline(cell) for cell in old.cells] != [outline(cell) for cell in new.cells]:
        sources = [[line for cell in nb.cells for line in outline(cell)] for nb in (old, new)]
        return [*found, f"{name}, source:\n{diff(*sources)}"]
    for n, (was, now) in enumerate(zip(old.cells, new.cells, strict=True), 1):
        if now.cell_type == "code" and (text := output_difference(was, now)):
            found.append(f"{name}, cell {n}:\n{text}")
    return found


def output_difference(old: nbformat.NotebookNode, new: nbformat.NotebookNode) -> str:
    """Compare what two runs of one code cell showed; "" if that is the same."""
    measured = "measured" in new.metadata.get("tags", [])
    before, after = (list(rendered(cell, measured)) for cell in (old, new))
    if before != after:
        return diff(before, after)
    pairs = zip(pictures(old), pictures(new), strict=True)
    if not measured and not all(same_picture(*pair) for pair in pairs):
        return "the pictures differ"
    return ""


def outline(cell: nbformat.NotebookNode) -> list[str]:
    """A cell without its outputs, as lines."""
    head = f"# {cell.cell_type} {cell.id} {json.dumps(cell.metadata, sort_keys=True)}"
    return [head, *cell.source.splitlines()]


def rendered(cell: nbformat.NotebookNode, measured: bool) -> Iterator[str]:
    """A cell's outputs as lines; a picture is one line, and so is a figure's digits "#"."""
    yield f"[{cell.execution_count}]"
    for output in cell.outputs:
        yield f"{output.output_type} {output.get('name', '')}"
        data = output.get("data", {})
        rest = {key: value for key, value in output.items() if key not in ("data", "text")}
        lines = output.get("text", "").splitlines() + pretty(rest)
        for mime, value in sorted(data.items()):
            lines.append(mime)
            if mime == "image/png":
                lines.append("" if measured else f"{picture(value).size}")
            else:
                lines += value.splitlines() if isinstance(value, str) else pretty(value)
        yield from map(shape, lines) if measured else lines


def shape(line: str) -> str:
    """A line without its figures: "took 12.5 ms" and "took  9 ms" are both "took # ms".

    A rule below a table's head is as long as the widest figure: its length is none of the shape.
    """
    return " ".join(RULE.sub("─", FIGURE.sub("#", line)).split())


def pictures(cell: nbformat.NotebookNode) -> list[str]:
    """The PNG pictures of a cell, as base64."""
    data = [output.get("data", {}) for output in cell.outputs]
    return [each["image/png"] for each in data if "image/png" in each]


def picture(text: str) -> Image.Image:
    """Decode a PNG picture."""
    return Image.open(io.BytesIO(base64.b64decode(text))).convert("RGB")


def same_picture(old: str, new: str) -> bool:
    """Whether no channel of any pixel differs by more than a few shades of 255."""
    difference = ImageChops.difference(picture(old), picture(new))
    return all(most <= SHADES for _, most in difference.getextrema())


def pretty(value: object) -> list[str]:
    """JSON, one item a line."""
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False).splitlines()


def diff(old: list[str], new: list[str]) -> str:
    """A short unified diff."""
    lines = list(difflib.unified_diff(old, new, "on disk", "built now", n=1, lineterm=""))
    more = [f"... {len(lines) - DIFF_LINES} more lines"] if len(lines) > DIFF_LINES else []
    return "\n".join(f"    {line}" for line in lines[:DIFF_LINES] + more)
