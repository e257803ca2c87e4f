"""The final exam in a notebook: sat here and now, or as it was recorded, and said to be so.

    report = exam.sit("server", lambda tell: suite.against_server(url, tell=tell))

Where the suite cannot run, `sit` prints one line that says why, and gives the report that was
recorded under that name. `python -m workbench record exam` records all of them again.

Does not handle: running the suite (`suite`), or drawing what it found (`exam_map`).
"""

import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from mcp_bare.http_server import HttpServer
from mcp_bare.server import Server
from toy_servers import everything
from workbench import node, recorded, suite
from workbench.replicas import replicas
from workbench.suite import Check, Report, Result

FILE = "exam.json"
UNSEEN = "tools-call-simple-text"
SAID = 400  # characters of a complaint that are kept
CLIENT = [sys.executable, str(suite.PLACE / "client.py")]
Tell = Callable[[str], object]


def required() -> dict[str, list[str]]:
    """The scenarios that this revision requires of either end: from the suite, or as recorded."""
    return _recorded()["required"] if suite.missing() else suite.required()


def sit(name: str, run: Callable[[Tell], Report]) -> Report:
    """Run the exam, with a mark for each scenario as it starts; else the recorded one."""
    if why := suite.missing():
        kept = _recorded()
        about = kept["about"]
        print(f"{why}: this is the exam recorded on {about['recorded']} with {about['with']}.")
        return _report(kept["reports"][name])
    report = run(lambda scenario: print("▪", end="", flush=True))
    count = len(report.results)
    print(f" {count} scenario{'' if count == 1 else 's'}")
    return report


@contextlib.contextmanager
def at(place: str) -> Iterator[str]:
    """A server's address: at("http://localhost:8000/mcp") is that, at("incidents") starts a toy."""
    if place.startswith(("http://", "https://")):
        yield place
        return
    with tempfile.TemporaryDirectory() as folder:  # what a toy keeps, it keeps in here
        kept = {name: f"{folder}/{name}" for name in ("INCIDENTS_DB", "CALENDAR_DB")}
        with replicas(place, 1, kept) as [url]:
            yield url


def _recorded() -> dict:
    return json.loads((recorded.TAPES / FILE).read_text(encoding="utf-8"))


# --- bad habits ---


class Altered:
    """A server whose answers somebody changes on the way out: one bad habit, the rest is ours."""

    def __init__(self, server: Server, habit: Callable[[dict], object]):
        self._server, self._habit = server, habit

    def __getattr__(self, name: str) -> object:
        return getattr(self._server, name)

    def handle(self, *request: object) -> Iterator[dict]:
        for message in self._server.handle(*request):
            self._habit(message)
            yield message


def forget_hints(message: dict) -> None:
    """Say nothing of how long an answer may be kept, and by whom."""
    for hint in ("ttlMs", "cacheScope"):
        message.get("result", {}).pop(hint, None)


def answer_another(message: dict) -> None:
    """Give each result the id of a request that nobody sent."""
    if "result" in message:
        message["id"] = 4711


# --- the recording ---


def record() -> Path:
    """Sit every exam of the notebook, and keep the reports. Raises NodeUnavailable."""
    with at("everything") as url:
        server = suite.against_server(url)
    with HttpServer(Altered(everything.make(), forget_hints)) as http:
        broken = suite.against_server(http.url)
    with HttpServer(Altered(everything.make(), answer_another)) as http:
        unseen = suite.against_server(http.url, UNSEEN)
    with at("incidents") as url:
        yours = suite.against_server(url)
    client = suite.against_client(CLIENT)
    reports = {
        "server": server,
        "client": client,
        "broken": broken,
        "unseen": unseen,
        "yours": yours,
    }
    about = {
        "what": "the exams of the notebook ch27/12_the_final_exam",
        "recorded": time.strftime("%Y-%m-%d", time.gmtime()),
        "with": f"conformance {version()}",
    }
    path = recorded.TAPES / FILE
    kept = {
        "about": about,
        "required": suite.required(),
        "reports": {name: _kept(each) for name, each in reports.items()},
    }
    path.write_text(json.dumps(kept, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def version() -> str:
    """The suite's version, as its lock pins it."""
    lock = json.loads((node.CONFORMANCE / "package-lock.json").read_text(encoding="utf-8"))
    return lock["packages"][f"node_modules/{suite.PACKAGE}"]["version"]


def _kept(report: Report) -> dict:
    """A report without its notes, what was said for the good checks, and a machine's paths."""
    results = {
        result.scenario: [
            [c.id, c.status, "" if c.good else c.said[:SAID]]
            for c in result.checks
            if c.status != "INFO"
        ]
        for result in report.results
    }
    return {"end": report.end, "code": report.code, "results": results}


def _report(kept: dict) -> Report:
    results = tuple(
        Result(name, tuple(Check(id, id, status, said) for id, status, said in checks))
        for name, checks in kept["results"].items()
    )
    return Report(kept["end"], results, kept["code"])
