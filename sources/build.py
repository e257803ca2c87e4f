"""Build the notebooks: sources/**.py (jupytext's percent format) in, notebooks/**.ipynb out.

An exercise (sources/exercises/**.py) becomes three files: solutions/**.ipynb, exercises/**.ipynb
and classroom/checks/**.json.

    python sources/build.py                 build all
    python sources/build.py ch26 01_x       build a folder, or one notebook by name or path
    python sources/build.py exercises       build all exercises
    python sources/build.py --check         build all in memory, and list what differs on disk

Each notebook is made anew from its source and run in a new kernel, never updated in place: a
cell whose text is unchanged may well print something else once the library has changed.
A file is a notebook's source when it starts with jupytext's header, `# ---`. `cells.py` says
what a notebook may look like, `compare.py` what counts as a difference.
"""

import argparse
import asyncio
import importlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from sources import cells, compare, exercise, tidy
from workbench import node

ROOT = Path(__file__).resolve().parent.parent
CELL_TIMEOUT = 120
# These two change when output arrives, or what an import leaves behind.
UNSET = ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE")
OUTPUTS = ("notebooks", "solutions", "exercises", "classroom/checks")


def find(root: Path, wanted: Iterable[str] = ()) -> list[str]:
    """Name the notebooks under sources/ ("ch26/01_x"): all, or those that are `wanted`."""
    return [name for name in chosen(root, wanted) if not exercise.is_exercise(name)]


def chosen(root: Path, wanted: Iterable[str] = ()) -> list[str]:
    """Name the sources, of notebooks and of exercises ("exercises/ch26/01_x")."""
    files = sorted((root / "sources").rglob("*.py"))
    headed = [file for file in files if file.read_text(encoding="utf-8").startswith("# ---\n")]
    names = [file.relative_to(root / "sources").with_suffix("").as_posix() for file in headed]
    if not wanted:
        return names
    asked = [Path(text).with_suffix("").as_posix() for text in wanted]
    asked = [text.removeprefix("sources/").removeprefix("notebooks/") for text in asked]
    known = {alias for name in names for alias in aliases(name)}
    if unknown := set(asked) - known:
        raise cells.BuildError(f"no source of that name: {', '.join(sorted(unknown))}")
    return [name for name in names if aliases(name) & set(asked)]


def aliases(name: str) -> set[str]:
    """What a person may call a notebook: its path, its last part, its folder."""
    path = Path(name)
    more = {"exercises", f"solutions/{name.removeprefix(exercise.FOLDER)}"}
    return {name, path.name, path.parent.as_posix(), *(more if exercise.is_exercise(name) else ())}


async def build(root: Path, name: str) -> dict[str, str]:
    """Make all that one source makes: the text of each file, by its path under the root."""
    source = (root / "sources" / f"{name}.py").read_text(encoding="utf-8")
    if not exercise.is_exercise(name):
        nb = cells.from_source(source, name)
        return {f"notebooks/{name}.ipynb": await run(root, nb, f"notebooks/{name}")}
    read = exercise.read(source, name)
    return {
        f"solutions/{read.name}.ipynb": await run(
            root, exercise.notebook(read, answers=True), f"solutions/{read.name}"
        ),
        f"exercises/{read.name}.ipynb": written(exercise.notebook(read, answers=False)),
        f"classroom/checks/{read.name}.json": exercise.check_set(read),
    }


async def run(root: Path, nb: nbformat.NotebookNode, path: str) -> str:
    """Run a notebook where it is to lie, tidy it, and return its text."""
    folder = (root / path).parent
    folder.mkdir(parents=True, exist_ok=True)
    name = shown(path)
    await execute(nb, name, folder)
    nb = tidy.tidied(nb, root)
    if leaks := tidy.machine_paths(nb, root):
        raise cells.BuildError(f"{name}: a path of this machine in the output of {leaks[0]}")
    return written(nb)


def written(nb: nbformat.NotebookNode) -> str:
    """A notebook's text as it stands in its file."""
    return nbformat.writes(nb) + "\n"


def shown(path: str) -> str:
    """A file's name in a report: a notebook's is its source's, any other file's is its path."""
    return path.removeprefix("notebooks/").removesuffix(".ipynb")


