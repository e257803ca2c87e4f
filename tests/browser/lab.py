"""JupyterLab on a free port of this machine, and a notebook in it as a person sees it.

    with Lab(folder) as lab, browser(chromium) as chrome:
        notebook = Notebook(lab, chrome.new_page(), "ch26/09_forms_and_pages.ipynb")
        notebook.run_all()
        notebook.page.get_by_role("button", name="Send").first.click()
        lab.execute("len(client.tape)")

Used by the tests and by `shots.py`. Everything waits with a time-out, and everything that was
started is ended: the server, its kernels, and what they started.
"""

import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import psutil
from jupyter_client import BlockingKernelClient
from playwright.sync_api import Browser, Locator, Page, sync_playwright

REPO = Path(__file__).resolve().parents[2]
START, RUN = 60.0, 90.0  # seconds
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
# Every cell in the page, whether it can be seen or not: else what is looked for may not be there.
SETTINGS = {
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}

# The errors of all cells that did not announce one.
FAILED = """() => window.jupyterapp.shell.currentWidget.content.widgets
  .filter(cell => cell.model.type === 'code')
  .filter(cell => !(cell.model.getMetadata('tags') ?? []).includes('raises-exception'))
  .flatMap(cell => cell.outputArea.model.toJSON())
  .filter(output => output.output_type === 'error')
  .map(output => `${output.ename}: ${output.evalue}`)"""


class Lab:
    """A JupyterLab of this very Python, with settings, kernels and files of its own."""

    def __init__(self, notebooks: Path | None = None):
        self.home = Path(tempfile.mkdtemp(prefix="mcp-bare-lab-"))
        self.root = self.home / "notebooks"
        if notebooks is None:
            self.root.mkdir()
        else:
            shutil.copytree(notebooks, self.root, ignore=shutil.ignore_patterns(".*"))
        self.port, self.token = _free_port(), secrets.token_hex(16)
        for name, settings in SETTINGS.items():
            file = self.home / "settings" / f"{name}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(settings))
        self._log = (self.home / "log").open("wb")
        self.process = subprocess.Popen(
            self._command(), cwd=self.root, env=self._env(),
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            self._wait_until_up()
        except BaseException:
            self.close()
            raise

    def _command(self) -> list[str]:
        options = {
            "ServerApp.ip": "127.0.0.1",
            "ServerApp.port": self.port,
            "ServerApp.port_retries": 0,
            "ServerApp.root_dir": self.root,
            "ServerApp.allow_root": True,
            "IdentityProvider.token": self.token,
            "LabApp.user_settings_dir": self.home / "settings",
            "LabApp.workspaces_dir": self.home / "workspaces",
            "LabApp.expose_app_in_browser": True,
            "LabApp.news_url": None,
            "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
            "LabApp.extension_manager": "readonly",
        }
        given = [f"--{name}={value}" for name, value in options.items()]
        return [sys.executable, "-m", "jupyter", "lab", "--no-browser", *given]

    def _env(self) -> dict[str, str]:
        folders = {"CONFIG_DIR": "config", "DATA_DIR": "data", "RUNTIME_DIR": "runtime"}
        jupyter = {f"JUPYTER_{name}": str(self.home / at) for name, at in folders.items()}
        path = os.pathsep.join(filter(None, [str(REPO), os.environ.get("PYTHONPATH")]))
        own = {"IPYTHONDIR": str(self.home / "ipython"), "PYTHONPATH": path, "TZ": "UTC"}
        return {**os.environ, **jupyter, **own}

    def _wait_until_up(self) -> None:
        deadline = time.monotonic() + START
        while True:
            with contextlib.suppress(OSError):
                self.api("status")
                return
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("JupyterLab does not start:\n" + self.log()[-3000:])
            time.sleep(0.1)

    def log(self) -> str:
        """What the server said."""
        return (self.home / "log").read_text(errors="replace")

    def api(self, path: str, method: str = "GET") -> Any:
        """Ask the server's REST interface."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api/{path}",
            method=method,
            headers={"Authorization": f"token {self.token}"},
        )
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, timeout=10) as answer:
            body = answer.read()
        return json.loads(body) if body else None

    def write(self, name: str, *cells: str) -> str:
        """Put a notebook with these code cells into the lab's folder; return its name."""
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(notebook, self.root / name)
        return name

    def url(self, notebook: str) -> str:
        """The address of a notebook, in a workspace that has nothing else open."""
        return f"http://127.0.0.1:{self.port}/lab/tree/{notebook}?token={self.token}&reset"

    def kernel(self, notebook: str) -> str:
        """The id of a notebook's kernel."""
        return next(s["kernel"]["id"] for s in self.api("sessions") if s["path"] == notebook)

    def execute(self, code: str, notebook: str, timeout: float = 20.0) -> str:
        """Run code in a notebook's kernel, past the browser; return what it printed."""
        client = BlockingKernelClient()
        client.load_connection_file(self.home / "runtime" / f"kernel-{self.kernel(notebook)}.json")
        client.start_channels()
        printed: list[str] = []

        def hear(message: dict) -> None:
            if message["msg_type"] == "stream":
                printed.append(message["content"]["text"])

        try:
            client.wait_for_ready(timeout)
            reply = client.execute_interactive(
                code, store_history=False, timeout=timeout, output_hook=hear
            )
        finally:
            client.stop_channels()
        if reply["content"]["status"] != "ok":
            raise RuntimeError(f"{reply['content']['ename']}: {reply['content']['evalue']}")
        return "".join(printed)

    def end_kernels(self) -> None:
        """Shut down every kernel, as closing a notebook for good does."""
        for session in self.api("sessions"):
            self.api(f"sessions/{session['id']}", "DELETE")

    def close(self) -> None:
        """End the server, its kernels, and what is left of either."""
        started = [psutil.Process(self.process.pid)] if self.process.poll() is None else []
        for process in list(started):
            started += process.children(recursive=True)
        self.process.send_signal(signal.SIGTERM)
        _, stubborn = psutil.wait_procs(started, timeout=10)
        for process in stubborn:
            with contextlib.suppress(psutil.Error):
                process.kill()
        self.process.wait(10)
        self._log.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self) -> "Lab":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@contextlib.contextmanager
