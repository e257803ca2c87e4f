"""The servers that stand behind the tap in these tests: no protocol, only bytes and their ends.

python parts.py NAME        behaves as told, on standard input and output
"""

import hashlib
import os
import signal
import sys
import time


def echo():
    """Every byte comes back, as soon as it has come."""
    while chunk := os.read(0, 65536):
        say(chunk)


def digest():
    """Reads everything, then says how much it was and what it hashes to."""
    found, size = hashlib.sha256(), 0
    while chunk := os.read(0, 65536):
        found.update(chunk)
        size += len(chunk)
    say(f"{size} {found.hexdigest()}\n".encode())


def shout():
    """Sixteen megabytes that are no line and no text, after which it leaves."""
    say(noise(16 << 20))


def noise(size):
    """Bytes of every kind, the same each time."""
    return hashlib.shake_256(b"tap").digest(size)


def dies():
    """In the middle of a line, by the signal of a crash."""
    os.read(0, 65536)
    say(b"whole\nhal")
    os.kill(os.getpid(), signal.SIGKILL)


def exits():
    os.read(0, 65536)
    say(b"whole\nhal")
    print("last words", file=sys.stderr)
    sys.exit(7)


def stays():
    """Ignores the end of its input, and a polite signal too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    say(f"{os.getpid()}\n".encode())
    while True:
        time.sleep(60)


def obeys():
    """Says which signals it gets; the polite one ends it, in its own way."""

    def heard(number, frame):
        say(signal.Signals(number).name.encode() + b"\n")
        if number == signal.SIGTERM:
            os._exit(3)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, heard)
    say(b"ready\n")
    while True:
        time.sleep(60)


def mute():
    """Closes its output, and goes on."""
    os.close(1)
    while os.read(0, 65536):
        pass


def deaf():
    """Closes its input, and goes on until its output is not wanted."""
    os.close(0)
    say(b"deaf\n")
    while True:
        say(b".")
        time.sleep(0.05)


def parent():
    """Leaves behind a child that holds its output open."""
    if os.fork():
        say(f"{os.getpid()}\n".encode())
        os._exit(0)
    say(f"child {os.getpid()}\n".encode())
    time.sleep(600)


def talker():
    """Speaks until nobody listens."""
    say(f"{os.getpid()}\n".encode())
    while True:
        say(b"still here\n")
        time.sleep(0.01)


def reluctant():
    """Reads nothing, ever."""
    say(f"{os.getpid()}\n".encode())
    time.sleep(600)


def say(data):
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    globals()[sys.argv[1]]()
