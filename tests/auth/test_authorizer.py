"""The client's face: from a 401 to a call to a step-up, and how not to go round in circles."""

from __future__ import annotations

import threading
import time
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest

from mcp_bare import jsonrpc
from mcp_bare.auth.errors import (
    AuthorizationFailed,
    FetchFailed,
    IssuerMismatch,
    OAuthError,
    RegistrationFailed,
    StillRefused,
)
from mcp_bare.auth.registration import ClientMetadata, Registration
from mcp_bare.auth.tokens import HmacVerifier
from mcp_bare.auth.user_agent import follow
from tests.auth import naive
from tests.auth.web import DOCUMENT, ISSUER, REDIRECT, SERVER, Caller, World, message
from toy_servers.authorization_clients import Known

PRM = "https://mcp.example/.well-known/oauth-protected-resource/mcp"
OAUTH = f"{ISSUER}/.well-known/oauth-authorization-server"
DYNAMIC = ClientMetadata(REDIRECT)


@pytest.fixture(autouse=True, params=[False, True], ids=["one thread", "a thread each"])
def apart(request, monkeypatch):
    """Messages may share a thread or not: an HTTP client gives each of its requests one."""
    monkeypatch.setattr(Caller, "apart", request.param)
    return request.param


def scopes_asked(world):
    """The scope parameter of each authorization request, in order."""
    return [parse_qs(urlsplit(url).query).get("scope", [None])[0] for url in world.asked]


def forms(world, origin=ISSUER):
    """Every form that was posted to a token endpoint."""
    return [
        dict(parse_qsl(body.decode()))
        for method, url, _, body in world.web.log
        if method == "POST" and url == f"{origin}/token"
    ]


class Clock:
    """time.time, and some."""

    def __init__(self, monkeypatch):
        self.ahead, real = 0.0, time.time
        monkeypatch.setattr("time.time", lambda: real() + self.ahead)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def timed_world(*misbehave):
    """A world whose servers look at the same clock."""
    return World(misbehave, clock=lambda: time.time(), guard={"clock": lambda: time.time()})


# --- from a refusal to a call ---


def test_the_whole_flow():
    world = World()
    assert world.client().call() == ("ana", "read_it")
    assert world.web.asked() == [
        *(SERVER, PRM, OAUTH, f"{ISSUER}/authorize", f"{ISSUER}/token", SERVER)
    ]
    assert scopes_asked(world) == ["it:read"]


def test_dynamic_registration_comes_before_the_person():
    world = World()
    world.client(DYNAMIC).call()
    assert world.web.asked("POST") == [SERVER, f"{ISSUER}/register", f"{ISSUER}/token", SERVER]


@pytest.mark.parametrize("method", ["none", "client_secret_basic", "client_secret_post"])
def test_each_way_to_authenticate(method):
    secret = None if method == "none" else "s:c r+t/é"
    known = Known("by hand", (REDIRECT,), secret, method)
    world = World(clients=[known], methods=(method,))
    mine = Registration(ISSUER, "by hand", secret)
    client = world.client(ClientMetadata(REDIRECT, registered=(mine,)))
    assert client.call() == ("ana", "read_it")


@pytest.mark.parametrize("method", ["none", "client_secret_basic", "client_secret_post"])
def test_each_way_to_authenticate_after_dynamic_registration(method):
    world = World(methods=(method,))
    assert world.client(DYNAMIC).call() == ("ana", "read_it")


def test_a_wrong_secret_is_the_authorization_servers_no():
    known = Known("by hand", (REDIRECT,), "right", "client_secret_basic")
    world = World(clients=[known])
    client = ClientMetadata(REDIRECT, registered=(Registration(ISSUER, "by hand", "wr0ng"),))
    with pytest.raises(OAuthError, match="invalid_client") as caught:
        world.client(client).call()
    assert "wr0ng" not in str(caught.value)


