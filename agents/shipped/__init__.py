"""The package's data: measurements, teams that have learned from them, and costs of algorithms on small games.

All algorithms of the paper's catalog, and the extended catalog's tabular ones, were measured on the paper's games; all
of the catalog ``public`` were measured on games of hold'em. The costs are those of the tabular algorithms on small
games.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rlccfr.catalog import Catalog
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.rows import load_results
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.errors import RLCCFRError, brief
from rlccfr.games.names import form_named, identity_of

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam
    from rlccfr.game import Form

GAMES = ("kuhn", "leduc", "goofspiel", "royal")
"""The paper's games."""

BUDGETS = tuple(Budget("seconds", amount) for amount in (0.01, 0.1, 1.0))
"""The headline budgets, those for which results on the paper's games are reported, in engine CPU seconds."""

PUBLIC_GAMES = ("holdem(ranks=6,suits=2)", "holdem(ranks=7)", "holdem")
"""Games with a public tree on which the catalog ``public`` is measured: small, medium and [2-1] hold'em."""

PUBLIC_BUDGETS = tuple(Budget("seconds", amount) for amount in (1.0, 10.0, 60.0))
"""The headline budgets on :data:`PUBLIC_GAMES`, in engine CPU seconds."""

DATA = Path(__file__).parent / "data"
"""Folder of the data files."""

MEASURED = "paper.parquet"
"""File of the runs on the paper's games."""

PUBLIC_MEASURED = "public.parquet"
"""File of the runs on games with a public tree."""

GENERALISATION = "generalisation.parquet"
"""File of choosers' regrets on games that they were not trained on, and on families of games that they never saw."""

START = "team-start.npz"
"""File of the team that has learned from small games, for games that were not measured."""

WINNERS = "winners.json"
"""File of the best algorithm on each of the paper's games, by budget and reward weights."""

COSTS = "costs.npz"
"""File of the algorithms' costs on small games, by which the algorithms of a race are chosen."""


def catalog() -> Catalog:
    """Return the paper's catalog of 336 algorithms, with the network settings of sweeps."""
    return Catalog.paper().with_networks("sweep")


def tabular() -> Catalog:
    """Return the part of the paper's catalog without function approximation.

    Choosers for games that were not measured pick from it.
    """
    return Catalog.tabular()


def public_catalog() -> Catalog:
    """Return the catalog of algorithms that run on public trees."""
    return Catalog.public()


class Part(NamedTuple):
    """A part of the package's measurements: some games, and the catalogs that were measured on all of them.

    Attributes:
        file: name of the file of the runs, in the folder :data:`DATA`.
        games: names of the games.
        budgets: headline budgets, in engine CPU seconds, the longest last.
        catalogs: catalogs of which every algorithm was run on every game, the default first.
        described: description of these catalogs, for messages.
        learned: whether advice comes from teams and choosers that have learned from these runs.
    """

    file: str
    games: tuple[str, ...]
    budgets: tuple[Budget, ...]
    catalogs: tuple[Catalog, ...]
    described: str
    learned: bool


def paper_part() -> Part:
    """Return the part of the measurements that was made on the paper's games."""
    catalogs = (catalog(), Catalog.extended_tabular())
    described = "the catalogs paper, tabular and extended-tabular, with the network settings sweep"
    return Part(MEASURED, GAMES, BUDGETS, catalogs, described, learned=True)


def public_part() -> Part:
    """Return the part of the measurements that was made on games with a public tree."""
    catalogs = (public_catalog(),)
    return Part(PUBLIC_MEASURED, PUBLIC_GAMES, PUBLIC_BUDGETS, catalogs, "the catalog public", learned=False)


PARTS = {"paper": paper_part, "public": public_part}
"""Functions that return the parts of the measurements, by the default catalog for the part's games."""


def was_measured(form: Form) -> bool:
    """Return whether any games that are represented in a form, such as a public tree, were measured with a catalog."""
    return bool(PARTS.keys() & form.catalogs[:1])


def part_of(game: str) -> Part:
    """Return the part of the measurements that a game belongs to, or would belong to if it had been measured.

    Raises:
        RLCCFRError: no game that is represented in the same form (:class:`rlccfr.game.Form`) was measured.
    """
    form = form_named(game)
    if not was_measured(form):
        remedy = ", and `rlccfr sweep` measures the algorithms of a catalog" if form.catalogs else ""
        raise RLCCFRError(
            f"{brief(game)} is represented {form.title}, and no such game was measured: `rlccfr solve` chooses an "
            f"algorithm by default{remedy}"
        )
    return PARTS[form.catalogs[0]]()


def name_of(game: str) -> str | None:
    """Return the name under which a game was measured, whichever of its names is given; None if it was not measured.

    Raises:
        GameError: a parameter is unknown, or a value is out of range.
        RLCCFRError: no game that is represented in the same form (:class:`rlccfr.game.Form`) was measured.
    """
    return next((name for name in part_of(game).games if identity_of(name) == identity_of(game)), None)


@cache
def results(game: str | None = None) -> TableEvaluator:
    """Return the measurements that come with the package.

    Args:
        game: name under which a game was measured, to return only its measurements, which takes less time; by default,
            the measurements on all of :data:`GAMES` are returned.

    Raises:
        RLCCFRError: the file is missing or damaged.
    """
    if game is None:
        return TableEvaluator(path(MEASURED))
    frame = load_results(path(part_of(game).file))
    return TableEvaluator(frame[frame["game"] == game])


@cache
def public_results() -> TableEvaluator:
    """Return the measurements on all of :data:`PUBLIC_GAMES`.

    Raises:
        RLCCFRError: the file is missing or damaged.
    """
    return TableEvaluator(path(PUBLIC_MEASURED))


def team(game: str) -> SelectorTeam:
    """Return a shipped team.

    Each team observes the budget and the reward weights, and so serves all of them.

    Args:
        game: one of :data:`GAMES` for the team trained on it, or ``"all"`` for the team trained on all of them; one of
            :data:`PUBLIC_GAMES` for the team trained on all of those.

    Raises:
        RLCCFRError: the file is missing or damaged.
    """
    name = "public" if game in PUBLIC_GAMES else game
    return load_team(f"team-{name}.npz")


@cache
def load_team(name: str) -> SelectorTeam:
    """Return the team in a file of the package's data; the file is read only once."""
    from rlccfr.agents.team.team import SelectorTeam

    return SelectorTeam.load(path(name))


def path(name: str) -> Path:
    """Return the path of a file of the package's data.

    Raises:
        RLCCFRError: the file is missing.
    """
    if not (DATA / name).exists():
        raise RLCCFRError(
            f"this installation of rlccfr has no {name}; make measurements of your own with `rlccfr sweep`, or a team "
            "with `rlccfr train`"
        )
    return DATA / name
