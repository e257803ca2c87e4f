"""The incident log in each of its hands; one that is not here is skipped, and in CI fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import missing
from workbench import environments, hands, node


@pytest.fixture(scope="session")
def hand() -> Callable[[str], str]:
    """Gives back the name of a hand that can be started."""

    def present(name: str) -> str:
        if why := hands.why_not(name):
            missing(f"{name}: {why}")
        return name

    return present


@pytest.fixture(scope="session")
def inspector() -> Path:
    """The script of the MCP Inspector."""
    try:
        return hands.inspector()
    except (environments.EnvironmentUnavailable, node.NodeUnavailable) as trouble:
        missing(str(trouble))
