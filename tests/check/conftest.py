"""The exam, sat once for each server that a selected test is about, several at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from mcp_bare import check
from tests.check import rows
from tests.interop.lab import command as of_the_matrix

BREAKING = str(rows.ROOT / "tests" / "check" / "breaking.py")
COUNT = {"count": {"to": 3}}  # so that there is progress to see


@pytest.fixture(scope="session")
def examined(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], list[check.Verdict]]]:
    """The verdicts on a server by its row: `rude:FAULT`, `broken:NAME`, `good:NAME`, `sdk:NAME`."""
    selected = {name for item in request.session.items for name in rows_of(item)}
    with ThreadPoolExecutor(6) as pool:
        sat: dict[str, Future[list[check.Verdict]]] = {
            row: pool.submit(examine, row, tmp_path_factory.mktemp("exam"))
            for row in sorted(selected, reverse=True)  # the SDKs, which take longest, first
        }
        for future in sat.values():
            future.exception()  # all processes are gone before a test looks for leftovers
        yield lambda row: sat[row].result()


def rows_of(item: pytest.Item) -> list[str]:
    """The servers that a test of ours is about: its parameter `row`, and its mark `examines`."""
    if item.path.parent != Path(__file__).parent:  # other rooms have rows of their own
        return []
    marked = [name for mark in item.iter_markers("examines") for name in mark.args]
    given = item.callspec.params.get("row") if isinstance(item, pytest.Function) and hasattr(
        item, "callspec") else None  # fmt: skip
    return [*marked, *([given] if given else [])]


def examine(row: str, cwd: Path) -> list[check.Verdict]:
    kind, _, name = row.partition(":")
    patience, sittings, more = rows.PATIENT, check.SITTINGS, {}
    if kind == "rude":
        command, row = [*rows.toy("rude"), name], rows.RUDE[name]
        patience, sittings = row.patience, row.sittings
    elif kind == "broken":
        server, row = rows.BREAKS[name]
        command = [rows.PYTHON, BREAKING, name, *server]
        patience, sittings = row.patience, row.sittings
    elif kind == "good":
        command, more = rows.GOOD[name]
    else:
        command = rows.SDKS[name] or of_the_matrix("servers", name)
        patience = check.Patience(answer=20, leave=1) if name == "ts v1" else patience
    env = {**os.environ, "PYTHONPATH": str(rows.ROOT), **more}
    run = check.run(
        command, env=env, cwd=cwd, patience=patience, arguments=COUNT, sittings=sittings
    )
    return list(run)