def test_the_resource_is_in_every_request_and_no_token_in_any_url(clock):
    world = timed_world()
    client = world.client()
    client.call()
    clock.ahead += 400
    client.call()
    asked = [dict(parse_qsl(urlsplit(url).query)) for url in world.asked]
    sent = forms(world)
    assert [form["grant_type"] for form in sent] == ["authorization_code", "refresh_token"]
    assert {each["resource"] for each in [*asked, *sent]} == {SERVER}
    tokens = [headers["Authorization"].split()[1] for _, _, headers, _ in world.web.log
              if "Authorization" in headers]  # fmt: skip
    assert len(set(tokens)) == 2
    secrets = {*tokens, *(form["code_verifier"] for form in sent if "code_verifier" in form)}
    assert not any(secret in url for secret in secrets for _, url, _, _ in world.web.log)


@pytest.mark.parametrize("server", ["https://mcp.example", "https://mcp.example/"])
def test_no_slash_is_added_to_a_server_at_the_root(server):
    """An authorization server that knows the resource by name takes that very name."""
    world = World(server=server, resources=["https://mcp.example"])
    assert world.client().call() == ("ana", "read_it")


def test_a_naive_client_adds_one():
    world = World(server="https://mcp.example", resources=["https://mcp.example"])
    client = naive.Authorizer("https://mcp.example", world.person, REDIRECT, world.web.fetch)
    with pytest.raises(KeyError, match="code"):
        client.refused(401, [])
    assert "invalid_target" in follow(world.asked[0], world.web.fetch)


def test_a_tenant_of_an_authorization_server():
    for quirk in ((), "openid-only", "appended-only"):
        world = World(quirk, issuer="https://as.example/t1")
        assert world.client().call() == ("ana", "read_it")


def test_metadata_is_found_without_a_word_in_the_header():
    world = World()
    authorizer = world.authorizer()
    assert authorizer.header() is None
    assert authorizer.refused(401, []) is True
    assert authorizer.header().startswith("Bearer ey")


@pytest.mark.parametrize(
    ("status", "challenges"),
    [
        (200, []), (202, []), (400, ['Bearer error="invalid_request"']), (403, []), (404, []),
        (403, ["Bearer"]), (403, ['Bearer error="invalid_token"']), (403, ['Basic realm="x"']),
        (403, ['Basic error="insufficient_scope"']), (405, []), (500, ["Bearer"]),
        (403, ['Bearer error="insufficient_scope']), (400, ['Bearer error="insufficient_scope"']),
        (200, ['Bearer error="insufficient_scope"']),
    ],
)  # fmt: skip
def test_what_is_no_matter_of_authorization_is_left_alone(status, challenges):
    world = World()
    authorizer = world.authorizer()
    authorizer.header()
    assert authorizer.refused(status, challenges) is False
    assert world.web.log == []


# --- which scopes ---


@pytest.mark.parametrize(
    ("challenges", "supported", "known", "asked"),
    [
        (['Bearer scope="b a"'], ["x"], None, "a b"),
        (["Bearer"], ["y", "x"], None, "x y"),
        ([], ["x"], None, "x"),
        ([], [], None, None),
        ([], [], ["offline_access"], None),
        ([], ["x"], ["x", "offline_access"], "offline_access x"),
        (['Bearer scope="a"'], [], ["a", "offline_access"], "a offline_access"),
        (['Bearer scope="a"'], [], ["a"], "a"),
    ],
)
def test_the_scopes_of_the_first_request(challenges, supported, known, asked):
    world = World(scopes=known, guard={"scopes_supported": supported})
    authorizer = world.authorizer()
    authorizer.header()
    assert authorizer.refused(401, challenges)
    assert scopes_asked(world) == [asked]


def test_a_step_up_asks_for_the_union():
    world = World()
    client = world.client()
    for tool in ("read_it", "write_it", "audit_it", "read_it", "write_it"):
        assert client.call(tool) == ("ana", tool)
    assert scopes_asked(world) == ["it:read", "it:read it:write", "it:audit it:read it:write"]
    assert {form["grant_type"] for form in forms(world)} == {"authorization_code"}


