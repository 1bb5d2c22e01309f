"""Estimates of how long a sweep takes, against the CPU time that its runs take."""

from __future__ import annotations

import time

import pytest

from rlccfr.catalog import Catalog
from rlccfr.envs.sweeping.estimate import cost_of, total_cost
from rlccfr.envs.sweeping.plan import Limits
from rlccfr.envs.sweeping.sweep import SweepPlan
from rlccfr.envs.sweeping.worker import measure


@pytest.mark.parametrize("seconds", [0.1, pytest.param(1.0, marks=pytest.mark.slow)], ids=["timed again", "timed once"])
def test_a_run_costs_what_was_estimated(seconds):
    """Noise of a shared machine is within a factor of 1.5; leaving out the timing was a factor of 5 for short runs."""
    catalog = Catalog(("cfr_plus",), ("external",), ("none",))
    (job,) = SweepPlan(["kuhn"], catalog, seeds=1, limits=Limits(100, seconds)).jobs()
    measure(job)  # loads what the first run loads
    begin = time.process_time()
    measure(job)
    taken = time.process_time() - begin
    assert taken / 1.5 < sum(cost_of(job)) < taken * 1.5
    assert taken / 1.5 < total_cost([job]) < taken * 1.5
