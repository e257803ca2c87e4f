"""Properties of one line and one message, on whatever bytes there are. No process, no pipe."""

import itertools
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcp_bare import framing, jsonrpc
from mcp_bare.client import Client
from mcp_bare.errors import InvalidRequest, ParseError
from tests.wire import naive

patiently = settings(deadline=None, max_examples=150)

# --- lines ---

LINES = st.lists(st.binary(max_size=20).map(lambda b: b.replace(b"\n", b"")), max_size=8)


def split(stream, cuts):
    """The stream in chunks, cut at the given places."""
    at = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    return [stream[a:b] for a, b in itertools.pairwise(at)]


def feed_all(splitter, chunks):
    return [line for chunk in chunks for line in splitter.feed(chunk)], splitter.rest()


@patiently
@given(st.binary(max_size=200), st.lists(st.integers(0, 200)))
def test_any_split_gives_the_same_lines(stream, cuts):
    whole = feed_all(framing.LineSplitter(), [stream])
    assert feed_all(framing.LineSplitter(), split(stream, cuts)) == whole
    assert feed_all(framing.LineSplitter(), [bytes([b]) for b in stream]) == whole


@patiently
@given(LINES, st.sampled_from([b"\n", b"\r\n"]), st.lists(st.integers(0, 200)))
def test_lines_come_back_as_they_went(lines, ending, cuts):
    """LF or CR LF; blank ones left out; every other byte kept, NUL and U+2028 included."""
    stream = b"".join(line + ending for line in lines)
    found, rest = feed_all(framing.LineSplitter(), split(stream, cuts))
    stripped = [line.removesuffix(b"\r") if ending == b"\n" else line for line in lines]
    assert found == [line for line in stripped if line and not line.isspace()]
    assert rest == b""


@patiently
@given(st.lists(st.integers(0, 40), max_size=8), st.integers(1, 20), st.lists(st.integers(0, 300)))
def test_no_more_than_the_limit_is_kept(sizes, limit, cuts):
    """A line past the limit becomes its head and its size, and the next one is whole again."""
    stream = b"".join(b"x" * size + b"\n" for size in sizes)
    splitter = framing.LineSplitter(limit)
    found = []
    for chunk in split(stream, cuts):
        found += splitter.feed(chunk)
        assert len(splitter.rest()) <= limit
    sizes = [size for size in sizes if size]
    assert [
        line.size if isinstance(line, framing.LineTooLong) else len(line) for line in found
    ] == sizes
    assert [isinstance(line, bytes) for line in found] == [size <= limit for size in sizes]


def test_a_line_that_comes_byte_by_byte_costs_no_more_than_its_bytes():
    """A list of one-byte pieces would take forty times the memory."""
    import tracemalloc

    splitter = framing.LineSplitter()
    tracemalloc.start()
    for _ in range(100_000):
        splitter.feed(b"x")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * 100_000


def test_a_line_holds_no_newline():
    with pytest.raises(ValueError, match="newline"):
        framing.to_line(b'{"a":\n1}')


# --- messages ---

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**308), 10**308)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None))  # lone surrogates too
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
IDS = st.text() | st.integers(-(10**20), 10**20)


@patiently
@given(IDS, st.text(), st.dictionaries(st.text(st.characters(codec=None)), VALUES, max_size=4))
@example(1, "echo", {"text": "\ud83d", "two": "\ud83d\ude00", "line": "\u2028\u0085\n\r"})
def test_a_message_comes_back_as_it_went(id, method, params):
    message = jsonrpc.request(id, method, params)
    payload = jsonrpc.dumps(message)
    assert b"\n" not in payload and b"\r" not in payload
    back = jsonrpc.parse(payload)
    assert normal(back) == normal(message)
    assert jsonrpc.id_key(back["id"]) == jsonrpc.id_key(id)


def normal(value):
    """As JSON means it: two halves of a surrogate pair are one sign."""
    return json.loads(json.dumps(value))


@patiently
@given(st.binary(max_size=200))
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
@example(b"-" + b"9" * 100_000)
@example(b"1e" + b"9" * 1000)
@example(b'"\xed\xa0\xbd"')  # a surrogate in CESU-8
@example(b"\xef\xbb\xbf{}")  # a byte order mark
def test_arbitrary_bytes_are_refused_and_nothing_else_happens(data):
    try:
        message = jsonrpc.parse(data)
    except (ParseError, InvalidRequest) as refusal:
        assert len(json.dumps(refusal.body())) < 1000
    else:
        assert jsonrpc.kind(message) in ("request", "notification", "result", "error")


@patiently
@given(VALUES)
def test_arbitrary_json_is_classified_or_refused(value):
    test_arbitrary_bytes_are_refused_and_nothing_else_happens.hypothesis.inner_test(
        json.dumps(value).encode()
    )


ALMOST = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "2.0", "2.0", "1.0", 2, None]),
        "id": st.sampled_from([1, 2, "1", None, True, 1.5]) | SCALARS | st.just([]),
        "method": st.sampled_from(["notifications/progress", "notifications/cancelled", "ping"])
        | st.text()
        | SCALARS,
        "params": st.fixed_dictionaries(
            {},
            optional={
                "progressToken": SCALARS | st.just(1),
                "requestId": SCALARS | st.just([]),
                "_meta": VALUES | st.just({"io.modelcontextprotocol/subscriptionId": 1}),
            },
        )
        | VALUES,
        "result": VALUES,
        "error": VALUES | st.just({"code": -1, "message": "m"}),
    },
)


