"""LEDGER.md and the README say what a run of the ledger says."""

import pytest

from workbench import ledger
from workbench.ledger import page
from workbench.ledger.claim import Claim, Finding, Later

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def complete(findings):
    """The findings in their order, of a machine that has all that the course installs."""
    found = list(findings.values())
    if lacks := page.problems(found):
        pytest.skip(f"this machine lacks: {lacks}")
    return found


def test_the_page_is_what_the_script_writes(complete):
    assert page.PAGE.read_text("utf-8") == page.whole(complete)


def test_the_readme_is_what_the_script_writes(complete):
    readme = page.README.read_text("utf-8")
    assert page.into(readme, page.brief(complete)) == readme


def test_every_claim_has_a_row_of_four_cells():
    rows = [line for line in page.PAGE.read_text("utf-8").splitlines() if line.startswith("| [2")]
    assert [row[3:8] for row in rows] == list(ledger.CLAIMS)
    assert {row.replace("\\|", "").count("|") for row in rows} == {5}


def test_its_links_lead_to_sources(repo):
    for id, claim in ledger.CLAIMS.items():
        link = f"[{id}](notebooks/{claim.notebook}.ipynb)"
        assert link.replace("(", "(../../") in page.PAGE.read_text("utf-8")


def finding(verdict, today=None, instead="another"):
    claim = Claim("26-30", "A | claim.", "ch26/x", {"a<b": 1}, lambda bench: {}, instead)
    return Finding(claim, verdict, claim.says, {"a<b": 2} if today is None else today)


def test_a_row_stays_in_its_cells():
    shown = page.whole([finding(ledger.DIFFERS)]).splitlines()[-1]
    cells = ["[26-30](../../notebooks/ch26/x.ipynb)", "A \\| claim.", "a&lt;b: 1"]
    assert shown == f"| {' | '.join(cells)} | **differs**: another |"


def test_the_readme_shows_what_differs_and_counts_the_rest():
    shown = page.brief([finding(ledger.DIFFERS), finding(ledger.HOLDS)])
    assert "2 claims: 1 hold, 1 differ, 0 need a network" in shown
    assert shown.count("[26-30]") == 1


@pytest.mark.parametrize("readme", ["", page.START, f"{page.END} {page.START}"])
def test_a_readme_without_its_marks_is_left_alone(readme):
    with pytest.raises(ValueError, match=r"README\.md has no"):
        page.into(readme, "shown")


@pytest.mark.parametrize(
    ("found", "written"),
    [
        (finding(ledger.HOLDS), True),
        (finding(ledger.BROKEN), False),
        (finding(ledger.NETWORK, {"a<b": Later("uv sync (it brings Node)")}), False),
        (finding(ledger.NETWORK, {"a<b": Later("python -m workbench environment bench")}), True),
    ],
)
def test_a_run_that_lacks_a_part_is_not_written(found, written):
    assert (page.problems([found]) == []) == written
