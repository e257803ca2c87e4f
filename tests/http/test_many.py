"""64 clients, each with kept-alive connections of its own and a subscription, 100 calls each."""

from __future__ import annotations

import threading
from typing import Any

from mcp_bare.client import Client
from mcp_bare.http_server import HttpServer
from mcp_bare.server import Server
from mcp_bare.streamable_http import HttpTransport
from tests.http import lab

CLIENTS, CALLS, EVENTS = 64, 100, 5


def build() -> Server:
    server = Server("many", "1.0.0")

    @server.tool({"name": "echo", "inputSchema": {"type": "object"}})
    def echo(call):
        return call.arguments["text"]

    @server.tool({"name": "noisy", "inputSchema": {"type": "object"}})
    def noisy(call):
        yield call.progress(1, 2)
        return call.arguments["text"]

    return server


class One:
    """One client: its answers, what it heard, and what went wrong."""

    def __init__(self, url: str, number: int):
        self.number, self.answers, self.progress = number, 0, 0
        self.events: list[Any] = []
        self.errors: list[BaseException] = []
        self.client = Client(HttpTransport(url), timeout=lab.PATIENCE)
        self.subscription = self.client.listen({"toolsListChanged": True}, self.events.append)
        self.thread = threading.Thread(target=self.run)

    def run(self) -> None:
        try:
            for call in range(CALLS):
                text = f"{self.number}/{call}"
                if call % 10:
                    result = self.client.call_tool("echo", {"text": text})
                else:
                    result = self.client.call_tool("noisy", {"text": text}, on_progress=self.note)
                assert lab.said(result) == text
                self.answers += 1
        except BaseException as trouble:
            self.errors.append(trouble)

    def note(self, params: Any) -> None:
        self.progress += 1


def test_64_clients_100_calls_each_with_subscriptions_open(record_property):
    server = build()
    with HttpServer(server) as http:
        clients = [One(http.url, number) for number in range(CLIENTS)]
        for one in clients:
            one.thread.start()
        for _ in range(EVENTS):
            server.changed("tools")
        for one in clients:
            one.thread.join()
        connections = len(http._listener._open)
        assert [error for one in clients for error in one.errors] == []
        assert sum(one.answers for one in clients) == CLIENTS * CALLS
        assert sum(one.progress for one in clients) == CLIENTS * CALLS // 10
        assert lab.eventually(lambda: all(len(one.events) == EVENTS for one in clients))
        assert not any(one.subscription.ended for one in clients)
        http.stop()
        assert lab.eventually(lambda: all(one.subscription.ended for one in clients))
        for one in clients:
            assert one.subscription.pending.result()["resultType"] == "complete"
            one.client.close()
    assert connections <= 3 * CLIENTS, "each has one for calls and one for its subscription"
    for name, count in (("calls", CLIENTS * CALLS), ("connections", connections)):
        record_property(name, count)
    print(f"measured: {CLIENTS * CALLS} calls answered over {connections} kept-alive connections")
