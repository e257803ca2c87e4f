"""A server and a client as most tutorials write them. Every row of the tests must fail on these.

    python naive.py        serves on standard input and output

The server reads text lines, catches JSONDecodeError, and prints. The client has a thread that reads
text lines into a queue, and takes the next line for the answer to its last request.
"""

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


# --- what tools do, in any server ---


def echo(text=""):
    return text


def shout():
    """Write to standard output in every way there is."""
    print("print", flush=True)
    sys.__stdout__.write("the first stdout\n")
    sys.__stdout__.flush()
    os.write(1, b"file descriptor 1\n")
    subprocess.run([sys.executable, "-I", "-S", "-c", "print('a child')"], check=True)
    return "done"


def prompt():
    """Ask at the terminal, where there is none."""
    try:
        return input()
    except EOFError:
        return "nobody there"


def half_a_pair():
    return "\ud83d"


TOOLS = {tool.__name__: tool for tool in (echo, shout, prompt, half_a_pair)}


# --- the server ---


def serve():
    for line in sys.stdin:
        try:
            request = json.loads(line)
        except json.JSONDecodeError:
            error = {"code": -32700, "message": "Parse error"}
            print(json.dumps({"jsonrpc": "2.0", "id": None, "error": error}), flush=True)
            continue
        response = {"jsonrpc": "2.0", "id": request.get("id")}
        method, params = request["method"], request.get("params", {})
        if method == "tools/list":
            response["result"] = {"resultType": "complete", "tools": [{"name": n} for n in TOOLS]}
        elif method == "tools/call":
            text = TOOLS[params["name"]](**params.get("arguments", {}))
            content = [{"type": "text", "text": text}]
            response["result"] = {"resultType": "complete", "content": content}
        else:
            response["error"] = {"code": -32601, "message": f"Method not found: {method}"}
        print(json.dumps(response, ensure_ascii=False), flush=True)


# --- the client ---


class NaiveError(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]


class NaiveClient:
    def __init__(self, command):
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self.lines = queue.Queue()
        self.last_id = 0
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        try:
            for line in self.process.stdout:
                self.lines.put(line)
        except ValueError:  # (a tutorial's thread would die with a traceback; ours is quiet)
            pass

    def request(self, method, params=None, timeout=0.7):
        self.last_id += 1
        params = {**(params or {}), "_meta": META}
        message = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        response = json.loads(self.lines.get(timeout=timeout))
        if "error" in response:
            raise NaiveError(response["error"])
        return response["result"]

    def close(self):
        self.process.terminate()


def probe(client):
    """Which era? Legacy servers answer -32601 to what they do not know, or so one hears."""
    try:
        client.request("server/discover")
        return "modern"
    except NaiveError as refusal:
        if refusal.code != -32601:
            raise
        client.request("initialize")
        return "legacy"


def clear_away(client, processes):
    """For the tests: end what this client leaves behind, so that no other test trips over it."""
    for process in processes:
        process.kill()
    client.process.wait()
    client.reader.join()
    for pipe in (client.process.stdout, client.process.stderr):
        pipe.close()
    with contextlib.suppress(OSError):  # what it never flushed
        client.process.stdin.close()


if __name__ == "__main__":
    serve()
