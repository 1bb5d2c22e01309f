"""Rounding to 16-bit numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from rlccfr.games.public.records import SHORT, SINGLE
from rlccfr.kernels.public.steps import LARGEST, NUM_TURNS, SIZE, STEP_COLUMNS, close, opened, turns_for

COUNT = 3
ROWS = 7
NODE = 1


class Workspace(NamedTuple):
    """What is read of a workspace."""

    vectors: np.ndarray
    reciprocals: np.ndarray
    turns: np.ndarray


class Decision:
    """A decision whose entries are ``COUNT`` by ``ROWS`` of a larger table, with a gap before and after."""

    def __init__(self, dtype: np.dtype) -> None:
        self.table = np.full(5 + COUNT * ROWS + 5, 99, dtype)
        self.steps = np.zeros((3, STEP_COLUMNS), SINGLE)
        self.workspace = Workspace(
            vectors=np.zeros(4 + (COUNT + 1) * ROWS, SINGLE),
            reciprocals=np.array([0, 1], SINGLE),
            turns=turns_for(COUNT * ROWS).astype(SINGLE),
        )
        self.table[5:-5] = 0
        self._arguments = (self.table, self.steps, NODE, 5, ROWS, COUNT, ROWS, self.workspace, 4)

    def read(self) -> np.ndarray:
        """Return the entries, (COUNT, ROWS)."""
        array, first, gap = opened(*self._arguments)
        assert gap == ROWS
        return array[first : first + COUNT * ROWS].reshape(COUNT, ROWS)

    def write(self, numbers: np.ndarray) -> None:
        """Set the entries."""
        self.read()[...] = numbers
        close(*self._arguments)


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 1e20])
def test_entries_are_rounded_by_a_step_at_most_and_by_none_on_average(scale):
    decision = Decision(SHORT)
    numbers = (scale * np.random.default_rng(0).normal(size=(COUNT, ROWS)) ** 3).astype(SINGLE)
    numbers[0, :2] = 0.0
    total = np.zeros((COUNT, ROWS))
    for _ in range(NUM_TURNS):
        decision.write(numbers)
        step = float(decision.steps[NODE, SIZE])
        assert step == pytest.approx(np.abs(numbers).max() / LARGEST, rel=1e-6)
        rounded = decision.read()
        assert np.abs(rounded - numbers).max() <= 1.001 * step
        assert (rounded[numbers == 0.0] == 0.0).all()
        total += rounded
    assert np.abs(total / NUM_TURNS - numbers).max() <= 0.01 * step
    assert (decision.steps[[0, 2]] == 0.0).all()
    assert (decision.table[:5] == 99).all()
    assert (decision.table[-5:] == 99).all()


def test_small_additions_add_up():
    """Rounded to the nearest number, a hundredth of a step would be lost each time."""
    decision = Decision(SHORT)
    numbers = np.ones((COUNT, ROWS), SINGLE)
    numbers[1, 3] = before = 100.0 / LARGEST
    decision.write(numbers)
    for _ in range(NUM_TURNS):
        numbers = decision.read().copy()
        numbers[1, 3] += 0.01 / LARGEST
        decision.write(numbers)
    assert decision.read()[1, 3] - before == pytest.approx(0.01 * NUM_TURNS / LARGEST, abs=2.0 / LARGEST)


def test_turns_cover_their_interval_evenly_and_begin_anew_without_a_jump():
    turns = turns_for(100)
    assert np.abs(turns).max() < 0.5
    assert np.diff(np.sort(turns[:NUM_TURNS])).max() < 2.0 / NUM_TURNS
    jump = np.abs(turns[NUM_TURNS:] - turns[:100])
    assert np.minimum(jump, 1.0 - jump).max() < 1.0 / NUM_TURNS


@pytest.mark.parametrize("extreme", [-1.0, 1.0])
def test_no_turn_lifts_an_entry_over_the_largest_number(extreme):
    decision = Decision(SHORT)
    for scale in np.random.default_rng(0).random(NUM_TURNS):
        numbers = np.full((COUNT, ROWS), extreme * scale, SINGLE)
        decision.write(numbers)
        assert decision.read() == pytest.approx(numbers, rel=2.0 / LARGEST)


def test_a_step_that_is_not_finite_stays_so():
    decision = Decision(SHORT)
    with np.errstate(invalid="ignore"):
        decision.write(np.full((COUNT, ROWS), np.inf, SINGLE))
        decision.write(np.ones((COUNT, ROWS), SINGLE))
    assert not np.isfinite(decision.steps[NODE, SIZE])


def test_larger_numbers_are_left_where_they_are():
    decision = Decision(np.dtype(SINGLE))
    decision.write(np.arange(COUNT * ROWS).reshape(COUNT, ROWS) / 3)
    assert np.shares_memory(decision.read(), decision.table)
    assert decision.read().reshape(-1) == pytest.approx(np.arange(COUNT * ROWS) / 3)
    assert not decision.steps.any()
