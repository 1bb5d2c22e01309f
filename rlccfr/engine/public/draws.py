"""What passes over a public tree draw: probabilities of outcomes, and the memory of pending discounts."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.components import Sampler
from rlccfr.games.public.masses import row_masses
from rlccfr.games.public.records import CHANCE, DOUBLE
from rlccfr.games.public.view import PublicGame
from rlccfr.kernels.public.drawing import LEAST_LOG, NO_DRAWING, Drawing

DRAWN = {"public": (False, False), "opponent": (False, True), "own": (True, False), "one": (True, True)}
"""For each choice of a sampler's ``chance``, whether the player's and the opponent's private states are drawn."""


class _Chances(NamedTuple):
    """The entries of a :class:`Drawing` that depend on the game alone."""

    cumulative: np.ndarray
    heirs: np.ndarray
    roots: np.ndarray


_chances: WeakKeyDictionary[PublicGame, _Chances] = WeakKeyDictionary()


def draws_of(sampler: Sampler) -> tuple[bool, bool, bool]:
    """Return whether public outcomes, the player's and the opponent's private states are drawn."""
    return (False, False, False) if sampler.exact else (True, *DRAWN[sampler.chance])


def drawing_for(game: PublicGame, draws: tuple[bool, bool, bool], rng: np.ndarray) -> Drawing:
    """Return the memory of passes that draw, with nothing pending.

    Args:
        draws: see :func:`draws_of`.
        rng: (1,) state of the generator, which passes advance in place.
    """
    public, own, other = draws
    if not public:
        return NO_DRAWING
    regret_place, average_place = (places(game, drawn) for drawn in (own, other))
    sizes = _sizes(game, own, other)
    return Drawing(
        public=True,
        own=own,
        other=other,
        **_chances_of(game)._asdict(),
        regret_place=regret_place,
        average_place=average_place,
        regret_log=np.zeros((sizes[0], 2)),
        average_log=np.zeros(sizes[1]),
        clock=np.zeros(3),
        rng=rng,
    )


def pending_bytes(game: PublicGame, draws: tuple[bool, bool, bool]) -> int:
    """Return the bytes of a drawing's memory, most of it for pending discounts; see :func:`draws_of`."""
    if not draws[0]:
        return 0
    regrets, averages = _sizes(game, *draws[1:])
    chances = 0 if game in _chances else DOUBLE.itemsize * game.num_nodes + 4 * len(game.view.above)
    return (2 * regrets + averages + 2 * game.num_nodes) * DOUBLE.itemsize + chances


def _sizes(game: PublicGame, own: bool, other: bool) -> tuple[int, int]:
    """Return for how many places discounts of regrets and of averages are pending: per private state or per node."""
    sizes = [game.num_infosets if drawn else len(game.decisions) for drawn in (own, other)]
    return sizes[0], sizes[1]


def logs_of(factors: np.ndarray) -> np.ndarray:
    """Return the logarithms of discounts, with :data:`LEAST_LOG` for 0."""
    found = np.full(factors.shape, LEAST_LOG)
    np.log(factors, out=found, where=factors > 0)
    return found


def places(game: PublicGame, one_by_one: bool) -> np.ndarray:
    """Return the first entry of what is pending at each node, (nodes,): an entry per private state or per node."""
    found = np.zeros(game.num_nodes, np.int64)
    sizes = game.rows if one_by_one else np.ones(len(game.decisions), np.int64)
    found[game.decisions] = np.cumsum(sizes) - sizes
    return found


def _chances_of(game: PublicGame) -> _Chances:
    """Return a game's probabilities of outcomes, which are made once."""
    if game not in _chances:
        masses = [np.cumsum(mass) for mass in game.mass]
        _chances[game] = _Chances(_cumulative(game), _heirs(game), np.concatenate(masses))
    return _chances[game]


def _heirs(game: PublicGame) -> np.ndarray:
    """Return the rows of each deal and player in the order of the rows before, placed like the view's ``above``."""
    view = game.view
    found = np.zeros(len(view.above), np.int32)
    for rows, edges in zip(view.deals["rows"].tolist(), view.deals["edge"].tolist(), strict=True):
        for count, edge in {(count, edge) for count, edge in zip(rows, edges, strict=True)}:
            found[edge : edge + count] = np.argsort(view.above[edge : edge + count], kind="stable")
    return found


def _cumulative(game: PublicGame) -> np.ndarray:
    """Return for each child of a chance node the probability of the children up to it, (nodes,); 0 for other nodes."""
    nodes, found, mass = game.view.nodes, np.zeros(game.num_nodes), row_masses(game, 0)
    edges, counts = game.view.deals["edge"][:, 0].tolist(), game.view.deals["rows"][:, 0].tolist()
    share = np.array([mass[edge : edge + count].sum() for edge, count in zip(edges, counts, strict=True)])
    for node in np.flatnonzero(nodes["kind"] == CHANCE).tolist():
        first = int(nodes["first_child"][node])
        children = slice(first, first + int(nodes["num_children"][node]))
        sums = np.cumsum(share[nodes["deal"][children]])
        found[children] = sums / sums[-1]
    return found
