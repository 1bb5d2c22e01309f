"""Measurements whose best algorithm is known: cfr is best on small games of Kuhn poker, dcfr on large ones."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd

from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import DECADES, PRESETS

CATALOG = Catalog(("cfr", "dcfr", "lcfr"), ("none", "external"), ("none",))
LEARNED, NEW = tuple(f"kuhn(cards={cards})" for cards in (3, 4, 5, 6, 8, 10)), "kuhn(cards=7)"
BUDGETS = tuple(Budget("iterations", amount) for amount in (10, 1_000, 100_000))
UNIFORM, ACCURACY = 0.5, PRESETS["accuracy"]

ORDER = [
    Cell("dcfr", "none", "none"),
    Cell("cfr", "none", "none"),
    *(cell for cell in CATALOG if cell.update_rule == "lcfr"),
]
"""The algorithms that :func:`ranking_team` ranks, the best first."""


def ranking_team() -> SimpleNamespace:
    """Return what stands for a team that has learned from other games and ranks the algorithms in ORDER."""
    env = SimpleNamespace(games=LEARNED, budgets=BUDGETS)
    return SimpleNamespace(catalog=CATALOG, env=env, ranked=lambda *_: list(ORDER))


def exploitability(game: str, cell: Cell, iterations: float) -> float:
    """Return what an algorithm reaches: cfr is best on small games, dcfr on large ones; sampling is worse."""
    cards = int(game.split("=")[1].rstrip(")"))
    steepness = {"cfr": 1.0 - 0.05 * cards, "dcfr": 0.4 + 0.05 * cards, "lcfr": 0.5}[cell.update_rule]
    return float(UNIFORM * iterations ** -(steepness - 0.3 * (cell.sampler != "none")))


def log_error(game: str, cell: Cell, iterations: float) -> float:
    """Return e on the log scale of what an algorithm reaches."""
    return 1 + float(np.log10(exploitability(game, cell, iterations) / UNIFORM)) / DECADES


def row(game: str, cell: Cell, budget: Budget) -> dict:
    return {
        "game": game, **cell._asdict(), "budget_unit": budget.unit, "budget_amount": float(budget.amount),
        "deterministic": True, "exploitability": exploitability(game, cell, budget.amount),
        "uniform_exploitability": UNIFORM, "throughput": 1e3, "reference_throughput": 1e3, "cpu_seconds": 1.0,
    }  # fmt: skip


def known_table() -> TableEvaluator:
    """Return the measurements under BUDGETS, and under the budgets of halving in the largest of them."""
    halved = (Budget("iterations", amount) for amount in (1_250, 3_750, 93_750))  # the rungs, and what they leave
    budgets = (*BUDGETS, *halved)
    return TableEvaluator(
        pd.DataFrame([row(game, cell, one) for game in (*LEARNED, NEW) for cell in CATALOG for one in budgets])
    )
