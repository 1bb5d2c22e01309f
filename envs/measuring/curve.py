"""Results under a shorter budget, read off the curve of a longer run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlccfr.envs.measuring.request import Budget

COLUMN = {"iterations": "iteration", "nodes": "nodes", "seconds": "cpu_seconds"}

SLACK = 1.05
"""Tolerance for CPU seconds, as a factor: a run that was to last a second may end a little before or after it."""

TINY = 1e-300
"""Substitute for an exploitability of 0 or less (from rounding) where logarithms are taken."""


def covers(record: Mapping[str, Any], budget: Budget) -> bool:
    """Return whether a record's curve tells what its run had reached when the budget was spent."""
    spent = record["curve"][COLUMN[budget.unit]]
    slack = SLACK if budget.unit == "seconds" else 1.0
    return record["status"] == "ok" and len(spent) > 0 and budget.amount <= slack * spent[-1]


def read_off(record: Mapping[str, Any], budget: Budget) -> dict[str, Any]:
    """Return the record of the same run under a shorter budget, without a curve; a failed run stays failed.

    Between two points of the curve, the logarithms of exploitability, iterations, nodes and CPU seconds are taken to be
    linear in the logarithm of the budget. Before the first point, that point counts, because a run performs at least
    one iteration. After the last point, the last point counts.
    """
    under = {"cell_id": f"{record['cell_id']}@{budget}", "budget_unit": budget.unit,
             "budget_amount": float(budget.amount), "curve": {name: [] for name in record["curve"]}}  # fmt: skip
    if record["status"] != "ok":
        return {**record, **under}
    curve = {name: np.asarray(values, dtype=float) for name, values in record["curve"].items()}
    spent, at = np.log(np.maximum(curve[COLUMN[budget.unit]], TINY)), np.log(budget.amount)

    def between(name: str) -> float:
        return float(np.exp(np.interp(at, spent, np.log(np.maximum(curve[name], TINY)))))

    exact = np.flatnonzero(curve[COLUMN[budget.unit]] == budget.amount)
    exploitability = float(curve["exploitability"][exact[0]]) if len(exact) else between("exploitability")
    return {
        **record,
        **under,
        "exploitability": exploitability,
        "nash_conv": 2 * exploitability,
        "iterations": round(between("iteration")),
        "nodes_touched": round(between("nodes")),
        "cpu_seconds": between("cpu_seconds"),
    }
