"""From a scenario of the conformance suite to the notebook that taught what it looks at.

`taught()` is the map as data; `picture` draws reports on it, a chip for each scenario, red or
green.
The scenarios of extensions are not on the map: they are no part of the core, nor of this course.
"""

from collections.abc import Iterator
from textwrap import wrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workbench import course
from workbench.charts import Picture, as_png, house_style
from workbench.suite import Report

HERE = "ch27/12_the_final_exam"
ASKS = "input-required-result-"
LESSONS = {
    "ch26/01_messages_on_a_wire": ("tools_call",),
    "ch26/02_every_request_stands_alone": ("server-stateless", "request-metadata"),
    "ch26/04_who_decides": (
        *("tools-list", "tools-call-simple-text", "tools-call-error"),
        *("resources-list", "resources-read-text", "sep-2164-resource-not-found"),
        *("prompts-list", "prompts-get-simple", "prompts-get-with-args"),
    ),
    "ch26/05_the_server_asks_back": (
        *(f"{ASKS}basic-elicitation", f"{ASKS}request-state", f"{ASKS}multi-round"),
        *(f"{ASKS}multiple-input-requests", f"{ASKS}missing-input-response"),
        *(f"{ASKS}non-tool-request", f"{ASKS}result-type", f"{ASKS}unsupported-methods"),
        *(f"{ASKS}tampered-state", f"{ASKS}capability-check", f"{ASKS}ignore-extra-params"),
        *(f"{ASKS}validate-input", "sep-2322-client-request-state"),
    ),
    "ch26/06_a_handle_is_a_name": ("resources-templates-read",),
    "ch26/08_what_a_server_costs": ("caching",),
    "ch26/10_asking_for_a_generation": (f"{ASKS}basic-sampling", f"{ASKS}basic-list-roots"),
    "ch26/11_streams_of_change": ("tools-call-with-progress",),
    "ch27/06_post_and_stream": (
        *("server-sse-multiple-streams", "dns-rebinding-protection"),
        *("http-header-validation", "http-standard-headers"),
    ),
    "ch27/08_the_whole_dance": (
        *("auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2"),
        *("auth/metadata-var3", "auth/metadata-issuer-mismatch", "auth/basic-cimd"),
        *("auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported"),
        *("auth/scope-omitted-when-undefined", "auth/scope-step-up", "auth/scope-retry-limit"),
        *("auth/resource-mismatch", "auth/authorization-server-migration"),
        *("auth/iss-supported", "auth/iss-not-advertised", "auth/iss-supported-missing"),
        *("auth/iss-wrong-issuer", "auth/iss-unexpected", "auth/iss-normalized"),
    ),
    HERE: (
        *("tools-call-image", "tools-call-audio", "tools-call-embedded-resource"),
        *("tools-call-mixed-content", "resources-read-binary"),
        *("prompts-get-embedded-resource", "prompts-get-with-image", "completion-complete"),
        *("http-custom-headers", "http-custom-header-server-validation"),
        *("http-invalid-tool-headers", "json-schema-2020-12"),
        *("json-schema-2020-12-preservation", "json-schema-ref-no-deref"),
        *("auth/pre-registration", "auth/token-endpoint-auth-basic"),
        *("auth/token-endpoint-auth-post", "auth/token-endpoint-auth-none"),
        *("auth/offline-access-scope", "auth/offline-access-not-supported"),
    ),
}
"""The notebooks in their order, each with its scenarios."""

NO_FIXTURES = (
    *("tools-list", "resources-list", "prompts-list", "sep-2164-resource-not-found", "caching"),
    *(f"{ASKS}unsupported-methods", "server-sse-multiple-streams"),
    *("dns-rebinding-protection", "http-header-validation"),
)
"""What any server may sit: the other scenarios call tools by names that the suite prescribes."""

GREEN, RED = "#26734a", "#b93a2c"  # white letters stand out from either
LETTER = 7.6  # points; the letters of a chip are of one width, which is the unit below
LABEL, LINE, PAD = 42, 109, 4.6  # room for a name, for its chips, and around a chip's name


def taught() -> dict[str, str]:
    """The notebook of each scenario on the map."""
    return {scenario: path for path, scenarios in LESSONS.items() for scenario in scenarios}


def picture(*reports: Report) -> Picture:
    """The lessons from the top down, with what was examined: ✓ in green, ✕ in red."""
    verdicts = {r.scenario: r.passed for report in reports for r in report.results}
    rows = list(_rows(verdicts))
    with house_style():
        figure = Figure(figsize=(9.6, 0.2 + 0.28 * len(rows)), layout="constrained")
        axes = figure.subplots()
        for height, (label, chips) in enumerate(rows):
            for column, words in zip((0, 7), label, strict=False):
                axes.text(column, height, words, va="center", fontsize=10)
            at = float(LABEL)
            for scenario in chips:
                at += _chip(axes, at, height, scenario, verdicts[scenario])
        axes.set_xlim(0, LABEL + LINE)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.axis("off")
    return as_png(figure, _words(verdicts))


def _rows(verdicts: dict[str, bool]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Each notebook's number and name, then its chips, on as many lines as they take."""
    for path, scenarios in LESSONS.items():
        label: tuple[str, ...] = (course.number(path), _title(path))
        line: list[str] = []
        for name in scenarios:
            if name not in verdicts:
                continue
            if sum(len(each) + PAD for each in [*line, name]) > LINE:
                yield label, line
                label, line = (), []
            line.append(name)
        if line:
            yield label, line


def _title(path: str) -> str:
    """The notebook's name in words, short enough for its column."""
    words = path.rpartition("/")[2][3:].replace("_", " ").capitalize()
    return wrap(words, 28)[0]


def _chip(axes: Axes, at: float, height: float, scenario: str, passed: bool) -> float:
    """Draw one; returns the room it took."""
    box = {"boxstyle": "round,pad=0.28", "facecolor": GREEN if passed else RED, "linewidth": 0}
    text = f"{'✓' if passed else '✕'} {scenario}"
    style = {"family": "DejaVu Sans Mono", "fontsize": LETTER, "color": "white", "va": "center"}
    axes.text(at, height, text, bbox=box, **style)
    return len(scenario) + PAD


def _words(verdicts: dict[str, bool]) -> str:
    """The same for those who read: each notebook, how many of its scenarios hold, and which not."""
    lines = []
    for path, scenarios in LESSONS.items():
        sat = [name for name in scenarios if name in verdicts]
        red = [name for name in sat if not verdicts[name]]
        if sat:
            told = f"; red: {', '.join(red)}" if red else ""
            lines.append(f"{course.number(path)}: {len(sat) - len(red)} of {len(sat)}{told}")
    return "\n".join(lines)
