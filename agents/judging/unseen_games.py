"""How well a team picks for games that it has never met, beside what else one could do there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from rlccfr.agents.baselines.task import Task
from rlccfr.agents.judging.bench import Bench
from rlccfr.agents.judging.evidence import Evidence
from rlccfr.agents.judging.recommendation_table import SBS, TEAM, VBS
from rlccfr.agents.judging.scores import bootstrap_interval
from rlccfr.catalog import Cell
from rlccfr.catalog.families import family_of
from rlccfr.envs.measuring.compiled_games import compiled
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import Preset

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam

VERSION = 2
"""Version of how picks are judged. Raise it when the same picks would be judged otherwise."""

HUNDREDFOLD = 100
"""Times the histories of the largest game that was trained on."""

TRAINED, MEMBER, FAMILY, LARGER = "training game", "unseen member", "unseen family", "hundredfold larger"
"""What a game is to a team."""

ALL = "all"
"""Kinds of games taken together."""

ENOUGH = 5
"""Games to resample; of fewer a bootstrap's interval is far narrower than it says."""

REPETITIONS = 20_000
"""Of the bootstrap: the ends of an interval depend on its seed by less than 0.0002."""


def kind_of(game: str, trained_on: Sequence[str]) -> str:
    """What a game is to a team: met before, much larger than what it has met, of a family that it has met, or new."""
    trees = [compiled(one) for one in trained_on]
    if compiled(game).content_hash in {tree.content_hash for tree in trees}:
        return TRAINED
    if compiled(game).num_histories >= HUNDREDFOLD * max(tree.num_histories for tree in trees):
        return LARGER
    return MEMBER if family_of(game) in set(map(family_of, trained_on)) else FAMILY


def judged(
    team: SelectorTeam,
    results: TableEvaluator,
    games: Sequence[str],
    budgets: Sequence[Budget],
    presets: Sequence[Preset],
) -> pd.DataFrame:
    """A row for each game, budget and preset: regret of the team's pick, and of the single best over its own games.

    Args:
        team: picks; its own games are the single best solver's.
        results: has all cells of the team's catalog on all games, its own too.
        games: to pick for.

    Returns:
        Columns ``game, kind, histories, budget, preset, team, SBS``: regrets to the best of all cells, on the runs that
        judge (see :class:`Evidence`); ``single_best``: which cell the SBS is; ``measuring``: CPU seconds to measure
        every cell once instead.

    Raises:
        MissingCellError: a cell that was not measured.
    """
    rows, catalog = [], team.catalog
    for budget in budgets:
        own = {game: Evidence.measured(results, catalog, game, budget) for game in team.env.games}
        for game in games:
            evidence = {**own, game: Evidence.measured(results, catalog, game, budget)}
            kind, size = kind_of(game, team.env.games), compiled(game).num_histories
            for preset in presets:
                bench = Bench(Task(results, catalog, game, budget, preset), evidence)
                pick = bench.row(TEAM, team.pick(game, budget, preset), 0, 0.0)
                others = {row["method"]: row for row in bench.exhaustive_rows()}
                single = others[SBS]
                rows.append(
                    {"game": game, "kind": kind, "histories": size, "budget": str(budget), "preset": preset.name,
                     "team": pick["regret"], "SBS": single["regret"],
                     "single_best": str(Cell.of(single)),
                     "measuring": others[VBS]["cpu_seconds"]}
                )  # fmt: skip
    return pd.DataFrame(rows)


def mean_regrets(rows: pd.DataFrame) -> dict[str, float]:
    """How many games were judged, and the team's and the SBS's mean regret over them."""
    by_game = rows.groupby("game")[["team", "SBS"]].mean()
    return {"games": float(len(by_game)), "team": float(by_game["team"].mean()), "SBS": float(by_game["SBS"].mean())}


def summary(rows: pd.DataFrame, seed: int = 0) -> dict[str, dict[str, float]]:
    """For each kind of game, and for all where there are several kinds: mean regrets, and by how much the team's is
    lower, with its 95 % interval where there are :data:`ENOUGH` games.

    Games are resampled whole: budgets and presets on one game are no independent evidence. Nor are games of one family,
    quite, so that the interval is rather too narrow than too wide.
    """
    found = {}
    groups = list(rows.groupby("kind", sort=False))
    if len(groups) > 1:
        groups.append((ALL, rows))
    for kind, group in groups:
        gain = (group["SBS"] - group["team"]).groupby(group["game"]).mean().to_numpy()
        one = {**mean_regrets(group), "gain": float(gain.mean())}
        if len(gain) >= ENOUGH:
            one["gain from"], one["gain to"] = bootstrap_interval(
                [gain], lambda values: float(values.mean()), repetitions=REPETITIONS, seed=seed
            )
        found[str(kind)] = one
    return found


def sureness(rows: pd.DataFrame, kind: str) -> str:
    """What picks by features were worth on the games of such a kind that they could be checked on, in words."""
    if rows.empty:
        return f"how good such picks are was not measured ({kind})"
    one = mean_regrets(rows)
    return (
        f"on {one['games']:.0f} such games ({kind}) the team's picks were on average, over budgets and weights, "
        f"{one['team']:.3f} of reward below the best algorithm, and the single best of the training games "
        f"{one['SBS']:.3f}"
    )
