"""A page that a server wants the person to open: what to show of its address, what to warn about.

A client shows the whole address, makes the host stand out, warns where it looks like another one,
and opens nothing by itself. `review` only looks at the text: nothing is fetched, resolved or
opened, also not to find out more.

Does not handle: whether the page is any good, and which part of a host its owner registered (that
needs a list that changes every week): the whole host is what stands out.

Spec: client/elicitation, "Safe URL Handling".
"""

from __future__ import annotations

import contextlib
import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcp_bare.errors import ProtocolViolation

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Address:
    """An address in three pieces, `before` + `host` + `after`, and what the person should know."""

    before: str
    host: str
    after: str
    warnings: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        """The whole address, as the server gave it."""
        return self.before + self.host + self.after


def review(url: Any) -> Address:
    """Take an address apart. Raises ProtocolViolation for what a browser must not be given.

    review("https://pay.example/x").host -> "pay.example"
    """
    if not isinstance(url, str) or not re.match(r"https?://[^/?#]", url, re.IGNORECASE):
        raise _unfit(url, "an http or https URL with a host is due")
    if any(unicodedata.category(letter) in ("Cc", "Cf", "Zs", "Co", "Cn") for letter in url):
        raise _unfit(url, "it holds characters that cannot be seen")
    if "\\" in url:
        raise _unfit(url, "browsers and other programs disagree on what a backslash means")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as trouble:
        raise _unfit(url, str(trouble)) from None
    userinfo, _, place = parts.netloc.rpartition("@")
    host = place if port is None and not place.endswith(":") else place.rpartition(":")[0]
    if not host or re.search(r"[%\"'<>^`{|},;]", host):
        raise _unfit(url, "its host is none")
    start = len(parts.scheme) + 3 + (len(userinfo) + 1 if "@" in parts.netloc else 0)
    found = Address(url[:start], url[start : start + len(host)], url[start + len(host) :])
    warnings = tuple(_warnings(found, "@" in parts.netloc))
    return Address(found.before, found.host, found.after, warnings)


@lru_cache(maxsize=64)  # a server asks for each request, mostly about one name
def is_loopback(host: str) -> bool:
    """Is this host the person's own machine, whatever a name server says?"""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(name).is_loopback
    return False


def _warnings(address: Address, has_user: bool) -> Iterator[str]:
    host = address.host.lower()
    labels = host.split(".")
    if not host.isascii():
        yield f"the host has letters outside ASCII; to the network it is {_ascii(host)}"
    if any(label.startswith("xn--") for label in labels):
        yield f"the host is written in Punycode; a browser may show it as {_decoded(host)}"
    if has_user:
        yield "what stands before the @ is a user name, and no part of the host"
    if not is_loopback(host):
        if address.before[:5].lower() != "https":
            yield "not HTTPS: others on the way can read and change what you type"
        if _is_number(host):
            yield "the host is a number, not a name: nothing says whose it is"


def _is_number(host: str) -> bool:
    """An IP address, also in the short forms that browsers take: 2130706433, 0x7f.1."""
    if host.startswith("["):
        return True
    last = host.rstrip(".").rpartition(".")[2]
    return re.fullmatch(r"\d+|0x[0-9a-f]*", last) is not None


def _decoded(host: str) -> str:
    try:
        return host.encode("ascii").decode("idna")
    except UnicodeError:
        return "something else"


def _ascii(host: str) -> str:
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return "something else"


def _unfit(url: Any, why: str) -> ProtocolViolation:
    return ProtocolViolation(f"{str(url)[:200]!r} may not be opened: {why} (client/elicitation)")
