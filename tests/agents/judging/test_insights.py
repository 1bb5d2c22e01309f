from __future__ import annotations

import pandas as pd
import pytest

from rlccfr.agents.judging.insights import insights
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.errors import RLCCFRError

CATALOG = Catalog(("cfr", "dcfr"), ("external", "none"), ("none",))
BUDGET = Budget("seconds", 1.0)
UNIFORM = 0.5


def row(cell, seed, last, speed, **more):
    """Return a run of 1 s whose exploitability is a power of time and leaves the uniform policy's at 1 ms."""
    return {
        "game": "kuhn", **cell._asdict(), "budget_unit": "seconds", "budget_amount": 1.0, "seed": seed,
        "deterministic": cell.sampler == "none", "exploitability": last, "uniform_exploitability": UNIFORM,
        "throughput": 1e3 * speed, "reference_throughput": 1e3, "cpu_seconds": 1.0,
        "curve_iteration": [1, 1000], "curve_nodes": [10, 10_000], "curve_cpu_seconds": [1e-3, 1.0],
        "curve_exploitability": [UNIFORM, last], "curve_last_iterate": [UNIFORM, last],
        **more,
    }  # fmt: skip


@pytest.fixture
def table():
    plain, exact = Cell("cfr", "none", "none"), Cell("dcfr", "none", "none")
    walks, discounted = Cell("cfr", "external", "none"), Cell("dcfr", "external", "none")
    rows = [row(plain, 0, UNIFORM * 1e-3, 1.0), row(exact, 0, UNIFORM * 1e-6, 0.5)]
    rows += [row(walks, seed, UNIFORM * 1e-2, 8.0) for seed in range(3)]
    rows += [row(discounted, seed, UNIFORM * 1e-1, 4.0) for seed in range(3)]
    return TableEvaluator(pd.DataFrame(rows))


def test_effects_are_of_the_mean_reward(table):
    found = insights(table, CATALOG, "kuhn", BUDGET)
    # Rewards of cfr and dcfr are 3/8 and 6/8 without sampling, 2/8 and 1/8 with it; their mean is 3/8.
    assert found.effects.to_dict("records") == [
        {"axis": "update_rule", "component": "dcfr", "effect": pytest.approx(1 / 16), "cells": 2},
        {"axis": "update_rule", "component": "cfr", "effect": pytest.approx(-1 / 16), "cells": 2},
        {"axis": "sampler", "component": "none", "effect": pytest.approx(3 / 16), "cells": 2},
        {"axis": "sampler", "component": "external", "effect": pytest.approx(-3 / 16), "cells": 2},
        {"axis": "abstraction", "component": "none", "effect": pytest.approx(0), "cells": 4},
    ]


def test_the_front_has_what_no_other_beats(table):
    front = insights(table, CATALOG, "kuhn", BUDGET).front
    assert front[["update_rule", "sampler"]].to_numpy().tolist() == [
        ["dcfr", "none"],
        ["cfr", "none"],
        ["cfr", "external"],
    ]
    assert front["speed"].tolist() == [0.5, 1.0, 8.0]


def test_the_best_with_each_rule_has_its_rank_among_all(table):
    best = insights(table, CATALOG, "kuhn", BUDGET).best
    assert best[["rank", "update_rule", "sampler"]].to_numpy().tolist() == [[1, "dcfr", "none"], [2, "cfr", "none"]]
    assert best["reward"].tolist() == pytest.approx([6 / 8, 3 / 8])
    assert best["speed"].tolist() == [0.5, 1.0]


def test_of_equal_rewards_the_least_exploitable_algorithm_comes_first():
    """All of these are more than eight decades below the uniform policy; the catalog's order is the opposite."""
    exploitabilities = {("cfr", "external"): 4e-10, ("cfr", "none"): 3e-10, ("dcfr", "external"): 2e-10}
    exploitabilities["dcfr", "none"] = 1e-10
    rows = [row(Cell(*names, "none"), 0, UNIFORM * share, 1.0) for names, share in exploitabilities.items()]
    best = insights(TableEvaluator(pd.DataFrame(rows)), CATALOG, "kuhn", BUDGET).best
    assert best[["rank", "update_rule", "sampler"]].to_numpy().tolist() == [[1, "dcfr", "none"], [1, "cfr", "none"]]


