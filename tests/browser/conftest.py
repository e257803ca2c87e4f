"""One JupyterLab for all tests of this folder; a Chromium for each module, never longer.

Playwright's loop runs in this very thread for as long as a browser is open, so no other test may
find one open that wants a loop of its own.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.lab import Lab, Notebook, browser

expect.set_options(timeout=15_000)


@pytest.fixture(autouse=True)
def no_process_left_behind() -> None:
    """Not after each test, as elsewhere: the browser of a module starts and ends its own."""


@pytest.fixture(scope="module", autouse=True)
def nothing_left_behind(lab: Lab) -> Iterator[None]:
    """When a module is done, its browser, its kernels and their servers are gone."""
    before = ours()
    yield
    deadline = time.monotonic() + 5
    while (left := ours() - before) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not left, f"left behind: {left}"


def ours() -> set[psutil.Process]:
    """Every process that this test run started (the root's conftest marks them)."""
    found = set()
    for process in psutil.process_iter():
        try:
            if process.environ().get("MCP_BARE_TEST_RUN") == os.environ["MCP_BARE_TEST_RUN"]:
                found.add(process)
        except psutil.Error:
            continue
    return found


@pytest.fixture(scope="session")
def lab(repo: Path) -> Iterator[Lab]:
    """JupyterLab with a copy of the built notebooks."""
    with Lab(repo / "notebooks") as started:
        yield started


@pytest.fixture(scope="module")
def chrome(chromium: str) -> Iterator[Browser]:
    """A headless Chromium."""
    with browser(chromium) as launched:
        yield launched


@pytest.fixture(scope="module")
def open_notebook(lab: Lab, chrome: Browser) -> Iterator:
    """Open a notebook by its path; its kernel is shut down when the module is done."""
    yield lambda path: Notebook(lab, chrome.new_page(), path)
    lab.end_kernels()
