"""Curves of update rules, for experiments that compare rules by exact passes."""

from __future__ import annotations

from typing import Any

from rlccfr.components.text import parse
from rlccfr.experiments.experiment import Row
from rlccfr.policy import EXACT
from rlccfr.registry import update_rules
from rlccfr.solver import Solver


def with_horizon(rule: str, iterations: int) -> dict[str, Any]:
    """Return a rule's id and hyperparameters; a rule that has a horizon gets the number of iterations as its horizon.

    Args:
        rule: a rule's id, optionally with hyperparameters; if they include a horizon, it is kept.
        iterations: number of iterations of the run.

    Examples:
        >>> with_horizon("aod_cfr", 5000)
        {'horizon': 5000, 'id': 'aod_cfr'}
        >>> with_horizon("dcfr(alpha=2)", 5000)
        {'id': 'dcfr', 'alpha': 2}
    """
    component = parse(rule)
    if "horizon" in update_rules[component["id"]].hyperparameters:
        return {"horizon": iterations} | component
    return component


def curve_of(solver: Solver, iterations: int, only_end: bool = False) -> list[Row]:
    """Run a solver, and return a row for each point of its curve.

    Args:
        solver: a solver that has not run yet.
        iterations: number of iterations of the run.
        only_end: whether to measure only the final policy.

    Returns:
        Rows with the number of ``iterations`` so far, the ``exploitability`` (NashConv / 2, in the game's units,
        raised to at least :data:`rlccfr.policy.EXACT` so that its logarithm is finite), and the CPU ``seconds`` so far.
    """
    result = solver.run(iterations=iterations, curve=not only_end)
    return [
        {
            "iterations": point.iteration,
            "exploitability": max(point.exploitability, EXACT),
            "seconds": point.cpu_seconds,
        }
        for point in result.points
        if point.iteration  # the first point is that of the uniform policy
    ]
