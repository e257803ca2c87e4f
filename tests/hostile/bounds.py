"""What must hold whatever arrives: no hang, no growth, an answer that could be read."""

import contextlib
import json
import signal

import psutil

from mcp_bare import jsonrpc, revision

MEGABYTE = 1 << 20
CODES = set(revision.CODE_NAMES) | {-32603}


@contextlib.contextmanager
def within(seconds=5):
    """Fail where this takes more processor time; also in the middle of one call of a C function.

    Processor time, because the machine may be busy with something else.
    """

    def too_long(number, frame):
        raise AssertionError(f"more than {seconds} s of processor time")

    before = signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def memory(pid=None):
    """The memory of a process that is really there, in megabytes."""
    return psutil.Process(pid).memory_info().rss / MEGABYTE


def check_answer(message):
    """What a server may write: a result, a clean error, a notification; never a request."""
    kind = jsonrpc.kind(message)
    assert kind != "request", "a server sends no requests (basic/transports)"
    if kind == "error":
        assert message["error"]["code"] in CODES, message
        told = len(json.dumps(message["error"]["message"]))
        assert told < 2000, "a refusal is not larger than what it refuses"
        assert "Traceback" not in message["error"]["message"]
    if kind == "notification":
        assert message["method"].startswith("notifications/")


def what_was_sent(data):
    """("request" | "notification" | "answer" | "nothing", its id), as the server must see it."""
    try:
        message = jsonrpc.parse(data)
    except jsonrpc.RpcError as problem:
        return "nothing", problem.request_id
    kind = jsonrpc.kind(message)
    return (kind if kind in ("request", "notification") else "answer"), message.get("id")
