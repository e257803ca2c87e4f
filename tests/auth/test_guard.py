"""The ladder, rung by rung: the exact status and the exact header; and a naive guard beside it."""

from __future__ import annotations

import io

import pytest

from mcp_bare import jsonrpc
from mcp_bare.auth import ladder
from mcp_bare.auth.errors import InvalidToken
from mcp_bare.auth.guard import Guard, per_tool
from mcp_bare.auth.tokens import HmacVerifier, sign
from mcp_bare.errors import Refused
from tests.auth import naive
from tests.auth.web import ISSUER, SCOPES, SERVER, message

KEY, NOW = b"k" * 32, 1_790_000_000
VERIFY = HmacVerifier({"k1": KEY}).verify
PRM = 'resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"'
SCOPE = 'scope="it:read"'
GOOD = {"iss": ISSUER, "aud": SERVER, "sub": "ana", "exp": NOW + 60, "scope": "it:read"}


def guard(**options):
    options = {"scopes_for": per_tool(SCOPES), "clock": lambda: NOW, **options}
    return Guard(SERVER, [ISSUER], options.pop("verify", VERIFY), **options)


def token(**changed):
    """A token with the good claims, but for these; None leaves one out."""
    claims = {name: value for name, value in {**GOOD, **changed}.items() if value is not None}
    return f"Bearer {sign(claims, KEY, 'k1')}"


def refusal(authorization, tool="read_it", **options):
    with pytest.raises(Refused) as caught:
        guard(**options).admit(authorization, message(tool))
    return caught.value


def invalid(told):
    return f'Bearer error="invalid_token", error_description="{told}", {SCOPE}, {PRM}'


FORGED = f"Bearer {sign(GOOD, b'f' * 32, 'k1')}"
RUNGS = [
    # (what is sent, status, challenge), from the lowest rung to the highest
    ("no token", None, 401, f"Bearer {SCOPE}, {PRM}"),
    ("another scheme", "Basic YTpi", 401, f"Bearer {SCOPE}, {PRM}"),
    (
        "a forged signature",
        FORGED,
        401,
        invalid("The token's signature does not fit"),
    ),
    (
        "another issuer",
        token(iss="https://other.example"),
        401,
        invalid(f"The token was issued by https://other.example, not by {ISSUER}"),
    ),
    (
        "the issuer with a slash",
        token(iss=f"{ISSUER}/"),
        401,
        invalid(f"The token was issued by {ISSUER}/, not by {ISSUER}"),
    ),
    (
        "no issuer",
        token(iss=None),
        401,
        invalid(f"The token was issued by nothing, not by {ISSUER}"),
    ),
    (
        "another server's audience",
        token(aud="https://other.example/mcp"),
        401,
        invalid(f"The token is for https://other.example/mcp, not for {SERVER}"),
    ),
    ("no audience", token(aud=None), 401, invalid(f"The token is for nothing, not for {SERVER}")),
    ("no expiry", token(exp=None), 401, invalid("The token has no expiration time")),
    ("exp is 0", token(exp=0), 401, invalid("The token's expiration time is 0")),
    ("expired", token(exp=NOW - 11), 401, invalid("The token has expired")),
    ("expired, no scope", token(exp=NOW - 11, scope=""), 401, invalid("The token has expired")),
    ("not yet", token(nbf=NOW + 11), 401, invalid("The token is not valid yet (nbf)")),
    ("no subject", token(sub=None), 401, invalid("The token has nothing for a subject")),
    (
        "no scope",
        token(scope=None),
        403,
        'Bearer error="insufficient_scope", error_description="This needs the scope it:read", '
        f"{SCOPE}, {PRM}",
    ),
    ("the right scope", token(), 200, None),
]


@pytest.mark.parametrize(("name", "sent", "status", "told"), RUNGS, ids=[row[0] for row in RUNGS])
def test_the_ladder(name, sent, status, told):
    if status == 200:
        assert guard().admit(sent, message()) == "ana"
        return
    no = refusal(sent)
    assert (no.status, no.headers["WWW-Authenticate"]) == (status, told)
    assert no.headers["Cache-Control"] == "no-store"
    if "error=" in told:
        assert no.headers["Content-Type"] == "application/json"
        assert f'error="{jsonrpc.loads(no.body)["error"]}"' in told
    else:
        assert no.body == b""  # RFC 6750, section 3.1: no error where nothing was tried


