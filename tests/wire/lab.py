"""The toolkit's server with tools that misbehave, and tools that a test can hold and let go.

python lab.py        serves on standard input and output
"""

import sys
import threading
import time
from collections import defaultdict

from mcp_bare.server import Server
from mcp_bare.stdio import serve
from tests.wire import naive

ANYTHING = {"type": "object"}


def build() -> Server:
    """A fresh server; its gates are its own."""
    server = Server("lab", "1.0.0", logging=True)
    gates: dict[str, threading.Event] = defaultdict(threading.Event)
    seen: list[str] = []

    def tool(handler):
        server.tool({"name": handler.__name__, "inputSchema": ANYTHING})(handler)

    for name, function in naive.TOOLS.items():
        server.tool({"name": name, "inputSchema": ANYTHING})(
            lambda call, function=function: function(**call.arguments)
        )

    @tool
    def wait(call):
        """Answer once `open` has opened the gate; say so first where progress is asked for."""
        yield call.progress(0.5)
        gates[call.arguments["gate"]].wait(30)
        yield call.progress(1.0)  # after a cancellation this must not be sent
        return call.arguments["gate"]

    @tool
    def open(call):
        gates[call.arguments["gate"]].set()
        return "open"

    @tool
    def work(call):
        """Work until cancelled; `seen` tells that it was."""
        yield call.progress(1)
        while not call.cancelled():
            time.sleep(0.005)
        seen.append("cancelled")
        yield call.progress(2)
        return "never sent"

    @tool
    def confess(call):
        return ",".join(seen)

    @tool
    def flood(call):
        print("a line that nobody reads\n" * 20_000, file=sys.stderr)  # half a megabyte
        return "still here"

    @tool
    def leave(call):
        sys.exit("a tool that thinks it is a program")

    @tool
    def change(call):
        server.changed(call.arguments.get("kind", "tools"))
        return "changed"

    @tool
    def storm(call):
        """Publish all the time from another thread, until `calm`."""

        def publish():
            while not gates["calm"].wait(0.0005):
                server.changed("tools")

        threading.Thread(target=publish, daemon=True).start()
        return "blowing"

    @tool
    def calm(call):
        gates["calm"].set()
        return "calm"

    @tool
    def unsayable(call):
        """Progress that JSON cannot say, then a result that it cannot say either."""
        yield call.progress(float("inf"))
        return {"content": [], "structuredContent": {1, 2}}

    @server.resource({"uri": "lab://a", "name": "a"})
    def read(call):
        return "a"

    @server.prompt({"name": "greet", "arguments": [{"name": "who"}]})
    def greet(call):
        return "hello"

    @server.completion("greet", "who")
    def slow_completer(call):
        gates["completer"].wait(30)
        return ["world"]

    return server


if __name__ == "__main__":
    serve(build())
