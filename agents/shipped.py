"""What the package brings along: measurements of every cell on the paper's games, and teams trained on them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rlccfr.agents.comparison import build_table
from rlccfr.agents.table import RecommendationTable
from rlccfr.catalog import Catalog
from rlccfr.envs.live import LiveEvaluator
from rlccfr.envs.measurement import Budget
from rlccfr.envs.options import Budgets, Options, Presets
from rlccfr.envs.table import TableEvaluator
from rlccfr.errors import RLCCFRError

if TYPE_CHECKING:
    from rlccfr.agents.team import SelectorTeam

GAMES = ("kuhn", "leduc", "goofspiel", "royal")
BUDGETS = tuple(Budget("seconds", amount) for amount in (0.01, 0.1, 1.0))
"""The headline budgets: engine CPU seconds."""

DATA = Path(__file__).parent / "data"


def catalog() -> Catalog:
    """The paper's 336 cells, with the networks that a sweep has."""
    return Catalog.paper().with_networks("sweep")


@cache
def results() -> TableEvaluator:
    """The measurements that come with the package.

    Raises:
        StoreError: the file is not there, or not whole: install the package again.
    """
    return TableEvaluator(DATA / "paper.parquet")


@cache
def team(game: str | None = None) -> SelectorTeam:
    """The team that was trained on a game, or without one the team for games that were not measured.

    Both know budgets and weights by what they observe.

    Raises:
        CheckpointError: the file is not there, or not whole: install the package again.
    """
    from rlccfr.agents.team import SelectorTeam

    return SelectorTeam.load(DATA / (f"team-{game}.npz" if game else "team.npz"), evaluator=LiveEvaluator())


def table(
    games: Sequence[str] | None = None,
    budgets: Budgets | None = None,
    presets: Presets = "accuracy",
    scale: str = "log",
) -> RecommendationTable:
    """The recommended-algorithm table: what the games' teams pick, beside the baselines, all of it measured before.

    Args:
        games: of :data:`GAMES`, by default all.
        budgets: by default :data:`BUDGETS`; a run lasted 1,000 iterations and a CPU second at least.

    Raises:
        RLCCFRError: a game that was not measured; the message says what to do.
        MissingCellError: a budget that is longer than the runs.
    """
    games = list(games or GAMES)
    for game in games:
        if game not in GAMES:
            raise RLCCFRError(
                f"{game!r} is not among the measured games, {', '.join(GAMES)}; measure and compare it with "
                f"`rlccfr compare '{game}'`, or let a team pick unmeasured with `rlccfr recommend '{game}'`"
            )
    options = Options.parse(games, budgets or BUDGETS, 1, presets, scale, catalog(), (0,), results())
    return build_table(
        games,
        options.budget,
        options.preset,
        evaluator=options.evaluator,
        catalog=options.catalog,
        scale=options.scale,
        others=GAMES,
        teams={game: team(game) for game in games},
    )
