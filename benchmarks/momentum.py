"""The rule ``momentum_dcfr`` compared with others on training games: ``python -m benchmarks.momentum``.

On each of :data:`GAMES`, the rules in :data:`OLDER` and :data:`NEWER` run by exact passes, and so do neighbours of
``momentum_dcfr``: points that differ from it in one number. A run's *score* is the mean of log10 of the exploitability,
as a share of the uniform policy's, at five numbers of iterations near a horizon, since a single number is noisy. The
table shows by how much the scores differ from the best score of the older rules on each game; below 0, a rule is less
exploitable than the best of them in hindsight. Nothing is timed.

None of the games is in a validation or test list of the controller or of the default. Four are in other lists: two in
those of selection, one in that of blends, and one in an experiment.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pandas as pd

import rlccfr
from benchmarks.control_games import UNIVERSAL
from benchmarks.markdown import table
from rlccfr.agents.control.games import control_games

OLDER = (
    "cfr_plus", "lcfr", "lcfr_plus", "dcfr", "dcfr_plus", "pcfr_plus", "pdcfr_plus", "sapcfr_plus",
    "hs_pcfr_plus(horizon={})", "hs_dcfr(horizon={})", "ddcfr_schedule(horizon={})",
)  # fmt: skip
"""Update rules that the library had before ``momentum_dcfr``; ``{}`` stands for the horizon."""

NEWER = ("apcfr_plus", "apdcfr_plus", "vad_cfr(horizon={})", "aod_cfr(horizon={})")

NEIGHBOURS = (
    "alpha=1.5", "alpha=2.0", "beta=-0.3", "beta=-1.5", "gamma=4.0", "gamma=8.0", "momentum=0.0", "momentum=0.4",
    "momentum=0.6", "memory=0.8", "memory=0.9", "power=1.0", "power=1.3", "power=2.0",
)  # fmt: skip

LARGER = (
    "random_poker(seed=41001,hands=12,boards=3,raises=2)",
    "random_poker(seed=41002,hands=20,boards=1,raises=2)",
    "random_poker(seed=41003,hands=9,boards=4,raises=3)",
    "random_poker(seed=41004,hands=30,boards=1,raises=1)",
    "random_poker(seed=41005,hands=14,boards=2,raises=2)",
    "random_moves(seed=41011,types=9,moves=8,actions=2)",
    "random_moves(seed=41012,types=6,moves=6,actions=3)",
    "random_moves(seed=41013,types=12,moves=7,actions=2)",
    "random_moves(seed=41014,types=6,moves=5,actions=4)",
    "leduc(ranks=4,suits=2,raises=2)",
    "leduc(ranks=3,suits=3,raises=2)",
    "leduc(ranks=8,suits=1,raises=3)",
    "leduc(ranks=7,suits=2,raises=1)",
    "liars_dice(numdice=1,dice_sides=4)",
    "liars_dice(numdice=1,dice_sides=4,bidding_rule=reset-quantity)",
    "goofspiel(num_cards=4,imp_info=True,points_order=descending,returns_type=point_difference)",
    "battleship(board_width=2,board_height=2,ship_sizes=[1;2],ship_values=[1;2],num_shots=2)",
    UNIVERSAL.format("1 2", 2, 4, 1, 2, 1, 2, 6, 1),
    UNIVERSAL.format("1 1", 1, 4, 2, 2, 2, 2, 4, 1),
    UNIVERSAL.format("2 2", 3, 6, 1, 1, 2, 3, 3, 1),
)
"""Games of 4,000 to 60,000 histories, most of them larger than the controller's training games."""

SMALLER = 24
"""Number of the controller's training games that are used as well."""

GAMES = (*LARGER, *Random(5).sample(control_games("train"), SMALLER))

HORIZONS = (30, 100, 300, 1000)
NEARBY = (0.8, 0.9, 1.0, 1.12, 1.25)
"""Shares of the horizon at which a run is measured."""

