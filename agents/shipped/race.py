"""A race on the user's own game: the algorithms that did best on measured games, run side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

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
from rlccfr.games.public.names import is_public

RUNNERS = 5
"""Number of algorithms in a race."""

WINNERS = 2
"""Number of algorithms in a race that won the games of which all algorithms were measured, the predictive ones too."""

ALIKE = 2
"""Largest number of the others that have the same sampler, so that another game may prove them wrong."""


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
    """Run some algorithms on a game, each for the same CPU time, and return their figures, the best first.

    Those that have converged come before the others, unless the weights ask for speed alone; the reward decides then.

    Args:
        game: name of the game.
        favourite: an algorithm that takes part in any case.
        seconds: engine CPU seconds of each run.
        preset: reward weights.
        evaluator: what runs the algorithms.
        within: catalog of those that may take part; by default all.
        progress: function called with the share done.

    Returns:
        A row per algorithm: ``cell``, ``exploitability``, ``throughput`` in iterations per CPU second, ``reward``,
        ``converged``.

    Raises:
        RLCCFRError: every run has failed.
    """
    budget, runs = Budget("seconds", seconds), []
    cells = runners(game, favourite, budget, preset, within)
    for number, cell in enumerate(cells):
        runs.append(evaluator.measure(Request(game, (cell,), budget, seed=0)))
        if progress is not None:
            progress((number + 1) / len(cells))
    worths = worths_of({cell: [run] for cell, run in zip(cells, runs, strict=True)}, preset)
    ranked = sorted(zip(cells, runs, strict=True), key=lambda one: worths[one[0]], reverse=True)
    rows = [_row(cell, run, worths[cell].reward) for cell, run in ranked if run.ok]
    if not rows:
        tried = ", ".join(f"{cell} is {run.status}" for cell, run in zip(cells, runs, strict=True))
        raise RLCCFRError(f"no algorithm of the race could run on {game!r}: {tried}")
    return pd.DataFrame(rows)


def runners(game: str, favourite: Cell, budget: Budget, preset: Preset, within: Catalog | None = None) -> list[Cell]:
    """Return the algorithms of a race.

    They are the favourite, winners of measured games, and those that did best on average over measured games.
    """
    public = is_public(game)
    means = _public_means(budget, preset) if public else _means(budget, preset)
    allowed = set(means if within is None else within)
    winners = [] if public else _winners(budget, preset)
    others = [cell for cell in winners if cell != favourite and (within is None or cell in allowed)]
    found = [favourite, *others[:WINNERS]]
    samplers = Counter(cell.sampler for cell in found)
    for cell in sorted(means, key=means.__getitem__, reverse=True):
        if len(found) == RUNNERS:
            break
        if cell in allowed and cell not in found and samplers[cell.sampler] < ALIKE:
            found.append(cell)
            samplers[cell.sampler] += 1
    return found


def _row(cell: Cell, run: Measurement, reward: float) -> dict[str, object]:
    return {
        "cell": cell,
        "exploitability": run.exploitability,
        "throughput": run.throughput,
        "reward": reward,
        "converged": run.converged,
    }


def _winners(budget: Budget, preset: Preset) -> list[Cell]:
    """Return the best of all algorithms on each of the paper's games; those that win most of them come first."""
    found = Counter[Cell]()
    for game in shipped.paper_part().games:
        table = shipped.results(game)
        found[best_measured(table, game, catalogs_of(table, game, None), budget, preset).cell] += 1
    return [cell for cell, _ in found.most_common()]


def _means(budget: Budget, preset: Preset) -> dict[Cell, Worth]:
    """Return each tabular algorithm's mean worth over the small games that the package has costs of."""
    known = unmeasured.costs()
    costs = np.asarray(sum(weight * known.costs[number] for number, weight in interpolation(known.budgets, budget)))
    converged = (costs[..., 0] <= CONVERGED_LOG) | preset.speed_alone  # (games, algorithms)
    rewards = 1 - predicted_mean_costs(costs, preset, known.uniform[:, None])
    worths = map(Worth, converged.mean(axis=0).tolist(), rewards.mean(axis=0).tolist())
    return dict(zip(known.catalog, worths, strict=True))


def _public_means(budget: Budget, preset: Preset) -> dict[Cell, Worth]:
    """Return the mean worth over the measured games with a public tree of each algorithm that runs there."""
    part, table = shipped.public_part(), shipped.public_results()
    (catalog,) = part.catalogs
    nearest = min(part.budgets, key=lambda one: abs(np.log(one.amount / budget.amount)))
    by_game = [worths_of(Evidence.measured(table, catalog, game, nearest).choosing, preset) for game in part.games]
    return {cell: Worth(*np.mean([worths[cell] for worths in by_game], axis=0).tolist()) for cell in catalog}
