"""Picks for games that were not measured, and the data from which a race on such a game starts.

Either a team of DQN agents that has learned from small games picks by the game's features, or the pick is the single
best algorithm of the training games (SBS). The team picks if, under each of the named reward weights, its picks have no
more regret on validation games than the SBS. For games with a public tree, and for those smaller than any training
game, the SBS is always the pick.
"""

from __future__ import annotations

from functools import cache
from statistics import fmean
from typing import NamedTuple

import numpy as np
import pandas as pd

from rlccfr.agents import shipped
from rlccfr.agents.baselines.best import single_best, virtual_best
from rlccfr.agents.baselines.task import Rewards, Worths, rewards_of, worths_of
from rlccfr.agents.judging.evidence import Evidence
from rlccfr.agents.judging.recommendation_table import SBS
from rlccfr.agents.judging.unseen_games import FAMILY, PICK, kind_of, mean_regrets, regrets_in_words
from rlccfr.agents.predicting.choosers import BY_TEAM, ByTeam
from rlccfr.agents.predicting.measured_costs import MeasuredCosts, interpolation, mean_costs_under
from rlccfr.agents.shipped.measured_best import nearest_covered_budget
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import CONVERGED_LOG, PRESETS, Preset, Worth
from rlccfr.games.compiled_games import compiled_tree

LEAST_HISTORIES = 67
"""Number of histories of the smallest game that the team has learned from.

On smaller games, such as payoff matrices, its picks are extrapolations, and poor.
"""


class Choice(NamedTuple):
    """An algorithm for a game that was not measured.

    Attributes:
        cell: the algorithm.
        basis: ``"features"`` or ``"single best"``; see :class:`Advice`.
        why: sentence on how certain the choice is.
    """

    cell: Cell
    basis: str
    why: str


@cache
def judgements() -> pd.DataFrame:
    """Return the regrets of all choosers' picks, as a table with the columns of :func:`benchmarks.teams.generalise`.

    Raises:
        RLCCFRError: the file is missing.
    """
    return pd.read_parquet(shipped.path(shipped.GENERALISATION))


@cache
def costs() -> MeasuredCosts:
    """Return the algorithms' costs on the training games, by which the algorithms of a race are chosen.

    Raises:
        RLCCFRError: the file is missing or damaged.
    """
    return MeasuredCosts.load(shipped.path(shipped.COSTS))


@cache
def prior() -> ByTeam:
    """Return the chooser for games that were not measured, which asks the team that has learned from small games.

    Raises:
        RLCCFRError: a file is missing or damaged.
    """
    return ByTeam(shipped.load_team(shipped.START))


def mean_worths(budget: Budget, preset: Preset) -> dict[Cell, Worth]:
    """Return each tabular algorithm's mean worth over the small games whose costs come with the package."""
    measured = costs()
    weights = interpolation(measured.budgets, budget)
    mean_costs = np.asarray(sum(weight * measured.costs[k] for k, weight in weights))  # (games, algorithms, 2)
    converged = (mean_costs[..., 0] <= CONVERGED_LOG) | preset.speed_alone  # (games, algorithms)
    rewards = 1 - mean_costs_under(mean_costs, preset, measured.uniform[:, None])  # (games, algorithms)
    worths = map(Worth, converged.mean(axis=0).tolist(), rewards.mean(axis=0).tolist())
    return dict(zip(measured.catalog, worths, strict=True))


def never_loses() -> bool:
    """Return whether, under each named preset, the team's mean regret on validation games is at most the SBS's.

    The SBS is the single best algorithm of the training games.
    """
    rows = rows_of(BY_TEAM)
    validation = rows[rows["member"] == "validation"]
    means = [mean_regrets(judged) for _, judged in validation.groupby("preset")]
    return all(mean[PICK] <= mean[SBS] for mean in means)


