"""The oracle's server on the official Python SDK, over HTTP: python sdk_http_server.py PORT

With one more tool, whose arguments are repeated in headers.
"""

from __future__ import annotations

import sys
from typing import Annotated

from pydantic import Field

from tests.oracle.servers.sdk_server import server


def header(name: str) -> dict[str, str]:
    return {"x-mcp-header": name}


@server.tool()
def route(
    region: Annotated[str, Field(json_schema_extra=header("Region"))],
    priority: Annotated[int, Field(json_schema_extra=header("Priority"))] = 0,
    loud: Annotated[bool, Field(json_schema_extra=header("Loud"))] = False,
) -> str:
    """Routes."""
    return f"{region} {priority} {loud}"


if __name__ == "__main__":
    server.run(transport="streamable-http", port=int(sys.argv[1]))
