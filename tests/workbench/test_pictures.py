"""Charts and tables: the same bytes twice, and words for those who do not see them."""

import hashlib
import subprocess
import sys

import pytest

from mcp_bare import revision
from workbench.charts import bars, integrations, spans
from workbench.tables import table

TICKS = tuple(reversed((*revision.MODERN, *revision.LEGACY)))
LIVES = [("ping", TICKS[0], TICKS[3]), ("elicitation", TICKS[2], None)]
CHARTS = {
    "integrations": lambda: integrations(max_n=6, m=4),
    "bars": lambda: bars({"one tool": 361, "all three": 1012}, "bytes", "What is read"),
    "spans": lambda: spans(LIVES, TICKS, "What came and went"),
}
WORDS = {
    "integrations": "N = 6: 24 by pairs, 10 with a protocol",
    "bars": "all three: 1,012",
    "spans": "elicitation: 2025-06-18 to today",
}
ELSEWHERE = """
import hashlib, matplotlib
matplotlib.rcParams.update({"font.size": 30, "savefig.dpi": 20, "axes.facecolor": "red"})
from workbench.charts import integrations
print(hashlib.sha256(integrations(max_n=6, m=4).png).hexdigest())
import sys; print("matplotlib.pyplot" in sys.modules)
"""


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_the_same_bytes_twice_and_says_what_it_shows(name):
    picture = CHARTS[name]()
    assert picture == CHARTS[name]()
    assert picture.png.startswith(b"\x89PNG")
    assert not {chunk for chunk in (b"tEXt", b"tIME", b"iTXt") if chunk in picture.png}
    assert WORDS[name] in repr(picture)


def test_another_process_with_other_settings_draws_the_same(repo):
    told = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], cwd=repo, capture_output=True, text=True, check=True
    )
    digest = hashlib.sha256(CHARTS["integrations"]().png).hexdigest()
    assert told.stdout.split() == [digest, "False"]


def test_a_notebook_shows_a_chart_at_its_size_and_keeps_the_words():
    data, metadata = CHARTS["bars"]()._repr_mimebundle_()
    assert set(data) == {"image/png", "text/plain"}
    assert 500 < metadata["image/png"]["width"] < 900


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            [["a", 7], ["longer", 1234]],
            "name        n\n──────  ─────\na           7\nlonger  1,234",
        ),
        ([["a", "7"], ["b", None]], "name  n\n────  ────\na     7\nb     None"),
        ([["a", True]], "name  n\n────  ────\na     True"),
        ([], "name  n\n────  ─"),
    ],
)
def test_a_table_is_aligned_text(rows, text):
    assert repr(table(rows, ["name", "n"])) == text


def test_a_table_escapes_what_came_over_the_wire():
    html = table([["<script>", "\u202e"]], ["<b>", "x"])._repr_html_()
    assert "<script" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;" in html
    assert r"\u202e" in html


def test_a_row_that_is_too_short_is_named():
    with pytest.raises(ValueError, match="1 cells under 2 headers"):
        table([["a", 1], ["b"]], ["name", "n"])
