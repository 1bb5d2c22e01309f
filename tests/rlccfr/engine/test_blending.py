"""Blends against a linear program over the same windows, and what becomes of them in longer and resumed runs."""

from __future__ import annotations

from itertools import pairwise, product
from math import ceil

import numpy as np
import pytest
from scipy.optimize import linprog
from support import blender_of, game, iterate, policy_sums, run_part

import rlccfr
from rlccfr.engine import blending
from rlccfr.engine.blending import WINDOWS, Blender, windows_for
from rlccfr.engine.flat_mixer import FlatMixer
from rlccfr.errors import ComponentError

GAME = "random_poker(seed=1,hands=3,boards=1,raises=1)"
ITERATIONS = 24
LEAST = WINDOWS[-1]


def averages(tree) -> list[np.ndarray]:
    """Return the average policies over the windows of a run of DCFR, and over all of it, (m,) each."""
    solver, sums = rlccfr.Solver(tree, "dcfr", reduce=False), {}
    marks = [ceil(ITERATIONS / 2 * (1 + k / LEAST)) for k in range(LEAST + 1)]
    for done in range(1, ITERATIONS + 1):
        iterate(solver, 1)
        sums[done] = policy_sums(solver).copy()
    windows = [sums[b] - sums[a] * (a / b) ** 2 for a, b in pairwise(marks)]  # the weights are t squared
    return [tree.normalised(np.maximum(own, 0)) for own in (*windows, sums[ITERATIONS])]


def pure_strategies(tree, player):
    """Yield each deterministic policy of a player, as an array (m,) that is 0 elsewhere."""
    infosets = tree.infosets_of(player)
    rows = [tree.infoset_sequences(infoset) for infoset in range(infosets.start, infosets.stop)]
    for actions in product(*(range(row.start, row.stop) for row in rows)):
        policy = np.zeros(tree.num_sequences)
        policy[list(actions)] = 1.0
        yield policy


def least_value(tree, player, policies) -> float:
    """Return the least value of a best response to a mixture of a player's policies, by a linear program."""
    own, payoffs = tree.sequences_of(player), []
    for pure in pure_strategies(tree, 1 - player):
        row = []
        for policy in policies:
            pair = pure.copy()
            pair[own] = policy[own]
            row.append(rlccfr.Policy(tree, pair).values().game[1 - player])
        payoffs.append(row)
    count = len(policies)
    upper = np.hstack([payoffs, -np.ones((len(payoffs), 1))])
    equal = np.append(np.ones(count), 0.0)[None]
    bounds = [(0, None)] * count + [(None, None)]
    return linprog(np.append(np.zeros(count), 1.0), upper, np.zeros(len(payoffs)), equal, [1.0], bounds).fun


@pytest.mark.parametrize("reduce", [False, True])
def test_blends_are_the_least_exploitable_mixtures_of_windows(reduce):
    tree = game(GAME)
    solver = rlccfr.Solver(tree, "dcfr", reduce=reduce, blend=True)
    found = solver.run(iterations=ITERATIONS).exploitability
    policies = averages(tree)
    expected = (least_value(tree, 0, policies) + least_value(tree, 1, policies)) / 2
    assert expected * 0.999999 <= found <= expected * 1.03
    assert found < 0.3 * rlccfr.Policy(tree, policies[-1]).exploitability()


@pytest.mark.parametrize("name", ["leduc", "goofspiel(num_cards=4,imp_info=True,points_order=descending)"])
@pytest.mark.parametrize("components", [{"update_rule": "cfr"}, {"update_rule": "pcfr_plus"}, {"control": "shipped"}])
def test_a_blend_is_less_exploitable_than_the_average_of_the_same_run(name, components):
    tree = game(name)
    plain, blended = rlccfr.Solver(tree, **components), rlccfr.Solver(tree, **components, blend=True)
    plain.run(iterations=300, curve=False)
    result = blended.run(iterations=300, curve=False)
    np.testing.assert_array_equal(plain.current_policy().probabilities, blended.current_policy().probabilities)
    assert result.exploitability < max(0.95 * plain.exploitability(), 1e-14)
    assert blended.average_policy().exploitability() == pytest.approx(result.exploitability, rel=1e-6, abs=1e-14)


def test_the_last_point_of_the_curve_shows_the_blend():
    result = rlccfr.Solver(game("kuhn"), "dcfr", blend=True).run(iterations=100)
    assert result.points[-1].iteration == 100
    assert result.points[-1].exploitability == result.exploitability < 0.5 * result.points[-2].exploitability
    assert len({point.iteration for point in result.points}) == len(result.points)


