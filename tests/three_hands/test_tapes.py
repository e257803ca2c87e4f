"""The recordings that stand in for a hand say what the hand says."""

from __future__ import annotations

import pytest

from mcp_bare.tape import Tape, compare
from workbench import hands, node, recorded, scenarios

TAPES = {
    hands.tape_name(name, failing): name
    for name in hands.HANDS
    for failing in (False, True)
    if name != "bare"
}


@pytest.mark.parametrize(("tape", "name"), TAPES.items())
def test_the_hand_says_what_is_on_its_tape(hand, tape: str, name: str) -> None:
    hand(name)
    said = Tape()
    scenarios.SCENARIOS[tape].ask(scenarios.SCENARIOS[tape].live(), said)
    assert compare(said, recorded.load(tape)) == []
    about = recorded.load(tape).about
    assert about["server"] == hands.hand(name).label


def test_where_it_is_missing_the_tape_is_played_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path
) -> None:
    monkeypatch.setattr(node, "search_path", lambda: str(tmp_path))
    with hands.open("typescript-v1", or_tape=True) as client:
        assert (client.version, len(client.list_tools())) == ("2025-11-25", 3)
    assert capsys.readouterr().out.startswith("No typescript-v1 (Node is not here): this is the ")
