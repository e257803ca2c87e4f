"""How a toy that speaks both transports is started: over stdio, or over HTTP where asked."""

import argparse


def run(server, principal=None, guard=None):
    """Serve until the end: `--http PORT` puts it at an address (0: any free port, told on stderr).

    `principal` is whom a process works for on stdio; over HTTP it is for the `guard` to say.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int, metavar="PORT", help="0 takes any free port")
    port = parser.parse_args().http
    if port is None:
        from mcp_bare.stdio import serve

        serve(server, principal)
    else:
        from mcp_bare.streamable_http import serve as serve_http

        serve_http(server, port=port, guard=guard)
