"""An address in three pieces, what is said about it, and what a browser is never given."""

import socket

import pytest

from mcp_bare.addresses import is_loopback, review
from mcp_bare.errors import ProtocolViolation

PUNYCODE, LETTERS = "Punycode", "outside ASCII"
USER, PLAIN, NUMBER = "user name", "not HTTPS", "a number, not a name"


@pytest.mark.parametrize(
    ("url", "host", "words"),
    [
        ("https://pay.example/x?a=1#f", "pay.example", []),
        ("HTTPS://PAY.example", "PAY.example", []),
        ("https://a.example:/x", "a.example", []),
        ("http://127.0.0.1:4567/x", "127.0.0.1", []),
        ("http://[::1]:80/", "[::1]", []),
        ("http://localhost./", "localhost.", []),
        ("http://pay.example", "pay.example", [PLAIN]),
        ("http://localhost.evil.example", "localhost.evil.example", [PLAIN]),
        ("https://xn--pple-43d.com/", "xn--pple-43d.com", [PUNYCODE]),
        ("https://аpple.com/", "аpple.com", [LETTERS]),
        ("https://bank.example。evil.example/", "bank.example。evil.example", [LETTERS]),
        ("https://bank.example@evil.example/", "evil.example", [USER]),
        ("https://bank.example:pw@evil.example:443/p@th", "evil.example", [USER]),
        ("https://evil.example/@bank.example", "evil.example", []),
        ("https://192.0.2.1/", "192.0.2.1", [NUMBER]),
        ("https://[2001:db8::1]/", "[2001:db8::1]", [NUMBER]),
        ("http://2130706433/", "2130706433", [PLAIN, NUMBER]),
        ("http://0x7f.1/", "0x7f.1", [PLAIN, NUMBER]),
    ],
)
def test_pieces_and_warnings(url, host, words):
    address = review(url)
    assert (address.url, address.host) == (url, host)
    assert len(address.warnings) == len(words)
    assert all(any(word in warning for warning in address.warnings) for word in words)


@pytest.mark.parametrize(
    "url",
    [
        None, 5, "", "pay.example", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd",
        "https:", "https://", "https:evil.example", "https:///evil.example", "https://:443/",
        "https://ex%61mple.com/", "https://a.example\\@evil.example", "https://a:99999/",
        "https://[::1", "https://a\u202eb.example", "https://a.example/\u202ecod.exe",
        "https://a.example/\u200b", " https://a.example", "https://a.example/ b",
        "https://a.example/\n", "https://'a'.example/",
    ],
)  # fmt: skip
def test_what_a_browser_is_never_given(url):
    with pytest.raises(ProtocolViolation, match="may not be opened"):
        review(url)


def test_nothing_is_resolved_or_fetched(monkeypatch):
    def never(*_, **__):
        raise AssertionError("the network was touched")

    for name in ("socket", "getaddrinfo", "gethostbyname", "create_connection"):
        monkeypatch.setattr(socket, name, never)
    assert review("https://pay.example/").host == "pay.example"
    assert not is_loopback("pay.example")
