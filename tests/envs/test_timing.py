from __future__ import annotations

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
