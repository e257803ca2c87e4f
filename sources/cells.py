"""From a source's text to a notebook that is not yet run: cells, ids, and the house style.

It does not run anything, and it knows nothing of outputs but whether a cell failed as announced.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator

import jupytext
import nbformat

CELLS = (20, 40)
CODE_LINES = 20
INSTALLS = re.compile(r"^\s*[!%]\s*(conda|npm|pip|uv)\b", re.MULTILINE)
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "pygments_lexer": "ipython3",
    },
}


class BuildError(Exception):
    """A notebook cannot be built, or must not be built as it is."""


def from_source(text: str, name: str) -> nbformat.NotebookNode:
    """Parse percent format; raise `BuildError` where the house style is broken.

    The header may widen the number of cells, and must say why:

        # jupyter:
        #   house: {cells: [5, 20], why: the front door is short}
    """
    nb = jupytext.reads(text, fmt="py:percent")
    low, high = house(nb, name)
    if complaints := list(style(nb, low, high)):
        raise BuildError("\n".join(f"{name}: {complaint}" for complaint in complaints))
    nb.metadata = nbformat.from_dict(METADATA)
    nb.nbformat, nb.nbformat_minor = 4, 5
    give_ids(nb, name)
    return nb


def house(nb: nbformat.NotebookNode, name: str) -> tuple[int, int]:
    """How many cells this notebook may have."""
    exception = nb.metadata.get("house")
    if not exception:
        return CELLS
    if set(exception) != {"cells", "why"} or not exception["why"]:
        raise BuildError(f"{name}: an exception needs `cells` and `why`, not {dict(exception)}")
    low, high = exception["cells"]
    return low, high


def style(nb: nbformat.NotebookNode, low: int, high: int) -> Iterator[str]:
    """Yield each breach of `style.md` that a machine can see."""
    if not low <= len(nb.cells) <= high:
        yield f"{len(nb.cells)} cells, where {low} to {high} are wanted"
    if any(cell.cell_type == "raw" for cell in nb.cells):
        yield "a raw cell; or the header does not say `jupyter:`"
    code = [(n, cell.source) for n, cell in enumerate(nb.cells, 1) if cell.cell_type == "code"]
    if code and not re.match(r"(\s*#.*\n)*\s*(import|from)\s", code[0][1]):
        yield f"cell {code[0][0]}: the first code cell starts with imports"
    for n, source in code:
        if len(source.splitlines()) > CODE_LINES:
            yield f"cell {n}: {len(source.splitlines())} lines of code, at most {CODE_LINES}"
        if INSTALLS.search(source):
            yield f"cell {n}: a notebook installs nothing"


def give_ids(nb: nbformat.NotebookNode, name: str) -> None:
    """Give each cell an id that depends on nothing but the notebook's name and its own text.

    So an inserted cell changes no other cell's id. The second cell of the same text is told
    apart by its number, and an `id=` in a cell's metadata wins.
    """
    seen: Counter[str] = Counter()
    for cell in nb.cells:
        text = f"{name}\n{cell.cell_type}\n{cell.source}"
        seen[text] += 1
        digest = hashlib.sha256(f"{text}\n{seen[text]}".encode()).hexdigest()
        cell.id = cell.metadata.pop("id", digest[:12])
    if twice := [cell_id for cell_id, n in Counter(c.id for c in nb.cells).items() if n > 1]:
        raise BuildError(f"{name}: cell ids used twice: {', '.join(twice)}")


def check_failures(nb: nbformat.NotebookNode, name: str) -> None:
    """Raise `BuildError` if a cell that is to fail, for all to see, did not."""
    for n, cell in enumerate(nb.cells, 1):
        announced = "raises-exception" in cell.metadata.get("tags", [])
        failed = any(output.output_type == "error" for output in cell.get("outputs", []))
        if announced and not failed:
            raise BuildError(f"{name}: cell {n} is tagged raises-exception, and raised nothing")
