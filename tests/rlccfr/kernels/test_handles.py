"""What makes handles is compiled before a run, whose CPU seconds tell no compilation."""

from __future__ import annotations

import pytest

from rlccfr import Solver, load_game
from rlccfr.kernels import handles
from rlccfr.kernels.jit import UNJITTED


@pytest.mark.skipif(UNJITTED, reason="without compilation, there are no handles")
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"sampler": "outcome"},
        {"sampler": "variance_reduced"},
        {"update_rule": "cfr", "sampler": "external", "abstraction": "rcfr"},
        {"update_rule": "controlled"},
        {"blend": True},
    ],
    ids=str,
)
def test_a_run_compiles_nothing_that_makes_handles(settings):
    handles._writer.cache_clear()
    solver = Solver(load_game("kuhn"), **settings)
    solver.result()  # measuring makes handles of its own, outside the engine's time
    compiled = handles._writer.cache_info().misses
    solver.run(4)
    assert handles._writer.cache_info().misses == compiled
