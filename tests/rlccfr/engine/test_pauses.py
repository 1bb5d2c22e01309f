"""Iterations of many walks: they may pause at any walk, which changes no result, and nothing has to wait for their end.

PAUSE is the number of histories after which walks pause.
"""

from __future__ import annotations

import signal

import numpy as np
import pytest
from support import engine_state, game

import rlccfr
from rlccfr.engine import binding

ENDLESS = 10**11
"""Number of walks that would take hours."""

ALGORITHMS = {
    "external": ("dcfr", "external", "none"),
    "outcome against best responses": ("cfr_plus", "outcome", "cfr_br"),
    "baselines from exact values": ("lcfr", "variance_reduced(key='oracle')", "none"),
    "counts": ("ecfr", "average_strategy", "none"),
    "networks": ("deep_cfr(preset='sweep',traversals=7)", "external", "none"),
}


def solver(algorithm: str, **options) -> rlccfr.Solver:
    return rlccfr.Solver(game("kuhn"), *ALGORITHMS[algorithm], seed=3, **options)


def assert_equal(one: rlccfr.Solver, other: rlccfr.Solver) -> None:
    """Check that two runs are bitwise in the same state."""
    first, second = engine_state(one), engine_state(other)
    assert first.keys() == second.keys()
    for name, array in first.items():
        assert np.array_equal(array, second[name]), name


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("simultaneous", [False, True])
def test_pauses_change_nothing(monkeypatch, algorithm, simultaneous):
    options = {"simultaneous": simultaneous, "walks": 1 if algorithm == "networks" else 7}
    whole = solver(algorithm, **options)
    whole.run(iterations=5)
    monkeypatch.setattr(binding, "PAUSE", 1)  # a pause after each walk
    paused = solver(algorithm, **options)
    assert paused.run(iterations=5).iterations == 5
    assert not paused.result().unfinished
    assert_equal(paused, whole)


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "networks"])
@pytest.mark.parametrize("stop", [3, 10])
def test_an_unfinished_iteration_is_kept_in_memory_and_in_files(monkeypatch, tmp_path, algorithm, stop):
    """The run is stopped in the walks of player 0 and of player 1."""
    whole = solver(algorithm, walks=7)
    whole.run(iterations=3)
    monkeypatch.setattr(binding, "PAUSE", 1)
    calls = []

    def interrupt(share: float) -> None:
        calls.append(share)
        if len(calls) == stop:
            raise KeyboardInterrupt

    stopped = solver(algorithm, walks=7)
    with pytest.raises(KeyboardInterrupt):
        stopped.run(iterations=3, progress=interrupt)
    result = stopped.result()
    assert (result.iterations, result.unfinished) == (0, True)
    assert result.points[-1].nodes == result.nodes_touched
    assert result.points[-1].exploitability == result.exploitability
    stopped.save(tmp_path / "run.npz")
    loaded = rlccfr.Solver.load(tmp_path / "run.npz")
    assert loaded.result().unfinished
    for run in (stopped, loaded):
        run.run(iterations=3)
        assert_equal(run, whole)


@pytest.mark.parametrize("budget", [{"seconds": 0.1}, {"nodes": 10**6}, {"until": 10.0}])
@pytest.mark.parametrize("sampler", ["external", "outcome"])
def test_budgets_and_targets_end_a_run_within_an_iteration(budget, sampler):
    endless = rlccfr.Solver(game("kuhn"), "cfr", sampler, walks=ENDLESS)
    result = endless.run(**budget)
    assert (result.iterations, result.unfinished) == (0, True)
    assert result.nodes_touched < 10**8
    assert np.isfinite(result.exploitability)


def test_a_switch_drops_the_rest_of_an_unfinished_iteration():
    run = rlccfr.Solver(game("kuhn"), "cfr", "external", walks=ENDLESS)
    run.run(nodes=10**6)
    run.switch(sampler="none")
    result = run.run(iterations=1000)
    assert (result.iterations, result.unfinished) == (1000, False)
    assert result.exploitability < 0.01


@pytest.mark.slow
@pytest.mark.usefixtures("heeds_ctrl_c")
def test_ctrl_c_is_heeded_within_an_iteration():
    """The signal arrives while a kernel runs, and Python handles it when the walks pause."""
    endless = rlccfr.Solver(game("kuhn"), "cfr", "external", walks=ENDLESS)

    def interrupt(number, frame):
        raise KeyboardInterrupt

    earlier = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            endless.run(iterations=1)
    finally:
        signal.signal(signal.SIGALRM, earlier)
    assert endless.result().unfinished