def test_the_order_of_the_rungs():
    """A token that is wrong in every way is refused for the lowest; each repair lifts it by one."""
    wrong = {"iss": "x", "aud": "y", "exp": NOW - 99, "nbf": NOW + 99, "sub": "", "scope": ""}
    repairs = [("iss", ISSUER), ("aud", SERVER), ("exp", NOW + 60), ("nbf", NOW), ("sub", "ana")]
    reached = []
    for name, value in [*repairs, ("scope", "it:read")]:
        try:
            ladder.climb(wrong, SERVER, {ISSUER}, NOW)
            reached.append("scope")
        except InvalidToken as why:
            reached.append(why.rung)
        wrong[name] = value
    assert ["signature", *reached] == list(ladder.RUNGS)
    assert guard().admit(token(**wrong), message()) == "ana"


EXPIRIES = [
    *[(value, False) for value in (None, "1790000060", True, [], {}, -1, 0, 0.0, NOW * 1000)],
    *[(value, False) for value in (NOW - 11, NOW - 10, float("inf"), float("nan"), 10**308)],
    *[(value, True) for value in (NOW - 9, NOW, NOW + 0.5, NOW + 60)],
]


@pytest.mark.parametrize(("expires", "good"), EXPIRIES, ids=ascii)
def test_an_expiry_is_required_and_finite(expires, good):
    claims = {**GOOD, "exp": expires}
    checked = guard(verify=lambda text: claims)
    if good:
        assert checked.admit("Bearer x", message()) == "ana"
    else:
        assert refusal("Bearer x", verify=lambda text: claims).status == 401


@pytest.mark.parametrize("name", ["nbf", "iat"])
@pytest.mark.parametrize(
    ("value", "good"),
    [(None, True), (NOW - 5, True), (NOW + 4, True), (NOW + 10, True), (NOW + 11, False),
     ("4", False), (True, False), (1e400, False), ([], False)],
)  # fmt: skip
def test_two_clocks_never_agree(name, value, good):
    claims = {**GOOD, name: value}
    if good:
        assert guard(verify=lambda text: claims).admit("Bearer x", message()) == "ana"
    else:
        assert refusal("Bearer x", verify=lambda text: claims).status == 401


@pytest.mark.parametrize(
    ("audience", "good"),
    [
        (SERVER, True),
        ([SERVER], True),
        (["https://other.example", SERVER], True),
        ("HTTPS://MCP.Example/mcp", True),
        (f"{SERVER}/", False),
        ("https://mcp.example", False),
        ("https://mcp.example/mcp/tools", False),
        ("https://mcp.example/MCP", False),
        ("https://mcp.example/mcp#x", False),
        ([], False),
        ({SERVER: 1}, False),
        ([[SERVER]], False),
        (7, False),
        ("", False),
        (True, False),
    ],
    ids=ascii,
)
def test_a_token_is_for_this_server(audience, good):
    claims = {**GOOD, "aud": audience}
    if good:
        assert guard(verify=lambda text: claims).admit("Bearer x", message()) == "ana"
    else:
        no = refusal("Bearer x", verify=lambda text: claims)
        assert (no.status, "not for" in no.headers["WWW-Authenticate"]) == (401, True)


@pytest.mark.parametrize("root", ["https://h", "https://h/"])
@pytest.mark.parametrize("audience", ["https://h", "https://h/"])
def test_a_server_at_the_root_has_one_name_with_or_without_the_slash(root, audience):
    claims = {**GOOD, "aud": audience}
    checked = Guard(root, [ISSUER], lambda token: claims, clock=lambda: NOW)
    assert checked.admit("Bearer x", message()) == "ana"


MALFORMED = [
    ("Bearer", 400),
    ("Bearer ", 400),
    ("bearer  \t", 400),
    ("Bearer a b", 400),
    ("Bearer a, Bearer b", 400),
    ("Bearer a,Bearer", 400),
    ("Bearer a\tb", 400),
    ("", 401),
    (" ", 401),
    ("Bearertoken", 401),
    ("Basic Bearer", 401),
    ("Bearer é", 401),
    ("Bearer \xff\xfe.b.c", 401),
    ("Bearer \ud83d", 401),
    ("Bearer \0", 401),
    ("Bearer ..", 401),
    ("Bearer " + "a" * 100_000, 401),
    ("\x00", 401),
]


