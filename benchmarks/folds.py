"""``python -m benchmarks.folds``: how well choosers pick for games that they have not learned from.

Training games are left out in several ways; the last line is for the families' validation games. No test games are
used, so the figures may be used to decide how choosers learn.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import product

import pandas as pd

from benchmarks.baselines.kernel_regression import ByRegression
from benchmarks.choosers import NAMES, named
from benchmarks.markdown import table
from benchmarks.teams import BRIEF, met, others, trained_on_small_games
from rlccfr.agents import shipped
from rlccfr.agents.judging.evidence import ChoosingRuns
from rlccfr.agents.judging.recommendation_table import SBS
from rlccfr.agents.judging.unseen_games import PICK, judged
from rlccfr.agents.predicting.choosers import Chooser
from rlccfr.agents.predicting.measured_costs import MeasuredCosts
from rlccfr.agents.team.team import SelectorTeam
from rlccfr.catalog.families import FAMILIES, TRAIN, VALIDATION, family_of
from rlccfr.envs.reward import PRESETS
from rlccfr.games.compiled_games import compiled

THIRDS = tuple(f"third {number}" for number in (1, 2, 3))
LARGEST = "largest of each family"
LARGER = "at least 1,000 histories, learned on at most 300"
FOLDS = (*THIRDS, LARGEST, LARGER, *(f"family {family.name}" for family in FAMILIES if family.train))
HELD_OUT = "validation games"

BY_REGRESSION = "kernel regression"
"""Name of the alternative to the package's choosers."""


def learned(name: str, games: Sequence[str]) -> Chooser:
    """Return a chooser that has learned from these games."""
    if name == BY_REGRESSION:
        return ByRegression(MeasuredCosts.read(others(), shipped.tabular(), games, (BRIEF, *met())))
    return named(name, team_of(tuple(games)), ChoosingRuns(others()))


@cache
def team_of(games: tuple[str, ...]) -> SelectorTeam:
    """Return a team that has learned from some games."""
    return trained_on_small_games(games)


def main() -> None:
    """Print a table of mean regrets, with one line per way to leave games out."""
    trials = list(product((*FOLDS, HELD_OUT), (*NAMES, BY_REGRESSION)))
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        rows = pd.concat(executor.map(trial, *zip(*trials, strict=True)))
    print("\n".join(table(rows.pivot_table("regret", "left out", "picked by", sort=False).reset_index())))


def split(fold: str) -> tuple[list[str], list[str]]:
    """Return the games that a chooser learns from, and those that it is judged on."""
    if fold == HELD_OUT:
        return list(TRAIN), list(VALIDATION)
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


def trial(fold: str, name: str) -> pd.DataFrame:
    """Return the mean regrets, per game that was left out, of a chooser's picks and of the SBS."""
    training_games, games = split(fold)
    rows = judged(learned(name, training_games), others(), games, shipped.BUDGETS, list(PRESETS.values()))
    regrets = rows.groupby("game")[[PICK, SBS]].mean().rename(columns={PICK: name})
    return regrets.melt(var_name="picked by", value_name="regret").assign(**{"left out": fold})


if __name__ == "__main__":
    main()
