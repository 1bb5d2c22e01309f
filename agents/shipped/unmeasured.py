"""Picks for games that were not measured: by the package's choosers or, for games with a public tree, the SBS.

Choosers are ranked by their regret on validation games.
"""

from __future__ import annotations

from functools import cache
from statistics import fmean
from typing import NamedTuple

import pandas as pd

from rlccfr.agents import shipped
from rlccfr.agents.baselines.best import single_best, virtual_best
from rlccfr.agents.baselines.task import Rewards, Worths, rewards_of, worths_of
from rlccfr.agents.judging.evidence import Evidence
from rlccfr.agents.judging.recommendation_table import SBS
from rlccfr.agents.judging.unseen_games import FAMILY, PICK, kind_of, mean_regrets, regrets_in_words
from rlccfr.agents.predicting.choosers import NAMES, Chooser, named
from rlccfr.agents.predicting.measured_costs import MeasuredCosts
from rlccfr.agents.shipped.measured_best import nearest
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import PRESETS, Preset


class Choice(NamedTuple):
    """An algorithm for a game that was not measured.

    Attributes:
        cell: the algorithm.
        basis: ``"features"``, ``"features and probes"`` or ``"single best"``; see :class:`Advice`.
        why: sentence on how sure the choice is.
    """

    cell: Cell
    basis: str
    why: str


class Named(NamedTuple):
    """A chooser with its name.

    Attributes:
        name: one of :data:`NAMES`.
        chooser: the chooser.
    """

    name: str
    chooser: Chooser


@cache
def judgements() -> pd.DataFrame:
    """Return the judgement of all choosers; see :func:`benchmarks.teams.generalise` for its columns.

    Raises:
        RLCCFRError: the file is missing.
    """
    return pd.read_parquet(shipped.path(shipped.GENERALISATION))


@cache
def costs() -> MeasuredCosts:
    """Return the costs on the training games, from which choosers learn.

    Raises:
        RLCCFRError: the file is missing or damaged.
    """
    return MeasuredCosts.load(shipped.path(shipped.COSTS))


def ranked() -> list[str]:
    """Return the names of the choosers; the one with the least mean regret on validation games comes first."""
    rows = _headline_judgements()
    rows = rows[(rows["without"] == "") & (rows["member"] == "validation")]
    regrets = {str(name): mean_regrets(judged)[PICK] for name, judged in rows.groupby("picked by")}
    return sorted(regrets, key=regrets.__getitem__) or list(NAMES)


def best(evaluator: Evaluator) -> Named:
    """Return the chooser with the least mean regret on validation games; it has learned from the package's data.

    Args:
        evaluator: evaluator that runs the chooser's probes, if it has any.

    Raises:
        RLCCFRError: a file is missing or damaged.
    """
    name = ranked()[0]
    return Named(name, named(name, costs(), evaluator))


def choice(by: Named, game: str, budget: Budget, preset: Preset) -> Choice:
    """Return a chooser's pick, or the SBS if that did better on the validation games of the game's kind.

    ``why`` gives the regrets on the test games of this kind.
    """
    kind = kind_of(game, by.chooser.games)
    rows = _headline_judgements()
    # Choosers that have learned without a family are evidence for new families, and for nothing else.
    relevant = (rows["without"] == "") | (kind == FAMILY)
    same_kind = rows[relevant & (rows["kind"] == kind) & (rows["picked by"] == by.name)]

    # Validation games decide between the pick and the SBS; test games tell how good such picks are.
    validation_regrets = mean_regrets(same_kind[same_kind["member"] == "validation"])
    regrets_on_test_games = regrets_in_words(same_kind[same_kind["member"] == "test"], kind)
    single = _single_best_on_record(by.name, budget, preset)
    if single is not None and validation_regrets[SBS] < validation_regrets[PICK]:
        return Choice(single, "single best", f"the single best of the training games: {regrets_on_test_games}")
    basis = "features" if by.chooser.left(budget) == budget else "features and probes"
    why = f"picked from the game's {basis} by {by.name}: {regrets_on_test_games}"
    return Choice(by.chooser.pick(game, budget, preset), basis, why)


def public_choice(budget: Budget, preset: Preset) -> Choice:
    """Return the single best algorithm of the measured games with a public tree.

    ``why`` gives the mean regret of such choices: for each measured game, the single best algorithm of the other games
    is judged on it.

    Raises:
        BudgetError: a budget in iterations or nodes, for which some run has no curve.
        RLCCFRError: the file of measurements is missing or damaged.
    """
    part = shipped.public_part()
    table = shipped.public_results()
    (catalog,) = part.catalogs
    covered = [nearest(table, game, list(catalog), budget) for game in part.games]
    limit = min(covered, key=lambda candidate: candidate.amount)
    choosing_worths: dict[str, Worths] = {}
    judging_rewards: dict[str, Rewards] = {}
    for game in part.games:
        evidence = Evidence.measured(table, catalog, game, limit)
        choosing_worths[game] = worths_of(evidence.choosing, preset)
        judging_rewards[game] = rewards_of(evidence.judging, preset)

    # How well this way of choosing does on a game that was not measured: leave out each measured game in turn.
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
    return Choice(single_best(choosing_worths, ""), "single best", why)


def rows_of(name: str) -> pd.DataFrame:
    """Return the judgements of a chooser that has learned from all families, under the headline budgets."""
    rows = _headline_judgements()
    return rows[(rows["without"] == "") & (rows["picked by"] == name)]


def _headline_judgements() -> pd.DataFrame:
    """Return the judgements under the headline budgets."""
    rows = judgements()
    return rows[rows["budget"].isin([str(budget) for budget in shipped.BUDGETS])]


def _single_best_on_record(name: str, budget: Budget, preset: Preset) -> Cell | None:
    """Return the SBS of a chooser's training games; None if it is not on record for the budget and weights."""
    if preset != PRESETS.get(preset.name):  # other weights or another scale under this name
        return None
    rows = judgements()
    same_question = (rows["without"] == "") & (rows["budget"] == str(budget)) & (rows["preset"] == preset.name)
    names = rows.loc[same_question & (rows["picked by"] == name), "single_best"].unique()
    return Cell(*names[0].split(" x ")) if len(names) == 1 else None
