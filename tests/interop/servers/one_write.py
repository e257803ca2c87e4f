"""A server by hand that says all it has to say of a call in one write: three steps, and the answer.

It speaks both eras, as far as the clients here need it. No message of it is out of order.
"""

import json
import sys

VERSION = "2026-07-28"
INFO = {"name": "one write", "version": "1"}


def result(id: object, **members: object) -> dict:
    meta = {"io.modelcontextprotocol/serverInfo": INFO}
    return {"jsonrpc": "2.0", "id": id, "result": {**members, "_meta": meta}}


def answers(message: dict) -> list[dict]:
    id, method, params = message.get("id"), message["method"], message.get("params", {})
    cached = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    if id is None:
        return []
    if method == "server/discover":
        return [result(id, supportedVersions=[VERSION], capabilities={"tools": {}}, **cached)]
    if method == "initialize":
        settled = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
        return [result(id, serverInfo=INFO, **settled)]
    if method == "tools/list":
        tool = {"name": "count", "inputSchema": {"type": "object"}}
        return [result(id, tools=[tool], **cached)]
    token = params["_meta"]["progressToken"]
    steps = [
        {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": token, "progress": step, "total": 3},
        }
        for step in (1, 2, 3)
    ]
    text = [{"type": "text", "text": "counted"}]
    return [*steps, result(id, resultType="complete", content=text)]


for line in sys.stdin:
    said = "".join(json.dumps(answer) + "\n" for answer in answers(json.loads(line)))
    sys.stdout.write(said)
    sys.stdout.flush()
