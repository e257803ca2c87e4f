"""Claims 27-28 to 27-30, 27-34, 27-35 and 27-37 to 27-39: what a start takes, and of what.

Every verdict rests on how two things compare that were started in the same breath (`paces`), with
a margin that a busy machine does not use up: the direction counts, the size is said beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from workbench import measure
from workbench.ledger import everything
from workbench.ledger.bench import Bench
from workbench.ledger.claim import Facts, Later, claim
from workbench.ledger.logs import PY, V1
from workbench.ledger.paces import BYTECODE, EMPTY_NODE, EMPTY_PYTHON, IMPORT, NO_BYTECODE, NPX, UVX

WEIGHS = "ch27/05_what_it_weighs"
NO_UVX = Later("pip install uv")
WEB = ("cryptography", "cffi", "_cffi_backend", "h11", "httpcore2", "httpx2", "python_multipart")
WEB += ("sse_starlette", "ssl", "starlette", "uvicorn")
WIRE = ("mcp_types",)


def ratio(bench: Bench, over: Callable[..., float], *names: str) -> float | None:
    """The median over the rounds of something made of the seconds of these; None if one lacks."""
    if any(name not in bench.paces for name in names):
        return None
    return median(over(*each) for each in zip(*(bench.paces[n] for n in names), strict=True))


def times(bench: Bench, name: str, other: str) -> float | None:
    """How many times as long the first takes as the second."""
    if {name, other} - set(bench.paces):
        return None
    return measure.ratio(bench.paces[name], bench.paces[other]).median


def missing(name: str) -> Later:
    """What would bring what was not measured."""
    return NO_UVX if name == UVX else everything.NO_NODE


def shown(value: float | None, *needs: str) -> Any:
    """A ratio with one decimal: "4.6 times"."""
    return missing(needs[0] if needs else NPX) if value is None else f"{value:.1f} times"


@claim(
    "27-28",
    "A Python that does nothing starts sooner than a Node that does nothing: 11.1 ms and 19.4.",
    notebook=WEIGHS,
    says={"the sooner": "Python"},
)
def empty_programs(bench: Bench) -> Facts:
    factor = times(bench, EMPTY_NODE, EMPTY_PYTHON)
    if factor is None:
        return {"the sooner": everything.NO_NODE}
    return {"the sooner": "Python" if factor > 1 else "Node", "Node takes": shown(factor)}


@claim(
    "27-29",
    "From its start to its answer to `tools/list` the Python server takes about five times as long "
    "as the TypeScript one: 709.4 ms and 144.5.",
    notebook=WEIGHS,
    says={"the Python server takes": "much longer"},
)
def cold_start(bench: Bench) -> Facts:
    factor = times(bench, PY, V1)
    if factor is None:
        return {"the Python server takes": everything.NO_NODE}
    longer = "much longer" if factor > 1.5 else "about as long" if factor > 0.67 else "less"
    return {
        "the Python server takes": longer,
        "in fact": shown(factor),
        "and of an empty Python": shown(times(bench, PY, EMPTY_PYTHON)),
    }


@claim(
    "27-30",
    "The Python server's cold start, 709.4 ms, is what any start of it takes.",
    notebook=WEIGHS,
    says={"a start without compiled bytecode": "takes no longer"},
    instead="the first start compiles: twice as long and more. An image that is built without .pyc "
    "files, or with PYTHONDONTWRITEBYTECODE=1, pays that at every start",
)
def first_start(bench: Bench) -> Facts:
    factor = times(bench, NO_BYTECODE, BYTECODE)
    return {
        "a start without compiled bytecode": "takes longer" if factor > 1.3 else "takes no longer",
        "in fact": shown(factor),
    }


@claim(
    "27-34",
    "Most of that start is the import of the SDK, and in that `mcp.types` is a large part: 269 of "
    "727 ms, under the profiler.",
    notebook=WEIGHS,
    says={"the import, of the start": "most of it", "mcp.types, of the import": "a large part"},
)
def the_import(bench: Bench) -> Facts:
    part = ratio(bench, lambda one, two: one / two, IMPORT, PY)
    types = bench.imports.below("mcp.types")
    return {
        "the import, of the start": "most of it" if part > 0.5 else "less than half of it",
        "mcp.types, of the import": "a large part" if types > 0.15 else "a small part",
        "in hundredths, mcp.types": round(100 * types),
    }


@claim(
    "27-35",
    "The import of the Python SDK takes long for a web server, an HTTP client and a TLS library, "
    "which a server on a pipe does not need.",
    notebook=WEIGHS,
    says={"the larger part of the import": "the web stack"},
    instead="the types of the wire, which are built as Pydantic models when they are imported; the "
    "web stack is a small part",
)
def what_for(bench: Bench) -> Facts:
    web, wire = bench.imports.part(*WEB), bench.imports.part(*WIRE)
    return {
        "the larger part of the import": "the web stack" if web > wire else "the types of the wire",
        "in hundredths, their own time": {"wire": round(100 * wire), "web": round(100 * web)},
    }


@claim(
    "27-37",
    "npx takes 568 ms more, four and a half times what the import of the TypeScript SDK takes.",
    notebook=WEIGHS,
    says={"npx takes": "more", "of what the SDK takes, npx takes": "four times or more"},
    instead="with today's npm it is once or twice",
)
def npx(bench: Bench) -> Facts:
    factor = times(bench, NPX, V1)
    if factor is None:
        return dict.fromkeys(npx.says, everything.NO_NODE)
    share = ratio(
        bench, lambda by, direct, empty: (by - direct) / (direct - empty), NPX, V1, EMPTY_NODE
    )
    much = "four times or more" if share >= 4 else "less than four times"
    return {
        "npx takes": "more" if factor > 1 else "no more",
        "of what the SDK takes, npx takes": much,
        "in fact": shown(share),
        "the server with npx, of the server alone": shown(factor),
    }


@claim(
    "27-38",
    "So npx takes back what the TypeScript server had gained on the Python one: 712.6 ms and "
    "709.4.",
    notebook=WEIGHS,
    says={"of its lead, npx takes": "a good part"},
)
def takes_back(bench: Bench) -> Facts:
    part = ratio(bench, lambda by, direct, python: (by - direct) / (python - direct), NPX, V1, PY)
    if part is None:
        return {"of its lead, npx takes": everything.NO_NODE}
    return {
        "of its lead, npx takes": "a good part" if part > 0.2 else "hardly anything",
        "in hundredths (the chapter: 100)": round(100 * part),
        "Python takes, of npx and TypeScript": shown(times(bench, PY, NPX)),
    }


@claim(
    "27-39",
    "uvx presumably adds to a start what npx does. (It was not measured there.)",
    notebook=WEIGHS,
    says={"of what npx adds, uvx adds": "about as much"},
    instead="uvx adds next to nothing once it has what it starts",
)
def uvx(bench: Bench) -> Facts:
    name = "of what npx adds, uvx adds"
    lacking = [each for each in (UVX, NPX) if each not in bench.paces]
    if lacking:
        return {name: missing(lacking[0])}
    part = ratio(
        bench,
        lambda one, python, other, direct: (one - python) / (other - direct),
        *(UVX, EMPTY_PYTHON, NPX, V1),
    )
    return {
        name: "less than half" if part < 0.5 else "about as much",
        "uvx, of an empty Python alone": shown(times(bench, UVX, EMPTY_PYTHON)),
    }
