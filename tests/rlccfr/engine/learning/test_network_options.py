"""Options of networks: the published ablations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support import game, model_policies

import rlccfr
from rlccfr.networks.averages import PlayedModels
from rlccfr.networks.reservoir import Reservoir
from rlccfr.registry import make


def policies(rule, iterations, **options):
    """Return the current policy after each iteration."""
    solver = rlccfr.Solver(game("kuhn"), make(rule, **options), "external", seed=1)
    return [solver.run(iterations=1, curve=False) and solver.current_policy().probabilities for _ in range(iterations)]


@pytest.mark.parametrize(("fallback", "expected"), [("argmax", [0.0, 1.0, 0.0]), ("uniform", [1 / 3] * 3)])
def test_the_fallback_decides_where_no_advantage_is_positive(fallback, expected):
    solver = rlccfr.Solver(game("leduc"), make("deep_cfr", fallback=fallback))
    row = np.full(solver.game.num_sequences, -2.0)
    infoset = next(n for n in range(solver.game.num_infosets) if len(row[solver.game.infoset_sequences(n)]) == 3)
    own = solver.game.infoset_sequences(infoset)
    row[own] = [-2.0, -1.0, -2.0]
    found = model_policies(solver, 0, row[solver.game.sequences_of(0)], solver.update_rule.schedule(1, 0)[0])
    assert found[own] == pytest.approx(expected)


def test_a_window_keeps_the_newest_rows():
    """Of seven rows, under a discount, the sums are those of the last three."""
    tree, rng = game("leduc"), np.random.default_rng(1)
    reservoir, newest = Reservoir(tree, 3, [0], vectors=True, full="window"), []
    for _ in range(7):
        infoset = int(rng.integers(tree.num_infosets))
        mass, vector = rng.random(tree.num_infosets), rng.normal(size=tree.num_sequences)
        reservoir.discount(0.5)
        reservoir.add(np.array([infoset]), mass, vector)
        newest.append((infoset, mass, vector))
    masses, vectors = np.zeros(tree.num_infosets), np.zeros(tree.num_sequences)
    for age, (infoset, mass, vector) in enumerate(reversed(newest[-3:])):
        own = tree.infoset_sequences(infoset)
        masses[infoset] += 0.5**age * mass[infoset]
        vectors[own] += 0.5**age * vector[own]
    assert reservoir.mass() == pytest.approx(masses, abs=1e-12)
    assert reservoir.vector() == pytest.approx(vectors, abs=1e-12)


def test_a_window_with_room_for_all_is_no_window():
    runs = [
        policies("deep_cfr", 20, model="table", train_every=1, full_memory=full) for full in ("reservoir", "window")
    ]
    np.testing.assert_array_equal(runs[0][-1], runs[1][-1])


def test_fits_may_be_skipped():
    """The probability of a fit falls to 0 at the horizon, except for the first."""
    found = policies("deep_cfr", 40, train_every=1, retrain="linear", retrain_horizon=20, preset="sweep")
    changes = np.array([not np.array_equal(a, b) for a, b in itertools.pairwise(found)])
    assert 3 < changes[:19].sum() < 19
    assert not changes[19:].any()
    stepped = policies(
        "deep_cfr", 40, train_every=1, retrain="linear", retrain_horizon=20, preset="sweep", skipped_steps=3
    )
    assert any(not np.array_equal(a, b) for a, b in itertools.pairwise(stepped[20:]))


def test_the_share_of_fits_halves_with_each_half_life():
    options = make("deep_cfr", retrain="exponential", retrain_horizon=100).networks
    assert [options.retrain(t) for t in (0, 100, 300)] == [1.0, 0.5, 0.125]


@pytest.mark.slow
def test_a_sample_of_models_is_uniform():
    """After 40 models, each is kept in 10 of 40 samples on average; of 2,000 samples, within 5 standard errors."""
    counts = np.zeros(40)
    for seed in range(2_000):
        played = PlayedModels(np.zeros(1), capacity=10, seed=[seed])
        for number in range(40):
            played.add(np.array([float(number)]))
            played.play(1.0)
        assert played.shares()[1:].sum() == pytest.approx(1.0)
        counts[[int(one[0]) for one in played.snapshots]] += 1
    error = np.sqrt(2_000 * 0.25 * 0.75)
    assert np.abs(counts - 500).max() < 5 * error


def test_a_sample_of_models_leaves_the_first_policys_share():
    """Of 1,000 models with one iteration each, 10 are kept; 5 earlier iterations then have 5 / 1,005 of the weight."""
    played = PlayedModels(np.zeros(1), weight=5.0, capacity=10, seed=[3])
    for _ in range(1_000):
        played.add(np.zeros(1))
        played.play(1.0)
    assert played.shares()[0] == pytest.approx(5 / 1_005)
    assert len(played) == 11


def test_what_is_played_under_a_model_that_is_not_kept_has_no_weight():
    played = PlayedModels(np.zeros(1), capacity=1, seed=[0])
    played.add(np.array([1.0]))
    played.play(1.0)
    for number in range(2, 40):
        played.add(np.array([float(number)]))
        played.play(1.0)
        kept = played.snapshots[0][0]
        played.play(1.0)
        assert played.shares() == pytest.approx([0.0, 1.0])
        assert played.state()["weights"][1] == (2.0 if kept == number else played.state()["weights"][1])


def test_a_model_takes_no_weight_away_before_it_is_played():
    """Whatever model the new one replaces later, the average stays as it was; a saved record goes on alike."""
    played = PlayedModels(np.zeros(1), weight=1.0, capacity=2, seed=[1])
    evicted = False
    for number in range(1, 30):
        before = _shares_by_snapshot(played)
        played.add(np.array([float(number)]))
        assert _shares_by_snapshot(played) == pytest.approx(before)
        restored = PlayedModels(np.zeros(1), capacity=2, seed=[1])
        restored.restore({name: array.copy() for name, array in played.state().items()})
        for record in (played, restored):
            record.play(0.9)
        assert _shares_by_snapshot(restored) == _shares_by_snapshot(played)
        assert len(played) == min(number, 2) + 1
        evicted = evicted or not before.keys() <= _shares_by_snapshot(played).keys()
    assert evicted


def _shares_by_snapshot(played: PlayedModels) -> dict[float, float]:
    """Return the share of each policy that has one, by the number in its snapshot; 0 for the first policy."""
    numbers = [0.0, *(float(snapshot[0]) for snapshot in played.snapshots)]
    return {number: share for number, share in zip(numbers, played.shares(), strict=True) if share}


@pytest.mark.parametrize("options", [{"retrain": "exponential", "retrain_horizon": 5}, {"kept_networks": 3}])
def test_options_are_resumed(options, tmp_path):
    rule = make("deep_lcfr", preset="sweep", train_every=1, average="value_networks", **options)
    tree = game("kuhn")
    whole, part = (rlccfr.Solver(tree, rule, "external", seed=2) for _ in range(2))
    whole.run(iterations=20, curve=False)
    part.run(iterations=10, curve=False)
    part.save(tmp_path / "run.npz")
    resumed = rlccfr.Solver.load(tmp_path / "run.npz", game=tree)
    resumed.run(iterations=10, curve=False)
    np.testing.assert_array_equal(whole.average_policy().probabilities, resumed.average_policy().probabilities)
    np.testing.assert_array_equal(whole.draw_policy(3).probabilities, resumed.draw_policy(3).probabilities)
