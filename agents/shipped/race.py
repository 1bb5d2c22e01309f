"""A race on the user's game between the algorithms that did best on measured games, within a given total time.

A race is successive halving. In addition, the default iterative run of ``rlccfr solve`` gets as much time as each of
the finalists. It does not take part in the halving: it may end with a blend of average policies, so it is not a triple
of components.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rlccfr.agents import shipped
from rlccfr.agents.baselines.halving import climb, equal_rungs
from rlccfr.agents.baselines.task import Task, worths_of
from rlccfr.agents.judging.evidence import Evidence
from rlccfr.agents.shipped import unmeasured
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.evaluator import Evaluator, Measurement
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import PRESETS, Preset, Worth
from rlccfr.errors import RLCCFRError
from rlccfr.games.compiled_games import compiled
from rlccfr.solving import solve

RUNGS = (8, 4, 2)
"""Number of algorithms in each round of a race."""

RUNNERS = RUNGS[0]
"""Largest number of algorithms in a race."""

FAVOURITES = 4
"""Number of algorithms that are in a race because they have the largest Q-values."""

WINNERS = 2
"""Number of algorithms that are in a race because they are the best on one of the paper's games."""

ALIKE = 2
"""An algorithm is added to a race only if fewer than this many algorithms there have its sampler.

A sampler that does badly on the user's game then spoils only a part of the race. The favourite, the winners and those
with the largest Q-values take part in any case.
"""


class Race(NamedTuple):
    """The result of a race.

    Attributes:
        table: a row per algorithm whose runs did not fail, with the figures of its longest run: ``cell``, ``seconds``
            of the run, ``exploitability``, ``throughput`` in iterations per CPU second, ``reward``, ``converged``.
            Rows of the last round come first, and within each round those of the best algorithms.
        default_exploitability: exploitability, in the game's units, of the default iterative run of ``rlccfr solve``
            after the time of a finalist; NaN if that command would run a single algorithm without blends, or if a
            catalog was given.
    """

    table: pd.DataFrame
    default_exploitability: float


def race(
    game: str,
    favourite: Cell,
    seconds: float,
    preset: Preset,
    evaluator: Evaluator,
    *,
    within: Catalog | None = None,
    progress: Callable[[float], None] | None = None,
) -> Race:
    """Run some algorithms on a game, in rounds that have equal shares of the time.

    After each round, algorithms that have converged rank before the others, unless the reward weights ask for speed
    alone. Apart from that, the reward decides.

    Args:
        game: name of the game.
        favourite: an algorithm that takes part in any case.
        seconds: largest number of engine CPU seconds of all runs together; the evaluator's runs for comparing speeds
            are not counted.
        preset: reward weights.
        evaluator: evaluator that runs the algorithms; runs continue from round to round if it keeps them.
        within: catalog of the algorithms that may take part; by default all. With a catalog, the run of ``rlccfr
            solve`` is left out.
        progress: function called with the share that is done.

    Raises:
        RLCCFRError: every run has failed.
    """
    tree = compiled(game)
    has_default = within is None and len(tree.form.best_run) > 1
    # The default run gets as much time as a finalist: with f = _final_share(1.0), x + x f = 1.
    rounds_share = 1.0
    if has_default:
        rounds_share = 1 / (1 + _final_share(1.0))
    final = Budget("seconds", _rounded(seconds * _final_share(rounds_share)))
    cells = runners(game, favourite, final, preset, within)
    # A ladder's shares are those of a finalist's budget, so the last rung has the share 1.
    ladder = [(count, share / _final_share(1.0)) for count, share in equal_rungs(RUNGS, 1.0)]
    task = Task(evaluator, Catalog.tabular(), game, final, preset)
    report = None if progress is None else lambda share: progress(rounds_share * share)
    halving = climb(task, cells, ladder, report)
    worths = worths_of({cell: runs for cell, (runs, _) in halving.longest_runs.items()}, preset)
    rows = [
        _row(cell, budget.amount, runs[0], worths[cell].reward)
        for cell, (runs, budget) in halving.longest_runs.items()
        if runs[0].ok
    ]
    if not rows:
        outcomes = ", ".join(f"{cell} is {runs[0].status}" for cell, (runs, _) in halving.longest_runs.items())
        raise RLCCFRError(f"no algorithm of the race could run on {game!r}: {outcomes}")
    default_exploitability = math.nan
    if has_default:
        default = solve(tree, seconds=final.amount, curve=True)  # with a curve, there is no linear program
        if default.interrupted:
            raise KeyboardInterrupt
        default_exploitability = default.exploitability
        if progress is not None:
            progress(1.0)
    return Race(pd.DataFrame(rows), default_exploitability)


