"""How far a run goes: budgets, targets, and the time that is left to a target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from rlccfr.errors import BudgetError, brief, whole_number
from rlccfr.games.flat_tree import GameTree
from rlccfr.policy import EXACT, Policy
from rlccfr.result import CurvePoint

STALLED = 0.9
"""A run has stalled if ten times as many iterations leave the exploitability above this share of what it was."""

EARLY = 1000
"""Number of iterations before which no run counts as stalled."""


@dataclass(frozen=True)
class Limit:
    """What ends a run.

    Attributes:
        unit: iterations, seconds or nodes.
        amount: budget in this unit; infinite if there is only a target.
        target: exploitability in the game's units, or None.
        start: the uniform policy's exploitability, where a target's progress begins; 0 without a target.
    """

    unit: str
    amount: float
    target: float | None
    start: float

    @classmethod
    def of(cls, game: GameTree, budget: dict[str, Any], until: float | str | None) -> Limit:
        """Check a budget and a target.

        Args:
            budget: amount by unit; None where nothing is given.

        Raises:
            BudgetError: see :meth:`rlccfr.Solver.run`.
        """
        given = {unit: amount for unit, amount in budget.items() if amount is not None}
        if len(given) > 1 or not (given or until is not None):
            also = "" if given else ", or a target: until="
            raise BudgetError(f"give exactly one budget: iterations=, seconds= or nodes={also}")
        ((unit, amount),) = given.items() or [("iterations", math.inf)]
        if given:
            amount = _seconds(amount) if unit == "seconds" else whole_number(amount, unit, 1, BudgetError)
        if until is None:
            return cls(unit, amount, None, 0.0)
        return cls(unit, amount, target_of(game, until), Policy.uniform(game).exploitability())

    def ends(self, points: Sequence[CurvePoint]) -> bool:
        """Return whether the curve has reached the target, or has stalled in a run without a budget."""
        if self.target is None or not points:
            return False
        return points[-1].exploitability <= self.target or (self.amount == math.inf and has_stalled(points))

    def share(self, spent: float, points: Sequence[CurvePoint]) -> float:
        """Return the share that is done: of the budget, or of the decades from the uniform policy to the target."""
        if self.amount < math.inf:
            return min(1.0, spent / self.amount)
        assert self.target is not None
        now = min((point.exploitability for point in points), default=self.start)
        if not self.target < now < self.start:
            return float(now <= self.target)
        return math.log(self.start / now) / math.log(self.start / self.target)


def _seconds(amount: Any) -> float:
    try:
        number = float(amount) if isinstance(amount, Real) and not isinstance(amount, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not 0 < number < math.inf:
        raise BudgetError(f"seconds must be a positive number, not {amount!r}")
    return number


def target_of(game: GameTree, target: float | str) -> float:
    """Return a target in the game's units of utility.

    Args:
        target: a number in these units, or a text: ``"1e-6"``, or ``"1e-6x"`` for this share of the uniform policy's
            exploitability.

    Raises:
        BudgetError: ``target`` is not a positive number, or is too small to be told from rounding.
    """
    number = _number(target)
    if not 0 < number < math.inf:
        raise BudgetError(
            "a target must be a positive exploitability, or a share of the uniform policy's with an x behind it, as in "
            f'"1e-6x", not {brief(target)}'
        )
    found = number * (Policy.uniform(game).exploitability() if isinstance(target, str) and "x" in target else 1.0)
    least = EXACT * max(1.0, game.utility_range)
    if found < least:
        raise BudgetError(
            f"an exploitability of {found:.3g} can't be told from rounding in {game.name!r}: name {least:.3g} or more"
        )
    return found


def _number(target: float | str) -> float:
    if isinstance(target, str):
        try:
            return float(target.strip().removesuffix("x"))
        except ValueError:
            return math.nan
    return float(target) if isinstance(target, Real) and not isinstance(target, bool) else math.nan


def has_stalled(points: Sequence[CurvePoint]) -> bool:
    """Return whether the last tenfold increase in iterations has hardly lowered the least exploitability."""
    if not points or points[-1].iteration < EARLY:
        return False
    before = [point.exploitability for point in points if point.iteration <= points[-1].iteration / 10]
    return bool(before) and min(point.exploitability for point in points) > STALLED * min(before)


def seconds_left(points: Sequence[CurvePoint], target: float) -> float:
    """Predict the CPU seconds that a run still needs to reach a target.

    A power of time is fitted to the last tenfold of the curve's CPU seconds.

    Returns:
        Infinity if the curve does not fall, or has fewer than three points there.
    """
    now = points[-1].cpu_seconds if points else 0.0
    recent = [
        point
        for point in points
        if point.cpu_seconds > 0 and point.cpu_seconds >= now / 10 and point.exploitability > 0
    ]
    if len(recent) < 3:
        return math.inf
    errors = np.log([point.exploitability for point in recent])
    slope = np.polyfit(np.log([point.cpu_seconds for point in recent]), errors, 1)[0]
    if slope > -0.01:
        return math.inf
    powers = (math.log(target) - errors[-1]) / slope
    return now * math.expm1(min(powers, 700.0))
