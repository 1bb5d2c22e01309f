"""Results under a shorter budget, read off the curve of a longer run.

:class:`rlccfr.envs.measuring.table.TableEvaluator` decides which run to read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlccfr.envs.measuring.request import Budget

COLUMN = {"iterations": "iteration", "nodes": "nodes", "seconds": "cpu_seconds"}
"""For each unit of budgets, the column of a curve that counts this unit."""

SLACK = 1.05
"""Tolerance for CPU seconds, as a factor: a run under a budget in seconds may end a little earlier or later."""

TINY = 1e-300
"""Substitute for an exploitability of 0 or less (from rounding) where logarithms are taken."""


def covers(record: Mapping[str, Any], budget: Budget) -> bool:
    """Return whether a record's curve extends to the budget, so that the result under the budget can be read off."""
    spent = record["curve"][COLUMN[budget.unit]]
    slack = SLACK if budget.unit == "seconds" else 1.0
    return record["status"] == "ok" and len(spent) > 0 and budget.amount <= slack * spent[-1]


def between_points(amounts: float | np.ndarray, spent: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return a curve's values at the given amounts, interpolated: log(value) is linear in log(amount).

    Before the first point, the value is the first point's; after the last point, the last point's.

    Args:
        amounts: amounts of a budget's unit, of any shape.
        spent: (points,) amounts at the curve's points, ascending.
        values: (points,) the curve's values there.

    Returns:
        The values, in the shape of ``amounts``.
    """
    log_amounts, log_spent, log_values = (np.log(np.maximum(numbers, TINY)) for numbers in (amounts, spent, values))
    read: np.ndarray = np.exp(np.interp(log_amounts, log_spent, log_values))
    return read


def read_off(record: Mapping[str, Any], budget: Budget) -> dict[str, Any]:
    """Return the record that a run would have under a shorter budget, without a curve; a failed run stays failed.

    Between two points of the curve, the logarithms of exploitability, iterations, nodes and CPU seconds are assumed to
    be linear in the logarithm of the budget. A budget before the first point gets the first point, because a run
    performs at least one iteration; a budget after the last point gets the last point.
    """
    under_budget = {
        "cell_id": f"{record['cell_id']}@{budget}",
        "budget_unit": budget.unit,
        "budget_amount": float(budget.amount),
        "curve": {name: [] for name in record["curve"]},
    }
    if record["status"] != "ok":
        return {**record, **under_budget}
    curve = {name: np.asarray(values, dtype=float) for name, values in record["curve"].items()}
    spent = curve[COLUMN[budget.unit]]

    def interpolated(name: str) -> float:
        return float(between_points(budget.amount, spent, curve[name]))

    # At a point of the curve, the point's value is used, so that it is exact even where it is negative.
    points = np.flatnonzero(spent == budget.amount)
    exploitability = float(curve["exploitability"][points[0]]) if len(points) else interpolated("exploitability")
    return {
        **record,
        **under_budget,
        "exploitability": exploitability,
        "nash_conv": 2 * exploitability,
        "iterations": round(interpolated("iteration")),
        "nodes_touched": round(interpolated("nodes")),
        "cpu_seconds": interpolated("cpu_seconds"),
    }