def _final_share(rounds_share: float) -> float:
    """Return the share of a race's time that each finalist gets, if all rounds together get ``rounds_share``."""
    return equal_rungs(RUNGS, rounds_share)[-1][1]


def final_seconds(seconds: float) -> float:
    """Return the approximate engine CPU seconds of each finalist's run in a race of ``seconds`` in total."""
    return _rounded(seconds * _final_share(1 / (1 + _final_share(1.0))))


def _rounded(seconds: float) -> float:
    """Return a number of seconds rounded to three significant digits, for display."""
    return float(f"{seconds:.3g}")


def runners(game: str, favourite: Cell, budget: Budget, preset: Preset, within: Catalog | None = None) -> list[Cell]:
    """Return the algorithms of a race.

    They are the favourite, winners of measured games, those with the largest Q-values, and those that did best on
    average over measured games. On a game with a public tree, there are neither winners nor Q-values.

    Args:
        game: name of the game.
        favourite: an algorithm that takes part in any case.
        budget: budget of each run.
        preset: reward weights.
        within: catalog of the algorithms that may take part; by default all.
    """
    learned = shipped.part_of(game).learned
    mean_worths = unmeasured.mean_worths(budget, preset) if learned else _public_mean_worths(budget, preset)
    winners = _winners(budget, preset) if learned else []
    ranked = unmeasured.prior().team.ranked(game, budget, preset) if learned else []
    if within is not None:
        allowed = set(within)
        winners = [cell for cell in winners if cell in allowed]
        ranked = [cell for cell in ranked if cell in allowed]
        mean_worths = {cell: worth for cell, worth in mean_worths.items() if cell in allowed}
    further_winners = [cell for cell in winners if cell != favourite][:WINNERS]
    participants = list(dict.fromkeys([favourite, *further_winners, *ranked[:FAVOURITES]]))
    sampler_counts = Counter(cell.sampler for cell in participants)
    # Fill up with what does well elsewhere. A sampler that does badly here must not spoil most of the race.
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
    """Return the algorithms that are the best on one of the paper's games; those that win most games come first.

    If the budget is not on record, the nearest recorded one is used, or the longest if the budget is not in seconds.
    For weights other than the named presets, the record of the preset ``accuracy`` is used.
    """
    record = winners_on_record()
    wanted = budget.amount if budget.unit == "seconds" else shipped.BUDGETS[-1].amount
    nearest = min(shipped.BUDGETS, key=lambda known: abs(math.log(known.amount / wanted)))
    is_named = preset == PRESETS.get(preset.name)  # and not other weights under this name
    names = record[str(nearest)][preset.name if is_named else "accuracy"]
    win_counts = Counter(Cell.from_text(name) for name in names)
    return [cell for cell, _ in win_counts.most_common()]


@cache
def winners_on_record() -> dict[str, dict[str, list[str]]]:
    """Return the best algorithm on each of the paper's games, by budget and by the name of the reward weights."""
    record: dict[str, dict[str, list[str]]] = json.loads(shipped.path(shipped.WINNERS).read_text())
    return record


def _public_mean_worths(budget: Budget, preset: Preset) -> dict[Cell, Worth]:
    """Return the mean worth of each algorithm of the catalog ``public`` over the measured games with a public tree."""
    part = shipped.public_part()
    table = shipped.public_results()
    (catalog,) = part.catalogs
    nearest = min(part.budgets, key=lambda measured: abs(np.log(measured.amount / budget.amount)))
    worths_by_game = [
        worths_of(Evidence.measured(table, catalog, game, nearest).choosing, preset) for game in part.games
    ]
    return {cell: Worth(*np.mean([worths[cell] for worths in worths_by_game], axis=0).tolist()) for cell in catalog}
