"""Insights from a game's measurements: effects of components, trade-offs, and times to targets."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from rlccfr.agents.baselines.fixed import FIXED, fixed_cells
from rlccfr.agents.baselines.task import measure_all, rewards_of, worths_of
from rlccfr.agents.judging.effects import main_effects, pareto_front, seconds_to
from rlccfr.agents.judging.evidence import choosing_part, judging_part
from rlccfr.catalog import AXES, Catalog, Cell
from rlccfr.envs.episode import BudgetLike, PresetLike, parse_budget, parse_preset
from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.envs.measuring.identity import is_deterministic
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import Preset, Worth
from rlccfr.errors import RLCCFRError
from rlccfr.games.compiled_games import compiled

TARGETS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)
"""Target exploitabilities, as fractions of the uniform policy's."""

BASELINE = "CFR"
"""Name, in :data:`FIXED`, of plain CFR, whose times are given beside the best times."""

PlainCFR = Literal["measured", "failed", "not measured"]
"""Whether there are complete runs of plain CFR."""


@dataclass(frozen=True)
class Insights:
    """Insights from the runs of all algorithms on one game; algorithms with a failed run are left out.

    Exploitability is in the game's units. Speed is throughput as a multiple of plain CFR's.

    Attributes:
        game, budget, preset: game, budget and reward weights that the insights are for.
        effects: rows of :func:`main_effects`, the best of each axis first.
        best: the best algorithm of each update rule, the best rule first: rows (rank, converged, update_rule, sampler,
            abstraction, exploitability, speed, reward). ``rank`` is the algorithm's rank among all algorithms, by mean
            reward. Algorithms that have not converged rank below all that have, unless the weights ask for speed alone.
        front: the Pareto front (:func:`pareto_front`) of exploitability and speed, by rising exploitability: rows
            (update_rule, sampler, abstraction, exploitability, speed, converged).
        times: rows (exploitability, update_rule, sampler, abstraction, cpu_seconds, cfr_cpu_seconds), one per target of
            :data:`TARGETS` that some algorithm meets. The algorithm is the one with the least median time over its
            choosing runs. ``cpu_seconds`` is its median time over its judging runs (for a deterministic algorithm, the
            time in its run's second timing if there is one). ``cfr_cpu_seconds`` is the corresponding time of plain
            CFR, whether or not the catalog has plain CFR; it is NaN if there are no complete runs of plain CFR. A time
            is infinite if the runs did not meet the target. Times are in engine CPU seconds, and are read off the whole
            curves, whatever the budget.
        plain: ``"measured"``, ``"failed"`` if a run of plain CFR failed, or ``"not measured"``.
        left_out: number of algorithms with a failed run; the tables above leave them out.
    """

    game: str
    budget: Budget
    preset: Preset
    effects: pd.DataFrame
    best: pd.DataFrame
    front: pd.DataFrame
    times: pd.DataFrame
    plain: PlainCFR
    left_out: int


def insights(
    table: TableEvaluator,
    catalog: Catalog,
    game: str,
    budget: BudgetLike,
    preset: PresetLike = "accuracy",
    scale: str | None = None,
) -> Insights:
    """Return the insights from a table on a game, under a budget and reward weights.

    An algorithm with a failed run is left out. Effects, best and front are means over all runs. Only the times
    distinguish choosing runs from judging runs.

    Args:
        table: runs of the algorithms.
        catalog, game, budget: algorithms, game and budget.
        preset: reward weights.
        scale: scale of the error cost e, in place of the scale that the weights name.

    Raises:
        MissingCellError: an algorithm was not measured, or was measured for less than the budget.
        RLCCFRError: unknown reward weights, an unknown scale, an invalid budget, or a failed run for every algorithm.
    """
    limit = parse_budget(budget)
    weights = parse_preset(preset, scale)
    all_runs = measure_all(table, catalog, game, limit)
    runs = {cell: measurements for cell, measurements in all_runs.items() if all(run.ok for run in measurements)}
    if not runs:
        raise RLCCFRError(f"every algorithm has a failed run on {game!r}, so there is nothing to report; measure again")
    rewards = rewards_of(runs, weights)
    worths = worths_of(runs, weights)
    rows = [{**cell._asdict(), **_means(measurements), "reward": rewards[cell]} for cell, measurements in runs.items()]
    figures = pd.DataFrame(rows)
    plain_cfr, plain_state = _plain_cfr(table, catalog, game)
    return Insights(
        game=game,
        budget=limit,
        preset=weights,
        effects=_effects(rewards),
        best=_best(figures, [worths[cell] for cell in runs]),
        front=_front(figures.drop(columns="reward")),
        times=_times(table, game, runs, plain_cfr if plain_state == "measured" else None),
        plain=plain_state,
        left_out=len(all_runs) - len(runs),
    )


