"""What the official wire types (PyPI `mcp-types`, the Python SDK's own) say of a message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mcp_bare import revision


def request(message: Mapping[str, Any], version: str = revision.CURRENT) -> str:
    """ "valid", or what is wrong with this request of a client."""
    from mcp_types import methods

    return _verdict(methods.validate_client_request, message["method"], version, message["params"])


def result(method: str, body: Mapping[str, Any], version: str = revision.CURRENT) -> str:
    """ "valid", or what is wrong with this result for a request of that method."""
    from mcp_types import methods

    return _verdict(methods.validate_server_result, method, version, body)


def _verdict(validate: Callable[..., None], method: str, version: str, body: Any) -> str:
    try:
        validate(method, version, body)
    except (ValueError, KeyError) as trouble:  # pydantic's ValidationError is a ValueError
        return f"not valid: {str(trouble).splitlines()[0]}"
    return "valid"
