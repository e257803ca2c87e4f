"""Three copies behind one address: what a list in a process forgets, and what a handle does not.

Once behind our own front, once behind nginx, a real one that knows nothing of MCP.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_bare import elicitation
from mcp_bare.client import Client
from mcp_bare.errors import ErrorResponse
from mcp_bare.streamable_http import HttpTransport
from tests.conftest import missing
from tests.http import lab
from toy_servers.front import Front
from workbench.replicas import replicas
from workbench.web import free_port

FORMS = {"elicitation": {"form": {}}}
AT = {"startsAt": "2026-09-10T08:30:00Z"}
CONFIG = """
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; {temporary}
  upstream copies {{ {servers} }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://copies; proxy_http_version 1.1; proxy_set_header Host 127.0.0.1;
    }}
  }}
}}
"""
BODIES = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@contextlib.contextmanager
def nginx(urls: list[str], folder: Path) -> Iterator[str]:
    """nginx before these copies, round robin, on a port of its own."""
    command = shutil.which("nginx") or missing("no nginx; `apt-get install nginx-light` brings it")
    port = free_port()
    servers = " ".join(f"server {url.split('/')[2]};" for url in urls)
    temporary = " ".join(f"{name}_temp_path {folder}/{name};" for name in BODIES)
    text = CONFIG.format(folder=folder, temporary=temporary, servers=servers, port=port)
    (folder / "nginx.conf").write_text(text)
    arguments = ["-c", str(folder / "nginx.conf"), "-p", str(folder), "-e", str(folder / "start")]
    with subprocess.Popen([command, *arguments]) as running:
        try:
            assert lab.eventually(lambda: (folder / "pid").exists() or running.poll() is not None)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            running.terminate()


@contextlib.contextmanager
def our_own(urls: list[str], folder: Path) -> Iterator[str]:
    with Front(urls) as front:
        yield front.url


FRONTS = {"our own front": our_own, "nginx": nginx}


@pytest.fixture(params=FRONTS)
def behind(request: pytest.FixtureRequest, tmp_path: Path):
    @contextlib.contextmanager
    def three(name: str, **env: str) -> Iterator[Client]:
        with (
            replicas(name, 3, env) as urls,
            FRONTS[request.param](urls, tmp_path) as url,
            Client(HttpTransport(url), capabilities=FORMS) as client,
        ):
            yield client

    return three


def week(client: Client, uri: str) -> list[dict]:
    return json.loads(client.read_resource(uri, refresh=True)["contents"][0]["text"])


def test_a_list_in_the_process_fails_two_readers_of_three(behind):
    with behind("calendar_forgetful") as client:
        client.call_tool("create_event", {"title": "Dentist", **AT})
        assert sorted(len(week(client, "calendar://week")) for _ in range(3)) == [2, 2, 3]


def test_a_handle_fails_nobody(behind, tmp_path):
    shared = {"CALENDAR_DB": str(tmp_path / "c.db"), "CALENDAR_STATE_KEY": secrets.token_hex(16)}
    with behind("calendar_handles", **shared) as client:
        handle = client.call_tool("create_calendar")["structuredContent"]["calendar"]
        client.call_tool("create_event", {"calendar": handle, "title": "Dentist", **AT})
        assert [len(week(client, f"calendar://{handle}/week")) for _ in range(9)] == [1] * 9


@pytest.mark.parametrize("shared_key", [True, False])
def test_a_question_of_one_copy_is_answered_at_another(behind, tmp_path, shared_key):
    key = secrets.token_hex(16) if shared_key else ""
    env = {"CALENDAR_DB": str(tmp_path / "c.db"), "CALENDAR_STATE_KEY": key}
    with behind("calendar_handles", **env) as client:
        handle = client.call_tool("create_calendar")["structuredContent"]["calendar"]
        params = {"name": "create_event", "arguments": {"calendar": handle, "title": "Dentist"}}
        asked = client.request("tools/call", params)
        answer = {"when": elicitation.accept(AT)}
        if shared_key:
            done = client.retry("tools/call", params, asked, answer)
            assert done["structuredContent"]["title"] == "Dentist"
        else:
            with pytest.raises(ErrorResponse, match="Invalid or expired requestState"):
                client.retry("tools/call", params, asked, answer)


def test_a_replica_that_does_not_start_says_why(tmp_path):
    env = {"CALENDAR_DB": str(tmp_path / "c.db"), "PYTHONPATH": "", "PYTHONHOME": os.devnull}
    with pytest.raises(RuntimeError, match="a server ended"), replicas("calendar_handles", 1, env):
        pass
