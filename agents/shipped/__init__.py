"""The package's data: measurements of every algorithm on the paper's games, teams trained on them, and costs on small
games, from which choosers learn."""

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
"""The headline budgets, in engine CPU seconds."""

PUBLIC_GAMES = ("holdem(ranks=6,suits=2)", "holdem(ranks=7)", "holdem")
"""Games with a public tree on which the catalog ``public`` is measured: small, medium and [2-1] hold'em."""

PUBLIC_BUDGETS = tuple(Budget("seconds", amount) for amount in (1.0, 10.0, 60.0))
"""Budgets on these games, in engine CPU seconds."""

DATA = Path(__file__).parent / "data"
MEASURED = "paper.parquet"


def catalog() -> Catalog:
    """Return the paper's catalog of 336 algorithms, with the network settings of sweeps."""
    return Catalog.paper().with_networks("sweep")


def tabular() -> Catalog:
    """Return the part of the paper's catalog that learns no function.

    Choosers for games that were not measured pick from it.
    """
    return Catalog.tabular()


def name_of(game: str) -> str | None:
    """Return which of :data:`GAMES` a game is, under any of its names; None if it is none of them."""
    return next((name for name in GAMES if openspiel_name(name) == openspiel_name(game)), None)


@cache
def results(game: str | None = None) -> TableEvaluator:
    """Return the measurements that come with the package.

    Args:
        game: one of :data:`GAMES`, to get its measurements alone in less time; by default all of them.

    Raises:
        RLCCFRError: the file is missing or damaged.
    """
    frame = load_results(path(MEASURED))
    return TableEvaluator(frame if game is None else frame[frame["game"] == game])


@cache
def team(game: str | None = None) -> SelectorTeam:
    """Return a shipped team.

    Each team observes the budget and the reward weights, and so serves all of them.

    Args:
        game: one of :data:`GAMES` for the team trained on it, or ``"all"`` for the team trained on all of them; by
            default the team for games that were not measured.

    Raises:
        RLCCFRError: the file is missing or damaged.
    """
    from rlccfr.agents.team.team import SelectorTeam

    return SelectorTeam.load(path(f"team-{game}.npz" if game else "team.npz"))


GENERALISATION = "generalisation.parquet"
"""File of choosers' regrets on games that they have not learned from, and on families that they were denied."""

COSTS = "costs.npz"
"""File of the costs on small games, from which choosers learn."""


def path(name: str) -> Path:
    """Return the path of a file of the package's data.

    Raises:
        RLCCFRError: the file is missing.
    """
    if not (DATA / name).exists():
        raise RLCCFRError(
            f"this installation of rlccfr has no {name}; measure and train yourself, with `rlccfr sweep` or "
            "`rlccfr train`"
        )
    return DATA / name
