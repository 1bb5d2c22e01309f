"""Budgets, and the requests that an evaluator answers."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rlccfr.catalog import AXES
from rlccfr.catalog import Cell as Cell
from rlccfr.errors import BudgetError, ComponentError, RLCCFRError, brief
from rlccfr.games.names import as_name

if TYPE_CHECKING:
    from rlccfr.result import RunResult

Unit = Literal["iterations", "seconds", "nodes"]


@dataclass(frozen=True)
class Budget:
    """The budget of an episode: iterations, engine CPU seconds, or histories touched.

    Attributes:
        unit: ``"iterations"``, ``"seconds"`` or ``"nodes"``.
        amount: number of units: positive, and whole for iterations and nodes. NumPy's numbers become Python's own.

    Raises:
        BudgetError: an unknown unit, an amount that is not a number or not positive and finite, or a fraction of an
            iteration or node.

    Examples:
        >>> print(Budget("iterations", 1000))
        1000 iterations
    """

    unit: Unit
    amount: float

    def __post_init__(self) -> None:
        if not isinstance(self.unit, str) or self.unit not in ("iterations", "seconds", "nodes"):
            raise BudgetError(f"a budget's unit must be iterations, seconds or nodes, not {brief(self.unit)}")
        amount = _plain_number(self.amount)
        object.__setattr__(self, "amount", amount)
        if not 0 < amount <= sys.float_info.max:
            raise BudgetError(f"a budget must be positive and finite, not {brief(amount)}")
        if self.unit != "seconds" and amount != int(amount):
            raise BudgetError(f"a budget in {self.unit} must be a whole number, not {amount!r}")

    def __str__(self) -> str:
        return f"{self.amount:.15g} {self.unit.removesuffix('s') if self.amount == 1 else self.unit}"


def _plain_number(amount: Any) -> float:
    """Return the amount of a budget as an int or a float of Python's own, which JSON can hold.

    Raises:
        BudgetError: the amount is not a number.
    """
    if isinstance(amount, (int, np.integer)) and not isinstance(amount, bool):
        return int(amount)
    if isinstance(amount, (float, np.floating)):
        return float(amount)
    raise BudgetError(f"a budget's amount must be a number, not {brief(amount)}")


@dataclass(frozen=True)
class Request:
    """A request for one measurement: the algorithms of an episode so far, run in turn on one solver.

    Attributes:
        game: a name or OpenSpiel string that :func:`rlccfr.load_game` accepts.
        cells: one algorithm per segment so far; each runs for ``budget / segments``.
        budget: budget of the whole episode.
        segments: number of decision points of the episode, at least ``len(cells)``.
        seed: seed of the engine.
    """

    game: str
    cells: tuple[Cell, ...]
    budget: Budget
    segments: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "game", as_name(self.game))


def check(request: Request) -> None:
    """Check that a request is valid.

    Raises:
        RLCCFRError: no algorithm, or more algorithms than segments.
        BudgetError: a budget that is too small to be split, or a number of segments that is not positive.
        ComponentError: an engine seed that is not a non-negative integer.
    """
    check_segments(request.budget, request.segments)
    if not 1 <= len(request.cells) <= request.segments:
        raise RLCCFRError(
            "a request needs one algorithm for each segment so far: at least 1, and at most "
            f"segments={request.segments}, not {len(request.cells)}"
        )
    if isinstance(request.seed, bool) or not isinstance(request.seed, int) or request.seed < 0:
        raise ComponentError(f"an engine seed must be a non-negative integer, not {request.seed!r}")


def check_segments(budget: Budget, segments: int) -> None:
    """Check that a number of segments is positive, and not too large for the budget.

    Raises:
        BudgetError: the number is not a positive integer, or exceeds a budget in iterations or nodes.
    """
    if isinstance(segments, bool) or not isinstance(segments, int) or segments < 1:
        raise BudgetError(f"segments must be a positive integer, not {segments!r}")
    if budget.unit != "seconds" and budget.amount < segments:
        raise BudgetError(f"{budget} can't be split into {segments} segments; raise the budget or use fewer segments")


def due(budget: Budget, segments: int, finished: int) -> float:
    """Return the total budget of the first ``finished`` segments; a whole number for iterations and nodes."""
    if budget.unit == "seconds":
        return budget.amount * finished / segments
    return int(budget.amount) * finished // segments


def segment_budget(budget: Budget, segments: int, index: int, before: RunResult | None) -> dict[str, Any]:
    """Return the budget of segment ``index``, as keyword arguments of :meth:`rlccfr.Solver.run`.

    A segment gets a little less if earlier segments spent a little more, but always enough for one iteration.

    Args:
        before: result of the earlier segments; None for the first segment.
    """
    total = due(budget, segments, index + 1)
    if before is None:
        return {budget.unit: total}
    spent = {"iterations": before.iterations, "seconds": before.cpu_seconds, "nodes": before.nodes_touched}
    least = 1e-9 if budget.unit == "seconds" else 1
    return {budget.unit: max(total - spent[budget.unit], least)}


def changes(before: Cell, after: Cell) -> dict[str, str]:
    """Return the new ids of the components that change between two segments, by axis."""
    return {axis: new for axis, old, new in zip(AXES, before, after, strict=True) if new != old}
