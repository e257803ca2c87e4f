"""What the notebooks of the three hands are drawn with: columns, excerpts, a bar in parts."""

import re

import pytest

from workbench.charts import stacked
from workbench.columns import columns, excerpt

ROWS = {"by hand": {"name": 3, "schema": 9}, "SDK": {"name": 3, "schema": 0}}


def test_columns_escape_what_they_show():
    shown = columns({"a <title>": "if a < b & c:\n    <script>"})
    html = shown._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html and "a &lt;title&gt;" in html
    assert repr(shown) == "── a <title>\nif a < b & c:\n    <script>"


def test_an_excerpt_is_dedented_and_ends_where_it_is_told():
    text = excerpt("toy_servers/incidents.py", "def unresolved", "ORDER BY")
    assert text.startswith("def unresolved(") and "ORDER BY" in text.splitlines()[-1]


def test_an_excerpt_may_start_with_the_decorator_above():
    text = excerpt("toy_servers/incidents.py", '"name": "open_incident"', "def open", before=2)
    assert text.startswith("@server.tool(\n    {\n") and text.endswith("def open_incident(call):")


@pytest.mark.parametrize(("first", "last"), [("no such line", "x"), ("def unresolved", "no such")])
def test_an_excerpt_that_is_not_there_any_more_is_an_error(first, last):
    with pytest.raises(ValueError, match="no such"):
        excerpt("toy_servers/incidents.py", first, last)


def test_bars_in_parts_say_in_words_what_they_show():
    picture = stacked(ROWS, "tokens", "Two servers")
    assert picture.words.splitlines() == [
        "Two servers, in tokens:",
        "by hand: 12 = name 3, schema 9",
        "SDK: 3 = name 3",
    ]
    assert picture.png == stacked(ROWS, "tokens", "Two servers").png
    assert re.match(rb"\x89PNG", picture.png)
