"""A stdio server that says what it was told to say, byte for byte, and then answers rightly.

A notification `script` brings the bytes, in Base64; the next request gets them, with its own id
where they say "@ID@", and after them the answer that is due.
"""

import base64
import json
import os
import sys

ANSWER = {"resultType": "complete", "content": [{"type": "text", "text": "sound"}]}


def main():
    script = b""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("method") == "notifications/script":
            script = base64.b64decode(message["params"]["say"])
        elif "method" in message and "id" in message:
            said = script.replace(b'"@ID@"', json.dumps(message["id"]).encode())
            due = {"jsonrpc": "2.0", "id": message["id"], "result": ANSWER}
            say(said + b"\n" + json.dumps(due).encode() + b"\n")
            script = b""


def say(data):
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
