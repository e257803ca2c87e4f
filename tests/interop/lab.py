"""The processes of the matrix: four servers, over pipes and on loopback, and who meets them.

    with Lab() as lab:
        lab.meet("ts v2", "ours", "http").lines["call"]     {"feature": "call", "saw": [...]}

The servers that listen are started once and end with the lab; over pipes each client starts its
own. Our client runs in this process, the others in theirs. Nobody meets anybody twice.

Does not handle: what is right (`matrix`).
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from mcp_bare.errors import McpError
from mcp_bare.exchange import Transport
from mcp_bare.stdio import StdioTransport
from mcp_bare.streamable_http import HttpTransport
from tests.interop.clients import ours
from workbench import node

HERE = Path(__file__).resolve().parent
SCRIPTS = {"ours": "ours.py", "py": "sdk.py", "ts v2": "ts_v2.mjs", "ts v1": "ts_v1.mjs"}
PARTIES = tuple(SCRIPTS)
WIRES = ("stdio", "http")
PATIENCE = 60.0  # seconds for one client to meet one server


@dataclass(frozen=True)
class Report:
    """What a client said of each feature, what the server saw, and what else was said."""

    lines: dict[str, dict[str, Any]]
    server_saw: list[dict[str, Any]]
    noise: str


class Lab:
    """Starts the servers that listen; `meet` has one client meet one server."""

    def __init__(self) -> None:
        self.urls: dict[str, str] = {}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._logs: dict[str, IO[bytes]] = {}
        self._met: dict[tuple[str, str, str], Report] = {}

    def __enter__(self) -> Lab:
        try:
            for name in PARTIES:
                self._logs[name] = tempfile.TemporaryFile()
                self.processes[name] = subprocess.Popen(
                    [*command("servers", name), "http"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._logs[name],
                    start_new_session=True,
                )
            for name, process in self.processes.items():
                assert process.stdout
                self.urls[name] = json.loads(process.stdout.readline())["url"]
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """The servers leave when their input ends."""
        for process in self.processes.values():
            assert process.stdin and process.stdout
            process.stdin.close()
        for process in self.processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # `node` may be a wrapper of the real one
                process.wait()
            process.stdout.close()
        for log in self._logs.values():
            log.close()

    def meet(self, client: str, server: str, wire: str) -> Report:
        """What came of it; the same again where they have met before."""
        key = (client, server, wire)
        if key not in self._met:
            before = self._logged(server)
            run = self._ours if client == "ours" else self._theirs
            report = run(client, server, wire)
            if wire == "http":
                saw, noise = apart(self._logged(server)[len(before) :].decode("utf-8", "replace"))
                report = Report(report.lines, saw, report.noise + noise)
            self._met[key] = report
        return self._met[key]

    def _logged(self, server: str) -> bytes:
        log = self._logs[server]
        log.seek(0)
        return log.read()

    def _ours(self, client: str, server: str, wire: str) -> Report:
        opened: list[StdioTransport] = []

        def open_transport() -> Transport:
            if wire == "http":
                return HttpTransport(self.urls[server])
            opened.append(StdioTransport(command("servers", server)))
            return opened[-1]

        lines: dict[str, dict[str, Any]] = {}
        try:
            for line in ours.look(open_transport):
                lines[line["feature"]] = line
        except McpError as trouble:
            lines["open"] = {"feature": "open", "error": ours.told(trouble)}
        saw, noise = apart("".join(transport.stderr_tail for transport in opened))
        return Report(lines, saw, noise)

    def _theirs(self, client: str, server: str, wire: str) -> Report:
        where = [self.urls[server]] if wire == "http" else command("servers", server)
        with running([*command("clients", client), wire, *where]) as process:
            try:
                out, err = process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
                err += f"\nkilled after {PATIENCE:g} s".encode()
        lines = [json.loads(line) for line in out.splitlines()]
        saw, noise = apart(err.decode("utf-8", "replace"))
        if process.returncode:
            noise += f"\nexit code {process.returncode}"
        return Report({line["feature"]: line for line in lines}, saw, noise)


@contextlib.contextmanager
def running(words: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process with its own group, gone at the end whatever happens."""
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def command(folder: str, name: str) -> list[str]:
    """How one of the scripts is started."""
    script = HERE / folder / SCRIPTS[name]
    runs_it = node.find().node if script.suffix == ".mjs" else sys.executable
    return [runs_it, str(script)]


def apart(said: str) -> tuple[list[dict[str, Any]], str]:
    """What a server said that it saw, and the rest of a standard error."""
    saw, rest = [], []
    for line in said.split("\n"):
        if line.startswith('{"server":'):
            saw.append(json.loads(line))
        elif line.strip():
            rest.append(line)
    return saw, "\n".join(rest)
