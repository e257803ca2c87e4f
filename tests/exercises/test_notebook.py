"""The released notebook as a learner runs it: a real kernel, and no grader."""

import asyncio
import time
from pathlib import Path

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode

from sources import build, exercise
from tests.exercises import sample
from tests.exercises.conftest import NAMES, ROOT
from workbench.checks.wrong import LABELS

code = nbformat.v4.new_code_cell
RELEASED = [ROOT / f"{name}.ipynb" for name in NAMES]
AT_ONCE = 4
NAME = "ch26/09_sample"
TWICE = "def double(value):\n    return helped(value)\n"


async def execute(nb: NotebookNode, folder: Path) -> NotebookNode:
    """Run all cells, whatever they raise."""
    manager = AsyncKernelManager(kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
    manager.transport_encryption = "auto"
    client = NotebookClient(
        nb,
        km=manager,
        timeout=60,
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    )
    environment = build.kernel_env(str(folder / "profile"))
    await client.async_execute(env=environment, cleanup_kc=True)
    return nb


async def execute_all(files: list[Path], folder: Path) -> dict[Path, NotebookNode]:
    """Run notebooks, a few at a time: some of their checks wait until their time is up."""
    turn = asyncio.Semaphore(AT_ONCE)

    async def one(file: Path) -> NotebookNode:
        async with turn:
            return await execute(nbformat.read(file, as_version=4), folder)

    done = await asyncio.gather(*map(one, files))
    return dict(zip(files, done, strict=True))


@pytest.fixture(scope="session")
def blank_runs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[Path, NotebookNode]:
    """The learner's copies that are tested, run as they are released."""
    items = [item for item in request.session.items if hasattr(item, "callspec")]
    asked = {item.callspec.params.get("file") for item in items}
    wanted = [file for file in RELEASED if file in asked]
    return asyncio.run(execute_all(wanted, tmp_path_factory.mktemp("blank")))


def said(cell: NotebookNode) -> str:
    """What a learner reads under a cell."""
    texts = [o.get("text") or "\n".join(o.get("traceback", [])) for o in cell.outputs]
    return "".join(texts)


def no_stderr(nb: NotebookNode) -> bool:
    outputs = [output for cell in nb.cells for output in cell.get("outputs", [])]
    return not any(output.get("name") == "stderr" for output in outputs)


@pytest.mark.parametrize("file", RELEASED, ids=lambda file: file.stem)
def test_a_blank_release_runs_and_scores_nothing(file: Path, blank_runs) -> None:
    nb = blank_runs[file]
    assert no_stderr(nb)
    for cell in nb.cells:
        if cell.id.startswith("check-"):
            assert [output.output_type for output in cell.outputs] == ["error"], cell.id
            whole = said(cell)
            told = "ot written yet" in whole or all(f"{label}:" in whole for label in LABELS)
            assert told, f"{cell.id}:\n{whole}"
            assert "Traceback" not in whole
        elif cell.cell_type == "code":
            assert not any(o.output_type == "error" for o in cell.outputs), cell.id
    assert nb.cells[-1].id == "tally"
    assert "\n0 of " in said(nb.cells[-1])
    assert "all tests" not in nbformat.writes(nb)


def test_a_learners_way(tmp_path: Path) -> None:
    """Wrong, right with a helper of their own, changed after its check, hung, and never run."""
    nb = exercise.notebook(exercise.read(sample.text(), NAME), answers=False)
    *first, check, _, tally = (cell for cell in nb.cells if cell.id != "stage-double")
    stage = "# Stage double: mine.\n"
    steps = {
        "not run": check.source,
        "wrong": f"{stage}def double(value):\n    return value",
        "told": check.source,
        "scratch": "print('to be seen once')\nassert True",
        "helper": "def helped(value):\n    import sys; print(1, file=sys.stderr); return 2 * value",
        "right": f"{stage}{TWICE}",
        "passes": check.source,
        "tally": tally.source,
        "changed": f"{stage}{TWICE}\n# and more",
        "tally again": tally.source,
        "a scratch cell that fails": "1 / 0",
        "hangs": f"{stage}def double(value):\n    while True: pass",
        "late": check.source,
        "prints": f"{stage}print('loud')\nimport os\ndef double(value):\n    os._exit(3)",
        "died": check.source,
        "right again": f"{stage}{TWICE}",
        "passes again": check.source,
    }
    nb.cells = [*first, *(code(text) for text in steps.values())]
    start = time.monotonic()
    asyncio.run(execute(nb, tmp_path))
    took = time.monotonic() - start
    told = dict(zip(steps, map(said, nb.cells[len(first) :]), strict=True))
    assert (
        "Not written yet, or not run: the cell that begins with `# Stage double`" in told["not run"]
    )
    assert told["told"].splitlines()[0] == "Stage double does not pass yet."
    assert told["passes"] == "stage double: the visible checks pass (2 points)\n"
    assert "2 of 2" in told["tally"] and "The visible checks pass." in told["tally"]
    assert (
        "changed since its check" in told["tally again"] and "Left: double." in told["tally again"]
    )
    assert "the time is up" in told["late"]
    assert "your code ended its process" in told["died"]
    assert told["passes again"] == told["passes"]
    assert no_stderr(nb)
    assert took < 30