TIMED_GAMES = ("leduc", LARGER[2], "liars_dice(numdice=1,dice_sides=5)", "leduc(ranks=6,suits=2,raises=2)")
TIMED_RULES = ("apcfr_plus", "vad_cfr", "aod_cfr")
TIMED_ITERATIONS = 500
REPEATS = 5

LEAST = 1e-7
"""Share of the uniform policy's exploitability below which runs are not distinguished."""


def score(game: rlccfr.GameTree, uniform: float, rule: str, horizon: int) -> float:
    """Return the mean logarithm of a rule's exploitability near a horizon, as a share of the uniform policy's.

    Args:
        uniform: the uniform policy's exploitability.
    """
    solver = rlccfr.Solver(game, rule)
    done = 0
    logs = []
    for share in NEARBY:
        iterations = round(share * horizon)
        solver.run(iterations=iterations - done, curve=False)
        done = iterations
        logs.append(np.log10(max(solver.average_policy().exploitability() / uniform, LEAST)))
    return float(np.mean(logs))


def rules(horizon: int) -> Iterator[str]:
    """Yield the update rules that are compared at a horizon."""
    for rule in (*OLDER, *NEWER):
        yield rule.format(horizon)
    yield "momentum_dcfr"
    for change in NEIGHBOURS:
        yield f"momentum_dcfr({change})"


def scores(games: tuple[str, ...], horizons: tuple[int, ...]) -> pd.DataFrame:
    """Return the score of each rule on each game at each horizon, as rows."""
    rows: list[dict[str, Any]] = []
    for name in games:
        game = rlccfr.load_game(name)
        uniform = rlccfr.Policy.uniform(game).exploitability()
        for horizon in horizons:
            for rule in rules(horizon):
                about = {"game": name, "horizon": horizon, "rule": rule.replace(f"horizon={horizon}", "horizon={}")}
                rows.append(about | {"score": score(game, uniform, rule, horizon)})
        print(name, file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each rule: the mean of its score's difference from the best of the older rules, by horizon."""
    by_rule = rows.pivot(index=["horizon", "game"], columns="rule", values="score")
    best = by_rule[list(OLDER)].min(axis=1)
    means = by_rule.sub(best, axis=0).groupby("horizon").mean().T
    return means.loc[means.mean(axis=1).sort_values().index].reset_index()


def iteration_times() -> pd.DataFrame:
    """Return how many times as long an iteration of each of some rules takes as one of ``pcfr_plus``, by game.

    The rules take turns, since the machine's speed changes, and the shortest of several runs counts.
    """
    rows = []
    for name in TIMED_GAMES:
        game = rlccfr.load_game(name)
        seconds = dict.fromkeys(("pcfr_plus", "momentum_dcfr", *TIMED_RULES), np.inf)
        for _ in range(REPEATS):
            for rule in seconds:
                solver = rlccfr.Solver(game, rule)
                solver.run(iterations=20, curve=False)  # so that nothing is done for the first time
                begin = time.process_time()
                solver.run(iterations=TIMED_ITERATIONS, curve=False)
                seconds[rule] = min(seconds[rule], time.process_time() - begin)
        rows.append({"game": name, **{rule: seconds[rule] / seconds["pcfr_plus"] for rule in seconds}})
    return pd.DataFrame(rows)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only a few games and the shortest horizon")
    parser.add_argument("--speed", action="store_true", help="only how long an iteration takes, beside pcfr_plus")
    given = parser.parse_args()
    if given.speed:
        print("\n".join(table(iteration_times().round(2))))
        return
    rows = scores(GAMES[-4:], HORIZONS[:1]) if given.quick else scores(GAMES, HORIZONS)
    means = summary(rows).round(2)
    means["rule"] = means["rule"].str.replace("(horizon={})", "", regex=False)
    means.columns = [str(column) for column in means.columns]
    print("\n".join(table(means)))


if __name__ == "__main__":
    main()
