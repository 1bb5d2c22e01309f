"""Draws in passes over a public tree: the probabilities of outcomes, and the arrays of pending discounts.

A discount of an entry is *pending* until a pass next reaches the entry and applies it.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.components import Sampler
from rlccfr.games.public.masses import row_masses
from rlccfr.games.public.records import CHANCE, DOUBLE
from rlccfr.games.public.view import PublicGame
from rlccfr.kernels.layout import POSITIVE_DISCOUNT
from rlccfr.kernels.public.drawing import LEAST_LOG, NO_DRAWING, Drawing

DRAWN = {"public": (False, False), "opponent": (False, True), "own": (True, False), "one": (True, True)}
"""For each value of a sampler's ``chance``, two flags: whether the private state of the player who is updated is drawn,
and whether the opponent's is."""


class Drawn(NamedTuple):
    """Which chance outcomes and private states a pass samples."""

    public: bool  # public outcomes; if these are not drawn, nothing is
    own: bool  # the private state of the player who is updated
    opponent: bool  # the opponent's private state


class _OutcomeProbabilities(NamedTuple):
    """The fields of a :class:`Drawing` that depend only on the game."""

    outcome_cumulative: np.ndarray  # (nodes,)
    rows_by_parent: np.ndarray  # like the view's ``above``
    root_cumulative: np.ndarray  # (rows of both players at the root,)


_outcome_probabilities: WeakKeyDictionary[PublicGame, _OutcomeProbabilities] = WeakKeyDictionary()


def draws_of(sampler: Sampler) -> Drawn:
    """Return what passes sample under a sampler."""
    return Drawn(False, False, False) if sampler.exact else Drawn(True, *DRAWN[sampler.chance])


def drawing_for(game: PublicGame, drawn: Drawn, rng: np.ndarray) -> Drawing:
    """Return the arrays that passes use to draw, with no discount pending.

    Args:
        rng: (1,) state of the generator, which passes advance in place.
    """
    if not drawn.public:
        return NO_DRAWING
    # A pass updates the regrets of the player's drawn states and the averages of the opponent's. The discounts of all
    # other entries become pending.
    num_regrets, num_averages = _numbers_pending(game, drawn)
    return Drawing(
        draws_public=True,
        draws_own=drawn.own,
        draws_opponent=drawn.opponent,
        **_outcome_probabilities_of(game)._asdict(),
        regret_start=first_entries(game, drawn.own),
        average_start=first_entries(game, drawn.opponent),
        regret_log=np.zeros((num_regrets, 2)),
        average_log=np.zeros(num_averages),
        clock=np.zeros(3),
        rng=rng,
    )


def pending_bytes(game: PublicGame, drawn: Drawn) -> int:
    """Return how many bytes the arrays of a new :class:`Drawing` need, most of them for pending discounts.

    Probabilities that have already been computed for the game are not counted.
    """
    if not drawn.public:
        return 0
    num_regrets, num_averages = _numbers_pending(game, drawn)
    num_doubles = 2 * num_regrets + num_averages + 2 * game.num_nodes
    if game in _outcome_probabilities:
        return num_doubles * DOUBLE.itemsize
    return (num_doubles + game.num_nodes) * DOUBLE.itemsize + 4 * len(game.view.above)


def _numbers_pending(game: PublicGame, drawn: Drawn) -> tuple[int, int]:
    """Return the numbers of entries in the arrays of pending discounts: of regrets, and of averages.

    Regrets have an entry for each infoset if the updated player's private state is drawn, else for each decision node.
    The same holds for averages and the opponent's private state.
    """
    num_regrets = game.num_infosets if drawn.own else len(game.decisions)
    num_averages = game.num_infosets if drawn.opponent else len(game.decisions)
    return num_regrets, num_averages


def logs_of(factors: np.ndarray) -> np.ndarray:
    """Return the logarithms of discounts, in the same shape; :data:`LEAST_LOG` stands for the logarithm of 0."""
    logs = np.full(factors.shape, LEAST_LOG)
    np.log(factors, out=logs, where=factors > 0)
    return logs


def iterations_before_restart(rows: np.ndarray, first: int = 0) -> int:
    """Return how many iterations of a schedule come before one whose discount of positive regrets is 0.

    A pass that draws outcomes reads policies off positive regrets while their discounts are pending. That is correct as
    long as no discount is 0, since a policy depends only on the ratios of positive regrets.

    Args:
        rows: (iterations + 1, 5 + p) rows of the schedule, including that of the iteration after them.
        first: number of iterations at the beginning whose discounts are ignored.
    """
    restarts = np.flatnonzero(rows[first:-1, POSITIVE_DISCOUNT] == 0)
    return first + int(restarts[0]) if len(restarts) else len(rows) - 1


def first_entries(game: PublicGame, per_private_state: bool) -> np.ndarray:
    """Return where each decision node's entries begin in an array over decisions, (nodes,); 0 for other nodes.

    Args:
        per_private_state: whether the array has an entry for each private state of a decision, rather than one for each
            decision.
    """
    first_entry = np.zeros(game.num_nodes, np.int64)
    sizes = game.rows if per_private_state else np.ones(len(game.decisions), np.int64)
    first_entry[game.decisions] = np.cumsum(sizes) - sizes
    return first_entry


def _outcome_probabilities_of(game: PublicGame) -> _OutcomeProbabilities:
    """Return a game's probabilities of chance outcomes; they are computed only once for each game."""
    if game not in _outcome_probabilities:
        _outcome_probabilities[game] = _OutcomeProbabilities(
            outcome_cumulative=_outcome_cumulative(game),
            rows_by_parent=_rows_by_parent(game),
            root_cumulative=np.concatenate([np.cumsum(mass) for mass in game.mass]),
        )
    return _outcome_probabilities[game]


def _rows_by_parent(game: PublicGame) -> np.ndarray:
    """Return each deal's and player's rows, sorted by the rows that they come from, in the layout of ``view.above``."""
    view = game.view
    rows_by_parent = np.zeros(len(view.above), np.int32)
    for num_rows, first_edges in zip(view.deals["rows"].tolist(), view.deals["edge"].tolist(), strict=True):
        # Both players may share a deal's edges, which are then sorted only once.
        for count, edge in set(zip(num_rows, first_edges, strict=True)):
            rows_by_parent[edge : edge + count] = np.argsort(view.above[edge : edge + count], kind="stable")
    return rows_by_parent


def _outcome_cumulative(game: PublicGame) -> np.ndarray:
    """Return, for each child of a chance node, the probability that chance draws it or an earlier sibling, (nodes,).

    All other nodes have 0.
    """
    nodes = game.view.nodes
    mass = row_masses(game, 0)
    # If player 1's private state is ignored, a deal's probability is proportional to the sum of player 0's masses in
    # it. Where player 1 has a range of its own, this is not the deal's probability in the game, and need not be: see
    # rlccfr/kernels/public/drawing.py.
    first_edges = game.view.deals["edge"][:, 0].tolist()
    num_rows = game.view.deals["rows"][:, 0].tolist()
    deal_mass = np.array([mass[edge : edge + count].sum() for edge, count in zip(first_edges, num_rows, strict=True)])
    cumulative = np.zeros(game.num_nodes)
    for node in np.flatnonzero(nodes["kind"] == CHANCE).tolist():
        first = int(nodes["first_child"][node])
        children = slice(first, first + int(nodes["num_children"][node]))
        sums = np.cumsum(deal_mass[nodes["deal"][children]])
        cumulative[children] = sums / sums[-1]
    return cumulative