def test_a_longer_run_keeps_the_blend_until_it_has_a_better_one():
    solver = rlccfr.Solver(game("leduc"), "dcfr", blend=True)
    first = solver.run(iterations=200, curve=False).exploitability
    iterate(solver, 3)
    assert solver.exploitability() <= first
    assert solver.run(iterations=20, curve=False).exploitability <= first
    assert solver.run(iterations=400, curve=False).exploitability < first / 2


def test_a_run_in_many_calls_blends():
    solver, plain = rlccfr.Solver(game("leduc"), "dcfr", blend=True), rlccfr.Solver(game("leduc"), "dcfr")
    for _ in range(60):
        solver.run(iterations=5, curve=False)
    plain.run(iterations=300, curve=False)
    assert solver.exploitability() < 0.9 * plain.exploitability()


def test_blends_go_down_to_rounding():
    """Cuts of a search that is nearly done differ by less than the game's value."""
    assert rlccfr.Solver(game("kuhn"), "pcfr_plus", blend=True).run(iterations=2000).exploitability < 1e-13


def test_curves_do_not_change_the_blend():
    one, other = (rlccfr.Solver(game("leduc"), "dcfr", blend=True) for _ in range(2))
    one.run(iterations=500, curve=True)
    other.run(iterations=500, curve=False)
    np.testing.assert_array_equal(one.average_policy().probabilities, other.average_policy().probabilities)


def test_a_saved_run_goes_on_bitwise(tmp_path):
    whole, parts = (rlccfr.Solver(game("leduc"), "dcfr", blend=True) for _ in range(2))
    whole.run(iterations=100)
    run_part(parts, 77, 100)
    parts.save(tmp_path / "run.npz")
    loaded = rlccfr.Solver.load(tmp_path / "run.npz")
    assert loaded.blend
    loaded.run(iterations=23)
    np.testing.assert_array_equal(loaded.average_policy().probabilities, whole.average_policy().probabilities)


def test_short_runs_and_budgets_in_other_units_blend():
    tree = game("leduc")
    for budget in ({"iterations": 1}, {"iterations": 3}, {"nodes": 10**6}, {"seconds": 0.02}):
        solver = rlccfr.Solver(tree, "dcfr", blend=True)
        result = solver.run(**budget, curve=False)
        plain = rlccfr.Solver(tree, "dcfr")
        plain.run(iterations=result.iterations, curve=False)
        assert solver.exploitability() <= plain.exploitability() * (1 + 1e-9)


def test_larger_runs_have_more_windows():
    leduc = FlatMixer(game("leduc"), 1.0)
    counts = [windows_for(leduc, iterations) for iterations in (1, 10**3, 10**4, 10**6)]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (WINDOWS[-1], WINDOWS[0])


def test_what_can_not_blend_is_refused():
    tree = game("kuhn")
    with pytest.raises(ComponentError, match="exact passes"):
        rlccfr.Solver(tree, "dcfr", "external", blend=True)
    with pytest.raises(ComponentError, match="blend must be True or False"):
        rlccfr.Solver(tree, "dcfr", blend=1)


def test_on_the_way_to_a_target_blends_end_a_run_sooner():
    tree = game("leduc")
    plain = rlccfr.Solver(tree, "pcfr_plus").run(until="1e-6x")
    solver = rlccfr.Solver(tree, "pcfr_plus", blend=True)
    result = solver.run(until="1e-6x")
    assert result.reached
    assert solver.average_policy().exploitability() == pytest.approx(result.exploitability, rel=1e-9)
    assert result.iterations < 0.7 * plain.iterations
    assert result.points[-1].exploitability == result.exploitability


def test_a_target_that_the_average_reaches_alone_costs_no_blend(monkeypatch):
    monkeypatch.setattr(Blender, "make_blends", None)
    assert rlccfr.Solver(game("leduc"), "dcfr", blend=True).run(until="0.1x").reached


def test_a_run_to_a_target_goes_on_after_a_blend(tmp_path, monkeypatch):
    monkeypatch.setattr(blending, "windows_for", lambda *_: 16)  # more than there are before a horizon is known
    tree = game("leduc")
    solver = rlccfr.Solver(tree, "dcfr", blend=True)
    solver.run(until="1e-4x")
    solver.save(tmp_path / "run.npz")
    loaded = rlccfr.Solver.load(tmp_path / "run.npz")
    assert blender_of(loaded).windows == 16
    results = [one.run(until="1e-5x") for one in (solver, loaded)]
    assert results[0].iterations == results[1].iterations > 500
    np.testing.assert_array_equal(*(one.average_policy().probabilities for one in (solver, loaded)))


def test_a_horizon_that_was_given_up_delays_no_blend():
    solver = rlccfr.Solver(game("leduc"), "pcfr_plus", blend=True)
    solver.run(iterations=10**6, stop=lambda: solver.result().iterations > 300)
    assert 300 < solver.result().iterations < 10**5
    solver.run(until="1e-6x")
    assert 0 < blender_of(solver).blended_at < 10**5