def test_a_naive_client_asks_for_the_last_one_and_goes_round_in_circles():
    world = World()
    authorizer = naive.Authorizer(SERVER, world.person, REDIRECT, world.web.fetch)
    world.web.hosts["https://mcp.example"] = with_naive_path(world)
    for tool in ("read_it", "write_it") * 2:
        go(authorizer, world, tool)
    assert scopes_asked(world) == ["it:read", "it:write"] * 2


def go(authorizer, world, tool, most=20):
    """One call of a naive client; how often it asked the person, or `most`."""
    for tries in range(most):
        header = authorizer.header()
        headers = {"Authorization": header} if header else {}
        status, found, _ = world.web.fetch("POST", SERVER, headers, jsonrpc.dumps(message(tool)))
        if not authorizer.refused(status, [found.get("www-authenticate", "")]):
            return tries
    return most


def with_naive_path(world):
    """The server, which also serves its metadata where naive clients look for it."""

    def answer(method, url, headers, body=None):
        if url.endswith("/mcp/.well-known/oauth-protected-resource"):
            url = PRM
        return world.mcp.answer(method, url, headers, body)

    return answer


# --- what repeats itself ends ---


def always(world, status, challenge):
    """A server that answers this to every message, whoever sends it."""

    def answer(method, url, headers, body=None):
        if method == "GET":
            return world.mcp.answer(method, url, headers, body)
        told = challenge() if callable(challenge) else challenge
        return status, {"www-authenticate": told}, b""

    world.web.hosts["https://mcp.example"] = answer


SHORT = 'Bearer error="insufficient_scope", scope="it:read", error_description="Not for you"'


def test_a_server_that_always_says_403():
    world = World()
    client = world.client()
    client.call()
    always(world, 403, SHORT)
    with pytest.raises(StillRefused) as caught:
        client.call()
    assert len(world.asked) == 3  # the first one, and two step-ups
    told = str(caught.value)
    for each in (SERVER, "403", "Not for you", ISSUER, "scopes due: it:read", "granted: it:read"):
        assert each in told
    for _ in range(3):
        with pytest.raises(StillRefused):
            client.call()
    assert len(world.asked) == 3  # permanent


def test_other_operations_go_on_after_one_is_given_up():
    world = World()
    client = world.client()
    client.call()
    always(world, 403, SHORT.replace("it:read", "it:write"))
    with pytest.raises(StillRefused):
        client.call("write_it")
    world.web.hosts["https://mcp.example"] = world.mcp.answer
    assert client.call("read_it") == ("ana", "read_it")
    assert client.call("audit_it") == ("ana", "audit_it")


def test_a_server_that_always_says_403_from_the_first_message_on():
    world = World()
    always(world, 403, SHORT)
    with pytest.raises(StillRefused):
        world.client().call()
    assert len(world.asked) == 2


def test_a_server_that_wants_another_scope_each_time():
    world, count = World(), iter(range(1_000))
    always(world, 403, lambda: f'Bearer error="insufficient_scope", scope="s{next(count)}"')
    with pytest.raises(StillRefused):
        world.client().call()
    assert len(world.asked) == 4  # whatever it wants: so many refusals in a row, and no more


@pytest.mark.parametrize(
    ("told", "supported", "asked"),
    [
        ('error_description="Required scope: it:write"', ["it:read", "it:write"], 2),
        ('error_description="Required scope: it:write"', [], 1),
        ('scope=""', [], 1),
    ],
)
def test_a_403_that_names_no_scope(told, supported, asked):
    """The Python SDK's. What the metadata supports is asked for, or nothing can be done."""
    world = World(guard={"scopes_supported": supported})
    client = world.client()
    client.call()
    always(world, 403, f'Bearer error="insufficient_scope", {told}')
    with pytest.raises(StillRefused):
        client.call("write_it")
    assert len(world.asked) == asked + bool(supported)


def test_a_server_that_always_says_401():
    world = World()
    always(world, 401, 'Bearer error="invalid_token", error_description="I do not like it"')
    client = world.client()
    with pytest.raises(StillRefused) as caught:
        client.call()
    assert len(world.asked) == 1
    for each in ("401", "I do not like it", ISSUER, SERVER):
        assert each in str(caught.value)
    with pytest.raises(StillRefused):
        client.call()
    assert len(world.asked) == 1