async def execute(nb: nbformat.NotebookNode, name: str, folder: Path) -> None:
    """Run all cells in a new kernel of this very Python, in the notebook's folder."""
    # No kernel folders: then "python3" is this interpreter, whatever the user has installed.
    manager = AsyncKernelManager(kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
    # Or each kernel warns in the middle of our report.
    manager.transport_encryption = "auto"
    client = NotebookClient(
        nb,
        km=manager,
        timeout=CELL_TIMEOUT,
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    with tempfile.TemporaryDirectory() as profile:
        try:
            await client.async_execute(env=kernel_env(profile), cleanup_kc=True)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as trouble:
            raise cells.BuildError(f"{name}: {tidy.plain(str(trouble))}") from trouble
    cells.check_failures(nb, name)


def kernel_env(profile: str) -> dict[str, str]:
    """The environment of a kernel: the same on every machine where it shows in an output."""
    env = {key: value for key, value in os.environ.items() if key not in UNSET}
    fixed = {"COLUMNS": "120", "IPYTHONDIR": profile, "PYTHONHASHSEED": "0", "TZ": "UTC"}
    return {**env, **fixed, "PATH": node.search_path()}


async def each(
    root: Path, names: list[str], jobs: int, then: Callable[[Path, str, str], list[str]]
) -> list[str]:
    """Build `names`, `jobs` at a time; hand each file to `then`, and gather the complaints.

    From the end, where the ledger is: it takes longest, and should not run alone after the rest.
    """
    turn = asyncio.Semaphore(jobs)

    async def one(name: str) -> list[str]:
        async with turn:
            start = time.monotonic()
            try:
                made = await build(root, name)
                complaints = [line for item in made.items() for line in then(root, *item)]
            except cells.BuildError as trouble:
                complaints = [str(trouble)]
            took = time.monotonic() - start
            print(f"{'FAILED' if complaints else 'ok':6} {name}  {took:.1f} s", flush=True)
            return complaints

    return [line for lines in await asyncio.gather(*map(one, names[::-1])) for line in lines]


def write(root: Path, path: str, text: str) -> list[str]:
    """Put a file in its place, whole."""
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_suffix(f"{target.suffix}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(target)
    return []


def check(root: Path, path: str, text: str) -> list[str]:
    """Compare a file with the one on disk."""
    name, target = shown(path), root / path
    if not target.exists():
        return [f"{name}: never built"]
    on_disk = target.read_text(encoding="utf-8")
    if target.suffix != ".ipynb":
        same = on_disk == text
        return [] if same else [f"{name}:\n{compare.diff(on_disk.splitlines(), text.splitlines())}"]
    old, new = (nbformat.reads(each, as_version=4) for each in (on_disk, text))
    return compare.differences(name, old, new)


def orphans(root: Path) -> list[str]:
    """Complain of built files that no source makes."""
    names = chosen(root)
    made = {f"notebooks/{name}.ipynb" for name in names if not exercise.is_exercise(name)}
    for name in (
        each.removeprefix(exercise.FOLDER) for each in names if exercise.is_exercise(each)
    ):
        made |= {f"solutions/{name}.ipynb", f"exercises/{name}.ipynb"}
        made.add(f"classroom/checks/{name}.json")
    there = [file for folder in OUTPUTS for file in sorted((root / folder).rglob("*.[ij]*"))]
    built = [file for file in there if file.suffix in (".ipynb", ".json")]
    paths = [f.relative_to(root).as_posix() for f in built if ".ipynb_checkpoints" not in f.parts]
    return [f"{shown(path)}: has no source" for path in paths if path not in made]


def main(argv: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="notebooks to build (default: all)")
    parser.add_argument("--check", action="store_true", help="write nothing; fail on a difference")
    parser.add_argument("-j", "--jobs", type=int, default=2, metavar="N")
    args = parser.parse_args(argv)
    # The first import writes a cache and may say so; not in an output.
    importlib.import_module("matplotlib.font_manager")
    try:
        names = chosen(root, args.names)
    except cells.BuildError as trouble:
        parser.error(str(trouble))
    complaints = asyncio.run(each(root, names, args.jobs, check if args.check else write))
    complaints += [] if args.names else orphans(root)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
