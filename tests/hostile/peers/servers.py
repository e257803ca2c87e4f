"""The servers under attack, in a process of their own, whose memory can be measured.

python servers.py stdio      the server of everything on standard input and output
python servers.py http       the lab's at an address, and one behind a guard; prints both ports
"""

import sys

from mcp_bare import stdio
from mcp_bare.auth.guard import Guard
from mcp_bare.auth.tokens import HmacVerifier
from mcp_bare.http_server import HttpServer
from tests.oracle.servers import toolkit_server

KEY = b"k" * 32
RESOURCE, ISSUER = "https://mcp.example/mcp", "https://issuer.example"


def guard():
    """Wants a token of one issuer, and the scope "it:read" for everything."""
    verify = HmacVerifier({"k1": KEY}).verify
    return Guard(RESOURCE, [ISSUER], verify, lambda message: ["it:read"])


def http():
    from tests.http import lab  # slow to load, and a server on pipes is started often

    with HttpServer(lab.build()) as free, HttpServer(lab.build(), guard=guard()) as guarded:
        print(free.port, guarded.port, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    stdio.serve(toolkit_server.build()) if sys.argv[1] == "stdio" else http()
