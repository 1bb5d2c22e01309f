"""Where every cell ends after as many nodes as 1,000 exact passes touch, and the pilots' figures."""

from __future__ import annotations

import numpy as np
import pytest
from support import game

import rlccfr
from rlccfr.catalog import Catalog, Cell
from rlccfr.catalog.facts import facts

LEDUC_288 = "leduc_poker(suit_isomorphism=True)"


def verdict(cell: Cell) -> str:
    known = facts(cell)
    few = cell.abstraction == "cfr_br" and cell.sampler != "none"
    note = "; few iterations: each pays two exact best responses for a few walks" if few else ""
    return f"{known.guarantee}: {known.reason}{note}"


@pytest.mark.verify
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_every_cell_converges(name, figures):
    tree = game(name)
    uniform = rlccfr.Policy.uniform(tree).exploitability()
    rows, missed = [], []
    for cell in Catalog.paper():
        result = rlccfr.Solver(tree, *cell, seed=0).run(nodes=1_000 * tree.num_histories, curve=False)
        ratio = result.exploitability / uniform
        rows.append(
            {"update rule": cell.update_rule, "sampler": cell.sampler, "abstraction": cell.abstraction,
             "iterations": result.iterations, "exploitability": result.exploitability, "of uniform": ratio,
             "published guarantee": verdict(cell)}
        )  # fmt: skip
        if facts(cell).guarantee != "none" and ratio > 0.5:
            missed.append(cell)
    figures(f"All 112 cells on {name}", rows, f"1,000 x {tree.num_histories:,} histories touched; seed 0.")
    assert not missed
    assert np.isfinite([row["exploitability"] for row in rows]).all()


# Exploitability at t = 500 on Leduc with suit isomorphism, by two independent pilot engines.
EXACT_500 = {
    "cfr": (2.0e-2, 2.2e-2),
    "cfr_plus": (9.0e-4, 9.3e-4),
    "lcfr": (1.0e-2, 1.1e-2),
    "lcfr_plus": (5.1e-3, 6.4e-3),
    "dcfr": (3.9e-4, 5.4e-4),
    "dcfr_plus": (3.9e-4, 5.0e-4),
    "ecfr": (2.2e-2, 2.2e-2),
    "ecfr_plus": (2.4e-3, 2.4e-3),
}


@pytest.mark.verify
def test_exact_rules_meet_the_pilots(figures):
    rows = []
    for rule, (low, high) in EXACT_500.items():
        found = rlccfr.Solver(game(LEDUC_288), rule).run(iterations=500, curve=False).exploitability
        rows.append({"update rule": rule, "pilot": f"{low:g} to {high:g}", "here": found,
                     "within 50 %": 0.5 * low <= found <= 1.5 * high})  # fmt: skip
    figures("Exact passes, Leduc with suit isomorphism, t = 500", rows)
    assert all(row["within 50 %"] for row in rows)


# Exploitability after 1e5 iterations on the same game.
SAMPLED_1E5 = {
    "external": {"cfr": 0.045, "lcfr": 0.040, "cfr_plus": 0.057, "lcfr_plus": 0.093, "dcfr": 0.060,
                 "dcfr_plus": 0.065, "ecfr": 0.041, "ecfr_plus": 0.049},
    "outcome": {"cfr": 0.24, "lcfr": 0.22, "cfr_plus": 0.33, "lcfr_plus": 0.43, "dcfr": 0.31, "dcfr_plus": 0.31},
}  # fmt: skip


@pytest.mark.verify
@pytest.mark.parametrize("sampler", SAMPLED_1E5)
def test_sampled_rules_meet_the_pilots(sampler, figures):
    rows = []
    for rule, pilot in SAMPLED_1E5[sampler].items():
        runs = [
            rlccfr.Solver(game(LEDUC_288), rule, sampler, seed=s).run(iterations=100_000, curve=False).exploitability
            for s in range(5)
        ]
        mean = float(np.mean(runs))
        rows.append({"update rule": rule, "sampler": sampler, "pilot": pilot, "here, mean of 5": mean,
                     "spread": float(np.ptp(runs)), "ratio": mean / pilot})  # fmt: skip
    figures(f"{sampler} sampling, Leduc with suit isomorphism, 1e5 iterations", rows)
    assert all(1 / 1.5 <= row["ratio"] <= 1.5 for row in rows)