class Link:
    """A fake link to a server that says whatever the test says."""

    def open(self, on_payload, on_close):
        self.receive = on_payload

    def send(self, payload):
        pass

    def close(self):
        pass


@patiently
@given(st.lists(st.binary(max_size=40) | ALMOST.map(lambda value: json.dumps(value).encode())))
def test_a_client_reads_on_whatever_arrives(payloads):
    """Nothing that a server writes may stop the thread that reads it."""
    link, heard = Link(), []
    client = Client(link)
    call = client.start("tools/list", on_progress=heard.append)
    for payload in payloads:
        link.receive(payload)
    last = client.start("tools/list")
    link.receive(b'{"jsonrpc":"2.0","id":2,"result":{"last":true}}')
    assert last.result(0.0) == {"last": True}
    if not call.done():
        call.cancel()


@patiently
@given(ALMOST)
def test_almost_messages_are_classified_or_refused(value):
    """And where one is refused with an id, it is the id that stood in it."""
    try:
        message = jsonrpc.parse(json.dumps(value).encode())
    except InvalidRequest as refusal:
        if refusal.request_id is not None:
            assert jsonrpc.is_id(value["id"])
            assert normal(refusal.request_id) == normal(value["id"])
    else:
        assert message["jsonrpc"] == "2.0"
        assert ("method" in message) or (("result" in message) != ("error" in message))


# line, what it is
KINDS = [
    ('{"jsonrpc":"2.0","id":1,"method":"x"}', "request"),
    ('{"jsonrpc":"2.0","id":"","method":""}', "request"),
    ('{"jsonrpc":"2.0","method":"x"}', "notification"),
    ('{"jsonrpc":"2.0","id":1,"result":{}}', "result"),
    ('{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}', "error"),
    ('{"jsonrpc":"2.0","error":{"code":1,"message":""}}', "error"),
    ('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}', "error"),
    ('{"jsonrpc":"2.0","id":null,"method":"x"}', None),
    ('{"jsonrpc":"2.0","id":null,"result":{}}', None),
    ('{"jsonrpc":"2.0","result":{}}', None),
    ('{"jsonrpc":"2.0","id":1}', None),
    ('{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}', None),
    ('{"jsonrpc":"2.0","id":1,"result":[]}', None),
    ('{"jsonrpc":"2.0","id":1,"error":{"code":1.0,"message":""}}', None),
    ('{"jsonrpc":"2.0","id":1,"error":{"code":true,"message":""}}', None),
    ('{"jsonrpc":"2.0","id":1,"error":{"code":1}}', None),
    ('{"jsonrpc":"2.0","id":1,"error":"no"}', None),
    ('{"jsonrpc":"2.0","id":null,"error":"no"}', None),
    ('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""},"result":{}}', None),
    ('{"jsonrpc":2.0,"id":1,"method":"x"}', None),
]


@pytest.mark.parametrize(("line", "kind"), KINDS)
def test_kinds(line, kind):
    if kind is None:
        with pytest.raises(InvalidRequest):
            jsonrpc.parse(line.encode())
    else:
        assert jsonrpc.kind(jsonrpc.parse(line.encode())) == kind


@pytest.mark.parametrize("depth", [1, 127, 128])
def test_depth_is_allowed_up_to_the_limit(depth):
    assert jsonrpc.loads(b"[" * depth + b"]" * depth) is not None
    with pytest.raises(ParseError, match="nested deeper"):
        jsonrpc.loads(b"[" * 130 + b"]" * 130)


def test_ids_are_compared_by_type_and_value():
    keys = [jsonrpc.id_key(id) for id in (1, "1", 0, "", "0")]
    assert len(set(keys)) == 5


def in_itself():
    holder = {}
    holder["again"] = [holder]
    return holder


def deep():
    value = []
    for _ in range(100_000):
        value = [value]
    return value


@pytest.mark.parametrize("value", [in_itself, deep])
def test_what_nests_too_deep_or_in_itself_is_no_message(value):
    with pytest.raises(ValueError, match="nests too deep, or contains itself"):
        jsonrpc.dumps({"result": value()})


def test_a_naive_reader_raises_what_it_does_not_expect():
    """The three that a `except JSONDecodeError` lets through, which end a tutorial's server."""
    for line, error in (
        ('{"n":' + "9" * 5000 + "}", ValueError),
        ("[" * 100_000, RecursionError),
    ):
        with pytest.raises(error) as raised:
            json.loads(line)
        assert not isinstance(raised.value, json.JSONDecodeError)
    with pytest.raises(UnicodeEncodeError):
        json.dumps(naive.half_a_pair(), ensure_ascii=False).encode()


@patiently
@given(VALUES, st.integers(1, 60))
@example({"a": ["x" * 500] * 500, "b": {"c": {}}}, 5)
@example([[[]]], 2)
def test_brief_is_the_head_of_the_whole_repr(value, size):
    """It is cut before it is written out, and nobody sees a difference."""
    whole = repr(value)
    expected = whole if len(whole) <= size else whole[:size] + "…"
    shown = jsonrpc.brief(value, size)
    if all(letter not in whole for letter in "'\"\\"):  # a quote sign may depend on what is cut off
        assert shown == expected
    assert len(shown) <= size + 1
    assert (shown == whole) == (len(whole) <= size)


def test_brief_costs_no_more_than_it_shows():
    import time

    large = [{"k" * 1000: ["x" * 1000] * 1000}] * 100_000
    began = time.process_time()
    for _ in range(1000):
        jsonrpc.brief(large)
    assert time.process_time() - began < 2
