"""A server in plain JSON whose one tool promises {"id": string} and returns what it is told.

`promises.py '"INC-1"'` keeps the promise, `promises.py 1` breaks it. It imports nothing, since both
our toolkit and the official SDK would rather fail than send such a result.
"""

import json
import sys

VALUE = {"id": json.loads(sys.argv[1])}
STRING = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
TOOL = {"name": "promised", "inputSchema": {"type": "object"}, "outputSchema": STRING}
CACHED = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
RESULTS = {
    "server/discover": {
        **CACHED,
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "promises", "version": "1.0.0"},
    },
    "tools/list": {**CACHED, "tools": [TOOL]},
    "tools/call": {
        "resultType": "complete",
        "content": [{"type": "text", "text": json.dumps(VALUE)}],
        "structuredContent": VALUE,
    },
}

for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = RESULTS[message["method"]]
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        print(json.dumps(answer), flush=True)
