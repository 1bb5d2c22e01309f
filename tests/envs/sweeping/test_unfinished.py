from __future__ import annotations

import pandas as pd
import pytest

from rlccfr.catalog import Catalog
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.sweeping.plan import Limits, jobs
from rlccfr.envs.sweeping.unfinished import missing_runs

CATALOG = Catalog(
    ("cfr", "dcfr", "deep_cfr(preset='sweep')"), ("none", "external", "outcome", "average_strategy"), ("none",)
)


def table(planned):
    return TableEvaluator(
        pd.DataFrame(
            [
                {
                    "cell_id": job.id, "game": job.game, **job.cell._asdict(), "budget_unit": "iterations",
                    "budget_amount": 100.0, "seed": job.seed,
                    "deterministic": not job.learns and job.cell.sampler == "none", "exploitability": 0.1,
                    "uniform_exploitability": 0.5, "throughput": 1e3, "reference_throughput": 1e3,
                    "iterations": job.limits.iterations,
                }
                for job in planned
            ]
        )
    )  # fmt: skip


def planned(seeds=5, model_seeds=2, limits=None, games=("kuhn", "goofspiel")):
    return jobs(dict.fromkeys(games, range(seeds)), CATALOG, range(model_seeds), limits)


@pytest.mark.parametrize(("seeds", "model_seeds"), [(5, 2), (3, 1), (1, 1), (7, 4)])
def test_missing_runs_are_counted_by_the_seeds_of_recorded_ones(seeds, model_seeds):
    whole = planned(seeds, model_seeds)
    found = missing_runs(table(whole[:-2]), ["kuhn", "goofspiel"], CATALOG)
    assert (found.runs, found.total) == (2, len(whole))
    assert (found.seeds, found.model_seeds) == (seeds, model_seeds)


def test_more_seeds_of_models_that_are_close_to_the_best_are_not_asked_of_all():
    more = [job for job in planned(5, 5, games=["kuhn"]) if job.learns and job.cell.sampler == "none"]
    found = missing_runs(table([*planned(games=["kuhn"])[:-1], *more[2:]]), ["kuhn"], CATALOG)
    assert (found.runs, found.model_seeds) == (1, 2)


def test_more_seeds_of_a_tabular_algorithm_that_is_close_to_the_best_are_not_asked_of_all():
    more = [job for job in planned(3, 1, games=["kuhn"]) if job.cell[:2] == ("cfr", "external")]
    found = missing_runs(table([*planned(1, 1, games=["kuhn"])[:-1], *more[1:]]), ["kuhn"], CATALOG)
    assert (found.runs, found.seeds) == (1, 1)


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (Limits(), True),
        (Limits(timeout=7.0), True),  # which is no part of what is measured
        (Limits(iterations=3, seconds=0.0), True),
        (Limits(iterations=3), True),
        (Limits(seconds=0.0), True),
        (Limits(seconds=0.5), False),
    ],
)
def test_limits_are_told_where_the_recorded_ids_show_them(limits, told):
    found = missing_runs(table(planned(limits=limits, games=["kuhn"])[:4]), ["kuhn"], CATALOG).limits
    assert found == (Limits(limits.iterations, limits.seconds) if told else None)


def test_algorithms_without_a_run_are_taken_to_need_the_usual_seeds():
    exact = [job for job in planned(games=["kuhn"]) if job.cell.sampler == "none" and not job.learns]
    found, whole = missing_runs(table(exact), ["kuhn"], CATALOG), planned(games=["kuhn"])
    assert (found.runs, found.total) == (len(whole) - len(exact), len(whole))
    assert (found.seeds, found.model_seeds) == (5, 2)
