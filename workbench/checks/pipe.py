"""The raw pipe of a learner's server, as a check uses it, and a transport for the toolkit's client.

    with it.serve("main") as pipe:
        pipe.send({"jsonrpc": "2.0", "id": 1, "method": "server/discover"})
        answer = pipe.message()

Does not handle: starting it (`asking.It.serve`), or judging what it says.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

from mcp_bare import framing, jsonrpc
from mcp_bare.errors import RpcError, TransportClosed
from workbench.checks.process import Ended, Flooded, Late, Process
from workbench.checks.reasons import not_written
from workbench.checks.wrong import Wrong

LINE = "basic/transports/stdio: each message is one line, ended by a line feed"


class Pipe:
    """Both ends of one process, until `close`; every wait ends with the check's deadline."""

    def __init__(self, process: Process, deadline: float):
        self._process, self._deadline = process, deadline
        self._pump: threading.Thread | None = None

    def __enter__(self) -> "Pipe":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def write(self, data: bytes) -> None:
        """Write these bytes, and no more. Raises Wrong where nobody reads them."""
        try:
            self._process.write(data, self._deadline)
        except (Late, Ended) as trouble:
            raise self._ended(trouble) from None

    def send(self, message: Any) -> None:
        """A dict is written as one line; bytes get their line feed. (For a client: a payload.)"""
        data = message if isinstance(message, bytes) else jsonrpc.dumps(message)
        self.write(data + b"\n")

    def line(self) -> bytes:
        """The next line, without its line feed."""
        try:
            return self._process.line(self._deadline)
        except (Late, Ended, Flooded) as trouble:
            raise self._ended(trouble) from None

    def message(self) -> Any:
        """The next line as strict JSON."""
        line = self.line()
        try:
            return jsonrpc.loads(line)
        except RpcError:
            raise Wrong(
                line,
                "basic/transports/stdio: nothing but messages is written to standard output",
                "this line is no JSON: which of your lines wrote it?",
            ) from None

    def ask(self, message: Any) -> Any:
        """Send one message and read the next."""
        self.send(message)
        return self.message()

    def end_input(self) -> None:
        """Close its standard input."""
        self._process.end_input()

    def rest(self) -> bytes:
        """Close its input, and read all that it still writes until it ends."""
        self.end_input()
        try:
            return self._process.rest(self._deadline)
        except (Late, Flooded) as trouble:
            raise self._ended(trouble) from None

    def silent(self, seconds: float = 0.3) -> bool:
        """Whether it writes nothing for a moment. (A question with a known answer is surer.)"""
        until = min(time.monotonic() + seconds, self._deadline)
        while time.monotonic() < until:
            if self._process.pending():
                return False
            time.sleep(0.02)
        return not self._process.pending()

    def exit_code(self) -> int:
        """Its exit code; it must have been told to go."""
        try:
            return self._process.wait(self._deadline)
        except Late as trouble:
            raise self._ended(trouble) from None

    def stderr(self) -> str:
        """The end of what it wrote to stderr."""
        return self._process.stderr()

    # --- the transport of a client ---

    def open(
        self, on_payload: Callable[[bytes], None], on_close: Callable[[TransportClosed], None]
    ) -> None:
        """Hand each line to `on_payload` from now on."""

        def work() -> None:
            splitter = framing.LineSplitter()
            reason = "the time of this check is up"
            try:
                while True:
                    for line in splitter.feed(self._process.chunk(self._deadline)):
                        on_payload(line if isinstance(line, bytes) else line.head)
            except Ended:
                reason = "the server closed its output"
            except (Late, Flooded):
                pass
            finally:
                if half := splitter.rest():
                    on_payload(half)
                on_close(TransportClosed(reason, None, self.stderr()[-2000:]))

        self._pump = threading.Thread(target=work, daemon=True)
        self._pump.start()

    def close(self) -> None:
        """End the process; safe to call twice."""
        self._process.kill()
        if self._pump is not None and self._pump is not threading.current_thread():
            self._pump.join(1.0)

    # --- what a learner reads ---

    def _ended(self, trouble: Exception) -> Wrong:
        half = self._process.pending()
        if isinstance(trouble, Flooded):
            return Wrong(
                "more output than anybody can read", LINE, "look for a loop that writes", "flood"
            )
        if half:
            return Wrong(
                half, LINE, "the last byte of a message is missing: its reader waits for it", "late"
            )
        if isinstance(trouble, Late):
            return Wrong(
                "nothing, and the time is up",
                "an answer on standard output, as one line",
                "is it written, and flushed? Does your code wait for more than was sent?",
                "late",
            )
        said = self._process.stderr().strip().splitlines()[-1:]
        if said and said[0].startswith("NotImplementedError"):
            return not_written(said[0].partition(": ")[2])
        return Wrong(
            "nothing more: the server ended"
            + "".join(f"\nits last words: {w[:200]}" for w in said),
            "a server goes on until its input ends",
            "read its last words, and look for the line that raises",
            "died",
        )