def choice(game: str, budget: Budget, preset: Preset) -> Choice:
    """Return the pick from a game's features, or the single best algorithm (SBS) if it had less regret elsewhere.

    The SBS is returned if it had less regret than picks under some preset (:func:`never_loses`), and if it is on record
    for the budget and the preset. ``why`` gives the regrets on the test games of the game's kind. For games smaller
    than :data:`LEAST_HISTORIES`, the SBS is always returned.
    """
    num_histories = compiled_tree(game, "a choice by features").num_histories
    if num_histories < LEAST_HISTORIES:
        why = (
            f"the best on average over small games: this one, of {num_histories} histories, is smaller than any that "
            f"{BY_TEAM} has learned from"
        )
        return Choice(virtual_best(mean_worths(budget, preset)), "single best", why)
    chooser = prior()
    kind = kind_of(game, chooser.games)
    rows = _headline_judgements()
    # Choosers that have learned without a family are evidence only for new families.
    relevant = (rows["without"] == "") | (kind == FAMILY)
    picks = rows[relevant & (rows["kind"] == kind) & (rows["picked by"] == BY_TEAM)]
    regrets_on_test_games = regrets_in_words(picks[picks["member"] == "test"], kind)
    single = _single_best_on_record(BY_TEAM, budget, preset)
    if single is not None and not never_loses():
        return Choice(single, "single best", f"the single best of the training games: {regrets_on_test_games}")
    why = f"picked from the game's features by {BY_TEAM}: {regrets_on_test_games}"
    return Choice(chooser.pick(game, budget, preset), "features", why)


def public_choice(budget: Budget, preset: Preset) -> Choice:
    """Return the single best algorithm of the measured games with a public tree.

    ``why`` gives the mean regret of such choices: on each measured game, the single best algorithm of the other games
    is judged.

    Raises:
        BudgetError: a budget in iterations or nodes, for which some run has no curve.
        RLCCFRError: the file of measurements is missing or damaged.
    """
    part = shipped.public_part()
    table = shipped.public_results()
    (catalog,) = part.catalogs
    # Worths can be averaged only under one budget. The smallest of the games' covered budgets is covered on all games.
    covered = [nearest_covered_budget(table, game, list(catalog), budget) for game in part.games]
    limit = min(covered, key=lambda candidate: candidate.amount)
    choosing_worths: dict[str, Worths] = {}
    judging_rewards: dict[str, Rewards] = {}
    for game in part.games:
        evidence = Evidence.measured(table, catalog, game, limit)
        choosing_worths[game] = worths_of(evidence.choosing, preset)
        judging_rewards[game] = rewards_of(evidence.judging, preset)

    # To judge this way of choosing on a game that was not measured, leave out each measured game in turn.
    regrets = []
    for game in part.games:
        best_reward = judging_rewards[game][virtual_best(choosing_worths[game])]
        single_reward = judging_rewards[game][single_best(choosing_worths, game)]
        regrets.append(best_reward - single_reward)
    why = (
        f"the best of {len(catalog)} algorithms on average over the measured games with a public tree "
        f"({', '.join(part.games)}); on each of these games, the best of the other games has on average "
        f"{fmean(regrets):.3g} less reward than the game's own best"
    )
    if limit != budget:
        why += f"; chosen as for {limit}, the nearest to {budget} that all of them ran for"
    # No game has an empty name, so none is left out.
    return Choice(single_best(choosing_worths, ""), "single best", why)


def rows_of(name: str) -> pd.DataFrame:
    """Return the rows of :func:`judgements` for a chooser that has learned from all families of games.

    Only the headline budgets (:data:`rlccfr.agents.shipped.BUDGETS`) are included.
    """
    rows = _headline_judgements()
    return rows[(rows["without"] == "") & (rows["picked by"] == name)]


def _headline_judgements() -> pd.DataFrame:
    """Return the rows of :func:`judgements` under the headline budgets (:data:`rlccfr.agents.shipped.BUDGETS`)."""
    rows = judgements()
    return rows[rows["budget"].isin([str(budget) for budget in shipped.BUDGETS])]


def _single_best_on_record(name: str, budget: Budget, preset: Preset) -> Cell | None:
    """Return the single best algorithm of a chooser's training games; None if it is not on record for the question.

    Args:
        name: name of the chooser.
        budget, preset: budget and reward weights of the question.
    """
    if preset != PRESETS.get(preset.name):  # other weights or another scale under this name
        return None
    rows = judgements()
    same_question = (rows["without"] == "") & (rows["budget"] == str(budget)) & (rows["preset"] == preset.name)
    names = rows.loc[same_question & (rows["picked by"] == name), "single_best"].unique()
    return Cell.from_text(names[0]) if len(names) == 1 else None
