"""Run work on the thread that got it; should it last, another thread goes on with what waits.

Most calls are answered in less time than it takes to wake a thread. So nobody is woken for them:
whoever read a request runs it. A watcher looks at what is running every `TICK`, and for work that
has lasted longer it calls `take_over`, once, which starts a thread to read on, or to look after the
connection. The watcher goes when there has been nothing to watch for a while.

Does not handle: what is taken over (`stdio`, `poller`, `http_reply`), or stopping work.
"""

from __future__ import annotations

import contextlib
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

TICK = 0.01  # seconds that work may last before somebody takes over, up to twice as many
STAYS = 20  # ticks without work, after which the watcher goes


class Watch:
    """Watches what runs on any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[object, tuple[float, Callable[[], None]]] = {}
        self._watching = False

    def run(self, work: Callable[[], None], take_over: Callable[[], None]) -> bool:
        """Run `work` here. True where it lasted, and `take_over` was called meanwhile.

        `take_over` is called by the watcher and must not wait; it may raise RuntimeError where no
        thread can be had, and is then called again a little later.
        """
        ticket = object()
        with self._lock:
            self._running[ticket] = time.monotonic(), take_over
            if not self._watching:
                self._start()
        try:
            work()
        finally:
            with self._lock:
                lasted = self._running.pop(ticket, None) is None
        return lasted

    def _start(self) -> None:
        self._watching = True
        try:
            threading.Thread(target=self._watch, name="mcp-watch", daemon=True).start()
        except RuntimeError:  # no thread to be had: nobody takes over
            self._watching = False

    def _watch(self) -> None:
        quiet = 0
        while self._watching:
            time.sleep(TICK)
            with self._lock:
                quiet = 0 if self._running else quiet + 1
                self._watching = quiet < STAYS
                self._look(time.monotonic() - TICK)

    def _look(self, before: float) -> None:
        late = [ticket for ticket, (began, _) in self._running.items() if began <= before]
        for ticket in late:
            with contextlib.suppress(RuntimeError):
                self._running[ticket][1]()
                del self._running[ticket]
