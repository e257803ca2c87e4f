"""Without Node the reference server's claims are read off its recordings, and say so."""

import re

import pytest

from workbench import ledger, servers
from workbench.ledger import everything, printed

FROM_TAPES = ["26-13", "26-15", "26-17", "26-21", "26-22", "26-23", "26-39", "26-41", "26-43"]
LABEL = re.compile(r"from the recording of \d{4}-\d\d-\d\d")

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.off_the_record("the scenarios speak the era before"),
]


@pytest.fixture(scope="module")
def findings():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(servers, "live_everything", lambda: None)
        patch.setattr(everything, "installed", lambda package: None)
        return {f.claim.id: f for f in ledger.run([*FROM_TAPES, "26-05", "26-18", "26-30"])}


@pytest.mark.parametrize("id", FROM_TAPES)
def test_a_claim_read_off_a_tape_is_labelled(findings, id):
    found = findings[id]
    assert found.verdict in (ledger.HOLDS, ledger.DIFFERS)
    assert [note for note in found.notes if LABEL.fullmatch(note)] == list(found.notes[:1])
    shown = "\n".join(printed.lines(printed.cells(found)))
    assert LABEL.search(" ".join(shown.split()))


def test_the_tapes_say_what_the_server_says(findings, node_parts):
    live = {finding.claim.id: finding for finding in ledger.run(FROM_TAPES)}
    same = [id for id in FROM_TAPES if live[id].today == findings[id].today]
    assert same == FROM_TAPES
    assert not any(LABEL.search(" ".join(finding.notes)) for finding in live.values())


def test_what_no_tape_holds_is_not_made_up(findings):
    assert findings["26-05"].today["on stderr"] == everything.NO_NODE
    assert findings["26-18"].verdict == ledger.NETWORK
    assert "uv sync" in findings["26-18"].how


def test_a_claim_without_the_reference_server_has_no_label(findings):
    assert findings["26-30"].notes == ()


HANDS = [f"27-{number:02}" for number in (*range(1, 28), 31, 32, 33, 36, 63, 65, 66, 67, 68)]
NO_HANDS_NEEDED = {"27-02", "27-03", "27-06", "27-10", "27-12", "27-13", "27-15", "27-17", "27-18"}
NO_HANDS_NEEDED |= {"27-01", "27-07", "27-19", "27-20", "27-21", "27-25", "27-27", "27-31", "27-32"}
NO_HANDS_NEEDED |= {"27-33", "27-36", "27-63", "27-65", "27-66", "27-67"}


def test_of_three_hands_the_one_that_is_there_is_measured():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(servers, "live_everything", lambda: None)
        patch.setattr(everything, "installed", lambda package: None)
        found = {finding.claim.id: finding for finding in ledger.run(HANDS, extra=False)}
    assert not [finding.notes for finding in found.values() if finding.verdict == ledger.BROKEN]
    known = {id for id, finding in found.items() if finding.verdict != ledger.NETWORK}
    assert known == NO_HANDS_NEEDED
    later = [finding.how for finding in found.values() if finding.verdict == ledger.NETWORK]
    assert all("uv sync" in how or "workbench environment" in how for how in later)


OVER_HTTP = [f"27-{number}" for number in range(41, 59)]
NEED_NODE = {"27-43", "27-45", "27-49", "27-51", "27-55", "27-56", "27-58"}


def test_over_http_what_needs_node_says_so_and_the_rest_is_measured():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(servers, "live_everything", lambda: None)
        patch.setattr(everything, "installed", lambda package: None)
        found = {finding.claim.id: finding for finding in ledger.run(OVER_HTTP)}
    later = {id for id, finding in found.items() if finding.verdict == ledger.NETWORK}
    assert not [finding.notes for finding in found.values() if finding.verdict == ledger.BROKEN]
    assert later == NEED_NODE | {"27-48"}
    assert all("uv sync" in found[id].how for id in later)
    assert found["27-44"].verdict == found["27-53"].verdict == ledger.HOLDS
    assert found["27-44"].today["TypeScript"] == everything.NO_NODE
