"""How well a team picks for games that it has never met, beside what else one could do there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from rlccfr.agents.baselines import Task
from rlccfr.agents.comparison import Bench
from rlccfr.agents.evidence import Evidence
from rlccfr.agents.scores import bootstrap_interval
from rlccfr.agents.table import SBS, TEAM, VBS
from rlccfr.catalog.games import family_of
from rlccfr.envs.cells import compiled
from rlccfr.envs.measurement import Budget
from rlccfr.envs.reward import Preset
from rlccfr.envs.table import TableEvaluator

if TYPE_CHECKING:
    from rlccfr.agents.team import SelectorTeam

HUNDREDFOLD = 100
"""Times the histories of the largest game that was trained on."""

TRAINED, MEMBER, FAMILY, LARGER = "training game", "unseen member", "unseen family", "hundredfold larger"
"""What a game is to a team."""

ALL = "all"
"""Kinds of games taken together."""


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
        Columns ``game, kind, histories, budget, preset, team, SBS``: regrets to the best of all cells, on runs that
        nothing was chosen by; ``measuring``: CPU seconds to measure every cell once instead.

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
                rows.append(
                    (game, kind, size, str(budget), preset.name, pick["regret"], others[SBS]["regret"],
                     others[VBS]["cpu_seconds"])
                )  # fmt: skip
    return pd.DataFrame(rows, columns=["game", "kind", "histories", "budget", "preset", "team", "SBS", "measuring"])


def summary(rows: pd.DataFrame, seed: int = 0) -> dict[str, dict[str, float]]:
    """For each kind of game, and for all where there are several kinds: mean regrets, and by how much the team's is
    lower, with its 95 % interval where there are several games.

    Games are resampled whole: budgets and presets on one game are no independent evidence.
    """
    found = {}
    groups = list(rows.groupby("kind", sort=False))
    for kind, group in groups if len(groups) == 1 else [*groups, (ALL, rows)]:
        by_game = group.groupby("game")[["team", "SBS"]].mean()
        gain = (by_game["SBS"] - by_game["team"]).to_numpy()
        one = {"games": float(len(by_game)), "team": float(by_game["team"].mean()), "SBS": float(by_game["SBS"].mean())}
        one["gain"] = float(gain.mean())
        if len(gain) > 1:
            one["gain from"], one["gain to"] = bootstrap_interval(
                [gain], lambda values: float(values.mean()), seed=seed
            )
        found[str(kind)] = one
    return found


def sureness(found: Mapping[str, Mapping[str, float]], kind: str) -> str:
    """What such a pick was worth on games that it could be checked on, in words."""
    if kind not in found:
        return f"how good such picks are was not measured ({kind})"
    one = found[kind]
    return (
        f"on {one['games']:.0f} such games ({kind}) such picks were on average {one['team']:.3f} of reward below the "
        f"best algorithm, and the single best of the training games {one['SBS']:.3f}"
    )
