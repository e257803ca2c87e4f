"""HTTP and SSE as most tutorials write them. Every row of the tests must fail on one of these.

The parser waits for a blank line and takes what follows `data: `. The client trusts the status and
the exact content type, and reads the answer with json.loads. The server reads Content-Length, takes
what is missing for right and what is nearly Base64 for Base64, and serves one connection at a time.
"""

from __future__ import annotations

import base64
import http.server
import json
import threading
import urllib.request
from typing import Any


def events(chunks: list[bytes]) -> list[str]:
    """The data of each event."""
    found, text = [], ""
    for chunk in chunks:
        text += chunk.decode()
        while "\n\n" in text:
            event, text = text.split("\n\n", 1)
            for line in event.split("\n"):
                if line.startswith("data: "):
                    found.append(line.removeprefix("data: "))
    return found


def encode(value: str) -> str:
    """Base64 where the letters ask for it."""
    return value if value.isascii() else f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def decode(value: str) -> str:
    if value.lower().startswith("=?base64?"):
        return base64.b64decode(value[9:-2] + "==").decode()
    return value


def post(url: str, message: dict[str, Any], headers: dict[str, str]) -> Any:
    """One message; the answer as a dict, None for a notification."""
    asked = urllib.request.Request(url, json.dumps(message).encode(), headers)
    with urllib.request.build_opener().open(asked, timeout=2) as response:
        if response.headers["Content-Type"] == "text/event-stream":
            for line in response:
                if line.startswith(b"data:"):
                    answer = json.loads(line[5:])
                    if answer.get("id") == message["id"]:
                        return answer
        if "id" not in message:
            assert response.status == 202
            return None
        assert response.headers["Content-Type"] == "application/json"
        return json.loads(response.read())


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        if self.headers["Content-Type"] != "application/json":
            self.answer(415, {})
            return
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        meta = message["params"]["_meta"]
        version = meta["io.modelcontextprotocol/protocolVersion"]
        name = message["params"].get("name")
        same = self.headers.get("MCP-Protocol-Version", version) == version
        if not same or decode(self.headers.get("Mcp-Name", name) or "") != (name or ""):
            self.answer(400, {"code": -32020, "message": "mismatch"})
        elif message["method"] != "tools/call":
            self.answer(200, {"code": -32601, "message": "no such method"})
        else:
            text = message["params"]["arguments"].get("text", "")
            result = {"resultType": "complete", "content": [{"type": "text", "text": text}]}
            self.answer(200, None, id=message["id"], result=result)

    def answer(self, status: int, error: Any, **more: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **({"error": error} if error else {}), **more})
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Not in a test."""


class QuietServer(http.server.HTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A tutorial's server prints a traceback and closes the connection."""


class NaiveServer:
    """The tutorial's server at `port`."""

    def __init__(self) -> None:
        self.httpd = QuietServer(("127.0.0.1", 0), Handler)
        self.port = self.httpd.server_address[1]
        self.thread = threading.Thread(target=self.httpd.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> NaiveServer:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.httpd.shutdown()
        self.httpd.server_close()
        self.thread.join()
