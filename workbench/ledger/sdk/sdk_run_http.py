"""The official Python SDK's own `run(transport="streamable-http")`, on the port that is given.

Its one tool says which distributions it has loaded. It says on stderr when it serves.
"""

import contextlib
import socket
import sys
import threading
import time
from importlib import metadata

from mcp.server import MCPServer

server = MCPServer("next-line", version="1.0.0")


@server.tool(structured_output=False)
def loaded() -> str:
    owners = metadata.packages_distributions()
    tops = {name.partition(".")[0] for name in list(sys.modules)}
    return " ".join(sorted({owner for top in tops for owner in owners.get(top, ())}))


def tell(port: int) -> None:
    """Say so, once the port is open."""
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            break
        time.sleep(0.02)
    print(
        f"serving MCP at http://127.0.0.1:{port}/mcp; Ctrl-C ends it", file=sys.stderr, flush=True
    )


if __name__ == "__main__":
    wanted = int(sys.argv[1])
    threading.Thread(target=tell, args=(wanted,), daemon=True).start()
    server.run(transport="streamable-http", port=wanted)
