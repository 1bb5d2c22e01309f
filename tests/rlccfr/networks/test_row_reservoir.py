from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rlccfr.networks.row_reservoir import LARGEST_SCALE, RowReservoir

ROW = np.dtype([("number", np.int32)])


def filled(capacity: int, seed: int, batches: int = 10, size: int = 20, **options) -> RowReservoir:
    """Return a reservoir that was offered rows with ascending numbers, which are their targets, too."""
    reservoir = RowReservoir(ROW, 1, capacity, **options)
    rng = np.random.default_rng(seed)
    for batch in range(batches):
        numbers = batch * size + np.arange(size)
        reservoir.add(numbers.astype(ROW), numbers[:, None].astype(np.float32), rng)
    return reservoir


def kept(reservoir: RowReservoir) -> np.ndarray:
    rows, target, _, _ = reservoir.at(slice(len(reservoir)))
    np.testing.assert_array_equal(rows["number"], target[:, 0])
    return rows["number"]


def test_all_rows_are_kept_while_they_fit():
    assert sorted(kept(filled(capacity=200, seed=0))) == list(range(200))


def test_a_full_reservoir_is_a_uniform_sample_without_repetition():
    counts = np.zeros(200)
    for seed in range(2000):
        numbers = kept(filled(capacity=30, seed=seed))
        assert len(set(numbers)) == 30
        counts[numbers] += 1
    # Each of 2,000 samples has 30 of 200 rows, so counts vary less than if rows were drawn independently.
    chi_squared = ((counts - 300) ** 2 / (300 * (1 - 30 / 200))).sum() * 199 / 200
    assert 1e-3 < stats.chi2.sf(chi_squared, 199) < 1 - 1e-3


def test_a_window_keeps_the_newest_rows():
    assert sorted(kept(filled(capacity=30, seed=0, full="window"))) == list(range(170, 200))


def test_a_discount_changes_the_weights_of_what_is_there():
    reservoir = filled(capacity=200, seed=0, batches=1)
    reservoir.discount(0.25)
    reservoir.add(np.array([99]).astype(ROW), np.ones((1, 1), np.float32), np.random.default_rng(1))
    _, _, weight, _ = reservoir.at(slice(len(reservoir)))
    np.testing.assert_allclose(weight / weight[-1], [*[0.25] * 20, 1.0])
    assert reservoir.mean_weight() / weight[-1] == pytest.approx(6 / 21)


def test_weights_do_not_overflow():
    reservoir = filled(capacity=20, seed=0, batches=1)
    for _ in range(100):
        reservoir.discount(0.1)
    assert reservoir._scale <= LARGEST_SCALE
    reservoir.add(np.array([99]).astype(ROW), np.ones((1, 1), np.float32), np.random.default_rng(1))
    assert np.isfinite(reservoir.at(slice(20))[2]).all()


def test_a_discount_of_0_empties_it():
    reservoir = filled(capacity=20, seed=0)
    reservoir.discount(0.0)
    assert len(reservoir) == 0


def test_rows_are_old_after_a_fit():
    reservoir = filled(capacity=100, seed=0, batches=2)
    reservoir.mark_old()
    reservoir.add(np.array([99]).astype(ROW), np.ones((1, 1), np.float32), np.random.default_rng(1))
    np.testing.assert_array_equal(reservoir.at(slice(41))[3], [True] * 40 + [False])


def test_a_restored_reservoir_goes_on_alike():
    first = filled(capacity=30, seed=0)
    first.discount(0.5)
    second = RowReservoir(ROW, 1, 30)
    second.restore(first.state())
    for reservoir in (first, second):
        numbers = np.arange(200, 260)
        reservoir.add(numbers.astype(ROW), numbers[:, None].astype(np.float32), np.random.default_rng(7))
    for one, other in zip(first.state().values(), second.state().values(), strict=True):
        np.testing.assert_array_equal(one, other)
