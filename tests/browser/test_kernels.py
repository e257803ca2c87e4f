"""A kernel and the servers it started: rerun, interrupted, restarted, killed. Nothing is left."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from jupyter_client import BlockingKernelClient, KernelManager
from jupyter_client.kernelspec import KernelSpecManager

pytestmark = pytest.mark.timeout(120)

CALENDAR = """
from workbench.servers import open_toy
client = open_toy("calendar_by_hand")
print(len(client.list_tools()))
"""
SLOW = """
from workbench.servers import open_toy
client = open_toy("changing", timeout=60)
print(len(client.list_tools()))
"""
SLOW_CALL = "client.call_tool('count', {'to': 600, 'pause': 0.1})"
FORM = """
from workbench.servers import open_toy
from workbench.forms import ask
client = open_toy("questions", capabilities={"elicitation": {"form": {}, "url": {}}})
form = ask(client, "reserve_room", server="rooms")
display(form)
page = ask(client, "connect_calendar", server="rooms")
display(page)
"""
STUBBORN = """
from workbench.servers import open_toy
client = open_toy("rude", "ignores-sigterm")
parent = open_toy("rude", "has-children")
print(len(parent.list_tools()), len(client.list_tools()))
"""


class Kernel:
    """A kernel of this very Python, as Jupyter starts one."""

    def __init__(self, repo: Path, folder: Path):
        specs = KernelSpecManager(kernel_dirs=[])
        self.manager = KernelManager(kernel_spec_manager=specs, transport_encryption="auto")
        env = {**os.environ, "PYTHONPATH": str(repo), "IPYTHONDIR": str(folder / "ipython")}
        env["JUPYTER_RUNTIME_DIR"] = str(folder)
        self.manager.start_kernel(env=env, cwd=str(folder))
        self.client: BlockingKernelClient = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=30)

    def run(self, code: str, timeout: float = 20.0) -> str:
        """Run a cell to its end; what it printed, or the name of what it raised."""
        printed: list[str] = []

        def hear(message: dict) -> None:
            if message["msg_type"] == "stream":
                printed.append(message["content"]["text"])

        reply = self.client.execute_interactive(code, timeout=timeout, output_hook=hear)
        return reply["content"].get("ename") or "".join(printed)

    def end(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self.manager.cleanup_resources()


@pytest.fixture
def kernel(repo: Path, tmp_path: Path) -> Iterator[Kernel]:
    started = Kernel(repo, tmp_path)
    yield started
    started.end()
    wait_until(lambda: not servers(), f"left behind: {servers()}")


def servers() -> list[psutil.Process]:
    """Every toy server that descends from this test run, orphans as well."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            ours = process.environ().get("MCP_BARE_TEST_RUN") == os.environ["MCP_BARE_TEST_RUN"]
            command = " ".join(process.cmdline())
            if ours and ("toy_servers" in command or "sleep" in command):
                found.append(process)
    return found


def wait_until(true: Callable[[], bool], otherwise: str, seconds: float = 6.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.05)


@pytest.mark.parametrize("cell", [CALENDAR, FORM], ids=["client", "form"])
def test_a_cell_run_five_times_has_one_server(kernel, cell):
    for _ in range(5):
        assert kernel.run(cell) != "NameError"
    wait_until(lambda: len(servers()) == 1, f"{servers()} for one client")


def test_an_interrupted_call_leaves_its_client_usable(kernel):
    assert kernel.run(SLOW) == "4\n"
    kernel.client.execute(SLOW_CALL)
    kernel.client.get_iopub_msg(timeout=10)
    time.sleep(0.5)  # in the middle of the count
    kernel.manager.interrupt_kernel()
    reply = kernel.client.get_shell_msg(timeout=10)
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    last = "[e.message for e in client.tape if e.direction == '→'][-1]"
    assert kernel.run(f"print({last}['method'])") == "notifications/cancelled\n"
    assert kernel.run("print(client.call_tool('count', {'to': 2})['content'][0]['text'])") == (
        "Counted to 2.\n"
    )
    assert len(servers()) == 1


def test_a_cell_that_raises_keeps_no_server_but_its_own(kernel):
    with_block = "with open_toy('calendar_by_hand') as inner:\n    1 / 0"
    assert kernel.run(CALENDAR) == "1\n"
    assert kernel.run(with_block) == "ZeroDivisionError"
    wait_until(lambda: len(servers()) == 1, f"{servers()} after an exception")


@pytest.mark.parametrize(
    ("way", "cell"),
    [
        ("restart", CALENDAR),
        ("restart in a call", CALENDAR),
        ("killed", FORM),
        ("shut down", FORM),
        ("restart", STUBBORN),
    ],
    ids=["restart", "restart-in-a-call", "killed", "shut-down", "restart-stubborn"],
)
def test_a_kernel_takes_its_servers_with_it(kernel, way, cell):
    kernel.run(cell)
    old = servers()
    assert len(old) >= (2 if cell is STUBBORN else 1)
    if way == "restart in a call":
        kernel.run(SLOW)
        old = servers()
        kernel.client.execute(SLOW_CALL)
        time.sleep(0.3)
    if way == "killed":
        psutil.Process(kernel.manager.provisioner.process.pid).kill()
    elif way == "shut down":
        kernel.manager.shutdown_kernel()
    else:
        kernel.manager.restart_kernel(now=True)
    wait_until(lambda: not any(process.is_running() for process in old), f"{old} after {way}")
    if way.startswith("restart"):
        kernel.client.wait_for_ready(timeout=30)
        assert kernel.run(CALENDAR) == "1\n"