def _effects(rewards: Mapping[Cell, float]) -> pd.DataFrame:
    """Return the rows of :func:`main_effects`, by axis, the best component of each axis first."""
    by_axis = main_effects(rewards).groupby("axis", sort=False)
    return pd.concat([rows.sort_values("effect", ascending=False) for _, rows in by_axis], ignore_index=True)


def _plain_cfr(table: TableEvaluator, catalog: Catalog, game: str) -> tuple[Cell, PlainCFR]:
    """Return plain CFR, and whether the table has complete runs of it.

    If the catalog has plain CFR, it is returned with the catalog's hyperparameters.
    """
    cell = fixed_cells(catalog).get(BASELINE, FIXED[BASELINE])
    runs = [table.run(game, cell, seed) for seed in table.seeds(game, cell)]
    if not runs:
        return cell, "not measured"
    return cell, "measured" if all(run["status"] == "ok" for run in runs) else "failed"


def _means(runs: Sequence[Measurement]) -> dict[str, float]:
    """Return an algorithm's mean exploitability and speed, and whether it has converged in every run."""
    return {
        "exploitability": statistics.fmean(run.exploitability for run in runs),
        "speed": statistics.fmean(run.throughput / run.reference_throughput for run in runs),
        "converged": all(run.converged for run in runs),
    }


def _best(figures: pd.DataFrame, worths: Sequence[Worth]) -> pd.DataFrame:
    """Return the best algorithm of each update rule, with its rank by worth; rows are in order of rank.

    Algorithms of equal worth share a rank; among these, the least exploitable comes first, and then the fastest.

    Args:
        figures: a row per algorithm.
        worths: worth of each row's algorithm.
    """
    ordered = sorted(worths, reverse=True)
    rank_of = {worth: ordered.index(worth) + 1 for worth in set(worths)}  # equal worths share the first rank
    ranked = figures.assign(rank=[rank_of[worth] for worth in worths])
    ranked = ranked.sort_values(
        ["rank", "exploitability", "speed"], ascending=[True, True, False], kind="stable", ignore_index=True
    )
    columns = ["rank", "converged", *(name for name in ranked.columns if name not in ("rank", "converged"))]
    return ranked[columns].drop_duplicates("update_rule", ignore_index=True)


def _front(figures: pd.DataFrame) -> pd.DataFrame:
    """Return the rows on the Pareto front of exploitability and speed."""
    return figures.iloc[pareto_front(figures["exploitability"], figures["speed"])].reset_index(drop=True)


def _judging_curves(table: TableEvaluator, game: str, cell: Cell, curves: Sequence[Any]) -> Sequence[Any]:
    """Return the curves of an algorithm's judging runs, or of its only run's second timing if there is one."""
    second_timing = table.run_again(game, cell) if is_deterministic((cell,), compiled(game)) else None
    return judging_part(curves) if second_timing is None else [second_timing["curve"]]


def _times(
    table: TableEvaluator, game: str, runs: Mapping[Cell, Sequence[Measurement]], plain: Cell | None
) -> pd.DataFrame:
    """Return the rows of :attr:`Insights.times`: the fastest algorithm for each target, its time and plain CFR's.

    Args:
        plain: plain CFR; None if there are no complete runs of it.
    """

    def curves_of(cell: Cell) -> list[Any]:
        return [table.run(game, cell, seed)["curve"] for seed in table.seeds(game, cell)]

    def median_seconds(curves: Sequence[Any], target: float) -> float:
        return statistics.median(seconds_to(curve, target) for curve in curves)

    def judging_seconds(cell: Cell, target: float) -> float:
        return median_seconds(_judging_curves(table, game, cell, curves_of(cell)), target)

    curves_by_cell = {cell: curves_of(cell) for cell in runs}
    uniform_exploitability = next(measurements[0].uniform_exploitability for measurements in runs.values())
    rows = []
    for fraction in TARGETS:
        target = fraction * uniform_exploitability
        # The fastest of hundreds looks faster than it is on the runs by which it was chosen, so other runs judge it.
        choosing_seconds = {
            cell: median_seconds(choosing_part(curves), target) for cell, curves in curves_by_cell.items()
        }
        fastest = min(choosing_seconds, key=choosing_seconds.__getitem__)
        if not math.isinf(choosing_seconds[fastest]):
            rows.append(
                {
                    "exploitability": target,
                    **fastest._asdict(),
                    "cpu_seconds": judging_seconds(fastest, target),
                    "cfr_cpu_seconds": math.nan if plain is None else judging_seconds(plain, target),
                }
            )
    columns = ["exploitability", *AXES, "cpu_seconds", "cfr_cpu_seconds"]
    return pd.DataFrame(rows, columns=columns)
