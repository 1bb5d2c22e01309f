from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from support import game

from rlccfr.networks.reservoir import LARGEST_SCALE, Reservoir

TREE = game("leduc")


def data(seed: int):
    """Return some infosets, and masses and vectors of all infosets."""
    rng = np.random.default_rng(seed)
    infosets = rng.choice(TREE.num_infosets, 60, replace=False)
    mass, vector = rng.random(TREE.num_infosets), rng.normal(size=TREE.num_sequences)
    return infosets, mass, vector


def filled(capacity: int, seed: int, rounds: int, factor: float = 0.9) -> Reservoir:
    reservoir = Reservoir(TREE, capacity, [seed], vectors=True)
    for t in range(rounds):
        reservoir.discount(factor)
        reservoir.add(*data(t))
    return reservoir


def true_sums(rounds: int, factor: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
    masses, vectors = np.zeros(TREE.num_infosets), np.zeros(TREE.num_sequences)
    for t in range(rounds):
        infosets, mass, vector = data(t)
        masses[infosets] += factor ** (rounds - 1 - t) * mass[infosets]
        for infoset in infosets:
            sequences = TREE.infoset_sequences(int(infoset))
            vectors[sequences] += factor ** (rounds - 1 - t) * vector[sequences]
    return masses, vectors


def test_sums_are_exact_while_all_rows_fit():
    reservoir = filled(100_000, 0, 30)
    masses, vectors = true_sums(30)
    assert len(reservoir) == 30 * 60
    assert reservoir.mass() == pytest.approx(masses, rel=1e-12)
    assert reservoir.vector() == pytest.approx(vectors, rel=1e-12, abs=1e-12)


@pytest.mark.slow
def test_a_full_reservoir_estimates_the_sums_without_bias():
    """Test at level 1e-3 of the largest |z| of the means over 400 reservoirs, Bonferroni-corrected."""
    masses, vectors = true_sums(20)
    runs = [filled(300, seed, 20) for seed in range(400)]
    for found, expected in (
        (np.array([run.mass() for run in runs]), masses),
        (np.array([run.vector() for run in runs]), vectors),
    ):
        error = found.std(axis=0, ddof=1) / np.sqrt(len(runs))
        z = (found.mean(axis=0) - expected)[error > 0] / error[error > 0]
        assert 2 * stats.t.sf(np.abs(z).max(), len(runs) - 1) * len(z) > 1e-3


def test_what_left_leaves_nothing_behind():
    reservoir = Reservoir(TREE, 1, [0], vectors=True)
    for t in range(50):
        reservoir.add(*data(t))
    assert len(reservoir) == 1
    infoset = reservoir.state()["infoset"][0]
    others = np.delete(np.arange(TREE.num_infosets), infoset)
    assert not reservoir.mass()[others].any()
    assert np.flatnonzero(reservoir.vector()).size <= 3


@pytest.mark.parametrize("factor", [1e-60, 0.0])
def test_strong_discounts_neither_overflow_nor_linger(factor):
    reservoir = filled(100_000, 0, 6, factor)
    assert reservoir.mass() == pytest.approx(true_sums(6, factor)[0], rel=1e-9)
    assert reservoir.state()["scale"][0] <= LARGEST_SCALE


def test_memories_repeat_and_resume():
    whole, first = filled(300, 7, 12), filled(300, 7, 8)
    second = Reservoir(TREE, 300, [7], vectors=True)
    second.restore(first.state())
    for t in range(8, 12):
        second.discount(0.9)
        second.add(*data(t))
    for name, array in whole.state().items():
        assert np.array_equal(array, second.state()[name]), name
