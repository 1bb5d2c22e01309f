"""The package's choosers for games that were not measured, best first by their regret on validation games."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import pandas as pd

from rlccfr.agents import shipped
from rlccfr.agents.judging.recommendation_table import SBS, TEAM
from rlccfr.agents.judging.unseen_games import FAMILY, PICK, kind_of, mean_regrets, measured_regret
from rlccfr.agents.predicting.choosers import ByTeam, Chooser
from rlccfr.agents.predicting.measured_costs import MeasuredCosts
from rlccfr.agents.predicting.named import NAMES, named
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import PRESETS, Preset
from rlccfr.errors import RLCCFRError

CHOOSERS = (TEAM, *NAMES)
"""Names of the choosers that are compared; :func:`benchmarks.teams.generalise` judges each."""


class Choice(NamedTuple):
    """An algorithm for a game that was not measured.

    Attributes:
        basis: ``"features"``, ``"features and probes"`` or ``"single best"``; see :class:`Advice`.
        why: sentence on how sure the choice is.
    """

    cell: Cell
    basis: str
    why: str


class Named(NamedTuple):
    """A chooser, its name, and why no better one is there, or ""."""

    name: str
    chooser: Chooser
    note: str

    @property
    def who(self) -> str:
        """The chooser as the subject of a sentence."""
        return "the team" if self.name == TEAM else self.name


@cache
def judgements() -> pd.DataFrame:
    """Return the judgement of all choosers; see :func:`benchmarks.teams.generalise` for its columns.

    Raises:
        RLCCFRError: the file is missing.
    """
    return pd.read_parquet(shipped.path(shipped.GENERALISATION))


@cache
def costs() -> MeasuredCosts:
    """Return the costs on the training games, from which choosers other than the team learn.

    Raises:
        RLCCFRError: the file is missing or damaged.
    """
    return MeasuredCosts.load(shipped.path(shipped.COSTS))


def ranked() -> list[str]:
    """Return the names of the choosers, that with the least mean regret on validation games first."""
    rows = _learned()
    rows = rows[(rows["without"] == "") & (rows["member"] == "validation")]
    regrets = {str(name): mean_regrets(own)[PICK] for name, own in rows.groupby("picked by")}
    return sorted(regrets, key=regrets.__getitem__) or [TEAM]


def chooser(name: str, evaluator: Evaluator) -> Chooser:
    """Return a chooser that has learned from the package's data.

    Args:
        name: one of :data:`CHOOSERS`.
        evaluator: what runs its probes, if it has any.

    Raises:
        RLCCFRError: a package that it needs is not installed, or its file is missing or damaged.
    """
    return ByTeam(shipped.team()) if name == TEAM else named(name, costs(), evaluator)


def best(unit: str, evaluator: Evaluator) -> Named:
    """Return the best chooser that can be had here and that has learned from budgets in a unit; else the team."""
    lacking = ""
    for name in ranked():
        try:
            found = chooser(name, evaluator)
        except RLCCFRError as error:
            lacking = lacking or f"; {name} did better on validation games, but {error}"
            continue
        if unit in {budget.unit for budget in found.budgets}:
            return Named(name, found, lacking)
    return Named(TEAM, chooser(TEAM, evaluator), lacking)


def choice(by: Named, game: str, budget: Budget, preset: Preset) -> Choice:
    """Return a chooser's pick, or the SBS if that did better on the validation games of the game's kind.

    ``why`` gives the regrets on the test games of this kind.
    """
    kind, rows = kind_of(game, by.chooser.games), _learned()
    # Choosers that have learned without a family are evidence for new families, and for nothing else.
    own = (rows["without"] == "") | (kind == FAMILY)
    alike = rows[own & (rows["kind"] == kind) & (rows["picked by"] == by.name)]
    decided, told = (alike[alike["member"] == member] for member in ("validation", "test"))
    single, found = _single_best(by.name, budget, preset), mean_regrets(decided)
    if single is not None and found[SBS] < found[PICK]:
        return Choice(single, "single best", f"the single best of the training games: {measured_regret(told, kind)}")
    basis = "features" if by.chooser.left(budget) == budget else "features and probes"
    why = f"picked from the game's {basis} by {by.who}: {measured_regret(told, kind)}"
    return Choice(by.chooser.pick(game, budget, preset), basis, why)


def rows_of(name: str) -> pd.DataFrame:
    """Return the judgements of a chooser that has learned from all families, under the headline budgets."""
    rows = _learned()
    return rows[(rows["without"] == "") & (rows["picked by"] == name)]


def _learned() -> pd.DataFrame:
    rows = judgements()
    return rows[rows["budget"].isin([str(one) for one in shipped.BUDGETS])]


def _single_best(name: str, budget: Budget, preset: Preset) -> Cell | None:
    """Return the SBS of a chooser's training games; None if it is not on record for the budget and weights."""
    if preset != PRESETS.get(preset.name):  # other weights or another scale under this name
        return None
    rows = judgements()
    same = (rows["without"] == "") & (rows["budget"] == str(budget)) & (rows["preset"] == preset.name)
    found = rows.loc[same & (rows["picked by"] == name), "single_best"].unique()
    return Cell(*found[0].split(" x ")) if len(found) == 1 else None
