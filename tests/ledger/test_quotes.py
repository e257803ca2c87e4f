"""A sentence is found by its sums, whatever stands between its words; an altered one is not."""

import re

import pytest

from workbench import ledger
from workbench.ledger import claim, quotes

SENTENCE = "A server's name MUST NOT be taken for a permission (see the list)."
SOURCE = quotes.Source("spec", ("*.mdx", "more/*.mdx"), "git clone somewhere spec-text")
KEPT = quotes.take("spec", SENTENCE)


@pytest.fixture
def pages(tmp_path):
    """Write one page and get the pages; the second page is always there."""
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "second.mdx").write_text("Nothing here.")

    def write(text, name="page.mdx"):
        (tmp_path / name).write_text(text)
        return quotes.Pages(SOURCE, tmp_path)

    return write


@pytest.mark.parametrize(
    "text",
    [
        SENTENCE,
        f"Before it. {SENTENCE} After it.",
        "- A server's name **MUST NOT** be\n  taken for a _permission_ (see the list).",
        "A [server's](/specification/x#y) name MUST NOT be taken\nfor a permission (see the list).",
        "A [server's][long name] `name` MUST NOT be taken for a permission (see the list)",
        "<Note>\n  A server’s name MUST NOT be taken for a <b>permission</b> {/* no */}\n"
        "(see the list).</Note>",
        "| A server's name | MUST NOT | be taken | for a permission (see the list) |",
    ],
)
def test_found_across_line_breaks_and_markdown(pages, text):
    assert pages(text).find(KEPT) == "page.mdx"


@pytest.mark.parametrize(
    "text",
    [
        "",
        SENTENCE.replace("permission", "promise"),
        SENTENCE.replace("MUST NOT", "MUST"),
        SENTENCE.replace("MUST NOT", "must not"),
        SENTENCE.replace("the list", "list"),
        SENTENCE.removesuffix(" list)."),
        "A server's name MUST NOT be. Taken, at last, for a permission (see the list).",
    ],
)
def test_not_found_with_a_word_altered_added_or_missing(pages, text):
    assert pages(text).find(KEPT) is None


def test_found_on_the_page_where_it_stands(pages):
    pages("Another sentence.", "first.mdx")
    assert pages(SENTENCE, "more/third.mdx").find(KEPT) == "more/third.mdx"


def test_the_start_alone_is_not_enough(pages):
    again = f"A server's name is long. {SENTENCE}"
    assert pages(again).find(KEPT) == "page.mdx"
    assert pages("A server's name is long.").find(KEPT) is None


def test_a_sentence_too_short_to_be_found_is_refused():
    with pytest.raises(ValueError, match="2 words"):
        quotes.take("spec", "No more.")


def test_no_word_of_a_quote_is_kept():
    rows = [line for line in quotes.TABLE.read_text().splitlines() if not line.startswith("#")]
    row = re.compile(r"2[67]-\d\d (spec|a2a|acp|sdk) \d+ [0-9a-f]{12} [0-9a-f]{64}")
    assert rows and all(row.fullmatch(line) for line in rows)


# --- what a quote does to a verdict ---


@pytest.fixture
def quoted(monkeypatch, pages):
    """A claim that is nothing but this quote, and a run with or without a text."""
    monkeypatch.setattr(ledger, "QUOTES", {"26-47": [KEPT]})
    monkeypatch.setitem(quotes.SOURCES, "spec", SOURCE)

    def run(text=None):
        texts = {} if text is None else {"spec": pages(text).folder}
        [finding] = ledger.run(["26-47"], texts)
        return finding

    return run


def test_without_the_text_it_needs_the_network_and_names_the_command(quoted):
    finding = quoted()
    assert finding.verdict == ledger.NETWORK
    assert finding.how == (
        "git clone somewhere spec-text && python -m workbench ledger 26-47 --spec spec-text"
    )


def test_with_the_text_it_holds_and_names_the_page(quoted):
    finding = quoted(SENTENCE)
    assert finding.verdict == ledger.HOLDS
    assert finding.notes == (f"{KEPT.length} words stand on page.mdx",)


def test_with_a_text_that_says_something_else_it_differs(quoted):
    finding = quoted(SENTENCE.replace("MUST NOT", "MAY"))
    assert (finding.verdict, finding.how) == (ledger.DIFFERS, f"{claim.QUOTED}: 0, not 1")


def test_a_checkout_without_some_of_the_pages_settles_nothing(quoted, tmp_path):
    (tmp_path / "more" / "second.mdx").unlink()
    finding = quoted("Another sentence.")
    assert finding.verdict == ledger.NETWORK
    assert finding.notes == ("the checkout lacks more/*.mdx",)
