from __future__ import annotations

from itertools import pairwise

import pytest
from support import game

from rlccfr import Solver
from rlccfr.engine import Engine
from rlccfr.envs import timing
from rlccfr.envs.timing import Part, ReferenceClock, time_again


def test_a_slice_lasts_as_long_as_asked():
    clock = ReferenceClock(game("kuhn"))
    slices = [clock.slice(0.02, chunk) for chunk in (1000, 10)]
    assert all(0.02 <= part.seconds < 0.5 for part in slices)
    assert slices[1].iterations % 10 == 0
    # Short calls cost more an iteration; that is why the chunk must be the compared run's.
    assert slices[0].throughput > slices[1].throughput


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

    monkeypatch.setattr(timing, "Engine", Recorded)
    runs, total = time_again(tree, [first, second], 3, seconds=0.005)
    assert runs == len(engines) >= 2
    assert total.iterations == runs * 80
    assert total.seconds >= 0.005
    for engine in engines:
        assert engine.policy_sum.tobytes() == solver._engine.policy_sum.tobytes()


def test_time_is_added_up():
    assert timing.Timed(10, 2.0).plus(timing.Timed(20, 3.0)).throughput == pytest.approx(6.0)


def test_slices_beside_a_run_are_as_far_apart_as_a_tenth_of_it():
    times = []
    beside = timing.Beside(lambda: timing.Timed(10, 0.5))
    for hundredth in range(1, 2001):
        before = beside.total
        beside.go_on(hundredth / 100)
        if beside.total != before:
            times.append(hundredth / 100)
    assert beside.total == timing.Timed(10 * len(times) + 10, 0.5 * len(times) + 0.5)
    assert times[0] == 0.1
    assert times[-1] > 18
    assert all(0.99 < (later - earlier) / (0.1 * max(1, later)) < 1.2 for earlier, later in pairwise(times))