def test_who_is_there_first(table):
    """From 1 ms to 1 s (three decades), dcfr's exploitability falls by six decades and plain cfr's by three."""
    times = insights(table, CATALOG, "kuhn", BUDGET).times
    assert times["exploitability"].tolist() == pytest.approx(
        [UNIFORM * part for part in (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)]
    )
    assert set(times["update_rule"]) == {"dcfr"}
    assert times["cpu_seconds"].tolist() == pytest.approx([10**-2.5, 1e-2, 10**-1.5, 1e-1, 1.0])
    assert times["cfr_cpu_seconds"].tolist() == pytest.approx([1e-2, 1e-1, 1.0, float("inf"), float("inf")])


def test_a_second_timing_judges_how_soon_a_deterministic_algorithm_is():
    """Both are chosen by their first timings. By the second, dcfr is four times as fast and cfr half as fast."""
    plain, exact = Cell("cfr", "none", "none"), Cell("dcfr", "none", "none")
    rows = [
        row(plain, 0, UNIFORM * 1e-3, 1.0, throughput_again=0.5e3),
        row(exact, 0, UNIFORM * 1e-6, 0.5, throughput_again=2e3),
    ]
    catalog = Catalog(("cfr", "dcfr"), ("none",), ("none",))
    times = insights(TableEvaluator(pd.DataFrame(rows)), catalog, "kuhn", BUDGET).times
    assert times["cpu_seconds"].tolist() == pytest.approx([10**-2.5 / 4, 1e-2 / 4, 10**-1.5 / 4, 1e-1 / 4, 1.0 / 4])
    assert times["cfr_cpu_seconds"].tolist()[:3] == pytest.approx([2e-2, 2e-1, 2.0])


def test_what_failed_is_left_out():
    plain = Cell("cfr", "none", "none")
    broken = row(plain, 0, UNIFORM, 1.0, status="failed")
    rows = [broken if cell == plain else row(cell, seed, 0.01, 1.0) for cell in CATALOG for seed in range(3)]
    found = insights(TableEvaluator(pd.DataFrame(rows)), CATALOG, "kuhn", BUDGET)
    assert ["cfr", "none"] not in found.front[["update_rule", "sampler"]].to_numpy().tolist()
    assert found.times["cfr_cpu_seconds"].isna().all()
    assert (found.plain, found.left_out) == ("failed", 1)


def test_a_time_that_was_not_measured_is_not_one_that_was_not_reached(table):
    """Plain CFR counts if the table has it, whatever the catalog."""
    rest = Catalog(("dcfr",), ("external", "none"), ("none",))
    times = insights(table, CATALOG, "kuhn", BUDGET).times
    found = insights(table, rest, "kuhn", BUDGET)
    assert found.plain == "measured"
    assert found.times["cfr_cpu_seconds"].tolist() == times["cfr_cpu_seconds"].tolist()
    assert found.times["cfr_cpu_seconds"].tolist()[-1] == float("inf")
    rows = [row(cell, seed, UNIFORM * 1e-3, 1.0) for cell in rest for seed in range(3)]
    found = insights(TableEvaluator(pd.DataFrame(rows)), rest, "kuhn", BUDGET)
    assert (found.plain, found.left_out) == ("not measured", 0)
    assert len(found.times) == 3
    assert found.times["cfr_cpu_seconds"].isna().all()


def test_nothing_that_ran_is_one_line():
    rows = [row(cell, 0, UNIFORM, 1.0, status="failed") for cell in CATALOG]
    with pytest.raises(RLCCFRError, match="every algorithm has a failed run on 'kuhn'"):
        insights(TableEvaluator(pd.DataFrame(rows)), CATALOG, "kuhn", BUDGET)


def test_nonsense_is_one_line(table):
    with pytest.raises(RLCCFRError, match="scale must be"):
        insights(table, CATALOG, "kuhn", BUDGET, scale="square")
