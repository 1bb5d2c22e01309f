"""``python -m benchmarks.folds``: leave out training games, and show how well teams for unseen games pick for them.

No test game has a part in this, so the figures may decide how teams learn.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd

from benchmarks.selection import table
from benchmarks.teams import BRIEF, met, others, trained_for_unseen
from rlccfr.agents import shipped
from rlccfr.agents.judging.evidence import Evidence
from rlccfr.agents.judging.unseen_games import judged
from rlccfr.agents.team.learning.imagination import Imagination
from rlccfr.agents.team.pretraining import train_on_table
from rlccfr.agents.team.team import SelectorTeam
from rlccfr.catalog import Cell
from rlccfr.catalog.families import FAMILIES, TRAIN, family_of
from rlccfr.envs.episode import EpisodeSpec
from rlccfr.envs.game_features import GameFeatures
from rlccfr.envs.measuring.compiled_games import compiled
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import PRESETS, Preset, costs

THIRDS = tuple(f"third {number}" for number in (1, 2, 3))
LARGEST, LARGER = "largest of each family", "at least 1,000 histories, learned on at most 300"
FOLDS = (*THIRDS, LARGEST, LARGER, *(f"family {family.name}" for family in FAMILIES if family.train))


class Regression:
    """A method that picks without networks, by the estimated costs from which a team for unseen games learns."""

    def __init__(self, games: Sequence[str]) -> None:
        self.env, self.catalog, self.budgets = SimpleNamespace(games=games), shipped.tabular(), (BRIEF, *met())
        features = np.array([GameFeatures.of(compiled(game)) for game in games])
        means = [[self._costs(game, budget) for game in games] for budget in self.budgets]
        self._imagination = Imagination(features, self.budgets, np.array(means))

    def pick(self, game: str, budget: Budget, preset: Preset) -> Cell:
        """Return the algorithm with the best estimated mean reward."""
        features, circumstance = np.array([GameFeatures.of(compiled(game))]), np.array([self.budgets.index(budget)])
        (found,) = self._imagination.costs(features, circumstance)
        return list(self.catalog)[int((found @ np.mean(preset.weights, axis=0)).argmin())]

    def _costs(self, game: str, budget: Budget) -> list[np.ndarray]:
        runs = Evidence.measured(others(), self.catalog, game, budget).choosing
        return [np.mean([costs(run) for run in runs[cell]], axis=0) for cell in self.catalog]


def as_for_measured(games: Sequence[str]) -> SelectorTeam:
    """Return a team that is trained on these games alone, each agent with its own reward."""
    return train_on_table(EpisodeSpec.parse(games, budget=met(), catalog=shipped.tabular(), evaluator=others()))


PICKED_BY = {
    "as for measured games": as_for_measured,
    "regression alone": Regression,
    "for unseen games": trained_for_unseen,
}


def main() -> None:
    """Print a table of mean regrets, with one line per way to leave games out."""
    trials = list(product(FOLDS, PICKED_BY))
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        rows = pd.concat(executor.map(trial, *zip(*trials, strict=True)))
    print("\n".join(table(rows.pivot_table("regret", "left out", "picked by", sort=False).reset_index())))


def split(fold: str) -> tuple[list[str], list[str]]:
    """Return the games that a team is trained on, and those that it is judged on."""
    sizes = {game: compiled(game).num_histories for game in TRAIN}
    if fold == LARGER:
        return [game for game in TRAIN if sizes[game] <= 300], [game for game in TRAIN if sizes[game] >= 1_000]
    if fold in THIRDS:
        judged_on = list(TRAIN[THIRDS.index(fold) :: len(THIRDS)])
    elif fold == LARGEST:
        by_size = [sorted(family.train, key=sizes.__getitem__) for family in FAMILIES if family.train]
        judged_on = [game for games in by_size for game in games[-max(2, len(games) // 3) :]]
    else:
        judged_on = [game for game in TRAIN if family_of(game) == fold.removeprefix("family ")]
    return [game for game in TRAIN if game not in judged_on], judged_on


def trial(fold: str, method: str) -> pd.DataFrame:
    """Return the mean regrets, per game that training left out, of a method's picks and of the SBS."""
    own, games = split(fold)
    picks = PICKED_BY[method](own)
    rows = judged(picks, others(), games, shipped.BUDGETS, list(PRESETS.values())).groupby("game")[["team", "SBS"]]
    regrets = rows.mean().rename(columns={"team": method})
    return regrets.melt(var_name="picked by", value_name="regret").assign(**{"left out": fold})


if __name__ == "__main__":
    main()
