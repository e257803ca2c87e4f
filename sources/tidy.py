"""From a notebook that was run to one that is the same on every machine.

It joins what arrived in pieces, strips colours and paths from tracebacks, and numbers widgets in
place of their random ids. It does not hide what differs from run to run: times, ports, pids and
addresses are the author's to keep out of an output.
"""

import json
import re
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import nbformat

ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"


def tidied(nb: nbformat.NotebookNode, root: Path) -> nbformat.NotebookNode:
    """Return the notebook with every output in its one normal form."""
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs = [shortened(output, root) for output in joined(cell.outputs)]
    return with_numbered_widgets(nb)


def plain(text: str) -> str:
    """Take the colours out."""
    return ANSI.sub("", text)


def joined(outputs: list[nbformat.NotebookNode]) -> Iterator[nbformat.NotebookNode]:
    """Join neighbouring pieces of a stream, stdout first: how they are cut is chance."""
    for is_stream, group in groupby(outputs, key=lambda output: output.output_type == "stream"):
        if not is_stream:
            yield from group
            continue
        texts: dict[str, str] = {}
        for piece in group:
            texts[piece.name] = texts.get(piece.name, "") + piece.text
        for name in sorted(texts, reverse=True):
            yield nbformat.v4.new_output("stream", name=name, text=texts[name])


def shortened(output: nbformat.NotebookNode, root: Path) -> nbformat.NotebookNode:
    """Take colours and the machine's folders out of a traceback."""
    if output.output_type == "error":
        output.evalue = without_folders(output.evalue, root)
        output.traceback = [without_folders(plain(part), root) for part in output.traceback]
    return output


def without_folders(text: str, root: Path) -> str:
    """Cut "/home/me/kit/mcp_bare/client.py" to "mcp_bare/client.py", "~/..." as well."""
    paths = sysconfig.get_paths()
    folders = {str(root), paths["purelib"], paths["platlib"], paths["stdlib"], sys.base_prefix}
    home = str(Path.home())
    folders |= {folder.replace(home, "~", 1) for folder in folders if folder.startswith(home)}
    for folder in sorted(folders, key=len, reverse=True):
        text = text.replace(f"{folder}/", "")
    return text


def with_numbered_widgets(nb: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Replace the random id of each widget model by its number in order of making."""
    models = nb.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    text = nbformat.writes(nb)
    for number, model in enumerate(models):
        text = text.replace(model, f"{number:032x}")
    return nbformat.reads(text, as_version=4)


def machine_paths(nb: nbformat.NotebookNode, root: Path) -> list[str]:
    """Name the cells whose output holds a path of this machine, with that path."""
    folders = {str(root), str(Path.home()), sys.prefix, tempfile.gettempdir(), "/tmp"}
    pattern = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, folders))})(?![\w-])")
    found = []
    for n, cell in enumerate(nb.cells, 1):
        for text in map(readable, cell.get("outputs", [])):
            found += [f"cell {n}: {match[0]}" for match in pattern.finditer(text)]
    return found


def readable(output: nbformat.NotebookNode) -> str:
    """All of an output that is text."""
    data = output.get("data", {})
    texts = {mime: value for mime, value in data.items() if not mime.startswith("image/")}
    return json.dumps({**output, "data": texts}, ensure_ascii=False)
