from __future__ import annotations

import itertools

import pytest

import rlccfr
from rlccfr.agents.baselines.halving import ETA, _ladder, climb, equal_rungs, successive_halving
from rlccfr.agents.baselines.task import Task
from rlccfr.catalog import Catalog
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import preset

BUDGET = Budget("iterations", 1000)


def halve(evaluator, evaluations=100):
    return successive_halving(
        Task(evaluator, Catalog.paper(), "kuhn", BUDGET, preset("accuracy")), evaluations=evaluations
    )


@pytest.mark.parametrize("evaluations", [1, 10, 50, 100, 335, 336, 1000])
def test_it_spends_no_more_than_it_may_and_ends_with_the_whole_budget(evaluator, evaluations):
    ladder = _ladder(336, evaluations)
    assert ladder[-1][1] == 1
    assert all(one[0] >= other[0] for one, other in itertools.pairwise(ladder))
    assert all(one[0] <= ETA * (other[0] + 1) for one, other in itertools.pairwise(ladder))
    ends = [0.0, *(part for _, part in ladder)]
    spent = sum(cells * (end - begin) for (cells, _), (begin, end) in zip(ladder, itertools.pairwise(ends)))
    assert min(336, evaluations) - 1 < spent <= evaluations + 1e-6  # a rung leaves less than a whole evaluation unspent
    if evaluations >= 336:
        assert ladder == [(336, 1)]
    found = halve(evaluator, evaluations)
    assert found.spent == pytest.approx(spent, rel=0.05)  # a run has a whole number of iterations


def test_what_is_best_at_every_budget_is_found(evaluator):
    found = halve(evaluator)
    every = [evaluator.exploitability("kuhn", cell) for cell in Catalog.paper()]
    assert evaluator.exploitability("kuhn", found.cell) == min(every)
    assert found.rungs[0][0] == 336
    assert found.rungs[-1][1] == BUDGET
    assert found.cpu_seconds > 0


def test_none_is_refused(evaluator):
    with pytest.raises(rlccfr.RLCCFRError, match="evaluations"):
        halve(evaluator, 0)


def test_runs_that_go_on_climb_a_ladder_in_the_order_of_their_worth(evaluator):
    task = Task(evaluator, Catalog.paper(), "kuhn", BUDGET, preset("accuracy"))
    algorithms = list(Catalog.paper())[:9]
    shares = []
    found = climb(task, algorithms, equal_rungs((8, 4, 2), 0.6), shares.append)
    assert found.rungs == tuple((count, Budget("iterations", n)) for count, n in ((8, 25), (4, 75), (2, 175)))
    assert next(iter(found.longest_runs)) == found.cell
    assert [budget.amount for _, budget in found.longest_runs.values()] == [175] * 2 + [75] * 2 + [25] * 4
    assert set(found.longest_runs) == set(algorithms[:8])
    assert found.spent == pytest.approx(0.6)
    assert shares == pytest.approx([k / 24 for k in range(1, 9)] + [(4 + k) / 12 for k in range(1, 5)] + [5 / 6, 1.0])
