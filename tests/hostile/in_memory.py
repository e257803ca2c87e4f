"""What reads strangers' bytes, without a wire: only our own errors come out, in bounded time."""

import contextlib
import io
import itertools

from hypothesis import given
from hypothesis import strategies as st

from mcp_bare import elicitation, headers, http_request, jsonrpc, mirrors, tape_file
from mcp_bare.auth import challenge, tokens
from mcp_bare.auth.errors import BadChallenge, BadUri, InvalidToken
from mcp_bare.auth.metadata import canonical, issuer_metadata_urls
from mcp_bare.call import Call, Caller
from mcp_bare.errors import IllegalSchema, ProtocolViolation, Refused, RpcError, StateRejected
from mcp_bare.json_schema import problems
from mcp_bare.sse import EventParser
from mcp_bare.state import Seal
from tests.hostile.bounds import within
from tests.hostile.material import (
    ANY,
    CHALLENGE,
    GOOD,
    HEADERS,
    IN_BYTES,
    MESSAGES,
    NAMES,
    SAID,
    SCHEMAS,
    events,
)
from tests.hostile.over_http import TOKENS, _spoiled
from tests.hostile.peers import servers
from tests.http import lab
from tests.protocol.asking import examples, meta


def throws(count, *given_these):
    """A function of one hostile input becomes one that throws many, and says how many."""

    def decorate(check):
        def throw():
            thrown = [0]

            @examples(count)
            @given(st.tuples(*given_these))
            def one(what):
                thrown[0] += 1
                with within():
                    check(*what)

            one()
            return thrown[0]

        throw.check = check
        return throw

    return decorate


@throws(1500, MESSAGES | SAID)
def messages(data):
    with contextlib.suppress(RpcError):
        message = jsonrpc.parse(data)
        assert jsonrpc.kind(message) in ("request", "notification", "result", "error")
        assert jsonrpc.parse(jsonrpc.dumps(message)) == message


@throws(700, st.sampled_from(GOOD[:6]), HEADERS, st.lists(NAMES, max_size=2))
def header_sets(message, changes, again):
    given_headers = {**lab.due(message), **changes}
    lower = {name.lower(): value for name, value in given_headers.items() if value is not None}

    def values(name):
        found = [lower[name.lower()]] if name.lower() in lower else []
        return found * (2 if name in again else 1)

    with contextlib.suppress(RpcError):
        headers.agree(values, message, mirrors.mirrors(lab.ROUTED))
    with contextlib.suppress(RpcError):
        headers.tolerate(values, message)


@throws(1000, events(SAID), st.lists(st.integers(0, 300), max_size=6))
def sse_streams(pieces, cuts):
    stream = b"".join(pieces)
    at = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    whole = read_events([stream])
    assert read_events([stream[a:b] for a, b in itertools.pairwise(at)]) == whole


def read_events(chunks):
    """The events, and whether the stream broke the limit."""
    parser, found = EventParser(limit=20_000), []
    try:
        for chunk in chunks:
            found += parser.feed(chunk)
    except ProtocolViolation:
        return "refused"
    return found


@throws(1000, st.lists(CHALLENGE, max_size=3))
def challenges(fields):
    challenge.find_bearer(fields)
    with contextlib.suppress(BadChallenge):
        for found in challenge.parse(*fields):
            [again] = challenge.parse(str(found))
            assert (again.scheme, again.params) == (found.scheme, found.params)


@throws(900, TOKENS, st.booleans())
def bearer_tokens(token, whole):
    with contextlib.suppress(InvalidToken):
        claims = tokens.HmacVerifier({"k1": servers.KEY}).verify(token)
        assert isinstance(claims, dict)
    door = servers.guard()
    try:
        assert isinstance(door.admit(f"Bearer {token}" if whole else token, lab.call("who")), str)
    except Refused as refusal:
        assert refusal.status in (400, 401, 403)
        assert refusal.headers["WWW-Authenticate"].isprintable()


