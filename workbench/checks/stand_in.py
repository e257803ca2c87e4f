"""A server's command for who wants a command: it starts a learner's code, and passes the bytes on.

    python -I -S stand_in.py TASK      (TASK is JSON: the command, what to write to it first)

`mcp_bare check` starts the server under examination itself, several times. The learner's server is
started by a judge's command, takes its cells on a pipe, and says when it serves. This process does
that, and from then on it is two threads that copy: standard input to the learner's code, its
standard output to ours. It leaves when that code leaves, with the same exit code.

Does not handle: what the bytes mean, or a sandbox (the command may be one).
"""

import json
import os
import subprocess
import sys
import threading

CHUNK = 65536


def copy_in(sink):
    """What arrives here, to the learner's code, until either end has had enough."""
    try:
        while chunk := os.read(0, CHUNK):
            while chunk:
                chunk = chunk[os.write(sink, chunk) :]
    except OSError:
        pass
    finally:
        os.close(sink)


def copy_out(source):
    """What it says, to our standard output, until its end."""
    while chunk := os.read(source, CHUNK):
        while chunk:
            chunk = chunk[os.write(1, chunk) :]


def serving(source):
    """Read on until it serves, byte by byte: what comes behind that line is the server's own."""
    line = b""
    while byte := os.read(source, 1):
        line = line + byte if byte != b"\n" else b""
        if byte == b"\n":
            continue
        if len(line) > CHUNK:
            return False
        if line.endswith(b"}") and (told := as_dict(line)):
            if "missing" in told:
                return False
            if "serving" in told:
                return os.read(source, 1) == b"\n"
    return False


def as_dict(line):
    try:
        told = json.loads(line)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        task = json.load(file)
    process = subprocess.Popen(
        task["command"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        env=task["env"],
        cwd=task["cwd"],
    )
    for line in task["first"]:
        process.stdin.write(line.encode() + b"\n")
    sink, source = os.dup(process.stdin.fileno()), process.stdout.fileno()
    process.stdin.close()
    if serving(source):
        threading.Thread(target=copy_in, args=(sink,), daemon=True).start()
        copy_out(source)
    sys.exit(process.wait() & 0xFF)


if __name__ == "__main__":
    main()
