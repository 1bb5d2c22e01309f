"""The prediction for threads that each take the next outcome when they are free."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.flop_threads import duration


@pytest.mark.parametrize(("threads", "expected"), [(1, 12.0), (2, 9.0), (3, 8.0), (4, 7.0), (9, 6.0)])
def test_a_free_thread_takes_the_next_outcome(threads, expected):
    assert duration([1.0, 2.0, 1.0, 1.0, 1.0, 6.0], threads) == expected


def test_many_equal_outcomes_are_shared_evenly():
    assert duration(np.ones(640).tolist(), 64) == 10.0
