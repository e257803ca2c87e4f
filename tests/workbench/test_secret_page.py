"""The toy's page: the secret goes from the page to the server, once, and over no other wire."""

import http.client
import urllib.parse

import pytest

from mcp_bare.errors import ErrorResponse
from workbench.forms import ask
from workbench.servers import open_toy

SECRET = "sk-5f1e-never-on-the-wire"
MODES = {"elicitation": {"form": {}, "url": {}}}


@pytest.fixture
def client():
    with open_toy("questions", capabilities=MODES) as opened:
        yield opened


def fetch(url, method="GET", body=None, **headers):
    """Status and body; no proxy, no redirect, and exactly these headers."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=5)
    connection.request(method, parts.path, body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers


def typed(secret=SECRET):
    return urllib.parse.urlencode({"secret": secret})


def test_the_secret_reaches_the_server_and_not_the_tape(client):
    connect = ask(client, "connect_calendar", server="calendar")
    address = connect.review()
    assert connect.accept() is None  # too early: the server asks again
    assert "Nothing has been typed" in connect.questions["page"].message
    assert connect.review() == address
    assert fetch(address.url)[0] == 200  # looking at the page uses nothing up
    assert fetch(address.url, "POST", typed())[0] == 200
    assert connect.accept()["content"][0]["text"].startswith("Connected.")
    assert ask(client, "connect_calendar", server="calendar").result is not None
    everything = b"".join(entry.payload for entry in client.tape)
    assert SECRET.encode() not in everything
    assert address.url.rpartition("/")[2] in everything.decode()  # and the address was


def test_it_works_once(client):
    address = ask(client, "connect_calendar", server="c").review()
    assert fetch(address.url, "POST", typed())[0] == 200
    assert fetch(address.url, "POST", typed("another"))[0] == 404
    assert fetch(address.url)[0] == 404


@pytest.mark.parametrize("way", ["decline", "cancel"])
def test_no_closes_the_page_and_forgets_what_came_early(client, way):
    connect = ask(client, "connect_calendar", server="c")
    address = connect.review()
    assert fetch(address.url, "POST", typed())[0] == 200
    assert f"chose to {way}" in getattr(connect, way)()["content"][0]["text"]
    assert ask(client, "connect_calendar", server="c").result is None
    other = ask(client, "connect_calendar", server="c")
    open_page = other.review()
    getattr(other, way)()
    assert fetch(open_page.url, "POST", typed())[0] == 404


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status"),
    [
        ("GET", "", None, {"Host": "evil.example"}, 404),  # DNS rebinding
        ("POST", "", typed(), {"Origin": "https://evil.example"}, 404),  # another site's form
        ("POST", "", typed(), {"Origin": "null"}, 404),
        ("POST", "", typed(""), {}, 404),
        ("POST", "", b"x" * 5000, {}, 413),
        ("POST", "", b"x", {"Content-Length": "-1"}, 413),
        ("POST", "", b"x", {"Content-Length": "9" * 400}, 413),
        ("POST", "", b"\xff\xfe=%ff", {}, 404),
        ("GET", "x", None, {}, 404),
        ("PUT", "", b"", {}, 501),
    ],
)
def test_what_the_page_does_not_take(client, method, path, body, headers, status):
    connect = ask(client, "connect_calendar", server="c")
    url = connect.review().url
    assert fetch(url + path, method, body, **headers)[0] == status
    assert fetch(url)[0] == 200  # and it is still open for the person
    assert connect.accept() is None


def test_the_page_runs_no_script_and_tells_nobody_where_it_is(client):
    _, body, headers = fetch(ask(client, "connect_calendar", server="c").review().url)
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cache-Control"] == "no-store"
    assert "<script" not in body and 'type="password"' in body


def test_which_page_it_waits_for_is_sealed_into_the_state(client):
    first = client.request("tools/call", {"name": "connect_calendar", "arguments": {}})
    forged = {**first, "requestState": first["requestState"][:-2] + "AA"}
    yes = {"page": {"action": "accept"}}
    call = {"name": "connect_calendar", "arguments": {}}
    for state in (forged, {**first, "requestState": "x"}):
        with pytest.raises(ErrorResponse, match="requestState"):
            client.retry("tools/call", call, state, yes)
    assert client.retry("tools/call", call, first, yes)["resultType"] == "input_required"


def test_another_process_knows_nothing_of_the_page(client):
    connect = client.request("tools/call", {"name": "connect_calendar", "arguments": {}})
    with (
        open_toy("questions", capabilities=MODES) as other,
        pytest.raises(ErrorResponse, match="requestState"),
    ):
        other.retry("tools/call", {"name": "connect_calendar"}, connect, {})
