from __future__ import annotations

import numpy as np
import pytest

from rlccfr.agents.baselines.best import single_best, virtual_best
from rlccfr.agents.baselines.fixed import FIXED
from rlccfr.agents.baselines.random_cells import median_search, random_search
from rlccfr.agents.baselines.task import Task, measure_all, rewards_of, total_cpu_seconds, worths_of
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import PRESETS, Worth, mean_reward
from rlccfr.errors import RLCCFRError

BUDGET = Budget("iterations", 1000)
ACCURACY = PRESETS["accuracy"]


def worths(evaluator, catalog, game):
    return worths_of(measure_all(evaluator, catalog, game, BUDGET), ACCURACY)


def converged(**rewards):
    return {cell: Worth(1.0, reward) for cell, reward in rewards.items()}


def test_measure_all_measures_each_cell_once_per_seed(evaluator, small):
    shares = []
    measured = measure_all(evaluator, small, "kuhn", BUDGET, (0, 1), shares.append)
    assert list(measured) == list(small)
    assert len(evaluator.records) == 2 * len(small)
    assert shares == [pytest.approx((k + 1) / 18) for k in range(18)]
    assert total_cpu_seconds(measured) == pytest.approx(18.0)


def test_rewards_are_means_over_agents_and_seeds(evaluator, small):
    preset = PRESETS["paper-kuhn"]
    measured = measure_all(evaluator, small, "kuhn", BUDGET, (0, 1))
    cell = Cell("cfr", "none", "none")
    a, b = (mean_reward(run, preset) for run in measured[cell])
    assert rewards_of(measured, preset)[cell] == pytest.approx((a + b) / 2)


def test_virtual_best_is_the_best_cell(evaluator):
    assert virtual_best(worths(evaluator, Catalog.tabular(), "kuhn")) == ("dcfr", "external", "none")
    assert virtual_best(worths(evaluator, Catalog.tabular(), "leduc")) == ("lcfr", "external", "none")


def test_single_best_leaves_the_game_out(evaluator):
    by_game = {game: worths(evaluator, Catalog.tabular(), game) for game in ("kuhn", "leduc")}
    assert single_best(by_game, "kuhn") == ("lcfr", "external", "none")
    assert single_best(by_game, "leduc") == ("dcfr", "external", "none")


def test_single_best_is_best_on_average_not_on_most():
    rewards = {"1": (0.6, 0.5), "2": (0.6, 0.5), "3": (0.0, 0.9), "4": (1.0, 0.0)}
    by_game = {game: converged(a=a, b=b) for game, (a, b) in rewards.items()}
    assert single_best(by_game, "4") == "b"


def test_the_best_has_converged_wherever_it_can():
    """Rewards alone would recommend what has not converged: a fast run that is no better than the uniform policy."""
    hasty, sound = Worth(0.0, 0.9), Worth(1.0, 0.2)
    assert virtual_best({"a": hasty, "b": sound}) == "b"
    assert virtual_best({"a": hasty, "b": hasty._replace(reward=0.1)}) == "a"
    by_game = {"1": {"a": hasty, "b": sound}, "2": {"a": Worth(1.0, 0.9), "b": sound}}
    assert single_best(by_game, "3") == "b"
    assert single_best(by_game, "1") == "a"


def test_single_best_needs_comparable_games():
    a, b = Cell("cfr", "none", "none"), Cell("dcfr", "none", "none")
    with pytest.raises(RLCCFRError, match="at least one other game"):
        single_best({"kuhn": {a: 1.0}}, "kuhn")
    with pytest.raises(RLCCFRError, match="different algorithms"):
        single_best({"kuhn": {a: 1.0}, "leduc": {b: 1.0}}, "royal")
    with pytest.raises(RLCCFRError, match="measure some"):
        virtual_best({})


@pytest.mark.parametrize("evaluations", [1, 5, 24])
def test_random_search_measures_distinct_cells_and_recommends_the_best(evaluator, evaluations):
    found = random_search(Task(evaluator, Catalog.tabular(), "kuhn", BUDGET, ACCURACY), evaluations=evaluations, seed=3)
    assert found.evaluations == evaluations == len(evaluator.records)
    assert found.cpu_seconds == pytest.approx(0.5 * evaluations)
    best = max(found.measurements, key=lambda cell: mean_reward(found.measurements[cell][0], ACCURACY))
    assert found.cell == best


def test_random_search_depends_on_its_seed_alone(evaluator):
    def cells(seed):
        result = random_search(Task(evaluator, Catalog.tabular(), "kuhn", BUDGET, ACCURACY), evaluations=6, seed=seed)
        return list(result.measurements)

    assert cells(0) == cells(0) != cells(1)


def test_random_search_on_a_small_catalog_measures_all(evaluator, small):
    found = random_search(Task(evaluator, small, "kuhn", BUDGET, ACCURACY), evaluations=100)
    assert found.evaluations == len(small)
    assert found.cell == ("dcfr", "external", "none")
    with pytest.raises(RLCCFRError, match="evaluations must be a positive integer"):
        random_search(Task(evaluator, small, "kuhn", BUDGET, ACCURACY), evaluations=0)


def test_random_search_draws_from_what_can_run(evaluator, small, monkeypatch):
    monkeypatch.setattr(
        "rlccfr.agents.baselines.task.why_unavailable", lambda cell: "no" if cell.sampler == "external" else None
    )
    found = random_search(Task(evaluator, small, "kuhn", BUDGET, ACCURACY), evaluations=100)
    assert found.evaluations == 12
    assert all(cell.sampler != "external" for cell in found.measurements)


def test_the_median_search_is_neither_lucky_nor_unlucky():
    cells = list(Catalog.tabular())
    rewards = {cell: float(index) for index, cell in enumerate(cells)}
    # The best of 24 of 112 ranks: in half of all searches it is one of the last few.
    median = rewards[median_search(rewards, 24)]
    draws = np.random.default_rng(5).random((4000, 112)).argsort(1)[:, :24].max(1)
    assert abs(median - np.median(draws)) <= 1
    assert median_search(rewards, 500) == cells[-1]


def test_an_evaluation_is_a_run(evaluator, small):
    found = random_search(Task(evaluator, small, "kuhn", BUDGET, ACCURACY, engine_seeds=(0, 1, 2)), evaluations=4)
    assert found.evaluations == 12 == len(evaluator.records)


def test_the_papers_algorithms_are_in_its_catalog():
    assert {name: str(cell) for name, cell in FIXED.items()} == {
        "CFR": "cfr x none x none",
        "LCFR": "lcfr x none x none",
        "DCFR": "dcfr x none x none",
        "ECFR": "ecfr x none x none",
        "DeepCFR": "deep_cfr x external x none",
        "ES-MCCFR": "cfr x external x none",
    }
    assert set(FIXED.values()) <= set(Catalog.paper())
