"""A game's sequence form with a constant subtracted from all payoffs, so that they lie near 0 and lose no precision.

A constant that is added to all payoffs does not change the equilibria. But payoffs of 1e12 and 1e12 + 1 agree in most
of their digits, and sums of such payoffs lose the other digits. The constant is subtracted from each terminal's
utility, before utilities are weighted by chance and summed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from rlccfr.games.flat_tree import GameTree
from rlccfr.games.payoff_blocks import payoff_blocks
from rlccfr.games.payoff_sizes import tolerance_factor, usual_size
from rlccfr.games.records import TERMINAL
from rlccfr.games.symmetry import refine


class TerminalReach(NamedTuple):
    """The z terminals of a game, and how they are reached."""

    history: np.ndarray  # (z,): the terminal's index among the histories
    chance_reach: np.ndarray  # (z,): product of chance's probabilities on the way
    last_sequence: np.ndarray  # (2, z): each player's last sequence before it; the empty ones are m and m + 1


_centred: WeakKeyDictionary[GameTree, GameTree | None] = WeakKeyDictionary()
"""Results of :func:`centred_game`, by game; None where the centre is 0."""


def centre_of(game: GameTree) -> float:
    """Return the constant to subtract from player 0's payoffs: their median; 0 if they have no constant in common.

    They have none if 0 lies in their range, or if their median is so large that others are small beside it, as if most
    of them are penalties. After the subtraction, no payoff is larger in size than the range of payoffs. If a constant
    was added to all payoffs of a symmetric game, their median is that constant; pairs of sequences that paid nothing
    before the addition then pay nothing again. A few large payoffs do not change the median.
    """
    utility = np.sort(game.utility[game.histories["actor"] == TERMINAL])
    if utility[0] <= 0.0 <= utility[-1]:
        return 0.0
    lower_median = utility[(len(utility) - 1) // 2]
    upper_median = utility[len(utility) // 2]
    median = float(lower_median / 2 + upper_median / 2)  # their sum may exceed the largest double
    return median if abs(median) <= usual_size(utility) else 0.0


def centred_game(game: GameTree) -> GameTree:
    """Return a game with its centre subtracted from the payoffs of its sequence form; computed at first use.

    Its histories keep their utilities. If the centre is 0, or has been subtracted already, the game itself is returned.
    """
    if game.centre != 0.0:
        return game
    if game not in _centred:
        centre = centre_of(game)
        _centred[game] = None if centre == 0.0 else _subtract(game, centre)
    return _centred[game] or game


def payoff_factor(game: GameTree) -> float:
    """Return the factor on tolerances for the payoffs in a game's sequence form; see :func:`tolerance_factor`."""
    utility = game.utility[game.histories["actor"] == TERMINAL]
    return tolerance_factor(utility - game.centre)


def terminal_reach(game: GameTree, probability: np.ndarray | None = None) -> TerminalReach:
    """Return how a game's terminals are reached.

    Args:
        probability: (num_histories,) probability of the chance outcome that leads to each history, 1 after other
            moves; by default the game's. If these are Python's fractions, ``chance_reach`` consists of fractions, too.
    """
    probability = game.probability if probability is None else probability
    actor = game.histories["actor"]
    first_sequence = game.histories["first_sequence"].astype(np.int64)
    chance_reach = np.ones(game.num_histories, probability.dtype)
    last_sequence = np.empty((2, game.num_histories), np.int64)
    last_sequence[:, 0] = game.num_sequences + np.arange(2)
    for level, above, place in game.levels():
        chance_reach[level] = chance_reach[above] * probability[level]
        for player in range(2):
            moved = actor[above] == player
            last_sequence[player, level] = np.where(moved, first_sequence[above] + place, last_sequence[player, above])
    terminals = np.flatnonzero(actor == TERMINAL)
    return TerminalReach(terminals, chance_reach[terminals], last_sequence[:, terminals])


def _subtract(game: GameTree, centre: float) -> GameTree:
    """Return a game with a number subtracted from player 0's utility at each terminal, in the sequence form only."""
    reach = terminal_reach(game)
    utility = game.utility[reach.history] - centre
    payoffs = reach.chance_reach * utility
    sequence_pairs = (reach.last_sequence[0], reach.last_sequence[1])
    payoff = sparse.coo_array((payoffs, sequence_pairs), (game.num_sequences + 2,) * 2).tocsr()
    payoff.eliminate_zeros()
    factor = tolerance_factor(utility)
    view = game.view._replace(**payoff_blocks(payoff, factor=factor))
    # The constant may have hidden a symmetry, or differences between payoffs.
    return replace(game, view=view, classes=refine(view, payoff, factor), centre=centre)
