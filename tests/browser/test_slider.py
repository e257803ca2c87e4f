"""`drag_slider` does to a slider what a hand does, and the kernel hears of it."""

import pytest
from playwright.sync_api import expect

from tests.browser.lab import drag_slider, readout

pytestmark = pytest.mark.timeout(180)

SLIDER = """
import ipywidgets
slider = ipywidgets.IntSlider(value=1, min=0, max=20)
heard = []
slider.observe(lambda change: heard.append(change["new"]), "value")
slider
"""


def test_a_slider_follows_the_mouse(lab, open_notebook):
    notebook = open_notebook(lab.write("slider.ipynb", SLIDER))
    notebook.run_all()
    slider = notebook.panel.locator(".widget-slider")
    for fraction, value in ((1.0, 20), (0.5, 10), (0.0, 0)):
        drag_slider(slider, fraction)
        expect(slider.locator(".widget-readout")).to_have_text(str(value))
    assert readout(slider) == "0"
    assert notebook.execute("print(slider.value, heard[-1])") == "0 0\n"


@pytest.mark.parametrize(("fraction", "servers"), [(1.0, 60), (0.5, 30), (0.0, 0)])
def test_the_slider_of_notebook_08_draws_the_bill_anew(costs, fraction, servers):
    cell, bill = costs.cell("budget(bill"), int(costs.execute("print(bill)"))
    drag_slider(cell.locator(".widget-slider"), fraction)
    expect(cell).to_contain_text(
        f"{servers} servers of {bill:,} tokens: {servers * bill:,} of 128,000"
    )


@pytest.fixture(scope="module")
def costs(open_notebook):
    notebook = open_notebook("ch26/08_what_a_server_costs.ipynb")
    notebook.run_all()
    return notebook