def test_a_refusal_without_a_word(monkeypatch):
    world = World()
    always(world, 401, "Bearer")
    client = world.client()
    with pytest.raises(StillRefused, match="401, 'with no reason given', to a token of"):
        client.call()
    monkeypatch.setattr("mcp_bare.auth.authorizer.FRESH_S", 0.0)  # as if a minute had gone by
    with pytest.raises(StillRefused, match="scopes due: not said, granted: none"):
        client.call()
    assert len(world.asked) > 1


def test_a_server_that_stops_liking_tokens(monkeypatch):
    """It worked for a while: refresh, then ask the person, then give up."""
    world = World()
    client = world.client()
    client.call()
    client.call()
    monkeypatch.setattr("time.monotonic", lambda real=time.monotonic: real() + 60)
    always(world, 401, "Bearer")
    for _ in range(2):
        with pytest.raises(StillRefused):
            client.call()
    assert [form["grant_type"] for form in forms(world)] == [
        *("authorization_code", "refresh_token", "authorization_code", "refresh_token")
    ]


@pytest.mark.parametrize(("status", "challenge"), [(401, "Bearer"), (403, SHORT)])
def test_a_naive_client_never_gives_up(status, challenge):
    world = World()
    always(world, status, challenge)
    server = world.web.hosts["https://mcp.example"]
    world.web.hosts["https://mcp.example"] = lambda method, url, *rest: server(
        method, PRM if method == "GET" else url, *rest
    )
    authorizer = naive.Authorizer(SERVER, world.person, REDIRECT, world.web.fetch)
    assert go(authorizer, world, "read_it", 15) == 15
    assert len(world.asked) == 15


# --- tokens that end ---


def test_an_expired_token_is_refreshed_before_it_is_sent(clock):
    world = timed_world()
    client = world.client()
    client.call()
    for _ in range(3):
        clock.ahead += 400
        assert client.call() == ("ana", "read_it")
    sent = forms(world)
    assert [form["grant_type"] for form in sent] == ["authorization_code"] + ["refresh_token"] * 3
    assert len({form["refresh_token"] for form in sent[1:]}) == 3  # rotation
    assert len(world.asked) == 1
    assert world.web.asked().count(PRM) == 1


def test_a_token_that_does_not_say_when_it_ends():
    world = World()
    answer = world.web.hosts[ISSUER]

    def without(method, url, headers, body=None):
        status, found, sent = answer(method, url, headers, body)
        if url.endswith("/token"):
            sent = jsonrpc.dumps({**jsonrpc.loads(sent), "expires_in": None})
        return status, found, sent

    world.web.hosts[ISSUER] = without
    client = world.client()
    assert [client.call(), client.call()] == [("ana", "read_it")] * 2
    assert len(forms(world)) == 1


def test_an_authorization_server_that_forgot_its_clients(clock):
    """It restarted. What comes of it at the token endpoint, and what the person sees."""
    world = timed_world()
    client = world.client(DYNAMIC)
    client.call()
    world.toy.clients.known.clear()
    clock.ahead += 400
    assert client.call() == ("ana", "read_it")
    assert world.web.asked().count(f"{ISSUER}/register") == 2
    world.toy.clients.known.clear()
    with pytest.raises(AuthorizationFailed, match="wants a person"):
        client.call("write_it")
    assert client.call("write_it") == ("ana", "write_it")
    assert world.web.asked().count(f"{ISSUER}/register") == 3


def test_a_person_who_says_no_is_not_registered_again():
    world = World("denies")
    client = world.client(DYNAMIC)
    for _ in range(2):
        with pytest.raises(OAuthError):
            client.call()
    assert world.web.asked().count(f"{ISSUER}/register") == 1


