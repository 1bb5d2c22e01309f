"""The recommendation table of a sweep, computed without running any algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from rlccfr.agents.judging.bench import Steps, TeamPlan, build_table
from rlccfr.agents.judging.recommendation_table import RecommendationTable
from rlccfr.catalog import Catalog
from rlccfr.envs.episode import Budgets, EpisodeSpec, Games, Presets
from rlccfr.envs.measuring.request import Request
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.errors import GameError
from rlccfr.games.compiled_games import compiled, measured_name

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam


def recommended_table(
    results: TableEvaluator,
    catalog: Catalog,
    games: Games,
    budgets: Budgets,
    presets: Presets = "accuracy",
    scale: str | None = None,
    teams: Mapping[str, SelectorTeam] | None = None,
    progress: Callable[[float], None] | None = None,
) -> RecommendationTable:
    """Compare the picks of the games' teams with the baselines' picks.

    Args:
        results: a sweep's results, with the whole catalog on each game. Further games with the whole catalog serve to
            find the single best algorithm (SBS).
        catalog, games, budgets, presets, scale: as for :class:`rlccfr.envs.SelectorEnv`.
        teams: teams by game; by default one is trained for each game, on the choosing runs. With ``{}``, the table has
            no rows of a team or of searches; it then takes seconds instead of minutes.
        progress: function called with the share of the training that is done; never called if ``teams`` is given.

    Raises:
        MissingCellError: an algorithm was not measured, or a budget is longer than the runs.
        RLCCFRError: an invalid argument.
    """
    spec = EpisodeSpec.parse(games, budget=budgets, preset=presets, scale=scale, catalog=catalog, evaluator=results)
    further_games = _further_games(results, spec)
    if teams is None:
        teams = _train_teams(spec, progress)
    return build_table(spec, others=further_games, teams=teams, plan=TeamPlan(evaluations=0))


def _train_teams(spec: EpisodeSpec, progress: Callable[[float], None] | None) -> dict[str, SelectorTeam]:
    """Train a team for each game of a specification, on the choosing runs of its table."""
    from rlccfr.agents.team.pretraining import train_on_table

    teams = {}
    steps = Steps(progress, len(spec.games))
    for game in spec.games:
        game_spec = EpisodeSpec.parse(game, spec.budgets, **spec.options)
        teams[game] = train_on_table(game_spec, progress=steps.within)
        steps.done()
    return teams


def _further_games(results: TableEvaluator, spec: EpisodeSpec) -> list[str]:
    """Return further games on which every algorithm was measured under every budget.

    A game that was measured under several names is returned once.

    Raises:
        GameError: one of the games can't be loaded.
    """
    names = {measured_name(game) for game in spec.games}
    further_games = []
    for game in results.games:
        # One run of each algorithm is enough. Without any, seed 0 is asked for, which the table does not know.
        requests = (
            Request(game, (cell,), budget, seed=next(iter(results.seeds(game, cell)), 0))
            for cell in spec.catalog
            for budget in spec.budgets
        )
        try:
            name = measured_name(game)
            if name in names or not all(map(results.known, requests)):
                continue
            compiled(game)  # so that an error names the game
        except GameError as error:
            raise GameError(f"the sweep also measured {game!r}, which can't be loaded: {error}") from None
        further_games.append(game)
        names.add(name)
    return further_games
