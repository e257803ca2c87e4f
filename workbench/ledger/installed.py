"""What a package brings along: the packages that it needs, how large they are, which are loaded.

    installed.npm("zod", node.ROOT)               {"node_modules/zod": folder}: by its place
    installed.python("mcp")                       {"mcp": Distribution, "anyio": ...}
    installed.mebibytes(files)                    their size, as du would have it

npm's tree is read off the lock, so it can be counted where nothing is installed.

Does not handle: optional packages, other environments than this Python's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

COMPILED = (".so", ".pyd", ".dylib")


def npm(package: str, root: Path) -> dict[str, Path]:
    """The folders of a package and of all it needs, by their place in the lock of `root`."""
    lock = json.loads((root / "package-lock.json").read_text("utf-8"))["packages"]
    found: dict[str, Path] = {}
    todo = [_place(lock, "", package)]
    while todo:
        place = todo.pop()
        if place and place not in found:
            found[place] = root / place
            todo += [_place(lock, place, name) for name in _needs(lock[place])]
    return found


def names(places: Iterable[str]) -> list[str]:
    """The packages at these places, each once: a tree may hold several copies of one."""
    return sorted({place.rpartition("node_modules/")[2] for place in places})


def _needs(entry: dict[str, Any]) -> Iterator[str]:
    yield from entry.get("dependencies", {})
    optional = entry.get("peerDependenciesMeta", {})
    for name in entry.get("peerDependencies", {}):
        if not optional.get(name, {}).get("optional"):
            yield name


def _place(lock: dict[str, Any], where: str, package: str) -> str | None:
    """Where Node finds a package from this place: in its own node_modules, or further up."""
    while True:
        place = f"{where}/node_modules/{package}".lstrip("/")
        if place in lock or not where:
            return place if place in lock else None
        where = where.rpartition("node_modules/")[0].rstrip("/")


def python(package: str) -> dict[str, metadata.Distribution]:
    """The distributions of a package and of all it needs here, by their normal name."""
    from packaging.requirements import Requirement

    found: dict[str, metadata.Distribution] = {}
    asked: set[tuple[str, str]] = set()
    todo = [(package, "")]
    while todo:
        name, extra = todo.pop()
        if (name, extra) in asked:
            continue
        asked.add((name, extra))
        found[normal(name)] = its = metadata.distribution(name)
        for wanted in map(Requirement, its.requires or ()):
            if wanted.marker is None or wanted.marker.evaluate({"extra": extra}):
                todo += [(wanted.name, more) for more in ("", *wanted.extras)]
    return found


def normal(name: str) -> str:
    """A distribution's name as an index has it: normal("pydantic_core") -> "pydantic-core"."""
    return re.sub(r"[-_.]+", "-", name).lower()


def files(distributions: Iterable[metadata.Distribution], *, bytecode: bool) -> Iterator[Path]:
    """The files that these have on the disk, with or without what Python compiled of them."""
    for each in distributions:
        for file in each.files or ():
            place = Path(str(each.locate_file(file)))
            if place.suffix != ".pyc" and place.is_file():
                yield place
                if bytecode and place.suffix == ".py":
                    yield from (place.parent / "__pycache__").glob(f"{place.stem}.*.pyc")


def own_files(folders: Iterable[Path]) -> Iterator[Path]:
    """The files of npm packages, each without the packages below it."""
    for folder in folders:
        for file in folder.rglob("*"):
            below = file.relative_to(folder).parts
            if "node_modules" not in below and file.is_file() and not file.is_symlink():
                yield file


def mebibytes(some: Iterable[Path]) -> float:
    """The size of files, in MiB, with one decimal."""
    return round(sum(file.stat().st_size for file in some) / 2**20, 1)


def compiled(distribution: metadata.Distribution) -> bool:
    """Whether it ships a library that a compiler made."""
    return any(str(file).endswith(COMPILED) for file in distribution.files or ())
