"""``python -m benchmarks.folds``: what learning for unseen games is worth on members to learn on that are left out.

None of the members to be tested on has a part in it: by these figures one may choose how to learn.
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import pandas as pd

from benchmarks.selection import table
from benchmarks.teams import met, others, trained_for_unseen
from rlccfr.agents import shipped
from rlccfr.agents.generalisation import judged
from rlccfr.agents.pretraining import train_on_table
from rlccfr.catalog.games import FAMILIES, TRAIN, family_of
from rlccfr.envs.cells import compiled
from rlccfr.envs.reward import PRESETS

THIRDS = tuple(f"third {number}" for number in (1, 2, 3))
LARGEST, LARGER = "largest of each family", "of at least 1,000 histories, by those of at most 300"
FOLDS = (*THIRDS, LARGEST, LARGER, *(f"family {family.name}" for family in FAMILIES if family.train))


def main() -> None:
    """Print a line for each way to leave games out."""
    trials = list(product(FOLDS, (False, True)))
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        rows = pd.concat(executor.map(trial, *zip(*trials, strict=True)))
    print("\n".join(table(rows.pivot_table("regret", "left out", "picked by", sort=False).reset_index())))


def split(fold: str) -> tuple[list[str], list[str]]:
    """The games that a team learns on, and those that it is judged on."""
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


def trial(fold: str, unseen: bool) -> pd.DataFrame:
    """The regrets of a team's picks on the games that it has not learned on, each game as a whole."""
    own, games = split(fold)
    team = trained_for_unseen(own) if unseen else train_on_table(others(), shipped.tabular(), own, met())
    rows = judged(team, others(), games, shipped.BUDGETS, list(PRESETS.values())).groupby("game")[["team", "SBS"]]
    regrets = rows.mean().rename(columns={"team": "learning for unseen games" if unseen else "learning for its own"})
    return regrets.melt(var_name="picked by", value_name="regret").assign(**{"left out": fold})


if __name__ == "__main__":
    main()
