"""Several copies of one toy server over HTTP, each in a process of its own; or one of any server.

    with replicas("calendar_forgetful", 3) as urls:
        ...
    with serving(["node", "incidents.ts", "--http", "0"]) as url:
        ...

Does not handle: what stands before them (`toy_servers.front`).
"""

import contextlib
import os
import queue
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence

from mcp_bare import reaper
from workbench.servers import command

PATIENCE_S = 20.0
_SERVING = re.compile(r"serving MCP at (\S+);")


@contextlib.contextmanager
def replicas(name: str, count: int, env: Mapping[str, str] | None = None) -> Iterator[list[str]]:
    """Start `count` copies; their URLs, once all serve. Raises RuntimeError if one does not.

    They end with the block, or with this process, however it ends.
    """
    with contextlib.ExitStack() as running:
        words, whole = command(name, "--http", "0"), {**os.environ, **(env or {})}
        started = [running.enter_context(_Replica(words, whole)) for _ in range(count)]
        yield [each.url() for each in started]


@contextlib.contextmanager
def serving(words: Sequence[str], env: Mapping[str, str] | None = None) -> Iterator[str]:
    """Start one server that says on stderr where it serves, as the toys do; yields its URL.

    `env` is its whole environment. Raises RuntimeError where it ends, or says nothing.
    """
    with _Replica(words, os.environ if env is None else env) as one:
        yield one.url()


class _Replica:
    def __init__(self, words: Sequence[str], env: Mapping[str, str]):
        self._process = subprocess.Popen(
            list(words),
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        reaper.watch(self._process.pid)
        self._said: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def url(self) -> str:
        """Where it serves, as it says on stderr. Raises RuntimeError with what it said instead."""
        said = []
        while True:
            try:
                line = self._said.get(timeout=PATIENCE_S)
            except queue.Empty:
                raise RuntimeError(f"no server after {PATIENCE_S:g} s: {''.join(said)}") from None
            if found := _SERVING.search(line):
                return found[1]
            if not line:
                raise RuntimeError(f"a server ended: {''.join(said)}")
            said.append(line)

    def _read(self) -> None:
        for line in self._process.stderr:
            self._said.put(line)
        self._said.put("")

    def __enter__(self) -> "_Replica":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        reaper.forget(self._process.pid)
        self._reader.join(5)
        self._process.stderr.close()
