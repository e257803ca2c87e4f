"""A class of two hundred in half a minute, and twice the class in twice the time.

Seconds are printed, and not asserted: what holds on every machine is how many bare starts of a
sandbox a submission costs, measured in the same breath. Where two starts at a time take 25 ms, a
dozen of them for each submission is half a minute for two hundred.
"""

import os
import statistics
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from classroom import sandbox
from classroom.roll import Job, grade_all
from tests.classroom import tiny
from tests.classroom.conftest import Tiny, classroom, hand_in, results

pytestmark = pytest.mark.timeout(600)
WORKERS = 2
ENDLESS = "# Stage parse: late\ndef parse(line):\n    while True: pass"
SECONDS = 2.0
"""What one check may take here; a teacher's run waits for five."""
STARTS = 12.0
"""What a good submission may cost, in bare starts of a sandbox."""


def bare_start() -> float:
    """Seconds for `python -c pass` in a sandbox, as many at a time as there are workers."""
    limits = sandbox.Limits()
    command = [*sandbox._enclosed(limits), "/dev/null"]

    def start(_: int) -> None:
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, timeout=30)

    took = []
    with ThreadPoolExecutor(WORKERS) as pool:
        for _ in range(5):
            begun = time.perf_counter()
            list(pool.map(start, range(10 * WORKERS)))
            took.append((time.perf_counter() - begun) / 10)
    return statistics.median(took)


def graded(count: int, room: Path, small: Tiny, every: int = 0) -> float:
    """Seconds for a class; one in `every` of them never ends."""
    (room / "seed").write_text("s")
    for number in range(count):
        endless = every and number % every == 0
        notebook = tiny.notebook({"parse": ENDLESS} if endless else {})
        hand_in(room / f"in/{number:03}.ipynb", notebook)
    options = ("--checks", small.checks, "--seed", room / "seed", "--seconds", SECONDS)
    begun = time.perf_counter()
    classroom("grade", "in", "out", *options, "--workers", WORKERS, cwd=room)
    took = time.perf_counter() - begun
    found = results(room / "out").values()
    assert len(found) == count
    late = [result for result in found if result.score < 7]
    assert len(late) == (count / every if every else 0)
    assert all(result.score == 5 for result in late)
    return took


@pytest.fixture
def folders(tmp_path: Path, bubblewrap: str) -> tuple[Path, Path]:
    return tmp_path / "one", tmp_path / "two"


def test_two_hundred_and_half_of_them(folders: tuple[Path, Path], small: Tiny) -> None:
    for folder in folders:
        folder.mkdir()
    before = bare_start()
    half = graded(100, folders[0], small)
    between = bare_start()
    whole = graded(200, folders[1], small)
    bare = max(before, between, bare_start())
    print(f"measured: 200 in {whole:.1f} s, 100 in {half:.1f} s, a bare start {bare * 1e3:.0f} ms")
    cost = WORKERS * whole / 200 / bare
    print(f"measured: a submission costs {cost:.1f} bare starts")
    assert cost < STARTS
    assert whole / half < 3.0


def test_one_in_ten_never_ends(folders: tuple[Path, Path], small: Tiny) -> None:
    for folder in folders:
        folder.mkdir()
    good, some = graded(40, folders[0], small), graded(40, folders[1], small, every=10)
    waits = 4 * SECONDS / WORKERS
    print(f"measured: 40 good ones in {good:.1f} s, with 4 endless in {some:.1f} s")
    print(f"measured: of 200 with 20 endless, waiting is {20 * 5 / WORKERS:.0f} s of 180")
    assert some < 2 * good + 2 * waits
    assert some > waits  # they did wait


def test_a_class_that_is_graded_already_costs_next_to_nothing(
    tmp_path: Path, small: Tiny, exam: object
) -> None:
    jobs = [Job(hand_in(tmp_path / f"{n}.ipynb", tiny.notebook()), f"{n}.ipynb") for n in range(9)]

    def engine(asked: list[Job], exam: object) -> object:
        assert asked == []
        return iter(())

    options = ("--checks", small.checks, "--seed", tmp_path / "seed", "--seconds", 3)
    (tmp_path / "seed").write_text("5eed")
    folder = tmp_path / "in"
    folder.mkdir()
    for job in jobs:
        os.rename(job.path, folder / job.name)
    classroom("grade", "in", "out", *options, cwd=tmp_path)
    there = [Job(folder / job.name, job.name) for job in jobs]
    found, earlier = grade_all(there, tmp_path / "out", exam, engine)
    assert earlier == len(found) == 9
