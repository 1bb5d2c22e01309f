"""What the package brings along: measurements of every cell on the paper's games, and teams trained on them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rlccfr.catalog import Catalog
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.rows import load_results
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.errors import RLCCFRError
from rlccfr.games.names import openspiel_name

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam

GAMES = ("kuhn", "leduc", "goofspiel", "royal")
BUDGETS = tuple(Budget("seconds", amount) for amount in (0.01, 0.1, 1.0))
"""The headline budgets: engine CPU seconds."""

DATA = Path(__file__).parent / "data"
MEASURED = "paper.parquet"


def catalog() -> Catalog:
    """The paper's 336 cells, with the networks that a sweep has."""
    return Catalog.paper().with_networks("sweep")


def tabular() -> Catalog:
    """The cells without networks, which the team for games that were not measured picks from."""
    return Catalog.tabular()


def name_of(game: str) -> str | None:
    """Which of :data:`GAMES` a game is, by whatever name; None if none of them."""
    return next((name for name in GAMES if openspiel_name(name) == openspiel_name(game)), None)


@cache
def results(game: str | None = None) -> TableEvaluator:
    """The measurements that come with the package.

    Args:
        game: one of :data:`GAMES`, whose runs alone take a quarter of the time to read; by default all.

    Raises:
        RLCCFRError: the file is not there, or not whole.
    """
    frame = load_results(path(MEASURED))
    return TableEvaluator(frame if game is None else frame[frame["game"] == game])


@cache
def team(game: str | None = None) -> SelectorTeam:
    """The team that was trained on a game, on ``"all"`` of them, or without a name the one for games not measured.

    Each knows budgets and weights by what it observes.

    Raises:
        RLCCFRError: the file is not there, or not whole.
    """
    from rlccfr.agents.team.team import SelectorTeam

    return SelectorTeam.load(path(f"team-{game}.npz" if game else "team.npz"))


GENERALISATION = "generalisation.csv"
"""How good the picks of ``team()`` are on games that it was not trained on, and of teams trained without a family."""


def path(name: str) -> Path:
    """A file of the package's data.

    Raises:
        RLCCFRError: it is not there.
    """
    if not (DATA / name).exists():
        raise RLCCFRError(
            f"this installation of rlccfr has no {name}; measure and train yourself, with `rlccfr sweep` or "
            "`rlccfr train`"
        )
    return DATA / name
