"""Claims that every public-tree game must satisfy, checked when such games are built; see :mod:`rlccfr.games.claims`.

Two claims hold by construction. Payoffs are zero-sum, since a public tree stores one number for both players. Actions
belong to public nodes, so all histories of an infoset have the same ones.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from rlccfr.errors import GameError
from rlccfr.games.claims import broken_at, near, no_moves
from rlccfr.games.public.masses import allowed_reach, row_masses
from rlccfr.games.public.records import CHANCE, MATRIX, SHOWDOWN
from rlccfr.games.public.view import PublicGame

GameType = TypeVar("GameType", bound=PublicGame)


def check_public(game: GameType) -> GameType:
    """Check the claims of a public-tree game, and return the game unchanged.

    Raises:
        GameError: a node has no moves, a payoff is not finite, the winner of a showdown gets less than 0, or chance's
            probabilities do not sum to 1.
    """
    # Contiguous copies, since reading a field of records is several times as slow.
    kind = np.ascontiguousarray(game.view.nodes["kind"])
    payoff = np.ascontiguousarray(game.view.nodes["payoff"])
    num_children = np.ascontiguousarray(game.view.nodes["num_children"])
    stuck = np.flatnonzero((num_children == 0) & (kind <= CHANCE))
    if len(stuck):
        raise _broken_at_node(game, int(stuck[0]), no_moves(int(kind[stuck[0]])))
    if not (np.isfinite(payoff).all() and np.isfinite(game.view.payoffs).all()):
        raise broken_at(game.name, "at a terminal node", "a payoff is not finite; every payoff must be")
    lost = np.flatnonzero((kind == SHOWDOWN) & (payoff < 0))
    if len(lost):
        fault = f"the winner of a showdown gets {payoff[lost[0]]:g}; it must be at least 0"
        raise _broken_at_node(game, int(lost[0]), fault)
    if not (kind == MATRIX).any():  # matrices have chance's probabilities in their payoffs
        _check_chances(game)
    return game


def _broken_at_node(game: PublicGame, node: int, fault: str) -> GameError:
    path = game.path(node)
    return broken_at(game.name, f"after {path!r}" if path else "at the root", fault)


def _check_chances(game: PublicGame) -> None:
    """Check that the first deal has probability 1, and that the deals that follow a deal add up to its probability.

    The probability of a deal is a sum over all its pairs of private states. It is computed from each player's rows:
    each row's mass is multiplied by the opponent's reach of the private states that the row allows, and the sum over
    the rows is multiplied by the game's ``pair_probability``.

    Raises:
        GameError: a probability is wrong.
    """
    parents = game.deal_parents
    for player in (0, 1):
        begin = game.view.deals["edge"][:, player]
        rows = game.view.deals["rows"][:, player]
        weighted = row_masses(game, player) * allowed_reach(game, player)
        sums = np.concatenate([[0.0], np.cumsum(weighted)])
        probability = game.pair_probability * (sums[begin + rows] - sums[begin])
        # Place 0 stands for the root, after which the first deal comes; place 1 + i stands for deal i.
        before = np.append(1.0, probability)
        dealt = np.bincount(parents + 1, probability, len(before))
        followed = np.bincount(parents + 1, minlength=len(before)) > 0
        wrong = np.flatnonzero(followed & ~near(dealt, before))
        if len(wrong):
            place = int(wrong[0])
            total = dealt[place] / before[place]
            where = "at the root" if place == 0 else f"after deal {place - 1}"
            raise broken_at(
                game.name,
                where,
                f"the probabilities of player {player}'s private states sum to {total:.12g}; they must sum to 1",
            )
