"""The servers of the matrix, started once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.lab import Lab


@pytest.fixture(scope="package")
def lab(node_parts: Path) -> Iterator[Lab]:
    """Four servers on loopback, and whoever meets them."""
    with Lab() as lab:
        yield lab
