"""A picture of several algorithms' convergence on a game, from measurements."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rlccfr.agents.baselines.fixed import FIXED
from rlccfr.agents.baselines.task import measure_all
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.shorter_budgets import COLUMN, between_points
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.errors import RLCCFRError
from rlccfr.pictures import UNITS, draw_beside, new_axes
from rlccfr.policy import EXACT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLAIN = FIXED["CFR"]
"""Plain CFR, which is drawn for comparison."""


def best_cells(table: TableEvaluator, catalog: Catalog, game: str, budget: Budget, most: int) -> list[Cell]:
    """Return the algorithms with the least mean exploitability under a budget, the best first.

    Algorithms with a failed run, or with one recorded without a curve, are left out. Plain CFR comes last if it
    was measured and is not among the best.

    Args:
        table: runs of the algorithms.
        catalog, game, budget: algorithms, game and budget.
        most: largest number of algorithms besides plain CFR.
    """
    exploitability = {
        cell: statistics.fmean(run.exploitability for run in runs)
        for cell, runs in measure_all(table, catalog, game, budget).items()
        if all(run.ok for run in runs) and _whole_curves(table, game, cell)
    }
    cells = sorted(exploitability, key=exploitability.__getitem__)[:most]
    if PLAIN not in cells and _whole_curves(table, game, PLAIN):
        cells.append(PLAIN)
    return cells


def column_of(over: str) -> str:
    """Return the name of the curve's column that is drawn on the horizontal axis.

    Args:
        over: unit of budgets, such as ``"seconds"``.

    Raises:
        RLCCFRError: ``over`` is not a unit of budgets.
    """
    if over not in COLUMN:
        raise RLCCFRError(f"curves are drawn over {', '.join(COLUMN)}, not over {over!r}")
    return COLUMN[over]


def draw_curves(
    table: TableEvaluator, game: str, cells: Sequence[Cell], over: str = "seconds", *, current: bool = False
) -> Axes:
    """Draw the exploitability of algorithms' average policies during their runs; both axes are logarithmic.

    A line is the median over an algorithm's runs. The band around it reaches from the least value to the largest. Both
    are drawn only where all of the algorithm's runs have values.

    Args:
        table: runs of the algorithms.
        game: the game.
        cells: the algorithms.
        over: ``"seconds"`` (engine CPU seconds), ``"iterations"`` or ``"nodes"`` (histories touched).
        current: whether to draw the medians of the current policies, too, where they were measured, as thinner lines
            of the same colours.

    Raises:
        RLCCFRError: ``over`` is not one of these, there is no algorithm, or an algorithm has no run on the game, a
            failed run, or a run without a curve.
    """
    column = column_of(over)
    if not cells:
        raise RLCCFRError(f"there are no complete runs on {game!r} to draw; measure some with `rlccfr sweep`")
    axes = new_axes(7.2, 4.8)
    for cell in cells:
        curves = _whole_curves(table, game, cell)
        if not curves:
            raise RLCCFRError(f"there is no complete run of {cell} on {game!r}; measure it with `rlccfr sweep`")
        x, values = _on_one_grid(curves, column)
        (line,) = axes.loglog(x, np.median(values, axis=0), label=_short_name(cell))
        if len(curves) > 1:
            axes.fill_between(
                x, values.min(axis=0), values.max(axis=0), color=line.get_color(), alpha=0.15, linewidth=0
            )
        if current:
            x, values = _on_one_grid(curves, column, "exploitability_current")
            draw_beside(axes, line, x, np.median(values, axis=0), f"{_short_name(cell)}, current policy")
    axes.set(title=game, xlabel=UNITS[column], ylabel="exploitability (NashConv / 2)")
    axes.legend(fontsize="small")
    return axes


Curve = Mapping[str, Sequence[float]]
"""A run's curve: lists of equal lengths, by the names of :class:`rlccfr.result.CurvePoint`."""


def _whole_curves(table: TableEvaluator, game: str, cell: Cell) -> list[Curve]:
    """Return the curves of an algorithm's runs on a game; none if a run has failed or has no curve."""
    runs = [table.run(game, cell, seed) for seed in table.seeds(game, cell)]
    are_whole = all(run["status"] == "ok" and len(run["curve"]["exploitability"]) for run in runs)
    return [run["curve"] for run in runs] if are_whole else []


def _on_one_grid(
    curves: Sequence[Curve], column: str, measure: str = "exploitability"
) -> tuple[np.ndarray, np.ndarray]:
    """Return a common grid, (points,), and each curve's exploitability there, (curves, points).

    The grid is the interval that all curves cover: its two ends, and the first curve's points in between. If no
    interval is covered by all curves, the grid is a single point, at which the shortest curve ends.

    Args:
        curves: the curves.
        column: column of the curves for the grid.
        measure: ``"exploitability"``, or ``"exploitability_current"``.
    """
    columns = [np.asarray(curve[column], dtype=float) for curve in curves]
    end = min(values[-1] for values in columns)
    start = min(end, max(values[0] for values in columns))
    x = columns[0][(columns[0] >= start) & (columns[0] <= end)]
    x = np.unique(np.concatenate([[start], x, [end]]))
    # Values are interpolated in logarithms, which need positive numbers.
    values = [
        between_points(x, own_x, np.maximum(np.asarray(curve[measure], dtype=float), EXACT))
        for own_x, curve in zip(columns, curves, strict=True)
    ]
    return x, np.array(values)


def _short_name(cell: Cell) -> str:
    """Return an algorithm's name for a legend; a sampler or an abstraction ``none`` is left out."""
    return " x ".join([cell.update_rule, *(id for id in cell[1:] if id != "none")])