@pytest.mark.parametrize(("sent", "status"), MALFORMED, ids=lambda value: ascii(value)[:30])
def test_a_malformed_header_is_a_refusal(sent, status):
    no = refusal(sent)
    assert no.status == status
    assert ('error="invalid_request"' in no.headers["WWW-Authenticate"]) == (status == 400)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_a_scheme_has_no_case(scheme):
    sent = token().replace("Bearer", scheme)
    assert guard().admit(f"  {sent} ", message()) == "ana"


# --- a verifier that falls over ---


@pytest.mark.parametrize(
    "verdict",
    [
        RuntimeError("s3cret"),
        KeyError("kid"),
        UnicodeEncodeError("ascii", "é", 0, 1, "s3cret"),
        RecursionError(),
        InvalidToken('quo"ted\r\nSet-Cookie: a=b'),
        None,
        [],
        "claims",
        True,
    ],
    ids=repr,
)
def test_a_verifier_that_falls_over_is_a_401_and_a_line_in_our_log(verdict, capsys):
    def verify(text):
        if isinstance(verdict, Exception):
            raise verdict
        return verdict

    no = refusal("Bearer x.y.z", verify=verify)
    assert no.status == 401
    assert 'error="invalid_token"' in no.headers["WWW-Authenticate"]
    assert "\n" not in no.headers["WWW-Authenticate"]
    logged = capsys.readouterr().err
    assert "s3cret" not in logged + str(no.headers) + str(no.body)
    if isinstance(verdict, InvalidToken):
        assert logged == ""
    else:
        assert logged.startswith("mcp_bare.auth: the verifier ")
        assert logged.count("\n") == 1


def test_a_naive_guard_answers_500_to_the_same():
    def verify(text):
        raise RuntimeError

    with pytest.raises(Refused) as caught:
        naive.Guard(SERVER, ISSUER, verify).admit("Bearer x", message())
    assert caught.value.status == 500


# --- scopes ---


@pytest.mark.parametrize(
    ("scope", "tool", "good"),
    [
        ("it:read", "read_it", True),
        ("a it:read  b", "read_it", True),
        ("it:write", "write_it", True),
        ("it:write", "read_it", True),
        ("it:admin", "audit_it", True),
        ("it:admin", "read_it", True),
        ("it:read", "write_it", False),
        ("it:write", "audit_it", False),
        ("it:readx", "read_it", False),
        ("it", "read_it", False),
        ("", "read_it", False),
        ("", "other", True),
    ],
)
def test_a_broader_scope_implies_narrower_ones(scope, tool, good):
    implies = {
        "it:write": ["it:read"],
        "it:admin": ["it:write", "it:audit"],
        "it:read": ["it:read"],
    }
    if good:
        assert guard(implies=implies).admit(token(scope=scope), message(tool)) == "ana"
    else:
        no = refusal(token(scope=scope), tool, implies=implies)
        (needed,) = SCOPES[tool]
        assert (no.status, f'scope="{needed}"' in no.headers["WWW-Authenticate"]) == (403, True)


@pytest.mark.parametrize("scope", [["it:read"], 7, True, {"it:read": 1}])
def test_a_scope_is_text(scope):
    assert refusal("Bearer x", verify=lambda text: {**GOOD, "scope": scope}).status == 401


def test_all_scopes_of_an_operation_come_in_one_challenge():
    no = refusal(token(scope="b"), scopes_for=lambda message: {"c", "a", "b"})
    assert 'scope="a b c"' in no.headers["WWW-Authenticate"]


@pytest.mark.parametrize(
    "asked",
    [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"name": "write_it"}},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": ["write_it"]}},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": []},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": None},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {},
    ],
    ids=ascii,
)
def test_whatever_is_no_call_of_a_tool_needs_the_default(asked):
    assert guard().admit(token(scope=""), asked) == "ana"
    with pytest.raises(Refused):
        guard(scopes_for=per_tool(SCOPES, ["it:any"])).admit(token(scope=""), asked)


@pytest.mark.parametrize(
    "scopes_for",
    [lambda message: 1 / 0, lambda message: None, lambda message: ['a"b'], lambda message: [1],
     lambda message: ["a b"], lambda message: [""], lambda message: message["nothing"]],
)  # fmt: skip
def test_where_nobody_can_say_which_scope_the_door_stays_shut(scopes_for, capsys):
    no = refusal(token(), scopes_for=scopes_for)
    assert (no.status, "scope=" in no.headers["WWW-Authenticate"]) == (403, False)
    assert capsys.readouterr().err.startswith("mcp_bare.auth: scopes_for ")