SEAL = Seal(b"s" * 32)
BOOK = {"name": "book", "arguments": {"title": "x"}, "_meta": meta()}
CALL = Call(lab.build(), "tools/call", BOOK, Caller("ana"))
STATE = SEAL.close({"title": "Dentist"}, CALL, now=0)
OTHERS = [
    SEAL.close({"title": "Dentist"}, Call(CALL.server, "tools/call", BOOK, Caller("bob")), now=0),
    Seal(b"t" * 32).close({"title": "Dentist"}, CALL, now=0),
    SEAL.close({}, Call(CALL.server, "prompts/get", BOOK, Caller("ana")), now=0),
]


@throws(
    900,
    st.one_of(
        st.lists(IN_BYTES, min_size=1, max_size=3).map(
            lambda mutations: _spoiled(STATE.encode(), mutations).decode("utf-8", "surrogateescape")
        ),
        st.sampled_from(OTHERS),
        st.text(max_size=30),
        st.builds("v1.{}.{}".format, st.text(max_size=9), st.text(max_size=9)),
    ),
)
def states(token):
    try:
        assert SEAL.open(token, CALL, now=1) == {"title": "Dentist"}
        assert token == STATE
    except StateRejected as refusal:
        assert "Invalid or expired" in refusal.message
    [answer] = [m for m in CALL.server.handle(lab.request("tools/call", {**BOOK,
                                                                         "requestState": token}))
                if "method" not in m]  # fmt: skip
    assert answer.get("error", {}).get("code", -32602) != -32603


@throws(1500, SCHEMAS, ANY)
def schemas(schema, value):
    with contextlib.suppress(IllegalSchema):
        found = problems(schema, value, formats=True)
        assert all(isinstance(problem, str) and len(problem) < 2000 for problem in found)
    with contextlib.suppress(IllegalSchema):
        mirrors.mirrors(schema)


@throws(500, st.dictionaries(st.sampled_from(["a", "b", "c"]), SCHEMAS | ANY, max_size=3), ANY)
def forms(properties, content):
    form = {"type": "object", "properties": properties, "required": ["a"]}
    with contextlib.suppress(IllegalSchema):
        elicitation.check_form(form)
        elicitation.fields(form)
        elicitation.defaults(form)
        elicitation.answer_problems(form, content)


@throws(500, st.sampled_from(GOOD[:6]), st.lists(IN_BYTES, max_size=3))
def http_heads(message, mutations):
    stream = io.BytesIO(_spoiled(lab.written(message), mutations))
    with contextlib.suppress(Refused, EOFError):
        found = http_request.read(stream, 100_000, lambda: None)
        assert found is None or len(found.body) <= 100_000


RECORDED = b"".join(
    [tape_file.head({"recorded": "x"})]
    + [tape_file.row(tape_file.Row("→", b'{"a":1}', 0.5), more=more) for more in (False, True)]
    + [tape_file.row(tape_file.Row("!", b"\xff", 1.0, "why"))]
)


@throws(300, st.lists(IN_BYTES, min_size=1, max_size=3))
def tapes(mutations):
    with contextlib.suppress(ValueError):
        tape_file.read(_spoiled(RECORDED, mutations))


URIS = st.lists(
    st.sampled_from(["http", "https", "://", ":", "/", "h", "[::1]", "[", "@", "#", "?a=b", "..",
                                                                       "%00", ":0",
                     ":99999", " ", "\n", "é", "127.0.0.1", "file", "a" * 3000, "\\", "localhost"]),
    max_size=7,
).map("".join)  # fmt: skip


@throws(400, URIS | ANY)
def addresses(uri):
    with contextlib.suppress(BadUri):
        assert canonical(canonical(uri)) == canonical(uri)
    if isinstance(uri, str):
        with contextlib.suppress(BadUri):
            assert issuer_metadata_urls(uri)
