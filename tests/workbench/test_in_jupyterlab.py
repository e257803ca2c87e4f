"""The view in a JupyterLab that does not trust the notebook: what its sanitizer lets through."""

import nbformat
import pytest

from mcp_bare.tape import CAME, NOTE, SENT, Tape
from tests.browser.lab import Lab, Notebook, browser
from workbench.tables import table
from workbench.tape_view import show

pytestmark = pytest.mark.timeout(180)

STYLES = """html => {
  const drawn = new DOMParser().parseFromString(html, 'text/html');
  const styles = root => [...root.querySelectorAll('[style]')].map(e => e.getAttribute('style')
    .replace(/\\s+/g, '').replace(/;$/, ''));
  return [styles(drawn.body), styles(document.querySelector('.jp-OutputArea .jp-RenderedHTML'))];
}"""


@pytest.fixture(scope="module")
def view():
    tape = Tape()
    tape.record(SENT, b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"k":"v"}}}')
    tape.record(CAME, b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"<script>"}}')
    tape.record(CAME, b'{"jsonrpc":"2.0","id":2,"result":{"isError":true,"on":"2026-07-28"}}')
    tape.record(NOTE, b"", "nobody waits")
    return show(tape)


@pytest.fixture(scope="module")
def page(tmp_path_factory, chromium, view):
    folder = tmp_path_factory.mktemp("notebooks")
    shown = [view, table([["<b>", 1]], ["a", "n"])]
    outputs = [
        nbformat.v4.new_output(
            "display_data", {"text/html": one._repr_html_(), "text/plain": repr(one)}
        )
        for one in shown
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", outputs=outputs)])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, folder / "untrusted.ipynb")
    with Lab(folder) as lab, browser(chromium) as chrome:
        yield Notebook(lab, chrome.new_page(), "untrusted.ipynb")


def test_no_style_of_a_row_is_taken_away(page, view):
    wanted, kept = page.page.evaluate(STYLES, view.html)
    assert kept == wanted


def test_the_bytes_open_with_one_click(page):
    first = page.panel.locator("details").first
    assert not first.locator("pre").first.is_visible()
    first.locator("summary").click()
    assert first.locator("pre").last.inner_text().startswith('{"jsonrpc":"2.0","id":1')


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_the_text_has_the_theme_s_own_colour(page, theme):
    page.theme(theme)
    same = page.page.evaluate("""() => {
      const colour = e => getComputedStyle(e).color;
      const output = document.querySelector('.jp-OutputArea .jp-RenderedHTML');
      return colour(output) === colour(output.querySelector('b'));
    }""")
    assert same
