"""The recommended-algorithm table of a sweep: what teams pick, beside what there was to pick, and nothing is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from rlccfr.agents.comparison import Steps, build_table
from rlccfr.agents.table import RecommendationTable
from rlccfr.catalog import Catalog
from rlccfr.envs.options import Budgets, Games, Options, Presets
from rlccfr.envs.table import TableEvaluator

if TYPE_CHECKING:
    from rlccfr.agents.team import SelectorTeam


def recommended_table(
    results: TableEvaluator,
    catalog: Catalog,
    games: Games,
    budgets: Budgets,
    presets: Presets = "accuracy",
    scale: str = "log",
    teams: Mapping[str, SelectorTeam] | None = None,
    progress: Callable[[float], None] | None = None,
) -> RecommendationTable:
    """What the games' teams pick, beside the baselines.

    Args:
        results: of a sweep; has every cell of the catalog on each game. Other games on which it has them, too, serve
            the single best solver.
        teams: by game; by default one is trained for each game, on the runs that one may choose by.
        progress: called with the share done.

    Raises:
        MissingCellError: a cell that was not measured, or a budget that is longer than the runs.
    """
    options = Options.parse(games, budgets, 1, presets, scale, catalog, (0,), results)
    found = dict(teams or {})
    left = [game for game in options.games if game not in found]
    steps = Steps(progress, len(left))
    for game in left:
        from rlccfr.agents.pretraining import train_on_table

        found[game] = train_on_table(results, catalog, [game], options.budget, progress=steps.within)
        steps.done()
    measured = [game for game in results.frame()["game"].unique() if all(results.seeds(game, cell) for cell in catalog)]
    return build_table(
        options.games,
        options.budget,
        options.preset,
        evaluator=results,
        catalog=catalog,
        scale=options.scale,
        others=measured,
        teams=found,
    )
