"""Pictures of notebooks in JupyterLab, light and dark, as a reader sees them.

    python tests/browser/shots.py ch26/01_messages_on_a_wire ch26/05_the_server_asks_back /tmp/shots

Each notebook is run, then photographed: the window as it opens, and the whole notebook cut into
pieces of one screen each. The last argument is the folder. `--as-built` does not run it first;
`--all` takes every screen, not only the first three.
"""

import argparse
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, from anywhere

from tests.browser.lab import REPO, Lab, Notebook, browser

WINDOW = {"width": 1280, "height": 900}
FIRST = 3
SCROLLS = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-WindowedPanel-outer"


def shoot(notebook: Notebook, stem: str, out: Path, most: int) -> list[Path]:
    """Photograph the window at each scroll position, in both themes."""
    made = []
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        notebook.theme(theme)
        height, step = notebook.page.eval_on_selector(
            SCROLLS, "panel => [panel.scrollHeight, panel.clientHeight - 60]"
        )
        for number in range(min(most, -(-height // step))):
            notebook.page.eval_on_selector(
                SCROLLS, "(panel, top) => { panel.scrollTop = top }", number * step
            )
            notebook.page.wait_for_timeout(300)
            file = out / f"{stem}-{theme.split()[-1].lower()}-{number + 1:02}.png"
            notebook.page.screenshot(path=file)
            made.append(file)
    return made


def main() -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="+", metavar="NOTEBOOK")
    parser.add_argument("out", type=Path)
    parser.add_argument("--as-built", action="store_true", help="do not run the notebook")
    parser.add_argument("--all", action="store_true", help="every screen, not the first three")
    args = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        parser.error("no chromium on PATH; `apt-get install chromium` brings it")
    args.out.mkdir(parents=True, exist_ok=True)
    with Lab(REPO / "notebooks") as lab, browser(chromium) as chrome:
        for name in args.names:
            page = chrome.new_page(viewport=WINDOW)
            notebook = Notebook(lab, page, f"{name.removesuffix('.ipynb')}.ipynb")
            notebook.command("application:toggle-left-area")
            if not args.as_built:
                notebook.run_all()
            files = shoot(notebook, Path(name).stem, args.out, 10_000 if args.all else FIRST)
            print(*files, sep="\n")
            lab.end_kernels()
            page.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
