"""A sealed requestState: what comes back was written by an attacker until proven otherwise."""

from __future__ import annotations

import pytest

from mcp_bare.call import Call, Caller
from mcp_bare.errors import StateRejected
from mcp_bare.server import Server
from mcp_bare.state import Seal, peek
from tests.oracle.servers.toolkit_server import build
from tests.protocol.asking import call, error, meta

KEY = b"0123456789abcdef"
PAYLOAD = {"title": "Dentist", "n": 7, "nested": {"a": [None, True, "✓"]}}


def of(principal=None, method="tools/call", name="book", arguments=None, **more) -> Call:
    params = {"name": name, "arguments": arguments or {"title": "Dentist"}, "_meta": meta(), **more}
    return Call(Server("x", "1"), method, params, Caller(principal))


TOKEN = Seal(KEY).close(PAYLOAD, of("ada"), now=1000)


def opened(token, call=None, key=KEY, now=1001.0):
    return Seal(key).open(token, of("ada") if call is None else call, now=now)


def test_what_was_sealed_comes_back_also_in_another_process_with_the_key():
    assert opened(TOKEN) == PAYLOAD
    assert Seal(KEY, ttl_s=1).open(TOKEN, of("ada"), now=1001) == PAYLOAD


def test_what_a_retry_adds_and_metadata_do_not_matter():
    again = of("ada", inputResponses={"when": {"action": "cancel"}}, requestState=TOKEN)
    assert opened(TOKEN, again) == PAYLOAD


def test_every_flipped_byte_is_found():
    raw = TOKEN.encode()
    for index in range(len(raw)):
        for bit in (1, 2, 4, 8, 16, 32, 64):
            changed = bytearray(raw)
            changed[index] ^= bit
            with pytest.raises(StateRejected):
                opened(changed.decode("ascii"))


def test_every_truncation_and_every_insertion_is_found():
    for index in range(len(TOKEN)):
        for wrong in (TOKEN[:index], TOKEN[index + 1 :], TOKEN[:index] + "A" + TOKEN[index:],
                      TOKEN[:index] + TOKEN[index + 1 :]):  # fmt: skip
            with pytest.raises(StateRejected):
                opened(wrong)


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (of("eve"), "another principal"),
        (of(None), "nobody"),
        (of("None"), "somebody called None"),
        (of(""), "an empty principal"),
        (of("ada", name="cancel"), "another tool"),
        (of("ada", method="prompts/get"), "another method"),
        (of("ada", arguments={"title": "Tea"}), "other arguments"),
        (of("ada", arguments={"title": "Dentist", "x": 1}), "more arguments"),
        (of("ada", uri="a://b"), "another parameter"),
    ],
)
def test_it_is_good_for_this_call_of_this_caller_only(other, what):
    with pytest.raises(StateRejected):
        opened(TOKEN, other)


@pytest.mark.parametrize(
    ("now", "good"), [(1000, True), (1299.9, True), (1300, False), (1e9, False)]
)
def test_it_expires(now, good):
    if good:
        assert opened(TOKEN, now=now) == PAYLOAD
    else:
        with pytest.raises(StateRejected) as caught:
            opened(TOKEN, now=now)
        assert caught.value.reason == "expired"


@pytest.mark.parametrize(
    "token",
    ["", ".", "..", "v1", "v1.", "v1..", "v1.a", "v1.a.b", "v1.a.b.c", f"{TOKEN}.", f".{TOKEN}",
     f"{TOKEN}.{TOKEN}", TOKEN.replace("v1", "v2"), TOKEN.replace("v1", "V1"), TOKEN.upper(),
     f" {TOKEN}", f"{TOKEN}\n", f"{TOKEN}=", "eyJ0aXRsZSI6IkRlbnRpc3QifQ==", "é", "v1.é.é",
     f"{TOKEN[:-1]}é", f"{TOKEN}\u0000", "v1.\ud800.\udfff", f"{TOKEN[:-3]}\ud83d", "日本.✓.x",
     "x" * 1_000_000, "." * 100_000],
)  # fmt: skip
def test_nothing_else_is_a_token(token):
    with pytest.raises(StateRejected):
        opened(token)


@pytest.mark.parametrize("key", [b"another key of 16", KEY + b"0", KEY[::-1]])
def test_another_key_opens_nothing(key):
    with pytest.raises(StateRejected):
        opened(TOKEN, key=key)


@pytest.mark.parametrize("key", [b"", b"short", b"0123456789abcde"])
def test_a_short_key_is_refused(key):
    with pytest.raises(ValueError, match="16"):
        Seal(key)


def test_the_refusal_tells_the_client_nothing():
    reasons = set()
    for token, now in ((TOKEN, 1e9), (TOKEN[:-1] + "A", 1001), ("x", 1001)):
        with pytest.raises(StateRejected) as caught:
            opened(token, now=now)
        reasons.add((caught.value.code, caught.value.message, caught.value.data))
    assert reasons == {(-32602, "Invalid or expired requestState (basic/patterns/mrtr)", None)}


def test_a_sealed_state_is_not_secret():
    assert peek(TOKEN.split(".")[1].replace("-", "+").replace("_", "/") + "==")[1] == PAYLOAD


# --- in a server ---

AT = {"when": {"action": "accept", "content": {"at": "2030-01-31T09:00:00Z"}}}


def asked_for(title="Dentist", **how):
    return call(build(), "book", {"title": title}, **how)["requestState"]


def test_two_servers_that_share_the_key_share_the_state():
    found = call(build(), "book", {"title": "Dentist"}, requestState=asked_for(), inputResponses=AT)
    assert found["content"][0]["text"] == "booked Dentist at 2030-01-31T09:00:00Z"


@pytest.mark.parametrize("token", [asked_for("Tea"), asked_for()[:-1], "", "é", "v1.a.b", "\ud83d"])
def test_a_state_that_fails_is_invalid_params_and_nothing_is_booked(token):
    params = {"name": "book", "arguments": {"title": "Dentist"}, "inputResponses": AT}
    refusal = error(build(), "tools/call", {**params, "requestState": token})
    assert refusal["code"] == -32602
    assert "requestState" in refusal["message"]


def test_the_state_of_one_principal_is_not_another_s():
    token = asked_for(caller=Caller("ada"))
    params = {"name": "book", "arguments": {"title": "Dentist"}, "inputResponses": AT}
    refusal = error(build(), "tools/call", {**params, "requestState": token}, caller=Caller("eve"))
    assert refusal["code"] == -32602
