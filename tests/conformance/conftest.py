"""The pinned suite, installed; our own server at an address."""

from collections.abc import Iterator

import pytest

from mcp_bare.streamable_http import HttpServer
from tests.conftest import missing
from toy_servers import everything
from workbench import node, suite


@pytest.fixture(scope="session")
def conformance() -> None:
    """The suite's npm parts are there; installed if they are missing."""
    try:
        node.ensure(node.CONFORMANCE)
    except node.NodeUnavailable as trouble:
        missing(str(trouble))
    assert suite.missing() == ""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Our own `everything`, whole."""
    with HttpServer(everything.make()) as http:
        yield http.url
