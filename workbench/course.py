"""The notebooks in their order: path, question, minutes. README and front door are made from it."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STATED = re.compile(
    r"(\w+) stages, (\d+) points(?: and \d+ for words of your own)?, about (\d+) min"
)

COURSE = (
    ("00_start_here", "Can a conversation fit on one screen?", 15),
    ("ch26/01_messages_on_a_wire", "What is a message, and where does it end?", 25),
    ("ch26/02_every_request_stands_alone", "What must every request carry?", 25),
    ("ch26/03_which_era_is_this", "How do I know what a server speaks?", 30),
    ("ch26/04_who_decides", "A tool, a resource or a prompt?", 20),
    ("ch26/05_the_server_asks_back", "How does a server ask the person?", 30),
    ("ch26/06_a_handle_is_a_name", "Where does the state live?", 20),
    ("ch26/07_host_client_server", "Who stops a server that lies?", 25),
    ("ch26/08_what_a_server_costs", "Who pays, and for how long?", 25),
    ("ch26/09_forms_and_pages", "Which form must a client not draw?", 27),
    ("ch26/10_asking_for_a_generation", "Who paid for the tokens?", 20),
    ("ch26/11_streams_of_change", "Whose news is this?", 25),
    ("ch26/12_dates_and_deprecations", "When was this written?", 25),
    ("ch27/01_one_server_three_hands", "Can a client tell who wrote the server?", 28),
    ("ch27/02_what_the_model_reads", "Who wrote this schema?", 25),
    ("ch27/03_what_an_error_may_say", "Who reads your exception?", 23),
    ("ch27/04_one_stray_line", "Where does a stray print land?", 24),
    ("ch27/05_what_it_weighs", "Where does a start go?", 25),
    ("ch27/06_post_and_stream", "What if header and body disagree?", 30),
    ("ch27/07_the_ladder", "What is wrong with this token?", 30),
    ("ch27/08_the_whole_dance", "How does a client find its way to a token?", 28),
    ("ch27/09_a_name_is_not_a_permission", "Who may use somebody else's token?", 23),
    ("ch27/10_three_replicas_no_session", "Where did the event go?", 20),
    ("ch27/11_where_servers_live", "Which of two true sentences?", 20),
    ("ch27/12_the_final_exam", "Who says that we are right?", 28),
    ("ch27/13_a_tap_on_the_wire", "What does a host say that you did not write?", 22),
    ("reference_card", "What was that method called?", 5),
    ("the_ledger", "Does the chapter still hold?", 20),
)


def number(path: str) -> str:
    """How a notebook is called: "26.1" for ch26/01_..., its name for one that has no number."""
    chapter, _, name = path.rpartition("/")
    return f"{chapter[2:]}.{int(name[:2])}" if chapter else name.replace("_", " ")


def markdown() -> str:
    """The table of the README."""
    rows = [
        f"| [{number(path)}](notebooks/{path}.ipynb) | {question} | {minutes} |"
        for path, question, minutes in COURSE
    ]
    return "\n".join(["| notebook | question | minutes |", "|---|---|---|", *rows])


def exercises() -> str:
    """The table of exercises of the README, from what each says under its title."""
    rows = []
    for path in sorted((ROOT / "exercises").rglob("*.ipynb")):
        if ".ipynb_checkpoints" in path.parts:
            continue
        first = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])
        title = first.splitlines()[0].partition(". ")[2]
        stages, points, minutes = re.search(STATED, " ".join(first.split())).groups()
        name = path.relative_to(ROOT).as_posix()
        number = f"{path.parent.name[2:]}.{path.stem.partition('_')[0].lstrip('0')}"
        rows.append(f"| [{number}]({name}) | {title} | {stages.lower()} | {points} | {minutes} |")
    head = ["| exercise | what you do | stages | points | minutes |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows])
