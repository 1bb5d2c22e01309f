"""Figures of the experiments that can be checked by other means."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support import game

import rlccfr
from rlccfr.experiments import deep_holdem, escher, meyer
from rlccfr.registry import samplers
from rlccfr.testing import Estimates


@pytest.mark.parametrize(("half_life", "iterations", "published"), meyer.SHARES)
def test_the_share_of_external_iterations_is_meyers(half_life, iterations, published):
    """To one unit of the last digit that he prints."""
    digits = len(published.partition(".")[2])
    assert meyer.share(half_life, iterations) == pytest.approx(float(published), abs=10.0**-digits)


def test_variances_within_rounding_are_compared_as_zeros():
    """ESCHER's is rounding error on both games; the other's on the first alone."""
    level = np.finfo(float).eps * escher.VARIANCE_WALKS
    rows = pd.DataFrame(
        [
            {"part": "scale", "name": game, "other": kind, "seed": "0", "square": 1.0}
            for game in ("exact", "drawn")
            for kind in escher.SCALES
        ]
        + [
            {"part": "variance", "name": game, "other": name, "seed": str(seed), "variance": variance}
            for game, other in (("exact", 0.5 * level), ("drawn", 1.0))
            for name, variance in (("ESCHER", 0.1 * level), ("DREAM", other))
            for seed in range(3)
        ]
    )
    compared = escher.beside(rows, "DREAM")
    assert (compared["exact"].both_zero, compared["drawn"].both_zero) == (True, False)
    assert compared["drawn"].zero
    assert compared["drawn"].ratio.high == pytest.approx(level)
    judged = escher.variance_claim(rows, "DREAM", "said", 1.0)
    assert judged.verdict == "can't be told here on exact; holds on drawn"
    assert "both 0 up to rounding on exact" in judged.figures


@pytest.mark.parametrize("name", escher.ESTIMATORS)
def test_the_variance_is_that_of_visits(name):
    """On Kuhn, from the estimates of all walks at once."""
    (row,) = escher.variance("kuhn", name, 3, 10, 400, "sweep")
    tree, sampler = game("kuhn"), escher.estimator(name, "sweep")
    solver = rlccfr.Solver(tree, "cfr", sampler, seed=3, walks=100 if sampler.network is None else 1)
    solver.run(iterations=10, curve=False)
    spreads, weights = [], []
    for player in (0, 1):
        batches = [Estimates.now(solver, player, batches=200, walks=1, seed=3 * 1_000_003 + batch) for batch in (0, 1)]
        regrets, mass = (np.vstack([getattr(one, part) for one in batches]) for part in ("regrets", "mass"))
        for infoset in range(tree.infosets_of(player).start, tree.infosets_of(player).stop):
            visited = regrets[mass[:, infoset] > 0][:, tree.infoset_sequences(infoset)]
            if len(visited) > 1:
                spreads.append(visited.var(axis=0, ddof=1).mean())
                weights.append(len(visited))
    assert row["variance"] == pytest.approx(np.average(spreads, weights=weights), rel=1e-9)


def test_exact_values_leave_the_variance_of_histories_alone():
    """With ESCHER's exact values, a walk's regrets depend on its histories; with a random weight, they vary more."""
    tree = game("leduc")
    policy = tree.uniform_policy()
    found = {
        weighted: Estimates.of(
            samplers.resolve(f"escher(value='oracle',weighted={weighted})"), tree, policy, 0, batches=500, walks=1
        ).regrets.var(axis=0)
        for weighted in (False, True)
    }
    assert found[False].sum() < found[True].sum() / 10


def test_the_page_on_deep_holdem_counts_the_runs_below_its_goal():
    rows = [
        {"case": f"deep/falling/{seed}", "iterations": n, "CPU seconds": seconds, "exploitability": mbb}
        for seed, n, seconds, mbb in ((1, 20, 700, 120), (1, 30, 1500, 90), (2, 30, 1500, 101), (2, 40, 1900, 80))
    ]
    told = deep_holdem.below_goal(deep_holdem.parsed(pd.DataFrame(rows)))
    assert told.startswith("Of 2 runs, 1 are below 100 mbb/g within 30 CPU minutes, after 1,500 CPU seconds; ")
    told = deep_holdem.below_goal(deep_holdem.parsed(pd.DataFrame(rows[2:])))
    assert told.startswith("Of 1 runs, 0 are below 100 mbb/g within 30 CPU minutes; ")
