from __future__ import annotations

import gc
from itertools import pairwise

import pytest
from support import game, policy_sums

from rlccfr import Solver
from rlccfr.engine.engine import Engine
from rlccfr.envs.measuring import timing
from rlccfr.envs.measuring.timing import Part, ReferenceClock, time_again


def test_a_slice_lasts_as_long_as_asked():
    clock = ReferenceClock(game("kuhn"))
    assert 0.02 <= clock.slice(0.02).seconds < 0.5


def test_repetitions_run_what_the_solver_ran(monkeypatch):
    tree = game("kuhn")
    solver = Solver(tree, "cfr_plus", "external", seed=3)
    solver.run(50)
    first = Part(solver.update_rule, solver.sampler, solver.abstraction, 50)
    solver.switch(update_rule="dcfr", abstraction="cfr_br")
    solver.run(30)
    second = Part(solver.update_rule, solver.sampler, solver.abstraction, 30)
    engines = []

    class Recorded(Engine):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            engines.append(self)

    monkeypatch.setattr("rlccfr.engine.engine.Engine", Recorded)
    runs, total = time_again(tree, [first, second], 3, seconds=0.005)
    assert runs == len(engines) >= 2
    assert total.iterations == runs * 79
    assert total.seconds > 0
    for engine in engines:
        assert engine.state.true_policy_sum().tobytes() == policy_sums(solver).tobytes()


def test_no_garbage_is_collected_while_iterations_are_timed(monkeypatch):
    clock = ReferenceClock(game("kuhn"))
    collecting, advance = [], Engine.advance

    def noted(self, iterations, max_nodes):
        collecting.append(gc.isenabled())
        return advance(self, iterations, max_nodes)

    monkeypatch.setattr(Engine, "advance", noted)
    clock.slice(1e-9)
    assert collecting == [False]
    time_again(game("kuhn"), plain(5), 0, seconds=1e-9)
    assert collecting == [False, True, False]  # the first iteration of a run does not count
    assert gc.isenabled()


def test_time_is_added_up():
    assert timing.Timed(10, 2.0).plus(timing.Timed(20, 3.0)).throughput == pytest.approx(6.0)


def beside_a_run(slice, steps, step):
    """Return plain CFR beside a run of this many steps, and the run's seconds at each slice."""
    at = []
    beside = timing.Beside(lambda: at.append(0.0) or slice(at))
    for number in range(1, steps + 1):
        before = len(at)
        beside.go_on(number * step)
        at[before:] = [number * step] * (len(at) - before)
    return beside, at


def test_slices_beside_a_run_are_a_tenth_of_it_apart():
    _, at = beside_a_run(lambda _: timing.Timed(10, 0.02), 2000, 0.01)
    assert at[0] == 0.0
    assert at[-1] > 18
    assert all(0.99 < (later - earlier) / max(0.1, 0.1 * later) < 1.2 for earlier, later in pairwise(at))


def test_where_a_pass_is_long_slices_take_a_fifth_of_the_time():
    _, at = beside_a_run(lambda _: timing.Timed(1, 0.5), 100, 0.1)
    assert at == pytest.approx([0.0, 2.5, 5.0, 7.5, 10.0])


def test_each_slice_counts_by_the_stretch_before_it():
    beside, at = beside_a_run(lambda at: timing.Timed(1 if len(at) == 1 else 10 * len(at), 0.02), 40, 1.0)
    stretches = [later - earlier for earlier, later in pairwise(at)]
    done = 1 + sum(stretch * 10 * number / 0.02 for number, stretch in enumerate(stretches, start=2))
    assert beside.total == pytest.approx((done, at[-1] + 0.02))


def calls_of(monkeypatch, timed):
    """Return the numbers of iterations before and in each call of an engine, and what ``timed()`` returns."""
    seen, advance = [], Engine.advance

    def noted(self, iterations, max_nodes):
        before = self.iteration
        seen.append((before, advance(self, iterations, max_nodes)))
        return self.iteration - before

    monkeypatch.setattr(Engine, "advance", noted)
    return seen, timed()


def plain(*counts):
    return [Part(*timing.PLAIN, count) for count in counts]


@pytest.mark.parametrize(
    ("counts", "calls", "counting"),
    [((5,), [(0, 1), (1, 4)], 4), ((1,), [(0, 1), (1, 1)], 1), ((3, 2), [(0, 1), (1, 2), (3, 2)], 4)],
)
def test_the_first_iteration_does_not_count(monkeypatch, counts, calls, counting):
    """It makes the tables, and touches them for the first time."""
    seen, (runs, timed) = calls_of(monkeypatch, lambda: time_again(game("kuhn"), plain(*counts), 0, seconds=1e-9))
    assert (runs, timed.iterations) == (1, counting)
    assert seen == calls


@pytest.mark.parametrize("counts", [(7,), (1,), (3, 2)])
def test_plain_cfr_is_timed_just_as_a_short_run_is(monkeypatch, counts):
    """Starts and short calls take time, which the run and plain CFR must both pay for, or neither."""
    clock = ReferenceClock(game("kuhn"))
    seen, again = calls_of(monkeypatch, lambda: time_again(game("kuhn"), plain(*counts), 0, seconds=1e-9))
    own = list(seen)
    own_arguments = game("kuhn"), plain(*counts), 0
    monkeypatch.setattr(timing, "time_again", lambda *_, **options: time_again(*own_arguments, 1e-9, **options))
    seen.clear()
    assert clock.alike(plain(*counts)).iterations == again[1].iterations
    assert seen == own


def test_plain_cfr_does_not_run_for_longer_than_a_slice_where_a_run_has_many_quick_iterations(monkeypatch):
    clock = ReferenceClock(game("leduc"))
    monkeypatch.setattr(timing, "time_again", None)
    assert clock.alike(plain(10**9)).seconds < 0.5
