"""How many algorithms halving should try on a game that was not measured: ``python -m benchmarks.prior``.

Thirds of the training games are left out in turn. A team learns from the others, and halving among the algorithms with
its largest Q-values is judged on the third, with different rungs. No validation or test games are used, so that the
figures may be used to choose (:data:`benchmarks.choosers.RUNGS`). It takes about ten minutes.
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import pandas as pd

from benchmarks.choosers import ByHalving
from benchmarks.folds import THIRDS, split
from benchmarks.markdown import table
from benchmarks.teams import others, trained_on_small_games
from rlccfr.agents import shipped
from rlccfr.agents.judging.evidence import ChoosingRuns
from rlccfr.agents.judging.recommendation_table import SBS
from rlccfr.agents.judging.unseen_games import PICK, judged
from rlccfr.agents.predicting.choosers import ByTeam
from rlccfr.envs.reward import PRESETS

RUNGS = ((), (2,), (3,), (4,), (4, 2), (6, 3), (8, 4, 2), (16, 8, 4, 2))
"""Rungs that are compared, as numbers of algorithms; the first has no rungs, so that only Q-values decide."""

SEEDS = (0, 1)
"""Seeds of the teams."""


def main() -> None:
    """Print the mean regrets on the games that were left out, by rungs and by reward weights."""
    trials = [(third, seed) for third in THIRDS for seed in SEEDS]
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        rows = pd.concat(executor.map(judgements, *zip(*trials, strict=True)))
    means = rows.pivot_table("regret", "rungs", "preset", sort=False)
    means.insert(0, "all", rows.groupby("rungs", sort=False)["regret"].mean())
    print("\n".join(table(means.reset_index())))


def judgements(third: str, seed: int) -> pd.DataFrame:
    """Return the regrets of all rungs, and of the SBS, on a third of the training games."""
    learned_from, games = split(third)
    team = trained_on_small_games(learned_from, seed)
    frames = []
    for rungs in RUNGS:
        chooser = ByHalving(team, ChoosingRuns(others()), rungs) if rungs else ByTeam(team)
        rows = judged(chooser, others(), games, shipped.BUDGETS, list(PRESETS.values()))
        words = " then ".join(map(str, rungs)) or "none"
        frames.append(rows.assign(rungs=words, regret=rows[PICK]))
    frames.append(rows.assign(rungs=SBS, regret=rows[SBS]))
    return pd.concat(frames)[["rungs", "preset", "game", "regret"]]


if __name__ == "__main__":
    main()
