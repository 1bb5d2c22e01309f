"""A race on the user's own game: the algorithms that did best on measured games, within a stated total time.

It is successive halving with two rounds: all of them run for one half of the time, and the better ones for the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from rlccfr.agents import shipped
from rlccfr.agents.baselines.task import worths_of
from rlccfr.agents.judging.evidence import Evidence
from rlccfr.agents.predicting.choosers import predicted_mean_costs
from rlccfr.agents.predicting.measured_costs import interpolation
from rlccfr.agents.shipped import unmeasured
from rlccfr.agents.shipped.measured_best import best_measured, catalogs_of
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.evaluator import Evaluator, Measurement
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.reward import CONVERGED_LOG, Preset, Worth
from rlccfr.errors import RLCCFRError

RUNNERS = 8
"""Number of algorithms in the first round of a race."""

FINALISTS = 2
"""Number of algorithms in the second round."""

WINNERS = 2
"""Number of algorithms in a race that are the best on one of the paper's games, the predictive algorithms included."""

ALIKE = 2
"""Largest number of algorithms with the same sampler, unless the favourite and the winners are more.

A sampler that does badly on the user's game then spoils only a part of the race.
"""


def race(
    game: str,
    favourite: Cell,
    seconds: float,
    preset: Preset,
    evaluator: Evaluator,
    *,
    within: Catalog | None = None,
    progress: Callable[[float], None] | None = None,
) -> pd.DataFrame:
    """Run some algorithms on a game in two rounds, and return their figures, the best first.

    In each round, the algorithms share half of the time equally. Algorithms that have converged come before the others,
    unless the weights ask for speed alone. Apart from that, the reward decides.

    Args:
        game: name of the game.
        favourite: an algorithm that takes part in any case.
        seconds: engine CPU seconds of all runs together; what the evaluator runs beside them, to compare speeds, is not
            counted.
        preset: reward weights.
        evaluator: evaluator that runs the algorithms.
        within: catalog of those that may take part; by default all.
        progress: function called with the share done.

    Returns:
        A row per algorithm whose runs did not fail, with the figures of its last run: ``cell``, ``seconds`` of the run,
        ``exploitability``, ``throughput`` in iterations per CPU second, ``reward``, ``converged``. Those of the second
        round come first.

    Raises:
        RLCCFRError: every run has failed.
    """
    cells = runners(game, favourite, Budget("seconds", final_seconds(seconds)), preset, within)
    half = seconds / 2

    def runs_of(participants: list[Cell], share_before: float) -> list[dict[str, Any]]:
        """Run algorithms for half of the time, and return a row for each that did not fail, the best first."""
        budget = Budget("seconds", half / len(participants))
        runs: dict[Cell, Measurement] = {}
        for number, cell in enumerate(participants, start=1):
            runs[cell] = evaluator.measure(Request(game, (cell,), budget, seed=0))
            if progress is not None:
                progress(share_before + number / len(participants) / 2)
        worths = worths_of({cell: [run] for cell, run in runs.items()}, preset)
        ranked = sorted(participants, key=worths.__getitem__, reverse=True)
        rows = [_row(cell, budget.amount, runs[cell], worths[cell].reward) for cell in ranked if runs[cell].ok]
        if not rows and participants == cells:
            outcomes = ", ".join(f"{cell} is {run.status}" for cell, run in runs.items())
            raise RLCCFRError(f"no algorithm of the race could run on {game!r}: {outcomes}")
        return rows

    first = runs_of(cells, 0.0)
    second = runs_of([row["cell"] for row in first[:FINALISTS]], 0.5)
    again = {row["cell"] for row in second}
    return pd.DataFrame([*second, *(row for row in first if row["cell"] not in again)])


def final_seconds(seconds: float) -> float:
    """Return the engine CPU seconds of a run in the second round of a race of ``seconds`` in all."""
    return seconds / 2 / FINALISTS


def runners(game: str, favourite: Cell, budget: Budget, preset: Preset, within: Catalog | None = None) -> list[Cell]:
    """Return the algorithms of a race.

    They are the favourite, winners of measured games, and those that did best on average over measured games.

    Args:
        game: name of the game.
        favourite: an algorithm that takes part in any case.
        budget: budget of each run.
        preset: reward weights.
        within: catalog of those that may take part; by default all.
    """
    learned = shipped.part_of(game).learned
    mean_worths = _mean_worths(budget, preset) if learned else _public_mean_worths(budget, preset)
    winners = _winners(budget, preset) if learned else []
    if within is not None:
        allowed = set(within)
        winners = [cell for cell in winners if cell in allowed]
        mean_worths = {cell: worth for cell, worth in mean_worths.items() if cell in allowed}
    participants = [favourite, *[cell for cell in winners if cell != favourite][:WINNERS]]
    sampler_counts = Counter(cell.sampler for cell in participants)
    for cell in sorted(mean_worths, key=mean_worths.__getitem__, reverse=True):
        if len(participants) == RUNNERS:
            break
        if cell not in participants and sampler_counts[cell.sampler] < ALIKE:
            participants.append(cell)
            sampler_counts[cell.sampler] += 1
    return participants


def _row(cell: Cell, seconds: float, run: Measurement, reward: float) -> dict[str, Any]:
    return {
        "cell": cell,
        "seconds": seconds,
        "exploitability": run.exploitability,
        "throughput": run.throughput,
        "reward": reward,
        "converged": run.converged,
    }


def _winners(budget: Budget, preset: Preset) -> list[Cell]:
    """Return the algorithms that are the best on one of the paper's games; those that win most games come first."""
    win_counts = Counter[Cell]()
    for game in shipped.paper_part().games:
        table = shipped.results(game)
        best = best_measured(table, game, catalogs_of(table, game, None), budget, preset)
        win_counts[best.cell] += 1
    return [cell for cell, _ in win_counts.most_common()]


def _mean_worths(budget: Budget, preset: Preset) -> dict[Cell, Worth]:
    """Return each tabular algorithm's mean worth over the small games that the package has costs of."""
    measured = unmeasured.costs()
    weights = interpolation(measured.budgets, budget)
    costs = np.asarray(sum(weight * measured.costs[number] for number, weight in weights))  # (games, algorithms, 2)
    converged = (costs[..., 0] <= CONVERGED_LOG) | preset.speed_alone  # (games, algorithms)
    rewards = 1 - predicted_mean_costs(costs, preset, measured.uniform[:, None])  # (games, algorithms)
    worths = map(Worth, converged.mean(axis=0).tolist(), rewards.mean(axis=0).tolist())
    return dict(zip(measured.catalog, worths, strict=True))


def _public_mean_worths(budget: Budget, preset: Preset) -> dict[Cell, Worth]:
    """Return the mean worth of each algorithm for public trees over the measured games with a public tree."""
    part = shipped.public_part()
    table = shipped.public_results()
    (catalog,) = part.catalogs
    nearest = min(part.budgets, key=lambda measured: abs(np.log(measured.amount / budget.amount)))
    worths_by_game = [
        worths_of(Evidence.measured(table, catalog, game, nearest).choosing, preset) for game in part.games
    ]
    return {cell: Worth(*np.mean([worths[cell] for worths in worths_by_game], axis=0).tolist()) for cell in catalog}
