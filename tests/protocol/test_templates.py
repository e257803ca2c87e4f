"""A URI and the parts that a template finds in it (server/resources, "Resource Templates")."""

import json
import time

import pytest

from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse
from mcp_bare.memory import MemoryTransport
from mcp_bare.server import Server

CASES = [
    # template, URI, its parts (None: the template does not fit)
    ("x://{a}", "x://1", {"a": "1"}),
    ("x://{a}", "x://", None),
    ("x://{a}", "x://1/2", None),
    ("x://{a}", "x://1?b", None),
    ("x://{a}", "y://1", None),
    ("x://{a}", "x://%2Fetc%2f..", {"a": "/etc/.."}),
    ("x://{a}/{b}", "x://1/2", {"a": "1", "b": "2"}),
    ("x://{a}/{b}", "x://1/2/3", None),
    ("x://{a}-{b}", "x://1-2-3", {"a": "1", "b": "2-3"}),
    ("x://{a}-{b}", "x://-1-2", {"a": "-1", "b": "2"}),
    ("x://{a}-{b}.txt", "x://1-y.txt.txt", {"a": "1", "b": "y.txt"}),
    ("x://{a}.{b}.txt", "x://1.2.txt", {"a": "1", "b": "2"}),
    ("x://{a}{b}", "x://123", {"a": "1", "b": "23"}),
    ("x://(.*){a}", "x://(.*)1", {"a": "1"}),
    ("x://(.*){a}", "x://abc1", None),
    ("x://{a}/end", "x://1/end", {"a": "1"}),
    ("x://{a}/end", "x://1/end/", None),
]


def read(template: str, uri: str) -> dict[str, str] | None:
    """The parts that a handler is given, None where the resource is not found."""
    server = Server("templates", "1")
    register = server.template({"uriTemplate": template, "name": "t"})
    register(lambda call: json.dumps(call.variables))
    with Client(MemoryTransport(server)) as client:
        try:
            return json.loads(client.read_resource(uri)["contents"][0]["text"])
        except ErrorResponse as refusal:
            assert refusal.code == -32602 and "not found" in str(refusal)
            return None


@pytest.mark.parametrize(("template", "uri", "parts"), CASES)
def test_the_parts_of_a_uri(template, uri, parts):
    assert read(template, uri) == parts


@pytest.mark.parametrize("template", ["x://{a}{b}{c}", "x://{a}-{b}-{c}", "x://{a}-{b}-{c}-end"])
def test_a_long_uri_that_almost_fits_holds_nobody_up(template):
    """Tried in all ways, three parts cost the cube of its length."""
    began = time.monotonic()
    assert read(template, "x://" + "-" * 500_000 + "/") is None
    assert time.monotonic() - began < 5
