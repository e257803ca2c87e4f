"""MEASURED. Ten thousand hostile inputs in one run, at both ends of both transports and without.

The same inputs each time. MORE_EXAMPLES=20 throws twenty times as many, others each time:

    MORE_EXAMPLES=20 pytest tests/hostile --timeout=0

What one of them found stands as a plain test in the room where it was mended.
"""

from functools import cache

import pytest

from tests.hostile import in_memory, over_http, over_stdio

DUE = 10_000
THROWERS = {
    "stdio, the server": over_stdio.stdio_server,
    "stdio, the server's end": over_stdio.stdio_server_ends,
    "stdio, the client": over_stdio.stdio_client,
    "HTTP, the server": over_http.http_server,
    "HTTP, the guard": over_http.http_guard,
    "HTTP, the client": over_http.http_client,
    "messages": in_memory.messages,
    "header sets": in_memory.header_sets,
    "SSE streams": in_memory.sse_streams,
    "challenges": in_memory.challenges,
    "tokens": in_memory.bearer_tokens,
    "states": in_memory.states,
    "schemas": in_memory.schemas,
    "forms": in_memory.forms,
    "HTTP heads": in_memory.http_heads,
    "tapes": in_memory.tapes,
    "addresses": in_memory.addresses,
}


@cache
def thrown(what):
    """Throw, once a run; how many inputs it was."""
    return THROWERS[what]()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("what", THROWERS)
def test_nothing_hostile_does_harm(what, record_property):
    record_property("thrown", thrown(what))
    assert thrown(what) > 0


@pytest.mark.timeout(600)
def test_it_was_ten_thousand(record_property):
    total = sum(thrown(what) for what in THROWERS)
    record_property("thrown", total)
    assert total >= DUE, f"only {total}"


def test_what_a_peer_floods_us_with_is_kept_up_to_a_limit():
    assert over_stdio.no_tape_grows() <= 256 << 20
