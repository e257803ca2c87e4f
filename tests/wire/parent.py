"""A process that starts servers and does not close them; the tests end it in every way there is.

python parent.py HOW        prints "ready" once its servers are up, then waits for its end
"""

import os
import signal
import sys
import time

from mcp_bare import reaper
from tests.wire.helpers import open_client, rude

STUBBORN = ("no-fault", "ignores-eof", "ignores-sigterm", "has-children")


def start(*faults):
    """Clients whose servers have answered once."""
    clients = [open_client(rude(fault), grace=0.2) for fault in faults]
    for client in clients:
        client.discover()
    return clients


def ready():
    print("ready", flush=True)


def wait():
    clients = start(*STUBBORN)
    ready()
    time.sleep(600)
    del clients


def leave():
    """The end of the script, with everything still open."""
    globals()["clients"] = start(*STUBBORN)
    ready()


def fail():
    globals()["clients"] = start(*STUBBORN)
    ready()
    raise RuntimeError("an exception that nobody catches")


def call():
    """In the middle of a call that is never answered."""
    [client] = start("late")
    ready()
    client.call_tool("echo", {"text": "hello"})


def fork_and_call():
    """A forked child that exits is not the owner of the server, and must leave it alone."""
    [client] = start("no-fault")
    pid = os.fork()
    if pid == 0:
        sys.exit(0)  # runs what Python runs at exit
    os.waitpid(pid, 0)
    client.call_tool("echo", {"text": "hello"})
    ready()


def fork_and_wait():
    """A forked child lives on; it must not hold the reaper's pipe open when we are killed."""
    clients = start(*STUBBORN)
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        time.sleep(600)
    ready()
    time.sleep(600)
    del clients


def fork_and_start():
    """A forked child starts a server of its own, under a reaper of its own."""
    start("no-fault")
    pid = os.fork()
    if pid == 0:
        [client] = start("ignores-eof")
        client.call_tool("echo", {"text": "hello"})
        sys.exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    ready()


def lose_the_reaper():
    """The next server gets a new one, and that knows of the servers before it."""
    clients = start("ignores-eof")
    os.kill(reaper._reaper.pid, signal.SIGKILL)
    reaper._reaper.wait()
    clients += start("ignores-eof")
    ready()
    time.sleep(600)


def no_reaper():
    """Where no second process can be had, the servers still work and end with their input."""
    python, sys.executable = sys.executable, "/no/such/python"
    client = open_client([python, *rude("no-fault")[1:]])
    client.call_tool("echo", {"text": "hello"})
    ready()


if __name__ == "__main__":
    globals()[sys.argv[1].replace("-", "_")]()