def test_a_revoked_token_is_refreshed_when_it_is_refused():
    world = World()
    client = world.client()
    client.call(), client.call()
    world.mcp.guard.leeway, good = 0, world.mcp.guard._verify
    revoked = client.authorizer.header().split()[1]

    def verify(token):
        return {} if token == revoked else good(token)

    world.mcp.guard._verify = verify
    assert client.call() == ("ana", "read_it")
    assert len(world.asked) == 1
    assert [form["grant_type"] for form in forms(world)][1:] == ["refresh_token"]


@pytest.mark.parametrize("quirk", ["no-refresh", "no-rotation"])
def test_refresh_tokens_may_be_missing_or_stay(quirk, clock):
    world = timed_world(quirk)
    client = world.client()
    for _ in range(3):
        assert client.call() == ("ana", "read_it")
        clock.ahead += 400
    assert len(world.asked) == (3 if quirk == "no-refresh" else 1)


def test_a_refresh_token_that_was_stolen_ends_in_a_question_to_the_person(clock):
    world = timed_world()
    client = world.client()
    client.call()
    thief = {"grant_type": "refresh_token", "client_id": DOCUMENT,
             "refresh_token": client.authorizer._tokens.refresh_token}  # fmt: skip
    body = "&".join(f"{name}={value}" for name, value in thief.items()).encode()
    assert world.web.fetch("POST", f"{ISSUER}/token", {}, body)[0] == 200
    clock.ahead += 400
    assert client.call() == ("ana", "read_it")
    assert len(world.asked) == 2


def test_a_network_that_is_down_is_an_error_and_no_question(clock):
    world = timed_world()
    client = world.client()
    client.call()
    clock.ahead += 400

    def down(*request):
        raise FetchFailed("POST https://as.example/token: ConnectionRefusedError")

    up, world.web.hosts[ISSUER] = world.web.hosts[ISSUER], down
    with pytest.raises(AuthorizationFailed):
        client.call()
    assert len(world.asked) == 1
    world.web.hosts[ISSUER] = up
    assert client.call() == ("ana", "read_it")
    assert len(world.asked) == 1  # the refresh token was not thrown away


# --- several threads, and a person who does not play along ---


def test_a_thread_that_comes_second_finds_the_header_there():
    """Both were refused with nothing; one asks the person, and the other has only to wait."""
    world = World()
    authorizer, sent, found = world.authorizer(), threading.Barrier(2), []

    def go_on():
        authorizer.header()
        sent.wait(5)
        found.append((authorizer.refused(401, []), authorizer.header()))

    threads = [threading.Thread(target=go_on) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(True, authorizer.header())] * 2
    assert len(world.asked) == 1