def browser(chromium: str) -> Iterator[Browser]:
    """A headless Chromium."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        try:
            yield launched
        finally:
            launched.close()


class Notebook:
    """One notebook, open in a page."""

    def __init__(self, lab: Lab, page: Page, path: str):
        self.lab, self.page, self.path = lab, page, path
        page.set_default_timeout(15_000)
        page.goto(lab.url(path))
        self.panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        self.panel.wait_for(timeout=START * 1000)
        page.wait_for_function(
            "() => window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel"
            "?.connectionStatus === 'connected'",
            timeout=START * 1000,
        )
        self.wait_idle()

    def command(self, name: str, timeout: float = 15.0, **arguments: Any) -> None:
        """Run one of JupyterLab's own commands to its end: command("notebook:run-all-cells")."""
        self.page.evaluate(
            """([name, args, ms]) => Promise.race([
              window.jupyterapp.commands.execute(name, args).then(() => null),
              new Promise((_, no) => setTimeout(() => no(new Error(`${name}: time-out`)), ms))
            ])""",
            [name, arguments, timeout * 1000],
        )

    def run_all(self, timeout: float = RUN) -> None:
        """Run all cells, and wait until the kernel is idle. Raises where a cell failed."""
        self.command("notebook:run-all-cells", timeout)
        self.wait_idle(timeout)
        if failed := self.page.evaluate(FAILED):
            raise AssertionError(f"{self.path}: a cell failed: {failed}")

    def run_cell(self, text: str, timeout: float = RUN) -> Locator:
        """Run the cell whose source holds this text, with Shift+Enter; return the cell."""
        cell = self.cell(text)
        cell.locator(".jp-InputArea-editor").click()
        self.page.keyboard.press("Shift+Enter")
        self.wait_idle(timeout)
        return cell

    def wait_idle(self, timeout: float = RUN) -> None:
        """Wait until the kernel is idle and no cell waits for it."""
        self.page.wait_for_function(
            """() => {
              const panel = window.jupyterapp.shell.currentWidget;
              const kernel = panel?.sessionContext?.session?.kernel;
              const waiting = [...document.querySelectorAll('.jp-InputArea-prompt')]
                .some(prompt => prompt.textContent.includes('*'));
              return kernel?.status === 'idle' && !waiting;
            }""",
            timeout=timeout * 1000,
        )

    def execute(self, code: str) -> str:
        """Run code in this notebook's kernel; return what it printed."""
        return self.lab.execute(code, self.path)

    def cell(self, text: str) -> Locator:
        """The code cell whose source holds this text."""
        source = self.page.locator(".jp-InputArea-editor", has_text=text)
        return self.panel.locator(".jp-CodeCell", has=source).first

    def question(self, text: str) -> Locator:
        """The last question drawn whose text holds this."""
        return self.panel.locator(".mcp-question", has_text=text).last

    def theme(self, name: str) -> None:
        """Change the theme: theme("JupyterLab Dark")."""
        self.command("apputils:change-theme", theme=name)
        light = "true" if "Light" in name else "false"
        self.page.wait_for_selector(f"body[data-jp-theme-light='{light}']", state="attached")


def drag_slider(slider: Locator, fraction: float) -> None:
    """Drag the handle of an ipywidgets slider to a place between 0 (its start) and 1 (its end).

    `slider` is the widget, as `notebook.cell("...").locator(".widget-slider")` finds it. The mouse
    is pressed on the handle, moved in steps, and let go: what a hand does.
    """
    slider.scroll_into_view_if_needed()
    page, handle = slider.page, slider.locator(".noUi-handle").first
    start, track = handle.bounding_box(), slider.locator(".noUi-base").first.bounding_box()
    assert start and track
    y = start["y"] + start["height"] / 2
    page.mouse.move(start["x"] + start["width"] / 2, y)
    page.mouse.down()
    page.mouse.move(track["x"] + track["width"] * fraction, y, steps=12)
    page.mouse.up()


def readout(slider: Locator) -> str:
    """The number that stands beside a slider."""
    return re.sub(r"\s+", " ", slider.locator(".widget-readout").inner_text()).strip()
