"""Budgets, and the requests that an evaluator answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rlccfr.catalog import AXES
from rlccfr.catalog import Cell as Cell
from rlccfr.errors import BudgetError, ComponentError, RLCCFRError

if TYPE_CHECKING:
    from rlccfr.result import RunResult

Unit = Literal["iterations", "seconds", "nodes"]


@dataclass(frozen=True)
class Budget:
    """How long an episode may solve: iterations, engine CPU seconds, or histories touched.

    Raises:
        BudgetError: an amount that is not positive and finite, or a fraction of an iteration or node.
    """

    unit: Unit
    amount: float

    def __post_init__(self) -> None:
        if self.unit not in ("iterations", "seconds", "nodes"):
            raise BudgetError(f"a budget is in iterations, seconds or nodes, not {self.unit!r}")
        if isinstance(self.amount, bool) or not (math.isfinite(self.amount) and self.amount > 0):
            raise BudgetError(f"a budget must be positive and finite, not {self.amount!r}")
        if self.unit != "seconds" and self.amount != int(self.amount):
            raise BudgetError(f"a budget in {self.unit} must be whole, not {self.amount!r}")

    def __str__(self) -> str:
        return f"{self.amount:.15g} {self.unit.removesuffix('s') if self.amount == 1 else self.unit}"


@dataclass(frozen=True)
class Request:
    """One measurement: the triples of an episode so far, run in turn on one solver.

    Attributes:
        game: a name or OpenSpiel string that :func:`rlccfr.load_game` takes.
        cells: one triple a segment; each runs for ``budget / segments``.
        budget: of the whole episode.
        segments: decision points of the episode, at least ``len(cells)``.
        seed: of the engine.
    """

    game: str
    cells: tuple[Cell, ...]
    budget: Budget
    segments: int = 1
    seed: int = 0


def check(request: Request) -> None:
    """Refuse a request that no evaluator can answer.

    Raises:
        RLCCFRError: no triple, or more triples than segments.
        BudgetError: a budget that is too small to be split.
        ComponentError: an unknown id.
    """
    check_segments(request.budget, request.segments)
    if not 1 <= len(request.cells) <= request.segments:
        raise RLCCFRError(
            f"a request needs 1 to {request.segments} triples, one a segment so far, not {len(request.cells)}"
        )
    if isinstance(request.seed, bool) or not isinstance(request.seed, int) or request.seed < 0:
        raise ComponentError(f"an engine seed must be a non-negative integer, not {request.seed!r}")


def check_segments(budget: Budget, segments: int) -> None:
    """Refuse a number of segments that is not positive, or too large for the budget.

    Raises:
        BudgetError: see above.
    """
    if isinstance(segments, bool) or not isinstance(segments, int) or segments < 1:
        raise BudgetError(f"segments must be a positive integer, not {segments!r}")
    if budget.unit != "seconds" and budget.amount < segments:
        raise BudgetError(f"{budget} can't be split into {segments} segments; raise the budget or take fewer segments")


def due(budget: Budget, segments: int, finished: int) -> float:
    """What of the budget is spent after so many segments; whole units where they can't be split."""
    if budget.unit == "seconds":
        return budget.amount * finished / segments
    return int(budget.amount) * finished // segments


def segment_budget(budget: Budget, segments: int, index: int, before: RunResult | None) -> dict[str, Any]:
    """Return what segment ``index`` may spend, as keyword arguments of :meth:`rlccfr.Solver.run`.

    A segment gets a little less where those before took a little more, and at least one iteration.

    Args:
        before: what the segments before reached; None for the first.
    """
    total = due(budget, segments, index + 1)
    if before is None:
        return {budget.unit: total}
    spent = {"iterations": before.iterations, "seconds": before.cpu_seconds, "nodes": before.nodes_touched}
    return {budget.unit: max(total - spent[budget.unit], 1e-9 if budget.unit == "seconds" else 1)}


def changes(before: Cell, after: Cell) -> dict[str, str]:
    """Return by axis the components that change between two segments; the others are left alone, so nothing is lost."""
    axes = zip(AXES, before, after, strict=True)
    return {axis: new for axis, old, new in axes if new != old}
