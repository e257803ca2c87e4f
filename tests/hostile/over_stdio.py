"""Both ends of the stdio transport, over real pipes, with a real process at the other end."""

import base64
import contextlib
import json
import os
import select
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mcp_bare import elicitation, jsonrpc
from mcp_bare.client import Client
from mcp_bare.errors import McpError
from mcp_bare.framing import LineSplitter
from mcp_bare.stdio import StdioTransport
from mcp_bare.tape import Tape
from tests.hostile.bounds import check_answer, memory, what_was_sent, within
from tests.hostile.material import MESSAGES, SAID, call
from tests.protocol.asking import examples
from tests.wire.helpers import PATIENCE, environment

PEERS = Path(__file__).resolve().parent / "peers"
GROWTH_MB = 60 * max(1, int(os.environ.get("MORE_EXAMPLES", "0")))
"""A tape, a cache or two. A client keeps a tape of what came, up to a limit of its own."""


class Pipes:
    """The server under attack: what is written, line by line what comes back, its memory."""

    def __init__(self):
        command = [sys.executable, str(PEERS / "servers.py"), "stdio"]
        pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
        self.process = subprocess.Popen(
            command, **pipes, stderr=subprocess.DEVNULL, env=environment(), bufsize=0
        )
        self._lines, self._ready = LineSplitter(), []
        self.asked = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate(timeout=PATIENCE)

    def send(self, data):
        while data:
            data = data[self.process.stdin.write(data) :]

    def lines(self):
        """Each line as it comes; an assertion where none comes any more."""
        while True:
            while self._ready:
                yield self._ready.pop(0)
            readable, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
            assert readable, "the server hangs"
            chunk = os.read(self.process.stdout.fileno(), 65536)
            assert chunk, f"the server is gone: {self.process.wait(PATIENCE)}"
            self._ready += self._lines.feed(chunk)

    def until_answered(self):
        """Ask something good; everything that comes before its answer. The answer must be right."""
        self.asked += 1
        id = f"good {self.asked}"
        self.send(json.dumps(call("echo", id=id, text="still here")).encode() + b"\n")
        before = []
        for line in self.lines():
            message = jsonrpc.parse(line)
            if message.get("id") == id:
                assert message["result"]["content"][0]["text"] == "still here"
                return before
            before.append(message)


def check_answers(sent, came, late=None):
    """At most one answer for each request, none for what is none, an error for what is nothing.

    `late` is what the throw before is still owed: a slow thread may have answered after the last
    request. Returns what this one is still owed.
    """
    lines = [line for line in LineSplitter().feed(sent + b"\n") if isinstance(line, bytes)]
    seen = [what_was_sent(line) for line in lines]
    due = Counter(
        (type(id), id) for kind, id in seen if kind == "request" or (kind == "nothing" and id)
    )
    due += Counter((type(id), id) for kind, id in seen if kind == "nothing" and id in ("", 0))
    nameless = sum(kind == "nothing" and id is None for kind, id in seen)
    for message in came:
        check_answer(message)
        if "method" in message:
            continue
        if message.get("id") is None:
            assert "error" in message and message["error"]["code"] in (-32700, -32600)
            nameless -= 1
        else:
            due[type(message["id"]), message["id"]] -= 1
    assert nameless >= 0, "an answer without an id, to something that needs none"
    for key, count in due.items():
        assert count + (late or {}).get(key, 0) >= 0, "an answer that nobody asked for"
    return {key: count for key, count in due.items() if count > 0}


def stdio_server(count=330):
    thrown, base, late = [0], [], [{}]
    with Pipes() as server:

        @examples(count)
        @given(
            st.lists(MESSAGES, min_size=3, max_size=9), st.sampled_from([b"\n", b"\r\n", b"\n\n"])
        )
        def throw(messages, end):
            sent = end.join(messages)
            thrown[0] += len(messages)
            server.send(sent + b"\n")
            came = server.until_answered()
            late.append(check_answers(sent, came, late.pop()))
            cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
            for line in sent.split(b"\n"):
                kind, id = what_was_sent(line)
                if kind == "request":
                    server.send(
                        json.dumps({**cancel, "params": {"requestId": id}}).encode() + b"\n"
                    )
            base.append(memory(server.process.pid)) if len(base) < count // 3 else None

        throw()
        assert memory(server.process.pid) - base[-1] < GROWTH_MB
    return thrown[0]


def stdio_server_ends(count=12):
    """Half a line at the end, or nothing but noise: it leaves by itself, with exit code 0."""
    thrown = [0]

    @examples(count)
    @given(MESSAGES)
    def throw(message):
        thrown[0] += 1
        with Pipes() as server:
            server.send(message)
            server.process.stdin.close()
            server.process.stdin = None
            server.process.stdout.read()
            assert server.process.wait(PATIENCE) == 0

    throw()
    return thrown[0]


def stdio_client(count=300):
    thrown, base = [0], []
    person = {"elicitation/create": lambda asked: elicitation.decline()}
    transport = StdioTransport([sys.executable, str(PEERS / "parrot.py")], env=environment())
    with Client(transport, handlers=person, timeout=PATIENCE) as client:

        @examples(count)
        @given(st.lists(SAID, min_size=2, max_size=7), st.sampled_from(VERBS))
        def throw(replies, verb):
            thrown[0] += len(replies)
            said = base64.b64encode(b"\n".join(replies)).decode()
            script = jsonrpc.notification("notifications/script", {"say": said})
            transport.send(jsonrpc.dumps(script))
            began = time.monotonic()
            with contextlib.suppress(McpError), within(10):
                verb(client)
            assert time.monotonic() - began < PATIENCE, "a hang"
            sound = client.call_tool("echo", {"text": "x"})
            assert sound["content"][0]["text"] == "sound"
            assert client.exchange.in_flight == 0
            base.append(memory()) if len(base) < count // 3 else None

        throw()
        assert memory() - base[-1] < GROWTH_MB
    return thrown[0]


VERBS = [
    lambda client: client.call_tool("echo", {"text": "x"}),
    lambda client: client.list_tools(refresh=True),
    lambda client: client.discover(),
    lambda client: client.read_resource("memo://one"),
    lambda client: client.get_prompt("greet"),
    lambda client: client.request("tools/call", {"name": "echo"}, on_progress=print_nothing),
]


def print_nothing(progress):
    """Progress is heard, and nothing is made of it."""


def no_tape_grows():
    """What a server floods us with is kept up to a limit, and no further."""
    tape = Tape()
    for _ in range(600):
        tape.record("←", b"x" * (1 << 20))
    return sum(len(entry.payload) for entry in tape)