def test_one_scope_may_be_given_as_a_text():
    assert guard(scopes_for=lambda message: "it:read").admit(token(), message()) == "ana"


def test_with_two_issuers_a_subject_is_not_enough_of_a_name():
    """Else whoever runs the second authorization server could be anybody at the first."""
    two = Guard(SERVER, [ISSUER, "https://b.example"], VERIFY, clock=lambda: NOW)
    assert two.admit(token(), message()) == f"{ISSUER}#ana"
    assert two.admit(token(iss="https://b.example"), message()) == "https://b.example#ana"


def test_claims_cannot_write_headers():
    """The signature and the issuer stand, and still: what is shown is cut and made plain."""
    no = refusal(token(aud='x"\r\nSet-Cookie: a=b\\é' + "y" * 10_000))
    told = no.headers["WWW-Authenticate"]
    assert "The token is for x???Set-Cookie: a=b??yyyy" in told
    assert told.isprintable()
    assert len(told) < 500


# --- a naive guard on the same ladder ---

NAIVE_FAILS = {
    "no expiry": token(exp=None),
    "exp is 0": token(exp=0),
    "exp is text": token(exp="never"),
    "exp in milliseconds": token(exp=NOW * 1000),
    "four seconds in the future": token(iat=NOW + 4),
    "the issuer with a slash": token(iss=f"{ISSUER}/"),
    "a byte beyond ASCII": "Bearer a.b.é",
    "two segments": "Bearer a.b",
    "no token after the scheme": "Bearer",
    "an audience in a list": token(aud=[SERVER]),
}


@pytest.mark.parametrize("name", NAIVE_FAILS)
def test_a_naive_guard_gets_it_wrong(name, monkeypatch):
    """It admits what it must not, refuses what it must not, or answers 500."""
    monkeypatch.setattr("time.time", lambda: NOW)

    def outcome(checked):
        try:
            return checked.admit(NAIVE_FAILS[name], message())
        except Refused as no:
            return no.status
        except Exception:
            return 500

    assert outcome(naive.Guard(SERVER, ISSUER, lambda text: naive.verify(text, KEY))) != outcome(
        guard()
    )


@pytest.mark.parametrize("rung", [row for row in RUNGS if row[2] != 200], ids=lambda row: row[0])
def test_a_naive_refusal_leads_nowhere(rung):
    """No metadata, no scope: a client that gets it can only give up."""
    checked = naive.Guard(SERVER, ISSUER, lambda text: naive.verify(text, KEY))
    try:
        assert checked.admit(rung[1], message()) == "ana"
    except Refused as no:
        assert "resource_metadata" not in no.headers.get("WWW-Authenticate", "")
    except KeyError:
        assert rung[0] in ("no scope", "no subject")


def test_scopes_that_imply_each_other_end():
    circle = {"a": ["b"], "b": ["a", "c"]}
    assert ladder.granted({"scope": "a"}, circle) == {"a", "b", "c"}


def test_the_rung_is_told_to_the_server_and_not_to_the_wire():
    no = refusal(token(exp=None))
    assert no.__cause__.rung == "expiry"
    assert refusal(None).__cause__ is None


def test_a_closed_log_is_no_reason_for_a_500(monkeypatch):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr("sys.stderr", closed)
    assert refusal("Bearer x", verify=lambda text: 1 / 0).status == 401


def test_the_log_may_be_another():
    lines = []
    assert refusal("Bearer x", verify=lambda text: None, log=lines.append).status == 401
    assert lines == ["the verifier returned NoneType; a dict is due"]


@pytest.mark.parametrize("value", [None, 7, True, "", [], [ISSUER], {}, {"a": 1}], ids=ascii)
@pytest.mark.parametrize("name", ["iss", "sub", "aud", "exp", "scope", "nbf", "iat"])
def test_no_claim_of_another_type_makes_anything_but_a_refusal_come_out(name, value):
    claims = {**GOOD, name: value}
    checked = guard(verify=lambda text: claims)
    try:
        assert checked.admit("Bearer x", message()) == "ana"
        assert name in ("nbf", "iat")
        assert value in (None, 7)
    except Refused as no:
        assert no.status == (403 if (name, value) == ("scope", "") else 401)


def test_a_token_for_nobody():
    told = refusal("Bearer x", verify=lambda text: {**GOOD, "aud": []}).headers["WWW-Authenticate"]
    assert f"The token is for nobody, not for {SERVER}" in told
