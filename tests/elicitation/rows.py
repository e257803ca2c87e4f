"""What a person's client may send back, and what a server may then do."""

from __future__ import annotations

from typing import Any

BOOKED, NO, ASKED, REFUSED = "booked", "no", "asked again", "refused"


def rows(field: str, at: str) -> dict[str, tuple[dict[str, Any], str]]:
    """Each row: the `inputResponses` of a retry, and what becomes of it. Only one books."""
    good = {field: at}
    accept = {"action": "accept", "content": good}
    return {
        "accept": ({"when": accept}, BOOKED),
        "accept, and more than was asked": ({"when": accept, "other": accept}, BOOKED),
        "decline": ({"when": {"action": "decline"}}, NO),
        "cancel": ({"when": {"action": "cancel"}}, NO),
        "decline with content": ({"when": {"action": "decline", "content": good}}, NO),
        "cancel with content": ({"when": {"action": "cancel", "content": good}}, NO),
        "accept without content": ({"when": {"action": "accept"}}, ASKED),
        "accept with null": ({"when": {"action": "accept", "content": None}}, ASKED),
        "accept with nothing in it": ({"when": {"action": "accept", "content": {}}}, ASKED),
        "accept with a list": ({"when": {"action": "accept", "content": [at]}}, ASKED),
        "accept with a string": ({"when": {"action": "accept", "content": at}}, ASKED),
        "accept of another field": ({"when": {"action": "accept", "content": {"x": at}}}, ASKED),
        "accept of no date": ({"when": {"action": "accept", "content": {field: "soon"}}}, ASKED),
        "accept of an empty date": ({"when": {"action": "accept", "content": {field: ""}}}, ASKED),
        "accept of a number": ({"when": {"action": "accept", "content": {field: 7}}}, ASKED),
        "accept of true": ({"when": {"action": "accept", "content": {field: True}}}, ASKED),
        "accept of null": ({"when": {"action": "accept", "content": {field: None}}}, ASKED),
        "another key": ({"then": accept}, ASKED),
        "no key": ({}, ASKED),
        "an unknown action": ({"when": {"action": "perhaps", "content": good}}, REFUSED),
        "a capital letter": ({"when": {"action": "Accept", "content": good}}, REFUSED),
        "no action": ({"when": {"content": good}}, REFUSED),
        "a null action": ({"when": {"action": None, "content": good}}, REFUSED),
        "a true action": ({"when": {"action": True, "content": good}}, REFUSED),
        "a list of actions": ({"when": {"action": ["accept"], "content": good}}, REFUSED),
        "an empty answer": ({"when": {}}, REFUSED),
        "a null answer": ({"when": None}, REFUSED),
        "a string for an answer": ({"when": "accept"}, REFUSED),
        "a list for an answer": ({"when": [accept]}, REFUSED),
        "true for an answer": ({"when": True}, REFUSED),
    }
