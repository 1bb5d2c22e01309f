"""What measurements say of a game: what each component does, which trade-offs there are, how soon a target is met."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rlccfr.agents.baselines.fixed import fixed_cells
from rlccfr.agents.baselines.task import measure_all, rewards_of
from rlccfr.agents.judging.effects import main_effects, pareto_front, seconds_to
from rlccfr.agents.judging.evidence import reporting, selecting
from rlccfr.catalog import AXES, Catalog, Cell
from rlccfr.envs.episode import BudgetLike, PresetLike, parse_budget, parse_preset, parse_scale
from rlccfr.envs.measuring.compiled_games import compiled
from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.envs.measuring.identity import is_deterministic
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import Preset
from rlccfr.errors import RLCCFRError

TARGETS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)
"""Parts of the uniform policy's exploitability, the time to which is told."""

BASELINE = "CFR"
"""Whose time is told beside."""


@dataclass(frozen=True)
class Insights:
    """What the runs of all cells on one game say; cells whose runs failed are left out.

    Attributes:
        effects: as :func:`main_effects` has them, the best of each axis first.
        front: the cells that no other beats in both exploitability and throughput, by rising exploitability: rows
            (update_rule, sampler, abstraction, exploitability, speed), speed as a multiple of plain CFR's.
        times: rows (exploitability, update_rule, sampler, abstraction, cpu_seconds, cfr_cpu_seconds): for each of
            :data:`TARGETS` that any cell meets, the cell that is soonest by the median of the runs to choose by, and
            the median time of its other runs (of a deterministic cell its run's second timing); the same for plain
            CFR. Infinite where the target is not met.
    """

    game: str
    budget: Budget
    preset: Preset
    effects: pd.DataFrame
    front: pd.DataFrame
    times: pd.DataFrame


def insights(
    table: TableEvaluator,
    catalog: Catalog,
    game: str,
    budget: BudgetLike,
    preset: PresetLike = "accuracy",
    scale: str = "log",
) -> Insights:
    """What a table says of a game under a budget and a preset; all runs count.

    Raises:
        MissingCellError: a cell that was not measured, or not for as long.
        RLCCFRError: an unknown preset or scale, a budget that makes no sense, or no run that came to its end.
    """
    limit, weights, on = parse_budget(budget), parse_preset(preset), parse_scale(scale)
    runs = measure_all(table, catalog, game, limit)
    good = {cell: own for cell, own in runs.items() if all(run.ok for run in own)}
    if not good:
        raise RLCCFRError(f"no algorithm ran to its end on {game!r}, so there is nothing to tell; measure it again")
    by_axis = main_effects(rewards_of(good, weights, on)).groupby("axis", sort=False)
    effects = pd.concat([axis.sort_values("effect", ascending=False) for _, axis in by_axis], ignore_index=True)
    return Insights(game, limit, weights, effects, _front(good), _times(table, catalog, game, good))


def _front(runs: Mapping[Cell, Sequence[Measurement]]) -> pd.DataFrame:
    rows = [
        {
            **cell._asdict(),
            "exploitability": statistics.fmean(run.exploitability for run in own),
            "speed": statistics.fmean(run.throughput / run.reference_throughput for run in own),
        }
        for cell, own in runs.items()
    ]
    frame = pd.DataFrame(rows)
    return frame.iloc[pareto_front(frame["exploitability"], frame["speed"])].reset_index(drop=True)


def _judging(table: TableEvaluator, game: str, cell: Cell, curves: Sequence[Any]) -> Sequence[Any]:
    """Return the curves that judge a cell: its runs to judge by; of a deterministic one its run's second timing."""
    again = table.run_again(game, cell) if is_deterministic((cell,), compiled(game)) else None
    return reporting(curves) if again is None else [again["curve"]]


def _times(
    table: TableEvaluator, catalog: Catalog, game: str, runs: Mapping[Cell, Sequence[Measurement]]
) -> pd.DataFrame:
    curves = {cell: [table.run(game, cell, seed)["curve"] for seed in table.seeds(game, cell)] for cell in runs}
    uniform = next(own[0].uniform_exploitability for own in runs.values())
    plain = fixed_cells(catalog).get(BASELINE)

    def median(own: Sequence[Any], target: float) -> float:
        return statistics.median(seconds_to(curve, target) for curve in own)

    rows = []
    for part in TARGETS:
        target = part * uniform
        chosen_by = {cell: median(selecting(own), target) for cell, own in curves.items()}
        soonest = min(chosen_by, key=chosen_by.__getitem__)
        if not math.isinf(chosen_by[soonest]):
            told = {
                cell: median(_judging(table, game, cell, curves[cell]), target)
                for cell in (soonest, plain)
                if cell in curves
            }
            rows.append({"exploitability": target, **soonest._asdict(), "cpu_seconds": told[soonest],
                         "cfr_cpu_seconds": told.get(plain, math.inf) if plain else math.inf})  # fmt: skip
    columns = ["exploitability", *AXES, "cpu_seconds", "cfr_cpu_seconds"]
    return pd.DataFrame(rows, columns=columns)
