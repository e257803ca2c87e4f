"""An import as a picture: which module waits for which, and for how long.

    tree = imported("mcp.server.mcpserver")       under `python -X importtime`, in a fresh Python
    tree.share(lambda name: name.startswith("pydantic"))
    icicle(tree, "import mcp")                    the whole above, what it imports below it

A block is as wide as its import took with everything below it. The profiler makes an import slower
than it is, so only shares of the whole are said.

Does not handle: what a module would cost that another has imported before it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from matplotlib.figure import Figure

from workbench import servers
from workbench.charts import BLUE, INK, ORANGE, Picture, as_png, house_style

_LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|( +)(\S+)")
WIRE = ("mcp_types", "mcp.types", "pydantic", "pydantic_core", "pydantic_settings")
WEB = ("starlette", "uvicorn", "sse_starlette", "httpx", "httpx2", "httpcore", "httpcore2", "h11",
       "cryptography", "jwt", "ssl", "http", "anyio", "asyncio")  # fmt: skip


@dataclass
class Module:
    """A module, the microseconds that it took itself, and what it was the first to import."""

    name: str
    own: int
    below: list[Module] = field(default_factory=list)

    @property
    def whole(self) -> int:
        """With all below it."""
        return self.own + sum(module.whole for module in self.below)

    def everything(self) -> Iterator[Module]:
        """Itself and all below."""
        yield self
        for module in self.below:
            yield from module.everything()

    def share(self, belongs: Callable[[str], bool]) -> float:
        """The part of the whole that the modules of these names took themselves."""
        return sum(m.own for m in self.everything() if belongs(m.name)) / max(self.whole, 1)


def imported(module: str, python: str = sys.executable) -> Module:
    """Import a module in a fresh Python under the profiler; the tree without Python's own start."""
    words = [python, "-X", "importtime", "-c", f"import {module}"]
    env = servers.bare_environment()
    ran = subprocess.run(words, capture_output=True, timeout=60, check=True, env=env)
    return read(ran.stderr.decode(), module)


def read(said: str, module: str) -> Module:
    """The tree out of what the profiler wrote: each line stands after those below it."""
    waiting: list[tuple[int, Module]] = []
    for took, indent, name in _LINE.findall(said):
        depth = len(indent)
        below = []
        while waiting and waiting[-1][0] > depth:
            below.append(waiting.pop()[1])
        waiting.append((depth, Module(name, int(took), below[::-1])))
    top = [found for _, found in waiting if found.name.split(".")[0] == module.split(".")[0]]
    return Module(f"import {module}", 0, top)


def of(packages: tuple[str, ...]) -> Callable[[str], bool]:
    """Does a module belong to one of these? of(("mcp",))("mcp.server") -> True"""
    return lambda name: any(name == each or name.startswith(f"{each}.") for each in packages)


def icicle(tree: Module, title: str, deep: int = 12) -> Picture:
    """Draw it: what is narrower than a hundredth is left out, what is narrow has no name.

    It begins at the first module that shares its time among others.
    """
    tree = parting(tree)
    with house_style():
        figure = Figure(figsize=(9.6, 0.4 * deep + 1.6), layout="constrained")
        axes = figure.subplots()
        _draw(axes, tree, 0.0, 0, tree.whole, deep)
        axes.set(xlim=(0, 100), ylim=(-deep, 0), xlabel="% of the import's time", yticks=[])
        axes.spines["left"].set_visible(False)
        for colour, name in ((ORANGE, "types of the wire"), (BLUE, "web"), (INK, "all else")):
            axes.bar(0, 0, color=colour, label=name)
        figure.legend(frameon=False, ncols=3, loc="outside lower right", fontsize=10)
        axes.set_title(title)
    wire, web = tree.share(of(WIRE)), tree.share(of(WEB))
    return as_png(figure, f"{title}: {wire:.0%} types of the wire, {web:.0%} web")


def parting(tree: Module) -> Module:
    """The first module on the way down that is more than the wrapping of another."""
    while tree.below:
        largest = max(tree.below, key=lambda module: module.whole)
        if largest.whole < 0.99 * tree.whole:
            break
        tree = largest
    return tree


def _draw(axes: object, here: Module, left: float, level: int, total: int, deep: int) -> None:
    width = 100 * here.whole / max(total, 1)
    if width < 1 or level >= deep:
        return
    colour = ORANGE if of(WIRE)(here.name) else BLUE if of(WEB)(here.name) else INK
    block = {"left": left, "height": 0.9, "color": colour, "edgecolor": "white", "linewidth": 0.6}
    axes.barh(-level - 0.5, width, **block)
    letters = int(width * 1.05)
    name = here.name if len(here.name) <= letters else here.name.rpartition(".")[2]
    if len(name) <= letters:
        place = {"ha": "center", "va": "center", "color": "white", "fontsize": 9.5, "clip_on": True}
        axes.text(left + width / 2, -level - 0.5, name, **place)
    for module in sorted(here.below, key=lambda m: -m.whole):
        _draw(axes, module, left, level + 1, total, deep)
        left += 100 * module.whole / max(total, 1)
