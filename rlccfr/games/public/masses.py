"""Masses of the rows of a public tree: how many hands and boards each row stands for, times their probability."""

from __future__ import annotations

import numpy as np

from rlccfr.games.public.records import CARDS
from rlccfr.games.public.view import PublicGame

ROUNDING = 1e-13
"""A difference of two sums counts as 0 if it is at most this share of the larger sum."""


def rows_above(game: PublicGame, player: int) -> list[np.ndarray]:
    """Return an array for each deal: the index of the row from which each of a player's rows comes, (rows,).

    That row belongs to the deal before, and its index is its place in ``view.above``. The first deal's array is empty.
    """
    view = game.view
    edges = view.deals["edge"][:, player].tolist()
    counts = view.deals["rows"][:, player].tolist()
    rows: list[np.ndarray] = []
    for parent, edge, count in zip(game.deal_parents.tolist(), edges, counts, strict=True):
        rows.append(np.zeros(0, np.int64) if parent < 0 else edges[parent] + view.above[edge : edge + count])
    return rows


def row_masses(game: PublicGame, player: int) -> np.ndarray:
    """Return the mass of each of a player's rows, in the order of the view's ``above``; 0 for the other player's rows.

    A row stands for pairs of a private state and the public outcomes so far. Its mass is the number of these pairs, or
    the sum of their weights in a range, times the probability of one pair's outcomes given private states that allow
    them. A row's value, times its mass and the game's ``pair_probability``, is the row's share of the game's value.
    """
    view = game.view
    edges = view.deals["edge"][:, player].tolist()
    counts = view.deals["rows"][:, player].tolist()
    mass = np.zeros(len(view.above))
    # A deal comes after its parent.
    for above, edge, count in zip(rows_above(game, player), edges, counts, strict=True):
        rows = slice(edge, edge + count)
        mass[rows] = mass[above] * view.weight[rows] if len(above) else game.mass[player]
    return mass


def root_reach(game: PublicGame, player: int) -> np.ndarray:
    """Return a player's reach of the root's rows, (rows,): the weights of a range, or 1."""
    num_rows = int(game.view.deals["rows"][0, 0])
    reach: np.ndarray = game.view.reach[num_rows:] if player else game.view.reach[:num_rows]
    return reach


def allowed_reach(game: PublicGame, player: int) -> np.ndarray:
    """Return, for each of a player's rows, the sum of the opponent's reach over the private states that the row allows.

    The reach is the one before anybody has acted. A hand allows all hands that share no card with it. By symmetry, a
    row's first hand stands for the whole row. In games without cards, a row allows all private states.

    Returns:
        An array in the order of the view's ``above``; 0 for the other player's rows.
    """
    view = game.view
    opponent = 1 - player
    allowed = np.zeros(len(view.above))
    reach_of_deal: list[np.ndarray] = []
    for number, parent in enumerate(game.deal_parents.tolist()):
        deal = view.deals[number]
        begin = int(deal["edge"][opponent])
        above = view.above[begin : begin + int(deal["rows"][opponent])]
        reach_of_deal.append(root_reach(game, opponent) if parent < 0 else reach_of_deal[parent][above])
        player_begin = int(deal["edge"][player])
        player_rows = slice(player_begin, player_begin + int(deal["rows"][player]))
        allowed[player_rows] = allowed_on(game, number, player, reach_of_deal[-1])
    return allowed


def allowed_on(game: PublicGame, deal_number: int, player: int, reach: np.ndarray) -> np.ndarray:
    """Return what :func:`allowed_reach` returns, but only for a player's rows of one deal, (rows,).

    Args:
        deal_number: index of the deal.
        reach: (rows,) for each of the opponent's rows of this deal, the opponent's reach of one of the row's private
            states; all of them have the same reach.
    """
    view = game.view
    opponent = 1 - player
    deal = view.deals[deal_number]
    player_row = int(deal["row"][player])
    player_rows = slice(player_row, player_row + int(deal["rows"][player]))
    if not len(view.hands):
        return np.full(int(deal["rows"][player]), float(game.mass[opponent] @ reach))
    first_row = int(deal["row"][opponent])
    hand_end = view.hand_end[first_row : first_row + len(reach)]
    hand_reach = np.repeat(reach, np.diff(hand_end, prepend=0))
    first_hand = int(deal["hand"][opponent])
    hands = view.hands[first_hand : first_hand + len(hand_reach)]
    card_reach = np.bincount(hands[:, 0], hand_reach, CARDS) + np.bincount(hands[:, 1], hand_reach, CARDS)
    # All hands, less those with the first and those with the second card. The same hand, if the opponent may hold it,
    # was then subtracted twice, so it is added once.
    same = view.same[player_rows]
    same_reach = np.where(same >= 0, reach[np.maximum(same, 0)], 0.0)
    total = hand_reach.sum()
    allowed = total - card_reach[view.firsts[player_rows].astype(np.int64)].sum(axis=1) + same_reach
    rounded: np.ndarray = np.where(allowed > ROUNDING * total, allowed, 0.0)
    return rounded
