"""What `measure` says of costs that are known beforehand, and of real processes."""

import sys
import time

import psutil
import pytest

from benchmarks.pipe import Pipe, Silent
from workbench import measure, servers, starts


class Clock:
    """A clock that stands still but for what things say they take."""

    def __init__(self):
        self.now = 100.0
        self.ran = []

    def __call__(self):
        return self.now

    def thing(self, name, seconds):
        def run():
            self.ran.append(name)
            self.now += seconds

        return run


def test_turns_are_interleaved_and_every_second_one_runs_backwards():
    clock = Clock()
    things = {"a": clock.thing("a", 1.0), "b": clock.thing("b", 3.0)}
    costs = measure.side_by_side(things, 3, warm=1, clock=clock)
    assert clock.ran == ["b", "a", "a", "b", "b", "a", "a", "b"]
    assert costs == {"a": [1.0] * 3, "b": [3.0] * 3}


def test_a_thing_may_say_its_own_cost():
    assert measure.side_by_side({"a": lambda: 7.5}, 2, clock=Clock()) == {"a": [7.5, 7.5]}


@pytest.mark.parametrize(("things", "turns"), [({}, 1), ({"a": lambda: 1.0}, 0)])
def test_nothing_to_measure_is_refused(things, turns):
    with pytest.raises(ValueError, match="at least one"):
        measure.side_by_side(things, turns)


def test_a_machine_that_slows_down_does_not_change_a_ratio():
    base = [1.0, 1.1, 5.0, 40.0, 2.0]
    found = measure.ratio([3 * one for one in base], base)
    assert (found.median, found.low, found.high) == pytest.approx((3.0, 3.0, 3.0))


@pytest.mark.parametrize(
    ("turns", "inside"), [(1, 0), (5, 0), (6, 0), (8, 0), (9, 1), (12, 2), (15, 3), (20, 5)]
)
def test_the_interval_is_that_of_the_sign_test(turns, inside):
    """The tables of the sign test: how many turns lie outside at either end, at 95 %."""
    values = [float(n) for n in range(1, turns + 1)]
    found = measure.ratio(values, [1.0] * turns)
    assert (found.low, found.high) == (1.0 + inside, turns - inside)


def test_an_interval_holds_the_median_as_often_as_it_says():
    """Two thousand small experiments with a known median of 2, none of them normal."""
    import random

    dice, held = random.Random(7), 0
    for _ in range(2000):
        costs = [2 * dice.lognormvariate(0, 0.8) for _ in range(15)]
        found = measure.ratio(costs, [1.0] * 15)
        held += found.low <= 2 <= found.high
    assert 0.94 <= held / 2000 <= 1.0


def test_turns_of_different_number_are_no_pairs():
    with pytest.raises(ValueError, match="zip"):
        measure.ratio([1.0, 2.0], [1.0])


@pytest.mark.parametrize(("power", "slope"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (2.0, 2.0)])
def test_growth_finds_the_power(power, slope):
    sizes = [10, 100, 1_000, 10_000]
    found = measure.growth(sizes, [3 * size**power for size in sizes])
    assert (found.slope, found.steepest) == pytest.approx((slope, slope))


def test_a_square_at_the_end_does_not_hide_behind_a_flat_beginning():
    sizes = [10, 100, 1_000, 10_000]
    found = measure.growth(sizes, [1.0, 1.0, 1.01, 100.0])
    assert found.slope < 0.75 < 1.9 < found.steepest


def test_one_processor_holds_for_what_is_started_inside_and_ends_after():
    allowed = psutil.Process().cpu_affinity()
    with measure.one_processor() as kept, Pipe([sys.executable, "-c", "input()"]) as pipe:
        assert kept
        assert psutil.Process(pipe.process.pid).cpu_affinity() == allowed[-1:]
    assert psutil.Process().cpu_affinity() == allowed


def test_where_no_processor_can_be_chosen_it_says_so(monkeypatch):
    monkeypatch.delattr(psutil.Process, "cpu_affinity")
    with measure.one_processor() as kept:
        assert not kept


def test_real_processes_of_known_length():
    """A sleep that is five times as long, of processes, comes out as more than twice."""

    def sleeping(seconds):
        def run():
            with Pipe(
                [sys.executable, "-I", "-S", "-c", f"import time; time.sleep({seconds})"]
            ) as p:
                p.process.wait(30)

        return run

    costs = measure.side_by_side({"short": sleeping(0.1), "long": sleeping(0.5)}, 5, warm=0)
    assert measure.ratio(costs["long"], costs["short"]).median > 1.5


def test_a_server_that_says_nothing_is_ended():
    begun = time.monotonic()
    with Pipe([sys.executable, "-c", "input(); input()"], 1.0) as pipe, pytest.raises(Silent):
        pipe.ask(b"{}\n")
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import time; time.sleep(600)", "b''"),
        ("print('{}', flush=True); import time; time.sleep(600)", "b'{}"),
        ("print('{}')", "b'{}"),
    ],
)
def test_a_start_without_an_answer_is_an_error(code, said):
    begun = time.monotonic()
    with pytest.raises(RuntimeError, match=said):
        starts.to_an_answer([sys.executable, "-c", code], servers.bare_environment(), 1.0)
    assert time.monotonic() - begun < 30


def test_a_server_that_dies_says_why():
    code = "import sys; sys.exit('no such thing')"
    with Pipe([sys.executable, "-c", code]) as pipe, pytest.raises(Silent, match="no such thing"):
        pipe.ask(b"{}\n")