def test_many_threads_ask_the_person_once():
    world, found = World(), []
    authorize = world.person

    def slowly(url):
        time.sleep(0.1)
        return authorize(url)

    client = world.client(authorize=slowly)
    threads = [threading.Thread(target=lambda: found.append(client.call())) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [("ana", "read_it")] * 16
    assert len(world.asked) == 1


def test_many_threads_at_a_server_that_always_says_401():
    """Everyone is told, and the person is asked once."""
    world, found, start = World(), [], threading.Barrier(8)
    always(world, 401, "Bearer")
    answer, client = world.web.hosts["https://mcp.example"], world.client()

    def together(method, url, headers, body=None):
        if method == "POST" and "Authorization" not in headers:
            start.wait(5)
        return answer(method, url, headers, body)

    def go_on():
        with pytest.raises(StillRefused):
            client.send("read_it")
        found.append("told")

    world.web.hosts["https://mcp.example"] = together
    threads = [threading.Thread(target=go_on) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["told"] * 8
    assert len(world.asked) == 1


def test_a_server_that_starts_anew_after_a_moment():
    """Its authorization server too: keys and refresh tokens are gone. The token had worked."""
    world = World()
    client = world.client()
    client.call()
    client.call()
    world.toy.key = b"n" * 32
    world.mcp.guard._verify = HmacVerifier({world.toy.kid: world.toy.key}).verify
    world.toy._refresh.clear()
    assert client.call() == ("ana", "read_it")
    assert len(world.asked) == 2


@pytest.mark.parametrize("trouble", [KeyboardInterrupt, ValueError, StopIteration, SystemExit])
def test_an_interrupted_question_can_be_asked_again(trouble):
    world, first = World(), [trouble]

    def authorize(url):
        if first:
            raise first.pop()
        return world.person(url)

    client = world.client(authorize=authorize)
    with pytest.raises(trouble):
        client.call()
    assert client.call() == ("ana", "read_it")


def test_a_person_who_says_no():
    world = World("denies")
    client = world.client()
    for times in (1, 2):
        with pytest.raises(OAuthError, match="access_denied"):
            client.call()
        assert len(world.asked) == times
    world.toy.misbehave = set()
    assert client.call() == ("ana", "read_it")


# --- credentials and tokens never cross issuers ---

OTHER = "https://b.example"


def moved(client):
    """A world whose server names another authorization server, after a first call."""
    options = {"methods": ("client_secret_post",)} if client is DYNAMIC else {}
    world = World(**options)
    world.add(OTHER, key=world.toy.key, **options)
    caller = world.client(client)
    caller.call("audit_it")
    document = jsonrpc.loads(world.mcp.guard._document)
    world.mcp.guard._document = jsonrpc.dumps({**document, "authorization_servers": [OTHER]})
    world.mcp.guard.issuers = frozenset([OTHER])
    return world, caller


def secrets_of(world):
    """Whatever the first authorization server gave, and the client made for it."""
    toy, found = world.toy, set()
    for form in forms(world):
        found |= {form[name] for name in ("code", "code_verifier", "refresh_token") if name in form}
    found |= set(toy._refresh) | set(toy._codes)
    found |= {known.secret for known in toy.clients.known.values() if known.secret}
    found |= {headers["Authorization"].split()[1] for _, _, headers, _ in world.web.log
              if "Authorization" in headers}  # fmt: skip
    return {each.encode() for each in found}


@pytest.mark.parametrize("client", [DYNAMIC, None], ids=["dynamic", "document"])
def test_a_server_that_moves_to_another_authorization_server(client):
    world, caller = moved(client)
    before = secrets_of(world)
    assert scopes_asked(world) == ["it:audit"]
    assert len(before) == (5 if client else 4)
    assert caller.call() == ("ana", "read_it")
    sent = world.web.sent_to(OTHER)
    assert sent
    assert not any(secret in sent for secret in before)
    assert scopes_asked(world) == ["it:audit", "it:read"]  # the other one is asked anew
    assert (f"{OTHER}/register" in world.web.asked()) == (client is DYNAMIC)


def test_a_client_registered_by_hand_does_not_move():
    known = Known("by hand", (REDIRECT,), "s3cret", "client_secret_basic")
    world = World(clients=[known])
    world.add(OTHER, key=world.toy.key)
    mine = Registration(ISSUER, "by hand", "s3cret")
    caller = world.client(ClientMetadata(REDIRECT, registered=(mine,)))
    caller.call()
    document = jsonrpc.loads(world.mcp.guard._document)
    world.mcp.guard._document = jsonrpc.dumps({**document, "authorization_servers": [OTHER]})
    world.mcp.guard.issuers = frozenset([OTHER])
    with pytest.raises(RegistrationFailed) as caught:
        caller.call()
    assert ISSUER in str(caught.value)
    assert OTHER in str(caught.value)
    assert b"by hand" not in world.web.sent_to(OTHER)
    assert b"s3cret" not in world.web.sent_to(OTHER)


def test_of_several_the_one_that_knows_us():
    known = Known("by hand", (REDIRECT,))
    world = World()
    world.add(OTHER, key=world.toy.key, clients=[known])
    document = jsonrpc.loads(world.mcp.guard._document)
    world.mcp.guard._document = jsonrpc.dumps(
        {**document, "authorization_servers": [ISSUER, OTHER]}
    )
    world.mcp.guard.issuers = frozenset([OTHER])
    caller = world.client(ClientMetadata(REDIRECT, registered=(Registration(OTHER, "by hand"),)))
    assert caller.call() == ("ana", "read_it")
    assert world.web.sent_to(ISSUER) == b""


def test_of_several_the_one_that_issued_the_token_stays():
    world = World()
    world.add(OTHER, key=world.toy.key)
    client = world.client()
    client.call()
    document = jsonrpc.loads(world.mcp.guard._document)
    world.mcp.guard._document = jsonrpc.dumps(
        {**document, "authorization_servers": [OTHER, ISSUER]}
    )
    assert client.call("write_it") == ("ana", "write_it")
    assert world.web.sent_to(OTHER) == b""


def test_a_refresh_token_never_reaches_the_mcp_server():
    world = World()
    client = world.client(DYNAMIC)
    client.call()
    sent = world.web.sent_to("https://mcp.example")
    assert client.authorizer._tokens.access_token.encode() in sent
    for secret in secrets_of(world) - {client.authorizer._tokens.access_token.encode()}:
        assert secret not in sent


def mix_up(naive_client=False):
    """Two authorization servers, and one is the attacker's.

    Its metadata is sound, and its authorization endpoint is the honest server's: the code that
    comes back is the honest server's too, on its way to the attacker's token endpoint.
    """
    world = World()
    bad = world.add("https://bad.example")
    honest = bad.metadata

    def metadata():
        return {**honest(), "authorization_endpoint": f"{ISSUER}/authorize"}

    bad.metadata = metadata
    document = jsonrpc.loads(world.mcp.guard._document)
    world.mcp.guard._document = jsonrpc.dumps(
        {**document, "authorization_servers": ["https://bad.example"]}
    )
    world.toy.clients.known["client-1"] = Known("client-1", (REDIRECT,))
    if naive_client:
        world.web.hosts["https://mcp.example"] = with_naive_path(world)
        authorizer = naive.Authorizer(SERVER, world.person, REDIRECT, world.web.fetch)
        with pytest.raises((AssertionError, KeyError)):
            go(authorizer, world, "read_it")
    else:
        with pytest.raises(IssuerMismatch) as caught:
            world.client().call()
        assert caught.value.expected == "https://bad.example"
        assert caught.value.arrived == ISSUER
    codes = [code.encode() for code in world.toy._codes]
    assert len(codes) == 1
    return codes[0] in world.web.sent_to("https://bad.example")


def test_a_mix_up_is_seen_before_the_code_is_sent():
    assert mix_up() is False


def test_a_naive_client_hands_the_code_to_the_attacker():
    assert mix_up(naive_client=True) is True


# --- what can be seen ---


def test_nothing_secret_is_shown_or_logged(capsys):
    world = World()
    client = world.client(DYNAMIC)
    client.call()
    shown = (
        repr(client.authorizer) + repr(client.authorizer._wallet) + repr(vars(client.authorizer))
    )
    shown += "".join(capsys.readouterr())
    for secret in secrets_of(world):
        assert secret.decode() not in shown
    assert "https://as.example" in shown


# --- whatever the documents say ---

ODD = [None, 7, True, "x", "", [], [7], {}, {"a": 1}, 1e300, "https://as.example/\r\nX: y", "é"]


@pytest.mark.parametrize("value", ODD, ids=ascii)
@pytest.mark.parametrize("side", ["authorization server", "resource"])
def test_an_odd_value_is_survived_or_our_error(side, value):
    first = World()
    document = first.toy.metadata() if side != "resource" else jsonrpc.loads(first.web.fetch(
        "GET", PRM, {})[2])  # fmt: skip
    names = [*document, "scopes_supported", "code_challenge_methods_supported"]
    for name in names:
        world = World()
        if side == "resource":
            world.mcp.guard._document = jsonrpc.dumps({**document, name: value})
        else:
            world.toy.metadata = lambda name=name: {**document, name: value}
        for client in (DYNAMIC, None):
            try:
                assert world.client(client).call() == ("ana", "read_it")
            except AuthorizationFailed as trouble:
                assert len(str(trouble)) < 1_200
